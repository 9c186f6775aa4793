//! Onset of oscillations: the nonlinear plant against the gain margin of the sampled-data loop.
//!
//! A law comes to equilibrium. Then the fluid responds to p - p_0 multiplied by g, outside of the law and its model,
//! and the queue is perturbed by a fraction of a packet. The gain at which the response neither grows nor decays is
//! the one at which poles of the linearised loop cross the imaginary axis.

use crate::bench::{HOLLOT, Network};
use sojourn_aqm::laws::{arm_pfc, cpc, pi, pi2, pie};
use sojourn_aqm::linear::OperatingPoint;
use sojourn_aqm::{self as aqm, Law};
use sojourn_fluid::law_driver::{Actuator, World};
use sojourn_fluid::linear::equilibrium::{Class, Link, Signal};
use sojourn_fluid::linear::loops::Loop;
use sojourn_fluid::linear::margins::Margins;
use sojourn_fluid::linear::nyquist;
use sojourn_fluid::linear::plant::{Exact, Hollot, Seen};
use sojourn_fluid::linear::sampled::Sampled;
use sojourn_fluid::plant::Window;
use sojourn_fluid::response::{Control, Response, Rules};
use sojourn_units::{Amount, Prob, Span, math};

/// A law on its network.
struct Case {
    name: &'static str,
    network: Network,
    law: Box<dyn Law>,
    /// True if it sees the sojourn of the packet that leaves.
    sees_departures: bool,
}

/// The reference networks, with the window model of the laws' design, and with the other one.
fn cases(window: Window, ecn: bool) -> Vec<Case> {
    let wide = Network { window, ecn, ..HOLLOT };
    let narrow = Network { flows: 100.0, capacity: 1250.0, buffer: 300.0, ..wide };
    let target = Some(Amount::Packets(200.0));
    let pi = pi::Params { target, ..pi::Params::default() };
    let cpc = |form| cpc::Params {
        target: Some(Amount::Packets(175.0)),
        adapt: Some(cpc::Adapt::Nothing),
        form,
        ..cpc::Params::default()
    };
    let arm_pfc = |coincidence| arm_pfc::Params {
        adapt: Some(arm_pfc::Adaptation::Nothing),
        coincidence,
        ..arm_pfc::Params::default()
    };
    let case = |name, network, law| Case { name, network, law, sees_departures: false };
    let wide_cpc = |form| Box::new(cpc::Cpc::law(&cpc(form), &wide.context()).unwrap());
    let narrow_pfc = |point| Box::new(arm_pfc::ArmPfc::law(&arm_pfc(point), &narrow.context()).unwrap());
    vec![
        case("pi", wide, Box::new(pi::Pi::law(&pi, &wide.context()).unwrap())),
        case("cpc da", wide, wide_cpc(cpc::Form::DelayAware)),
        case("cpc paper", wide, wide_cpc(cpc::Form::Paper)),
        case("arm_pfc", narrow, narrow_pfc(None)),
        case("arm_pfc h=7", narrow, narrow_pfc(Some(vec![7]))),
    ]
}

/// Laws of the delay, which see it late, and the others by their gain alone.
fn calibrated_cases(control: Control) -> Vec<Case> {
    let window = Window::Calibrated(Response::of(Rules { control, ..Rules::default() }));
    let network = Network { window, base_rtt: 0.06, ..HOLLOT };
    let pi = pi::Params { target: Some(Amount::Packets(200.0)), ..pi::Params::default() };
    let (target, rtt_max) = (Span::from_millis(50), Span::from_millis(120));
    let pi2 = pi2::Params { target, rtt_max, ..pi2::Params::default() };
    // DCTCP needs a p above 0.1.
    let mark_below_p = Prob::clamped(1.0);
    let pie = pie::Params { target, mark_below_p, ..pie::Params::default() };
    let context = network.context();
    let case = |name, law: Box<dyn Law>, sees_departures| Case { name, network, law, sees_departures };
    vec![
        case("pi", Box::new(pi::Pi::law(&pi, &context).unwrap()), false),
        case("pi2", Box::new(pi2::Pi2::new(&pi2, &context).unwrap()), true),
        case("pie", Box::new(pie::Pie::new(&pie, &context).unwrap()), true),
    ]
}

impl Case {
    /// Under the law as it runs: the loop of the linearised model, and that of the textbook's plant.
    fn loops(&self) -> [Box<dyn Loop>; 2] {
        let Network { flows, capacity, base_rtt, window, ecn, .. } = self.network;
        let class = Class { flows, base_rtt, size: 1.0, ecn, law: window, loss: 0.0 };
        let signal = if ecn { Signal::Mark } else { Signal::Drop };
        let link = Link { capacity, signal, unresponsive: [0.0; 2], classes: vec![class] };
        let at = link.at_backlog(self.law.analysis().target_packets().unwrap()).unwrap();
        let network = aqm::Network { flows, capacity, rtt: at.rtts[0] };
        let point = OperatingPoint { p: at.p, signal, backlog: at.backlog, network };
        let law = self.law.analysis().linear(&point).unwrap().sampled.unwrap();
        let wait = if self.sees_departures { at.backlog / capacity } else { 0.0 };
        let exact = Sampled::new(Seen { plant: Exact::new(&link, &at), wait }, &law).unwrap();
        [Box::new(exact), Box::new(Sampled::new(Hollot::new(network), &law).unwrap())]
    }

