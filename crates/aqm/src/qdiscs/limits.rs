//! Limits of all queues of a qdisc together.

use super::scheduled::Bounds;
use crate::link_context::LinkContext;
use crate::qdisc::Limit;
use sojourn_params::InputError;
use sojourn_units::{Bytes, Packets, Span};

/// Limits of all queues together, as parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) limit: Packets,
    pub(super) memory: Bytes,
    pub(super) batch: Packets,
    pub(super) ce_threshold: Option<Span>,
}

impl Limits {
    /// The same behind a buffer.
    pub(super) fn bounds(&self, buffer: Limit) -> Bounds {
        let (most_packets, most_bytes) = match buffer {
            Limit::Packets(most) => (most, u64::MAX),
            Limit::Bytes(most) => (u32::MAX, most),
            Limit::Unlimited => (u32::MAX, u64::MAX),
        };
        Bounds {
            buffer,
            most_packets: most_packets.min(self.limit.get()),
            most_bytes: most_bytes.min(self.memory.get()),
            batch: self.batch.get(),
            ce_threshold: self.ce_threshold,
        }
    }

    /// Refuses a `memory` that holds no packet of the link.
    pub(super) fn fit(&self, link: &LinkContext) -> Result<(), InputError> {
        holds_a_packet(self.memory, link).map_err(|error| error.at("memory"))
    }

    /// Refuses a quantum that the queues together cannot hold: no turn would use it. A full frame, the default, is always
    /// accepted.
    pub(super) fn fit_quantum(&self, quantum: Bytes, link: &LinkContext) -> Result<(), InputError> {
        let of_packets = |packets: f64| packets * link.packet;
        let most = [
            (of_packets(link.limit), format!("buffer of {} packets", link.limit)),
            (of_packets(f64::from(self.limit.get())), format!("limit of {} packets", self.limit.get())),
            (self.memory.get() as f64, format!("memory of {}", self.memory)),
        ];
        let (most, name) =
            most.into_iter().min_by(|(one, _), (other, _)| one.total_cmp(other)).expect("three");
        if quantum.get() as f64 <= most.max(FULL_FRAME) {
            return Ok(());
        }
        let problem = format!("is above the {name}");
        Err(InputError::conflict(quantum, problem, "a turn that fits in it").at("quantum"))
    }
}

/// Refuses bytes that hold no packet of the link.
pub(super) fn holds_a_packet(memory: Bytes, link: &LinkContext) -> Result<(), InputError> {
    if memory.get() as f64 >= link.packet {
        return Ok(());
    }
    let packet = Bytes::new(link.packet.ceil() as u64);
    let problem = format!("is below a packet of the link, {packet}");
    Err(InputError::conflict(memory, problem, "room for one at least"))
}

/// Bytes of a full Ethernet frame: RFC 8290, section 5.2.4.
const FULL_FRAME: f64 = 1514.0;
