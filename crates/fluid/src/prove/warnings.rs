//! Weaknesses of a certificate: a law whose gain steps near its equilibrium, noise that reaches a limit, small windows,
//! small margins.
//!
//! The noise of a stable loop is that of `noise.rs`. Of any other, and of a link of a network, it is that of n windows that
//! random signals reduce independently, with the deviation sigma_W that the sender's rules give a window:
//!
//! ```text
//! sigma^2 = sum over classes of n (s sigma_W)^2                                        (1)
//! ```

use super::law_equilibrium::operating_point;
use super::{Assessed, Certificate, Joint, Noise, OfLink, Setting, Verdict, words};
use crate::linear::equilibrium::{Class, Equilibrium, Signal};
use crate::linear::margins::GainCrossover;
use crate::plant::Window;
use crate::response::{Reaction, Response};
use sojourn_aqm::Law;
use sojourn_aqm::linear::{Linear, OperatingPoint, Rational};
use sojourn_units::{Prob, math};

/// All warnings, a sentence each; of a network with the name of the link.
pub(super) fn of(certificate: &Certificate, stem: &str) -> Vec<String> {
    if let Some(joint) = &certificate.joint {
        let of_links = joint.links.iter().flat_map(|link| of_link(certificate, link));
        return of_links.chain(acknowledgments(certificate, joint)).collect();
    }
    let mut found = small_margins(certificate.judged());
    if let Some(equilibrium) = certificate.equilibrium.as_ref().filter(|_| !certificate.loops.is_empty()) {
        let (own, setting) = (certificate.own.as_ref(), &certificate.setting);
        found.extend(Place { own, setting, equilibrium }.warnings(stem));
        found.extend(small_windows(setting, equilibrium));
        found.extend(drops_for_marks(setting, equilibrium));
        match &certificate.noise {
            Some(noise) => found.extend(limits(noise, setting, (equilibrium, stem))),
            None => found.extend(windows_alone(setting, equilibrium)),
        }
    }
    found
}

/// Nearest point on one side of the equilibrium at which a law changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlopeChange {
    /// The point relative to the equilibrium: of its backlog if the law is a curve, else of its p.
    pub factor: f64,
    /// The gain beyond over that before; none where the law declares no transfer function on one side.
    pub gain: Option<f64>,
    /// True if packets that can be marked are marked beyond.
    pub marks: bool,
    before: There,
    beyond: There,
}

impl Certificate {
    /// The nearest changes of the law below and above its equilibrium, up to a factor `farthest` away from it; and its
    /// equilibrium, a backlog in packets if the law is a curve (true), else a p. None for a network.
    pub fn slope_changes(&self, farthest: f64) -> Option<(Vec<SlopeChange>, f64, bool)> {
        let equilibrium = self.equilibrium.as_ref().filter(|_| !self.loops.is_empty())?;
        let around = Place { own: self.own.as_ref(), setting: &self.setting, equilibrium }.around();
        let at = if around.is_curve { around.at.backlog } else { around.at.p };
        Some((around.steps(farthest), at, around.is_curve))
    }
}

/// Warnings of a link of a network.
fn of_link(certificate: &Certificate, link: &OfLink) -> Vec<String> {
    let own = link.of.and_then(|number| certificate.loops.get(number));
    let mut found = small_margins(own.filter(|_| certificate.verdict == Verdict::Stable));
    found.extend(aliases(link, own));
    let OfLink { own, stem, setting, equilibrium, .. } = link;
    let own = own.as_ref();
    found.extend(Place { own, setting, equilibrium }.warnings(stem));
    found.extend(small_windows(setting, equilibrium));
    found.extend(drops_for_marks(setting, equilibrium));
    found.extend(windows_alone(setting, equilibrium));
    found.into_iter().map(|sentence| format!("{}: {sentence}", link.setting.name)).collect()
}

/// Acknowledgments among the data of a congested link: data in both directions.
fn acknowledgments(certificate: &Certificate, joint: &Joint) -> Option<String> {
    let name = |link: &OfLink| link.setting.name.clone();
    let mixed: Vec<String> =
        joint.links.iter().map(name).filter(|name| certificate.net.carries_acknowledgments(name)).collect();
    (!mixed.is_empty()).then(|| {
        format!(
            "Acknowledgments wait among the data of {}: packets bunch them (ACK compression; Zhang, Shenker and Clark, SIGCOMM \
             1991), which the theory lacks.",
            words::listed(&mixed)
        )
    })
}

