//! The queue of a packet: its tin, and in it a set-associative hash of what is isolated.
//!
//! A hash selects a set of eight queues; in it the flow keeps the queue that has its number, or takes an empty one. Only where
//! all eight are taken do two flows share a queue (Piece of CAKE, section III-B).

use super::diffserv::Diffserv;
use crate::law::FlowId;
use crate::qdisc::{FlowTag, Packet};
use crate::qdiscs::classifiers::Classifier;
use crate::qdiscs::tags::Tags;
use siphasher::sip::SipHasher13;
use sojourn_params::choice;
use sojourn_random::Stream;

choice! {
    /// Between whom the link is divided.
    pub enum Isolation {
        /// nobody: one queue a tin
        Flowblind = "flowblind",
        /// hosts that send
        Srchost = "srchost",
        /// hosts that receive
        Dsthost = "dsthost",
        /// pairs of hosts
        Hosts = "hosts",
        /// flows
        Flows = "flows",
        /// flows, and hosts that send
        DualSrchost = "dual_srchost",
        /// flows, and hosts that receive
        DualDsthost = "dual_dsthost",
        /// flows, and hosts on either side
        TripleIsolate = "triple_isolate",
    }
}

impl Isolation {
    /// True where flows of one sending host, and where those of one receiving host, share turns.
    pub(super) fn shares(self) -> [bool; 2] {
        match self {
            Isolation::DualSrchost => [true, false],
            Isolation::DualDsthost => [false, true],
            Isolation::TripleIsolate => [true, true],
            _ => [false, false],
        }
    }
}

/// Queues of a tin, and of a set.
pub(super) const QUEUES: u32 = 1024;
const WAYS: u32 = 8;
/// Numbers of hosts.
pub(super) const HOSTS: u64 = 16_384;

/// Tins of sets of queues.
#[derive(Clone)]
pub(super) struct Sets {
    diffserv: Diffserv,
    isolation: Isolation,
    hasher: SipHasher13,
    tags: Tags,
    /// What each queue belongs to; None: it is empty.
    owners: Vec<Option<u64>>,
}

impl Sets {
    /// Empty sets in so many tins; the key of the hash is drawn.
    pub(super) fn new(diffserv: Diffserv, isolation: Isolation, tins: usize, draws: &mut Stream) -> Sets {
        Sets {
            diffserv,
            isolation,
            hasher: SipHasher13::new_with_keys(draws.bits(), draws.bits()),
            tags: Tags::default(),
            owners: vec![None; tins * QUEUES as usize],
        }
    }

    fn tag(&self, flow: FlowId) -> FlowTag {
        self.tags.of(flow)
    }

    fn hash(&self, numbers: [u32; 2]) -> u64 {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&numbers[0].to_le_bytes());
        bytes[4..].copy_from_slice(&numbers[1].to_le_bytes());
        self.hasher.hash(&bytes)
    }
}

impl<P: Packet> Classifier<P> for Sets {
    fn classify(&mut self, packet: &P) -> u32 {
        let tag = self.tag(packet.flow());
        let first = self.diffserv.tin(tag.dscp) * QUEUES;
        let hash = match self.isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => self.hash([tag.from_host, 0]),
            Isolation::Dsthost => self.hash([tag.to_host, 0]),
            Isolation::Hosts => self.hash([tag.from_host, tag.to_host]),
            _ => self.hash([packet.flow().0, 0]),
        };
        let own = (hash % u64::from(QUEUES)) as u32;
        let set = own - own % WAYS;
        let ways = || (0..WAYS).map(|way| first + set + (own + way) % WAYS);
        let owner = |class: u32| self.owners[class as usize];
        let known = ways().find(|class| owner(*class) == Some(hash));
        let class = known.or_else(|| ways().find(|class| owner(*class).is_none())).unwrap_or(first + own);
        self.owners[class as usize] = Some(hash);
        class
    }

    /// Numbers of both hosts, hashed.
    fn group(&self, packet: &P) -> u32 {
        let tag = self.tag(packet.flow());
        let host = |number: u32, side: u32| (self.hash([number, side]) % HOSTS) as u32;
        (host(tag.from_host, 1) << 16) | host(tag.to_host, 2)
    }

    fn kind(&self, class: u32) -> usize {
        (class / QUEUES) as usize
    }

    fn emptied(&mut self, class: u32) {
        self.owners[class as usize] = None;
    }

    fn flow_joined(&mut self, flow: FlowId, tag: FlowTag) {
        self.tags.keep(flow, tag);
    }
}
