//! Pure mathematics that laws use: optimal control of a queue.
//!
//! Pure functions of numbers, independent of packets, laws and runs.

pub mod ocq;
pub mod root;
