//! Self-describing parameters.
//!
//! A parameter is defined once: the [`params!`] macro keeps its symbol, unit, valid range, default and the reason of
//! that default next to the field. Reading and validation, `sojourn explain`, the Python classes and the JSON schema
//! all derive from there.

pub mod draws;
pub mod spec;

mod any;
mod catalogue;
mod error;
mod field;
mod macros;
mod readers;
mod tables;
mod value;

pub use any::{Given, Params};
pub use catalogue::{Catalogue, Chosen};
pub use draws::{SizeDraw, TimeDraw};
pub use error::{ErrorKind, Errors, InputError};
pub use field::{Described, Field, Kind, Page, Quantity};
pub use readers::{Required, is_within, table_of, word, word_or_flag};
pub use sojourn_units::Expected;
pub use spec::Spec;
pub use tables::{Both, Tables};
pub use value::Value;
