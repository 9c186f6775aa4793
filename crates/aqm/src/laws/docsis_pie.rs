//! DOCSIS-PIE: PIE for cable modems.
//!
//! G. White, R. Pan, "Active Queue Management (AQM) Based on Proportional
//! Integral Controller Enhanced (PIE) for DOCSIS Cable Modems", RFC 8034, 2017,
//! Appendix A. Every 16 ms
//!
//! ```text
//! delay = backlog / rate                                              (1)
//! step  = 0.25 (delay - target) + 2.5 (delay - old)                   (2)
//! p <- p + step / divisor(p),  2048 below 1e-6 ... 1/32 from 10 on     (3)
//! step <= 0.02 where p >= 0.1                                         (4)
//! p <- 0.98 p     if both delays are below 5 ms,
//!      p + 0.02   if the delay is above 200 ms                        (5)
//! ```
//!
//! p is the probability for a packet of 1024 bytes, up to 13.6; each packet is
//! dropped with
//!
//! ```text
//! p_1 = min(p size / 1024, 0.85)                                      (6)
//! ```
//!
//! with drops derandomized as in PIE. Three states protect bursts: inactive, no
//! drops until a third of the buffer is full; quiescent, the next drop starts
//! 142 ms without any, with p = 0; active. Two quiet updates lead back to
//! quiescent, another second to inactive. A modem cannot mark packets, so
//! ECN-capable ones are dropped.

