//! Pure mathematics that laws use: optimal control of a queue.
//!
//! Nothing here knows of packets, laws or runs: numbers go in, numbers come out.

pub mod ocq;
pub mod root;
