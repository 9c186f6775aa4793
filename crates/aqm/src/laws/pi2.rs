//! PI2: proportional-integral control of the delay with a squared output.
//!
//! K. De Schepper, O. Bondarenko, I. Tsang, B. Briscoe, "PI2: A Linearized AQM
//! for both Classic and Scalable TCP", ACM CoNEXT, 2016; in the form of RFC 9332,
//! Appendix A, without the second queue. Every period T
//!
//! ```text
//! p' <- p' + alpha (delay - target) + beta (delay - old)              (1)
//! T = min(target, R_max / 3),  alpha = 0.1 T / R_max^2,  beta = 0.3 / R_max
//! ```
//!
//! with p' kept within 0 and 1. The rate of a classic sender falls with the
//! root of the probability, that of a scalable one (DCTCP, Prague: ECT(1))
//! with the probability itself:
//!
//! ```text
//! p_C = p'^2  for classic packets,  p_L = k p'  for scalable ones      (2)
//! ```
//!
//! So one pair of gains fits light and heavy loads; PIE needs a table instead.
//! p'^2 is applied as two draws with p'. From p_C = 1/k^2 on, where p_L is 1, marks
//! do not suffice: ECN-capable packets are dropped with p_C, and the remaining
//! scalable ones marked. A packet is judged at arrival or, as in RFC 9332's
//! pseudocode, at departure (`signal_at`).

use crate::analysis::{Analysis, Bounds, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Arrival, Departure, Law, Observation, Properties, Verdict};
use crate::linear::{Linear, OperatingPoint};
use crate::link_context::LinkContext;
use crate::parts::pie::step;
use crate::parts::signal_at::{SKIPS_THE_QUEUE, SignalAt};
use crate::parts::ticks::Ticks;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, Bytes, Ecn, Prob, Span, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "pi2",
        summary: "proportional-integral control of the delay, squared for classic senders, linear for scalable ones",
        idea: "Every period a base probability moves by the error of the delay and by its trend, with fixed gains. \
               Classic packets are marked or dropped with its square, scalable ones (ECT(1)) marked with k \
               times it, which is how the two kinds of sender respond; so the same gains fit any load. Neither \
               the link's rate nor the load need be known.",
        equation: "p' <- p' + alpha (delay - target) + beta (delay - old);  p_C = p'^2,  p_L = k p'",
        source: "K. De Schepper, O. Bondarenko, I. Tsang, B. Briscoe, ACM CoNEXT, 2016; RFC 9332, Appendix A",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Pi2::new(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of PI2.
    #[derive(Copy)]
    pub struct Params {
        /// delay to hold
        target "target": Span = Span::from_millis(15), in above "0 s" to "1 h", "RFC 9332, Figure 2";
        /// the longest round-trip time that the gains are designed for
        rtt_max "RTT_max": Span = Span::from_millis(100), in "1 us" to "1 h",
            "RFC 9332, Figure 2: most traffic has short paths";
        /// time between updates
        period "Tupdate": Option<Span> = None, in "1 us" to "10 s",
            "RFC 9332, Figure 2: the smaller of target and rtt_max / 3";
        /// gain on the error of the delay, 1/s
        alpha "alpha": Option<f64> = None, in above 0.0 to 1e6, "RFC 9332, Figure 2: 0.1 period / rtt_max^2";
        /// gain on the trend of the delay, 1/s
        beta "beta": Option<f64> = None, in 0.0 to 1e6, "RFC 9332, Figure 2: 0.3 / rtt_max";
        /// ratio of the probability of marks of scalable packets to the base probability
        coupling "k": f64 = 2.0, in 1.0 to 100.0,
            "RFC 9332, Figure 2: equal rates of both kinds of sender at equal round-trip times";
        /// backlog below which every packet passes; 0 exempts none
        bypass "2 MTU": Bytes = Bytes::new(3000),
            "RFC 9332, Appendix A.1: what the reference implementation adds to the pseudocode";
        /// end of the queue at which packets are marked or dropped: enqueue or dequeue
        signal_at "place": SignalAt = SignalAt::Enqueue,
            "as PIE; the authors signal at dequeue (RFC 9332, Appendix A.1): on peers/s1 a third to two thirds of the deviation";
    }
}

