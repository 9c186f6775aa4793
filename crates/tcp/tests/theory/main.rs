//! Senders against theory: what formulas and theorems of others say that they do.
//!
//! One flow runs over a path of fixed delay that loses what a test says. Figures are printed with
//! `cargo test -p sojourn-tcp --test theory -- --nocapture`; add `--include-ignored` for the full ranges.

mod growth;
mod path;
mod recovery;
mod response;
mod timeouts;
mod timer;
