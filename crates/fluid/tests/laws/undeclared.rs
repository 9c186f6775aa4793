//! The five systems with a target and a link rate alone: flows and round-trip time are unknown.

use crate::bench::Network;
use sojourn_aqm::laws::{arm_pfc, cpc, fb_ocq, pi_pd, pid};
use sojourn_aqm::{Law, LinkContext};
use sojourn_fluid::plant::Window;
use sojourn_units::Amount;

const TARGET: f64 = 100.0;

/// The paths below differ from the round trip that is assumed by half and by double.
fn systems(context: &LinkContext) -> [(&'static str, Box<dyn Law>); 5] {
    let target = Some(Amount::Packets(TARGET));
    let ocq = fb_ocq::Params { target, ..fb_ocq::Params::default() };
    [
        ("arm_pfc", Box::new(arm_pfc::ArmPfc::law(&arm_pfc::Params::default(), context).unwrap())),
        ("pid", Box::new(pid::Pid::law(&pid::Params::default(), context).unwrap())),
        ("pi_pd", Box::new(pi_pd::PiPd::law(&pi_pd::Params::default(), context).unwrap())),
        ("cpc", Box::new(cpc::Cpc::law(&cpc::Params::default(), context).unwrap())),
        ("fb_ocq", Box::new(fb_ocq::FbOcq::law(&ocq, context).unwrap())),
    ]
}

/// Systems that do not settle, with the reason on their pages: cpc on a path of twice the round trip that it assumes.
const SWINGS: [(&str, f64, f64); 1] = [("cpc", 120.0, 0.2)];

#[test]
fn every_system_holds_its_target_under_any_load_and_path() {
    for flows in [30.0, 60.0, 120.0] {
        for base_rtt in [0.05, 0.1, 0.2] {
            let (capacity, buffer, window) = (1250.0, 300.0, Window::Full);
            let network = Network { flows, capacity, base_rtt, buffer, window, ecn: true };
            let context = LinkContext { flows: None, base_rtt: None, ..network.context() };
            for (name, law) in systems(&context) {
                let mut bench = network.under(law, STEP);
                bench.world.drivers()[0].context = context;
                bench.run(150.0);
                let (mean, sd) = bench.mean_and_sd(40.0);
                let settles = (mean - TARGET).abs() < 1.0 && sd < 3.0;
                let expected = !SWINGS.contains(&(name, flows, base_rtt));
                assert_eq!(settles, expected, "{name}, {flows} flows, {base_rtt} s: {mean:.1} +- {sd:.1}");
            }
        }
    }
}

/// ms.
const STEP: u64 = 4;
