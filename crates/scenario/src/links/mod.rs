//! What a link is besides its rate, its delay and its disc: how packets lie on the wire, when it may send, and what
//! happens to packets on their way.

mod deliveries;
mod framing;
mod impairments;
mod recording;
mod table;

pub use deliveries::{Deliveries, Lte, OPPORTUNITY, Satellite, Trace};
pub use framing::{Coding, Framing};
#[cfg(test)]
pub(crate) use impairments::KEYS as IMPAIRMENT_KEYS;
pub use impairments::{Bursts, Impairments, Reorder};
pub use recording::Recording;

/// What lies between the two ends of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Medium {
    /// What a packet takes on the wire.
    pub framing: Framing,
    /// When it may send, where it has no constant rate.
    pub deliveries: Option<Deliveries>,
    /// What happens to packets on their way.
    pub impairments: Impairments,
}

impl Medium {
    /// The other direction, as far as nothing is said of it: framed alike, and nothing more.
    pub(crate) fn back(&self) -> Medium {
        Medium { framing: self.framing, ..Medium::default() }
    }
}
