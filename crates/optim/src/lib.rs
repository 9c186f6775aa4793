//! Pure mathematics that laws use: optimal control of a queue, and SQM's
//! queues under prices.
//!
//! Pure functions of numbers, independent of packets, laws and runs.

pub mod ocq;
pub mod root;
pub mod sqm;
