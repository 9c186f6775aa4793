//! Cost of a period of SQM's central solver, from what the links demand to what they set, against the numbers of flows and
//! links: prints milliseconds. The mathematics alone is in `crates/optim/benches/period.rs`.

use sojourn_aqm::qdiscs::sqm::central_solver::CentralSolver;
use sojourn_aqm::qdiscs::sqm::{StepRule, Utility};
use sojourn_aqm::{Demands, FlowId};
use sojourn_optim::num::Fairness;
use sojourn_random::Stream;
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
use std::time::Instant;

const FLOWS: [u32; 3] = [100, 1000, 10_000];
const LINKS: [usize; 3] = [1, 10, 100];
const STEPS: [StepRule; 4] = [StepRule::Optimum, StepRule::Newton, StepRule::Adaptive, StepRule::PrimalDual];

fn main() {
    println!(
        "{:>6} {:>5} {:>12} {:>12} {:>12} {:>12} ms",
        "flows", "links", "optimum", "newton", "adaptive", "dual"
    );
    for flows in FLOWS {
        for links in LINKS {
            print!("{flows:>6} {links:>5}");
            for step in STEPS {
                let demands = drawn(flows, links, step);
                let mut solver = CentralSolver::default();
                print!(" {:>12.3}", cost(|| drop(solver.solve(&demands, |_, _| true))));
            }
            println!();
        }
    }
}

/// Paths of one to four links, capacities of 100 to 200 packets/s a flow.
fn drawn(flows: u32, links: usize, step: StepRule) -> Vec<Demands> {
    let mut draws = Stream::named(1, "bench");
    let fairness = Fairness::alpha(2.0).expect("valid");
    let mut demands: Vec<Demands> = (0..links)
        .map(|_| {
            let capacity = (100.0 + 100.0 * draws.uniform()) * (f64::from(flows) / links as f64);
            let utility = Utility::Equal;
            Demands { capacity, fairness, floor: 1.0, utility, step, flows: Vec::new() }
        })
        .collect();
    for flow in 0..flows {
        let weight = 0.5 + draws.uniform();
        let hops = 1 + (draws.uniform() * links.min(4) as f64) as usize;
        let first = (draws.uniform() * links as f64) as usize;
        for hop in 0..hops {
            demands[(first + 7 * hop) % links].flows.push((FlowId(flow), weight));
        }
    }
    demands
}

/// Least of several times, ms.
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
fn cost(mut work: impl FnMut()) -> f64 {
    let once = |_| {
        let begin = Instant::now();
        work();
        1e3 * begin.elapsed().as_secs_f64()
    };
    (0..5).map(once).fold(f64::INFINITY, f64::min)
}
