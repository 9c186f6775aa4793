//! Changes of the target during a run.

use crate::bench::Network;
use sojourn_aqm::LawSpec;
use sojourn_fluid::plant::Window;
use sojourn_params::Value;

/// 100 flows on 1250 packets/s with a base RTT of 0.2 s.
const NETWORK: Network =
    Network { flows: 100.0, capacity: 1250.0, base_rtt: 0.2, buffer: 300.0, window: Window::Mgt, ecn: true };

/// Each comes to its first target, and after half of the time to the second one.
#[test]
fn a_new_target_is_held_like_the_first() {
    for stem in ["pi", "pid", "pi_pd", "cpc", "arm_pfc", "rem"] {
        let held_at = |target: f64| {
            LawSpec::new(stem, &[("target".into(), Value::Text(format!("{target} packets")))]).unwrap()
        };
        let law = held_at(100.0).design(&NETWORK.context()).unwrap().law();
        let mut bench = NETWORK.under(law, STEP);
        for target in [100.0, 40.0, 160.0] {
            let now = bench.world.now();
            bench.law().set_params(now, held_at(target).given(), &NETWORK.context()).unwrap();
            assert_eq!(bench.law().analysis().target_packets(), Some(target));
            // REM is the slowest.
            bench.run(if stem == "rem" { 300.0 } else { 100.0 });
            let (mean, sd) = bench.mean_and_sd(20.0);
            assert!((mean - target).abs() < 1.0 && sd < 1.0, "{stem}: {mean} +- {sd} at {target}");
        }
    }
}

/// ms.
const STEP: u64 = 4;
