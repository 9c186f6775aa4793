//! The discs, one file each.

mod fifo;

pub use fifo::Fifo;
