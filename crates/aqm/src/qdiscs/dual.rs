//! The coupled dual queue: one queue for classic senders, one for scalable ones, and PI2 over both.
//!
//! K. De Schepper, B. Briscoe, G. White, Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low Loss, and
//! Scalable Throughput (L4S), RFC 9332, 2023, Appendix A; names are those of its pseudocode. Every Tupdate
//!
//! ```text
//! p' <- p' + alpha (curq - target) + beta (curq - prevq),  curq = max(cq.time(), lq.time())     (Figure 8)
//! p_C = p'^2,  p_CL = k p',  p_L = max(laqm(lq.time()), p_CL)                                   (Figure 7)
//! ```

use super::{Built, Queues};
use crate::gauges::Gauges;
use crate::law::Backlog;
use crate::parts::pie::step;
use crate::parts::ticks::Ticks;
use crate::qdisc::{Cause, Counts, Limit, Packet, Qdisc, Sink};
use crate::qdisc_spec::{Place, QdiscEntry};
use sojourn_params::{Described, Given, InputError, Page, Params, choice, params};
use sojourn_random::Stream;
use sojourn_units::{Amount, Bytes, Ecn, Packets, Prob, Rate, Span, Time};
use std::collections::VecDeque;

choice! {
    /// A set of defaults.
    pub enum Defaults {
        /// those of RFC 9332, Figure 2
        Rfc9332 = "rfc9332",
        /// those of Linux, tc-dualpi2(8)
        Linux = "linux",
    }
}

choice! {
    /// Which queue the link takes from.
    pub enum Turns {
        /// by weight
        Wrr = "wrr",
        /// that whose first packet has waited longer, by a time in favour of L
        TimeShift = "time_shift",
    }
}

choice! {
    /// What happens when marks do not suffice.
    pub enum Overload {
        /// packets of both queues are dropped with p_C, whether they can be marked or not
        Drop = "drop",
        /// packets that can be marked are marked, until the buffer overflows
        Overflow = "overflow",
    }
}

choice! {
    /// How a probability becomes signals.
    pub enum Signals {
        /// at every packet that a sum of probabilities reaches the next whole number
        Recur = "recur",
        /// by random numbers
        Random = "random",
    }
}

params! {
    /// Parameters of the coupled dual queue.
    pub struct Dual {
        /// set of defaults
        defaults: Defaults = Defaults::Rfc9332, "the standard; linux differs where its column says so";
        /// delay of the classic queue to hold
        target: Span = Span::from_millis(15), in above "0 s" to "1 h", "both sets", "RFC 9332, Figure 2, line 8";
        /// the longest round-trip time that the gains are designed for
        rtt_max "RTT_max": Span = Span::from_millis(100), in "1 us" to "1 h", "both sets", "RFC 9332, Figure 2, line 9";
        /// time between updates
        period "Tupdate": Option<Span> = None, in "1 us" to "10 s",
            "the smaller of target and rtt_max / 3; linux 16 ms", "RFC 9332, Figure 2, line 12; tc-dualpi2(8)";
        /// gain on the error of the delay, 1/s
        alpha: Option<f64> = None, in above 0.0 to 1e6,
            "0.1 period / rtt_max^2, 0.15; linux 0.16", "RFC 9332, Figure 2, line 13; tc-dualpi2(8)";
        /// gain on the trend of the delay, 1/s
        beta: Option<f64> = None, in 0.0 to 1e6,
            "0.3 / rtt_max, 3; linux 3.2", "RFC 9332, Figure 2, line 14; tc-dualpi2(8)";
        /// ratio of the probability of coupled marks to the base probability
        coupling "k": f64 = 2.0, in 1.0 to 100.0, "both sets", "RFC 9332, Figure 2, line 3, and Appendix C";
        /// delay of L from which its packets are marked
        min_th "minTh": Option<Span> = None, in "0 s" to "1 h", "800 us; linux 1 ms", "RFC 9332, Figure 2, line 17; tc-dualpi2(8)";
        /// delay over which the probability of marks rises to 1; 0: a step
        range: Option<Span> = None, in "0 s" to "1 h", "400 us; linux 0 s, a step", "RFC 9332, Figure 2, line 18; tc-dualpi2(8)";
        /// packets in L that are not marked for their delay
        th_len "Th_len": Option<Packets> = None, in 0 to 1_000_000, "1; linux 0", "RFC 9332, Figure 2, line 19; tc-dualpi2(8)";
        /// order of service of the two queues
        scheduler: Turns = Turns::Wrr, "both sets", "RFC 9332, Appendix A.2";
        /// part of the link that the classic queue has under wrr while both have packets
        classic_share: Option<f64> = None, in above 0.0 to 0.5, "1/16; linux 0.1", "RFC 9332, section 4.2.2; tc-dualpi2(8)";
        /// time by which L is ahead under time_shift
        tshift: Span = Span::from_millis(50), in "0 s" to "1 h", "for the public Internet", "RFC 9332, Appendix A.2";
        /// response once every packet of L is marked
        overload: Overload = Overload::Drop, "both sets", "RFC 9332, Figure 7, lines 8b to 8j and 12b";
        /// conversion of a probability into signals
        signals: Option<Signals> = None,
            "recur; linux random", "RFC 9332, Figure 4, lines 23 to 30; K. De Schepper et al. 2016, section 5";
        /// bytes of both queues together below which p_C and p_CL do not act
        bypass: Option<Bytes> = None, in "0 B" to "1 GB", "0 B; linux 3000 B, two MTU", "RFC 9332, Appendix A.1";
        /// packets of both queues together
        limit: Packets = Packets::new(10_000), in 1 to 1_000_000_000, "that of Linux; the link's buffer, where that is less", "tc-dualpi2(8)";
    }
}

