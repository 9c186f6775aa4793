//! PIE: proportional-integral control of the delay, enhanced.
//!
//! R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller
//! Enhanced (PIE)", RFC 8033, 2017. Every period T the drop probability changes
//! by the error of the delay and by its trend, scaled by a function of p:
//!
//! ```text
//! step = alpha (delay - target) + beta (delay - old)                  (1)
//! p <- p + step / divisor(p),  2048 below 1e-6 ... 2 below 0.1, then 1 (2)
//! step <= 0.02 if p >= 0.1                                            (3)
//! p <- 0.98 p  if the queue is calm                                   (4)
//! ```
//!
//! and p is clamped to [0, 1]. An arriving packet passes at any p during the burst
//! allowance, and under the safeguards
//!
//! ```text
//! old < target/2 and p < 0.2,  or  backlog <= 2 mean packets, in bytes (5)
//! ```
//!
//! Otherwise it is dropped with p, derandomized by the sum of p over arrivals
//! since the last drop:
//!
//! ```text
//! sum < 0.85: pass;  sum >= 8.5: drop;  between: drop with p          (6)
//! ```
//!
//! The delay is that of the last departure (section 4.3), or the backlog over the
//! departure rate of 16 KiB (section 5.2):
//!
//! ```text
//! delay = backlog avg / threshold,
//! avg <- (1 - w) avg + w (time for threshold bytes), w = threshold/2^16 (7)
//! ```
//!
//! The sections of the RFC and its Appendix B differ in the definition of calm;
//! the sections are the default. docs/deviations/pie.md lists the deviations from
//! Appendix B.

use crate::analysis::{Analysis, Bounds, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Arrival, Departure, Law, Observation, Verdict};
use crate::linear::{Linear, OperatingPoint};
use crate::link_context::LinkContext;
use crate::parts::pie::{
    DECAY, Derandomized, PROB_LOW, SAFE_BELOW, SAFE_PACKETS, capped, forced, step, tuning,
};
use crate::parts::ticks::Ticks;
use sojourn_params::{Described, ErrorKind, Given, InputError, Page};
use sojourn_units::{Amount, Bytes, Prob, Span, Time};

sojourn_params::choice! {
    /// Measurement of the queueing delay.
    pub enum Delay {
        /// Sojourn time of the last departure.
        Timestamps = "timestamps",
        /// Backlog over the measured departure rate.
        DepartureRate = "departure_rate",
    }
}

