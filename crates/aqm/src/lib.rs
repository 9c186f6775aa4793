//! Queue laws, and the qdiscs that apply them.
//!
//! A [`Law`] maps queue events to verdicts: pass, mark or drop. It has no access to packets, clocks or random
//! generators: time and uniform draws are arguments, so that its output is a function of its state and inputs. A
//! [`Qdisc`] holds and time-stamps the packets and applies the verdicts. A [`Controller`] is a probability updated
//! periodically; [`Periodic`] makes it a law. [`Analysis`] is the analytical model of a law, [`FluidLaw`] its
//! counterpart for the fluid plant. [`catalogue`] lists all algorithms.

pub mod catalogue;
pub mod law;
pub mod laws;
pub mod linear;
pub mod parts;
pub mod qdisc;
pub mod qdiscs;

mod analysis;
mod dry_run;
mod entry;
mod flow_shares;
mod fluid_law;
mod framing;
mod gauges;
mod law_spec;
mod link_context;
mod periodic;
mod qdisc_spec;

pub use analysis::{Analysis, Bounds, Limited, NoModel, NoiseModel};
pub use dry_run::DryRun;
pub use entry::{Design, Designed, Entry, Read};
pub use flow_shares::{Coordinator, Demands, FlowShares, PathPrice};
pub use fluid_law::{FluidLaw, FluidStep, PricedShare};
pub use framing::{Coding, Framing};
pub use gauges::Gauges;
pub use law::{
    Arrival, Backlog, Controller, Departure, FlowId, Law, Observation, Overflow, Properties, Verdict,
};
pub use law_spec::LawSpec;
pub use link_context::{LinkContext, Network};
pub use periodic::Periodic;
pub use qdisc::{Ack, Cause, Counts, FlowTag, Limit, Packet, Qdisc, Sink};
pub use qdisc_spec::{DEFAULT_LAW, DesignedQdisc, FlowClass, Place, QdiscEntry, QdiscSpec};
