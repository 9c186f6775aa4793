//! The linearised model and the sampled-data loop, each against an independent derivation.

use crate::designs::{hollot, pi};
use sojourn_aqm::Network;
use sojourn_aqm::laws::pi as law;
use sojourn_aqm::linear::{InSamples, Rational};
use sojourn_fluid::linear::aliases::{AliasPoint, Aliases, aliases};
use sojourn_fluid::linear::bound::{Bound, Outside};
use sojourn_fluid::linear::complex::{Complex64, exp, mean_exp, size};
use sojourn_fluid::linear::equilibrium::{Class, Link, NoEquilibrium, Signal};
use sojourn_fluid::linear::loops::{Continuous, Fraction, Loop};
use sojourn_fluid::linear::margins::Margins;
use sojourn_fluid::linear::meter::{Meter, Metered};
use sojourn_fluid::linear::noise::Signals;
use sojourn_fluid::linear::plant::{Exact, Hollot, Lag, LinearPlant, Response};
use sojourn_fluid::linear::sampled::Sampled;
use sojourn_fluid::linear::{nyquist, poles};
use sojourn_fluid::plant::Window;
use sojourn_fluid::response::{self, Control, Rules};
use sojourn_units::Span;
use std::sync::Arc;

fn class(flows: f64, law: Window) -> Class {
    Class { flows, base_rtt: 0.2, size: 1.0, ecn: true, law, loss: 0.0 }
}

/// The window model of NewReno's rules with ECN and delayed ACKs.
pub(crate) fn calibrated() -> Window {
    Window::Calibrated(response::Response::of(Rules { per_ack: 2, ..Rules::default() }))
}

/// Those of the other congestion controls: CUBIC, Scalable TCP and DCTCP.
fn others() -> [Window; 3] {
    let cubic = Control::Cubic { keeps: 0.7, fast_convergence: true };
    let scalable = Control::Scalable { increase: 0.01, decrease: 0.125, low: 16.0 };
    [cubic, scalable, Control::Dctcp { weight: 0.0625 }]
        .map(|control| Window::Calibrated(response::Response::of(Rules { control, ..Rules::default() })))
}

fn link(signal: Signal, classes: Vec<Class>) -> Link {
    Link { capacity: 3750.0, signal, unresponsive: [0.0; 2], classes }
}

fn value(plant: &dyn LinearPlant, s: Complex64) -> [Complex64; 2] {
    let at = plant.at(s);
    [at.backlog / at.below, at.flight / at.below]
}

fn near(ours: Complex64, other: Complex64) -> bool {
    size(ours - other) < 1e-10 * size(other)
}

/// One class of marks, by Cramer's rule on the two equations as they are printed.
#[test]
fn one_class_is_the_two_equations() {
    let link = link(Signal::Mark, vec![class(60.0, Window::Mgt)]);
    let equilibrium = link.at_backlog(172.5).unwrap();
    let (w, r, c, n) = (equilibrium.windows[0], equilibrium.rtts[0], 3750.0, 60.0);
    assert!(
        (w - 15.375).abs() < 1e-12
            && (w * w * equilibrium.p - 2.0).abs() < 1e-12
            && (r - 0.246).abs() < 1e-15
    );
    let plant = Exact::new(&link, &equilibrium);
    for s in [Complex64::new(0.3, 2.0), Complex64::new(0.0, 0.5), Complex64::new(-1.0, 9.0)] {
        let d = exp(-s * r);
        let own = s + (1.0 + d) / (w * r);
        let slow = (1.0 - d) / (c * r * r);
        let below = own * (s + n * w / (c * r * r)) + slow * n / r;
        let [backlog, flight] = value(&plant, s);
        assert!(near(backlog, -d * (w * w / (2.0 * r)) * (n / r) / below), "{s}");
        let windows = (-d * (w * w / (2.0 * r)) - slow * backlog) / own;
        assert!(near(flight, windows * n), "{s}");
    }
}