sojourn_params::choice! {
    /// Condition on the last two delays of a calm queue.
    pub enum Calm {
        /// Below half the target.
        Half = "half",
        /// Zero.
        Zero = "zero",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "pie",
        summary: "proportional-integral control of the delay, with a gain that follows p and a burst allowance",
        idea: "Every 15 ms the probability moves by the error of the delay and by its trend, in steps that are \
               small while the probability is small. Arriving packets are marked or dropped with it, spread \
               out in time; short bursts, a nearly empty queue and a queue well below the target are \
               exempt. Neither the link's rate nor the load need be known.",
        equation: "p <- p + (alpha (delay - target) + beta (delay - old)) / divisor(p),  clamped to [0, 1]",
        source: "R. Pan, P. Natarajan, F. Baker, G. White, RFC 8033, 2017",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Pie::new(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of PIE.
    #[derive(Copy)]
    pub struct Params {
        /// delay to hold
        target "QDELAY_REF": Span = Span::from_millis(15), in above "0 s" to "1 h", "RFC 8033, section 4.2";
        /// time between updates; at half of it halve alpha and raise beta by a quarter of alpha
        period "T_UPDATE": Span = Span::from_millis(15), in "1 us" to "10 s", "RFC 8033, section 4.2";
        /// gain on the error of the delay, 1/s
        alpha "alpha": f64 = 0.125, in above 0.0 to 1e6,
            "RFC 8033, Appendix A; section 4.2: in proportion larger for a smaller target";
        /// gain on the trend of the delay, 1/s
        beta "beta": f64 = 1.25, in 0.0 to 1e6,
            "RFC 8033, Appendix A; section 4.2: in proportion larger for a smaller target";
        /// longest burst without drops
        max_burst "MAX_BURST": Span = Span::from_millis(150), in "0 s" to "1 h", "RFC 8033, section 4.4";
        /// measure of the delay: that of the last departure, or the backlog over a measured rate
        delay "current_qdelay": Delay = Delay::Timestamps,
            "RFC 8033, section 4.3, leaves it open; the rate is measured only while 16 KiB wait";
        /// bytes that a measurement of the departure rate takes
        dq_threshold "DQ_THRESHOLD": Bytes = Bytes::new(1 << 14), in "1 B" to "64 KiB", where "within the buffer",
            "RFC 8033, section 5.2";
        /// mean packet: a backlog of two of them is exempt, and byte_mode scales by it
        packet "MEAN_PKTSIZE": Option<Bytes> = None, above "0 B",
            "the scenario's; RFC 8033 gives no number, RFC 8034 has 1024 B";
        /// ECN-capable packets are marked while p is below this and dropped from there on; 0 never marks
        mark_below_p "mark_ecnth": Prob = Prob::clamped(0.1), "RFC 8033, section 5.1";
        /// spread drops out, equation (6)
        derandomize "accu_prob": bool = true,
            "RFC 8033, section 5.4: independent draws drop too close together or too far apart";
        /// limit the rise of p to 0.02 per update where it is 0.1 or more
        cap_drop "p": bool = true, "RFC 8033, section 5.5: the slow start of a lone flow";
        /// inactive until the buffer is a third full, and again after congestion
        activity "active": bool = false, where "true only in a buffer with a limit",
            "RFC 8033, section 5.3: optional; a queue that stays below a third of a large buffer is never controlled";
        /// scale p by the size of the packet, up to 0.85
        byte_mode "bytes": bool = false, "RFC 7567, section 4.4: do not favour small packets; the bound is RFC 8034's";
        /// the last two delays at which p decays: both zero, or both below half the target
        decay "decay": Calm = Calm::Zero, "RFC 8033, section 4.2 and Appendix A; Appendix B has half";
        /// the last two delays at which, once p is 0, activity ends
        inactive "inactive": Calm = Calm::Half, "RFC 8033, section 5.3; Appendix B has zero";
    }
}

/// Proportional-integral control of the delay, enhanced.
#[derive(Clone, Debug)]
pub struct Pie {
    params: Params,
    target: f64,
    /// MEAN_PKTSIZE, bytes.
    packet: f64,
    /// A third of the buffer, bytes; None: always active.
    third: Option<f64>,
    target_packets: f64,
    ticks: Ticks,

    active: bool,
    p: f64,
    /// Sum of p over arrivals since the last drop.
    sum: f64,
    /// Present delay, s; None before the first sample.
    delay: Option<f64>,
    /// Delay at the last update, s.
    old: f64,
    burst_allowance: Span,
    updated: Time,
    /// Backlog at the last update, bytes.
    waiting: u64,
    drain: Drain,
}

/// Measurement of the departure rate, section 5.2.
#[derive(Clone, Copy, Debug, Default)]
struct Drain {
    /// Start of the measurement; None outside of one.
    since: Option<Time>,
    count: u64,
    /// avg_dq_time, s; 0 before the first sample.
    average: f64,
}

impl Pie {
    /// PIE on the link of `context`, from an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Pie, InputError> {
        let buffer = context.limit * context.packet;
        if params.activity && buffer.is_infinite() {
            let problem = "the third of a buffer without limit is never reached";
            let expected = "false, or a buffer with a limit";
            return Err(InputError::new(ErrorKind::Conflict, problem, expected).at("activity"));
        }
        if params.delay == Delay::DepartureRate && params.dq_threshold.get() as f64 > buffer {
            let problem = format!("is above the buffer of {buffer} B, so no rate is ever measured");
            let error = InputError::conflict(params.dq_threshold, problem, "within the buffer");
            return Err(error.at("dq_threshold"));
        }
        Ok(Pie {
            params: *params,
            target: params.target.seconds(),
            packet: params.packet.map_or(context.packet, |size| size.get() as f64),
            third: params.activity.then_some(buffer / 3.0),
            target_packets: context.packets(Amount::Delay(params.target)),
            ticks: Ticks::new(params.period),
            active: !params.activity,
            p: 0.0,
            sum: 0.0,
            delay: None,
            old: 0.0,
            burst_allowance: params.max_burst,
            updated: Time::ZERO,
            waiting: 0,
            drain: Drain::default(),
        })
    }
}

impl Law for Pie {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let verdict = self.judge(arrival);
        if let Some(third) = self.third {
            self.wake(arrival, third);
        }
        self.renew();
        verdict
    }

    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        match self.params.delay {
            Delay::Timestamps => self.delay = Some(departure.sojourn.seconds()),
            Delay::DepartureRate => self.drain.depart(departure, self.params.dq_threshold.get()),
        }
        Verdict::Pass
    }

    fn on_idle(&mut self, _now: Time) {
        // There are no departures from an empty queue to measure a delay of 0.
        if self.params.delay == Delay::Timestamps {
            self.delay = Some(0.0);
        }
    }

    fn on_overflow(&mut self, _now: Time) {
        self.sum = 0.0;
    }

    fn set_params(&mut self, now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let params: &Params = given.params.of()?;
        let fresh = Pie::new(params, context)?;
        self.ticks.retime(now, params.period);
        let Pie { ticks, p, sum, delay, old, updated, waiting, drain, .. } = *self;
        // Without a threshold an inactive law would never become active.
        let active = self.active || !params.activity;
        let burst_allowance = self.burst_allowance.min(params.max_burst);
        *self = Pie { ticks, active, p, sum, delay, old, burst_allowance, updated, waiting, drain, ..fresh };
        Ok(())
    }

    fn next_update(&self) -> Option<Time> {
        Some(self.ticks.due())
    }

    fn on_update(&mut self, due: Time, observed: &Observation) {
        self.ticks.met(due, observed.now);
        if self.third.is_some() && !(self.active && observed.now.since(self.updated) >= self.params.period) {
            return;
        }
        self.updated = observed.now;
        self.waiting = observed.backlog_bytes as u64;
        if self.params.delay == Delay::DepartureRate {
            self.delay = self.drain.delay(observed.backlog_bytes, self.params.dq_threshold.get());
        }
        self.calculate_drop_prob(self.delay.unwrap_or(0.0));
    }

    fn probability(&self) -> Option<Prob> {
        // The departure rate, and the end of inactivity, need packets.
        if self.params.delay == Delay::DepartureRate || self.third.is_some() {
            return None;
        }
        let lets_pass = self.p == 0.0 || self.burst_allowance > Span::ZERO || self.is_spared(self.waiting);
        Some(if lets_pass { Prob::ZERO } else { Prob::clamped(self.spread(self.p).share) })
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p);
        out.gauge("delay", "s", self.old);
        out.gauge("burst_allowance", "s", self.burst_allowance.seconds());
    }
}

