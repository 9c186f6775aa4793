//! Noise of a loop: deviations of the backlog and of p by random signals.
//!
//! With S the spectral density of the backlog while p is held ([`crate::linear::noise`]), L the loop and C the law,
//!
//! ```text
//! sigma_q^2 = (1 / pi) integral of S / |1 + L|^2 dw,  sigma_p^2 = (1 / pi) integral of |C|^2 S / |1 + L|^2 dw    (1)
//! ```
//!
//! over w > 0, by Simpson's rule on octaves that are halved where it has not converged. A sampled loop is taken at its
//! baseband; beyond half of its sampling rate the law follows nothing. Deviations are taken as normal for the probabilities
//! beyond a limit. Where p is the k-th power of what the law moves, that has sigma_p / k relative to it.
//!
//! A law whose p, or a power of it, is an integral that stops at 0 gains there what the integral would have lost. Of a
//! diffusion that a barrier reflects that is half of the variance of its increments, by time, times the density at the barrier
//! (D. R. Cox and H. D. Miller, "The theory of stochastic processes", 1965, chapter 5); the error, integrated with the gain
//! K = lim s C, makes up for it:
//!
//! ```text
//! E(q) - q* = - E(dp^2) h(z) / (2 R sigma_p K),  z = k p / sigma_p           (2)
//! ```
//!
//! dp is the change of p in a mean round trip R, below which p is smooth, and h(z) the density at 0 of a normal variable of
//! unit deviation with the mean z, given that it is not below.
//!
//! While the queue is busy a packet that leaves it is followed by one that comes after the round trip without the queue, T.
//! With one T the packets on their way are constant in number. With several, those of a flow that leave within
//! d = |T_i - mean T| are missing or more; at most half of a round trip is counted. A window that leaves at once does so over
//! D = s W / C, and with a = min(d, D), b = max(d, D)
//!
//! ```text
//! variance of a flow  C^2 a^2 (b - a / 3) / R - (s W d / R)^2                           (3)
//! ```
//!
//! the mean over the flows, with the spectrum of a telegraph signal of the rate 2 / (d + D) above 2 pi / R: windows repeat each
//! round trip.

use super::setting::Setting;
use super::{Certificate, PlantModel, Verdict, law_equilibrium};
use crate::linear::complex::{Complex64, exp, polynomial};
use crate::linear::equilibrium::{Class, Equilibrium};
use crate::linear::loops::Loop;
use crate::linear::noise::Signals;
use crate::linear::plant::Exact;
use crate::linear::windows::is_clocked;
use sojourn_aqm::NoiseModel;
use sojourn_aqm::linear::{Linear, Rational};
use sojourn_units::math;

/// Noise of the backlog and of p about an equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of the backlog, packets.
    pub queue_sd: f64,
    /// Standard deviation of p.
    pub p_sd: f64,
    /// Probability that the queue is empty.
    pub empty: f64,
    /// Probability that the buffer is full.
    pub full: f64,
    /// Probability that the law would move p below 0.
    pub p_below: f64,
    /// Probability that the law would move p above its greatest value.
    pub p_above: f64,
    /// Shift of the mean backlog as p stops at 0, packets; none of a law whose p is no integral.
    pub mean_shift: Option<f64>,
    /// A state of the law with limits: its name, and the probability that it would be beyond one.
    pub limited: Option<(&'static str, f64)>,
}

/// A stable loop with its noise.
struct Noisy<'a> {
    of: &'a dyn Loop,
    plant: Exact,
    linear: Linear,
    model: NoiseModel,
    signals: Signals,
    /// Spectral density of arrivals that do not respond, packets^2/s.
    arrivals: f64,
    /// Packets of each class that are on unlike paths.
    apart: Vec<Apart>,
    /// R, the mean one, s.
    rtt: f64,
}

/// Equation (3).
struct Apart {
    /// Variance, packets^2.
    variance: f64,
    /// Rate of its telegraph signal, 1/s.
    rate: f64,
    /// 2 pi / R, rad/s.
    lowest: f64,
}

/// Spectral densities: of the backlog, of p, of the law's limited state, and of dp in (2), by 2 R.
type Densities = [f64; 4];

impl Certificate {
    /// Noise about the equilibrium of the stable loop of one queue; none where it is not stable, or not known.
    pub(super) fn noise_of_loop(&self) -> Option<Noise> {
        let (of, equilibrium) = (self.noisy()?, self.equilibrium.as_ref()?);
        let slowest = 1.0 / equilibrium.rtts.iter().copied().fold(0.0, f64::max);
        let [queue_sd, p_sd, state, change] =
            of.integral([LOWEST * slowest, HIGHEST * slowest])?.map(f64::sqrt);
        let limit = self.setting.context.limit;
        let most = self.own.analysis().bounds().most_p;
        let state_beyond = |room: [f64; 2]| room.map(|room| beyond(room / state)).iter().sum();
        Some(Noise {
            queue_sd,
            p_sd,
            empty: beyond(equilibrium.backlog / queue_sd),
            full: beyond((limit - equilibrium.backlog) / queue_sd),
            p_below: beyond(of.model.power * equilibrium.p / p_sd),
            p_above: beyond((most - equilibrium.p) / p_sd),
            mean_shift: of
                .mean_shift(equilibrium.p, [p_sd, change])
                .map(|shift| shift.max(-equilibrium.backlog)),
            limited: of.model.limited.as_ref().map(|limited| (limited.name, state_beyond(limited.room))),
        })
    }

