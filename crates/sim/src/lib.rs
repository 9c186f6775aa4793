//! The packet plant: segments, ACKs, losses and marks, event by event.
//!
//! A [`Network`] is links, routes and flows as plain data ([`topology`] makes
//! one of a scenario). A [`Simulation`] runs it: shared links work off inboxes
//! in batches, all between them is computed at once, and the event queue holds
//! what happens by itself. What is measured is a [`Probe`], a type parameter;
//! the [`Recorder`] measures what the contract names. A run is a function of
//! the network and the seed.

pub mod network;
pub mod topology;

mod apps;
mod arrivals;
mod class;
mod deliveries;
mod engine;
mod event;
mod event_queue;
mod flow;
mod gains;
mod histogram;
mod inbox;
mod leg;
mod link;
mod member;
mod packet;
mod passage;
mod probe;
mod recorder;
mod results;
mod round_trip;
mod run;
mod speech;
mod windows;
mod wire;

pub use deliveries::Deliveries;
pub use engine::{Counts, Simulation};
pub use event_queue::EventQueue;
pub use histogram::Histogram;
pub use network::Network;
pub use packet::Packet;
pub use probe::{Probe, Window};
pub use recorder::{Interval, Recorder, Watched, Watchlist};
pub use results::{Balance, Elsewhere, LinkOutcome, Metric, Metrics, Outcome, Row, Series};
pub use round_trip::RoundTrip;
pub use run::Run;
pub use wire::{Fate, Wire};
