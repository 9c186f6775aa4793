//! TCP without I/O.
//!
//! A [`Sender`] and a [`Receiver`] are state machines: segments and time go in, segments and deadlines come out,
//! independent of the transport beneath. Loss recovery, timing and ECN belong to the sender; a congestion control
//! ([`cc`]) only computes the window. A [`Profile`] collects the choices in which implementations differ, so that a
//! difference between two simulators has a name.

pub mod catalogue;
pub mod cc;

mod lazy_box;
mod opt_seq;
mod profile;
mod ranges;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;

pub use profile::{
    EcnAtOne, Halving, LimitedTransmit, LossDetection, PROFILE_PAGES, PROFILES, Pipe, Profile, Prr, Tcp,
    UnusedWindow,
};
pub use receiver::Receiver;
pub use rtt::RttEstimator;
pub use segment::{Flags, HEADER, SackBlocks, Segment, Stamp, TIMESTAMPS};
#[doc(hidden)]
pub use sender::Snapshot;
pub use sender::{Config, Progress, Sender};