/// A law that samples its link seldom: aliases are neglected in a network.
fn aliases(link: &OfLink, own: Option<&Assessed>) -> Option<String> {
    let margins = own?.margins.as_ref()?;
    let gains = margins.gain_crossovers.iter().map(|at| at.frequency);
    let up = margins.gain_up();
    let phases = margins.phase_crossovers.iter().filter(|at| Some(at.gain_margin) == up);
    let highest = gains.chain(phases.map(|at| at.frequency)).fold(0.0, f64::max);
    let turned = highest * link.period?;
    (turned > SELDOM).then(|| {
        let samples = words::short(std::f64::consts::TAU / turned);
        format!("The law runs {samples} times in a period of the crossover: its neglected aliases may be 1 % of the loop.")
    })
}

/// A law at its link.
#[derive(Clone, Copy)]
struct Place<'a> {
    own: &'a (dyn Law + 'static),
    setting: &'a Setting,
    equilibrium: &'a Equilibrium,
}

impl<'a> Place<'a> {
    /// Steps of the gain.
    fn warnings(self, stem: &str) -> Vec<String> {
        let around = self.around();
        let mut found: Vec<String> =
            around.steps(FARTHEST).iter().map(|step| around.sentence(step, stem)).collect();
        found.dedup();
        found
    }

    fn around(self) -> Around<'a> {
        let law = self.own.analysis();
        Around {
            place: self,
            at: operating_point(self.setting, self.equilibrium),
            is_curve: law.steady_state_p(0.0).is_some(),
            marks: self.setting.link.can_mark() && law.marks_at(Prob::clamped(self.equilibrium.p)),
        }
    }
}

/// Margins of a stable loop; those of an unstable one are not warned of.
fn small_margins(judged: Option<&Assessed>) -> Vec<String> {
    let stable = judged.filter(|judged| judged.verdict() == Verdict::Stable);
    let Some(margins) = stable.and_then(|judged| judged.margins.as_ref()) else { return Vec::new() };
    let degrees = |at: Option<GainCrossover>, of: fn(&GainCrossover) -> f64| {
        at.as_ref().map(of).map(f64::to_degrees).filter(|degrees| *degrees < LEAST_PHASE)
    };
    let sentence = |margin: &str, value: f64, least: &str| {
        format!(
            "The {margin} of {} is small: below {least} a change of load may make the loop unstable.",
            words::short(value)
        )
    };
    let lag = degrees(margins.lag(), GainCrossover::lag);
    let lead = degrees(margins.lead(), GainCrossover::lead);
    let up = margins.gain_up().filter(|gain| *gain < LEAST_GAIN);
    let down = margins.gain_down().filter(|gain| *gain > 1.0 / LEAST_GAIN);
    let phase = |margin: &str, value: f64| sentence(margin, value, "30 degrees");
    let found = [
        lag.map(|value| phase("phase margin (degrees of lag)", value)),
        lead.map(|value| phase("phase margin (degrees of lead)", value)),
        up.map(|value| sentence("gain margin", value, "2")),
        down.map(|value| sentence("gain margin downwards, 1 over", 1.0 / value, "2")),
    ];
    found.into_iter().flatten().collect()
}

/// Windows of a class that are too small for linear theory.
fn small_windows(setting: &Setting, equilibrium: &Equilibrium) -> Option<String> {
    let windows = equilibrium.windows.iter().copied().enumerate();
    let (place, window) = windows.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    (window < LEAST_WINDOW).then(|| {
        format!(
            "The windows of {} are {} packets: below {LEAST_WINDOW} timeouts and single packets rule.",
            setting.class(place),
            words::short(window)
        )
    })
}

/// Windows with the response to marks at a law that drops there: above some p, or always.
fn drops_for_marks(setting: &Setting, equilibrium: &Equilibrium) -> Option<String> {
    let link = &setting.link;
    if link.signal_at(equilibrium.p, equilibrium.backlog) == Signal::Mark {
        return None;
    }
    let responds_to_marks = |class: &Class| {
        let of_marks = |response: &Response| response.rules().reaction == Reaction::Mark;
        class.ecn && matches!(class.law, Window::Calibrated(response) if of_marks(response))
    };
    let place = link.classes.iter().position(responds_to_marks)?;
    Some(format!(
        "The law drops at this p, and the windows of {} have the response to marks: senders repair a loss, and DCTCP halves its \
         window at one.",
        setting.class(place)
    ))
}

