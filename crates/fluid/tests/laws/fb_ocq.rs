//! FB-OCQ's trajectories, and its theoretical equilibrium.

use crate::bench::{Bench, Network};
use crate::reference::hold;
use sojourn_aqm::LinkContext;
use sojourn_aqm::laws::fb_ocq::{FbOcq, Form, LoadMeasure, Params};
use sojourn_fluid::plant::Window;
use sojourn_units::Span;

/// Nothing is known of the flows.
fn context() -> LinkContext {
    LinkContext { flows: None, ..network(40.0, true).context() }
}

fn network(flows: f64, drops: bool) -> Network {
    let (capacity, base_rtt, buffer) = (CAPACITY, 0.1, 100.0);
    Network { flows, capacity, base_rtt, buffer, window: Window::Full, ecn: !drops }
}

/// The published measure of the load, and this t_c, ms.
fn within(t_c: u64) -> Params {
    Params { t_c: Some(Span::from_millis(t_c)), ..counted(LoadMeasure::Virtual) }
}

fn counted(load: LoadMeasure) -> Params {
    Params { load: Some(load), ..Params::default() }
}

/// A minute with this many flows.
fn minute(params: &Params, flows: f64, drops: bool) -> Bench {
    let mut bench = network(flows, drops).under(FbOcq::law(params, &context()).unwrap(), STEP);
    bench.run(60.0);
    bench
}

/// Mean and standard deviation of the queue over the second half minute.
fn settled(params: &Params, flows: f64, drops: bool) -> (f64, f64) {
    minute(params, flows, drops).mean_and_sd(30.0)
}

#[test]
fn with_drops_it_ends_as_the_reference_does() {
    for (flows, t_c) in [(40.0, 0.2), (80.0, 0.2), (40.0, 0.5), (80.0, 0.5), (10.0, 0.5)] {
        let (mean, sd) = settled(&within((t_c * 1000.0) as u64), flows, true);
        hold(&format!("ocq.aqm.fluid.N={flows},tc={t_c},tau_w=1.0.[mean,std]"), &[mean, sd]);
    }
}

#[test]
fn from_an_empty_queue_it_is_within_a_twentieth_of_its_target_in_20_seconds() {
    for flows in [20.0, 40.0, 80.0, 160.0] {
        for params in [Params::default(), counted(LoadMeasure::Virtual)] {
            let settled = minute(&params, flows, true).settling(40.0, 0.05);
            assert!(settled < 20.0, "{flows} flows, {:?}: {settled} s", params.load);
        }
    }
}

#[test]
fn its_integral_holds_the_target_where_counts_oscillate() {
    for (flows, base_rtt) in [(5.0, 0.05), (10.0, 0.1), (20.0, 0.2), (40.0, 0.2), (160.0, 0.1)] {
        for drops in [false, true] {
            let network = Network { base_rtt, ..network(flows, drops) };
            let [integral, counts] = [Params::default(), counted(LoadMeasure::Virtual)].map(|params| {
                let context = LinkContext { flows: None, ..network.context() };
                let mut bench = network.under(FbOcq::law(&params, &context).unwrap(), STEP);
                bench.run(120.0);
                bench.mean_and_sd(60.0)
            });
            let name = format!("{flows} flows, {base_rtt} s, drops: {drops}");
            assert!((integral.0 - 40.0).abs() < 0.01 && integral.1 < 0.05, "{name}: {integral:?}");
            // With many flows counts hold it as well.
            assert!(flows > 20.0 || counts.0 < 36.0 && counts.1 > 5.0, "{name}: {counts:?}");
        }
    }
}

/// Of flows that nobody announced.
#[test]
fn the_receding_form_holds_the_target() {
    let params = Params { form: Form::Receding, ..Params::default() };
    for (flows, base_rtt) in [(5.0, 0.05), (10.0, 0.1), (20.0, 0.2), (40.0, 0.1), (80.0, 0.1), (160.0, 0.1)] {
        for drops in [false, true] {
            let network = Network { base_rtt, ..network(flows, drops) };
            let context = LinkContext { flows: None, ..network.context() };
            let mut bench = network.under(FbOcq::law(&params, &context).unwrap(), STEP);
            bench.run(120.0);
            let (mean, sd) = bench.mean_and_sd(60.0);
            assert!(
                (mean - 40.0).abs() < 0.4 && sd < 1.0,
                "{flows} flows, {base_rtt} s, drops: {drops}: {mean} +- {sd}"
            );
        }
    }
}

#[test]
fn a_fast_average_of_the_load_oscillates() {
    let fast = |t_c| Params { tau_w: Some(Span::from_millis(100)), ..within(t_c) };
    for (flows, t_c) in [(40.0, 200), (20.0, 500)] {
        let [fast, slow] = [fast(t_c), within(t_c)].map(|params| settled(&params, flows, true).1);
        assert!(fast > 5.0 && (flows < 40.0 || slow < 0.01), "{flows} flows: {fast} and {slow} packets");
    }
}

#[test]
fn without_the_bias_it_settles_at_the_models_queue() {
    for (t_c, published) in [(200, Some(33.4)), (500, None)] {
        let params = Params { bias: false, ..within(t_c) };
        let controller = FbOcq::new(&params, &context()).unwrap();
        let (mean, sd) = settled(&params, 40.0, true);
        // Equilibrium where the admitted rate is the capacity of a busy link: u*(x) = mu.
        let let_in = controller.problem().input(mean, controller.penalty());
        assert!((let_in / CAPACITY - 1.0).abs() < 1e-6 && sd < 0.01, "{mean} {let_in}");
        assert!(published.is_none_or(|published: f64| (mean - published).abs() < 0.05), "{mean}");
    }
}

#[test]
fn marks_counted_as_drops_settle_at_the_target_and_packets_alone_above_it() {
    for flows in [20.0, 40.0, 80.0] {
        let (mean, sd) = settled(&counted(LoadMeasure::Virtual), flows, false);
        assert!((mean - 40.0).abs() < 0.1 && sd < 0.1, "{flows} flows: {mean} +- {sd}");
    }
    let params = Params { load: Some(LoadMeasure::Offered), ..within(200) };
    let (mean, sd) = settled(&params, 40.0, false);
    // Marks leave w = mu, so p = 1 - u / mu; and the flows' equilibrium is (1 - p) / W = p W / 2, W = R C / N.
    let controller = FbOcq::new(&params, &context()).unwrap();
    let problem = controller.problem();
    let input = problem.input(mean, controller.penalty()) + CAPACITY - problem.u_s();
    let window = (0.1 * CAPACITY + mean) / 40.0;
    let needed = 2.0 / (window * window + 2.0);
    assert!(mean > 65.0 && sd < 0.01, "{mean} +- {sd}");
    assert!((1.0 - input / CAPACITY - needed).abs() < 1e-3, "{input} {needed}");
}

/// ms; ten in a sampling period.
const STEP: u64 = 1;

/// C, packets/s.
const CAPACITY: f64 = 1250.0;
