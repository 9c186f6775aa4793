//! Workloads: users that come and go, their transactions, and the applications that they run.
//!
//! A [`Workload`] is a state machine without a clock, input or output: its host reports each [`Event`] with its
//! time and executes the [`Command`]s that follow, in order, until there are none. The host owns transport
//! connections, timers and packets; the workload decides what is sent, and at what times. Draws come from streams named
//! after class and user.
//!
//! ```text
//! host --Event--> Workload: classes, users, applications --Command--> host
//!                 Transaction: one per connection, read and updated by the host
//! ```

mod apps;
mod arrivals;
mod churn;
mod datagrams;
mod late_binding;
mod transaction;
mod user;
mod workload;

pub use apps::{AppPlan, Requests, RpmProbe};
pub use churn::Churn;
pub use datagrams::{Datagram, Datagrams, DatagramsPlan, OnOffSum, Spacing};
pub use transaction::{Purpose, Transaction};
pub use workload::{Command, Event, Workload};
