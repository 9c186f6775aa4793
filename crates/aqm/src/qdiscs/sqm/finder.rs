//! The flows that have queues of their own: by their size, or all by a hash.

use super::Find;
use crate::law::FlowId;
use crate::qdiscs::classifiers::FlowHash;
use crate::qdiscs::elephants::{ElephantTrap, Entered, HeavyKeeper, Seen};
use sojourn_random::Stream;

/// Gives flows numbered slots. Its draws are its own: those of the qdisc are a pair for each verdict.
#[derive(Clone)]
pub(super) struct Finder {
    method: Method,
    /// Bytes that count as a packet: one of less counts with the probability of its part.
    unit: f64,
    draws: Stream,
}

#[derive(Clone)]
enum Method {
    /// The flows with the most packets.
    HeavyKeeper(HeavyKeeper),
    /// Flows that are sampled often.
    ElephantTrap(ElephantTrap),
    /// Every flow, by a keyed hash; several may have the same slot.
    Hash(FlowHash),
}

impl Finder {
    /// Of so many slots, for flows of so many packets, of `unit` bytes each, or more.
    pub(super) fn new(find: Find, slots: u32, (packets, unit): (f64, f64), mut draws: Stream) -> Finder {
        let method = match find {
            Find::HeavyKeeper => {
                let buckets = (BUCKETS_A_SLOT * slots).max(LEAST_BUCKETS);
                Method::HeavyKeeper(HeavyKeeper::new(slots, least(packets), buckets, &mut draws))
            }
            Find::ElephantTrap => {
                Method::ElephantTrap(ElephantTrap::new(slots, sampled(packets), THRESHOLD, &mut draws))
            }
            Find::Hash => Method::Hash(FlowHash::new(slots, &mut draws)),
        };
        Finder { method, unit, draws }
    }

    /// Flows of so many packets or more, from now on.
    pub(super) fn set_packets(&mut self, packets: f64) {
        match &mut self.method {
            Method::HeavyKeeper(keeper) => keeper.set_least(least(packets)),
            Method::ElephantTrap(trap) => trap.set_sampled(sampled(packets)),
            Method::Hash(_) => {}
        }
    }

    /// Slot of a flow.
    pub(super) fn slot(&self, flow: FlowId) -> Option<u32> {
        match &self.method {
            Method::HeavyKeeper(keeper) => keeper.slot(flow),
            Method::ElephantTrap(trap) => trap.slot(flow),
            Method::Hash(hash) => Some(hash.bucket(flow.0)),
        }
    }

    /// Several flows may have one slot.
    pub(super) fn shares_slots(&self) -> bool {
        matches!(self.method, Method::Hash(_))
    }

    /// Counts a packet of a flow; returns the slot whose flow changes with it.
    pub(super) fn count(&mut self, flow: FlowId, len: u32) -> Option<Entered> {
        let draws = &mut self.draws;
        if f64::from(len) < self.unit && draws.uniform() * self.unit >= f64::from(len) {
            return None;
        }
        let seen = match &mut self.method {
            Method::HeavyKeeper(keeper) => keeper.packet(flow, draws),
            Method::ElephantTrap(trap) => trap.packet(flow, draws),
            Method::Hash(_) => Seen::Mouse,
        };
        match seen {
            Seen::Entered(entered) => Some(entered),
            Seen::Elephant(_) | Seen::Mouse => None,
        }
    }

    /// Lets the past fade; `left` receives the flows that lose their slots.
    pub(super) fn age(&mut self, left: impl FnMut(u32, FlowId)) {
        if let Method::HeavyKeeper(keeper) = &mut self.method {
            keeper.age(left);
        }
    }
}

/// Least estimate, in packets, of a flow with a slot.
fn least(packets: f64) -> u32 {
    packets.ceil().clamp(1.0, f64::from(u32::MAX / 4)) as u32
}

/// Chance of a packet to be sampled: one of a flow of so many packets, on average.
fn sampled(packets: f64) -> f64 {
    1.0 / packets.max(1.0)
}

/// Buckets of a row for each slot, and at least: those that 32 of 100 000 flows by Zipf's law need (the tests of HeavyKeeper).
const BUCKETS_A_SLOT: u32 = 4;
const LEAST_BUCKETS: u32 = 4096;
/// Counter above which a flow stays in the trap.
const THRESHOLD: u32 = 1;
