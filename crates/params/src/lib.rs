//! Self-describing parameters.
//!
//! A parameter is defined once: the [`params!`] macro keeps its symbol, unit, valid range, default and the reason of
//! that default next to the field. Reading and validation, `sojourn explain`, the Python classes and the JSON schema
//! all derive from there.

pub mod draws;
pub mod spec;

mod error;
mod field;
mod macros;
mod readers;
mod value;

pub use draws::{SizeDraw, TimeDraw};
pub use error::InputError;
pub use field::{Described, Field, Kind, Page, Quantity};
pub use readers::word_or_flag;
pub use sojourn_units::did_you_mean;
pub use spec::Spec;
pub use value::Value;
