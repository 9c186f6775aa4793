//! The qdiscs, one file each.

mod fifo;

pub use fifo::Fifo;
