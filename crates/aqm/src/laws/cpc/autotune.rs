//! Gains of CPC by phase and modulus margins: the counterpart of the paper's `pidtune`.
//!
//! The inner loop's integrator has a phase margin of 60 degrees, the delay included:
//!
//! ```text
//! L_1 = K_1 e^(-s R) / (T_I s (1 + T_1 s)),  arg L_1 = -120 degrees where |L_1| = 1             (1)
//! ```
//!
//! The outer loop is a PID around the closed inner one and the queue, P = L_1 / ((1 + L_1) (1 + R s)), with T_d = T_i / 4 (K.
//! J. Åström and T. Hägglund, "Automatic tuning of simple regulators with specifications on phase and amplitude margins",
//! Automatica 20(5), 1984). For a crossover at w its gains follow from the phase margin:
//!
//! ```text
//! theta = -120 degrees - arg P(jw),  N K_P = cos(theta) / |P(jw)|,  T_i = 2 tan(45 degrees + theta / 2) / w   (2)
//! ```
//!
//! Of all w the one is taken with the greatest K_i = K_P / T_i, the least integral of the error after a disturbance, at which
//! |1 + L| >= 1/2 throughout: a gain margin of 2 at least. MATLAB's rule for its crossover is not published; its phase
//! margin is 60 degrees, too.

use super::{CpcDesign, Gains, windows};
use crate::link_context::Network;
use sojourn_units::math;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, PI};

/// The outer loop's plant without N, from its controller to the backlog.
struct Outer {
    /// T_I / K_1, T_1, R.
    inner: f64,
    window_time: f64,
    rtt: f64,
}

/// A PID around that plant.
#[derive(Clone, Copy)]
struct Pid {
    /// Frequency at which |L| = 1.
    crossover: f64,
    /// N K_P.
    proportional: f64,
    /// T_i, s.
    integral_time: f64,
}

/// A frequency at which the margins are checked; 1 / P there, and its size.
struct Point {
    frequency: f64,
    inverse: Complex,
    size: f64,
}

/// Real and imaginary part.
type Complex = [f64; 2];

/// Gains of both loops for `network`; gains in `given` are kept, and the outer loop is tuned for the inner one there is.
pub(super) fn tuned(network: Network, given: &Gains) -> CpcDesign {
    let Network { flows, rtt, .. } = network;
    let [window_gain, window_time] = windows(network);
    let inner = given.inner.unwrap_or_else(|| window_gain * integral_time(window_time, rtt));
    let pid = Outer { inner: inner / window_gain, window_time, rtt }.tuned();
    let proportional = pid.proportional / flows;
    CpcDesign {
        window_gain,
        window_time,
        inner,
        proportional: given.proportional.unwrap_or(proportional),
        integral: given.integral.unwrap_or(proportional / pid.integral_time),
        derivative: given.derivative.unwrap_or(proportional * pid.integral_time * DERIVATIVE),
    }
}

/// T_I / K_1, equation (1).
fn integral_time(window_time: f64, rtt: f64) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2 / rtt);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let lag = middle * rtt + math::atan2(middle * window_time, 1.0);
        if lag < FRAC_PI_2 - MARGIN { low = middle } else { high = middle }
    }
    1.0 / (low * math::hypot(1.0, low * window_time))
}

