//! CPC against numbers from outside: its design, its loops, and its trajectories on a fluid plant.

#[path = "../common/fluid.rs"]
mod fluid;
#[path = "../common/reference.rs"]
mod reference;

use fluid::{Fluid, Network, Tcp};
use sojourn_aqm::laws::cpc::{Adapt, Cpc, Design, Form, Measure, Params, design};
use sojourn_aqm::{Controller, Site};
use sojourn_units::{Amount, Rate, Span};

fn site(flows: f64, capacity: f64, base: f64, limit: f64) -> Site {
    let rate = Rate::from_bits_per_second(capacity * 8000.0);
    Site { rate, packet: 1000.0, limit, flows: Some(flows), base_rtt: Some(Span::from_seconds(base)) }
}

fn run(params: &Params, site: &Site, network: Network, seconds: f64) -> Fluid {
    let mut controller = Cpc::new(params, site).unwrap();
    let mut fluid = Fluid::new(network, controller.period().seconds(), 10);
    fluid.run(&mut controller, seconds);
    fluid
}
#[test]
fn explore() {
    for form in [Form::DelayAware, Form::Paper] {
        for measure in [Measure::Flight, Measure::Rate] {
            for adapt in [Adapt::Nothing, Adapt::Load] {
                for (n, tp) in [(60.0, 0.2), (40.0, 0.2), (120.0, 0.2), (60.0, 0.3)] {
                    let params = Params {
                        target: Amount::Packets(175.0),
                        form,
                        measure,
                        adapt: Some(adapt),
                        ..Params::default()
                    };
                    let f = run(
                        &params,
                        &site(60.0, 3750.0, 0.2, 800.0),
                        Network { flows: n, capacity: 3750.0, base_rtt: tp, buffer: 800.0, tcp: Tcp::Mgt },
                        100.0,
                    );
                    let (m, sd) = f.rest(20.0);
                    println!(
                        "{form:?} {measure:?} {adapt:?} N={n} Tp={tp}: {m:.3} {sd:.4} settle {:.2} {:.2}",
                        f.settling(175.0, 0.05),
                        f.settling(175.0, 0.1)
                    );
                }
                let params = Params {
                    target: Amount::Packets(40.0 / 3.0),
                    form,
                    measure,
                    adapt: Some(adapt),
                    ..Params::default()
                };
                for n in [2.0, 3.0, 6.0, 12.0] {
                    let f = run(
                        &params,
                        &site(3.0, 500.0 / 3.0, 0.1, 300.0),
                        Network {
                            flows: n,
                            capacity: 500.0 / 3.0,
                            base_rtt: 0.1,
                            buffer: 300.0,
                            tcp: Tcp::Mgt,
                        },
                        100.0,
                    );
                    let (m, sd) = f.rest(20.0);
                    println!(
                        "  small N={n}: rtt {:.3} sd {sd:.4} settle {:.2}",
                        100.0 + m * 6.0,
                        f.settling(40.0 / 3.0, 0.1)
                    );
                }
            }
        }
    }
}
