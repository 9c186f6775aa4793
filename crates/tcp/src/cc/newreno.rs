//! NewReno: Reno's window; what is new is how losses are repaired.
//!
//! RFC 6582. The curve is [`reno`](super::reno)'s. In recovery an ACK for part of what was outstanding shows the next
//! loss, which the sender repairs at once.

pub use super::reno::{Params, Reno as Newreno};

use super::{Curve, Entry, Feedback, Recovery};
use sojourn_units::Page;
use sojourn_units::param::Described;

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "newreno",
        summary: "Reno's window with NewReno's recovery: partial ACKs repair one loss a round trip",
        idea: "As Reno, but an ACK for part of the window in recovery shows the next loss, which is sent again at \
               once; recovery ends when all that was outstanding at its start is acknowledged.",
        equation: "cwnd += SMSS^2 / cwnd per ACK;  cwnd <- max(FlightSize / 2, 2 SMSS) at a loss",
        source: "RFC 5681, RFC 6582",
        fields: Params::fields,
    },
    recovery: Recovery::NewReno,
    feedback: Feedback::Classic,
    build: |given, profile, mss| Ok(Curve::Newreno(Newreno::new(&Params::from_values(given)?, profile, mss))),
};
