//! The scenario as data.
//!
//! A scenario defines links, qdiscs, flows and changes of a run. It is read from TOML once, checked once, and complete
//! from then on: every default is filled in, and every value typed. The tables of a file (`tables`) and the entries of
//! catalogues (`apps`, `links`) define each key once; reading, defaults, the JSON schema and the help follow. The crate
//! does no input or output: it parses text.

pub mod apps;
pub mod links;
pub mod tables;

mod arrivals;
mod changes;
mod diagnostics;
mod dscp;
mod fluid;
mod json;
mod overrides;
mod ranges;
mod read;
mod rewrite;
mod scenario;
mod schedule;
mod series;
mod source;
mod tcp;
#[cfg(test)]
mod tests;
mod times;
mod topology;
mod tree;
mod unclosed;
mod variants;
mod windows;

pub use apps::{
    App, DATAGRAM, Datagrams, Game, Http, Ladder, Mice, PAUSE, Rpm, SPURT, Source, Traffic, Transfer,
    UDP_HEADER, VOICE_FRAME, Video, Web,
};
pub use arrivals::{Arrivals, Listed};
pub use changes::{Change, Setting};
pub use diagnostics::{Diagnostic, Diagnostics, Location};
pub use dscp::Dscp;
pub use fluid::{Fluid, Window};
pub use read::Files;
pub use rewrite::rewritten;
pub use scenario::{Access, Flows, Scenario};
pub use source::Excerpt;
pub use tables::{Key, Windows, keys};
pub use tcp::{Repair, WindowControl, WindowRules};
pub use times::{Spread, Start};
pub use topology::{Link, Route, Topology};
pub use windows::WindowOfTime;