impl Analysis for Pie {
    fn target_packets(&self) -> Option<f64> {
        // The target is a delay; as a backlog at the first link rate.
        Some(self.target_packets)
    }

    fn marks_at(&self, p: Prob) -> bool {
        let own = if self.params.derandomize { Derandomized::p_of(p.get()) } else { p.get() };
        own < self.params.mark_below_p.get()
    }

    fn bounds(&self) -> Bounds {
        Bounds { spared: SAFE_PACKETS, ..Bounds::default() }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        let Params { alpha, beta, period, derandomize, .. } = self.params;
        let p = if derandomize { Derandomized::p_of(point.p) } else { point.p };
        // Equations (1) and (2) with a delay of q / C; steps about the equilibrium are below the cap.
        let per_packet = self.spread(p).slope / (tuning(p).unwrap_or(1.0) * point.network.capacity);
        let steps = Linear::steps((alpha + beta) * per_packet, beta * per_packet, period);
        Some(steps.seeing_sojourn(self.params.delay == Delay::Timestamps))
    }

    fn noise(&self, _point: &OperatingPoint) -> NoiseModel {
        let dispersion = if self.params.derandomize { Derandomized::DISPERSION } else { 1.0 };
        NoiseModel { dispersion, ..NoiseModel::default() }
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("packet", "B", self.packet);
    }
}