/// Proportional-integral control of the delay, squared.
#[derive(Clone, Debug)]
pub struct Pi2 {
    target: f64,
    alpha: f64,
    beta: f64,
    coupling: f64,
    bypass: u64,
    signal_at: SignalAt,
    /// Mean packet size, bytes.
    packet: f64,
    period: Span,
    target_packets: f64,
    ticks: Ticks,

    /// Base probability, p'.
    base: f64,
    /// Delay at the last update, s.
    old: f64,
    /// Backlog at the last update, bytes.
    waiting: u64,
}

impl Pi2 {
    /// PI2 on the link of `context`, from an empty queue; never an error.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Pi2, InputError> {
        let Params { target, rtt_max, .. } = *params;
        let third = Span::from_nanos(rtt_max.nanos() / 3);
        let period = params.period.unwrap_or(if target < third { target } else { third }).max(SHORTEST);
        let rtt = rtt_max.seconds();
        Ok(Pi2 {
            target: target.seconds(),
            alpha: params.alpha.unwrap_or(0.1 * period.seconds() / (rtt * rtt)),
            beta: params.beta.unwrap_or(0.3 / rtt),
            coupling: params.coupling,
            bypass: params.bypass.get(),
            signal_at: params.signal_at,
            packet: context.packet,
            period,
            target_packets: context.packets(Amount::Delay(target)),
            ticks: Ticks::new(period),
            base: 0.0,
            old: 0.0,
            waiting: 0,
        })
    }
}

impl Law for Pi2 {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let judged = !self.signal_at.is_departure() && arrival.backlog.bytes >= self.bypass;
        if judged { self.judge(arrival.ecn, arrival.u) } else { Verdict::Pass }
    }

    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        // The backlog includes the departing packet.
        let judged = self.signal_at.is_departure()
            && departure.backlog.bytes + u64::from(departure.len) >= self.bypass;
        if judged { self.judge(departure.ecn, departure.u) } else { Verdict::Pass }
    }

    fn set_params(&mut self, now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Pi2::new(given.params.of()?, context)?;
        self.signal_at.check_unchanged(fresh.signal_at)?;
        self.ticks.retime(now, fresh.period);
        *self = Pi2 { ticks: self.ticks, base: self.base, old: self.old, waiting: self.waiting, ..fresh };
        Ok(())
    }

    fn next_update(&self) -> Option<Time> {
        Some(self.ticks.due())
    }

    fn on_update(&mut self, due: Time, observed: &Observation) {
        self.ticks.met(due, observed.now);
        let delay = observed.head_sojourn;
        self.base =
            Prob::clamped(self.base + step(self.alpha, self.beta, delay, self.old, self.target)).get();
        self.old = delay;
        self.waiting = observed.backlog_bytes as u64;
    }

    /// p_C, for classic packets.
    fn probability(&self) -> Option<Prob> {
        Some(if self.waiting < self.bypass { Prob::ZERO } else { Prob::clamped(self.classic()) })
    }

    fn properties(&self) -> Properties {
        Properties { at_departure: self.signal_at.is_departure(), ..Properties::default() }
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.classic());
        out.gauge("p_scalable", "1", self.scalable());
        out.gauge("delay", "s", self.old);
    }
}

impl Analysis for Pi2 {
    fn target_packets(&self) -> Option<f64> {
        // The target is a delay; as a backlog at the first link rate.
        Some(self.target_packets)
    }

    fn marks_at(&self, p: Prob) -> bool {
        self.coupling * p.get().sqrt() < 1.0
    }

