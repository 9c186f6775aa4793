//! Adaptive RED: RED with an adapted `max_p`.
//!
//! S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for Increasing
//! the Robustness of RED's Active Queue Management", ICSI, 2001. Verdicts are
//! RED's ([`crate::laws::red`]); every `interval` its `max_p` takes a step
//! towards the value that keeps the average half way between the thresholds:
//!
//! ```text
//! band  = [min_th + 0.4 (max_th - min_th), min_th + 0.6 (max_th - min_th)]    (1)
//! max_p <- max_p + min(alpha, max_p / 4)   avg above the band, max_p <= high  (2)
//! max_p <- beta max_p                      avg below the band, max_p >= low   (3)
//! ```
//!
//! Defaults follow the link of C packets/s (in (4) mean packets) and a target delay d:
//!
//! ```text
//! w_q    = 1 - e^(-1/C)                    the average forgets within 1 s     (4)
//! min_th = max(5, d C / 2),  max_th = 3 min_th                                (5)
//! ```
//!
//! By (5) the middle of the band is d C; both are RED's with `thresholds = auto`. Steps are timed, independent of
//! arrivals; on an idle link the average ages as in RED. With `steps = arrivals`, as in ns-2, a step is taken at the
//! first arrival with the average outside the band, an interval or more after the last step.

pub mod fluid;

