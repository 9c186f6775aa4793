//! Signals: by prediction to one flow after another, or by the price of a queue.

use super::Sqm;
use crate::law::Verdict;
use crate::qdisc::{Cause, Packet, Sink};
use crate::qdiscs::schedulers::Weighted;
use crate::qdiscs::shares::LEAST_REST;
use crate::qdiscs::sqm::predictor::{self, Signal};
use crate::qdiscs::sqm::price::{LinkView, PriceLaw, QueueView};
use sojourn_units::{Ecn, Span, Time};
use std::cmp::Reverse;

impl<P: Packet, S: Weighted> Sqm<P, S> {
    /// The verdict on a packet that comes to the queue of a slot: by its price, or by the bound of a flow that does not answer.
    pub(super) fn verdict(&mut self, now: Time, slot: u32, packet: &P) -> Verdict {
        let (size, delay) = (self.size_of(packet), self.tuning.delay(slot));
        let own = &mut self.queues[slot as usize];
        own.surplus.arrived(now, size, delay);
        own.response.has_rate(now, own.surplus.rate(now, delay), delay);
        if self.settings.law == PriceLaw::Predictive {
            if packet.ecn().is_capable() && self.exceeds_threshold(now, slot) {
                self.count_threshold_mark(now, slot);
                return Verdict::Mark;
            }
            return self.bound(now, slot, packet.ecn().is_capable());
        }
        match self.judge(now, slot) {
            true if packet.ecn().is_capable() => Verdict::Mark,
            true => Verdict::Drop,
            false => Verdict::Pass,
        }
    }

    /// True if the packet that arrives at the queue of a slot is to be signalled by its price.
    fn judge(&mut self, now: Time, slot: u32) -> bool {
        let rate = self.tuning.rate(slot, self.capacity());
        let is_scaled = matches!(self.settings.law, PriceLaw::Price { .. });
        let scale = if is_scaled { self.tuning.scale(slot, rate) } else { 1.0 };
        let (held, all) = (self.packets(self.queues[slot as usize].backlog), self.packets(self.backlog));
        let is_stalled = self.is_stalled;
        let own = &mut self.queues[slot as usize];
        if is_stalled {
            own.price.resume(now);
        }
        let queue = QueueView { backlog: held, rate, delay: self.tuning.delay(slot), scale };
        let link =
            LinkView { backlog: all, rate: self.settings.link.capacity(), target: self.settings.target };
        own.price.judge(now, self.settings.law, &queue, &link)
    }

    /// T, s, with the pauses of the link.
    fn target(&self) -> f64 {
        let (target, pause) = (self.settings.target, self.pauses.mean());
        if pause < PAUSE * target { target } else { target + pause }
    }

    /// The link, for predictions.
    pub(super) fn link(&self) -> predictor::Link {
        let (rate, packet) = (self.settings.link.capacity(), self.settings.link.packet);
        let link = predictor::Link {
            backlog: self.packets(self.backlog),
            rate,
            delay: self.tuning.mean_delay(),
            window_delay: self.tuning.window_delay(),
            flows: self.tuning.flows(),
            young: self.young.rate() / packet,
            ..predictor::Link::default()
        };
        link.with_target(rate * self.target(), self.young.mean() / packet, self.predictor.raise())
    }

    /// Signals flows, one after another, while the prediction exceeds the threshold; a packet has come to the queue of a slot.
    pub(super) fn signal_by_prediction(&mut self, now: Time, slot: Option<u32>, out: &mut dyn Sink<P>) {
        let link = self.link();
        if let Some(slot) = slot.filter(|slot| self.grows_alone(now, *slot, &link)) {
            self.signal(now, slot, out);
        }
        if now < self.predict_at {
            return;
        }
        self.predict_at = now + Span::from_seconds((link.delay / PREDICTIONS).clamp(SOONEST, LATEST));
        self.predictor.update(now, &link);
        if link.has_short_windows() {
            return;
        }
        let mut prediction = self.predictor.predict(now, &link);
        while self.backlog.packets > 1 && prediction.exceeds_threshold() {
            let Some(slot) = self.next_signalled(now) else { return };
            prediction.signalled(self.signal(now, slot, out));
        }
    }

    /// A flow's own queue is too long: by its window in all cases, by a part of it in slow start, while the link is congested.
    fn grows_alone(&self, now: Time, slot: u32, link: &predictor::Link) -> bool {
        let own = &self.queues[slot as usize];
        let (share, delay) = (self.tuning.rate(slot, self.capacity()), self.tuning.delay(slot));
        let (part, rate, least) = match own.signalled {
            None => (SLOW_START.max(FEW_FLOWS / link.flows), share, INITIAL_QUEUE),
            // Others that come take of its share at once, and its window is still that of before.
            Some(_) => (ANY, share.max(own.surplus.rate(now, delay)), LEAST_QUEUE),
        };
        let is_long = self.packets(own.backlog) >= (part * rate * delay).max(least);
        is_long && !link.has_short_windows() && link.backlog >= link.base && self.may_signal(now, slot)
    }

