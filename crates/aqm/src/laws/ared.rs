//! Adaptive RED: RED that sets itself.
//!
//! S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for Increasing
//! the Robustness of RED's Active Queue Management", ICSI, 2001. The packets are
//! judged by RED (see `red.rs`); every `interval` its `max_p` takes a step
//! towards the one that keeps the average half way between the thresholds:
//!
//! ```text
//! band  = [min_th + 0.4 (max_th - min_th), min_th + 0.6 (max_th - min_th)]    (1)
//! max_p <- max_p + min(alpha, max_p / 4)   avg above the band, max_p <= high  (2)
//! max_p <- beta max_p                      avg below the band, max_p >= low   (3)
//! ```
//!
//! What is not given follows the link of C packets/s (in (4) mean packets) and a target delay d:
//!
//! ```text
//! w_q    = 1 - e^(-1/C)                    the average forgets within 1 s     (4)
//! min_th = max(5, d C / 2),  max_th = 3 min_th                                (5)
//! ```
//!
//! By (5) the middle of the band is d C; both are RED's with `thresholds = auto`. A step is taken at its time, also when
//! no packet comes; while the link is idle the average ages as RED's does. ns-2
//! keeps no such time (`steps = arrivals`): it looks at each packet, and takes a
//! step as soon as the average is outside the band and an interval went by since
//! the last step.

use crate::catalogue::Entry;
use crate::law::{Arrival, Gauges, Given, Law, Observation, Verdict};
use crate::laws::red::{self, Red, Thresholds};
use crate::linear::{Linear, Rest};
use crate::parts::ticks::moved;
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Bytes, Fault, Page, Prob, Rate, Span, Time};