use crate::analysis::{Analysis, Bounds, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Arrival, Law, Observation, Verdict};
use crate::linear::{Linear, OperatingPoint};
use crate::link_context::LinkContext;
use crate::parts::load::{CAPACITY, CAPACITY_IN_PACKETS, is_capacity};
use crate::parts::pie::{
    DECAY, Derandomized, PROB_LOW, SAFE_BELOW, SAFE_PACKETS, capped, forced, step, tuning,
};
use crate::parts::ticks::Ticks;
use sojourn_params::{Described, ErrorKind, Given, InputError, Page};
use sojourn_units::{Amount, Bytes, LinkRate, Prob, Rate, Span, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "docsis_pie",
        summary: "PIE for cable modems: a known rate, drops by size, a longer burst protection",
        idea: "PIE with a target of 10 ms whose delay is the backlog over the link's known rate. Large packets are \
               dropped more often than small ones. Nothing is dropped before the buffer is a third full; the \
               first drop is followed by 142 ms without any, so that the senders can react; within a second after \
               congestion the buffer need not be a third full again. It never marks.",
        equation: "p <- p + (0.25 (delay - target) + 2.5 (delay - old)) / divisor(p);  drop with min(p size / 1024, 0.85)",
        source: "G. White, R. Pan, RFC 8034, 2017, Appendix A",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(DocsisPie::new(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of DOCSIS-PIE: what an operator sets for a service flow.
    #[derive(Copy)]
    pub struct Params {
        /// delay to hold
        target "LATENCY_TARGET": Span = Span::from_millis(10), in above "0 s" to "1 h", "RFC 8034, section 4.1";
        /// rate in the estimate of the delay; a given value does not follow the link
        msr "MSR": Option<LinkRate> = None,
            within CAPACITY, where CAPACITY_IN_PACKETS if |rate| rate.is_none_or(is_capacity),
            "the link's, as RFC 8034, section 4.2: a modem has its own rate";
        /// size of the buffer; nothing is dropped before a third of it is full
        buffer "BUFFER_SIZE": Option<Bytes> = None, above "0 B", "the qdisc's limit, as RFC 8034, Appendix A.1.1";
    }
}

/// PIE for cable modems.
#[derive(Clone, Debug)]
pub struct DocsisPie {
    target: f64,
    /// Bytes/s.
    rate: f64,
    follows_link: bool,
    buffer: f64,
    /// Mean packet size, bytes.
    packet: f64,
    target_packets: f64,
    ticks: Ticks,

    p: f64,
    /// Delay at the last update, s.
    old: f64,
    /// Backlog at the last update, bytes.
    waiting: f64,
    burst_reset: Span,
    door: ArrivalState,
    /// State before the last arrival.
    before: ArrivalState,
}

/// State that an arrival changes.
#[derive(Clone, Copy, Debug)]
struct ArrivalState {
    state: State,
    /// Sum of p_1 over arrivals since the last drop.
    sum: f64,
    burst_allowance: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The queue has been below a third of the buffer.
    Inactive,
    /// The next drop starts burst protection.
    Quiescent,
    /// Drops are in force.
    Active,
}

impl DocsisPie {
    /// DOCSIS-PIE on the link of `context`, from an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<DocsisPie, InputError> {
        let buffer = params.buffer.map_or(context.limit * context.packet, |size| size.get() as f64);
        if buffer.is_infinite() {
            let problem = "the third of a buffer without limit is never reached";
            return Err(InputError::new(ErrorKind::Missing, problem, "a value of buffer").at("buffer"));
        }
        let rate = match params.msr {
            Some(LinkRate::Bits(rate)) => rate.bits_per_second() / 8.0,
            Some(LinkRate::Packets(count)) => count * context.packet,
            None => context.rate.bits_per_second() / 8.0,
        };
        if rate <= 0.0 {
            let problem = "the delay cannot be computed without a link rate above 0";
            return Err(InputError::new(ErrorKind::Missing, problem, "a value of msr").at("msr"));
        }
        let door = ArrivalState { state: State::Inactive, sum: 0.0, burst_allowance: Span::ZERO };
        Ok(DocsisPie {
            target: params.target.seconds(),
            rate,
            follows_link: params.msr.is_none(),
            buffer,
            packet: context.packet,
            target_packets: context.packets(Amount::Delay(params.target)),
            ticks: Ticks::new(INTERVAL),
            p: 0.0,
            old: 0.0,
            waiting: 0.0,
            burst_reset: Span::ZERO,
            door,
            before: door,
        })
    }
}

impl Law for DocsisPie {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.before = self.door;
        if self.drop_early(arrival) { Verdict::Drop } else { Verdict::Pass }
    }

    fn on_overflow(&mut self, _now: Time) {
        // A packet that arrives at a full buffer has no verdict.
        self.door = ArrivalState { sum: 0.0, ..self.before };
    }

    fn on_link_change(&mut self, _now: Time, rate: Rate) {
        // A stopped link keeps its last rate.
        if self.follows_link && rate.bits_per_second() > 0.0 {
            self.rate = rate.bits_per_second() / 8.0;
        }
    }

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = DocsisPie::new(given.params.of()?, context)?;
        let DocsisPie { ticks, p, old, waiting, burst_reset, door, before, .. } = *self;
        *self = DocsisPie { ticks, p, old, waiting, burst_reset, door, before, ..fresh };
        Ok(())
    }

    fn next_update(&self) -> Option<Time> {
        Some(self.ticks.due())
    }

    fn on_update(&mut self, due: Time, observed: &Observation) {
        self.ticks.met(due, observed.now);
        let delay = observed.backlog_bytes / self.rate;
        if self.door.burst_allowance > Span::ZERO {
            self.p = 0.0;
            self.door.burst_allowance = self.door.burst_allowance.saturating_sub(INTERVAL);
        } else {
            self.calculate_drop_prob(delay);
        }
        self.change_state(self.is_quiet(delay));
        self.old = delay;
        self.waiting = observed.backlog_bytes;
    }

    /// Probability of the active state; the other states, for bursts of packets, do not occur in a fluid.
    fn probability(&self) -> Option<Prob> {
        let p1 = self.scaled(self.packet);
        let lets_pass = p1 == 0.0 || self.door.burst_allowance > Span::ZERO || self.is_spared(self.waiting);
        Some(if lets_pass { Prob::ZERO } else { Prob::clamped(Derandomized::of(p1).share) })
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p.min(PROB_LOW));
        out.gauge("drop_prob", "1", self.p);
        out.gauge("delay", "s", self.old);
        out.gauge("burst_allowance", "s", self.door.burst_allowance.seconds());
    }
}

