//! The scenario as data.
//!
//! A scenario says which link, which disc, which flows and which changes a run
//! is made of. It is read from TOML once, checked once, and complete from then
//! on: every default is filled in. One table of keys ([`explain`]) drives
//! reading, defaults, the JSON schema ([`schema`]) and the help. A [`trace`] is what
//! one law was told and answered. The crate does no input or output: it is given text.

pub mod links;
pub mod metrics;
pub mod trace;

mod app;
mod arrivals;
mod changes;
mod describe;
mod disc;
mod faults;
mod fluid;
mod json;
mod keys;
mod notes;
mod read;
mod scenario;
mod schema;
mod series;
mod sessions;
mod source;
mod tcp;
mod times;
mod topics;
mod topology;
mod tree;
mod udp;
mod unclosed;

pub use app::App;
pub use arrivals::{Arrivals, Listed};
pub use changes::{Change, Setting};
pub use disc::DiscSpec;
pub use faults::Faults;
pub use fluid::{Fluid, Window};
pub use json::of_value as json_of;
pub use keys::{Key, Preset, explain};
pub use read::Files;
pub use scenario::{Access, Flows, Scenario};
pub use schema::schema;
pub use sessions::{Game, Ladder, Mice, Session, Video, Web};
pub use source::Excerpt;
pub use times::{Spread, Start};
pub use topics::{TOPICS, Topic, topic, topic_with};
pub use topology::{Link, Route, Topology};
pub use udp::{DATAGRAM, Datagrams, Lrd, OnOff, PAUSE, SPURT, Source, UDP_HEADER, VOICE_FRAME};
