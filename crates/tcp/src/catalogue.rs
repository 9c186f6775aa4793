//! Every congestion control, one line each.

use sojourn_units::Page;

/// All congestion controls, each with the recovery that its RFC pairs it with.
pub const CCS: &[Page] = &[
    Page {
        stem: "reno",
        summary: "Reno with the fast recovery of RFC 5681: any new ACK ends it",
        idea: "Slow start, then one segment more a round trip; half the window at a loss. Recovery repairs one \
               loss a window: further ones mostly wait for the timer.",
        equation: "cwnd += SMSS^2 / cwnd per ACK;  cwnd <- max(FlightSize / 2, 2 SMSS) at a loss",
        source: "RFC 5681",
        fields: Vec::new,
    },
    Page {
        stem: "newreno",
        summary: "Reno's window with NewReno's recovery: partial ACKs repair one loss a round trip",
        idea: "As Reno, but an ACK for part of the window in recovery shows the next loss, which is sent again at \
               once; recovery ends when all that was outstanding at its start is acknowledged.",
        equation: "cwnd += SMSS^2 / cwnd per ACK;  cwnd <- max(FlightSize / 2, 2 SMSS) at a loss",
        source: "RFC 5681, RFC 6582",
        fields: Vec::new,
    },
];

/// The congestion control called `stem`.
pub fn cc(stem: &str) -> Option<&'static Page> {
    CCS.iter().find(|page| page.stem == stem)
}
