//! ARM-PFC's trajectories.

use crate::bench::{Bench, Network};
use crate::reference;
use sojourn_aqm::laws::arm_pfc::{Adaptation, ArmPfc, Base, Form, Params};
use sojourn_aqm::parts::prediction::SampledPlant;
use sojourn_aqm::{Controller, LinkContext, Observation, Periodic};
use sojourn_fluid::plant::Window;
use sojourn_units::{Prob, Span};
use std::sync::{Arc, Mutex};

fn hold(key: &str, ours: &[f64]) {
    reference::hold(&format!("armpfc.{key}"), ours);
}

fn network(flows: f64, capacity: f64, window: Window) -> Network {
    Network { flows, capacity, base_rtt: 0.2, buffer: 300.0, window, ecn: true }
}

/// The paper's nominal network: 100 flows, 1250 packets/s, a base RTT of 0.2 s; 300 packets of buffer.
fn nominal() -> Network {
    network(100.0, 1250.0, Window::Mgt)
}

/// A law designed for the nominal network on another one.
fn on(network: Network, params: &Params) -> Bench {
    network.under(ArmPfc::law(params, &nominal().context()).unwrap(), STEP)
}

/// The paper's period, its coincidence point, seven periods ahead, and its model whatever the windows.
fn papers(form: Form) -> Params {
    Params { form, delay: Some(5), coincidence: Some(vec![7]), least_window: 1.0, ..Params::default() }
}

/// The paper's design, fixed, for 100 s.
fn fixed_on(network: Network, form: Form) -> Bench {
    let mut bench = on(network, &Params { adapt: Some(Adaptation::Nothing), ..papers(form) });
    bench.run(100.0);
    bench
}

#[test]
fn the_independent_model_follows_the_reference_trajectories() {
    for (flows, capacity) in [(100.0, 1250.0), (120.0, 1000.0), (50.0, 1250.0), (200.0, 1250.0)] {
        let bench = fixed_on(network(flows, capacity, Window::Mgt), Form::Indep);
        let (mean, sd) = bench.mean_and_sd(20.0);
        let at = [1.0, 2.0, 3.0, 5.0].map(|seconds| bench.queue_at(seconds));
        let key = format!("indep.fluid.N={flows},C={capacity}");
        hold(&format!("{key}.[mean,std,p]"), &[mean, sd, bench.p()]);
        hold(&format!("{key}.q@1,2,3,5"), &at);
        hold(&format!("{key}.settle5%"), &[bench.settling(100.0, 0.05)]);
    }
}

#[test]
fn three_hundred_flows_saturate_one_window_law_and_not_the_other() {
    let bench = fixed_on(network(300.0, 1250.0, Window::Mgt), Form::Indep);
    hold("indep.fluid.N=300(mgt: p saturates at 1, q=C(sqrt2 N/C - Tp))", &[bench.mean_and_sd(20.0).0]);
    let bench = fixed_on(network(300.0, 1250.0, Window::Full), Form::Indep);
    hold("indep.fluid.N=300(full).[q,p]", &[bench.mean_and_sd(20.0).0, bench.p()]);
}

#[test]
fn the_literal_law_settles_away_from_the_target() {
    let bench = fixed_on(network(120.0, 1000.0, Window::Mgt), Form::Paper);
    hold("paper-literal.fluid.N=120,C=1000.mean(offset)", &[bench.mean_and_sd(50.0).0]);
    let nominal = fixed_on(nominal(), Form::Paper);
    assert!((nominal.mean_and_sd(20.0).0 - 100.0).abs() < 1e-6, "and at its design point on it");
}

