//! Margins of a law over a continuous box of N and base RTTs T, by interval bounds.
//!
//! One class of calibrated windows that fills its link under marks is exactly the plant (`linear/clocked.rs`,
//! [`crate::response`])
//!
//! ```text
//! P = -K e^(-s d) S(-js) / (s + a),  K = C G / (W p),  a = e G / (W R),  d = (1 + r) R           (1)
//! S(w) = sin(w h) / (w h),  h = r R
//! W = R C / N,  R = T + q / C;  a law that sees sojourns adds q / C to d
//! ```
//!
//! and behind the hold of a sampled law, with nu = w + k w_T of each alias k,
//!
//! ```text
//! |P_T| = K |sin(w T_s / 2) / (w T_s / 2)| / |jw + a| |S(w) + A|                                 (2)
//! arg P_T = pi - w (d + T_s / 2) - atan(w / a) + arg(S(w) + A)
//! A = sum over k != 0 of w (jw + a) / (nu (jnu + a)) e^(-j k w_T d) S(nu)                        (3)
//! |A| <= w |jw + a| sum of 1 / nu^2 = w |jw + a| ((T_s / 2)^2 / sin^2(w T_s / 2) - 1 / w^2)          (4)
//! ```
//!
//! All but S + A is monotone in each of K, a, d and w; S + A is in a ball around its value in the middle, as |S| <= 1 and
//! |S'| <= h / 2. A loop that is stable at one point of a connected box, and that at no point and no frequency is on the arc
//! -e^(j phi), 0 <= phi <= m, or between -1 and -1 / k, is stable with a phase margin of m and a gain margin of k at all of
//! them (zero exclusion: B. R. Barmish, "New Tools for Robustness of Linear Systems", 1994, chapter 7). Parts of the box and
//! of the frequencies for which the bounds do not exclude both are halved.

use super::{Request, Setting, link_law, shares_its_link};
use crate::interval::Interval;
use crate::linear::complex::{Complex64, angle, exp, one_minus_exp, polynomial, size};
use crate::linear::sampled::about_one;
use crate::plant::Window;
use crate::response::Response;
use sojourn_aqm::linear::{InSamples, OperatingPoint, Signal};
use sojourn_aqm::{Law, Network};
use sojourn_params::{ErrorKind, InputError};
use sojourn_units::{Prob, math};
use std::f64::consts::PI;
use std::rc::Rc;

/// What is claimed of a law over a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// Least and greatest N.
    pub flows: [f64; 2],
    /// Shortest and longest base RTT, s.
    pub base_rtt: [f64; 2],
    /// Least window, packets: points with smaller ones do not count.
    pub least_window: f64,
    /// m, rad.
    pub phase_margin: f64,
    /// k.
    pub gain_margin: f64,
    /// Parts of the box and of the frequencies that may be examined.
    pub parts: u64,
}

/// What the bounds show of a claim on a loop that is stable at one point of the box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown {
    /// It holds throughout.
    Holds {
        /// Parts examined.
        parts: u64,
        /// True if gains follow p: they are taken as monotone in p within a part.
        follows: bool,
    },
    /// The parts ran out.
    Open {
        /// N and T, s, in the middle of the part that was examined last.
        at: [f64; 2],
    },
    /// Such a law or plant has no such bounds, for this reason.
    Uncovered(&'static str),
}

/// Examines a claim.
pub fn examine(request: &Request<'_>, claim: &Claim) -> Result<Shown, InputError> {
    let setting = Setting::of(request.scenario, request.link)?;
    if shares_its_link(request, &setting) {
        let problem = "its queues share the link";
        return Err(InputError::new(ErrorKind::Conflict, problem, "a law alone").at(&setting.name));
    }
    let law = link_law(request, &setting)?.law;
    let shown = Loops::new(&setting, law).and_then(|loops| loops.examined(claim));
    Ok(shown.unwrap_or_else(Shown::Uncovered))
}

/// Loops of a law over a box.
struct Loops {
    /// C, packets/s.
    capacity: f64,
    /// q, packets.
    backlog: f64,
    response: &'static Response,
    law: Box<dyn Law>,
}

/// N, and base RTTs, s.
#[derive(Clone, Copy)]
struct Area {
    flows: Interval,
    rtts: Interval,
}

/// The loops of an area.
struct Part {
    area: Area,
    /// K, packets/s, a, 1/s, and d and h, s.
    gain: Interval,
    rate: Interval,
    delay: Interval,
    half: Interval,
    /// Numerator and denominator of the law in powers of 1 - z^-1.
    law: [Vec<Interval>; 2],
    /// T_s.
    period: f64,
}