/// Description and constructor.
pub(crate) const ENTRY: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "dual",
        summary: "the coupled dual queue of L4S: a shallow queue for scalable senders beside a classic one",
        idea: "ECT(1) and CE packets have a queue of their own, which hardly waits. PI2 holds the delay of the classic queue; \
               what it signals there squared, it signals to the other one coupled by k, so that a flow of either kind \
               has the same rate. A shallow ramp marks the scalable queue when it is alone.",
        equation: "p' <- p' + alpha (curq - target) + beta (curq - prevq);  p_C = p'^2;  p_L = max(ramp, k p')",
        source: "RFC 9332, Appendix A",
        fields: <Dual as Described>::fields,
    },
    read: Given::read::<Dual>,
    design,
};

fn design(params: &dyn Params, place: &Place<'_>) -> Result<Queues, InputError> {
    let dual: &Dual = params.of()?;
    let values = Values::of(dual);
    Ok(Queues::Dual(Design { values, target_packets: place.context.packets(Amount::Delay(dual.target)) }))
}

/// The dual queue in front of a link.
#[derive(Clone)]
pub(crate) struct Design {
    values: Values,
    target_packets: f64,
}

impl Design {
    /// The qdisc at its start, behind a buffer.
    pub(super) fn build<P: Packet + Send + 'static>(
        &self,
        buffer: Limit,
        given: Given,
        draws: Stream,
    ) -> Built<P> {
        Box::new(DualQueue::<P> {
            values: self.values.clone(),
            target_packets: self.target_packets,
            buffer,
            given,
            l: Half::new(),
            c: Half::new(),
            credit: 0.0,
            base: 0.0,
            prevq: 0.0,
            ticks: Ticks::new(self.values.period),
            counts: Counts::default(),
            draws,
        })
    }
}

/// The parameters with all defaults.
#[derive(Clone, Debug)]
struct Values {
    target: f64,
    period: Span,
    alpha: f64,
    beta: f64,
    coupling: f64,
    min_th: f64,
    range: f64,
    th_len: u32,
    scheduler: Turns,
    classic_share: f64,
    tshift: Span,
    drops_on_overload: bool,
    is_random: bool,
    bypass: u64,
    limit: u32,
}

impl Values {
    fn of(dual: &Dual) -> Values {
        let is_linux = dual.defaults == Defaults::Linux;
        let rtt = dual.rtt_max.seconds();
        let third = Span::from_nanos(dual.rtt_max.nanos() / 3);
        let period = match dual.period {
            Some(period) => period,
            None if is_linux => Span::from_millis(16),
            None => dual.target.min(third).max(SHORTEST),
        };
        let by_set =
            |given: Option<f64>, rfc: f64, linux: f64| given.unwrap_or(if is_linux { linux } else { rfc });
        let random = if is_linux { Signals::Random } else { Signals::Recur };
        Values {
            target: dual.target.seconds(),
            period,
            alpha: by_set(dual.alpha, 0.1 * period.seconds() / (rtt * rtt), 0.16),
            beta: by_set(dual.beta, 0.3 / rtt, 3.2),
            coupling: dual.coupling,
            min_th: by_set(dual.min_th.map(Span::seconds), 800e-6, 1e-3),
            range: by_set(dual.range.map(Span::seconds), 400e-6, 0.0),
            th_len: dual.th_len.map_or(u32::from(!is_linux), Packets::get),
            scheduler: dual.scheduler,
            classic_share: by_set(dual.classic_share, 1.0 / 16.0, 0.1),
            tshift: dual.tshift,
            drops_on_overload: dual.overload == Overload::Drop,
            is_random: dual.signals.unwrap_or(random) == Signals::Random,
            bypass: dual.bypass.map_or(if is_linux { 2 * u64::from(MTU) } else { 0 }, Bytes::get),
            limit: dual.limit.get(),
        }
    }

