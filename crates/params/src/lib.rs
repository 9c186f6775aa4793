//! Self-describing parameters.
//!
//! A parameter is defined once: the [`params!`] macro keeps its symbol, unit, valid range, default and the reason of
//! that default next to the field. Reading and validation, `sojourn explain`, the Python classes and the JSON schema
//! all derive from there.

pub mod draws;
pub mod spec;

mod any;
mod bounds;
mod catalogue;
mod entries;
mod error;
mod field;
mod macros;
mod path;
mod readers;
mod table;
mod tables;
mod value;

pub use any::{Given, Params};
pub use bounds::{Bound, Bounds, Edge, Ordered};
pub use catalogue::{Catalogue, Chosen};
pub use draws::{SizeDraw, TimeDraw};
pub use entries::{EntryOf, EntryParams, ReadEntry};
pub use error::{At, Collected, ErrorKind, Errors, InputError};
pub use field::{Described, Field, Kind, Page, Quantity, read_parameter};
pub use path::{Path, Step};
pub use readers::{forms_of_words, table_of, word, word_or_flag};
pub use sojourn_units::Expected;
pub use spec::{Spec, nested};
pub use table::Table;
pub use tables::{Both, Tables};
pub use value::Value;
