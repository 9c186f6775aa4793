//! Properties of a link besides rate, delay and qdisc: framing, link schedule, impairments.

mod impairments;
mod link_schedule;
mod lte;
mod recording;
mod satellite;

pub use impairments::{Bursts, Impairments, Jitter, Reorder};
pub use link_schedule::{LINK_MODELS, Model, OPPORTUNITY, SchedulePlan, Trace};
pub use lte::Lte;
pub use recording::Recording;
pub use satellite::Satellite;
pub use sojourn_aqm::{Coding, Framing};

/// Medium between the two ends of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Medium {
    /// Size of a packet on the wire.
    pub framing: Framing,
    /// Link schedule; None: constant rate.
    pub link_schedule: Option<SchedulePlan>,
    /// Impairments of packets on the way.
    pub impairments: Impairments,
}

impl Medium {
    /// Default of the other direction: the same framing, no impairments.
    pub(crate) fn back(&self) -> Medium {
        Medium { framing: self.framing, ..Medium::default() }
    }
}