    /// The flow of a slot has answered its last signal, or had the time to, its queue is served, its first packet is not marked
    /// already, and it is no mouse.
    fn may_signal(&self, now: Time, slot: u32) -> bool {
        let own = &self.queues[slot as usize];
        let hold = HOLD * self.tuning.delay(slot) / own.response.marks();
        let is_over = own.signalled.is_none_or(|at| now.since(at).seconds() > hold);
        let is_marked = || self.store.first(own.packets).is_some_and(|packet| packet.ecn() == Ecn::Ce);
        let is_served = own.after.is_none() && !self.tuning.is_mouse(slot);
        is_over && is_served && own.response.is_responsive() && !is_marked() && !self.is_slow(now, slot)
    }

    /// A flow sends so much less than its share that it does not cause the excess of the link.
    fn is_slow(&self, now: Time, slot: u32) -> bool {
        let own = &self.queues[slot as usize];
        let least = match own.signalled {
            None => SLOW_AT_FIRST * (1.0 - FEW_FLOWS / self.tuning.flows()),
            Some(_) => SLOW,
        };
        own.surplus.rate(now, self.tuning.delay(slot)) < least * self.share_of_grown(slot)
    }

    /// The share by equation (5) of what young flows, itself among them, and the reserved queue leave: the shares of young flows are
    /// not theirs to send yet.
    fn share_of_grown(&self, slot: u32) -> f64 {
        let link = &self.settings.link;
        // What comes to the reserved queue counts as young.
        let without_young = link.capacity() - self.young.rate() / link.packet;
        let rest = without_young.min(self.capacity());
        self.tuning.share_of_grown(slot, rest.max(LEAST_REST * link.capacity()))
    }

    /// The flow of a slot has a threshold, that of DCTCP (RFC 8257, section 3.1): it answers many marks and hardly one. Whether one
    /// that sends twice its share answers at all is to be found by other signals.
    fn has_threshold(&self, now: Time, slot: u32) -> bool {
        let response = &self.queues[slot as usize].response;
        if response.marks() == 1.0 || !response.is_responsive() {
            return false;
        }
        let sent = self.part_sent(now, slot);
        sent <= EXCESSIVE && (response.marks() > MANY_MARKS || sent >= ABOVE)
    }

    /// Such a flow has no other signals while it sends no more than its share: more of them only swing the backlog, as it answers
    /// over many round trips.
    fn has_only_a_threshold(&self, now: Time, slot: u32) -> bool {
        let response = &self.queues[slot as usize].response;
        response.marks() > MANY_MARKS && response.is_responsive() && self.part_sent(now, slot) < 1.0
    }

    /// Such a flow holds more than its share of the target while the link is congested, and is not slow.
    fn exceeds_threshold(&self, now: Time, slot: u32) -> bool {
        if !self.has_threshold(now, slot) || self.is_slow(now, slot) {
            return false;
        }
        let link = self.link();
        let part = self.tuning.rate(slot, self.capacity()) / link.rate;
        let held = self.packets(self.queues[slot as usize].backlog);
        link.backlog >= link.target && held >= (part * link.target).max(1.0)
    }

    /// Of a flow that sends more than its share marks by its threshold count as signals that it is to answer.
    fn count_threshold_mark(&mut self, now: Time, slot: u32) {
        if self.part_sent(now, slot) >= ABOVE {
            let delay = self.tuning.delay(slot);
            let own = &mut self.queues[slot as usize];
            let rate = own.surplus.rate(now, delay);
            own.response.signalled(now, rate, (delay, true));
        }
    }

    /// What a flow has sent in 10 s, by its share.
    fn part_sent(&self, now: Time, slot: u32) -> f64 {
        self.queues[slot as usize].surplus.part_sent(now, self.tuning.rate(slot, self.capacity()))
    }

    /// Backlog over `part` of the target.
    fn filled(&self, part: f64) -> f64 {
        let link = self.link();
        link.backlog / (part * link.base)
    }

    /// A flow that does not answer and sends more than its share by equation (5): beyond its share of C T, without what raises the
    /// target, its packets are marked or dropped, beyond four times that all are dropped. So they are where it is served
    ///
    /// ```text
    /// more than max(1, f C T_0 / Q) of its share                                                                      (x)
    /// ```
    ///
    /// with f = 1, but those of a flood are all dropped there, with f = 0.3: floods divide what others leave, and do not fill the
    /// rest of the target, which is what others are signalled by.
    fn bound(&mut self, now: Time, slot: u32, is_capable: bool) -> Verdict {
        let own = &self.queues[slot as usize];
        let delay = self.tuning.delay(slot);
        if own.response.is_responsive() {
            return Verdict::Pass;
        }
        let (rate, share) = (own.surplus.rate(now, delay), self.tuning.share(slot, self.capacity()));
        if rate <= share {
            return Verdict::Pass;
        }
        let (held, most) = (self.packets(own.backlog), (share * self.target()).max(1.0));
        let is_flood = own.response.is_flood();
        let filled = self.filled(if is_flood { FILLED } else { 1.0 });
        let exceeds_rate = own.surplus.served(now) * filled.min(1.0) > share;
        let verdict = match held {
            held if held < most && !exceeds_rate => Verdict::Pass,
            held if held < MARKED * most && !(exceeds_rate && is_flood) && is_capable => Verdict::Mark,
            _ => Verdict::Drop,
        };
        if verdict != Verdict::Pass {
            let own = &mut self.queues[slot as usize];
            own.response.signalled(now, rate, (delay, verdict == Verdict::Mark));
        }
        verdict
    }