    /// Spectral densities of the backlog at frequencies, rad/s: packets^2 s, of which the integral over all frequencies,
    /// negative ones too, is 2 pi times the variance.
    pub fn noise_spectrum(&self, frequencies: &[f64]) -> Option<Vec<f64>> {
        let of = self.noisy()?;
        Some(frequencies.iter().map(|frequency| of.at(*frequency)[0]).collect())
    }

    fn noisy(&self) -> Option<Noisy<'_>> {
        let (judged, equilibrium) = (self.judged()?, self.equilibrium.as_ref()?);
        if self.verdict != Verdict::Stable || judged.model != PlantModel::Linearised {
            return None;
        }
        let point = law_equilibrium::operating_point(&self.setting, equilibrium);
        let linear = self.own.analysis().linear(&point)?;
        let model = self.own.analysis().noise(&point);
        let plant = Exact::new(&self.setting.link, equilibrium);
        let signals = Signals { dispersion: model.dispersion, share: equilibrium.p };
        let rtt = point.network.rtt;
        let link = &self.setting.link;
        let passing = [true, false].map(|ecn| link.signal_of(ecn).passes(equilibrium.p));
        let arrivals = passing.iter().zip(self.setting.random_arrivals).map(|(passes, of)| passes * of).sum();
        let apart = self.apart(equilibrium);
        Some(Noisy { of: judged.drawn(), plant, linear, model, signals, arrivals, apart, rtt })
    }

    /// Equation (3).
    fn apart(&self, equilibrium: &Equilibrium) -> Vec<Apart> {
        let Setting { link, spreads, .. } = &self.setting;
        let states = || equilibrium.windows.iter().zip(&equilibrium.rtts);
        let rates: Vec<f64> = (link.classes.iter().zip(states()))
            .map(|(of, (window, rtt))| of.flows * of.size * window / rtt)
            .collect();
        let weighted = link.classes.iter().zip(&rates).map(|(of, rate)| of.base_rtt * rate);
        let mean = weighted.sum::<f64>() / rates.iter().sum::<f64>();
        let classes = link.classes.iter().zip(spreads).zip(states()).filter(|((of, _), _)| is_clocked(of));
        let of_class = |((of, spread), (window, rtt)): ((&Class, &f64), (&f64, &f64))| {
            let away = |even: f64| (of.base_rtt * (1.0 + spread * even) - mean).abs().min(0.5 * rtt);
            Apart::of(of.flows, of.size * window, [link.capacity, *rtt], away)
        };
        classes.filter_map(of_class).collect()
    }
}

impl Apart {
    /// Of flows with so many packets of the link each, at C and R, and d at places from -1 to 1.
    fn of(flows: f64, burst: f64, [capacity, rtt]: [f64; 2], away: impl Fn(f64) -> f64) -> Option<Apart> {
        let lasts = burst / capacity;
        let (mut variance, mut time) = (0.0, lasts);
        for place in 0..PLACES {
            let away = away(f64::from(2 * place + 1) / f64::from(PLACES) - 1.0);
            let (short, long) = (away.min(lasts), away.max(lasts));
            let (most, held) = (capacity * short, burst * away / rtt);
            variance += (most * most * (long - short / 3.0) / rtt - held * held) / f64::from(PLACES);
            time += away / f64::from(PLACES);
        }
        let lowest = 2.0 * std::f64::consts::PI / rtt;
        (variance > 0.0).then(|| Apart { variance: flows * variance, rate: 2.0 / time, lowest })
    }

    fn density(&self, frequency: f64) -> f64 {
        let Apart { variance, rate, lowest } = *self;
        let square = frequency * frequency;
        // Of the telegraph signal's variance the share rate / (rate + lowest) passes.
        let passes = square / (square + lowest * lowest) * (1.0 + lowest / rate);
        variance * passes * 2.0 * rate / (rate * rate + square)
    }
}

