//! Stability margins of a loop, from all its crossovers.
//!
//! ```text
//! gain crossover |L(jw)| = 1:     phase margin m = pi + arg L in (-pi, pi]
//!                                 phase lag to -1: m, or m + 2 pi where m < 0; lead: 2 pi - lag
//!                                 delay margin lag / w
//!                                 missing lead: -(pi + phi), phi the phase followed from low frequencies
//! phase crossover L(jw) < 0:      gain margin 1 / |L|
//! modulus margin:                 min over w of |1 + L(jw)|
//! ```
//!
//! (K. J. Åström and R. M. Murray, "Feedback Systems", 2nd ed., 2021, section 10.3.) With a delay the phase falls
//! without bound, and there are infinitely many phase crossovers; but |L| falls too, and beyond the frequency at which
//! a bound of it falls below the inverse of the gain margin found no crossover can be nearer. A gain margin above 1 is
//! the factor by which the gain may grow, one below 1 the factor to which it may shrink: a loop around an unstable
//! plant has both, as has one that crosses -180 degrees while |L| > 1. With several gain crossovers the least lag and
//! the least lead count separately: a crossover past -180 degrees is far from -1 in lag and near in lead. All margins
//! are those of a stable closed loop, see [`super::nyquist`]. An unstable one whose open loop is stable lacks the
//! largest of the leads, whole turns included: with that much at every frequency L no longer encircles -1, since its
//! phase is within half a turn of 0 wherever |L| = 1.

use super::complex::{Complex64, angle, size};
use super::loops::Loop;
use super::winding::passed;
use std::f64::consts::PI;

/// A frequency where |L| = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainCrossover {
    /// rad/s.
    pub frequency: f64,
    /// The phase margin there, rad, in (-pi, pi].
    pub phase_margin: f64,
    /// arg L there, rad, followed from low frequencies, where it is in (-3 pi / 2, pi / 2].
    pub phase: f64,
}

impl GainCrossover {
    /// Phase lag that turns L to -1 there, rad, in [0, 2 pi).
    pub fn lag(&self) -> f64 {
        if self.phase_margin < 0.0 { self.phase_margin + 2.0 * PI } else { self.phase_margin }
    }

    /// Phase lead that turns L to -1 there, rad, in (0, 2 pi].
    pub fn lead(&self) -> f64 {
        2.0 * PI - self.lag()
    }

    /// Delay that turns L to -1 there, s.
    pub fn delay_margin(&self) -> f64 {
        self.lag() / self.frequency
    }
}

/// A frequency where L is real and negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseCrossover {
    /// rad/s.
    pub frequency: f64,
    /// 1 / |L| there.
    pub gain_margin: f64,
}

/// The least |1 + L|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// rad/s.
    pub frequency: f64,
    /// |1 + L| there.
    pub distance: f64,
}

/// Margins of the loop's frequency response.
#[derive(Clone, Debug, PartialEq)]
pub struct Margins {
    /// Sorted by frequency.
    pub gain_crossovers: Vec<GainCrossover>,
    /// Sorted by frequency, up to the one beyond which none can determine a margin.
    pub phase_crossovers: Vec<PhaseCrossover>,
    /// The modulus margin.
    pub modulus: Closest,
}

impl Margins {
    /// Margins of a loop; none where it has no bound, or where L is unknown.
    pub fn of(of: &dyn Loop) -> Option<Margins> {
        Margins::beside(of, &[])
    }

    /// The same, with L followed at the frequencies of these poles of the closed loop, 1/s: a pole of L next to one near
    /// the axis makes it turn in less than a step.
    pub fn beside(of: &dyn Loop, poles: &[Complex64]) -> Option<Margins> {
        let response = |frequency: f64| of.value(Complex64::new(0.0, frequency));
        let crossing = of.reach(1.0, 0.0)?;
        let mut found = Margins::none();
        let stops = poles.iter().map(|pole| pole.im).collect();
        let mut walk = Walk::new(&response, crossing * LOWEST, of.delay()).stopping_at(stops);
        found.nearer(walk.at.frequency, walk.at.value);
        let mut level = 1.0;
        // Proceeds outwards until no crossover there can be nearer to -1 than those found.
        while let Some(end) = of.reach(level, 0.0) {
            walk.to(end, &mut found)?;
            let decided = found.gain_up().map_or(FLOOR, |margin| 1.0 / margin).max(FLOOR);
            if level <= decided || of.band().is_some_and(|band| end >= band) {
                break;
            }
            level = (level / 2.0).max(FLOOR);
        }
        if let Some(band) = of.band().filter(|band| walk.at.frequency >= *band) {
            found.at_the_end(band, response(band));
        } else if found.modulus.distance > 1.0 {
            // Beyond the walk L goes to 0, or is small.
            found.modulus = Closest { frequency: crossing, distance: 1.0 };
        }
        found.are_known().then_some(found)
    }