    /// The slot with the greatest surplus, among those that may be signalled; of equal ones the one whose last signal is the
    /// longest ago.
    fn next_signalled(&self, now: Time) -> Option<u32> {
        let last = |slot: u32| self.queues[slot as usize].signalled;
        let is_signalled = |slot: &u32| {
            self.tuning.weight(*slot) > 0.0
                && !self.tuning.is_young(*slot)
                && !self.has_only_a_threshold(now, *slot)
                && self.may_signal(now, *slot)
        };
        let slots = self.holding.iter().filter(is_signalled);
        let ranked = slots.map(|slot| (self.surplus(now, slot), (Reverse(last(slot)), slot)));
        let greatest = ranked.max_by(|(a, x), (b, y)| a.total_cmp(b).then(x.cmp(y)));
        greatest.map(|(_, (_, slot))| slot)
    }

    /// Equation (vii).
    fn surplus(&self, now: Time, slot: u32) -> f64 {
        let own = &self.queues[slot as usize];
        let of = (self.tuning.rate(slot, self.capacity()), self.tuning.delay(slot));
        own.surplus.value(now, self.packets(own.backlog), of)
    }

    /// Marks or drops the first packet of a queue.
    pub(super) fn signal(&mut self, now: Time, slot: u32, out: &mut dyn Sink<P>) -> Signal {
        let delay = self.tuning.delay(slot);
        let own = &mut self.queues[slot as usize];
        let rate = own.surplus.rate(now, delay);
        let packet = self.store.first_mut(own.packets).filter(|packet| packet.ecn().is_capable());
        own.signalled = Some(now);
        own.response.signalled(now, rate, (delay, packet.is_some()));
        let signal = Signal { rate, delay, marks: own.response.marks() };
        self.predictor.signalled(now, signal);
        if let Some(packet) = packet {
            self.counts.marked += 1;
            packet.set_ce();
            out.marked(now, packet);
        } else {
            self.drop_first(now, slot + 1, out, Cause::Law);
        }
        signal
    }

    /// Part of the packets that is signalled: by prediction, or the mean of the prices of the queues whose flows have shares.
    pub(super) fn mean_price(&self) -> f64 {
        match self.settings.law {
            PriceLaw::Predictive => return self.predictor.signalled_part(self.tuning.mean_delay()),
            // Its senders measure the price, which is a delay.
            PriceLaw::Delay => return 0.0,
            PriceLaw::Pi | PriceLaw::Price { .. } => {}
        }
        let prices = self.tuning.active().map(|slot| self.queues[slot as usize].price.price());
        let (sum, count) = prices.fold((0.0, 0), |(sum, count), price| (sum + price, count + 1));
        sum / f64::from(count.max(1))
    }
}

/// Part of the target from which on pauses of the link add to it.
const PAUSE: f64 = 0.5;
/// Predictions in a mean round trip, and the shortest and longest time between two, s.
const PREDICTIONS: f64 = 20.0;
const SOONEST: f64 = 0.001;
const LATEST: f64 = 0.005;
/// Parts of its window that a flow's queue may hold: before its first signal, by n where flows are few, and later; and packets
/// that any may hold later. In slow start a flow sends its window in the first half of a round trip, so that half of a window
/// that fits the path waits for a moment; of many flows these moments are not the same.
const SLOW_START: f64 = 0.15;
const FEW_FLOWS: f64 = 1.0 / 3.0;
const ANY: f64 = 1.5;
const LEAST_QUEUE: f64 = 3.0;
/// The same before its first signal: the initial window of a sender, and a little (RFC 6928).
const INITIAL_QUEUE: f64 = 12.0;
/// Part of its share below which a flow is slow: the least rate of one that halves and has its share on average; and, where there
/// are many, before its first signal. In slow start the mean of a rate over 1.5 round trips is half of the rate.
const SLOW: f64 = 2.0 / 3.0;
const SLOW_AT_FIRST: f64 = 0.75;
/// Marks that a flow has in the time of one beyond which it has a threshold, and parts of its share, sent in 10 s: from which on it
/// has one with fewer marks, and beyond which it has none.
const MANY_MARKS: f64 = 8.0;
const ABOVE: f64 = 1.1;
const EXCESSIVE: f64 = 2.0;
/// Part of the target up to which floods are served beyond their shares.
const FILLED: f64 = 0.3;
/// The length up to which packets are marked rather than dropped, by that from which on.
const MARKED: f64 = 4.0;
/// Round trips between two signals of a flow.
const HOLD: f64 = 1.2;