    fn bounds(&self) -> Bounds {
        Bounds { spared: self.bypass as f64 / self.packet, ..Bounds::default() }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        if self.signal_at.is_departure() {
            return Some(Linear::none(SKIPS_THE_QUEUE));
        }
        // Equation (1) with a delay of q / C, and the slope 2 p' of the square in (2).
        let per_packet = 2.0 * point.p.sqrt() / point.network.capacity;
        let gains = [self.alpha + self.beta, self.beta].map(|gain| gain * per_packet);
        Some(Linear::steps(gains[0], gains[1], self.period).seeing_sojourn(true))
    }

    fn noise(&self, _point: &OperatingPoint) -> NoiseModel {
        NoiseModel { power: 2.0, integrates: true, ..NoiseModel::default() }
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("period", "s", self.period.seconds());
        out.gauge("alpha", "1/s", self.alpha);
        out.gauge("beta", "1/s", self.beta);
    }
}

impl Pi2 {
    /// Verdict on a packet above the bypass, equation (2).
    fn judge(&self, ecn: Ecn, u: [f64; 2]) -> Verdict {
        let squared = u[0].max(u[1]) < self.base;
        let linear = u[0] < self.scalable();
        match ecn {
            Ecn::Ect1 | Ecn::Ce if squared && self.is_saturated() => Verdict::Drop,
            Ecn::Ect1 | Ecn::Ce if linear => Verdict::Mark,
            Ecn::Ect0 if squared && !self.is_saturated() => Verdict::Mark,
            Ecn::Ect0 | Ecn::NotEct if squared => Verdict::Drop,
            _ => Verdict::Pass,
        }
    }

    /// p_C of equation (2).
    fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// p_L of equation (2).
    fn scalable(&self) -> f64 {
        (self.coupling * self.base).min(1.0)
    }

    /// True if marks do not suffice: p_C >= 1/k^2, RFC 9332, Figure 7.
    fn is_saturated(&self) -> bool {
        self.coupling * self.base >= 1.0
    }
}

