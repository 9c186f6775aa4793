//! Quantities with their units, and their text form.
//!
//! Inside Sojourn the type carries the unit ([`Time`], [`Span`], [`Bytes`], [`Rate`], [`Prob`]); in text the value
//! does (`"8 Mbit/s"`, `"20 ms"`, `"300 packets"`). This crate converts between the two, and has the elementary
//! functions with fixed results ([`math`]).

pub mod math;
pub mod text;

mod ecn;
mod prob;
mod quantity;
mod quantity_error;
mod size;
mod time;

pub use ecn::Ecn;
pub use prob::Prob;
pub use quantity::{Amount, Frequency, LinkRate};
pub use quantity_error::{Expected, QuantityError, QuantityErrorKind};
pub use size::{Bytes, Packets, Rate};
pub use text::nearest;
pub use time::{Span, Time};
