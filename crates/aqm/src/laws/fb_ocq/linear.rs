//! Transfer functions of the closed forms about an operating point.

use super::defaults::TimeConstant;
use super::{Control, FbOcq, LoadMeasure, MOST_TAKEN};
use crate::linear::{FOLLOWS_THE_LOAD, Linear, OperatingPoint, Rational, Signal};
use sojourn_units::math;

impl FbOcq {
    /// Equation (7) about the equilibrium u = (1 - p) w = C: with dw the deviation of the average w,
    ///
    /// ```text
    /// dp = -u' / w dq + (1 - p) / w dw,  w = C / (1 - p) by (8) or under drops, else C
    /// ```
    ///
    /// By (8), and under drops, a period counts (C T + dq - dq_old) / (1 - p_old), so that p moves w: the average
    /// becomes an integral.
    pub(super) fn feedback(&self, point: &OperatingPoint) -> Option<Linear> {
        if point.p >= self.p_max.min(MOST_TAKEN) {
            return None;
        }
        let passes = 1.0 - point.p;
        let (counted, fed_back) = match (self.load, point.signal) {
            (LoadMeasure::Virtual, _) | (LoadMeasure::Offered, Signal::Drop) => (1.0 / passes, 1.0),
            (LoadMeasure::Offered, Signal::Mark) => (1.0, 0.0),
            (LoadMeasure::Offered, Signal::Both { .. }) => return None,
            (LoadMeasure::Integral, _) => return Some(self.proportional_integral(point)),
        };
        let offered = counted * point.network.capacity;
        let held = -self.slope(point.backlog) / offered;
        // Per packet/s of growth of the backlog.
        let growth = passes * counted / offered;
        let (time, period) = (self.load_time(), self.period.seconds());
        let weight = 1.0 - math::exp(-period / time);
        // The average without and with the effect of p: (1 + tau s) and tau s, and both in samples.
        let continuous = Rational::new([held, held * time + growth], [1.0 - fed_back, time]);
        let kept = weight - 1.0;
        let grown = growth * weight / period;
        let above = [held + grown, held * kept - grown];
        let sampled = Rational::new(above, [1.0, kept - fed_back * weight]);
        Some(Linear::both(continuous, sampled, self.period))
    }

    /// Equations (7) and (14) about the target, with the constants that (15) has there.
    fn proportional_integral(&self, point: &OperatingPoint) -> Linear {
        let mut law = self.clone();
        (law.state.held, law.state.service.packets) = (point.p, point.network.capacity);
        let gain = -law.slope(point.backlog) * (1.0 - point.p) / point.network.capacity;
        let (time, period) = (law.load_time(), law.period.seconds());
        let weight = 1.0 - math::exp(-period / time);
        let continuous = Rational::new([gain, gain * time], [0.0, time]);
        let sampled = Rational::new([gain * (1.0 + weight), -gain], [1.0, -1.0]);
        let scheduled = [self.t_c, self.tau_w].iter().any(|time| matches!(time, TimeConstant::Scheduled(_)));
        Linear::both(continuous, sampled, self.period).assuming(scheduled, FOLLOWS_THE_LOAD)
    }

    /// Slope of u at x, 1/s: u* = g - (x - x_s) r, r^2 = s^2 + 1 / (eps (a + x)) by (5), with the secant s of
    /// g falling as 1 / (a + x).
    fn slope(&self, x: f64) -> f64 {
        let problem = self.problem();
        let (queue, x_s) = (problem.queue(), problem.x_s());
        let steepness = queue.secant(x, x);
        if matches!(self.control, Control::Deadbeat) {
            return steepness - 1.0 / self.period.seconds();
        }
        let (s, far) = (queue.secant(x, x_s), queue.half + x);
        let r = (s * s + 1.0 / (self.penalty() * far)).sqrt();
        steepness - r + (x - x_s) * (r * r + s * s) / (2.0 * r * far)
    }
}