sojourn_units::choice! {
    /// When max_p takes a step.
    pub enum Steps {
        /// Every interval.
        Timed = "timed",
        /// At the first packet outside the band an interval after the last step.
        Arrivals = "arrivals",
    }
}

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "ared",
        summary: "adaptive RED: max_p moves until the average backlog is half way between the thresholds",
        idea: "RED's queue depends on the load, because its probability is tied to the average backlog. Adaptive \
               RED loosens the tie: twice a second max_p grows a little while the average is above the middle \
               of the band and shrinks while it is below. Weight and thresholds follow from the link's rate and \
               a target delay where they are not given.",
        equation: "max_p <- max_p + min(alpha, max_p / 4)  above the band;  beta max_p  below it",
        source: "S. Floyd, R. Gummadi, S. Shenker, \"Adaptive RED\", ICSI, 2001",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Ared::new(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of adaptive RED.
    pub struct Params {
        /// average backlog to hold, instead of min and max; a time follows the link's rate
        target: Option<Amount> = None, "d C", "more than 0, at most two thirds of the buffer; without min and max"
            if |target| target.is_none_or(red::positive),
            "5 ms, Floyd et al. 2001, section 5; less where the buffer does not hold it";
        /// average backlog below which every packet passes
        min: Option<Amount> = None, "min_th", "more than 0, less than max" if |min| min.is_none_or(red::positive),
            "half the target, at least 5 packets, Floyd et al. 2001; a third of max where that is given";
        /// average backlog at which p_b reaches max_p
        max: Option<Amount> = None, "max_th", "more than min, within the buffer"
            if |max| max.is_none_or(red::positive),
            "three times min, Floyd et al. 2001";
        /// weight of a new sample in the average
        weight: Option<f64> = None, "w_q", "more than 0, at most 1" if |w| w.is_none_or(|w| w > 0.0 && w <= 1.0),
            "1 - e^(-1/C): the average has a time constant of 1 s, Floyd et al. 2001";
        /// probability at the upper threshold, to begin with
        max_p: Prob = Prob::clamped(0.1), "max_p", "more than 0, at most 1" if |p| p.get() > 0.0,
            "Floyd 1997";
        /// time between two steps of max_p
        interval: Span = Span::from_millis(500), "interval", "1 ms to 1 h"
            if |interval| (Span::from_millis(1)..=Span::from_secs(3600)).contains(interval),
            "Floyd et al. 2001";
        /// when steps are taken: timed or arrivals
        steps: Steps = Steps::Timed, "steps", "timed or arrivals" if |_| true,
            "Floyd et al. 2001: every interval; arrivals is ns-2, which waits for the band to be left";
        /// largest step up
        alpha: f64 = 0.01, "alpha", "more than 0, at most 1" if |alpha| *alpha > 0.0 && *alpha <= 1.0,
            "Floyd et al. 2001; a step is never above max_p / 4";
        /// factor of a step down
        beta: f64 = 0.9, "beta", "more than 0, less than 1" if |beta| *beta > 0.0 && *beta < 1.0,
            "Floyd et al. 2001, who advise at least 0.83";
        /// max_p is not lowered below it
        low: Prob = Prob::clamped(0.01), "low", "more than 0, at most high" if |low| low.get() > 0.0,
            "Floyd et al. 2001; ns-2 takes one packet in 100 ms where that is less";
        /// max_p is not raised above it
        high: Prob = Prob::clamped(0.5), "high", "low to 1" if |high| high.get() > 0.0,
            "Floyd et al. 2001";
        /// rise to 1 at twice max instead of jumping there
        gentle: bool = true, "gentle", "true or false" if |_| true,
            "Floyd et al. 2001: adaptive RED is meant to be used with it";
        /// ECN-capable packets are marked while p_b is below this, else dropped; 1: all but those from the curve's end on
        mark_below_p: f64 = 1.0, "mark_p", "0 to 2; above 1 nothing is dropped that can be marked"
            if |p| (0.0..=2.0).contains(p),
            "RFC 3168, section 7: drop above the upper threshold; ns-2 drops above 0.1";
        /// count bytes: the average, and the probability by packet size
        byte_mode: bool = false, "bytes", "true or false" if |_| true,
            "RFC 7567, section 4.4: do not favour small packets";
        /// size of the packets that pace the average; with byte_mode also the unit of backlog and thresholds
        mean_packet: Option<Bytes> = None, "mean packet size", "more than 0"
            if |size| size.is_none_or(|size| size.get() > 0),
            "the scenario's segment; ns-2 takes 500 B";
        /// wait 1/p_b packets after a mark or drop
        wait: bool = true, "wait", "true or false" if |_| true,
            "as RED";
    }
}

/// Adaptive RED.
#[derive(Clone, Debug)]
pub struct Ared {
    red: Red,
    rule: Rule,
    interval: Span,
    steps: Steps,
    /// When the next step may be taken.
    due: Time,
}

/// How max_p moves.
#[derive(Clone, Copy, Debug)]
struct Rule {
    alpha: f64,
    beta: f64,
    low: f64,
    high: f64,
}

impl Ared {
    /// Adaptive RED in front of the link at `site`, from an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<Ared, Fault> {
        let rule = rule(params)?;
        let red = Red::new(&red(params)?, site)?;
        Ok(Ared {
            red: if params.weight.is_none() { red.with_automatic_weight() } else { red },
            rule,
            interval: params.interval,
            steps: params.steps,
            due: Time::ZERO + params.interval,
        })
    }

    /// A step of max_p, where the average asks for one and max_p has room.
    fn step(&mut self, average: f64) -> bool {
        let before = self.red.max_p();
        self.red.set_max_p(self.rule.next(before, average, self.band()));
        self.red.max_p() != before
    }

    /// The RED that it sets.
    pub fn red(&self) -> &Red {
        &self.red
    }

    /// Takes the step that is due, where there is one, as if the average backlog were `average` at present.
    pub fn follow(&mut self, now: Time, average: f64) {
        let due = match self.steps {
            Steps::Timed => now >= self.due,
            Steps::Arrivals => now > self.due,
        };
        if due && (self.step(average) || self.steps == Steps::Timed) {
            self.due = now + self.interval;
        }
    }

    /// Equation (1): the averages that are near enough.
    fn band(&self) -> [f64; 2] {
        let (min, max) = self.red.thresholds();
        BAND.map(|share| min + share * (max - min))
    }
}

