//! Pure mathematics that laws use: optimal control of a queue, network utility maximisation, and SQM's
//! queues under prices.
//!
//! Pure functions of numbers, independent of packets, laws and runs.

pub mod num;
pub mod ocq;
pub mod root;
pub mod sqm;
