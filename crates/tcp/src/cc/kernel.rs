//! Congestion controls that only kernels have: names for live runs, without a curve here.

use sojourn_params::Page;

/// All of them, by the kernel's names.
pub const KERNEL: &[Page] = &[
    page(
        "bbr",
        "the kernel's BBR, in live runs only: a rate from a model of the path",
        "draft-ietf-ccwg-bbr",
    ),
    page(
        "htcp",
        "the kernel's H-TCP, in live runs only: growth by the time since the last loss",
        "D. Leith and R. Shorten, H-TCP: TCP for High-Speed and Long-Distance Networks, PFLDnet 2004",
    ),
    page(
        "vegas",
        "the kernel's Vegas, in live runs only: a window by the growth of the round-trip time",
        "L. Brakmo and L. Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet, IEEE JSAC 13(8), 1995",
    ),
    page(
        "westwood",
        "the kernel's Westwood+, in live runs only: after a loss a window by the measured bandwidth",
        "S. Mascolo et al., TCP Westwood: Bandwidth Estimation for Enhanced Transport over Wireless Links, MobiCom 2001",
    ),
];

const fn page(stem: &'static str, summary: &'static str, source: &'static str) -> Page {
    let idea = "Its code is the kernel's: `sojourn lab FILE` runs it where the kernel has it. The packet plant, the \
                fluid plant and certificates have no model of it; a control written in Python \
                (`sojourn.CongestionControl`) sets a window there.";
    Page { stem, summary, idea, equation: "", source, fields: Vec::new }
}
