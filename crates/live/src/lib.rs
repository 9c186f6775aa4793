//! The live plant: real packets of the kernel's TCP through our bottleneck, by the wall clock.
//!
//! ```text
//! client's namespace            one process                       server's namespace
//!   TCP flows -> TUN  ->  access delay | qdisc, link, delay | access delay  ->  TUN -> TCP flows
//!             <-      <-  access delay |       delay        | access delay  <-      <-
//! ```
//!
//! [`bottleneck`] is the network between the two, without I/O: a discrete-event simulation that is given the times of
//! arrival, and computes departures in nominal time, so that a late loop delays packets and changes no rate. [`ip`] reads
//! and marks packets. [`namespace`] has the private namespaces, which live as long as their threads do: nothing is left
//! behind, whatever ends the process. [`relay`] moves packets between the two, and [`load`] makes the flows.
//!
//! Qdiscs see sizes, ECN and flows. They have neither hosts nor DSCP of a flow, nor ACKs to filter, yet.

pub mod bottleneck;
pub mod clock;
pub mod ip;
pub mod lateness;

#[cfg(target_os = "linux")]
pub mod lab;
#[cfg(target_os = "linux")]
pub mod load;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod relay;
