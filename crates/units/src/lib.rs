//! Quantities with their units, and how they are written.
//!
//! Inside Sojourn a unit stands in the type ([`Time`], [`Span`], [`Bytes`],
//! [`Rate`], [`Prob`]); at every border of text it stands in the value
//! (`"8 Mbit/s"`, `"20 ms"`, `"300 packets"`). This crate is that border, and
//! holds the three other things that every layer shares: parameters that
//! describe themselves ([`param`]), named random streams ([`stream`]) and the
//! pinned elementary functions ([`math`]).

pub mod draw;
pub mod math;
pub mod param;
pub mod spec;
pub mod stream;

mod ecn;
mod normal;
mod prob;
mod quantity;
mod size;
mod text;
mod time;

pub use draw::{Draw, SizeDraw, TimeDraw};
pub use ecn::Ecn;
pub use param::{Fault, Page, Value};
pub use prob::Prob;
pub use quantity::{Amount, Frequency, LinkRate};
pub use size::{Bytes, Rate};
pub use spec::Spec;
pub use stream::Stream;
pub use text::{did_you_mean, nearest};
pub use time::{Span, Time};
