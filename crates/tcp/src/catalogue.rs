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
    Page {
        stem: "cubic",
        summary: "a window cubic in the time since the last loss, never below Reno's; recovery by SACK",
        idea: "After a loss the window rises fast towards the one at which the loss came, lingers there, then \
               probes beyond, ever faster. Growth goes by the clock and not by the round trip, so that long paths \
               need not wait; on short or slow ones, where Reno would grow faster, it grows as Reno does. \
               Slow start is Reno's (no HyStart++).",
        equation: "W(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - cwnd) / C);  cwnd <- 0.7 FlightSize at a loss",
        source: "RFC 9438, RFC 6675",
        fields: Vec::new,
    },
];

/// The congestion control called `stem`.
pub fn cc(stem: &str) -> Option<&'static Page> {
    CCS.iter().find(|page| page.stem == stem)
}