impl Pie {
    /// `enque` of Appendix B, without the check of the buffer limit, which is the qdisc's.
    fn judge(&mut self, arrival: &Arrival) -> Verdict {
        // In this order: the sum of p includes the burst allowance.
        if !self.active || !self.drop_early(arrival) || self.burst_allowance > Span::ZERO {
            return Verdict::Pass;
        }
        self.sum = 0.0;
        if self.p < self.params.mark_below_p.get() && arrival.ecn.is_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }

    /// `drop_early` of Appendix B; without derandomisation that of Appendix A.
    fn drop_early(&mut self, arrival: &Arrival) -> bool {
        if self.is_spared(arrival.backlog.bytes) {
            return false;
        }
        let p = self.scaled(arrival.len);
        let drawn = arrival.u[0] < p;
        if !self.params.derandomize {
            return drawn;
        }
        if self.p == 0.0 {
            self.sum = 0.0;
        }
        self.sum += p;
        forced(self.sum).unwrap_or_else(|| {
            if drawn {
                self.sum = 0.0;
            }
            drawn
        })
    }

    /// Equation (5): the safeguards that keep the link busy, section 4.1.
    fn is_spared(&self, backlog: u64) -> bool {
        self.old < self.target / 2.0 && self.p < SAFE_BELOW || backlog as f64 <= SAFE_PACKETS * self.packet
    }

    /// Share of drops, of packets of mean size.
    fn spread(&self, p: f64) -> Derandomized {
        if self.params.derandomize { Derandomized::of(p) } else { Derandomized { share: p, slope: 1.0 } }
    }

    /// Probability for a packet of this size.
    fn scaled(&self, len: u32) -> f64 {
        if self.params.byte_mode { (self.p * f64::from(len) / self.packet).min(PROB_LOW) } else { self.p }
    }

    /// Section 5.3: becomes active once the buffer is a third full, the last arrival included.
    fn wake(&mut self, arrival: &Arrival, third: f64) {
        let backlog = arrival.backlog.bytes + u64::from(arrival.len);
        if self.active || (backlog as f64) < third {
            return;
        }
        self.active = true;
        (self.p, self.sum, self.old) = (0.0, 0.0, 0.0);
        self.burst_allowance = self.params.max_burst;
        self.updated = arrival.now;
        self.drain = Drain { since: Some(arrival.now), ..Drain::default() };
        if self.params.delay == Delay::DepartureRate {
            self.delay = None;
        }
    }

    /// Sections 4.4 and 5.3: after congestion the burst allowance is renewed, or activity ends.
    fn renew(&mut self) {
        let delays = [self.delay.unwrap_or(0.0), self.old];
        if self.p > 0.0 {
            return;
        }
        if self.third.is_none() {
            if self.is_calm(Calm::Half, delays) {
                self.burst_allowance = self.params.max_burst;
            }
        } else if self.delay.is_some() && self.is_calm(self.params.inactive, delays) {
            self.active = false;
            self.drain.since = None;
        }
    }

    fn is_calm(&self, calm: Calm, delays: [f64; 2]) -> bool {
        delays.iter().all(|delay| match calm {
            Calm::Half => *delay < self.target / 2.0,
            Calm::Zero => *delay == 0.0,
        })
    }

    /// Equations (1) to (4): `calculate_drop_prob` of the appendices.
    fn calculate_drop_prob(&mut self, delay: f64) {
        let Params { alpha, beta, period, .. } = self.params;
        let step = step(alpha, beta, delay, self.old, self.target) / tuning(self.p).unwrap_or(1.0);
        self.p += if self.params.cap_drop { capped(step, self.p) } else { step };
        if self.is_calm(self.params.decay, [delay, self.old]) {
            self.p *= DECAY;
        }
        self.p = Prob::clamped(self.p).get();
        self.old = delay;
        self.burst_allowance = self.burst_allowance.saturating_sub(period);
    }
}

