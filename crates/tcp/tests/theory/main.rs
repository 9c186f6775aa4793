//! Senders against theory: formulas and theorems from the literature.
//!
//! One flow runs over a path of fixed delay, with losses chosen by the test. Figures are printed with `cargo test -p
//! sojourn-tcp --test theory -- --nocapture`; add `--include-ignored` for more of them, and set `THEORY_EFFORT=10` for
//! means over ten times as many losses.

mod growth;
mod path;
mod recovery;
mod response;
mod timeouts;
mod timer;
