//! The fluid plant: TCP and queues as delay differential equations, and what is linear about them.

pub mod dde;
pub mod host;
pub mod linear;
pub mod plant;
pub mod prove;
pub mod sqm;
pub mod twins;

mod read;
mod run;

pub use read::faults;
pub use run::{Columns, LinkOutcome, Outcome, Run};
