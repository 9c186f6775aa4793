//! TCP without input or output.
//!
//! A [`Sender`] and a [`Receiver`] are state machines: segments and time go in,
//! segments and deadlines come out, and nothing here knows what carries them.
//! Loss recovery, timing and ECN belong to the sender; a congestion control
//! ([`cc`]) is only its curve. What implementations differ in is gathered in a
//! [`Profile`], so that a difference between two simulators has a name.

pub mod catalogue;
pub mod cc;
pub mod knobs;

mod kept;
mod mark;
mod profile;
mod ranges;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;

pub use profile::{
    EcnAtOne, Halving, LimitedTransmit, LossDetection, PROFILES, Pipe, Profile, Prr, UnusedWindow,
};
pub use receiver::Receiver;
pub use rtt::RttEstimator;
pub use segment::{Flags, HEADER, SackBlocks, Segment, Stamp, TIMESTAMPS};
#[doc(hidden)]
pub use sender::Account;
pub use sender::{Config, Progress, Sender};
