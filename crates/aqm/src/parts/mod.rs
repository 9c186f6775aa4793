//! What laws are made of.

pub mod identification;
pub mod load;
pub mod prediction;
