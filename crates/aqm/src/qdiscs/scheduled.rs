//! Many queues, a law for each: the packets go to the queue that a classifier selects, and leave in the order of a scheduler.
//!
//! Where all queues together exceed the limit, the fattest one, in bytes, loses packets from its head: half of them, at
//! most a batch (RFC 8290, section 4.1).

use super::ack_filter::AckFilter;
use super::classifiers::Classifier;
use super::groups::Groups;
use super::queue::Queue;
use super::shares::Share;
use super::store::{List, Store};
use super::tournament::Tournament;
use crate::gauges::Gauges;
use crate::law::{Arrival, Backlog, Departure, FlowId, Law, Verdict};
use crate::link_context::LinkContext;
use crate::qdisc::{Cause, Counts, FlowTag, Limit, Packet, Qdisc, Sink};
use sojourn_params::{Given, InputError, Path};
use sojourn_random::Stream;
use sojourn_units::{Rate, Span, Time};
use std::cmp::Reverse;
use std::sync::Arc;

/// Order of service of queues, which are numbered as they are added.
pub trait Scheduler: Clone + Send {
    /// A queue is added, of this class.
    fn add(&mut self, class: u32);
    /// A packet of `len` bytes was appended to a queue, of this group.
    fn arrival(&mut self, now: Time, queue: u32, len: u32, group: u32);
    /// The queue to serve; None: none is active.
    fn select(&mut self, now: Time) -> Option<u32>;
    /// The selected queue has sent a packet of `len` bytes, the first it had.
    fn sent(&mut self, now: Time, queue: u32, len: u32);
    /// The first packet of a queue was dropped, or with a filter of ACKs any.
    fn dropped(&mut self, _queue: u32, _len: u32) {}
    /// The selected queue had no packet that its law lets pass.
    fn found_empty(&mut self, _queue: u32) {}
    /// Number of queues in service.
    fn active(&self) -> usize;
    /// The rate of the link has changed.
    fn link_changed(&mut self, _now: Time, _rate: Rate) {}
}

/// Limits of all queues together, and what applies to each.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The link's buffer, within which the others stay.
    pub buffer: Limit,
    /// Most packets.
    pub most_packets: u32,
    /// Most bytes.
    pub most_bytes: u64,
    /// Most packets that an overflow drops.
    pub batch: u32,
    /// Sojourn time above which a packet is marked whatever its law says.
    pub ce_threshold: Option<Span>,
}

/// A kind of queue: its law, designed for its context, which is a share of that of the link.
#[derive(Clone)]
pub struct QueueKind<L> {
    /// The law.
    pub law: L,
    /// Link and traffic of one queue.
    pub context: LinkContext,
    /// What it has of the link.
    pub share: Share,
}

/// State of a kind of queue before its first packet: it has every update since the start.
#[derive(Clone)]
struct Unused<L> {
    queue: Queue<L>,
    context: LinkContext,
    share: Share,
    /// Last rate of one queue above 0.
    last_rate: Rate,
}

/// A qdisc of queues, each under a law.
#[derive(Clone)]
pub struct Scheduled<P, L, C, S> {
    bounds: Bounds,
    acks: AckFilter,
    classifier: C,
    scheduler: S,
    kinds: Vec<Unused<L>>,
    /// Number of a class's queue; NONE: no packet has come to it.
    classes: Vec<u32>,
    queues: Vec<Member<L>>,
    store: Store<P>,
    /// Queues by bytes, from an overflow until much room is left: nothing else needs their order.
    fattest: Tournament<Reverse<u64>>,
    /// The order is that of the present.
    is_ranked: bool,
    /// Last rate of the link above 0, and the highest; `Rate::ZERO` where no share will change.
    link: Rate,
    highest: Rate,
    /// Time of the next update of a law; updates and new parameters alone move it.
    next_update: Option<Time>,
    /// Parameters, and what they set; None: fixed.
    params: Option<(Given, SetParams<S>)>,
    groups: Groups,
    counts: Counts,
    backlog: Backlog,
    draws: Stream,
}

/// Sets the second of these parameters, in place of the first, in the scheduler, where this is the highest rate of the link so
/// far; returns the bounds in place of these, and the parameters of the laws with their keys; an error of those that stay.
type SetParams<S> =
    Arc<dyn Fn([&Given; 2], (&Bounds, Rate), &mut S) -> Result<Change, InputError> + Send + Sync>;

/// What new parameters change beside the scheduler.
pub(super) struct Change {
    pub(super) bounds: Bounds,
    /// The parameters of each kind's law, and where they stand.
    pub(super) laws: Vec<(Path, Given)>,
    /// Share of the link of a queue of each kind.
    pub(super) shares: Vec<Share>,
}