/// Shortest period.
const SHORTEST: Span = Span::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_random::Stream;

    fn context() -> LinkContext {
        LinkContext::example()
    }

    fn pi2(base: f64) -> Pi2 {
        let mut law = Pi2::new(&Params::default(), &context()).unwrap();
        law.base = base;
        law
    }

    fn arrival(bytes: u64, ecn: Ecn, u: [f64; 2]) -> Arrival {
        let backlog = Backlog { packets: (bytes / 1000) as u32, bytes };
        Arrival { now: Time::ZERO, len: 1000, ecn, flow: FlowId(0), backlog, victim: None, u }
    }

    fn update(law: &mut Pi2, head_sojourn: f64) -> f64 {
        let due = law.next_update().unwrap();
        law.on_update(due, &Observation { now: due, head_sojourn, ..Observation::default() });
        law.base
    }

    #[test]
    fn gains_and_period_are_figure_2_of_rfc_9332() {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        let law = pi2(0.0);
        assert_eq!(law.period, Span::from_millis(15));
        assert!(near(law.alpha, 0.15) && near(law.beta, 3.0), "{law:?}");
        // "For the default values of Tupdate = 16 ms and RTT_max = 100 ms ... alpha = 0.16".
        let params = Params { period: Some(Span::from_millis(16)), ..Params::default() };
        assert!(near(Pi2::new(&params, &context()).unwrap().alpha, 0.16));
        let params = Params { rtt_max: Span::from_millis(30), ..Params::default() };
        let law = Pi2::new(&params, &context()).unwrap();
        assert_eq!(law.period, Span::from_millis(10));
        assert!(near(law.alpha, 0.1 * 0.01 / 9e-4) && near(law.beta, 10.0));
    }

    #[test]
    fn updates_are_equation_1_by_hand() {
        let mut law = pi2(0.0);
        // 0.15 * 25 ms + 3 * 40 ms; then 0.15 * 25 ms; then 0.15 * -15 ms - 3 * 40 ms.
        assert!((update(&mut law, 0.040) - 0.123_75).abs() < 1e-15);
        assert!((update(&mut law, 0.040) - 0.127_5).abs() < 1e-15);
        assert!((update(&mut law, 0.0) - 0.005_25).abs() < 1e-15);
        assert_eq!(update(&mut law, 100.0), 1.0);
        assert_eq!(update(&mut law, 0.0), 0.0);
    }

    #[test]
    fn classic_packets_have_the_square_and_scalable_ones_k_times_p() {
        let mut draws = Stream::named(1, "pi2");
        let mut hits = |ecn: Ecn, verdict: Verdict| {
            let mut law = pi2(0.3);
            let hit = |_: &u32| {
                let u = [draws.uniform(), draws.uniform()];
                law.on_arrival(&arrival(20_000, ecn, u)) == verdict
            };
            (0..100_000).filter(hit).count() as f64 / 1e5
        };
        // Standard deviations are 0.0009 and 0.0015.
        assert!((hits(Ecn::NotEct, Verdict::Drop) - 0.09).abs() < 0.004);
        assert!((hits(Ecn::Ect0, Verdict::Mark) - 0.09).abs() < 0.004);
        assert!((hits(Ecn::Ect1, Verdict::Mark) - 0.6).abs() < 0.006);
    }

    #[test]
    fn each_packet_has_one_verdict() {
        for (signal_at, at_departure) in [(SignalAt::Enqueue, false), (SignalAt::Dequeue, true)] {
            let mut law = Pi2::new(&Params { signal_at, ..Params::default() }, &context()).unwrap();
            law.base = 0.3;
            let comes = arrival(20_000, Ecn::Ect0, [0.2, 0.2]);
            assert_eq!(law.on_arrival(&comes) == Verdict::Mark, !at_departure);
            // Two MTU before it leaves: 2000 B and the packet itself.
            for (left, judged) in [(2000, at_departure), (1999, false)] {
                let Arrival { now, len, ecn, flow, u, .. } = comes;
                let backlog = Backlog { packets: 2, bytes: left };
                let leaves = Departure { now, len, ecn, flow, sojourn: Span::ZERO, backlog, u };
                assert_eq!(law.on_departure(&leaves) == Verdict::Mark, judged);
            }
            let other = if at_departure { "enqueue" } else { "dequeue" };
            let other = [("signal_at".into(), sojourn_params::Value::Text(other.into()))];
            let given = (ENTRY.read)(&other).unwrap();
            assert_eq!(law.set_params(Time::ZERO, &given, &context()).unwrap_err().key, "signal_at");
        }
    }

    #[test]
    fn from_one_over_k_squared_on_ecn_packets_are_dropped() {
        let (hit, missed) = ([0.4, 0.4], [0.4, 0.9]);
        let fate = |base, ecn, u| pi2(base).on_arrival(&arrival(20_000, ecn, u));
        assert_eq!(fate(0.499, Ecn::Ect0, hit), Verdict::Mark);
        assert_eq!(fate(0.5, Ecn::Ect0, hit), Verdict::Drop);
        assert_eq!(fate(0.499, Ecn::Ect1, hit), Verdict::Mark);
        assert_eq!(fate(0.5, Ecn::Ect1, hit), Verdict::Drop);
        assert_eq!(fate(0.5, Ecn::Ect1, missed), Verdict::Mark);
        assert_eq!(fate(0.5, Ecn::Ect0, missed), Verdict::Pass);
    }

    #[test]
    fn two_mtu_are_exempt() {
        let fate = |bytes| pi2(1.0).on_arrival(&arrival(bytes, Ecn::NotEct, [0.0; 2]));
        assert_eq!((fate(2_999), fate(3_000)), (Verdict::Pass, Verdict::Drop));
    }
}
