//! Classifiers of packets.

use super::schedulers::MOST_BANDS;
use super::tags::Tags;
use crate::law::FlowId;
use crate::qdisc::{FlowTag, Packet};
use crate::qdisc_spec::FlowClass;
use siphasher::sip::SipHasher13;
use sojourn_params::{InputError, choice};
use sojourn_random::Stream;
use sojourn_units::Ecn;

/// Selects the queue of a packet.
pub trait Classifier<P>: Clone + Send {
    /// Number of the packet's class; classes count from 0.
    fn classify(&mut self, packet: &P) -> u32;
    /// Group of the packet, which weights go by.
    fn group(&self, _packet: &P) -> u32 {
        0
    }
    /// Kind of the queue of a class, among those of the qdisc.
    fn kind(&self, _class: u32) -> usize {
        0
    }
    /// The queue of a class has no packet.
    fn emptied(&mut self, _class: u32) {}
    /// A flow has packets from now on.
    fn flow_joined(&mut self, _flow: FlowId, _tag: FlowTag) {}
}

choice! {
    /// What the packets of a queue have in common.
    pub enum By {
        /// the flow, by a keyed hash
        Flow = "flow",
        /// the host of the sender, by a keyed hash
        FromHost = "from_host",
        /// the host of the receiver, by a keyed hash
        ToHost = "to_host",
        /// the named class of the flow
        Class = "class",
        /// the DSCP of the flow
        Dscp = "dscp",
        /// the ECN codepoint of the packet
        Ecn = "ecn",
    }
}

/// A keyed hash: who does not know the key cannot choose flows that meet in a queue (RFC 8290, sections 4.1 and 8; the key
/// replaces the salt of its hash).
#[derive(Clone)]
pub struct FlowHash {
    hasher: SipHasher13,
    buckets: u64,
}

impl FlowHash {
    /// So many buckets; the key is drawn.
    pub fn new(buckets: u32, draws: &mut Stream) -> FlowHash {
        FlowHash {
            hasher: SipHasher13::new_with_keys(draws.bits(), draws.bits()),
            buckets: u64::from(buckets),
        }
    }

    pub(super) fn bucket(&self, number: u32) -> u32 {
        (self.hasher.hash(&number.to_le_bytes()) % self.buckets) as u32
    }
}

impl<P: Packet> Classifier<P> for FlowHash {
    fn classify(&mut self, packet: &P) -> u32 {
        self.bucket(packet.flow().0)
    }
}

/// Any of the classifiers, with the class of each flow.
#[derive(Clone)]
pub struct ByTag {
    by: By,
    hash: FlowHash,
    tags: Tags,
    /// Classes whose packets go to the reserved queue, by their numbers.
    reserved: Vec<bool>,
}

impl ByTag {
    /// Queues of what is the same by `by`, beside a reserved one for these classes.
    pub fn new(by: By, hash: FlowHash, reserved: Vec<bool>) -> ByTag {
        ByTag { by, hash, tags: Tags::default(), reserved }
    }

    fn is_reserved(&self, tag: FlowTag) -> bool {
        self.reserved.get(tag.class as usize).copied().unwrap_or(false)
    }
}

impl<P: Packet> Classifier<P> for ByTag {
    fn classify(&mut self, packet: &P) -> u32 {
        let tag = self.tags.of(packet.flow());
        if self.is_reserved(tag) {
            return RESERVED;
        }
        let number = match self.by {
            By::Flow => self.hash.bucket(packet.flow().0),
            By::FromHost => self.hash.bucket(tag.from_host),
            By::ToHost => self.hash.bucket(tag.to_host),
            By::Class => tag.class,
            By::Dscp => u32::from(tag.dscp),
            By::Ecn => match packet.ecn() {
                Ecn::NotEct => 0,
                Ecn::Ect1 => 1,
                Ecn::Ect0 => 2,
                Ecn::Ce => 3,
            },
        };
        number + 1
    }

    fn group(&self, packet: &P) -> u32 {
        self.tags.of(packet.flow()).class
    }

    fn kind(&self, class: u32) -> usize {
        usize::from(class == RESERVED)
    }

    fn flow_joined(&mut self, flow: FlowId, tag: FlowTag) {
        self.tags.keep(flow, tag);
    }
}

/// Class of the reserved queue.
pub const RESERVED: u32 = 0;

/// Bands by priority: of classes, or of DSCPs.
#[derive(Clone)]
pub struct Bands {
    /// Band of each class; empty: by DSCP.
    classes: Vec<u32>,
    /// Band of each DSCP, or of classes without one.
    others: u32,
    tags: Tags,
}

impl Bands {
    /// A band for each of these classes in order, and a last one for the others.
    pub(crate) fn of_classes(order: &[String], classes: &[FlowClass<'_>]) -> Result<Bands, InputError> {
        if order.is_empty() || order.len() >= MOST_BANDS {
            let expected = format!("1 to {} classes", MOST_BANDS - 1);
            return Err(InputError::out_of_range(order.len(), expected));
        }
        let last = order.len() as u32;
        let mut bands = vec![last; classes.len()];
        for (name, band) in order.iter().zip(0..) {
            let known = classes.iter().position(|class| class.name == name);
            let refused = || {
                InputError::unknown_name(name, "is no class of flows", classes.iter().map(|class| class.name))
            };
            let known = known.ok_or_else(refused)?;
            if bands[known] != last {
                return Err(InputError::conflict(format!("\"{name}\""), "is given twice", "each class once"));
            }
            bands[known] = band;
        }
        Ok(Bands { classes: bands, others: last, tags: Tags::default() })
    }

    /// Three bands by DSCP: telephony and network control (RFC 4594; RFC 5865), the default, and lower effort (RFC 8622).
    pub(crate) fn of_dscp() -> Bands {
        Bands { classes: Vec::new(), others: 1, tags: Tags::default() }
    }

    /// Number of the band of a flow.
    pub(super) fn band(&self, tag: FlowTag) -> u32 {
        if !self.classes.is_empty() {
            return self.classes.get(tag.class as usize).copied().unwrap_or(self.others);
        }
        match tag.dscp {
            EF | VOICE_ADMIT | CS5 | CS6 | CS7 => 0,
            LE | CS1 => 2,
            _ => 1,
        }
    }
}

impl<P: Packet> Classifier<P> for Bands {
    fn classify(&mut self, packet: &P) -> u32 {
        self.band(self.tags.of(packet.flow()))
    }

    fn flow_joined(&mut self, flow: FlowId, tag: FlowTag) {
        self.tags.keep(flow, tag);
    }
}

const EF: u8 = 46;
const VOICE_ADMIT: u8 = 44;
const CS5: u8 = 40;
const CS6: u8 = 48;
const CS7: u8 = 56;
const CS1: u8 = 8;
const LE: u8 = 1;