/// Limits that the noise of a stable loop reaches: of the queue, of p, and of the law.
fn limits(noise: &Noise, setting: &Setting, (equilibrium, stem): (&Equilibrium, &str)) -> Vec<String> {
    let moved = |sd: f64, unit: &str| {
        let by = words::short(sd);
        format!(
            "random signals of {} move it by {by}{unit} (one standard deviation)",
            words::count(setting.flows(), "flow")
        )
    };
    let (often, p) = (beyond_limit(), equilibrium.p);
    let queue = [(noise.empty, "an empty"), (noise.full, "a full")];
    let queue = queue.into_iter().find(|(probability, _)| *probability > often).map(|(_, which)| {
        let backlog = words::short(equilibrium.backlog);
        let moved = moved(noise.queue_sd, " packets");
        format!("The equilibrium backlog of {backlog} packets is within the noise of {which} queue: {moved}.")
    });
    let of_p = [(noise.p_below, "0"), (noise.p_above, "its greatest value")];
    let of_p = of_p.into_iter().find(|(probability, _)| *probability > often).map(|(_, which)| {
        let moved = moved(noise.p_sd, "");
        format!("p = {} is within the noise of {which}, where {stem} stops: {moved}.", words::short(p))
    });
    let of_law = noise.limited.filter(|(_, probability)| *probability > often).map(|(name, probability)| {
        let share = words::percent(probability);
        format!("Noise takes {name} of {stem} beyond its limits {share} of the time, where the loop is another one.")
    });
    [queue, of_p, of_law].into_iter().flatten().collect()
}

/// Probability that a normal variable is more than [`TIMES`] standard deviations above its mean.
fn beyond_limit() -> f64 {
    0.5 * math::erfc(TIMES * std::f64::consts::FRAC_1_SQRT_2)
}

/// Equation (1), against an empty and a full queue.
fn windows_alone(setting: &Setting, equilibrium: &Equilibrium) -> Option<String> {
    let states = equilibrium.windows.iter().zip(&equilibrium.rtts);
    let variance: f64 = setting
        .link
        .classes
        .iter()
        .zip(states)
        .map(|(class, (window, rtt))| {
            let swing = class.size * class.window_sd(*window, *rtt);
            class.flows * swing * swing
        })
        .sum();
    let (sigma, full) = (variance.sqrt(), setting.context.limit);
    let near = [(equilibrium.backlog, "an empty"), (full - equilibrium.backlog, "a full")];
    let (_, which) = near.into_iter().find(|(room, _)| *room < TIMES * sigma)?;
    Some(format!(
        "The equilibrium backlog of {} packets is within the noise of {which} queue: the windows of {} alone move it by {} \
         packets (one standard deviation).",
        words::short(equilibrium.backlog),
        words::count(setting.flows(), "flow"),
        words::short(sigma)
    ))
}

/// A law near its equilibrium.
struct Around<'a> {
    place: Place<'a>,
    at: OperatingPoint,
    /// True if the law is a curve.
    is_curve: bool,
    /// True if it marks at its equilibrium.
    marks: bool,
}

/// Behaviour of a law at a point near its equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
struct There {
    /// The largest coefficient of its transfer function; none where it declares none.
    gain: Option<f64>,
    marks: bool,
}

