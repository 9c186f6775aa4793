//! Another target for a law at work.

use crate::bench::Network;
use sojourn_aqm::catalogue;
use sojourn_fluid::plant::Window;
use sojourn_units::Value;

/// 100 flows on 1250 packets/s with 0.2 s without queueing.
const NETWORK: Network =
    Network { flows: 100.0, capacity: 1250.0, base_rtt: 0.2, buffer: 300.0, window: Window::Mgt, ecn: true };

/// Each rests at its first target, and after half of the time at the second one.
#[test]
fn a_new_target_is_held_like_the_first() {
    let given = |target: f64| vec![("target".into(), Value::Text(format!("{target} packets")))];
    for stem in ["pi", "pid", "pi_pd", "cpc", "arm_pfc", "rem"] {
        let law = (catalogue::law(stem).unwrap().build)(&given(100.0), &NETWORK.site()).unwrap();
        let mut bench = NETWORK.under(law, STEP);
        for target in [100.0, 40.0, 160.0] {
            let now = bench.world.now();
            bench.law().retune(now, &given(target), &NETWORK.site()).unwrap();
            assert_eq!(bench.law().target_packets(), Some(target));
            // REM is the slowest.
            bench.run(if stem == "rem" { 300.0 } else { 100.0 });
            let (mean, sd) = bench.rest(20.0);
            assert!((mean - target).abs() < 1.0 && sd < 1.0, "{stem}: {mean} +- {sd} at {target}");
        }
    }
}

/// ms.
const STEP: u64 = 4;
