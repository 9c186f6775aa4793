//! PID's trajectories.

use crate::bench::{Bench, HOLLOT, Network};
use sojourn_aqm::LinkContext;
use sojourn_aqm::laws::pid::{Form, Params, Pid};
use sojourn_fluid::plant::Window;
use sojourn_units::{Amount, Frequency};

/// Network whose round-trip time is R with the queue at the target of 200 packets.
fn network(rtt: f64, flows: f64, window: Window) -> Network {
    Network { flows, base_rtt: rtt - 200.0 / 3750.0, window, ..HOLLOT }
}

fn run(params: &Params, network: Network) -> Bench {
    let context = LinkContext { flows: None, base_rtt: None, ..HOLLOT.context() };
    let params = Params { target: Some(Amount::Packets(200.0)), ..params.clone() };
    let mut bench = network.under(Pid::law(&params, &context).unwrap(), STEP);
    bench.run(100.0);
    bench
}

/// With the printed K_D the gain margin at 60 flows is 1.49, with a tenth of it 3.65; the gain of 45 flows
/// is 1.78 times as large.
#[test]
fn the_printed_derivative_gain_has_no_margin_and_a_tenth_of_it_has() {
    for (kd, settles) in [(5.1e-5, false), (5.1e-6, true)] {
        let gains = Params { kp: Some(6.2e-5), ki: Some(3.12e-5), kd: Some(kd), ..Params::default() };
        let params = Params { rate: Frequency::new(29.5), ..gains };
        let (mean, sd) = run(&params, network(0.246, 45.0, Window::Mgt)).mean_and_sd(50.0);
        assert_eq!(sd < 0.01 && (mean - 200.0).abs() < 0.01, settles, "K_D {kd}: {mean} +- {sd}");
    }
}

#[test]
fn without_a_number_of_flows_it_settles_at_the_target() {
    for form in [Form::Position, Form::Velocity] {
        for flows in [30.0, 63.0, 126.0, 250.0] {
            for rtt in [0.15, 0.2533] {
                let params = Params { form, ..Params::default() };
                let bench = run(&params, network(rtt, flows, Window::Mgt));
                let (settled, at_20) = (bench.settling(200.0, 0.05), bench.queue_at(20.0));
                assert!(
                    settled < 20.0 && (at_20 - 200.0).abs() < 5.0,
                    "{form:?}, {flows} flows: {settled} s"
                );
                let p = 2.0 * flows * flows / (rtt * rtt * 3750.0 * 3750.0);
                assert!((bench.p() / p - 1.0).abs() < 1e-3, "{form:?}, {flows} flows: {} for {p}", bench.p());
            }
        }
    }
    // The other equation of the windows: p = 2 / (2 + W^2).
    let bench = run(&Params::default(), network(0.15, 250.0, Window::Full));
    let window = 0.15 * 3750.0 / 250.0;
    assert!((bench.p() * (2.0 + window * window) / 2.0 - 1.0).abs() < 1e-3, "{}", bench.p());
}

/// ms.
const STEP: u64 = 4;
