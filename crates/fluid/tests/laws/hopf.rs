//! Where oscillations begin to grow: the nonlinear plant against the gain margin of the sampled loop.
//!
//! A law comes to rest. Then the fluid answers to p - p_0 as if it were g times that, of which the law and its model
//! know nothing, and the queue is pushed by a fraction of a packet. The gain at which what comes of that neither grows
//! nor dies is where the roots of the linearised loop cross the imaginary axis.

use crate::bench::{HOLLOT, Network};
use sojourn_aqm::laws::{arm_pfc, cpc, pi};
use sojourn_aqm::linear::Rest;
use sojourn_aqm::{self as aqm, Law};
use sojourn_fluid::host::{Actuator, World};
use sojourn_fluid::linear::equilibrium::{Class, Link, Signal};
use sojourn_fluid::linear::loops::Loop;
use sojourn_fluid::linear::margins::Margins;
use sojourn_fluid::linear::nyquist;
use sojourn_fluid::linear::plant::{Exact, Hollot};
use sojourn_fluid::linear::sampled::Sampled;
use sojourn_fluid::plant::Window;
use sojourn_units::{Amount, Span, math};

/// A law on its network.
struct Case {
    name: &'static str,
    network: Network,
    law: Box<dyn Law>,
}

/// The reference networks; with the equation of windows that the laws were designed for, and with the other one.
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
        adapt: Some(arm_pfc::Adapt::Nothing),
        coincidence,
        ..arm_pfc::Params::default()
    };
    let case = |name, network, law| Case { name, network, law };
    let wide_cpc = |form| Box::new(cpc::Cpc::law(&cpc(form), &wide.site()).unwrap());
    let narrow_pfc = |point| Box::new(arm_pfc::ArmPfc::law(&arm_pfc(point), &narrow.site()).unwrap());
    vec![
        case("pi", wide, Box::new(pi::Pi::law(&pi, &wide.site()).unwrap())),
        case("cpc da", wide, wide_cpc(cpc::Form::DelayAware)),
        case("cpc paper", wide, wide_cpc(cpc::Form::Paper)),
        case("arm_pfc", narrow, narrow_pfc(None)),
        case("arm_pfc h=7", narrow, narrow_pfc(Some(vec![7]))),
    ]
}

impl Case {
    /// Under the law as it runs: the loop of the linearised model, and that of the textbook's plant.
    fn loops(&self) -> [Box<dyn Loop>; 2] {
        let Network { flows, capacity, base_rtt, window, ecn, .. } = self.network;
        let class = Class { flows, base_rtt, size: 1.0, ecn, law: window, loss: 0.0 };
        let signal = if ecn { Signal::Mark } else { Signal::Drop };
        let link = Link { capacity, signal, unresponsive: [0.0; 2], classes: vec![class] };
        let at = link.at_backlog(self.law.target_packets().unwrap()).unwrap();
        let network = aqm::Network { flows, capacity, rtt: at.rtts[0] };
        let rest = Rest { p: at.p, signal, backlog: at.backlog, network };
        let law = self.law.linear(&rest).unwrap().sampled.unwrap();
        let exact = Sampled::new(Exact::new(&link, &at), &law).unwrap();
        [Box::new(exact), Box::new(Sampled::new(Hollot::new(network), &law).unwrap())]
    }

    /// The gain at which the fluid's oscillations neither grow nor die.
    fn found(&self, near: f64) -> f64 {
        let mut bench = self.network.under(self.law.clone(), STEP);
        bench.run(200.0);
        let (at, spread) = bench.rest(5.0);
        assert!(spread < 1e-7, "{}: {at} +- {spread}", self.name);
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

/// How fast the answer to a push grows, 1/s: its highest peaks in two stretches of time, one after the other. Where it
/// has long been too large for a linear plant by then, or too small to be seen, roughly.
fn growth(mut world: World, p: f64, gain: f64) -> f64 {
    world.hosts()[0].actuator = Some(Actuator { gain, about: p });
    let (place, rest) = (world.plant().backlog(0), world.backlog(0));
    world.change(|_, y| y[place] += PUSH);
    let mut peak = |looks: usize| {
        let mut off = |_| {
            world.run_until(world.now() + LOOK);
            (world.backlog(0) - rest).abs()
        };
        (0..looks).map(&mut off).fold(0.0, f64::max)
    };
    let rate = |from: f64, to: f64, looks: usize| math::ln(to / from) / (looks as f64 * LOOK.seconds());
    peak(CALM);
    let first = peak(STRETCH);
    if !(PUSH / MUCH..PUSH * MUCH).contains(&first) {
        return rate(PUSH, first, CALM);
    }
    rate(first, peak(STRETCH), STRETCH)
}

#[test]
fn oscillations_begin_where_the_gain_margin_says() {
    for (window, ecn) in [(Window::Mgt, true), (Window::Full, true), (Window::Full, false)] {
        for case in cases(window, ecn) {
            let [exact, textbook] = case.loops();
            if nyquist::right_of(&exact, 0.0).unwrap() > 0 {
                assert!((case.name, ecn) == ("arm_pfc h=7", false), "{}", case.name);
                let mut bench = case.network.under(case.law, STEP);
                bench.run(100.0);
                assert!(bench.rest(20.0).1 > 1.0, "it does not rest at all");
                continue;
            }
            let [predicted, textbook] =
                [exact, textbook].map(|of| Margins::of(&of).unwrap().gain_up().unwrap());
            let found = case.found(predicted);
            let told = format!("{} {window:?} ecn {ecn}: {found:.4}, predicted {predicted:.4}", case.name);
            println!("{told}, by the textbook's plant {textbook:.4}");
            assert!((found / predicted - 1.0).abs() < 1e-4, "{told}");
        }
    }
}

/// ms.
const STEP: u64 = 2;
/// Packets.
const PUSH: f64 = 1e-3;
/// Between two looks at the queue.
const LOOK: Span = Span::from_millis(20);
/// Looks until all but the slowest oscillation is gone.
const CALM: usize = 1500;
const STRETCH: usize = 750;
const MUCH: f64 = 1000.0;