/// Sizes and angles of L; no angle: any.
struct Polar {
    size: Interval,
    angle: Option<Interval>,
}

impl Loops {
    fn new(setting: &Setting, law: Box<dyn Law>) -> Result<Loops, &'static str> {
        let [class] = setting.link.classes.as_slice() else { return Err("there are several classes") };
        let Window::Calibrated(response) = class.law else { return Err("the windows are not calibrated") };
        if !class.ecn || class.loss > 0.0 || class.size != 1.0 || setting.link.unresponsive != [0.0; 2] {
            return Err("packets are dropped");
        }
        let analysis = law.analysis();
        let target = analysis.target_packets().filter(|_| analysis.steady_state_p(0.0).is_none());
        let backlog = target.ok_or("the law has no target")?;
        Ok(Loops { capacity: setting.link.capacity, backlog, response, law })
    }

    /// Halves what is undecided, depth first.
    fn examined(&self, claim: &Claim) -> Result<Shown, &'static str> {
        let whole = Area { flows: Interval::of(claim.flows), rtts: Interval::of(claim.base_rtt) };
        let part = self.part(whole, claim)?.ok_or("the windows are too small")?;
        let mut follows = part.follows();
        let band = part.band().ok_or("the law does not integrate")?;
        let mut waiting = vec![(Rc::new(part), band)];
        let mut parts = 0;
        while let Some((part, band)) = waiting.pop() {
            parts += 1;
            if part.at(band).is_clear(claim) {
                continue;
            }
            if parts >= claim.parts {
                return Ok(Shown::Open { at: [part.area.flows.middle(), part.area.rtts.middle()] });
            }
            let Some(halves) = part.halves(band) else {
                waiting.extend(band.halves().map(|half| (Rc::clone(&part), half)));
                continue;
            };
            for area in halves {
                let half = self.part(area, claim)?;
                follows |= half.as_ref().is_some_and(Part::follows);
                waiting.extend(half.map(|half| (Rc::new(half), band)));
            }
        }
        Ok(Shown::Holds { parts, follows })
    }

    /// Equation (1) and the law over an area; None: its windows are too small.
    fn part(&self, area: Area, claim: &Claim) -> Result<Option<Part>, &'static str> {
        let wait = self.backlog / self.capacity;
        let rtts = area.rtts.plus(wait);
        let windows = rtts.over(area.flows).scaled(self.capacity);
        if windows.high < claim.least_window {
            return Ok(None);
        }
        let windows = Interval { low: windows.low.max(claim.least_window), ..windows };
        let of = self.response.over(windows).ok_or("the windows depend on more than p")?;
        // p rises with N and falls with R.
        let fewest = self.law_at(of.signals.low, [area.flows.low, rtts.high])?;
        let most = self.law_at(of.signals.high, [area.flows.high, rtts.low])?;
        let law = [
            hull(&fewest.0.transfer.numerator, &most.0.transfer.numerator)?,
            hull(&fewest.0.transfer.denominator, &most.0.transfer.denominator)?,
        ];
        Ok(Some(Part {
            area,
            gain: of.growth.over(of.load).scaled(self.capacity),
            rate: of.elasticity.times(of.growth).over(windows).over(rtts),
            delay: rtts.times(of.half_span.plus(1.0)).plus(if fewest.1 { wait } else { 0.0 }),
            half: rtts.times(of.half_span),
            law,
            period: fewest.0.period.seconds(),
        }))
    }

    /// The sampled law at p, N and R, and true if it sees sojourns.
    fn law_at(&self, p: f64, [flows, rtt]: [f64; 2]) -> Result<(InSamples, bool), &'static str> {
        let (analysis, prob) = (self.law.analysis(), Prob::clamped(p));
        if !analysis.marks_at(prob) {
            return Err("the law drops at some p");
        }
        if p >= analysis.bounds().most_p || self.backlog <= analysis.bounds().spared {
            return Err("the law does not reach some p");
        }
        if analysis.equilibrium_backlog(prob, Signal::Mark) != Some(self.backlog) {
            return Err("the equilibrium is beside the target");
        }
        let network = Network { flows, capacity: self.capacity, rtt };
        let point = OperatingPoint { p, signal: Signal::Mark, backlog: self.backlog, network };
        let linear = analysis.linear(&point).ok_or("the law declares no transfer function")?;
        let sampled = linear.sampled.ok_or("the law is not sampled")?;
        Ok((sampled, linear.sees_sojourn))
    }
}