impl Law for Ared {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.red.observe(arrival);
        if self.steps == Steps::Arrivals && arrival.now > self.due && self.step(self.red.average()) {
            self.due = arrival.now + self.interval;
        }
        self.red.judge(arrival)
    }

    fn on_idle(&mut self, now: Time) {
        self.red.on_idle(now);
    }

    fn on_overflow(&mut self, now: Time) {
        self.red.on_overflow(now);
    }

    fn on_link_change(&mut self, now: Time, rate: Rate) {
        self.red.on_link_change(now, rate);
    }

    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        let mut fresh = Ared::new(&Params::from_values(given)?, site)?;
        // What it has learnt is max_p; the parameter is where that began.
        fresh.red.set_max_p(self.red.max_p());
        let as_before = (fresh.interval, fresh.steps) == (self.interval, self.steps);
        let due = if as_before { self.due } else { moved(self.due, self.interval, fresh.interval).max(now) };
        *self = Ared { red: fresh.red.after(&self.red), due, ..fresh };
        Ok(())
    }

    fn next_update(&self) -> Option<Time> {
        (self.steps == Steps::Timed).then_some(self.due)
    }

    fn on_update(&mut self, due: Time, seen: &Observation) {
        self.step(self.red.average_at(seen.now));
        // Steps stay on their grid; for those missed in a stall nobody knows the average.
        let missed = seen.now.since(due).nanos() / self.interval.nanos();
        self.due = due + self.interval.saturating_mul(missed + 1);
    }

    fn target_packets(&self) -> Option<f64> {
        let (min, max) = self.red.thresholds();
        Some(self.red.in_packets(f64::midpoint(min, max)))
    }

    fn marks_at(&self, p: Prob) -> bool {
        self.red.marks_at(p)
    }

    fn linear(&self, rest: &Rest) -> Option<Linear> {
        let ([low, high], backlog) = (self.band(), self.red.counted(rest.backlog));
        if backlog < low || backlog > high {
            return None;
        }
        // Within the band max_p stands still, where it has brought p_b to what the load needs.
        let p_b = self.red.before_spreading(rest.p);
        let linear = self.red.about(p_b, p_b / (backlog - self.red.thresholds().0), rest);
        Some(linear.assuming(true, STANDS_STILL))
    }

    fn derived(&self, out: &mut dyn Gauges) {
        self.red.derived(out);
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        self.red.gauges(out);
        out.gauge("max_p", "1", self.red.max_p());
    }
}

impl Rule {
    /// Equations (2) and (3).
    fn next(self, max_p: f64, average: f64, band: [f64; 2]) -> f64 {
        if average > band[1] && max_p <= self.high {
            (max_p + self.alpha.min(max_p / 4.0)).min(1.0)
        } else if average < band[0] && max_p >= self.low {
            max_p * self.beta
        } else {
            max_p
        }
    }
}

/// The RED that is set. What is not given follows the target.
fn red(params: &Params) -> Result<red::Params, Fault> {
    let given = params.min.is_some() || params.max.is_some();
    if given && params.target.is_some() {
        let what = "cannot be held beside min and max; legal: the target or the thresholds";
        return Err(Fault::new("target", what));
    }
    Ok(red::Params {
        min: params.min,
        max: params.max,
        thresholds: if given { Thresholds::Buffer } else { Thresholds::Auto },
        target: params.target,
        weight: params.weight,
        max_p: params.max_p,
        gentle: params.gentle,
        mark_below_p: params.mark_below_p,
        byte_mode: params.byte_mode,
        mean_packet: params.mean_packet,
        wait: params.wait,
    })
}

fn rule(params: &Params) -> Result<Rule, Fault> {
    let (low, high) = (params.low.get(), params.high.get());
    if low > high {
        let what = format!("{low} is above high = {high}; legal: more than 0, at most high");
        return Err(Fault::new("low", what));
    }
    Ok(Rule { alpha: params.alpha, beta: params.beta, low, high })
}