impl Around<'_> {
    /// The nearest steps of the gain on either side, up to a factor.
    fn steps(&self, farthest: f64) -> Vec<SlopeChange> {
        [1.0 / farthest, farthest].into_iter().filter_map(|end| self.step(end)).collect()
    }

    /// The nearest step between the equilibrium and `end` times its p, or its backlog where the law is a curve.
    fn step(&self, end: f64) -> Option<SlopeChange> {
        let octaves = (math::ln(end) / math::ln(2.0)).abs();
        let places = (f64::from(PLACES) * octaves).ceil().max(1.0);
        let place = |step: u32| math::pow(end, f64::from(step) / places);
        let at = |factor: f64| self.there(factor);
        let pair = (0..places as u32).map(|step| [place(step), place(step + 1)]);
        let (mut near, mut far) =
            pair.map(|[near, far]| (near, far)).find(|(near, far)| at(*near).is_off(at(*far)))?;
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(near, far);
            if at(near).is_off(at(middle)) { far = middle } else { near = middle }
        }
        // A gain that changes continuously has no step.
        let (before, beyond) = (at(near), at(far));
        let gain = before.gain.zip(beyond.gain).map(|(near, far)| far / near);
        let step = SlopeChange { factor: far, gain, marks: beyond.marks, before, beyond };
        before.is_off(beyond).then_some(step)
    }

    fn there(&self, factor: f64) -> There {
        // A copy for each point: a custom law that has failed is not called again.
        let law = dyn_clone::clone_box(self.place.own);
        let equilibrium = if self.is_curve {
            let backlog = self.at.backlog * factor;
            let Some(p) = law.analysis().steady_state_p(backlog) else {
                return There { gain: None, marks: self.marks };
            };
            OperatingPoint { p: p.get(), backlog, ..self.at }
        } else {
            OperatingPoint { p: Prob::clamped(self.at.p * factor).get(), ..self.at }
        };
        let ecn = self.place.setting.link.can_mark();
        There {
            gain: law.analysis().linear(&equilibrium).as_ref().and_then(gain),
            marks: ecn && law.analysis().marks_at(Prob::clamped(equilibrium.p)),
        }
    }

    fn sentence(&self, step: &SlopeChange, stem: &str) -> String {
        let SlopeChange { factor, before: near, beyond: far, .. } = *step;
        let way = if factor > 1.0 { "above" } else { "below" };
        let away = words::percent((factor - 1.0).abs());
        let curve = self.is_curve;
        let (equilibrium, unit) = if curve { (self.at.backlog, " packets") } else { (self.at.p, "") };
        let about = if curve { "" } else { "p = " };
        let [there, here] =
            [equilibrium * factor, equilibrium].map(|value| format!("{about}{}{unit}", words::short(value)));
        let change = match (near.gain, far.gain) {
            (Some(near), Some(far)) if (near / far - 1.0).abs() > 1e-9 => {
                format!("the gain of {stem} is {} times as large {way} {there}", words::short(far / near))
            }
            (Some(_), None) => format!("{stem} declares no transfer function {way} {there}"),
            _ if far.marks => format!("{stem} marks {way} {there}, and drops here"),
            _ => format!("{stem} drops {way} {there}, and marks here"),
        };
        format!("The loop changes near its equilibrium: {change}, {away} {way} its equilibrium of {here}.")
    }
}

impl There {
    /// True if the law differs at the other point.
    fn is_off(self, other: There) -> bool {
        let jumps = match (self.gain, other.gain) {
            (Some(one), Some(other)) => math::ln(one / other).abs() > math::ln(STEP),
            (one, other) => one.is_some() != other.is_some(),
        };
        jumps || self.marks != other.marks
    }
}

/// Size of a law's transfer function.
fn gain(of: &Linear) -> Option<f64> {
    let transfer: &Rational = match (&of.sampled, &of.continuous) {
        (Some(law), _) => &law.transfer,
        (None, Some(law)) => law,
        (None, None) => return None,
    };
    let largest = |of: &[f64]| of.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    Some(largest(&transfer.numerator) / largest(&transfer.denominator))
}

/// Margins below which a certificate is weak: degrees, and a factor.
const LEAST_PHASE: f64 = 30.0;
const LEAST_GAIN: f64 = 2.0;
/// Angle between two samples at a crossover, rad, above which aliases of a plant that falls with frequency may be 1 %: they
/// are its square relative to that of a whole turn.
const SELDOM: f64 = 0.6;
/// Least window of linear theory, packets.
const LEAST_WINDOW: f64 = 3.0;
/// Standard deviations.
const TIMES: f64 = 2.0;
/// Farthest point of a warning, relative to the law's p or backlog, points in an octave, and bisections.
const FARTHEST: f64 = 2.0;
const PLACES: u32 = 64;
const HALVINGS: u32 = 50;
/// Least step of a gain.
const STEP: f64 = 1.1;