impl Part {
    /// True if the law is another one elsewhere in the area.
    fn follows(&self) -> bool {
        self.law.iter().flatten().any(|range| range.low < range.high)
    }

    /// Frequencies up to pi / T_s, from one on up to which |L| > 1; None: there is none.
    fn band(&self) -> Option<Interval> {
        let high = PI / self.period;
        // Up to the first zero of S.
        let lows =
            (1..LOWEST).map(|place| high * math::pow_int(0.5, place)).filter(|w| w * self.half.high < PI);
        lows.map(|low| Interval { low, high }).find(|band| self.is_above_one_up_to(band.low))
    }

    /// True if |L| > 1 at all frequencies up to this one. S and the other factors of (2) fall with the frequency, and the bound
    /// (4) of the aliases rises.
    fn is_above_one_up_to(&self, frequency: f64) -> bool {
        let most = 2.0 * math::sin_cos(frequency * self.period / 2.0).0;
        let [above, below] = &self.law;
        let sum = |of: &[Interval]| of.iter().rev().fold(0.0, |sum, range| sum * most + range.size());
        let (least, most) = (above[0].low - most * sum(&above[1..]), sum(below));
        let apart =
            sinc(frequency * self.half.high) - self.most_aliases(Interval::of([frequency, frequency]));
        let plant = self.gain.low * self.held(frequency) / math::hypot(frequency, self.rate.high) * apart;
        least > 0.0 && least * plant > most
    }

    /// L over a band, equation (2).
    fn at(&self, band: Interval) -> Polar {
        let plant = self.plant(band);
        let [above, below] = [0, 1].map(|part| self.law_over(&self.law[part], band));
        let (Some(above_angle), Some(below_angle), Some(angle)) = (above.angle, below.angle, plant.angle)
        else {
            let high = if below.size.low > 0.0 { above.size.high / below.size.low } else { f64::INFINITY };
            let size = Interval::of([above.size.low / below.size.high, high]).times(plant.size);
            return Polar { size, angle: None };
        };
        let size = above.size.over(below.size).times(plant.size);
        let [low, high] = [above_angle.low - below_angle.high, above_angle.high - below_angle.low];
        Polar { size, angle: Some(Interval::of([angle.low + low, angle.high + high])) }
    }

    /// -P_T.
    fn plant(&self, band: Interval) -> Polar {
        let size = |w: f64, gain: f64, rate: f64| gain * self.held(w) / math::hypot(w, rate);
        let lag = |w: f64, delay: f64, rate: f64| w * (delay + self.period / 2.0) + math::atan2(w, rate);
        let aliases = self.aliases(band);
        let size = Interval::of([
            size(band.high, self.gain.low, self.rate.high),
            size(band.low, self.gain.high, self.rate.low),
        ]);
        let lags = Interval::of([
            -lag(band.high, self.delay.high, self.rate.low),
            -lag(band.low, self.delay.low, self.rate.high),
        ]);
        let angle = aliases.angle.map(|by| Interval::of([lags.low + by.low, lags.high + by.high]));
        Polar { size: size.times(aliases.size), angle }
    }

    /// Size of the hold.
    fn held(&self, w: f64) -> f64 {
        sinc(w * self.period / 2.0)
    }

    /// Factor of the bound (4) before its sum.
    fn front(&self, band: Interval) -> f64 {
        band.high * math::hypot(band.high, self.rate.high)
    }

    /// The bound (4) of |A|.
    fn most_aliases(&self, band: Interval) -> f64 {
        let (half, w) = (self.period / 2.0, band.high);
        let squares = math::pow_int(half / math::sin_cos(w * half).0, 2) - 1.0 / (w * w);
        (self.front(band) * squares).max(0.0)
    }

