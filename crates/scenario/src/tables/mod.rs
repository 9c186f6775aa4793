//! The tables of a scenario file, as they are written.
//!
//! Each is a struct of typed keys, defined once: reading, defaults, help and the JSON schema follow from it. `read`
//! makes a scenario of a [`File`].

mod at;
mod file;
mod flows;
mod keys;
mod links;
mod names;
mod plants;
mod spans;

pub(crate) use at::{At, ClassChange, LinkChange};
pub use file::File;
pub(crate) use file::{NETWORKS, Network};
pub(crate) use flows::{Access, DEFAULT_CONTROL, Group, TcpSettings};
pub use keys::{Key, keys};
pub use links::Direction;
pub(crate) use links::{Back, Bottleneck, Edge, Home, ParkingLot, TwoBottlenecks};
pub(crate) use names::{class_names, numbered};
pub use spans::Windows;