/// Two identical classes equal one of both.
#[test]
fn classes_add() {
    for signal in [Signal::Mark, Signal::Drop] {
        for law in [Window::Mgt, Window::Full, calibrated()].into_iter().chain(others()) {
            let [one, two] = [vec![class(60.0, law)], vec![class(20.0, law), class(40.0, law)]]
                .map(|classes| link(signal, classes))
                .map(|link| Exact::new(&link, &link.at_backlog(172.5).unwrap()));
            let s = Complex64::new(0.1, 3.0);
            let ([backlog, flight], [other, others]) = (value(&one, s), value(&two, s));
            assert!(near(backlog, other) && near(flight, others), "{signal:?} {law:?}");
        }
    }
}

/// At low frequencies a plant is the slope of the equilibrium: dq/dp of (2), by differences.
#[test]
fn at_frequency_0_the_plant_is_the_slope_of_the_equilibrium() {
    for (signal, ecn) in [(Signal::Mark, true), (Signal::Mark, false), (Signal::Drop, true)] {
        for law in [Window::Mgt, Window::Full, calibrated()].into_iter().chain(others()) {
            let lossy = Class { base_rtt: 0.05, size: 0.5, loss: 0.004, ecn, ..class(10.0, law) };
            let classes = vec![class(40.0, law), lossy];
            let link = Link { unresponsive: [250.0, 150.0], ..link(signal, classes) };
            let equilibrium = link.at_backlog(150.0).unwrap();
            let slope = {
                let backlog = |p: f64| link.on_curve(&|_| p).unwrap().backlog;
                let step = 1e-5 * equilibrium.p;
                (backlog(equilibrium.p + step) - backlog(equilibrium.p - step)) / (2.0 * step)
            };
            let [dc, _] = value(&Exact::new(&link, &equilibrium), Complex64::new(0.0, 0.0));
            assert!((dc.re / slope - 1.0).abs() < 1e-6, "{signal:?} {law:?}: {dc} {slope}");
        }
    }
}

#[test]
fn a_missing_equilibrium_has_its_inequality() {
    let message = |link: &Link| link.at_backlog(100.0).unwrap_err().to_string();
    assert_eq!(message(&link(Signal::Mark, vec![])), "no responsive flows; expected more than 0");
    // mgt marks hold N sqrt 2 / R <= C only.
    let rtt = 0.2 + 100.0 / 3750.0;
    let most = rtt * 3750.0 / 2.0f64.sqrt();
    assert!(link(Signal::Mark, vec![class(most * 0.9999, Window::Mgt)]).at_backlog(100.0).is_ok());
    let error = link(Signal::Mark, vec![class(most * 1.0001, Window::Mgt)]).at_backlog(100.0);
    assert!(matches!(error, Err(NoEquilibrium::Overload { .. })));
    let error = link(Signal::Mark, vec![class(most * 1.5, Window::Full)]).at_backlog(100.0);
    assert!(matches!(error, Err(NoEquilibrium::Window { window, class: 0 }) if window < 1.0), "{error:?}");
    let lossy = link(Signal::Mark, vec![Class { loss: 0.02, ..class(60.0, Window::Mgt) }]);
    assert_eq!(
        message(&lossy),
        "2647.058824 packets/s arrive even at p = 0, since links lose packets too; expected more than the link's \
         3750.000000 packets/s"
    );
    let flooded = Link { unresponsive: [4000.0, 0.0], ..link(Signal::Mark, vec![class(1.0, Window::Mgt)]) };
    assert_eq!(
        message(&flooded),
        "4000.000000 packets/s do not respond to marks; expected below the link's 3750.000000 packets/s"
    );
    let idle = link(Signal::Mark, vec![class(1.0, Window::Mgt)]).on_curve(&|_| 0.1).unwrap_err();
    assert!(matches!(idle, NoEquilibrium::Underload { .. }));
}

fn aliases_of(
    of: &dyn Fn(Complex64) -> Complex64,
    bound: impl Fn(f64) -> Option<Bound>,
    point: AliasPoint,
) -> Option<Aliases> {
    let away = |k: u32| Complex64::new(0.0, 2.0 * std::f64::consts::PI / point.period * f64::from(k));
    let pairs = (1..).map(|k| [of(point.s + away(k)), of(point.s - away(k))]);
    aliases(of(point.s), pairs, |_, radius| bound(radius), point)
}