    /// The native AQM of L (Figure 5).
    fn laqm(&self, qdelay: f64) -> f64 {
        if qdelay >= self.min_th + self.range {
            1.0
        } else if qdelay > self.min_th {
            (qdelay - self.min_th) / self.range
        } else {
            0.0
        }
    }
}

/// The coupled dual queue.
struct DualQueue<P> {
    values: Values,
    target_packets: f64,
    buffer: Limit,
    given: Given,
    l: Half<P>,
    c: Half<P>,
    /// Bytes that L may send before C has its turn, under wrr.
    credit: f64,
    /// p'.
    base: f64,
    /// Delay at the last update, s.
    prevq: f64,
    ticks: Ticks,
    counts: Counts,
    draws: Stream,
}

/// One of the two queues.
struct Half<P> {
    packets: VecDeque<(Time, P)>,
    bytes: u64,
    /// Sum of probabilities of [`DualQueue::recur`].
    count: f64,
}

impl<P: Packet> Half<P> {
    fn new() -> Half<P> {
        Half { packets: VecDeque::new(), bytes: 0, count: 0.0 }
    }

    /// Sojourn time of the first packet, s; 0 without one.
    fn time(&self, now: Time) -> f64 {
        self.packets.front().map_or(0.0, |(since, _)| now.since(*since).seconds())
    }

    fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    fn pop(&mut self) -> Option<(Time, P)> {
        let (since, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.len());
        Some((since, packet))
    }

    /// True with a likelihood (Figure 4, lines 23 to 30), or with a probability by `draw`.
    fn recur(&mut self, likelihood: f64, draw: Option<f64>) -> bool {
        if let Some(draw) = draw {
            return draw < likelihood;
        }
        self.count += likelihood;
        let is_reached = self.count > 1.0;
        self.count -= f64::from(u8::from(is_reached));
        is_reached
    }
}

/// What becomes of a packet.
enum Fate {
    Pass,
    Mark,
    Drop,
}

impl<P: Packet + Send> DualQueue<P> {
    /// p_C and p_CL at a backlog before the packet leaves.
    fn probabilities(&self) -> [f64; 2] {
        if self.l.bytes + self.c.bytes < self.values.bypass {
            return [0.0; 2];
        }
        [self.base * self.base, self.values.coupling * self.base]
    }

    /// True if L is to send: the scheduler of Appendix A.2.
    fn takes_from_l(&self, now: Time) -> bool {
        if self.l.is_empty() || self.c.is_empty() {
            return self.c.is_empty();
        }
        match self.values.scheduler {
            Turns::Wrr => self.credit > 0.0,
            Turns::TimeShift => self.l.time(now) + self.values.tshift.seconds() >= self.c.time(now),
        }
    }

    /// Moves the credit of wrr: only while both queues have packets; without any, L has all of it (Appendix A.1).
    fn spend(&mut self, is_l: bool, len: u32, both: bool) {
        let share = self.values.classic_share;
        if self.l.is_empty() && self.c.is_empty() {
            self.credit = (1.0 - share) * f64::from(MTU);
        } else if both {
            self.credit += f64::from(len) * if is_l { -share } else { 1.0 - share };
        }
    }

    /// Figure 7, lines 4b to 8j; the packet has left its queue, which held `before` packets with it.
    fn judge_l(&mut self, qdelay: f64, before: u32, [p_c, p_cl]: [f64; 2], u: [Option<f64>; 2]) -> Fate {
        if p_cl < P_LMAX || !self.values.drops_on_overload {
            let native = if before > self.values.th_len { self.values.laqm(qdelay) } else { 0.0 };
            let is_marked = self.l.recur(native.max(p_cl).min(1.0), u[0]);
            return if is_marked { Fate::Mark } else { Fate::Pass };
        }
        if self.l.recur(p_c, u[0]) {
            return Fate::Drop;
        }
        if self.l.recur(p_cl, u[1]) { Fate::Mark } else { Fate::Pass }
    }