#[test]
fn a_scheduled_model_follows_the_load_and_ends_the_cycle_at_40_flows() {
    let ends = |params: &Params, seconds: f64| {
        let mut bench = on(nominal(), params);
        [100.0, 200.0, 50.0, 40.0, 100.0].map(|flows| {
            bench.set_flows(flows);
            bench.run(seconds);
            bench.mean_and_sd(5.0)
        })
    };
    let fixed = ends(&Params { adapt: Some(Adaptation::Nothing), ..papers(Form::Indep) }, 20.0);
    assert!(fixed[3].1 > 10.0, "a fixed model cycles: {fixed:?}");
    // The default is slower at 200 flows: windows of 1.75 packets respond less to p here than packets do.
    for (params, seconds) in [(papers(Form::Indep), 20.0), (Params::default(), 30.0)] {
        let scheduled = ends(&params, seconds);
        let held = |(mean, sd): &(f64, f64)| (mean - 100.0).abs() < 4.0 && *sd < 1.0;
        assert!(scheduled.iter().all(held), "{scheduled:?}");
    }
    // A number of flows that is wrong by a factor of four either way costs time, not the target.
    for flows in [25.0, 400.0] {
        let wrong = ends(&Params { flows: Some(flows), ..Params::default() }, 20.0);
        let held = |(mean, sd): &(f64, f64)| (mean - 100.0).abs() < 10.0 && *sd < 3.0;
        assert!(wrong[1..].iter().all(held), "{flows}: {wrong:?}");
    }
}

/// No noise, and changes of load to learn from: within 20 s the queue is near the target.
#[test]
fn an_identified_model_follows_the_load_too() {
    for design in [papers(Form::Indep), Params::default()] {
        let params = Params { adapt: Some(Adaptation::Rls), ..design };
        let shared = Shared::new(&params, &nominal().context());
        let mut bench = nominal().under(Periodic::new(shared.clone()), STEP);
        for flows in [100.0, 200.0, 50.0, 40.0, 100.0, 150.0, 70.0] {
            bench.set_flows(flows);
            bench.run(20.0);
            let (mean, sd) = bench.mean_and_sd(5.0);
            assert!((mean - 100.0).abs() < 4.0 && sd < 1.0, "{flows} flows: {mean} +- {sd}");
        }
        let controller = shared.0.lock().unwrap();
        let (identified, theory) =
            (controller.model(), SampledPlant::of(&controller.plant(), controller.period().seconds()));
        let off = identified.gain() / theory.gain();
        assert!((0.499..2.001).contains(&off), "{identified:?} {theory:?}");
        assert!(identified.alpha.iter().all(|pole| (0.02..=0.995).contains(pole)), "{identified:?}");
    }
}

/// Reason for a default point that is not the paper's: unmodelled delays cost the near point first.
#[test]
fn a_round_trip_longer_than_the_models_makes_the_near_point_cycle_and_not_the_far_one() {
    let deviation = |params: &Params, flows| {
        let longer = Network { base_rtt: 0.36, ..network(flows, 1250.0, Window::Mgt) };
        let mut bench = on(longer, params);
        bench.run(100.0);
        bench.mean_and_sd(20.0).1
    };
    for flows in [50.0, 100.0, 200.0] {
        let [near, far] = [papers(Form::Indep), Params::default()].map(|params| deviation(&params, flows));
        assert!(near > 0.5 && far < 0.01, "{flows} flows: {near} and {far} packets");
    }
}

#[test]
fn two_points_and_ramps_hold_the_target_too() {
    for design in [papers(Form::Indep), Params::default()] {
        for (base, coincidence) in [
            (Base::Step, vec![7, 9]),
            (Base::Step, vec![8, 12]),
            (Base::Ramp, vec![7, 9]),
            (Base::Ramp, vec![8, 12]),
        ] {
            let params = Params { base, coincidence: Some(coincidence), ..design.clone() };
            let mut bench = on(network(120.0, 1000.0, Window::Mgt), &params);
            bench.run(60.0);
            let (mean, sd) = bench.mean_and_sd(10.0);
            assert!((mean - 100.0).abs() < 0.01 && sd < 0.01, "{params:?}: {mean} +- {sd}");
        }
    }
}

/// A controller shared with the test.
#[derive(Clone)]
struct Shared(Arc<Mutex<ArmPfc>>);

impl Shared {
    fn new(params: &Params, context: &LinkContext) -> Shared {
        Shared(Arc::new(Mutex::new(ArmPfc::new(params, context).unwrap())))
    }
}

impl Controller for Shared {
    fn period(&self) -> Span {
        self.0.lock().unwrap().period()
    }
    fn update(&mut self, observed: &Observation) -> Prob {
        self.0.lock().unwrap().update(observed)
    }
    fn reset(&mut self) {
        self.0.lock().unwrap().reset();
    }
}

/// ms; fourteen in the paper's sampling period.
const STEP: u64 = 4;