/// The sum over the aliases against partial fractions, and its own bound of the truncation error.
#[test]
fn the_sum_of_aliases_is_the_closed_form() {
    let plant = Hollot::new(hollot(0.246));
    for period in [1.0 / 160.0, 0.05, 0.246, 0.3] {
        for s in [Complex64::new(0.0, 0.5), Complex64::new(0.0, 3.0), Complex64::new(-0.2, 9.0)] {
            let closed: Complex64 = plant.lags().iter().map(|lag| -lag.held(s, period)).sum();
            let left = (-s.re).max(0.0);
            let bound = |radius| Some(plant.bounds(Outside { radius, left })?[1]);
            let sum = aliases_of(
                &|s| value(&plant, s)[0],
                bound,
                AliasPoint { s, period, scale: 0.0, exact: 5e-10 },
            )
            .unwrap();
            let off = size(sum.sum - closed);
            assert!(off <= sum.tail + 1e-12 * size(closed), "{period} {s}: {off} {}", sum.tail);
            assert!(sum.tail < 1e-9 * size(closed), "{period} {s}: {}", sum.tail);
        }
    }
}

/// The same of lags whose delays are a span: shorter and longer than a period, and with both ends in one.
#[test]
fn the_sum_of_aliases_of_a_span_of_delays_is_the_closed_form() {
    for (delay, span) in [(0.246, 0.123), (0.246, 0.004), (0.21, 0.61), (0.2, 0.1)] {
        let lag = Lag::real(700.0, (delay, span), &[0.8, 1.9]);
        let of = |s: Complex64| {
            let late = (exp(-s * delay) - exp(-s * (delay + span))) / (s * span);
            -lag.gain * late / ((s + 0.8) * (s + 1.9))
        };
        for period in [1.0 / 160.0, 0.05, 0.246, 0.3] {
            for s in [Complex64::new(0.0, 0.5), Complex64::new(0.0, 3.0), Complex64::new(-0.2, 9.0)] {
                let closed = -lag.held(s, period);
                let late = sojourn_units::math::exp((-s.re).max(0.0) * (delay + span));
                let bound = |radius: f64| {
                    let rates = Bound::over(0.8, radius)?.with(Bound::over(1.9, radius)?);
                    Some(rates.with(Bound { factor: 2.0 * 700.0 * late / span, power: -1 }))
                };
                let point = AliasPoint { s, period, scale: 0.0, exact: 5e-10 };
                let sum = aliases_of(&of, bound, point).unwrap();
                let off = size(sum.sum - closed);
                assert!(off <= sum.tail + 1e-12 * size(closed), "{delay} {span} {period} {s}: {off}");
            }
        }
    }
}

fn tustin(period: f64) -> InSamples {
    let law::PiGains { a, b } = law::design(hollot(0.246), period);
    let transfer = Rational { numerator: vec![a, -b], denominator: vec![1.0, -1.0] };
    InSamples { transfer, period: Span::from_seconds(period) }
}

/// A fast sampled-data loop is the continuous one half a period later: margins and poles converge to its.
#[test]
fn a_fast_sampled_loop_is_the_continuous_one() {
    let plant = Hollot::new(hollot(0.246));
    let whole = Margins::of(&Continuous::new(plant, pi(hollot(0.246)))).unwrap();
    let slow = poles::rightmost(&Continuous::new(plant, pi(hollot(0.246))), 3).unwrap().poles;
    let mut last = f64::INFINITY;
    for period in [0.02, 0.01, 0.005] {
        let of = Sampled::new(plant, &tustin(period)).unwrap();
        let margins = Margins::of(&of).unwrap();
        // The hold is a delay of T / 2 and Tustin's PI none: the delay margin falls by that.
        let lost = whole.delay().unwrap() - margins.delay().unwrap();
        assert!((lost / (period / 2.0) - 1.0).abs() < 0.02, "{period} {lost}");
        let found = poles::rightmost(&of, 3).unwrap().poles;
        let off = (0..3).map(|i| size(found[i] - slow[i])).fold(0.0, f64::max);
        assert!(off < 0.7 * last, "{period} {found:?}");
        last = off;
        assert_eq!(nyquist::count(&of).unwrap().closed, 0);
    }
}

