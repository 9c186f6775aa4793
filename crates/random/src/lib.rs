//! Named random streams, and distributions that draw from them.

mod draw;
mod normal;
mod stream;

pub use draw::{Draw, Row, Shape};
pub use stream::Stream;