use crate::analysis::{Analysis, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::forward_law;
use crate::gauges::Gauges;
use crate::law::{Arrival, Law, Observation, Verdict};
use crate::laws::red::{self, Red, Thresholds};
use crate::linear::{Linear, OperatingPoint};
use crate::link_context::LinkContext;
use crate::parts::ticks::moved;
use sojourn_params::{Described, ErrorKind, Given, InputError, Page};
use sojourn_units::{Amount, Bytes, Prob, Span, Time};

sojourn_params::choice! {
    /// Timing of the steps of max_p.
    pub enum StepTiming {
        /// Every interval.
        Timed = "timed",
        /// At the first packet outside the band an interval after the last step.
        Arrivals = "arrivals",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "ared",
        summary: "adaptive RED: max_p moves until the average backlog is half way between the thresholds",
        idea: "RED's queue depends on the load, because its probability is tied to the average backlog. Adaptive \
               RED adapts max_p: twice a second it grows a little while the average is above the middle \
               of the band and shrinks while it is below. Weight and thresholds follow from the link's rate and \
               a target delay where they are not given.",
        equation: "max_p <- max_p + min(alpha, max_p / 4)  above the band;  beta max_p  below it",
        source: "S. Floyd, R. Gummadi, S. Shenker, \"Adaptive RED\", ICSI, 2001",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| {
        let law = Ared::new(params.of()?, context)?;
        Ok(Designed::new(law.clone()).with_fluid(fluid::FluidAred::new(law, context)))
    },
};

sojourn_params::params! {
    /// Parameters of adaptive RED.
    pub struct Params {
        /// average backlog to hold, instead of min and max; a time follows the link's rate
        target "d C": Option<Amount> = None, above 0, where "at most two thirds of the buffer, without min and max",
            "5 ms, Floyd et al. 2001, section 5; less where the buffer does not hold it";
        /// average backlog below which every packet passes
        min "min_th": Option<Amount> = None, above 0, where "less than max",
            "half the target, at least 5 packets, Floyd et al. 2001; a third of max where that is given";
        /// average backlog at which p_b reaches max_p
        max "max_th": Option<Amount> = None, above 0, where "more than min, within the buffer",
            "three times min, Floyd et al. 2001";
        /// weight of a new sample in the average
        weight "w_q": Option<f64> = None, in above 0.0 to 1.0,
            "1 - e^(-1/C): the average has a time constant of 1 s, Floyd et al. 2001";
        /// probability at the upper threshold, to begin with
        max_p "max_p": Prob = Prob::clamped(0.1), above 0.0, "Floyd 1997";
        /// time between two steps of max_p
        interval "interval": Span = Span::from_millis(500), in "1 ms" to "1 h", "Floyd et al. 2001";
        /// timing of the steps: timed or arrivals
        steps "steps": StepTiming = StepTiming::Timed,
            "Floyd et al. 2001: every interval; arrivals is ns-2, whose steps need an average outside the band";
        /// largest step up
        alpha "alpha": f64 = 0.01, in above 0.0 to 1.0, "Floyd et al. 2001; a step is never above max_p / 4";
        /// factor of a step down
        beta "beta": f64 = 0.9, in above 0.0 to below 1.0, "Floyd et al. 2001, who advise at least 0.83";
        /// max_p is not lowered below it
        low "low": Prob = Prob::clamped(0.01), above 0.0, where "at most high",
            "Floyd et al. 2001; ns-2 takes one packet in 100 ms where that is less";
        /// max_p is not raised above it
        high "high": Prob = Prob::clamped(0.5), above 0.0, where "at least low", "Floyd et al. 2001";
        /// rise to 1 at twice max instead of jumping there
        gentle "gentle": bool = true, "Floyd et al. 2001: adaptive RED is meant to be used with it";
        /// ECN-capable packets are marked while p_b is below this, else dropped; 1: all but those beyond the curve's end
        mark_below_p "mark_p": f64 = 1.0, in 0.0 to 2.0, where "above 1 nothing is dropped that can be marked",
            "RFC 3168, section 7: drop above the upper threshold; ns-2 drops above 0.1";
        /// count bytes: the average, and the probability by packet size
        byte_mode "bytes": bool = false, "RFC 7567, section 4.4: do not favour small packets";
        /// size of the packets that pace the average; with byte_mode also the unit of backlog and thresholds
        mean_packet "mean packet size": Option<Bytes> = None, above "0 B", "the scenario's segment; ns-2 takes 500 B";
        /// wait 1/p_b packets after a mark or drop
        wait "wait": bool = true, "as RED";
    }
}

/// Adaptive RED.
#[derive(Clone, Debug)]
pub struct Ared {
    red: Red,
    rule: Rule,
    interval: Span,
    steps: StepTiming,
    /// Earliest time of the next step.
    due: Time,
}

/// Adaptation of max_p.
#[derive(Clone, Copy, Debug)]
struct Rule {
    alpha: f64,
    beta: f64,
    low: f64,
    high: f64,
}

impl Ared {
    /// Adaptive RED in front of the link at `context`, from an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Ared, InputError> {
        let rule = rule(params)?;
        let red = Red::new(&red(params)?, context)?;
        Ok(Ared {
            red: if params.weight.is_none() { red.with_automatic_weight() } else { red },
            rule,
            interval: params.interval,
            steps: params.steps,
            due: Time::ZERO + params.interval,
        })
    }

    /// Takes a step of max_p; true if it changed.
    fn step(&mut self, average: f64) -> bool {
        let before = self.red.max_p();
        self.red.set_max_p(self.rule.next(before, average, self.band()));
        self.red.max_p() != before
    }

    /// RED with the present max_p.
    pub(crate) fn red(&self) -> &Red {
        &self.red
    }

    /// Takes the step that is due, if any, at this average backlog.
    pub(crate) fn follow(&mut self, now: Time, average: f64) {
        let due = match self.steps {
            StepTiming::Timed => now >= self.due,
            StepTiming::Arrivals => now > self.due,
        };
        if due && (self.step(average) || self.steps == StepTiming::Timed) {
            self.due = now + self.interval;
        }
    }

    /// Band of equation (1).
    fn band(&self) -> [f64; 2] {
        let (min, max) = self.red.thresholds();
        BAND.map(|share| min + share * (max - min))
    }
}

impl Law for Ared {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.red.observe(arrival);
        if self.steps == StepTiming::Arrivals && arrival.now > self.due && self.step(self.red.average()) {
            self.due = arrival.now + self.interval;
        }
        self.red.judge(arrival)
    }

    forward_law!(self => self.red; on_idle, on_overflow, on_link_change);

    fn set_params(&mut self, now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let mut fresh = Ared::new(given.params.of()?, context)?;
        // max_p is adapted state; the parameter is its initial value.
        fresh.red.set_max_p(self.red.max_p());
        let as_before = (fresh.interval, fresh.steps) == (self.interval, self.steps);
        let due = if as_before { self.due } else { moved(self.due, self.interval, fresh.interval).max(now) };
        *self = Ared { red: fresh.red.after(&self.red), due, ..fresh };
        Ok(())
    }

    fn next_update(&self) -> Option<Time> {
        (self.steps == StepTiming::Timed).then_some(self.due)
    }

    fn on_update(&mut self, due: Time, observed: &Observation) {
        self.step(self.red.average_at(observed.now));
        // Steps stay on their grid; for those missed in a stall the average is unknown.
        let missed = observed.now.since(due).nanos() / self.interval.nanos();
        self.due = due + self.interval.saturating_mul(missed + 1);
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        self.red.gauges(out);
        out.gauge("max_p", "1", self.red.max_p());
    }
}

