//! Weighted fair queueing over queues under laws of their own.

use super::Built;
use super::Queues;
use super::classifiers::By;
use super::common::{Parts, Reservation, Weights, is_fixed};
use super::limits::Limits;
use super::scheduled::{Bounds, Change};
use super::schedulers::{Gps, StartTime};
use crate::law_spec::LawSpec;
use crate::qdisc::{Limit, Packet};
use crate::qdisc_spec::{Place, QdiscEntry};
use sojourn_params::{Described, Given, InputError, Page, Params, choice, params};
use sojourn_random::Stream;
use sojourn_units::{Bytes, Packets, Rate, Span};

choice! {
    /// Clock of the order of service.
    pub enum Clock {
        /// virtual time of generalized processor sharing, at the rate of the link
        Gps = "gps",
        /// start time of the packet in service
        StartTime = "start_time",
    }
}

params! {
    /// Parameters of weighted fair queueing.
    pub struct Wfq {
        /// law of each queue; `law.KEY` is a parameter of it
        law: LawSpec = LawSpec::parse("codel").expect("a law of the catalogue"),
            "CoDel, which marks where it can", "RFC 8290, section 4.2";
        /// clock of the order of service
        clock: Clock = Clock::Gps, "its delay bound is that of GPS and a packet", "A. Parekh, R. Gallager 1993";
        /// common property of the packets of a queue
        by: By = By::Flow, "flows have equal shares";
        /// queues into which a keyed hash puts flows or hosts
        buckets: u32 = 1024, in 1 to 65_536, "as drr";
        /// weights of classes, in proportion to which their flows' queues have shares: { CLASS = NUMBER }
        weights: Weights = Weights::default(), "1 each";
        /// a queue for the flows of some classes, with a rate of its own
        reserved: Reservation = Reservation::default(), "none";
        /// packets of all queues together
        limit: Packets = Packets::new(10_240), in 1 to 1_000_000_000, "as drr; the link's buffer, where that is less";
        /// bytes of all queues together
        memory: Bytes = Bytes::new(32 << 20), in "1 B" to "1000 GB", "as drr; the link's buffer, where that is less";
        /// packets that an overflow drops at most, from the head of the queue with most bytes; half of that queue at most
        batch: Packets = Packets::new(64), in 1 to 100_000, "as drr";
        /// sojourn time above which packets that can be marked are, whatever the law says
        ce_threshold: Option<Span> = None, above "0 s", "off", "RFC 8290, section 5.2.7";
    }
}

/// Description and constructor.
pub(crate) const ENTRY: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "wfq",
        summary: "weighted fair queueing: the packet that generalized processor sharing finishes first",
        idea: "Generalized processor sharing serves all queues with packets at once, each at the share of its weight. \
               Packets cannot be served so; here the next one is the one that it would finish first, so that each \
               leaves at most the time of the largest packet later.",
        equation: "F = max(F of the packet before, V(arrival)) + L / weight; the least F first",
        source: "A. Parekh, R. Gallager, IEEE/ACM Transactions on Networking 1(3), 1993; clock = \"start_time\": P. Goyal, \
                 H. Vin, H. Cheng, IEEE/ACM Transactions on Networking 5(5), 1997",
        fields: <Wfq as Described>::fields,
    },
    read: Given::read::<Wfq>,
    design,
};

fn design(params: &dyn Params, place: &Place<'_>) -> Result<Queues, InputError> {
    let wfq: &Wfq = params.of()?;
    wfq.limits().fit(&place.context)?;
    let parts = Parts::design((&wfq.law, wfq.by), &wfq.weights, &wfq.reserved, place)?;
    Ok(Queues::Wfq(Design { wfq: wfq.clone(), parts, rate: place.context.rate }))
}

/// Weighted fair queueing in front of a link.
#[derive(Clone)]
pub(crate) struct Design {
    wfq: Wfq,
    pub(super) parts: Parts,
    rate: Rate,
}

impl Design {
    pub(super) fn by(&self) -> By {
        self.wfq.by
    }

    pub(super) fn limits(&self) -> Limits {
        self.wfq.limits()
    }

    /// The qdisc at its start, behind a buffer.
    pub(super) fn build<P: Packet + Send + 'static>(
        &self,
        buffer: Limit,
        given: Given,
        draws: Stream,
    ) -> Built<P> {
        let (queues, bounds) = ((self.wfq.by, self.wfq.buckets), self.wfq.limits().bounds(buffer));
        let weights = self.parts.weights.clone();
        match self.wfq.clock {
            Clock::Gps => {
                let gps = Gps::new(weights, self.rate);
                self.parts.build(bounds, queues, gps, (given, set_gps), draws)
            }
            Clock::StartTime => {
                let start_time = StartTime::new(weights);
                self.parts.build(bounds, queues, start_time, (given, set_start_time), draws)
            }
        }
    }
}

impl Wfq {
    fn limits(&self) -> Limits {
        let Wfq { limit, memory, batch, ce_threshold, .. } = *self;
        Limits { limit, memory, batch, ce_threshold }
    }
}

fn set_gps(given: [&Given; 2], context: (&Bounds, &Parts), gps: &mut Gps) -> Result<Change, InputError> {
    let (wfq, change) = change(given, context)?;
    gps.set_weights(context.1.weights_of(&wfq.weights)?);
    Ok(change)
}

fn set_start_time(
    given: [&Given; 2],
    context: (&Bounds, &Parts),
    start_time: &mut StartTime,
) -> Result<Change, InputError> {
    let (wfq, change) = change(given, context)?;
    start_time.set_weights(context.1.weights_of(&wfq.weights)?);
    Ok(change)
}

/// New parameters during a run, and what they change beside the scheduler.
fn change<'a>(
    [before, after]: [&'a Given; 2],
    (bounds, parts): (&Bounds, &Parts),
) -> Result<(&'a Wfq, Change), InputError> {
    let (wfq, earlier): (&Wfq, &Wfq) = (after.params.of()?, before.params.of()?);
    wfq.limits().fit(parts.context())?;
    is_fixed("by", wfq.by == earlier.by)?;
    is_fixed("buckets", wfq.buckets == earlier.buckets)?;
    is_fixed("clock", wfq.clock == earlier.clock)?;
    let reserved = [&earlier.reserved, &wfq.reserved];
    let change = parts.change(wfq.limits().bounds(bounds.buffer), [&earlier.law, &wfq.law], reserved)?;
    Ok((wfq, change))
}
