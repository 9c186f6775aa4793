//! NewReno: Reno's window with a different recovery.
//!
//! RFC 6582. The curve is [`reno`](super::reno)'s. In recovery a partial ACK indicates the next loss, which the sender
//! retransmits at once.

pub use super::reno::{Params, Reno as Newreno};

use super::{Curve, Entry, Feedback, Recovery};
use sojourn_params::{Described, Given, Page};

/// Entry in the catalogue.
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
    abe: |params| params.of::<Params>().is_ok_and(|params| params.abe),
    read: Given::read::<Params>,
    build: |params, profile, mss| Ok(Curve::Newreno(Newreno::new(params.of()?, profile, mss))),
};