/// A queue with its packets, in one cache line: with thousands of them most of a packet's cost is to fetch it.
#[derive(Clone)]
#[repr(align(64))]
struct Member<L> {
    queue: Queue<L>,
    packets: List,
    kind: u8,
    class: u32,
}

impl<P: Packet, L: Law + Clone, C: Classifier<P>, S: Scheduler> Scheduled<P, L, C, S> {
    /// Empty queues of these kinds; `draws` is the qdisc's own random stream.
    pub fn new(
        bounds: Bounds,
        (classifier, scheduler): (C, S),
        kinds: impl IntoIterator<Item = QueueKind<L>>,
        draws: Stream,
    ) -> Scheduled<P, L, C, S> {
        let unused = |QueueKind { law, context, share }| Unused {
            queue: Queue::new(law),
            context,
            share,
            last_rate: context.rate,
        };
        let kinds: Vec<Unused<L>> = kinds.into_iter().map(unused).collect();
        let next_update = kinds.iter().filter_map(|kind| kind.queue.law.next_update()).min();
        Scheduled {
            bounds,
            acks: AckFilter::Off,
            classifier,
            scheduler,
            kinds,
            classes: Vec::new(),
            queues: Vec::new(),
            store: Store::new(),
            fattest: Tournament::new(Reverse(0)),
            is_ranked: false,
            link: Rate::ZERO,
            highest: Rate::ZERO,
            next_update,
            params: None,
            groups: Groups::default(),
            counts: Counts::default(),
            backlog: Backlog::default(),
            draws,
        }
    }

    /// Its parameters at the start, and what they set in a run; [`Qdisc::set_params`] keeps those that it does not set.
    pub(super) fn with_params(self, given: Given, set: SetParams<S>) -> Scheduled<P, L, C, S> {
        Scheduled { params: Some((given, set)), ..self }
    }

    /// In front of a link of this rate, of which new parameters may change the shares.
    pub(super) fn with_link(self, link: Rate) -> Scheduled<P, L, C, S> {
        Scheduled { link, highest: link, ..self }
    }

    /// With groups of its queues that measurements distinguish.
    pub(super) fn with_groups(self, groups: Groups) -> Scheduled<P, L, C, S> {
        Scheduled { groups, ..self }
    }

    /// The same with a filter of ACKs.
    pub(super) fn with_ack_filter(self, acks: AckFilter) -> Scheduled<P, L, C, S> {
        Scheduled { acks, ..self }
    }

    /// Number of the queue of a packet.
    fn number_of(&mut self, packet: &P) -> u32 {
        let class = self.classifier.classify(packet);
        match self.classes.get(class as usize) {
            Some(known) if *known != NONE => *known,
            _ => self.add(class),
        }
    }

    #[cold]
    fn add(&mut self, class: u32) -> u32 {
        let queue = self.queues.len() as u32;
        self.scheduler.add(class);
        if self.is_ranked {
            self.fattest.add(queue);
        }
        let kind = self.classifier.kind(class);
        let unused = self.kinds[kind].queue.clone();
        self.queues.push(Member { queue: unused, packets: List::default(), kind: kind as u8, class });
        if class as usize >= self.classes.len() {
            self.classes.resize(class as usize + 1, NONE);
        }
        self.classes[class as usize] = queue;
        queue
    }

    /// Takes the packet at the head of a queue.
    fn pop(&mut self, now: Time, number: u32) -> Option<(Time, P)> {
        let taken = self.store.pop(&mut self.queues[number as usize].packets)?;
        self.has_left(now, number, taken.1.len());
        Some(taken)
    }

    /// A packet of `len` bytes has left a queue.
    fn has_left(&mut self, now: Time, number: u32, len: u32) {
        let Member { queue, class, .. } = &mut self.queues[number as usize];
        queue.remove(now, len);
        if queue.is_empty() {
            self.classifier.emptied(*class);
        }
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(len);
        if self.backlog.packets < self.bounds.most_packets / 2
            && self.backlog.bytes < self.bounds.most_bytes / 2
        {
            self.is_ranked = false;
        }
        if self.is_ranked {
            self.fattest.set(number, Reverse(queue.backlog().bytes));
        }
    }

    /// Removes an ACK that the latest packet of its queue, of this flow, has made redundant.
    #[cold]
    fn filter_acks(&mut self, now: Time, (number, flow): (u32, FlowId), out: &mut dyn Sink<P>) {
        let list = self.queues[number as usize].packets;
        let Some(latest) = self.store.last(list).and_then(|packet| out.ack(packet)) else { return };
        let of_flow = |packet: &P| if packet.flow() == flow { out.ack(packet) } else { None };
        let Some(place) = self.acks.victim(self.store.iter(list).map(of_flow), &latest) else { return };
        let taken = self.store.remove(&mut self.queues[number as usize].packets, place);
        let Some((_, packet)) = taken else { return };
        self.has_left(now, number, packet.len());
        self.counts.filtered += 1;
        self.scheduler.dropped(number, packet.len());
        out.dropped(now, packet, Cause::AckFilter);
    }