/// With the gain slightly above the gain margin there are poles on the right, slightly below none; and the poles on
/// the right are as many as the criterion counts.
#[test]
fn the_gain_margin_is_where_poles_cross() {
    let exact = |signal| {
        let link = link(
            signal,
            vec![class(40.0, Window::Mgt), Class { base_rtt: 0.1, ..class(15.0, Window::Full) }],
        );
        Exact::new(&link, &link.at_backlog(172.5).unwrap())
    };
    let law = || pi(hollot(0.246));
    let loops: Vec<Box<dyn Loop>> = vec![
        Box::new(Continuous::new(Hollot::new(hollot(0.246)), law())),
        Box::new(Continuous::new(exact(Signal::Mark), law())),
        Box::new(Continuous::new(exact(Signal::Drop), law())),
        Box::new(Sampled::new(Hollot::new(hollot(0.246)), &tustin(0.05)).unwrap()),
        Box::new(Sampled::new(exact(Signal::Mark), &tustin(0.05)).unwrap()),
        Box::new(Sampled::new(exact(Signal::Drop), &tustin(0.05)).unwrap()),
    ];
    for (index, of) in loops.iter().enumerate() {
        let margin = Margins::of(of).unwrap().gain_up().unwrap();
        for (gain, unstable) in [(margin * (1.0 - 1e-6), 0), (margin * (1.0 + 1e-6), 2), (margin * 20.0, -1)]
        {
            let of = sojourn_fluid::linear::loops::Scaled { inner: of, gain };
            let count = nyquist::count(&of).unwrap().closed;
            assert!(unstable < 0 || count == unstable, "{index} {gain} {count}");
            let found = poles::rightmost(&of, count as usize + 1).unwrap().poles;
            let right: i64 =
                found.iter().filter(|s| s.re > 0.0).map(|s| if s.im > 0.0 { 2 } else { 1 }).sum();
            let folded = found
                .iter()
                .filter(|s| s.re > 0.0 && of.band().is_some_and(|band| s.im > band * (1.0 - 1e-9)));
            assert_eq!(right - folded.count() as i64, count, "{index} {gain} {found:?}");
        }
    }
}

/// ARM-PFC's difference equation of the textbook plant behind a hold, five periods of delay: y(k+1) = -n_1 y(k) - n_2
/// y(k-1) + m_1 u(k-5) + m_2 u(k-6), its coefficients as computed elsewhere.
#[test]
fn behind_a_hold_the_plant_is_arm_pfcs_difference_equation() {
    let plant = Hollot::new(Network { flows: 100.0, capacity: 1250.0, rtt: 0.28 });
    let unit = Rational { numerator: vec![1.0], denominator: vec![1.0] };
    let of = Sampled::new(plant, &InSamples { transfer: unit, period: Span::from_millis(56) }).unwrap();
    let [n_1, n_2, m_1, m_2] = [-1.7107338145, 0.7303103383, -11.0408777855, -9.9427085771];
    for s in [Complex64::new(0.0, 0.0), Complex64::new(0.0, 2.0), Complex64::new(-1.0, 40.0)] {
        let zeta = exp(-s * 0.056);
        let late = exp(-s * (0.056 * 5.0));
        let theirs = late * zeta * (m_1 + zeta * m_2) / (1.0 + zeta * (n_1 + zeta * n_2));
        assert!(size(of.held(s) / theirs - 1.0) < 1e-7, "{s}: {} {theirs}", of.held(s));
    }
}

/// The textbook's plant without some of its bounds.
struct Veiled {
    /// True if it has bounds.
    bounded: bool,
}

impl LinearPlant for Veiled {
    fn at(&self, s: Complex64) -> Response {
        Hollot::new(hollot(0.246)).at(s)
    }

    fn delays(&self) -> Vec<f64> {
        vec![0.246]
    }

    fn queue(&self, s: Complex64, late: &[Complex64]) -> Complex64 {
        Hollot::new(hollot(0.246)).queue(s, late)
    }

    fn bounds(&self, at: Outside) -> Option<[Bound; 2]> {
        self.bounded.then(|| Hollot::new(hollot(0.246)).bounds(at))?
    }

    fn lags(&self) -> Vec<Lag> {
        Vec::new()
    }

    fn remainder(&self, _: Outside) -> Option<Bound> {
        None
    }
}