    /// Gain at which the fluid's oscillations neither grow nor decay.
    fn found(&self, near: f64) -> f64 {
        let mut bench = self.network.under(self.law.clone(), STEP);
        bench.world.drivers()[0].sees_departures = self.sees_departures;
        bench.run(SETTLED);
        let (at, spread) = bench.mean_and_sd(5.0);
        // A law that sees sojourns has them in whole nanoseconds.
        let most = if self.sees_departures { 1e-5 } else { 1e-7 };
        assert!(spread < most, "{}: {at} +- {spread}", self.name);
        let rate = |gain: f64| growth(bench.world.clone(), bench.p(), gain);
        let (mut low, mut high) = (near / 1.03, near * 1.03);
        let [mut dying, mut growing] = [low, high].map(rate);
        assert!(dying < 0.0 && growing > 0.0, "{}: {dying} {growing}", self.name);
        for _ in 0..8 {
            let middle = low - dying * (high - low) / (growing - dying);
            let found = rate(middle);
            if found < 0.0 {
                (low, dying) = (middle, found);
            } else {
                (high, growing) = (middle, found);
            }
        }
        low - dying * (high - low) / (growing - dying)
    }
}

/// Growth rate of the response to a perturbation, 1/s: its highest peaks in two consecutive intervals of time. Where
/// it has long been too large for a linear plant by then, or too small to be seen, roughly.
fn growth(mut world: World, p: f64, gain: f64) -> f64 {
    world.drivers()[0].actuator = Some(Actuator { gain, about: p });
    let (place, equilibrium) = (world.plant().backlog(0), world.backlog(0));
    world.change(|_, y| y[place] += PERTURBATION);
    let mut peak = |samples: usize| {
        let mut off = |_| {
            world.run_until(world.now() + SAMPLING);
            (world.backlog(0) - equilibrium).abs()
        };
        (0..samples).map(&mut off).fold(0.0, f64::max)
    };
    let rate =
        |from: f64, to: f64, samples: usize| math::ln(to / from) / (samples as f64 * SAMPLING.seconds());
    peak(TRANSIENT);
    let first = peak(INTERVAL);
    if !(PERTURBATION / LINEAR_RANGE..PERTURBATION * LINEAR_RANGE).contains(&first) {
        return rate(PERTURBATION, first, TRANSIENT);
    }
    rate(first, peak(INTERVAL), INTERVAL)
}

#[test]
fn oscillations_begin_at_the_gain_margin() {
    for (window, ecn) in [(Window::Mgt, true), (Window::Full, true), (Window::Full, false)] {
        for case in cases(window, ecn) {
            let [exact, textbook] = case.loops();
            if nyquist::right_of(&exact, 0.0).unwrap() > 0 {
                assert!((case.name, ecn) == ("arm_pfc h=7", false), "{}", case.name);
                let mut bench = case.network.under(case.law, STEP);
                bench.run(100.0);
                assert!(bench.mean_and_sd(20.0).1 > 1.0, "it has no stable equilibrium");
                continue;
            }
            let [predicted, textbook] =
                [exact, textbook].map(|of| Margins::of(&of).unwrap().gain_up().unwrap());
            let found = case.found(predicted);
            let text = format!("{} {window:?} ecn {ecn}: {found:.4}, predicted {predicted:.4}", case.name);
            println!("{text}, by the textbook's plant {textbook:.4}");
            assert!((found / predicted - 1.0).abs() < 1e-4, "{text}");
        }
    }
}

/// CUBIC, DCTCP, Scalable TCP and Reno, as packets have them.
#[test]
fn oscillations_of_calibrated_windows_begin_there_too() {
    for control in [
        Control::Reno { keeps: 0.5 },
        Control::Cubic { keeps: 0.7, fast_convergence: true },
        Control::Dctcp { weight: 0.0625 },
        Control::Scalable { increase: 0.01, decrease: 0.125, low: 16.0 },
    ] {
        for case in calibrated_cases(control) {
            let [exact, _] = case.loops();
            if nyquist::right_of(&exact, 0.0).unwrap() > 0 {
                // PIE's gain does not fall any more where p is above 0.1.
                assert!(case.name == "pie" && matches!(control, Control::Dctcp { .. }), "{}", case.name);
                continue;
            }
            let predicted = Margins::of(&exact).unwrap().gain_up().unwrap();
            let found = case.found(predicted);
            let text = format!("{} {control:?}: {found:.4}, predicted {predicted:.4}", case.name);
            println!("{text}");
            // PIE sees delays in whole nanoseconds.
            let bound = if case.name == "pie" { 2e-3 } else { 1e-4 };
            assert!((found / predicted - 1.0).abs() < bound, "{text}");
        }
    }
}

/// ms.
const STEP: u64 = 2;
/// Time until a law has come to its equilibrium, s.
const SETTLED: f64 = 400.0;
/// Initial perturbation of the backlog, packets.
const PERTURBATION: f64 = 1e-3;
/// Time between two samples of the queue.
const SAMPLING: Span = Span::from_millis(20);
/// Samples until all but the slowest oscillation is gone.
const TRANSIENT: usize = 1500;
const INTERVAL: usize = 750;
const LINEAR_RANGE: f64 = 1000.0;