    /// The next packet of a queue that its law does not drop (section 4.2).
    fn take(&mut self, now: Time, number: u32, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        while let Some((since, mut packet)) = self.pop(now, number) {
            let (len, ecn, sojourn) = (packet.len(), packet.ecn(), now.since(since));
            let u = [self.draws.uniform(), self.draws.uniform()];
            let queue = &mut self.queues[number as usize].queue;
            let backlog = queue.backlog();
            let departure = Departure { now, len, ecn, flow: packet.flow(), sojourn, backlog, u };
            let verdict = queue.judge_departure(&departure);
            if matches!(verdict, Verdict::Drop | Verdict::DropBoth) {
                queue.count_drop();
                self.counts.dropped_by_law += 1;
                self.scheduler.dropped(number, len);
                out.dropped(now, packet, Cause::Law);
                continue;
            }
            let is_late = self.bounds.ce_threshold.is_some_and(|threshold| sojourn > threshold);
            if (verdict == Verdict::Mark || is_late) && ecn.is_capable() {
                queue.count_mark();
                self.counts.marked += 1;
                packet.set_ce();
                out.marked(now, &packet);
            }
            queue.count_delivery(len);
            self.counts.delivered += 1;
            return Some((packet, sojourn));
        }
        self.queues[number as usize].queue.law.on_idle(now);
        None
    }

    fn find_next_update(&mut self) {
        let unused = self.kinds.iter().map(|kind| &kind.queue);
        let used = self.queues.iter().map(|member| &member.queue);
        self.next_update = unused.chain(used).filter_map(|queue| queue.law.next_update()).min();
    }

    /// The share of each kind, and what it is of the link's last rate above 0.
    fn rates_of(&self, shares: &[Share]) -> Vec<(Share, Rate)> {
        let rate = |(kind, share): (&Unused<L>, &Share)| {
            (*share, if *share == kind.share { kind.last_rate } else { share.of(self.link) })
        };
        self.kinds.iter().zip(shares).map(rate).collect()
    }

    /// Sets them: to the laws of a queue with another rate, its link has changed.
    fn set_shares(&mut self, now: Time, shares: &[(Share, Rate)]) {
        for (number, (unused, (share, rate))) in self.kinds.iter_mut().zip(shares).enumerate() {
            if *share == unused.share {
                continue;
            }
            let is_stalled = unused.context.rate == Rate::ZERO;
            unused.context.rate = if is_stalled { Rate::ZERO } else { *rate };
            (unused.share, unused.last_rate) = (*share, *rate);
            let members = self.queues.iter_mut().filter(|member| usize::from(member.kind) == number);
            for queue in members.map(|member| &mut member.queue).chain([&mut unused.queue]) {
                queue.law.on_link_change(now, unused.context.rate);
            }
        }
    }

    fn exceeds_limit(&self) -> bool {
        self.backlog.packets > self.bounds.most_packets || self.backlog.bytes > self.bounds.most_bytes
    }

    /// Drops half of the packets of the fattest queue, one at least, a batch at most (section 4.1).
    #[cold]
    fn drop_from_the_fattest(&mut self, now: Time, out: &mut dyn Sink<P>) {
        if !self.is_ranked {
            self.is_ranked = true;
            self.fattest.set_all(self.queues.iter().map(|member| Reverse(member.queue.backlog().bytes)));
        }
        let Some((_, number)) = self.fattest.winner() else { return };
        let held = self.queues[number as usize].queue.backlog().packets;
        for _ in 0..held.div_ceil(2).min(self.bounds.batch) {
            let Some((_, packet)) = self.pop(now, number) else { return };
            self.queues[number as usize].queue.overflow(now);
            self.counts.overflowed += 1;
            self.scheduler.dropped(number, packet.len());
            out.dropped(now, packet, Cause::Overflow);
        }
    }
}

