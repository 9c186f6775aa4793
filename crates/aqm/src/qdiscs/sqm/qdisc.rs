//! The packets: queues, service, signals.
//!
//! A flow's packets go to the reserved queue until it has a queue of its own, from the next packet on. None overtakes another
//! of its flow: a queue is not served before the packets have left that the reserved queue held when its flow came; and a
//! flow that loses its slot keeps the queue until that is empty.

use super::Sqm as Params;
use super::backlogged::Backlogged;
use super::finder::Finder;
use super::pauses::Pauses;
use super::predictor::Predictor;
use super::price::{Price, PriceLaw};
use super::responsiveness::Responsiveness;
use super::settings::Settings;
use super::settled::Settled;
use super::surplus::Surplus;
use super::tuning::Tuning;
use super::young_flows::YoungFlows;
use crate::flow_shares::FlowShares;
use crate::gauges::Gauges;
use crate::law::{Arrival, Backlog, Departure, FlowId, Law, Verdict};
use crate::link_context::LinkContext;
use crate::parts::ticks::Ticks;
use crate::qdisc::{Cause, Counts, FlowTag, Limit, Packet, Qdisc, Sink};
use crate::qdiscs::classifiers::RESERVED;
use crate::qdiscs::common::is_fixed;
use crate::qdiscs::queue::Queue;
use crate::qdiscs::scheduled::{Bounds, Scheduler};
use crate::qdiscs::schedulers::{Reserved, Weighted};
use crate::qdiscs::shares::LEAST_REST;
use crate::qdiscs::store::{List, Store};
use crate::qdiscs::tags::Tags;
use crate::qdiscs::tournament::Tournament;
use sojourn_params::{Given, InputError};
use sojourn_random::Stream;
use sojourn_units::{Rate, Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::mem::discriminant;
use std::sync::Arc;

mod overflow;
mod shares;
mod signals;

/// SQM. Queue 0 is the reserved one, queue i + 1 that of slot i.
pub(super) struct Sqm<P, S> {
    settings: Settings,
    params: Given,
    classes: Arc<[String]>,
    finder: Finder,
    tags: Tags,
    tuning: Tuning,
    mice: Mice,
    predictor: Predictor,
    pauses: Pauses,
    young: YoungFlows,
    /// Time of the next prediction.
    predict_at: Time,
    queues: Vec<Elephant>,
    holding: Backlogged,
    /// Flows without a slot whose packets are still in the queue of one.
    leaving: BTreeMap<FlowId, u32>,
    /// Queues that wait for packets of the reserved one.
    waiting: VecDeque<u32>,
    scheduler: Reserved<S>,
    store: Store<P>,
    /// Queues by bytes, from an overflow until much room is left.
    fattest: Tournament<Reverse<u64>>,
    is_ranked: bool,
    bounds: Bounds,
    /// Highest rate of the link so far; the present one is 0.
    highest: Rate,
    is_stalled: bool,
    ticks: Ticks,
    counts: Counts,
    backlog: Backlog,
    draws: Stream,
}

/// The reserved queue.
struct Mice {
    queue: Queue<Box<dyn Law>>,
    packets: List,
    context: LinkContext,
    /// Packets that have come to it, and that have left it.
    came: u64,
    left: u64,
    /// Bytes that it has sent in this period, which began then, and its rate in the last one, packets/s.
    sent: u64,
    since: Time,
    rate: f64,
    /// Flows that stay in it, and their demands in the last period and in this one.
    settled: Settled,
    demands: [f64; 2],
    /// Rate that it has at least, packets/s.
    share: f64,
}

/// The queue of a slot.
#[derive(Clone, Default)]
struct Elephant {
    flow: Option<FlowId>,
    /// It has sent in this period; flows that share the slot may go on without it.
    is_seen: bool,
    packets: List,
    backlog: Backlog,
    /// Bytes of it that came while its flow was young.
    young: u64,
    price: Price,
    surplus: Surplus,
    /// Time of the last signal by prediction.
    signalled: Option<Time>,
    response: Responsiveness,
    /// Packets that must have left the reserved queue before it is served; None: it is.
    after: Option<u64>,
}

/// The start of a run, beside the parameters.
pub(super) struct Start {
    pub(super) buffer: Limit,
    pub(super) given: Given,
    pub(super) classes: Arc<[String]>,
    pub(super) draws: Stream,
}

impl<P: Packet, S: Weighted> Sqm<P, S> {
    /// Empty queues in the order of this scheduler.
    pub(super) fn new(sqm: &Params, settings: &Settings, scheduler: S, start: Start) -> Sqm<P, S> {
        let Start { buffer, given, classes, mut draws } = start;
        let link = settings.link.rate;
        let mut scheduler = Reserved::new(scheduler, settings.reserved_rate(link), link);
        (RESERVED..=sqm.queues).for_each(|queue| scheduler.add(queue));
        let mut seed = Stream::named(draws.bits(), "finder");
        let settled = Settled::new(&mut seed);
        Sqm {
            finder: Finder::new(sqm.find, sqm.queues, (settings.elephant, settings.link.packet), seed),
            tags: Tags::default(),
            tuning: Tuning::new(settings.rules.clone()).expect("rules that were checked"),
            mice: Mice {
                queue: Queue::new(settings.mice.0.law()),
                packets: List::default(),
                context: settings.mice_context(link),
                came: 0,
                left: 0,
                sent: 0,
                since: Time::ZERO,
                rate: 0.0,
                settled,
                demands: [0.0; 2],
                share: settings.mice_context(link).capacity(),
            },
            predictor: Predictor::new(sqm.queues),
            pauses: Pauses::default(),
            young: YoungFlows::default(),
            predict_at: Time::ZERO,
            queues: vec![Elephant::default(); sqm.queues as usize],
            holding: Backlogged::new(sqm.queues),
            leaving: BTreeMap::new(),
            waiting: VecDeque::new(),
            scheduler,
            store: Store::new(),
            fattest: Tournament::new(Reverse(0)),
            is_ranked: false,
            bounds: settings.limits.bounds(buffer),
            highest: link,
            is_stalled: false,
            ticks: Ticks::new(settings.period),
            counts: Counts::default(),
            backlog: Backlog::default(),
            settings: settings.clone(),
            params: given,
            classes,
            draws,
        }
    }

    /// Slot whose queue a packet of a flow goes to; None: the reserved queue.
    fn slot_of(&self, flow: FlowId) -> Option<u32> {
        if let Some(slot) = self.leaving.get(&flow) {
            return Some(*slot);
        }
        let slot = self.finder.slot(flow)?;
        let own = &self.queues[slot as usize];
        let is_open = own.flow == Some(flow) || own.backlog.packets == 0 || self.finder.shares_slots();
        is_open.then_some(slot)
    }

    /// Rate that the elephants share, packets/s: what the reserved queue leaves.
    fn capacity(&self) -> f64 {
        let link = self.settings.link.capacity();
        (link - self.mice.rate.min(self.mice.share)).max(LEAST_REST * link)
    }

    /// The reserved queue has its rate, and more where the flows that stay in it demand more.
    fn set_reserved_rate(&mut self) {
        let link = self.settings.link.rate.bits_per_second();
        let [last, present] = self.mice.demands;
        let part = self.tuning.part(last.max(present)).min(MOST_PART);
        let least = self.settings.reserved_rate(self.settings.link.rate).bits_per_second();
        let rate = Rate::from_bits_per_second(least.max(part * link));
        self.scheduler.set_rate(rate);
        self.mice.share = rate.packets_per_second(self.settings.link.packet);
    }

    /// A packet of a flow without a queue of its own: its demand counts if it stays.
    fn count_mouse(&mut self, flow: FlowId) {
        if self.mice.settled.packet(flow) {
            let tag = self.tags.of(flow);
            self.mice.demands[1] += self.tuning.demand(tag.base_rtt.map(Span::seconds), tag.class);
            if self.mice.demands[1] > self.mice.demands[0] {
                self.set_reserved_rate();
            }
        }
    }

    /// The queue of a slot is that of a flow from now on.
    fn enter(&mut self, slot: u32, flow: FlowId) {
        let tag = self.tags.of(flow);
        self.tuning.enter(slot, (tag.base_rtt.map(Span::seconds), tag.class));
        let came = self.mice.came;
        let own = &mut self.queues[slot as usize];
        (own.flow, own.price) = (Some(flow), Price::default());
        (own.surplus, own.signalled, own.response) = (Surplus::default(), None, Responsiveness::default());
        if came > self.mice.left && own.after.replace(came).is_none() {
            self.waiting.push_back(slot);
        }
    }

    /// The length of a queue, in mean packets.
    fn packets(&self, backlog: Backlog) -> f64 {
        backlog.bytes as f64 / self.settings.link.packet
    }

    /// Size of a packet, in mean packets.
    fn size_of(&self, packet: &P) -> f64 {
        f64::from(packet.len()) / self.settings.link.packet
    }

    /// The verdict on a packet that arrives at the queue of a slot.
    fn judge_elephant(&mut self, now: Time, slot: u32, packet: &P) -> Verdict {
        let own = &self.queues[slot as usize];
        let is_new = own.flow != Some(packet.flow());
        let is_free = own.backlog.packets == 0 && !self.finder.shares_slots();
        if own.flow.is_none() || (is_new && is_free) {
            self.enter(slot, packet.flow());
        }
        let own = &mut self.queues[slot as usize];
        own.is_seen |= own.flow == Some(packet.flow());
        let (capacity, was_young) = (self.capacity(), self.tuning.is_young(slot));
        if self.tuning.packet(now, slot, packet.len(), capacity) {
            self.scheduler.others().set_weight(slot + 1, self.tuning.weight(slot));
            self.restart(now, slot);
        }
        if was_young && !self.tuning.is_young(slot) {
            let rate = self.queues[slot as usize].surplus.rate(now, self.tuning.delay(slot));
            let sent = self.tuning.sent(slot) / self.settings.link.packet;
            self.predictor.grown(now, rate, sent);
        }
        self.verdict(now, slot, packet)
    }

    /// A flow begins again: a sender that was silent does so in slow start (RFC 5681, section 4.1).
    fn restart(&mut self, now: Time, slot: u32) {
        let share = self.tuning.rate(slot, self.capacity());
        let own = &mut self.queues[slot as usize];
        own.surplus.restart(now, share);
        own.signalled = None;
    }

    fn judge_mouse(&mut self, now: Time, packet: &P, u: [f64; 2]) -> Verdict {
        self.count_mouse(packet.flow());
        let queue = &mut self.mice.queue;
        let (len, ecn, flow, backlog) = (packet.len(), packet.ecn(), packet.flow(), queue.backlog());
        let verdict = queue.judge_arrival(&Arrival { now, len, ecn, flow, backlog, victim: None, u });
        match verdict {
            Verdict::Mark if ecn.is_capable() => queue.count_mark(),
            Verdict::Drop | Verdict::DropBoth => queue.count_drop(),
            Verdict::Pass | Verdict::Mark => {}
        }
        verdict
    }

    /// Appends a packet to the queue of a slot, or to the reserved one.
    fn append(&mut self, now: Time, slot: Option<u32>, packet: P) {
        let len = packet.len();
        let number = slot.map_or(RESERVED, |slot| slot + 1);
        let (packets, is_served) = if let Some(slot) = slot {
            let is_young = self.tuning.is_young(slot);
            let own = &mut self.queues[slot as usize];
            if is_young {
                own.young += u64::from(len);
                self.young.add(now, len);
            }
            if own.backlog.packets == 0 {
                self.holding.insert(slot);
            }
            own.backlog.packets += 1;
            own.backlog.bytes += u64::from(len);
            (&mut own.packets, own.after.is_none())
        } else {
            self.mice.queue.add(now, len);
            self.young.add(now, len);
            self.mice.came += 1;
            (&mut self.mice.packets, true)
        };
        self.store.push(packets, now, packet);
        self.count_backlog(now);
        if self.backlog.packets == 0 {
            self.pauses.begin(now);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(len);
        if self.is_ranked {
            self.fattest.set(number, Reverse(self.bytes_of(number)));
        }
        if is_served {
            self.scheduler.arrival(now, number, len, number);
        }
    }

    /// The backlog has been what it is until now. That of a link that stands still does not count.
    fn count_backlog(&mut self, now: Time) {
        if !self.is_stalled {
            self.predictor.held(now, self.packets(self.backlog), self.tuning.mean_delay());
        }
    }

    fn bytes_of(&self, number: u32) -> u64 {
        match number {
            RESERVED => self.mice.queue.backlog().bytes,
            number => self.queues[number as usize - 1].backlog.bytes,
        }
    }

    /// Takes the first packet of a queue.
    fn pop(&mut self, now: Time, number: u32) -> Option<(Time, P)> {
        let (since, packet) = if number == RESERVED {
            let taken = self.store.pop(&mut self.mice.packets)?;
            self.mice.queue.remove(now, taken.1.len());
            self.mice.left += 1;
            self.young.remove(now, u64::from(taken.1.len()));
            taken
        } else {
            let own = &mut self.queues[number as usize - 1];
            let taken = self.store.pop(&mut own.packets)?;
            own.backlog.packets -= 1;
            own.backlog.bytes -= u64::from(taken.1.len());
            // Bytes of a young flow count as the first of the queue.
            let young = own.young.min(u64::from(taken.1.len()));
            own.young -= young;
            self.young.remove(now, young);
            if own.backlog.packets == 0 {
                self.holding.remove(number - 1);
                self.emptied(number - 1);
            }
            taken
        };
        self.count_backlog(now);
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.len());
        if self.is_ranked && self.has_much_room() {
            self.is_ranked = false;
        }
        if self.is_ranked {
            self.fattest.set(number, Reverse(self.bytes_of(number)));
        }
        Some((since, packet))
    }

    /// A queue is empty: a flow without a slot loses it.
    fn emptied(&mut self, slot: u32) {
        if let Some(flow) = self.queues[slot as usize].flow
            && !self.leaving.is_empty()
            && self.leaving.remove(&flow).is_some()
        {
            self.queues[slot as usize].flow = None;
            self.tuning.leave(slot);
        }
    }

    /// A flow has lost its slot.
    fn has_left(&mut self, slot: u32, flow: FlowId) {
        let own = &mut self.queues[slot as usize];
        if own.flow != Some(flow) {
            return;
        }
        if own.backlog.packets > 0 {
            self.leaving.insert(flow, slot);
        } else {
            own.flow = None;
            self.tuning.leave(slot);
        }
    }

    /// Queues whose flow has no packets in the reserved one any more are served.
    fn serve_waiting(&mut self, now: Time) {
        while let Some(slot) = self.waiting.front().copied() {
            let own = &mut self.queues[slot as usize];
            if own.after.is_some_and(|after| after > self.mice.left) {
                return;
            }
            own.after = None;
            self.waiting.pop_front();
            for packet in self.store.iter(own.packets) {
                self.scheduler.arrival(now, slot + 1, packet.len(), slot + 1);
            }
        }
    }

    /// The next packet of the reserved queue that its law does not drop.
    fn take_mouse(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        while let Some((since, mut packet)) = self.pop(now, RESERVED) {
            let (len, ecn, sojourn) = (packet.len(), packet.ecn(), now.since(since));
            let u = self.pair();
            let queue = &mut self.mice.queue;
            let backlog = queue.backlog();
            let departure = Departure { now, len, ecn, flow: packet.flow(), sojourn, backlog, u };
            match queue.judge_departure(&departure) {
                Verdict::Drop | Verdict::DropBoth => {
                    queue.count_drop();
                    self.counts.dropped_by_law += 1;
                    self.scheduler.dropped(RESERVED, len);
                    out.dropped(now, packet, Cause::Law);
                    continue;
                }
                Verdict::Mark if ecn.is_capable() => {
                    queue.count_mark();
                    self.mark(now, &mut packet, out);
                }
                Verdict::Pass | Verdict::Mark => {}
            }
            self.mice.queue.count_delivery(len);
            self.mice.sent += u64::from(len);
            return Some((packet, sojourn));
        }
        self.mice.queue.law.on_idle(now);
        None
    }

    /// The next packet of an elephant's queue; the scheduler may still know a queue that waits from before.
    fn take_elephant(&mut self, now: Time, number: u32) -> Option<(P, Span)> {
        if self.queues[number as usize - 1].after.is_some() {
            return None;
        }
        let (since, packet) = self.pop(now, number)?;
        let size = self.size_of(&packet);
        self.queues[number as usize - 1].surplus.left(now, size);
        self.pair();
        Some((packet, now.since(since)))
    }

    /// Two draws: every verdict has them, also where nothing depends on them.
    fn pair(&mut self) -> [f64; 2] {
        [self.draws.uniform(), self.draws.uniform()]
    }

    fn mark(&mut self, now: Time, packet: &mut P, out: &mut dyn Sink<P>) {
        self.counts.marked += 1;
        packet.set_ce();
        out.marked(now, packet);
    }

    /// The period ends.
    fn end_period(&mut self, now: Time) {
        let elapsed = now.since(self.mice.since).seconds();
        if elapsed > 0.0 {
            self.mice.rate = self.mice.sent as f64 / self.settings.link.packet / elapsed;
        }
        (self.mice.sent, self.mice.since) = (0, now);
        self.mice.demands = [self.mice.demands[1], 0.0];
        self.mice.settled.end_period();
        self.pauses.end_period();
        self.young.end_period(now);
        let capacity = self.capacity();
        for slot in self.tuning.active() {
            if let Some((rate, elapsed)) = self.tuning.rate_of_period(now, slot) {
                let share = self.tuning.rate(slot, capacity);
                self.queues[slot as usize].surplus.end_period(elapsed, rate / share);
            }
        }
        self.tuning.end_period(now, capacity);
        let mut gone = Vec::new();
        self.finder.age(|slot, flow| gone.push((slot, flow)));
        for (slot, flow) in gone {
            self.has_left(slot, flow);
        }
        if self.finder.shares_slots() {
            self.forget_silent();
        }
        self.set_reserved_rate();
        self.set_weights();
    }

    /// Flows that were silent for a period leave their slots to others that share them.
    fn forget_silent(&mut self) {
        for own in &mut self.queues {
            if !std::mem::take(&mut own.is_seen) {
                own.flow = None;
            }
        }
    }

    fn set_weights(&mut self) {
        for slot in self.tuning.active() {
            self.scheduler.others().set_weight(slot + 1, self.tuning.weight(slot));
        }
    }
}

impl<P: Packet + Send, S: Weighted> Qdisc<P> for Sqm<P, S> {
    fn enqueue(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        self.counts.offered += 1;
        let flow = packet.flow();
        let slot = self.slot_of(flow);
        let u = self.pair();
        let verdict = match slot {
            Some(slot) => self.judge_elephant(now, slot, &packet),
            None => self.judge_mouse(now, &packet, u),
        };
        if let Some(entered) = self.finder.count(flow, packet.len()) {
            if let Some(left) = entered.left {
                self.has_left(entered.slot, left);
            }
            if self.leaving.get(&flow) == Some(&entered.slot) {
                // It has the slot again that it was about to lose.
                self.leaving.remove(&flow);
            }
        }
        match verdict {
            Verdict::Drop | Verdict::DropBoth => {
                self.counts.dropped_by_law += 1;
                return out.dropped(now, packet, Cause::Law);
            }
            Verdict::Mark if packet.ecn().is_capable() => self.mark(now, &mut packet, out),
            Verdict::Pass | Verdict::Mark => {}
        }
        if let Some(slot) = slot {
            self.tuning.kept(slot, packet.len());
        }
        let size = self.size_of(&packet);
        match slot.filter(|slot| !self.tuning.is_young(*slot)) {
            Some(_) => self.predictor.arrived(now, size, self.tuning.mean_delay()),
            None => self.predictor.young_arrived(now, size),
        }
        self.append(now, slot, packet);
        self.make_room(now, out);
        if self.settings.law == PriceLaw::Predictive && !self.is_stalled {
            self.signal_by_prediction(now, slot, out);
        }
    }

    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        loop {
            let number = self.scheduler.select(now)?;
            let taken = match number {
                RESERVED => self.take_mouse(now, out),
                _ => self.take_elephant(now, number),
            };
            match &taken {
                Some((packet, _)) => self.scheduler.sent(now, number, packet.len()),
                None => self.scheduler.found_empty(number),
            }
            if number == RESERVED {
                self.serve_waiting(now);
            }
            if let Some((packet, _)) = &taken {
                self.counts.delivered += 1;
                let takes = self.size_of(packet) / self.settings.link.capacity();
                self.predictor.sent(takes);
                self.pauses.sent(now, takes, self.backlog.packets > 0);
                return taken;
            }
        }
    }

    fn next_update(&self) -> Option<Time> {
        let law = self.mice.queue.law.next_update();
        Some(law.map_or(self.ticks.due(), |law| law.min(self.ticks.due())))
    }

    /// After a stall both may be due, at other times.
    fn on_update(&mut self, _due: Time, now: Time) {
        if let Some(due) = self.mice.queue.law.next_update().filter(|due| *due <= now) {
            let head = self.store.head(self.mice.packets);
            self.mice.queue.update(due, now, head, &self.mice.context);
        }
        if self.ticks.due() <= now {
            self.ticks.met(self.ticks.due(), now);
            self.end_period(now);
        }
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        self.scheduler.link_changed(now, rate);
        if self.is_stalled {
            self.predictor.resume(now);
            self.pauses.resume(now);
            self.queues.iter_mut().for_each(|own| own.price.resume(now));
        }
        self.is_stalled = rate == Rate::ZERO;
        self.young.set_stalled(now, self.is_stalled);
        if rate > Rate::ZERO {
            let before = self.capacity();
            self.settings.link.rate = rate;
            self.highest = if self.highest < rate { rate } else { self.highest };
            self.mice.context = self.settings.mice_context(rate);
            self.set_reserved_rate();
            let factor = self.capacity() / before;
            self.tuning.scale_sent(factor);
            self.queues.iter_mut().for_each(|own| own.surplus.scale(now, factor));
        }
        let rate = if rate > Rate::ZERO { self.mice.context.rate } else { Rate::ZERO };
        self.mice.queue.law.on_link_change(now, rate);
    }

    fn flow_joined(&mut self, flow: FlowId, tag: FlowTag) {
        self.tags.keep(flow, tag);
    }

    fn connection_began(&mut self, now: Time, flow: FlowId) {
        let Some(slot) = self.slot_of(flow) else { return };
        if self.queues[slot as usize].flow == Some(flow) {
            if self.tuning.restart(now, slot, self.capacity()) {
                self.scheduler.others().set_weight(slot + 1, self.tuning.weight(slot));
            }
            self.restart(now, slot);
            let share = self.tuning.initial_rate(slot, self.capacity());
            let own = &mut self.queues[slot as usize];
            own.surplus.begin_connection(now, share);
            (own.price, own.response) = (Price::default(), Responsiveness::default());
        }
    }

    fn set_params(&mut self, now: Time, change: &Given) -> Result<(), InputError> {
        let given = self.params.with(change)?;
        let (sqm, before): (&Params, &Params) = (given.params.of()?, self.params.params.of()?);
        is_fixed("queues", sqm.queues == before.queues)?;
        is_fixed("find", sqm.find == before.find)?;
        is_fixed("scheduler", sqm.scheduler == before.scheduler)?;
        is_fixed("coordinator", sqm.coordinator == before.coordinator)?;
        is_fixed("reserved.law", sqm.reserved.law.law() == before.reserved.law.law())?;
        let highest = LinkContext { rate: self.highest, ..self.settings.link };
        let settings = Settings::of(sqm, &self.classes, &highest)?;
        if (sqm.reserved.rate, sqm.reserved.part) != (before.reserved.rate, before.reserved.part) {
            settings.reserved_fits(self.highest)?;
        }
        let link = self.settings.link;
        let settings = Settings { link, ..settings };
        let mice = settings.mice_context(link.rate);
        let law = settings.mice.1.given();
        self.mice
            .queue
            .law
            .clone()
            .set_params(now, law, &mice)
            .map_err(|error| error.at("law").at("reserved"))?;
        let demanded = self.mice.demands.map(|demands| self.tuning.rate_of_demands(demands));
        self.tuning.set_rules(settings.rules.clone())?;
        self.mice.demands = demanded.map(|rate| self.tuning.demands_of_rate(rate));
        if discriminant(&settings.law) != discriminant(&self.settings.law) {
            self.predictor.resume(now);
            self.queues.iter_mut().for_each(|own| own.price = Price::default());
        }
        if mice.rate != self.mice.context.rate && !self.is_stalled {
            self.mice.queue.law.on_link_change(now, mice.rate);
        }
        self.mice.queue.law.set_params(now, law, &mice)?;
        self.mice.queue.watch(now);
        self.mice.context = mice;
        self.finder.set_packets(settings.elephant);
        self.ticks.retime(now, settings.period);
        self.bounds = settings.limits.bounds(self.bounds.buffer);
        (self.settings, self.params) = (settings, given);
        self.set_reserved_rate();
        Ok(())
    }

    fn shares(&mut self) -> Option<&mut dyn FlowShares> {
        Some(self)
    }

    fn queue_names(&self) -> Vec<String> {
        ["elephants", "reserved"].map(String::from).into()
    }

    fn queue_of(&self, packet: &P) -> u8 {
        u8::from(self.slot_of(packet.flow()).is_none())
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn target_packets(&self) -> Option<f64> {
        match self.settings.law {
            PriceLaw::Predictive => Some(self.link().target),
            PriceLaw::Pi => Some(self.settings.target * self.settings.link.capacity()),
            PriceLaw::Price { .. } | PriceLaw::Delay => None,
        }
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("active_queues", "1", self.scheduler.active() as f64);
        out.gauge("elephants", "1", self.queues.iter().filter(|queue| queue.flow.is_some()).count() as f64);
        out.gauge("p", "1", self.mean_price().min(1.0));
        out.gauge("price", "1", self.tuning.price);
        out.gauge("utility", "1", self.tuning.utility);
        out.gauge("regret", "1", self.tuning.regret_value);
    }
}

/// Greatest part of the link that the reserved queue has by what its flows demand.
const MOST_PART: f64 = 0.9;