    /// Crossover with the most missing lead, and that lead, rad: the least that stabilises a loop whose open loop is
    /// stable; none where no lead does, or none is missing.
    pub fn lacking(&self) -> Option<(GainCrossover, f64)> {
        let lead = |at: &GainCrossover| -(PI + at.phase);
        let most = self.gain_crossovers.iter().max_by(|one, other| lead(one).total_cmp(&lead(other)))?;
        let found = lead(most);
        let is_enough = self.gain_crossovers.iter().all(|at| at.phase + found < PI);
        (found > 0.0 && is_enough).then_some((*most, found))
    }

    /// Crossover with the smallest phase margin in size; none where |L| is never 1.
    pub fn phase(&self) -> Option<GainCrossover> {
        self.least(|at| at.phase_margin.abs())
    }

    /// Crossover with the least lag to -1; none where |L| is never 1.
    pub fn lag(&self) -> Option<GainCrossover> {
        self.least(GainCrossover::lag)
    }

    /// Crossover with the least lead to -1; none where |L| is never 1.
    pub fn lead(&self) -> Option<GainCrossover> {
        self.least(GainCrossover::lead)
    }

    fn least(&self, of: impl Fn(&GainCrossover) -> f64) -> Option<GainCrossover> {
        self.gain_crossovers.iter().min_by(|one, other| of(one).total_cmp(&of(other))).copied()
    }

    /// Delay margin, s.
    pub fn delay(&self) -> Option<f64> {
        self.gain_crossovers.iter().map(GainCrossover::delay_margin).min_by(f64::total_cmp)
    }

    /// Upper gain margin: the least one above 1.
    pub fn gain_up(&self) -> Option<f64> {
        let margins = self.phase_crossovers.iter().map(|at| at.gain_margin);
        margins.filter(|&margin| margin > 1.0).min_by(f64::total_cmp)
    }

    /// Lower gain margin: the greatest one up to 1.
    pub fn gain_down(&self) -> Option<f64> {
        let margins = self.phase_crossovers.iter().map(|at| at.gain_margin);
        margins.filter(|&margin| margin <= 1.0).max_by(f64::total_cmp)
    }

    fn none() -> Margins {
        let modulus = Closest { frequency: 0.0, distance: f64::INFINITY };
        Margins { gain_crossovers: Vec::new(), phase_crossovers: Vec::new(), modulus }
    }

    /// True if L was never NaN.
    fn are_known(&self) -> bool {
        let phases = self.gain_crossovers.iter().map(|at| at.phase_margin);
        let gains = self.phase_crossovers.iter().map(|at| at.gain_margin);
        phases.chain(gains).chain([self.modulus.distance]).all(|value| !value.is_nan())
    }

    /// A sampled-data loop is real at pi / T: a phase crossover if it is negative there.
    fn at_the_end(&mut self, band: f64, value: Complex64) {
        if value.re < 0.0
            && self.phase_crossovers.last().is_none_or(|last| last.frequency < band * (1.0 - 1e-9))
        {
            self.phase_crossovers.push(PhaseCrossover { frequency: band, gain_margin: 1.0 / size(value) });
        }
        self.nearer(band, value);
    }

    fn nearer(&mut self, frequency: f64, value: Complex64) {
        let distance = size(1.0 + value);
        if distance < self.modulus.distance || distance.is_nan() {
            self.modulus = Closest { frequency, distance };
        }
    }

    /// Adds the crossovers between two neighbouring frequencies.
    fn between(&mut self, response: &dyn Fn(f64) -> Complex64, from: Sample, to: Sample) {
        let gain = |frequency: f64| response(frequency).norm_sqr() - 1.0;
        if (from.value.norm_sqr() > 1.0) != (to.value.norm_sqr() > 1.0) {
            let frequency = crossing(&gain, from.frequency, to.frequency);
            let value = response(frequency);
            let phase = from.phase + angle(value / from.value);
            self.gain_crossovers.push(GainCrossover { frequency, phase_margin: angle(-value), phase });
        }
        if (from.value.im > 0.0) != (to.value.im > 0.0) {
            let frequency = crossing(&|frequency| response(frequency).im, from.frequency, to.frequency);
            let value = response(frequency);
            if value.re < 0.0 {
                self.phase_crossovers.push(PhaseCrossover { frequency, gain_margin: 1.0 / size(value) });
            }
        }
    }
}

/// L at a frequency.
#[derive(Clone, Copy, Debug)]
struct Sample {
    frequency: f64,
    value: Complex64,
    /// arg L, rad, followed from the first one.
    phase: f64,
}

impl Sample {
    /// The next sample, near enough to follow the phase.
    fn on(&self, frequency: f64, value: Complex64) -> Sample {
        Sample { frequency, value, phase: self.phase + angle(value / self.value) }
    }
}

/// Walk along the frequencies in steps so short that L is nearly straight on each.
struct Walk<'a> {
    response: &'a dyn Fn(f64) -> Complex64,
    delay: f64,
    /// Ends of steps, rad/s.
    stops: Vec<f64>,
    /// Ends of the last two steps.
    before: Sample,
    at: Sample,
}