impl Outer {
    /// The PID with the greatest integral gain that keeps both margins.
    fn tuned(&self) -> Pid {
        let points: [Point; POINTS] = std::array::from_fn(|place| self.point(place));
        let crossing = |place: f64| self.crossing(LOWEST / self.rtt * math::exp(place * STEP));
        let kept = |place: f64| crossing(place).filter(|pid| pid.is_far(&points));
        let gain = |place: f64| kept(place).map_or(0.0, Pid::integral);
        let (mut best, mut most) = (0.0, 0.0);
        for place in (0..PLACES).map(f64::from) {
            // Margins are checked where the gain is not below the best one.
            let is_less = crossing(place).is_some_and(|pid| pid.integral() < most);
            let gain = if is_less { 0.0 } else { gain(place) };
            if gain >= most {
                (best, most) = (place, gain);
            }
        }
        // Golden sections of the two steps around it.
        let (mut low, mut high) = (best - 1.0, best + 1.0);
        for _ in 0..SECTIONS {
            let [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
            let gains = [gain(left), gain(right)];
            [low, high] = if gains[0] > gains[1] { [low, right] } else { [left, high] };
            for (place, gain) in [left, right].into_iter().zip(gains) {
                if gain > most {
                    (best, most) = (place, gain);
                }
            }
        }
        kept(best).unwrap_or(Pid { crossover: 0.0, proportional: 0.0, integral_time: self.window_time })
    }

    /// The PID with its crossover at `frequency`, equation (2); none where there is none.
    fn crossing(&self, frequency: f64) -> Option<Pid> {
        let [size, phase] = polar(self.inverse(frequency));
        // Up to 1 / R the plant has turned by less than 282 degrees: a phase below -180 is a whole turn too large.
        let theta = MARGIN - PI + if phase < 0.0 { phase + 2.0 * PI } else { phase };
        if theta.abs() >= FRAC_PI_2 {
            return None;
        }
        let (sin, cos) = math::sin_cos(FRAC_PI_4 + theta / 2.0);
        Some(Pid {
            crossover: frequency,
            proportional: size * math::sin_cos(theta).1,
            integral_time: sin / cos / (2.0 * DERIVATIVE * frequency),
        })
    }

    fn point(&self, place: usize) -> Point {
        let frequency = LOWEST / self.rtt * math::exp(place as f64 * FINE);
        let inverse = self.inverse(frequency);
        Point { frequency, inverse, size: math::hypot(inverse[0], inverse[1]) }
    }

    /// 1 / P at jw: (1 + 1 / L_1) (1 + jw R).
    fn inverse(&self, frequency: f64) -> Complex {
        let (sin, cos) = math::sin_cos(frequency * self.rtt);
        let late =
            times([0.0, frequency * self.inner], times([1.0, frequency * self.window_time], [cos, sin]));
        times([1.0 + late[0], late[1]], [1.0, frequency * self.rtt])
    }
}

impl Pid {
    /// True if |1 + L| >= 1/2 at all points, and |L| < 1 beyond the crossover.
    fn is_far(&self, points: &[Point]) -> bool {
        points.iter().all(|&Point { frequency, inverse, size }| {
            let turn = frequency * self.integral_time;
            let law = [self.proportional, self.proportional * (DERIVATIVE * turn - 1.0 / turn)];
            math::hypot(inverse[0] + law[0], inverse[1] + law[1]) / size >= CLOSEST
                && (frequency <= self.crossover * BEYOND || math::hypot(law[0], law[1]) / size < 1.0)
        })
    }

    /// N K_i, 1/s.
    fn integral(self) -> f64 {
        self.proportional / self.integral_time
    }
}

fn times(one: Complex, other: Complex) -> Complex {
    [one[0] * other[0] - one[1] * other[1], one[0] * other[1] + one[1] * other[0]]
}

/// Size and angle.
fn polar(of: Complex) -> [f64; 2] {
    [math::hypot(of[0], of[1]), math::atan2(of[1], of[0])]
}

/// Phase margin of both loops.
const MARGIN: f64 = FRAC_PI_3;
/// T_d / T_i.
const DERIVATIVE: f64 = 0.25;
/// Least |1 + L|.
const CLOSEST: f64 = 0.5;
/// Lowest frequency, times R.
const LOWEST: f64 = 1e-3;
/// Crossovers that are tried, up to 1 / R, and points of |1 + L|, up to 30 / R; steps of their logarithms.
const PLACES: u32 = 129;
const STEP: f64 = 6.907_755_278_982_137 / 128.0;
const POINTS: usize = 256;
const FINE: f64 = 10.308_952_660_644_293 / 256.0;
/// Factor beyond a crossover from which |L| < 1.
const BEYOND: f64 = 1.01;
/// Bisections and golden sections.
const HALVINGS: u32 = 60;
const SECTIONS: u32 = 40;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

#[cfg(test)]
mod tests {
    use super::*;

    const HOLLOT: Network = Network { flows: 60.0, capacity: 3750.0, rtt: 0.246 };

    /// The same rule over 4000 crossovers by complex numbers in Python.
    #[test]
    fn the_gains_are_those_of_an_independent_calculation() {
        let CpcDesign { inner, proportional, integral, derivative, .. } = tuned(HOLLOT, &Gains::default());
        let ours = [inner, proportional, integral, derivative];
        let python = [3_114.558_437, 0.053_828, 0.008_677_11, 0.083_479_9];
        for ((ours, python), within) in ours.into_iter().zip(python).zip([1e-9, 2e-3, 1e-4, 4e-3]) {
            assert!((ours / python - 1.0).abs() < within, "{ours} {python}");
        }
    }

    #[test]
    fn a_given_gain_is_kept_and_the_outer_loop_follows_the_inner_one() {
        let of = tuned(HOLLOT, &Gains::default());
        let given = Gains { integral: Some(0.01), ..Gains::default() };
        assert_eq!(tuned(HOLLOT, &given), CpcDesign { integral: 0.01, ..of });
        let slower = tuned(HOLLOT, &Gains { inner: Some(2.0 * of.inner), ..Gains::default() });
        assert!(slower.inner == 2.0 * of.inner && slower.proportional > of.proportional, "{slower:?}");
    }
}
