//! The flows with the most packets, elephants, in bounded memory: each has a numbered slot, and so a queue of its own.

mod elephant_trap;
mod heavy_keeper;
mod slots;

pub use elephant_trap::ElephantTrap;
pub use heavy_keeper::HeavyKeeper;
pub use slots::{Entered, Seen};