/// Where the band of equation (1) begins and ends between the thresholds.
const BAND: [f64; 2] = [0.4, 0.6];
/// What it takes for granted where it tells its transfer function.
const STANDS_STILL: &str = "Within its band Adaptive RED leaves max_p where it has brought it, and the average stays in \
                            the band.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;

    /// 1000 packets/s.
    fn site() -> Site {
        let rate = Rate::from_bits_per_second(8e6);
        Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None }
    }

    fn ared(change: impl Fn(&mut Params)) -> Result<Ared, Fault> {
        let mut params = Params::default();
        change(&mut params);
        Ared::new(&params, &site())
    }

    /// Thresholds 50 and 150 and an average that is the backlog: the band is 90 to 110.
    fn given(params: &mut Params) {
        (params.min, params.max) = (Some(Amount::Packets(50.0)), Some(Amount::Packets(150.0)));
        params.weight = Some(1.0);
    }

    fn seconds(seconds: f64) -> Time {
        Time::ZERO + Span::from_seconds(seconds)
    }

    fn arrive(law: &mut Ared, now: f64, packets: u32) -> Verdict {
        let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
        let (ecn, flow) = (Ecn::NotEct, FlowId(0));
        law.on_arrival(&Arrival {
            now: seconds(now),
            len: 1000,
            ecn,
            flow,
            backlog,
            victim: None,
            u: [0.99, 0.0],
        })
    }

    fn update(law: &mut Ared, now: f64) {
        let seen = Observation { now: seconds(now), ..Observation::default() };
        law.on_update(law.next_update().unwrap(), &seen);
    }

    fn weight(law: &Ared) -> f64 {
        law.red.weight()
    }

    #[test]
    fn the_rule_is_the_papers() {
        let rule = Rule { alpha: 0.01, beta: 0.9, low: 0.01, high: 0.5 };
        let band = [90.0, 110.0];
        for (max_p, average, expected) in [
            (0.1, 111.0, 0.11),
            (0.02, 111.0, 0.025),
            (0.5, 111.0, 0.51),
            (0.51, 111.0, 0.51),
            (0.1, 110.0, 0.1),
            (0.1, 90.0, 0.1),
            (0.1, 89.0, 0.09),
            (0.01, 89.0, 0.009),
            (0.009, 89.0, 0.009),
        ] {
            let next = rule.next(max_p, average, band);
            assert!((next - expected).abs() < 1e-15, "{max_p} at {average}: {next}");
        }
        assert_eq!(ared(given).unwrap().band(), band);
    }

    /// A last step from below `high` may go beyond it, but not beyond what a probability can be.
    #[test]
    fn max_p_stays_a_probability() {
        let mut law = ared(|params| {
            given(params);
            (params.max_p, params.high, params.alpha) = (Prob::ONE, Prob::ONE, 1.0);
        })
        .unwrap();
        arrive(&mut law, 0.1, 160);
        update(&mut law, 0.5);
        arrive(&mut law, 0.6, 160);
        assert_eq!(law.red.max_p(), 1.0);
    }

    /// Equations (4) and (5), and what ns-2 2.35 says of itself: q_weight_, thresh_ and maxthresh_ after a run
    /// with these rates and a target of 5 ms.
    #[test]
    fn what_is_not_given_is_what_ns2_chooses() {
        for (rate, expected_weight, thresholds) in [
            (1e6, 0.007_968_085_162_939_342, (5.0, 15.0)),
            (8e6, 0.000_999_500_166_624_978, (5.0, 15.0)),
            (100e6, 7.999_680_008_530_241e-5, (31.25, 93.75)),
        ] {
            let site = Site { rate: Rate::from_bits_per_second(rate), ..site() };
            let law = Ared::new(&Params::default(), &site).unwrap();
            assert!((weight(&law) / expected_weight - 1.0).abs() < 1e-9, "{}", weight(&law));
            assert_eq!(law.red.thresholds(), thresholds);
            assert_eq!(law.target_packets(), Some(2.0 * thresholds.0));
        }
    }

    /// 50 ms are 50 packets of 1000 B on this link.
    #[test]
    fn a_target_delay_is_held_whatever_the_mean_packet() {
        for (mean, byte_mode) in [(100, false), (500, false), (500, true), (3000, true)] {
            let law = ared(|params| {
                params.target = Some(Amount::Delay(Span::from_millis(50)));
                (params.mean_packet, params.byte_mode) = (Some(Bytes::new(mean)), byte_mode);
            });
            let target = law.unwrap().target_packets().unwrap();
            assert!((target - 50.0).abs() < 1e-9, "{mean} {byte_mode}: {target}");
        }
    }

    #[test]
    fn what_follows_the_link_follows_it_and_what_is_given_stays() {
        let mut law = ared(|_| ()).unwrap();
        law.on_link_change(seconds(1.0), Rate::from_bits_per_second(100e6));
        assert_eq!(law.red.thresholds(), (31.25, 93.75));
        assert!(weight(&law) < 1e-4);
        law.on_link_change(seconds(2.0), Rate::from_bits_per_second(0.0));
        assert_eq!(law.red.thresholds(), (31.25, 93.75));
        let mut law = ared(given).unwrap();
        law.on_link_change(seconds(1.0), Rate::from_bits_per_second(100e6));
        assert_eq!((law.red.thresholds(), weight(&law)), ((50.0, 150.0), 1.0));
        // A buffer of one packet: thresholds within it.
        let site = Site { limit: 1.0, ..site() };
        assert_eq!(Ared::new(&Params::default(), &site).unwrap().red.thresholds(), (1.0 / 3.0, 1.0));
    }

    #[test]
    fn timed_steps_come_without_packets_and_once_for_a_stall() {
        let mut law = ared(given).unwrap();
        arrive(&mut law, 0.1, 120);
        update(&mut law, 0.5);
        assert!((law.red.max_p() - 0.11).abs() < 1e-15);
        // Ten intervals late: one step, and the grid is kept.
        update(&mut law, 5.7);
        assert!((law.red.max_p() - 0.12).abs() < 1e-15);
        assert_eq!(law.next_update(), Some(seconds(6.0)));
        // An idle link's average ages: with a weight of 1 nothing is left after a packet's time.
        law.on_idle(seconds(5.8));
        update(&mut law, 6.0);
        assert!((law.red.max_p() - 0.108).abs() < 1e-15);
    }

    #[test]
    fn steps_at_arrivals_wait_for_the_band_to_be_left() {
        let mut law = ared(|params| {
            given(params);
            params.steps = Steps::Arrivals;
        })
        .unwrap();
        assert_eq!(law.next_update(), None);
        for (now, packets, expected) in
            [(0.4, 120, 0.1), (0.6, 100, 0.1), (0.9, 120, 0.11), (1.3, 120, 0.11), (1.41, 80, 0.099)]
        {
            arrive(&mut law, now, packets);
            assert!((law.red.max_p() - expected).abs() < 1e-15, "at {now}: {}", law.red.max_p());
        }
    }

    #[test]
    fn contradictions_are_refused() {
        let packets = |count| Some(Amount::Packets(count));
        let fault = |change: &dyn Fn(&mut Params)| ared(change).unwrap_err();
        assert_eq!(
            fault(&|params| (params.target, params.min) = (packets(50.0), packets(20.0))).key,
            "target"
        );
        assert_eq!(fault(&|params| params.target = packets(201.0)).key, "target");
        assert_eq!(fault(&|params| (params.low, params.high) = (Prob::ONE, Prob::clamped(0.5))).key, "low");
        assert_eq!(fault(&|params| params.max = packets(301.0)).key, "max");
        assert!(ared(|params| params.target = packets(200.0)).is_ok());
    }
}
