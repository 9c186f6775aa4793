//! The live plant: real packets of the kernel's TCP through our network, by the wall clock.
//!
//! ```text
//! senders' namespace            one process                    receivers' namespace
//!   sockets  -> device -> links, qdiscs, wires (nominal time)  -> device -> sockets
//!            <-        <-                                      <-        <-
//! ```
//!
//! [`network`] is the links between the two, without I/O: a discrete-event simulation that is given the times of
//! arrival, and computes departures in nominal time, so that a late loop delays packets and changes no rate. [`ip`] reads
//! and marks packets. [`namespace`] has the private namespaces and their [devices](device), which live as long as their process does: nothing is left
//! behind, whatever ends it. [`relay`] moves packets between the two, and is a [`plant`] as the simulator's; [`endpoints`] serves the scenario's workload with
//! sockets of the kernel, and [`run`] makes a run of a scenario of all. In a [`shell`] programs of the user are the endpoints. [`parent`] ends the process with the one that has started it. What is measured is what the packet plant
//! measures, by the same recorder; [`trust`] judges whether the machine kept time.

pub mod clock;
pub mod ip;
pub mod lateness;

#[cfg(target_os = "linux")]
mod carried;
#[cfg(target_os = "linux")]
pub mod device;
#[cfg(target_os = "linux")]
pub mod endpoints;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
pub mod network;
#[cfg(target_os = "linux")]
pub mod parent;
#[cfg(target_os = "linux")]
pub mod plant;
#[cfg(target_os = "linux")]
pub mod relay;
#[cfg(target_os = "linux")]
pub mod run;
#[cfg(target_os = "linux")]
pub mod scheduling;
#[cfg(target_os = "linux")]
pub mod shell;
#[cfg(target_os = "linux")]
pub mod trust;

#[cfg(target_os = "linux")]
pub use carried::errors;
#[cfg(target_os = "linux")]
pub use run::{Failed, Run};
