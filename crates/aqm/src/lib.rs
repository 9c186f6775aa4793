//! Queue laws and the discs that obey them.
//!
//! A **law** looks at a queue and answers: pass, mark or drop. It never sees a
//! packet, a clock or a random generator: time and uniform draws are arguments,
//! so its future is a function of its state and its inputs. A **disc** holds
//! the packets, stamps them, fills in what a law may see and obeys its verdicts.
//! [`catalogue`] lists every algorithm in one line each.

pub mod catalogue;
pub mod disc;
pub mod discs;
pub mod law;
pub mod laws;
pub mod linear;
pub mod parts;

mod sampled;
mod site;

pub use disc::{Cause, Counts, Disc, Limit, Packet, Sink};
pub use law::{
    Arrival, Backlog, Bounds, Controller, Departure, FlowId, Gauges, Given, Law, Observation, Overflow,
    Verdict,
};
pub use sampled::Sampled;
pub use site::{Network, Site};
