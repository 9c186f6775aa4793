//! Cost of a period of SQM's learning against the numbers of flows and links: prints milliseconds.

use sojourn_optim::num::online::{Online, Step};
use sojourn_optim::num::prices::Decentralised;
use sojourn_optim::num::projection::onto;
use sojourn_optim::num::{Fairness, Network, Problem};
use sojourn_random::Stream;
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
use std::time::Instant;

const FLOWS: [usize; 3] = [100, 1000, 10_000];
const LINKS: [usize; 3] = [1, 10, 100];

fn main() {
    println!(
        "{:>6} {:>5} {:>12} {:>12} {:>12} {:>12} ms",
        "flows", "links", "projection", "optimum", "newton", "prices"
    );
    for flows in FLOWS {
        for links in LINKS {
            let problem = drawn(flows, links);
            let rates: Vec<f64> = problem.weights.iter().map(|weight| 300.0 * weight).collect();
            let projection = cost(|| drop(onto(&problem.network, &rates, problem.floor)));
            let optimum = cost(|| drop(problem.optimum()));
            let mut online = Online::new(problem.clone(), Step::Newton).expect("valid");
            let newton = cost(|| online.end_period(&problem.weights));
            let mut prices = Decentralised::new(problem.clone()).expect("alpha is above 0");
            let round = cost(|| prices.round());
            println!("{flows:>6} {links:>5} {projection:>12.3} {optimum:>12.3} {newton:>12.3} {round:>12.3}");
        }
    }
}

/// Paths of one to four links, capacities of 100 to 200 packets/s a flow.
fn drawn(flows: usize, links: usize) -> Problem {
    let mut draws = Stream::named(1, "bench");
    let mut path = || {
        let hops = 1 + (draws.uniform() * links.min(4) as f64) as usize;
        let first = (draws.uniform() * links as f64) as usize;
        (0..hops).map(|hop| (first + 7 * hop) % links).collect::<Vec<_>>()
    };
    let paths: Vec<Vec<usize>> = (0..flows).map(|_| path()).collect();
    let capacities =
        (0..links).map(|_| (100.0 + 100.0 * draws.uniform()) * (flows as f64 / links as f64)).collect();
    let weights = (0..flows).map(|_| 0.5 + draws.uniform()).collect();
    let network = Network::new(capacities, &paths).expect("valid");
    let fairness = Fairness::alpha(2.0).expect("valid");
    Problem { network, fairness, weights, floor: 1.0 }.checked().expect("valid")
}

/// Least of several times, ms.
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
fn cost(mut work: impl FnMut()) -> f64 {
    let once = |_| {
        let begin = Instant::now();
        work();
        1e3 * begin.elapsed().as_secs_f64()
    };
    (0..7).map(once).fold(f64::INFINITY, f64::min)
}
