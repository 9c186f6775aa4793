//! Deficit round robin over queues under laws of their own: FQ-CoDel with any law.

use super::classifiers::By;
use super::common::{Parts, Reservation, Weights, is_fixed};
use super::limits::Limits;
use super::scheduled::{Bounds, Change};
use super::schedulers::{GroupWeights, Rounds};
use super::{Built, Queues};
use crate::law_spec::LawSpec;
use crate::link_context::LinkContext;
use crate::qdisc::{Limit, Packet};
use crate::qdisc_spec::{Place, QdiscEntry};
use sojourn_params::{Described, Given, InputError, Page, Params, params};
use sojourn_random::Stream;
use sojourn_units::{Bytes, Packets, Span};

params! {
    /// Parameters of deficit round robin.
    pub struct Drr {
        /// law of each queue; `law.KEY` is a parameter of it
        law: LawSpec = LawSpec::parse("codel").expect("a law of the catalogue"),
            "CoDel, which marks where it can", "RFC 8290, section 4.2";
        /// bytes that a queue sends in a turn
        quantum: Bytes = Bytes::new(1514), in "40 B" to "1 MB",
            "a full Ethernet frame", "RFC 8290, section 5.2.4";
        /// common property of the packets of a queue
        by: By = By::Flow, "flows have equal shares", "RFC 8290, section 4.1.1";
        /// queues into which a keyed hash puts flows or hosts
        buckets: u32 = 1024, in 1 to 65_536, "the default of Linux", "RFC 8290, section 5.2.5";
        /// a queue that becomes active is served before those that had a turn
        new_first: bool = true, "sparse flows hardly wait", "RFC 8290, section 4.2";
        /// weights of classes, which multiply the quantum of their flows' queues: { CLASS = NUMBER }
        weights: Weights = Weights::default(), "1 each", "M. Shreedhar, G. Varghese 1995, section 3.1";
        /// a queue for the flows of some classes, with a rate of its own
        reserved: Reservation = Reservation::default(), "none";
        /// packets of all queues together
        limit: Packets = Packets::new(10_240), in 1 to 1_000_000_000,
            "the default of Linux; the link's buffer, where that is less", "RFC 8290, section 5.2.3";
        /// bytes of all queues together
        memory: Bytes = Bytes::new(32 << 20), in "1 B" to "1000 GB",
            "the default of Linux; the link's buffer, where that is less", "tc-fq_codel(8)";
        /// packets that an overflow drops at most, from the head of the queue with most bytes; half of that queue at most
        batch: Packets = Packets::new(64), in 1 to 100_000, "amortizes the search for that queue", "RFC 8290, section 4.1";
        /// sojourn time above which packets that can be marked are, whatever the law says
        ce_threshold: Option<Span> = None, above "0 s", "off", "RFC 8290, section 5.2.7";
    }
}

/// Description and constructor.
pub(crate) const ENTRY: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "drr",
        summary: "fair queueing: deficit round robin over the queues of flows, a law in each",
        idea: "A keyed hash puts each flow into one of many queues. In a turn a queue sends a quantum of bytes; a queue that \
               becomes active is served before those that had a turn, so that sparse flows hardly wait. Where all \
               queues together exceed the limit, the one with most bytes loses packets from its head.",
        equation: "credits <- credits + quantum in each turn; a queue sends while credits > 0",
        source: "RFC 8290; M. Shreedhar, G. Varghese, SIGCOMM 1995",
        fields: <Drr as Described>::fields,
    },
    read: Given::read::<Drr>,
    design,
};

pub(super) fn design(params: &dyn Params, place: &Place<'_>) -> Result<Queues, InputError> {
    let drr: &Drr = params.of()?;
    drr.fits(&place.context)?;
    let parts = Parts::design((&drr.law, drr.by), &drr.weights, &drr.reserved, place)?;
    Ok(Queues::Drr(Design { drr: drr.clone(), parts }))
}

/// Deficit round robin in front of a link.
#[derive(Clone)]
pub(crate) struct Design {
    drr: Drr,
    pub(super) parts: Parts,
}

impl Design {
    pub(super) fn by(&self) -> By {
        self.drr.by
    }

    pub(super) fn limits(&self) -> Limits {
        self.drr.limits()
    }

    /// The qdisc at its start, behind a buffer.
    pub(super) fn build<P: Packet + Send + 'static>(
        &self,
        buffer: Limit,
        given: Given,
        draws: Stream,
    ) -> Built<P> {
        let Drr { by, buckets, .. } = self.drr;
        let rounds = self.drr.rounds(&self.parts.weights);
        let bounds = self.drr.limits().bounds(buffer);
        self.parts.build(bounds, (by, buckets), rounds, (given, set_params), draws)
    }
}

impl Drr {
    /// Refuses limits that do not fit the link or the quantum.
    fn fits(&self, link: &LinkContext) -> Result<(), InputError> {
        let limits = self.limits();
        limits.fit(link)?;
        limits.fit_quantum(self.quantum, link)
    }

    fn limits(&self) -> Limits {
        let Drr { limit, memory, batch, ce_threshold, .. } = *self;
        Limits { limit, memory, batch, ce_threshold }
    }

    fn rounds(&self, weights: &GroupWeights) -> Rounds {
        Rounds::new(self.quantum.get() as u32, weights.clone(), self.new_first)
    }
}

/// New parameters during a run; the queues stay, since packets are in them.
fn set_params(
    [before, after]: [&Given; 2],
    (bounds, parts): (&Bounds, &Parts),
    rounds: &mut Rounds,
) -> Result<Change, InputError> {
    let (drr, earlier): (&Drr, &Drr) = (after.params.of()?, before.params.of()?);
    drr.fits(parts.context())?;
    is_fixed("by", drr.by == earlier.by)?;
    is_fixed("buckets", drr.buckets == earlier.buckets)?;
    rounds.set_turns(drr.quantum.get() as u32, parts.weights_of(&drr.weights)?, drr.new_first);
    let reserved = [&earlier.reserved, &drr.reserved];
    parts.change(drr.limits().bounds(bounds.buffer), [&earlier.law, &drr.law], reserved)
}
