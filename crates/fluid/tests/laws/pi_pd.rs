//! PI-PD's trajectories.

use crate::bench::{Bench, HOLLOT, Network};
use crate::reference;
use sojourn_aqm::LinkContext;
use sojourn_aqm::laws::pi_pd::{Form, Params, PiPd};
use sojourn_fluid::plant::Window;
use sojourn_units::{Amount, Span};

const FORMS: [(Form, &str); 3] = [(Form::Switch, "switch"), (Form::Sum, "sum"), (Form::Pd, "pd")];

/// The paper's link and buffer; the traffic is unknown.
fn context() -> LinkContext {
    LinkContext { flows: None, base_rtt: None, ..HOLLOT.context() }
}

/// The paper's target and period; its alpha is 8e-4.
fn papers(form: Form, alpha: Option<f64>) -> Params {
    let period = Some(Span::from_millis(50));
    Params { target: Some(Amount::Packets(200.0)), form, alpha, period, ..Params::default() }
}

/// Network whose round-trip time is R_0 with the queue at the target.
fn network(rtt: f64, flows: f64) -> Network {
    Network { flows, base_rtt: rtt - 200.0 / 3750.0, ..HOLLOT }
}

fn run(params: &Params, network: Network, seconds: f64) -> Bench {
    let mut bench = network.under(PiPd::law(params, &context()).unwrap(), STEP);
    bench.run(seconds);
    bench
}

/// The rows are of runs of 100 s from an empty queue, windows of one packet and p = 0, marked and not dropped;
/// mean and deviation are those of the last 50 s.
#[test]
fn the_papers_alpha_settles_or_oscillates_as_in_the_reference() {
    for (rtt, name) in [(0.15, ".15"), (0.2533, ".2533")] {
        for flows in [63.0, 126.0] {
            for (form, word) in FORMS {
                let (mean, sd) = run(&papers(form, Some(8e-4)), network(rtt, flows), 100.0).mean_and_sd(50.0);
                reference::hold(&format!("pipd.{word}.R0={name}.N={flows}.[mean,std]"), &[mean, sd]);
            }
        }
    }
}

#[test]
fn a_smaller_alpha_settles_from_63_flows_on() {
    for rtt in [0.15, 0.2, 0.25] {
        for flows in [63.0, 90.0, 126.0] {
            let (mean, sd) =
                run(&papers(Form::Switch, Some(2e-4)), network(rtt, flows), 200.0).mean_and_sd(50.0);
            assert!((mean - 200.0).abs() < 2.0 && sd < 2.0, "R_0 {rtt}, {flows} flows: {mean} +- {sd}");
        }
    }
}

#[test]
fn the_designed_alpha_settles_at_the_target_under_any_load() {
    // R_0, flows, alpha, seconds until the queue stays within 5 % of the target.
    let rows = [
        (0.15, 63.0, 4.27e-4, 9.6),
        (0.2533, 63.0, 3.72e-5, 25.0),
        (0.2533, 126.0, 2.41e-4, 13.0),
        (0.15, 126.0, 2.51e-3, 6.7),
        (0.2533, 30.0, 4.6e-6, 48.0),
    ];
    for (rtt, flows, alpha, settling) in rows {
        let params = Params {
            schedule: false,
            flows: Some(flows),
            rtt: Some(Span::from_seconds(rtt)),
            ..papers(Form::Switch, None)
        };
        let ours = PiPd::new(&params, &context()).unwrap().alpha();
        assert!((ours / alpha - 1.0).abs() < 0.02, "R_0 {rtt}, {flows} flows: {ours} for {alpha}");
        let bench = run(&params, network(rtt, flows), 150.0);
        let (mean, sd) = bench.mean_and_sd(20.0);
        assert!((mean - 200.0).abs() < 0.01 && sd < 0.01, "R_0 {rtt}, {flows} flows: {mean} +- {sd}");
        let ours = bench.settling(200.0, 0.05);
        assert!((ours / settling - 1.0).abs() < 0.1, "R_0 {rtt}, {flows} flows: {ours} s for {settling}");
    }
}

/// The round-trip time is unknown, too: 100 ms is assumed, plus the target's 53, and the true one is up to 0.2533
/// s.
#[test]
fn without_a_number_of_flows_every_form_settles_at_the_target() {
    for flows in [30.0, 63.0, 126.0, 250.0] {
        for rtt in [0.15, 0.2533] {
            for (form, word) in FORMS {
                let bench = run(&papers(form, None), network(rtt, flows), 100.0);
                let (mean, sd) = bench.mean_and_sd(20.0);
                let text = format!("{word}, R_0 {rtt}, {flows} flows: {mean} +- {sd}");
                assert!((mean - 200.0).abs() < 0.1 && sd < 0.1, "{text}");
                // TCP's equilibrium there: p = 2 N^2 / (R C)^2.
                let p = 2.0 * flows * flows / (rtt * rtt * 3750.0 * 3750.0);
                assert!((bench.p() / p - 1.0).abs() < 1e-3, "{text}, p {} for {p}", bench.p());
                assert!((bench.queue_at(50.0) - 200.0).abs() < 10.0, "{text}");
            }
        }
    }
}

#[test]
fn it_follows_a_load_that_changes() {
    for window in [Window::Mgt, Window::Full] {
        let law = PiPd::law(&papers(Form::Switch, None), &context()).unwrap();
        let mut bench = Network { window, ..network(0.2, 60.0) }.under(law, STEP);
        for flows in [60.0, 240.0, 30.0, 120.0] {
            bench.set_flows(flows);
            bench.run(60.0);
            let (mean, sd) = bench.mean_and_sd(10.0);
            assert!((mean - 200.0).abs() < 1.0 && sd < 1.0, "{flows} flows: {mean} +- {sd}");
        }
    }
}

/// ms; ten in a sampling period.
const STEP: u64 = 5;