impl Analysis for Ared {
    fn target_packets(&self) -> Option<f64> {
        let (min, max) = self.red.thresholds();
        Some(self.red.in_packets(f64::midpoint(min, max)))
    }

    fn marks_at(&self, p: Prob) -> bool {
        self.red.marks_at(p)
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        let ([low, high], backlog) = (self.band(), self.red.counted(point.backlog));
        if backlog < low || backlog > high {
            return None;
        }
        // Within the band max_p is constant, and p_b is what the load needs.
        let p_b = self.red.before_spreading(point.p);
        let linear = self.red.about(p_b, p_b / (backlog - self.red.thresholds().0), point);
        Some(linear.assuming(true, IN_BAND))
    }

    fn noise(&self, point: &OperatingPoint) -> NoiseModel {
        self.red.noise(point)
    }

    fn derived(&self, out: &mut dyn Gauges) {
        self.red.derived(out);
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

/// Parameters of RED; those that are absent follow the target.
fn red(params: &Params) -> Result<red::Params, InputError> {
    let given = params.min.is_some() || params.max.is_some();
    if given && params.target.is_some() {
        let problem = "conflicts with min and max";
        return Err(
            InputError::new(ErrorKind::Conflict, problem, "the target or the thresholds").at("target")
        );
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

fn rule(params: &Params) -> Result<Rule, InputError> {
    let (low, high) = (params.low.get(), params.high.get());
    if low > high {
        let problem = format!("is above high = {high}");
        return Err(InputError::conflict(low, problem, "more than 0, at most high").at("low"));
    }
    Ok(Rule { alpha: params.alpha, beta: params.beta, low, high })
}

/// Band of equation (1), as shares of the distance between the thresholds.
const BAND: [f64; 2] = [0.4, 0.6];
/// Assumption of the transfer function.
const IN_BAND: &str = "The average is within its band, where Adaptive RED does not change max_p.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;
    use sojourn_units::Rate;

    /// 1000 packets/s.
    fn context() -> LinkContext {
        LinkContext::example()
    }

    fn ared(change: impl Fn(&mut Params)) -> Result<Ared, InputError> {
        let mut params = Params::default();
        change(&mut params);
        Ared::new(&params, &context())
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
        let observed = Observation { now: seconds(now), ..Observation::default() };
        law.on_update(law.next_update().unwrap(), &observed);
    }

    fn weight(law: &Ared) -> f64 {
        law.red.weight()
    }

    #[test]
    fn the_rule_is_that_of_the_paper() {
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

    /// Equations (4) and (5), and ns-2 2.35: q_weight_, thresh_ and maxthresh_ after a run
    /// with these rates and a target of 5 ms.
    #[test]
    fn the_defaults_are_those_of_ns2() {
        for (rate, expected_weight, thresholds) in [
            (1e6, 0.007_968_085_162_939_342, (5.0, 15.0)),
            (8e6, 0.000_999_500_166_624_978, (5.0, 15.0)),
            (100e6, 7.999_680_008_530_241e-5, (31.25, 93.75)),
        ] {
            let context = LinkContext { rate: Rate::from_bits_per_second(rate), ..context() };
            let law = Ared::new(&Params::default(), &context).unwrap();
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
    fn defaults_follow_the_link_and_given_values_do_not() {
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
        let context = LinkContext { limit: 1.0, ..context() };
        assert_eq!(Ared::new(&Params::default(), &context).unwrap().red.thresholds(), (1.0 / 3.0, 1.0));
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
            params.steps = StepTiming::Arrivals;
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
}