#[test]
fn unknown_poles_are_not_taken_for_none() {
    assert!(poles::poles(&Veiled { bounded: false }, 1.0).is_none());
    assert!(Sampled::new(Veiled { bounded: false }, &tustin(0.05)).is_none());
    assert!(Sampled::roughly(Veiled { bounded: false }, &tustin(0.05)).is_none());
}

/// Packets lost behind the queue are signals as marks are: with the same share of both in all, the same noise.
#[test]
fn losses_are_draws_of_an_average_of_signals() {
    let dctcp = others()[2];
    let signals = Signals { dispersion: 1.0, share: 0.1 };
    let noise = |loss: f64| {
        let of = link(Signal::Mark, vec![Class { loss, ..class(60.0, dctcp) }]);
        let at = of.at_backlog(150.0).unwrap();
        let share = of.classes[0].signal_share(at.p);
        (share, [0.1, 2.0, 30.0].map(|frequency| Exact::new(&of, &at).noise(signals, 0.0, frequency)))
    };
    let ((share, without), (same, with)) = (noise(0.0), noise(0.02));
    assert!((share / same - 1.0).abs() < 1e-9 && share > 0.03, "{share} {same}");
    for (without, with) in without.into_iter().zip(with) {
        assert!((with / without - 1.0).abs() < 1e-9, "{without} {with}");
    }
}

/// Far out, what the simple terms leave of dq/dp is within its bound, and falls with the third power.
#[test]
fn the_remainder_of_clocked_queues_is_bounded() {
    // A class alone has none.
    for law in [calibrated()].into_iter().chain(others()) {
        let of = link(Signal::Mark, vec![class(60.0, law)]);
        let plant = Exact::new(&of, &of.at_backlog(150.0).unwrap());
        for s in [Complex64::new(0.0, 0.7), Complex64::new(-1.0, 9.0), Complex64::new(2.0, -40.0)] {
            let [queue, _] = value(&plant, s);
            let lags = plant.lags().into_iter().map(|lag| {
                let below: Complex64 = lag.rates.iter().map(|rate| s + rate).product();
                exp(-s * lag.delay) * mean_exp(s * lag.span) * lag.gain / below
            });
            let left = size(queue + lags.sum::<Complex64>());
            assert!(left < 1e-8 * size(queue), "{law:?} {s}: {left} {queue}");
        }
    }
    for law in [calibrated()].into_iter().chain(others()) {
        for signal in [Signal::Mark, Signal::Drop] {
            let short = Class { base_rtt: 0.05, size: 0.5, loss: 0.004, ..class(10.0, law) };
            let of = Link { unresponsive: [250.0, 150.0], ..link(signal, vec![class(40.0, law), short]) };
            let plant = Exact::new(&of, &of.at_backlog(150.0).unwrap());
            for s in [Complex64::new(0.0, 300.0), Complex64::new(-1.0, 900.0), Complex64::new(2.0, -4e3)] {
                let late: Vec<Complex64> = plant.delays().iter().map(|delay| exp(-s * delay)).collect();
                let lags = plant.lags().into_iter().enumerate().map(|(number, lag)| {
                    let below: Complex64 = lag.rates.iter().map(|rate| s + rate).product();
                    let delayed = plant.late_of_lag(number, &late);
                    assert!(size(delayed - exp(-s * lag.delay)) < 1e-9 * size(delayed), "{number}");
                    delayed * mean_exp(s * lag.span) * lag.gain / below
                });
                let lags: Complex64 = lags.sum();
                let left = size(plant.queue(s, &late) + lags);
                let off = size(plant.lags_at(&plant.lags(), s, &late) - lags);
                // The angle of the end of a span is rounded in another way.
                let angle = plant.lags().iter().map(|lag| size(s * lag.span)).fold(1.0, f64::max);
                assert!(off < 1e-9 * left + 1e-15 * angle * size(lags), "{law:?} {s}: {off} {left}");
                let bound = plant.remainder(Outside { radius: size(s), left: -s.re }).unwrap();
                assert_eq!(bound.power, -3);
                assert!(left <= bound.at(size(s)), "{law:?} {signal:?} {s}: {left} {bound:?}");
                assert!(left > 1e-4 * bound.at(size(s)), "{law:?} {signal:?} {s}: {left} {bound:?}");
            }
            // The smallest radius that has a bound.
            let mut near =
                (20..4000).map(|quarters| Outside { radius: 0.25 * f64::from(quarters), left: 0.0 });
            let (at, bound) = near.find_map(|at| Some((at, plant.remainder(at)?))).unwrap();
            let s = Complex64::new(0.0, at.radius);
            let late: Vec<Complex64> = plant.delays().iter().map(|delay| exp(-s * delay)).collect();
            let left = size(plant.queue(s, &late) + plant.lags_at(&plant.lags(), s, &late));
            assert!(left <= bound.at(at.radius), "{law:?} {signal:?} {s}: {left} {bound:?}");
        }
    }
}

