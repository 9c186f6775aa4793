//! The packet plant: segments, ACKs, losses and marks, event by event.
//!
//! A [`Network`] is links, routes and flows as plain data ([`topology`] makes
//! one of a scenario). A [`Simulation`] runs it: shared links process their
//! arrivals in batches, all between them is computed at once, and the event queue
//! holds timers, updates and changes. Users and applications are a
//! [`sojourn_workload::Workload`]. A
//! [`sojourn_measure::Probe`], a type parameter, measures; in a [`Run`] that is
//! the [`sojourn_measure::Recorder`]. A [`Tap`], another, sees packets with their contents. A run is a function of the
//! network and the seed.

pub mod network;
pub mod record;
pub mod topology;

mod calendar_queue;
mod engine;
mod event;
mod event_queue;
mod flow;
mod impairments;
mod leg;
mod link;
mod link_schedule;
mod packet;
mod run;
mod tap;

pub use engine::{Counts, Simulation, probe_time};
pub use event_queue::EventQueue;
pub use impairments::{Fate, Wire};
pub use link_schedule::LinkSchedule;
pub use network::Network;
pub use packet::Packet;
pub use run::{Observed, Plant, RecordedRun, Run, watchlist};
pub use tap::{Contents, Joined, SenderEvent, Sight, Tap};
