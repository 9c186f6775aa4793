//! What laws are made of.

pub mod load;
pub mod missed;
pub mod prediction;
