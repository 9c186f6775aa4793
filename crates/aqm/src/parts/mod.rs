//! Components shared by laws.

pub mod buffer;
pub mod identification;
pub mod inverse_root;
pub mod load;
pub mod pie;
pub mod prediction;
pub mod signal_at;
pub mod stall;
pub mod ticks;