    /// Figure 7, lines 11 to 17.
    fn judge_c(&mut self, ecn: Ecn, [p_c, _]: [f64; 2], u: [Option<f64>; 2]) -> Fate {
        // The larger of two draws is below p' with probability p'^2.
        let is_signalled = match u {
            [Some(one), Some(two)] => one.max(two) < p_c.sqrt(),
            _ => self.c.recur(p_c, None),
        };
        let k = self.values.coupling;
        let is_overloaded = self.values.drops_on_overload && p_c >= (1.0 / (k * k)).min(1.0);
        match is_signalled {
            false => Fate::Pass,
            true if !ecn.is_capable() || is_overloaded => Fate::Drop,
            true => Fate::Mark,
        }
    }
}

impl<P: Packet + Send> Qdisc<P> for DualQueue<P> {
    fn enqueue(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        self.counts.offered += 1;
        let backlog = self.backlog();
        // A full MTU must fit, so that small packets have no advantage (Figure 3, line 2).
        let fits = self.buffer.admits(backlog, packet.len().max(MTU)) && backlog.packets < self.values.limit;
        if !fits {
            self.counts.overflowed += 1;
            return out.dropped(now, packet, Cause::Overflow);
        }
        let half = if is_scalable(packet.ecn()) { &mut self.l } else { &mut self.c };
        half.bytes += u64::from(packet.len());
        half.packets.push_back((now, packet));
    }

    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        while !(self.l.is_empty() && self.c.is_empty()) {
            let (is_l, both) = (self.takes_from_l(now), !self.l.is_empty() && !self.c.is_empty());
            let probabilities = self.probabilities();
            let half = if is_l { &mut self.l } else { &mut self.c };
            let before = half.packets.len() as u32;
            let (since, mut packet) = half.pop()?;
            let (len, ecn, sojourn) = (packet.len(), packet.ecn(), now.since(since));
            let u = [self.draws.uniform(), self.draws.uniform()].map(|u| self.values.is_random.then_some(u));
            let fate = if is_l {
                self.judge_l(sojourn.seconds(), before, probabilities, u)
            } else {
                self.judge_c(ecn, probabilities, u)
            };
            if let Fate::Drop = fate {
                self.counts.dropped_by_law += 1;
                out.dropped(now, packet, Cause::Law);
                continue;
            }
            self.spend(is_l, len, both);
            if let (Fate::Mark, true) = (fate, ecn.is_capable()) {
                self.counts.marked += 1;
                packet.set_ce();
                out.marked(now, &packet);
            }
            self.counts.delivered += 1;
            return Some((packet, sojourn));
        }
        None
    }

    fn next_update(&self) -> Option<Time> {
        Some(self.ticks.due())
    }

    /// Figure 8.
    fn on_update(&mut self, due: Time, now: Time) {
        self.ticks.met(due, now);
        let curq = self.c.time(now).max(self.l.time(now));
        let Values { alpha, beta, target, .. } = self.values;
        self.base = Prob::clamped(self.base + step(alpha, beta, curq, self.prevq, target)).get();
        self.prevq = curq;
    }

    fn link_changed(&mut self, _now: Time, _rate: Rate) {}

    fn set_params(&mut self, now: Time, change: &Given) -> Result<(), InputError> {
        let given = self.given.with(change)?;
        self.values = Values::of(given.params.of()?);
        self.ticks.retime(now, self.values.period);
        self.given = given;
        Ok(())
    }

    fn queue_names(&self) -> Vec<String> {
        ["L", "C"].map(String::from).into()
    }

    fn queue_of(&self, packet: &P) -> u8 {
        u8::from(!is_scalable(packet.ecn()))
    }

    fn backlog(&self) -> Backlog {
        Backlog {
            packets: (self.l.packets.len() + self.c.packets.len()) as u32,
            bytes: self.l.bytes + self.c.bytes,
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn target_packets(&self) -> Option<f64> {
        Some(self.target_packets)
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.base * self.base);
        out.gauge("p_coupled", "1", (self.values.coupling * self.base).min(1.0));
        out.gauge("scalable_packets", "packets", self.l.packets.len() as f64);
        out.gauge("classic_packets", "packets", self.c.packets.len() as f64);
    }
}

/// True for the packets of L (RFC 9332, Appendix A.1: the least significant bit of its ECN field is 1).
fn is_scalable(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Ect1 | Ecn::Ce)
}

/// An Ethernet packet, bytes.
const MTU: u32 = 1500;
/// p_Lmax.
const P_LMAX: f64 = 1.0;
/// Shortest time between updates.
const SHORTEST: Span = Span::from_micros(1);