/// A sum whose remainder has no bound, or one that falls too slowly, proves nothing of its loop.
#[test]
fn a_sum_beyond_its_tolerance_is_unknown() {
    let of = Sampled::new(Veiled { bounded: true }, &tustin(0.05)).unwrap();
    assert_eq!((nyquist::count(&of), nyquist::right_of(&of, 0.0)), (None, None));
    assert!(Margins::of(&of).is_none() && poles::rightmost(&of, 2).is_none());

    let s = Complex64::new(0.0, 1.0);
    let sum = |power, exact| {
        let bound = |_| Some(Bound { factor: 1.0, power });
        aliases_of(&|s| 1.0 / (s + 1.0), bound, AliasPoint { s, period: 0.05, scale: 0.0, exact })
    };
    assert!(sum(-1, 1e-3).is_some() && sum(-1, 1e-12).is_none());
    assert!(sum(0, 1e-3).is_none(), "what does not fall has no sum");
}

/// An integrator behind so long a delay that it winds too often to be followed.
struct Late;

impl Loop for Late {
    fn at(&self, s: Complex64) -> Fraction {
        Fraction { above: exp(-s * self.delay()), below: s }
    }

    fn delay(&self) -> f64 {
        1e7
    }

    fn reach(&self, level: f64, _: f64) -> Option<f64> {
        Some(1.01 / level)
    }
}

#[test]
fn a_path_that_is_too_long_has_no_count() {
    assert_eq!((nyquist::count(&Late), nyquist::right_of(&Late, 0.0)), (None, None));
}

#[test]
fn a_curve_that_jumps_past_the_needed_p_has_no_equilibrium() {
    let link = link(Signal::Mark, vec![class(60.0, Window::Mgt)]);
    let needed = link.at_backlog(150.0).unwrap().p;
    let stepped = |low: f64, high: f64| move |backlog: f64| if backlog < 150.0 { low } else { high };
    let error = link.on_curve(&stepped(0.5 * needed, 1.0)).unwrap_err();
    let NoEquilibrium::Jump { backlog, from, to, needed: between } = error else { panic!("{error}") };
    assert!((backlog - 150.0).abs() < 1e-9 && (from, to) == (0.5 * needed, 1.0), "{error}");
    assert!((between / needed - 1.0).abs() < 1e-9, "{error}");
    // A steep line is no jump.
    let steep = |backlog: f64| (1e3 * (backlog - 150.0)).clamp(0.5 * needed, 1.0);
    assert!((link.on_curve(&steep).unwrap().backlog - 150.0).abs() < 1e-3);
}

/// dq/dp in its two forms: multiplied out, and class by class.
#[test]
fn a_plant_s_two_forms_agree() {
    for law in [Window::Mgt, calibrated()] {
        let of = |i: i32| Class { base_rtt: 0.05 + 0.07 * f64::from(i), ..class(15.0, law) };
        let link = link(Signal::Drop, (0..4).map(of).collect());
        let plant = Exact::new(&link, &link.at_backlog(172.5).unwrap());
        for s in [Complex64::new(0.0, 0.3), Complex64::new(-1.0, 40.0), Complex64::new(2.0, 900.0)] {
            let late: Vec<Complex64> = plant.delays().iter().map(|delay| exp(-s * delay)).collect();
            assert!(near(plant.queue(s, &late), value(&plant, s)[0]), "{s}");
        }
    }
}