impl<P: Packet + Send, L: Law + Clone, C: Classifier<P>, S: Scheduler> Qdisc<P> for Scheduled<P, L, C, S> {
    fn enqueue(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        let (len, ecn, flow) = (packet.len(), packet.ecn(), packet.flow());
        let number = self.number_of(&packet);
        let u = [self.draws.uniform(), self.draws.uniform()];
        let group = self.classifier.group(&packet);
        let Member { queue, packets, class, .. } = &mut self.queues[number as usize];
        self.counts.offered += 1;
        let backlog = queue.backlog();
        match queue.judge_arrival(&Arrival { now, len, ecn, flow, backlog, victim: None, u }) {
            Verdict::Drop | Verdict::DropBoth => {
                queue.count_drop();
                self.counts.dropped_by_law += 1;
                if queue.is_empty() {
                    self.classifier.emptied(*class);
                }
                out.dropped(now, packet, Cause::Law);
                return;
            }
            Verdict::Mark if ecn.is_capable() => {
                queue.count_mark();
                self.counts.marked += 1;
                packet.set_ce();
                out.marked(now, &packet);
            }
            Verdict::Pass | Verdict::Mark => {}
        }
        queue.add(now, len);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(len);
        if self.is_ranked {
            self.fattest.set(number, Reverse(queue.backlog().bytes));
        }
        self.store.push(packets, now, packet);
        self.scheduler.arrival(now, number, len, group);
        if self.acks != AckFilter::Off {
            self.filter_acks(now, (number, flow), out);
        }
        while self.exceeds_limit() {
            self.drop_from_the_fattest(now, out);
        }
    }

    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        loop {
            let number = self.scheduler.select(now)?;
            if let Some((packet, sojourn)) = self.take(now, number, out) {
                self.scheduler.sent(now, number, packet.len());
                return Some((packet, sojourn));
            }
            self.scheduler.found_empty(number);
        }
    }

    fn next_update(&self) -> Option<Time> {
        self.next_update
    }

    fn on_update(&mut self, due: Time, now: Time) {
        let is_due = |queue: &Queue<L>| queue.law.next_update() == Some(due);
        for unused in self.kinds.iter_mut().filter(|unused| is_due(&unused.queue)) {
            unused.queue.update(due, now, None, &unused.context);
        }
        for Member { queue, packets, kind, .. } in
            self.queues.iter_mut().filter(|member| is_due(&member.queue))
        {
            queue.update(due, now, self.store.head(*packets), &self.kinds[usize::from(*kind)].context);
        }
        self.find_next_update();
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        self.scheduler.link_changed(now, rate);
        if rate > Rate::ZERO {
            self.link = rate;
            self.highest = if self.highest < rate { rate } else { self.highest };
        }
        for unused in &mut self.kinds {
            unused.context.rate = unused.share.of(rate);
            if rate > Rate::ZERO {
                unused.last_rate = unused.context.rate;
            }
            unused.queue.law.on_link_change(now, unused.context.rate);
        }
        for member in &mut self.queues {
            member.queue.law.on_link_change(now, self.kinds[usize::from(member.kind)].context.rate);
        }
    }

    fn flow_joined(&mut self, flow: FlowId, tag: FlowTag) {
        self.classifier.flow_joined(flow, tag);
        self.groups.flow_joined(flow, tag);
    }

    fn filters_acks(&self) -> bool {
        !matches!(self.acks, AckFilter::Off)
    }

    fn queue_names(&self) -> Vec<String> {
        self.groups.names()
    }

    fn queue_of(&self, packet: &P) -> u8 {
        self.groups.of(packet)
    }

    fn set_params(&mut self, now: Time, change: &Given) -> Result<(), InputError> {
        let Some((given, set)) = &self.params else { return Ok(()) };
        let (before, given, set) = (given, given.with(change)?, Arc::clone(set));
        let mut scheduler = self.scheduler.clone();
        let Change { bounds, laws, shares } =
            set([before, &given], (&self.bounds, self.highest), &mut scheduler)?;
        let shares = self.rates_of(&shares);
        let context =
            |(kind, (_, rate)): (&Unused<L>, &(Share, Rate))| LinkContext { rate: *rate, ..kind.context };
        let contexts: Vec<LinkContext> = self.kinds.iter().zip(&shares).map(context).collect();
        // What a copy of each kind's law takes, all laws of the kind do.
        for ((unused, context), (key, law)) in self.kinds.iter().zip(&contexts).zip(&laws) {
            unused.queue.law.clone().set_params(now, law, context).map_err(|error| error.at(key.clone()))?;
        }
        self.set_shares(now, &shares);
        let kinds = self.kinds.iter_mut().zip(0..).map(|(unused, kind)| (&mut unused.queue, kind));
        let members = self.queues.iter_mut().map(|member| (&mut member.queue, usize::from(member.kind)));
        for (queue, kind) in kinds.chain(members) {
            queue.law.set_params(now, &laws[kind].1, &contexts[kind])?;
            queue.watch(now);
        }
        (self.bounds, self.scheduler, self.params) = (bounds, scheduler, Some((given, set)));
        self.find_next_update();
        Ok(())
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn target_packets(&self) -> Option<f64> {
        None
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("active_queues", "1", self.scheduler.active() as f64);
    }
}

const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests;
