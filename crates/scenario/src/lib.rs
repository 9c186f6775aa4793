//! The scenario as data.
//!
//! A scenario defines links, qdiscs, flows and changes of a run. It is read
//! from TOML once, checked once, and complete from then on: every default is
//! filled in. One table of keys ([`explain`]) drives reading, defaults, the
//! JSON schema and the help. The crate does no input or output: it parses text.

pub mod links;

mod app;
mod arrivals;
mod changes;
mod diagnostics;
mod fluid;
mod json;
mod keys;
mod overrides;
mod read;
mod scenario;
mod schedule;
mod series;
mod sessions;
mod source;
mod tcp;
mod times;
mod topology;
mod tree;
mod udp;
mod unclosed;
mod variants;

pub use app::App;
pub use arrivals::{Arrivals, Listed};
pub use changes::{Change, Setting};
pub use diagnostics::Diagnostics;
pub use fluid::{Fluid, Window};
pub use json::toml_of;
pub use keys::{Key, Preset, SHORT, explain, keys_of};
pub use read::Files;
pub use scenario::{Access, Flows, Scenario};
pub use sessions::{Game, Ladder, Mice, Session, Video, Web};
pub use source::Excerpt;
pub use times::{Spread, Start};
pub use topology::{Link, Route, Topology};
pub use udp::{DATAGRAM, Datagrams, Lrd, OnOff, PAUSE, SPURT, Source, UDP_HEADER, VOICE_FRAME};
