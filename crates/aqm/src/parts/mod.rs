//! What laws are made of.

pub mod prediction;
