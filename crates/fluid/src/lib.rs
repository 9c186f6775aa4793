//! The fluid plant: TCP and queues as delay differential equations, and their linear analysis.

pub mod dde;
pub mod interval;
pub mod law_driver;
pub mod linear;
pub mod plant;
pub mod prove;
pub mod response;
pub mod sqm;

mod read;
mod run;

pub use read::errors;
pub use run::Run;
