//! CPC's trajectories.

use crate::bench::{Bench, HOLLOT, Network};
use crate::reference;
use sojourn_aqm::LinkContext;
use sojourn_aqm::laws::cpc::{Adapt, Cpc, Form, Measure, Params};
use sojourn_units::{Amount, Span};

/// The paper's example network, with a target of 175 packets.
fn example() -> Params {
    Params { target: Some(Amount::Packets(175.0)), adapt: Some(Adapt::Nothing), ..Params::default() }
}

/// 100 s of a law designed for `context`, on a network that may have other flows and another delay.
fn run(network: Network, params: &Params, context: &LinkContext) -> Bench {
    let mut bench = network.under(Cpc::law(params, context).unwrap(), STEP);
    bench.run(100.0);
    bench
}

/// The law that was designed for the example.
fn on(flows: f64, base_rtt: f64, params: &Params) -> Bench {
    run(Network { flows, base_rtt, ..HOLLOT }, params, &HOLLOT.context())
}

#[test]
fn the_target_is_held_with_other_flows_and_a_longer_round_trip() {
    for (flows, base_rtt) in [(60.0, 0.2), (40.0, 0.2), (120.0, 0.2), (60.0, 0.3)] {
        let (mean, sd) = on(flows, base_rtt, &example()).mean_and_sd(20.0);
        let key = format!("cpc.da.flight.fluid.N={flows},Tp={base_rtt}.[mean,std]");
        reference::hold(&key, &[mean, sd]);
    }
}

#[test]
fn it_settles_at_the_time_of_the_reference_without_smoothing() {
    // Seconds until the queue stays within 5 % of its target, by the calculation behind maths.json.
    let params = Params { smoothing: Some(Span::from_millis(1)), ..example() };
    for (flows, base_rtt, seconds) in
        [(60.0, 0.2, 17.0), (40.0, 0.2, 9.6), (120.0, 0.2, 39.0), (60.0, 0.3, 12.2)]
    {
        let ours = on(flows, base_rtt, &params).settling(175.0, 0.05);
        assert!((ours / seconds - 1.0).abs() < 0.02, "{flows}, {base_rtt}: {ours} s, not {seconds} s");
    }
}

#[test]
fn a_longer_round_trip_makes_the_paper_form_cycle_and_not_the_default() {
    let sd = |form| on(60.0, 0.3, &Params { form, ..example() }).mean_and_sd(20.0).1;
    let [paper, ours, tuned] = [Form::Paper, Form::DelayAware, Form::Autotune].map(sd);
    assert!(paper > 15.0 && ours < 0.01 && tuned < 0.01, "{paper}, {ours} and {tuned} packets");
}

#[test]
fn the_papers_link_has_the_papers_round_trip_time() {
    let network = Network { flows: 3.0, capacity: 2e6 / 12e3, base_rtt: 0.1, buffer: 300.0, ..HOLLOT };
    let target = Some(Amount::Delay(Span::from_millis(80)));
    for adapt in [Adapt::Nothing, Adapt::Load] {
        let params = Params { target, adapt: Some(adapt), ..Params::default() };
        for flows in [2.0, 3.0, 6.0] {
            let (mean, _) = run(Network { flows, ..network }, &params, &network.context()).mean_and_sd(20.0);
            let rtt = 100.0 + 1e3 * mean / network.capacity;
            reference::hold(&format!("cpc.da.2Mbps.N={flows}.meanRTT_ms"), &[rtt]);
        }
    }
}

/// The number of flows is unknown; the initial estimate is 92, windows of ten packets.
#[test]
fn no_number_of_flows_is_needed() {
    let context = LinkContext { flows: None, ..HOLLOT.context() };
    for measure in [Measure::Flight, Measure::Rate] {
        let params = Params { adapt: None, measure, ..example() };
        for flows in [30.0, 60.0, 120.0, 370.0] {
            let (mean, sd) = run(Network { flows, ..HOLLOT }, &params, &context).mean_and_sd(20.0);
            assert!((mean - 175.0).abs() < 1.0 && sd < 1.0, "{measure:?}, {flows}: {mean} +- {sd}");
        }
    }
}

/// ms; ten in a sampling period.
const STEP: u64 = 2;