impl Drain {
    /// `deque` of Appendix B; the backlog excludes the departing packet.
    fn depart(&mut self, departure: &Departure, threshold: u64) {
        if let Some(since) = self.since {
            self.count += u64::from(departure.len);
            if self.count >= threshold {
                self.sample(departure.now.since(since).seconds(), threshold);
                self.since = None;
            }
        }
        if self.since.is_none() && departure.backlog.bytes >= threshold {
            (self.since, self.count) = (Some(departure.now), 0);
        }
    }

    /// Average of equation (7).
    fn sample(&mut self, time: f64, threshold: u64) {
        let weight = threshold as f64 / 65_536.0;
        self.average = if self.average == 0.0 { time } else { time * weight + self.average * (1.0 - weight) };
    }

    /// Delay of equation (7); None before the first sample.
    fn delay(&self, backlog: f64, threshold: u64) -> Option<f64> {
        (self.average > 0.0).then(|| backlog * self.average / threshold as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;

    fn context() -> LinkContext {
        LinkContext { limit: 30.0, ..LinkContext::example() }
    }

    fn pie(change: impl Fn(&mut Params)) -> Pie {
        let mut params = Params::default();
        change(&mut params);
        Pie::new(&params, &context()).unwrap()
    }

    /// A law under congestion: a last delay of 20 ms, and no burst allowance left.
    fn congested(p: f64, change: impl Fn(&mut Params)) -> Pie {
        let mut pie = pie(change);
        (pie.p, pie.old, pie.delay, pie.burst_allowance) = (p, 0.020, Some(0.020), Span::ZERO);
        pie
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn arrival(bytes: u64, ecn: Ecn, u: f64) -> Arrival {
        let backlog = Backlog { packets: (bytes / 1000) as u32, bytes };
        Arrival { now: at(0), len: 1000, ecn, flow: FlowId(0), backlog, victim: None, u: [u, 0.0] }
    }

    fn departure(micros: u64, len: u32, sojourn: u64, bytes: u64) -> Departure {
        let (now, sojourn) = (at(micros), Span::from_micros(sojourn));
        let backlog = Backlog { packets: 0, bytes };
        Departure { now, len, ecn: Ecn::NotEct, flow: FlowId(0), sojourn, backlog, u: [0.0; 2] }
    }

    /// An update on time, after a departure with this sojourn time.
    fn update(pie: &mut Pie, sojourn: u64) -> f64 {
        let due = pie.next_update().unwrap();
        pie.on_departure(&departure(0, 1000, sojourn, 0));
        pie.on_update(due, &Observation { now: due, elapsed: 0.015, ..Observation::default() });
        pie.p
    }

    #[test]
    fn updates_are_section_4_2_by_hand() {
        let mut pie = pie(|_| ());
        // (0.125 * 25 ms + 1.25 * 40 ms) / 2048, then 0.125 * 25 ms / 128, and the same / 128 again.
        let mut expected = 0.053_125 / 2048.0;
        assert!((update(&mut pie, 40_000) - expected).abs() < 1e-18);
        for divisor in [128.0, 128.0] {
            expected += 0.003_125 / divisor;
            assert!((update(&mut pie, 40_000) - expected).abs() < 1e-18);
        }
        // Down to 10 ms: 0.125 * -5 ms - 1.25 * 30 ms, over 128, ends below 0.
        assert_eq!(update(&mut pie, 10_000), 0.0);
    }

    #[test]
    fn a_large_p_rises_by_two_hundredths_at_most() {
        for (cap_drop, expected) in [(true, 0.12), (false, 0.1 + 0.125 * 0.185 + 1.25 * 0.180)] {
            let mut pie = congested(0.1, |params| params.cap_drop = cap_drop);
            assert!((update(&mut pie, 200_000) - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn p_decays_when_the_queue_is_calm() {
        // Both delays 0: 0.125 * -15 ms, over 1, then times 0.98. Both 7 ms: only Appendix B decays.
        let cases = [(0, Calm::Zero, true), (7_000, Calm::Zero, false), (7_000, Calm::Half, true)];
        for (delay, decay, decays) in cases {
            let mut pie = congested(0.3, |params| params.decay = decay);
            pie.old = delay as f64 * 1e-6;
            let moved = 0.3 + 0.125 * (delay as f64 * 1e-6 - 0.015);
            let expected = if decays { 0.98 * moved } else { moved };
            assert!((update(&mut pie, delay) - expected).abs() < 1e-15, "{delay} {decay:?}");
        }
    }

    #[test]
    fn the_safeguards_depend_on_bytes_and_the_last_update() {
        let cases = [
            // (p, old delay ms, backlog bytes) -> spared; section 4.1.
            (0.19, 7.4, 30_000, true),
            (0.19, 7.5, 30_000, false),
            (0.20, 7.4, 30_000, false),
            (0.50, 20.0, 2_000, true),
            (0.50, 20.0, 2_001, false),
        ];
        for (p, old, bytes, spared) in cases {
            let mut pie = congested(p, |params| params.derandomize = false);
            pie.old = old * 1e-3;
            let verdict = pie.on_arrival(&arrival(bytes, Ecn::NotEct, 0.0));
            assert_eq!(verdict == Verdict::Pass, spared, "{p} {old} {bytes}");
        }
    }

    #[test]
    fn drops_wait_for_a_sum_of_p_and_are_forced_by_a_large_one() {
        // Section 5.4 with p = 0.1: none of the first 8 however low the draw (0.8 < 0.85), and the 85th
        // (or, by rounding, the 86th) whatever the draw.
        let fates = |u: f64| {
            let mut pie = congested(0.1, |_| ());
            (1..=90)
                .find(|_| pie.on_arrival(&arrival(20_000, Ecn::NotEct, u)) == Verdict::Drop)
                .expect("within 90 packets")
        };
        assert_eq!(fates(0.0), 9);
        assert!((85..=86).contains(&fates(0.999)));
        let mut overflowed = congested(0.1, |_| ());
        (0..8).for_each(|_| assert!(!overflowed.drop_early(&arrival(20_000, Ecn::NotEct, 0.0))));
        overflowed.on_overflow(at(0));
        assert_eq!(overflowed.on_arrival(&arrival(20_000, Ecn::NotEct, 0.0)), Verdict::Pass);
    }

    /// Gaps between drops as the law draws them have the declared index: variance by the square of the mean.
    #[test]
    fn derandomised_drops_have_the_declared_dispersion() {
        let mut pie = congested(0.02, |_| ());
        let mut draws = sojourn_random::Stream::named(1, "pie");
        let (mut gap, mut gaps) = (0.0, Vec::new());
        while gaps.len() < 20_000 {
            gap += 1.0;
            if pie.on_arrival(&arrival(20_000, Ecn::NotEct, draws.uniform())) == Verdict::Drop {
                gaps.push(gap);
                gap = 0.0;
            }
        }
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / gaps.len() as f64;
        let ratio = variance / (mean * mean) / Derandomized::DISPERSION;
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn ecn_packets_are_marked_below_a_tenth() {
        for (p, ecn, expected) in [
            (0.099, Ecn::Ect0, Verdict::Mark),
            (0.1, Ecn::Ect0, Verdict::Drop),
            (0.099, Ecn::NotEct, Verdict::Drop),
        ] {
            let mut pie = congested(p, |params| params.derandomize = false);
            assert_eq!(pie.on_arrival(&arrival(20_000, ecn, 0.05)), expected);
        }
    }

    #[test]
    fn small_packets_are_dropped_less_in_byte_mode() {
        let verdict = |len: u32, u: f64| {
            let mut pie = congested(0.6, |params| (params.byte_mode, params.derandomize) = (true, false));
            pie.on_arrival(&Arrival { len, ..arrival(20_000, Ecn::NotEct, u) })
        };
        assert_eq!((verdict(100, 0.061), verdict(100, 0.059)), (Verdict::Pass, Verdict::Drop));
        // 0.6 * 1.5 = 0.9 is bounded by 0.85.
        assert_eq!((verdict(1500, 0.851), verdict(1500, 0.849)), (Verdict::Pass, Verdict::Drop));
    }

    #[test]
    fn a_burst_is_exempt_for_ten_updates() {
        let mut pie = pie(|params| params.derandomize = false);
        pie.p = 0.5;
        for number in 1..=10 {
            assert_eq!(pie.on_arrival(&arrival(20_000, Ecn::NotEct, 0.0)), Verdict::Pass, "{number}");
            update(&mut pie, 40_000);
        }
        assert_eq!(pie.on_arrival(&arrival(20_000, Ecn::NotEct, 0.0)), Verdict::Drop);
        // Renewed when p is 0 and both delays are below half the target.
        (pie.p, pie.old, pie.delay) = (0.0, 0.0074, Some(0.0075));
        pie.on_arrival(&arrival(20_000, Ecn::NotEct, 0.0));
        assert_eq!(pie.burst_allowance, Span::ZERO);
        pie.delay = Some(0.0074);
        pie.on_arrival(&arrival(20_000, Ecn::NotEct, 0.0));
        assert_eq!(pie.burst_allowance, Span::from_millis(150));
    }

    #[test]
    fn an_idle_link_has_no_delay() {
        let mut pie = pie(|_| ());
        pie.on_departure(&departure(0, 1000, 40_000, 0));
        pie.on_idle(at(1));
        assert_eq!(pie.delay, Some(0.0));
    }

    #[test]
    fn the_departure_rate_is_measured_above_the_threshold() {
        let mut pie = pie(|params| params.delay = Delay::DepartureRate);
        // 1000 B each ms with 20 000 B behind: start at 1 ms, 17 more packets are 17 000 B >= 16 384 B.
        (1..=17).for_each(|ms| {
            pie.on_departure(&departure(ms * 1000, 1000, 0, 20_000));
        });
        assert_eq!(pie.drain.delay(8192.0, 16_384), None);
        pie.on_departure(&departure(18_000, 1000, 0, 20_000));
        assert!((pie.drain.average - 0.017).abs() < 1e-15);
        assert!((pie.drain.delay(8192.0, 16_384).unwrap() - 0.0085).abs() < 1e-15);
        // The next one starts at once; at half the rate it takes 34 ms, with a weight of a quarter.
        (1..=17).for_each(|pair| {
            pie.on_departure(&departure(18_000 + pair * 2000, 1000, 0, 16_383));
        });
        assert!((pie.drain.average - (0.25 * 0.034 + 0.75 * 0.017)).abs() < 1e-15);
        assert_eq!(pie.drain.since, None, "the backlog is below the threshold");
    }

    #[test]
    fn activity_begins_at_a_third_of_the_buffer_and_ends_with_congestion() {
        let mut pie = pie(|params| params.activity = true);
        pie.on_departure(&departure(0, 1000, 9_000, 0));
        pie.on_arrival(&arrival(8_999, Ecn::NotEct, 0.0));
        assert!(!pie.active);
        assert_eq!(update(&mut pie, 40_000), 0.0, "nothing is calculated");
        let arriving = Arrival { now: at(20_000), ..arrival(9_000, Ecn::NotEct, 0.0) };
        pie.on_arrival(&arriving);
        assert!(pie.active);
        // The update at 30 ms comes before a period has passed since then.
        assert_eq!(update(&mut pie, 40_000), 0.0);
        assert!(update(&mut pie, 40_000) > 0.0);
        (pie.p, pie.old) = (0.0, 0.001);
        pie.on_departure(&departure(0, 1000, 1_000, 0));
        pie.on_arrival(&arriving);
        assert!(!pie.active);
    }

    #[test]
    fn with_a_departure_rate_activity_waits_for_a_first_sample() {
        // Appendix B read literally would be inactive again at once: no sample yet is not a delay of 0.
        let mut pie = pie(|params| (params.activity, params.delay) = (true, Delay::DepartureRate));
        pie.on_arrival(&arrival(9_000, Ecn::NotEct, 0.0));
        pie.on_arrival(&arrival(9_000, Ecn::NotEct, 0.0));
        assert!(pie.active && pie.drain.since.is_some());
        let due = pie.next_update().unwrap();
        pie.on_update(due, &Observation { now: due, backlog_bytes: 9_000.0, ..Observation::default() });
        pie.on_arrival(&arrival(9_000, Ecn::NotEct, 0.0));
        assert!(pie.active);
    }
}