    /// S + A, equation (3).
    fn aliases(&self, band: Interval) -> Polar {
        let half = self.period / 2.0;
        let (front, all) = (self.front(band), self.most_aliases(band));
        let (w, a, d) = (band.middle(), self.rate.middle(), self.delay.middle());
        let sinc_at = |w: f64| sinc(w * self.half.middle());
        let moved_sinc = |w: f64| 0.5 * (band.radius() * self.half.high + w.abs() * self.half.radius());
        let own = Complex64::new(sinc_at(w), 0.0);
        if all < FEW {
            return Polar::ball(own, all + moved_sinc(w));
        }
        let (of_middle, of_least) = (w * Complex64::new(a, w), math::hypot(band.low, self.rate.low));
        let mut sum = own;
        // Those beyond the last one that is summed, where |nu| >= (|k| - 1/2) w_T.
        let mut radius = moved_sinc(w) + front * 2.0 / f64::from(ALIASES) * math::pow_int(half / PI, 2);
        for k in (1..=ALIASES).flat_map(|k| [k, -k]) {
            let away = f64::from(k) * PI / half;
            let (nu, nearest) = (w + away, (band.low + away).abs().min((band.high + away).abs()));
            let alias = of_middle / (nu * Complex64::new(a, nu)) * exp(Complex64::new(0.0, -away * d));
            let moved = band.radius() * (1.0 / band.low + 1.0 / of_least + 2.0 / nearest)
                + self.rate.radius() * (1.0 / of_least + 1.0 / nearest)
                + self.delay.radius() * away.abs();
            let most = front / (nearest * nearest) + size(alias);
            // |e^x - 1| <= e^|x| - 1.
            let near = size(alias) * (math::exp_m1(moved) + moved_sinc(nu).min(2.0));
            radius += if moved < 1.0 { most.min(near) } else { most };
            sum += alias * sinc_at(nu);
        }
        Polar::ball(sum, radius)
    }

    /// A polynomial of the law: a ball around its value in the middle.
    fn law_over(&self, of: &[Interval], band: Interval) -> Polar {
        let middles: Vec<f64> = of.iter().map(|range| range.middle()).collect();
        let centre = polynomial(&middles, one_minus_exp(Complex64::new(0.0, -band.middle() * self.period)));
        let most = 2.0 * math::sin_cos(band.high * self.period / 2.0).0;
        let off = of.iter().rev().fold(0.0, |sum, range| sum * most + range.radius());
        let slope = (1..of.len()).rev().fold(0.0, |sum, order| sum * most + order as f64 * of[order].size());
        Polar::ball(centre, off + band.radius() * self.period * slope)
    }

    /// Halves of the area, along the axis that moves L most; None: the frequency does.
    fn halves(&self, band: Interval) -> Option<[Area; 2]> {
        let Area { flows, rtts } = self.area;
        let turn = 1.0 + band.high * self.delay.high;
        let [by_band, by_rtts, by_flows] =
            [band.spread() * turn, rtts.spread() * (2.0 + turn), flows.spread() * 3.0];
        if by_band >= by_rtts.max(by_flows) {
            return None;
        }
        Some(if by_rtts >= by_flows {
            rtts.halves().map(|rtts| Area { flows, rtts })
        } else {
            flows.halves().map(|flows| Area { flows, rtts })
        })
    }
}

impl Polar {
    /// That of a ball around a number.
    fn ball(centre: Complex64, radius: f64) -> Polar {
        let at = size(centre);
        let angle = (radius < at).then(|| {
            let wide = math::atan2(radius, (at * at - radius * radius).sqrt());
            Interval::of([angle(centre) - wide, angle(centre) + wide])
        });
        Polar { size: Interval::of([(at - radius).max(0.0), at + radius]), angle }
    }

    /// True if no value lacks a margin of the claim.
    fn is_clear(&self, claim: &Claim) -> bool {
        let Interval { low, high } = self.size;
        if low > 1.0 || high * claim.gain_margin < 1.0 {
            return true;
        }
        let Some(angle) = self.angle else { return false };
        // From -180 degrees on, within a turn.
        let from = (angle.low + PI) / (2.0 * PI);
        let from = (from - from.floor()) * 2.0 * PI;
        let is_before_the_next = from + (angle.high - angle.low) < 2.0 * PI;
        is_before_the_next && (from > claim.phase_margin || (high < 1.0 && from > 0.0))
    }
}

/// sin(x) / x.
fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { math::sin_cos(x).0 / x }
}

/// Coefficients in powers of 1 - z^-1 between those of two laws.
fn hull(one: &[f64], other: &[f64]) -> Result<Vec<Interval>, &'static str> {
    let [one, other] = [about_one(one), about_one(other)];
    if one.len() != other.len() {
        return Err("the law changes its order");
    }
    Ok(one.into_iter().zip(other).map(|(one, other)| Interval::around(&[one, other])).collect())
}

/// Aliases that are summed on each side, unless all of them together are few.
const ALIASES: i32 = 16;
const FEW: f64 = 1e-4;
/// Halvings of pi / T_s down to a frequency up to which |L| > 1.
const LOWEST: u64 = 120;
