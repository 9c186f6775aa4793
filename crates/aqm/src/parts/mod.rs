//! What laws are made of.

pub mod load;
pub mod prediction;