impl<'a> Walk<'a> {
    fn new(response: &'a dyn Fn(f64) -> Complex64, from: f64, delay: f64) -> Self {
        let value = response(from);
        // Two integrators begin at -pi, from either side.
        let turned = angle(value);
        let phase = if turned > PI / 2.0 { turned - 2.0 * PI } else { turned };
        let at = Sample { frequency: from, value, phase };
        Walk { response, delay, stops: Vec::new(), before: at, at }
    }

    fn stopping_at(self, stops: Vec<f64>) -> Self {
        Walk { stops, ..self }
    }

    /// Walks to `end`; none where L is NaN.
    fn to(&mut self, end: f64, found: &mut Margins) -> Option<()> {
        while self.at.frequency < end {
            let longest = (self.at.frequency * GROWTH).min(STEP / self.delay);
            let stops = self.stops.iter().copied().filter(|&stop| stop > self.at.frequency);
            let frequency = stops.fold((self.at.frequency + longest).min(end), f64::min);
            self.step((frequency, (self.response)(frequency)), found, DEEPEST)?;
        }
        Some(())
    }

    /// One step, or two where L bends.
    fn step(&mut self, to: (f64, Complex64), found: &mut Margins, depth: u32) -> Option<()> {
        let frequency = 0.5 * (self.at.frequency + to.0);
        let middle = (frequency, (self.response)(frequency));
        let values = [self.at.value, middle.1, to.1];
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let bend = (values[1] - 0.5 * (values[0] + values[2])).norm_sqr();
        let nearest = values.map(|value| value.norm_sqr().min((1.0 + value).norm_sqr()));
        let least = nearest.into_iter().fold(f64::INFINITY, f64::min);
        if bend <= STRAIGHT * STRAIGHT * least || depth == 0 {
            let middle = self.at.on(middle.0, middle.1);
            self.past(middle, found);
            self.past(middle.on(to.0, to.1), found);
        } else {
            self.step(middle, found, depth - 1)?;
            self.step(to, found, depth - 1)?;
        }
        Some(())
    }

    fn past(&mut self, to: Sample, found: &mut Margins) {
        let [before, at] = [self.before, self.at];
        found.between(self.response, at, to);
        let distance = |of: Sample| size(1.0 + of.value);
        // On steps that are nearly straight L comes no nearer than the chords, less their bend.
        let least = chord(before, at).min(chord(at, to)) - STRAIGHT * distance(at);
        if distance(at) <= distance(before) && distance(at) <= distance(to) && least < found.modulus.distance
        {
            let away = |frequency: f64| size(1.0 + (self.response)(frequency));
            let frequency = lowest(&away, before.frequency, to.frequency);
            found.nearer(frequency, (self.response)(frequency));
        }
        (self.before, self.at) = (at, to);
    }
}

/// Distance from -1 of the straight line between two values of L.
fn chord(one: Sample, other: Sample) -> f64 {
    passed(1.0 + one.value, 1.0 + other.value).sqrt()
}

/// Zero of `f`, by bisection and the secant in turn, to the last bits.
fn crossing(f: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let (mut below, mut above) = (f(low), f(high));
    let rising = above > below;
    for turn in 0.. {
        let width = high - low;
        if width <= EXACT * high || turn > 200 {
            break;
        }
        let secant = low - below * width / (above - below);
        // Slightly beyond the secant's estimate, so that the interval shrinks from both sides.
        let nudged = if secant < low + 0.5 * width {
            secant + EXACT * high / 4.0
        } else {
            secant - EXACT * high / 4.0
        };
        let guess =
            if turn % 3 == 2 || !(nudged > low && nudged < high) { low + 0.5 * width } else { nudged };
        let value = f(guess);
        if (value > 0.0) == rising {
            (high, above) = (guess, value);
        } else {
            (low, below) = (guess, value);
        }
    }
    0.5 * (low + high)
}

/// Minimum of `f`, by the golden section.
fn lowest(f: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let place = |low: f64, high: f64| [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    let [mut one, mut other] = place(low, high);
    let (mut at_one, mut at_other) = (f(one), f(other));
    // A minimum is flat: its place has half of the digits, its value all of them.
    while high - low > 1e-9 * high {
        if at_one < at_other {
            high = other;
            (other, at_other) = (one, at_one);
            one = place(low, high)[0];
            at_one = f(one);
        } else {
            low = one;
            (one, at_one) = (other, at_other);
            other = place(low, high)[1];
            at_other = f(other);
        }
    }
    0.5 * (low + high)
}

/// The first frequency by that beyond which |L| < 1.
const LOWEST: f64 = 1e-9;
/// |L| below which no margin is searched: a gain margin of a thousand.
const FLOOR: f64 = 1e-3;
/// Longest step, relative to the frequency and to 1 / delay.
const GROWTH: f64 = 0.3;
const STEP: f64 = 0.7;
/// Bend of a nearly straight step, seen from 0 and from -1.
const STRAIGHT: f64 = 0.1;
const DEEPEST: u32 = 30;
const EXACT: f64 = 1e-14;
const GOLDEN: f64 = 0.618_033_988_749_894_9;