impl Noisy<'_> {
    fn at(&self, frequency: f64) -> Densities {
        let apart: f64 = self.apart.iter().map(|of| of.density(frequency)).sum();
        let held = self.plant.noise(self.signals, self.arrivals, frequency) + apart;
        if self.of.band().is_some_and(|band| frequency >= band) {
            return [held, 0.0, 0.0, 0.0];
        }
        let s = Complex64::new(0.0, frequency);
        let part = self.of.roughly(s);
        let queue = held * (part.below / part.characteristic()).norm_sqr();
        let (law, at) = match (&self.linear.sampled, &self.linear.continuous) {
            (Some(law), _) => (&law.transfer, exp(-s * law.period.seconds())),
            (None, Some(law)) => (law, s),
            (None, None) => return [queue, 0.0, 0.0, 0.0],
        };
        let by = |of: &Rational| polynomial(&of.numerator, at) / polynomial(&of.denominator, at);
        let state = self.model.limited.as_ref().map_or(0.0, |limited| by(&limited.transfer).norm_sqr());
        let p = queue * by(law).norm_sqr();
        [queue, p, queue * state, p * (1.0 - exp(-s * self.rtt)).norm_sqr() / (2.0 * self.rtt)]
    }

    /// Equation (2).
    fn mean_shift(&self, p: f64, [p_sd, change]: [f64; 2]) -> Option<f64> {
        let law = self.linear.sampled.as_ref().filter(|_| self.model.integrates)?;
        let [numerator, denominator] = [&law.transfer.numerator, &law.transfer.denominator];
        let at_one = |of: &[f64]| of.iter().sum::<f64>();
        let slope: f64 = denominator.iter().enumerate().map(|(power, x)| power as f64 * x).sum();
        let size: f64 = denominator.iter().map(|x| x.abs()).sum();
        if at_one(denominator).abs() > INTEGRATES * size || slope == 0.0 {
            return None;
        }
        let gain = -at_one(numerator) / (slope * law.period.seconds());
        Some(-change * change * at_zero(self.model.power * p / p_sd) / (p_sd * gain))
    }

    /// Equation (1).
    fn integral(&self, [from, to]: [f64; 2]) -> Option<Densities> {
        let octaves = (math::ln(to / from) / math::ln(2.0)).ceil() as usize;
        let at = |place: f64| {
            let frequency = from * math::pow(2.0, place);
            self.at(frequency).map(|density| density * frequency)
        };
        let values: Vec<Densities> = (0..=2 * octaves).map(|place| at(0.5 * place as f64)).collect();
        let octave = |place: usize| {
            let values = [0, 1, 2].map(|part| values[2 * place + part]);
            Panel { from: place as f64, wide: 1.0, values }
        };
        let panels: Vec<Panel> = (0..octaves).map(octave).collect();
        let whole = panels.iter().map(Panel::sum).fold([0.0; 4], sum);
        let found = panels.iter().map(|panel| panel.refined(&at, whole, DEPTH)).fold([0.0; 4], sum);
        let scale = math::ln(2.0) / std::f64::consts::PI;
        found.iter().all(|value| value.is_finite()).then(|| found.map(|value| value * scale))
    }
}

/// Round trips of a class in (3).
const PLACES: u32 = 16;

/// Part of an integral: values at its ends and its middle.
struct Panel {
    from: f64,
    wide: f64,
    values: [Densities; 3],
}

impl Panel {
    /// Simpson's rule.
    fn sum(&self) -> Densities {
        let [left, middle, right] = self.values;
        [0, 1, 2, 3].map(|of| self.wide / 6.0 * (left[of] + 4.0 * middle[of] + right[of]))
    }

    /// The same, halved until the rule has converged to a share of `whole`.
    fn refined(&self, at: &dyn Fn(f64) -> Densities, whole: Densities, depth: u32) -> Densities {
        let [left, middle, right] = self.values;
        let half = 0.5 * self.wide;
        let of = |from: f64, ends: [Densities; 2]| {
            let values = [ends[0], at(from + 0.5 * half), ends[1]];
            Panel { from, wide: half, values }
        };
        let halves = [of(self.from, [left, middle]), of(self.from + half, [middle, right])];
        let (rough, fine) = (self.sum(), sum(halves[0].sum(), halves[1].sum()));
        let is_off = |of: usize| (fine[of] - rough[of]).abs() > EXACT * whole[of].max(fine[of]);
        if depth == 0 || !(0..4).any(is_off) {
            return fine;
        }
        let [first, second] = halves.map(|panel| panel.refined(at, whole, depth - 1));
        sum(first, second)
    }
}

fn sum(one: Densities, other: Densities) -> Densities {
    [0, 1, 2, 3].map(|of| one[of] + other[of])
}

/// Probability that a normal variable is so many standard deviations above its mean.
fn beyond(deviations: f64) -> f64 {
    0.5 * math::erfc(deviations * std::f64::consts::FRAC_1_SQRT_2)
}

/// Density at 0 of a normal variable of unit deviation with this mean, given that it is not below.
fn at_zero(mean: f64) -> f64 {
    math::exp(-0.5 * mean * mean) / (2.0 * std::f64::consts::PI).sqrt() / beyond(-mean)
}

/// Frequencies of the integral by the longest round trip: from, to. Packets on unlike paths have some up to hundreds.
const LOWEST: f64 = 1e-4;
const HIGHEST: f64 = 1e3;
/// Error of a panel by the integral, and most halvings.
const EXACT: f64 = 1e-3;
const DEPTH: u32 = 12;
/// Pole of a law at zeta = 1, relative to its coefficients, to rounding.
const INTEGRATES: f64 = 1e-9;