/// A law that runs every few milliseconds over a round trip of minutes: far below pi / T the loop is that in s, whose
/// result is found.
#[test]
fn a_loop_far_slower_than_its_samples_takes_few_evaluations() {
    for (base_rtt, period) in [(40.0, 0.006), (4000.0, 0.00625)] {
        let link = link(Signal::Mark, vec![Class { base_rtt, ..class(60.0, Window::Mgt) }]);
        let plant = Exact::new(&link, &link.at_backlog(100.0).unwrap());
        let meter = Meter::new(100_000);
        let network = Network { flows: 60.0, capacity: 3750.0, rtt: base_rtt + 100.0 / 3750.0 };
        let law::PiGains { a, b } = law::design(network, period);
        let transfer = Rational { numerator: vec![a, -b], denominator: vec![1.0, -1.0] };
        let law = InSamples { transfer, period: Span::from_seconds(period) };
        let of = Sampled::new(Metered::new(plant.clone(), Arc::clone(&meter)), &law).unwrap();
        let (margins, count) = (Margins::of(&of).unwrap(), nyquist::count(&of).unwrap());
        let found = poles::rightmost(&of, 4).unwrap().poles;
        assert!(!meter.is_used_up() && meter.spent() < 20_000, "{base_rtt}: {}", meter.spent());
        let in_s = Rational { numerator: vec![(a - b) / period, 0.5 * (a + b)], denominator: vec![0.0, 1.0] };
        let slow = Continuous::new(plant, in_s);
        let theirs = Margins::of(&slow).unwrap();
        assert_eq!(count.closed, nyquist::count(&slow).unwrap().closed);
        let off = margins.lag().unwrap().lag() - theirs.lag().unwrap().lag();
        assert!(off.abs() < 1e-5, "{base_rtt}: {off}");
        // Gain margins above a thousand are not searched.
        let gain = |of: &Margins| of.gain_up().filter(|gain| *gain < 1e3);
        let gains = [gain(&margins), gain(&theirs)];
        assert!(
            gains == [None; 2] || (gains[0].unwrap() / gains[1].unwrap() - 1.0).abs() < 1e-3,
            "{gains:?}"
        );
        let slowest = poles::rightmost(&slow, 1).unwrap().poles[0];
        assert!(size(found[0] / slowest - 1.0) < 1e-4, "{base_rtt}: {found:?} {slowest}");
    }
}

/// The bound for |L| < 1: no sample of L beyond it is above.
#[test]
fn beyond_its_reach_a_sampled_loop_is_small() {
    for (rtt, period) in [(0.1, 0.05), (0.246, 0.006), (5.0, 0.02), (400.0, 0.01)] {
        let link = link(Signal::Drop, vec![Class { base_rtt: rtt, ..class(60.0, Window::Mgt) }]);
        let plant = Exact::new(&link, &link.at_backlog(100.0).unwrap());
        let of = Sampled::new(plant, &tustin(period)).unwrap();
        let band = of.band().unwrap();
        for (level, left) in [(1.0, 0.0), (0.01, 0.0), (1.0, 0.5 * of.leftmost()), (1.0, -2.0 / rtt)] {
            let reach = of.reach(level, left).unwrap();
            for step in 0..4000 {
                let s = Complex64::new(-left, reach + (band - reach) * f64::from(step) / 4000.0);
                let value = size(of.at(s).value());
                assert!(reach == band || value < level, "{rtt} {period} {level} {left}: {value} at {s}");
            }
        }
        assert!(of.reach(1.0, 0.0).unwrap() < 0.3 * band || period > 0.04, "{rtt} {period}");
    }
}

#[test]
fn spent_evaluations_leave_nothing_known() {
    let meter = Meter::new(50);
    let of = Continuous::new(Metered::new(Hollot::new(hollot(0.246)), Arc::clone(&meter)), pi(hollot(0.246)));
    assert!(nyquist::count(&of).is_none() && meter.is_used_up() && meter.spent() == 50);
    assert!(Margins::of(&of).is_none() && poles::rightmost(&of, 2).is_none());
    let meter = Meter::new(50);
    let plant = Metered::new(Hollot::new(hollot(0.246)), Arc::clone(&meter));
    assert!(Sampled::new(plant, &tustin(0.05)).is_none());
}
