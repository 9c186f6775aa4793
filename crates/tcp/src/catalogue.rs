//! Every congestion control, one line each.

/// What is told of a congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its name in files and on the command line.
    pub stem: &'static str,
    /// One line.
    pub summary: &'static str,
    /// How it works, in a few sentences.
    pub idea: &'static str,
    /// Its equation, in text.
    pub equation: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// All congestion controls, each with the recovery that its RFC pairs it with.
pub const CCS: &[Page] = &[
    Page {
        stem: "reno",
        summary: "Reno with the fast recovery of RFC 5681: any new ACK ends it",
        idea: "Slow start, then one segment more a round trip; half the window at a loss. Recovery repairs one \
               loss a window: further ones mostly wait for the timer.",
        equation: "cwnd += SMSS^2 / cwnd per ACK;  cwnd <- max(FlightSize / 2, 2 SMSS) at a loss",
        source: "RFC 5681",
    },
    Page {
        stem: "newreno",
        summary: "Reno's window with NewReno's recovery: partial ACKs repair one loss a round trip",
        idea: "As Reno, but an ACK for part of the window in recovery shows the next loss, which is sent again at \
               once; recovery ends when all that was outstanding at its start is acknowledged.",
        equation: "cwnd += SMSS^2 / cwnd per ACK;  cwnd <- max(FlightSize / 2, 2 SMSS) at a loss",
        source: "RFC 5681, RFC 6582",
    },
];

/// The congestion control called `stem`.
pub fn cc(stem: &str) -> Option<&'static Page> {
    CCS.iter().find(|page| page.stem == stem)
}
