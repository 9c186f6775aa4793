//! FB-OCQ against numbers from outside, on a fluid plant.

#[path = "../common/fluid.rs"]
mod fluid;
#[path = "../common/reference.rs"]
mod reference;

use fluid::{Fluid, Network, Tcp};
use reference::hold;
use sojourn_aqm::laws::fb_ocq::{FbOcq, Load, Params};
use sojourn_aqm::{Controller, Site};
use sojourn_units::{Rate, Span};

/// 1250 packets/s and 0.1 s without queueing in front of 100 packets of buffer; no flows are told of.
fn site() -> Site {
    let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
    Site { rate, packet: 1000.0, limit: 100.0, flows: None, base_rtt: Some(Span::from_millis(100)) }
}

fn controller(params: &Params) -> FbOcq {
    FbOcq::new(params, &site()).unwrap()
}

/// A minute of so many flows, and what it ends in: mean and standard deviation over the second half.
fn minute(params: &Params, flows: f64, drops: bool) -> (f64, f64) {
    let mut controller = controller(params);
    let network = Network { flows, capacity: 1250.0, base_rtt: 0.1, buffer: 100.0, tcp: Tcp::Full };
    let mut fluid = Fluid::new(network, controller.period().seconds(), STRIDE);
    fluid.drops = drops;
    fluid.run(&mut controller, 60.0);
    fluid.rest(30.0)
}

#[test]
fn explore() {
    for drops in [true, false] {
        for load in [Load::Offered, Load::Virtual] {
            for bias in [true, false] {
                for tw in [100, 1000] {
                    for t_c in [200, 500, 1000] {
                        for flows in [5., 10., 20., 40., 80., 160.] {
                            let params = Params {
                                t_c: Span::from_millis(t_c),
                                tau_w: Some(Span::from_millis(tw)),
                                load,
                                bias,
                                ..Params::default()
                            };
                            let (m, s) = minute(&params, flows, drops);
                            println!(
                                "drops {drops} {load:?} bias {bias} tau_w {tw} t_c {t_c} N {flows}: {m:.3} {s:.4}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Steps of the fluid plant in a sampling period.
const STRIDE: usize = 10;