impl Analysis for DocsisPie {
    fn target_packets(&self) -> Option<f64> {
        // The target is a delay; as a backlog at the first link rate.
        Some(self.target_packets)
    }

    fn marks_at(&self, _p: Prob) -> bool {
        false
    }

    fn bounds(&self) -> Bounds {
        Bounds { most_p: Derandomized::of(PROB_LOW).share, spared: SAFE_PACKETS }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        let (p1, size) = (Derandomized::p_of(point.p), self.packet / MEAN_PACKET);
        // Equations (1) to (3), and (6) below its bound.
        let p = p1 / size;
        let per_packet = Derandomized::of(p1).slope * size / divisor(p) * self.packet / self.rate;
        (p1 < PROB_LOW).then(|| Linear::steps((A + B) * per_packet, B * per_packet, INTERVAL))
    }

    fn noise(&self, _point: &OperatingPoint) -> NoiseModel {
        NoiseModel { dispersion: Derandomized::DISPERSION, ..NoiseModel::default() }
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("msr", "B/s", self.rate);
        out.gauge("buffer", "B", self.buffer);
    }
}

impl DocsisPie {
    /// `drop_early` of Appendix A.3.
    fn drop_early(&mut self, arrival: &Arrival) -> bool {
        if self.door.burst_allowance > Span::ZERO {
            return false;
        }
        if self.p == 0.0 {
            self.door.sum = 0.0;
        }
        let backlog = arrival.backlog.bytes as f64;
        if self.door.state == State::Inactive {
            if backlog < self.buffer / 3.0 {
                return false;
            }
            self.door.state = State::Quiescent;
        }
        let p1 = self.scaled(f64::from(arrival.len));
        self.door.sum += p1;
        if self.is_spared(backlog) || !forced(self.door.sum).unwrap_or(arrival.u[0] <= p1) {
            return false;
        }
        self.door.sum = 0.0;
        if self.door.state == State::Quiescent {
            self.door.state = State::Active;
            self.door.burst_allowance = MAX_BURST;
        }
        true
    }

    /// Equation (6).
    fn scaled(&self, len: f64) -> f64 {
        (self.p * len / MEAN_PACKET).min(PROB_LOW)
    }

    /// "Suppress AQM drops in certain situations", Appendix A.3.
    fn is_spared(&self, backlog: f64) -> bool {
        self.old < 0.5 * self.target && self.p < SAFE_BELOW || backlog <= SAFE_PACKETS * MEAN_PACKET
    }

    /// Equations (2) to (5): `calculate_drop_prob` of Appendix A.2 outside burst protection.
    fn calculate_drop_prob(&mut self, delay: f64) {
        let tuned = step(A, B, delay, self.old, self.target) / divisor(self.p);
        self.p += capped(tuned, self.p);
        if delay < LATENCY_LOW && self.old < LATENCY_LOW {
            self.p *= DECAY;
        } else if delay > LATENCY_HIGH {
            self.p += RAMP;
        }
        self.p = self.p.clamp(0.0, PROB_LOW * MEAN_PACKET / SMALLEST_PACKET);
    }

    /// "Check if all is quiet", Appendix A.2.
    fn is_quiet(&self, delay: f64) -> bool {
        let low = 0.5 * self.target;
        delay < low && self.old < low && self.p == 0.0 && self.door.burst_allowance == Span::ZERO
    }

