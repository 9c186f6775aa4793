//! What laws are made of.

pub mod buffer;
pub mod identification;
pub mod load;
pub mod missed;
pub mod pie;
pub mod prediction;
pub mod signal_at;
pub mod ticks;