    /// "Update AQM state", Appendix A.2.
    fn change_state(&mut self, quiet: bool) {
        match self.door.state {
            State::Active if quiet => {
                self.door.state = State::Quiescent;
                self.burst_reset = Span::ZERO;
            }
            State::Quiescent if quiet => {
                self.burst_reset += INTERVAL;
                if self.burst_reset > BURST_RESET_TIMEOUT {
                    self.burst_reset = Span::ZERO;
                    self.door.state = State::Inactive;
                }
            }
            State::Quiescent => self.burst_reset = Span::ZERO,
            _ => {}
        }
    }
}

/// Equation (3): PIE's decades, and section 4.4's beyond them.
fn divisor(p: f64) -> f64 {
    tuning(p).unwrap_or(match p {
        ..1.0 => 0.5,
        ..10.0 => 0.125,
        _ => 0.031_25,
    })
}

// Appendix A.1.2, in its order.
const A: f64 = 0.25;
const B: f64 = 2.5;
const INTERVAL: Span = Span::from_millis(16);
const BURST_RESET_TIMEOUT: Span = Span::from_secs(1);
const MAX_BURST: Span = Span::from_millis(142);
/// MEAN_PKTSIZE, bytes.
const MEAN_PACKET: f64 = 1024.0;
/// MIN_PKTSIZE, bytes.
const SMALLEST_PACKET: f64 = 64.0;
/// s.
const LATENCY_LOW: f64 = 0.005;
/// s.
const LATENCY_HIGH: f64 = 0.2;
/// "Ramp up quickly", Appendix A.2.
const RAMP: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;

    /// 1 MB/s and 30 kB.
    fn context() -> LinkContext {
        LinkContext { limit: 30.0, ..LinkContext::example() }
    }

    fn modem() -> DocsisPie {
        DocsisPie::new(&Params::default(), &context()).unwrap()
    }

    /// In the middle of congestion.
    fn congested(p: f64) -> DocsisPie {
        let mut law = modem();
        (law.p, law.old, law.door.state) = (p, 0.020, State::Active);
        law
    }

    fn arrival(len: u32, bytes: u64, u: f64) -> Arrival {
        let backlog = Backlog { packets: (bytes / 1000) as u32, bytes };
        Arrival { now: Time::ZERO, len, ecn: Ecn::Ect0, flow: FlowId(0), backlog, victim: None, u: [u, 0.0] }
    }

    /// An update on time with a backlog in bytes: at 1 MB/s the delay in microseconds.
    fn update(law: &mut DocsisPie, bytes: f64) -> f64 {
        let due = law.next_update().unwrap();
        law.on_update(due, &Observation { now: due, backlog_bytes: bytes, ..Observation::default() });
        law.p
    }

    #[test]
    fn updates_are_appendix_a_2_by_hand() {
        let mut law = modem();
        // 20 ms after 0: (0.25 * 10 ms + 2.5 * 20 ms) / 2048; then 0.25 * 10 ms / 128.
        let first = 0.0525 / 2048.0;
        assert!((update(&mut law, 20_000.0) - first).abs() < 1e-18);
        assert!((update(&mut law, 20_000.0) - first - 0.0025 / 128.0).abs() < 1e-18);
        // Beyond PIE's table: steps of 0.25 * -8 ms times 2, 8 and 32.
        for (p, factor) in [(0.5, 2.0), (5.0, 8.0), (12.0, 32.0)] {
            let mut law = congested(p);
            law.old = 0.002;
            assert!((update(&mut law, 2_000.0) - 0.98 * (p - 0.002 * factor)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_long_delay_ramps_p_up_to_its_bound() {
        // 0.02 for the capped step and 0.02 for a delay above 200 ms.
        assert!((update(&mut congested(0.5), 200_001.0) - 0.54).abs() < 1e-15);
        assert!((update(&mut congested(0.5), 200_000.0) - 0.52).abs() < 1e-15);
        assert_eq!(update(&mut congested(13.59), 300_000.0), 0.85 * 1024.0 / 64.0);
    }

    #[test]
    fn the_probability_follows_the_size_up_to_a_bound() {
        let law = congested(0.5);
        assert_eq!([64, 512, 1024].map(|len| law.scaled(f64::from(len))), [0.031_25, 0.25, 0.5]);
        assert_eq!(congested(8.0).scaled(64.0), 0.5);
        assert_eq!(congested(0.7).scaled(1500.0), 0.85);
    }

    #[test]
    fn drops_are_spread_and_never_marks() {
        // p_1 = 0.1: none of the first 8 (0.8 < 0.85) whatever the draw, the next one on a low draw.
        let mut law = congested(0.1);
        let fates: Vec<_> = (0..9).map(|_| law.on_arrival(&arrival(1024, 20_000, 0.05))).collect();
        assert_eq!(fates[..8], [Verdict::Pass; 8]);
        assert_eq!(fates[8], Verdict::Drop);
        // The sum grows while a safeguard applies: the 86th is dropped whatever the draw.
        let mut law = congested(0.1);
        for _ in 0..86 {
            assert_eq!(law.on_arrival(&arrival(1024, 2048, 0.0)), Verdict::Pass);
        }
        assert_eq!(law.on_arrival(&arrival(1024, 2049, 0.999)), Verdict::Drop);
    }

    #[test]
    fn a_burst_has_one_drop_and_then_none_for_nine_updates() {
        let mut law = modem();
        (law.p, law.old, law.door.sum) = (0.5, 0.020, 1.0);
        assert_eq!(law.on_arrival(&arrival(1024, 9_999, 0.0)), Verdict::Pass);
        assert_eq!(law.door.state, State::Inactive);
        // A third of 30 kB is queued: the first drop, then 142 ms without.
        assert_eq!(law.on_arrival(&arrival(1024, 10_000, 0.0)), Verdict::Drop);
        assert_eq!(law.door.state, State::Active);
        for _ in 0..9 {
            assert_eq!(law.on_arrival(&arrival(1024, 29_000, 0.0)), Verdict::Pass);
            assert_eq!(update(&mut law, 29_000.0), 0.0);
        }
        assert_eq!(law.door.burst_allowance, Span::ZERO);
        assert!(update(&mut law, 29_000.0) > 0.0);
    }

    #[test]
    fn it_is_quiescent_after_two_quiet_updates_and_inactive_a_second_later() {
        let mut law = congested(0.0);
        law.old = 0.0049;
        update(&mut law, 0.0);
        assert_eq!(law.door.state, State::Quiescent);
        // 62 intervals are 0.992 s, 63 are more than a second.
        (0..62).for_each(|_| assert!(update(&mut law, 0.0) == 0.0 && law.door.state == State::Quiescent));
        update(&mut law, 0.0);
        assert_eq!(law.door.state, State::Inactive);
    }

    #[test]
    fn an_arrival_at_a_full_buffer_has_no_verdict() {
        let mut law = modem();
        (law.p, law.old, law.door.sum) = (0.5, 0.020, 1.0);
        law.on_arrival(&arrival(1024, 30_000, 0.0));
        law.on_overflow(Time::ZERO);
        assert_eq!((law.door.state, law.door.burst_allowance), (State::Inactive, Span::ZERO));
        assert_eq!(law.door.sum, 0.0);
    }

    #[test]
    fn the_delay_follows_the_link_unless_a_rate_is_given() {
        let mut law = modem();
        law.on_link_change(Time::ZERO, Rate::from_bits_per_second(4e6));
        law.on_link_change(Time::ZERO, Rate::ZERO);
        update(&mut law, 10_000.0);
        assert!((law.old - 0.020).abs() < 1e-15);
        let given = Params { msr: Some(LinkRate::Packets(2000.0)), ..Params::default() };
        let mut law = DocsisPie::new(&given, &context()).unwrap();
        law.on_link_change(Time::ZERO, Rate::from_bits_per_second(4e6));
        update(&mut law, 10_000.0);
        assert!((law.old - 0.005).abs() < 1e-15);
    }
}
