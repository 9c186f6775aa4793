//! Network utility maximisation: reference numbers, optimality conditions, an independent projection, and random networks.

#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

use proptest::prelude::*;
use reference::hold;
use sojourn_optim::num::prices::Decentralised;
use sojourn_optim::num::projection::{onto, onto_by};
use sojourn_optim::num::{Fairness, Network, Problem};
use sojourn_units::math;

fn of_one_link(capacity: f64, weights: &[f64], alpha: f64, floor: f64) -> Problem {
    let network = Network::of_one_link(capacity, weights.len()).unwrap();
    let fairness = Fairness::alpha(alpha).unwrap();
    Problem { network, fairness, weights: weights.to_vec(), floor }.checked().unwrap()
}

/// Nine flows over links of 300 and 200 packets/s.
fn two_links() -> Network {
    let paths: [&[usize]; 9] = [&[0], &[0], &[0], &[0, 1], &[0, 1], &[0, 1], &[1], &[1], &[1]];
    Network::new(vec![300.0, 200.0], &paths).unwrap()
}

#[test]
fn projections_are_the_references() {
    let network = Network::of_one_link(4.0, 4).unwrap();
    hold("snum.proj_link y=(5,3,1,0) C=4 eps=.5", &onto(&network, &[5.0, 3.0, 1.0, 0.0], 0.5));
    // Prices of 30 and 45.5.
    let rates = [150.0, 110.0, 50.0, 130.0, 100.0, 10.0, 160.0, 50.0, 20.0];
    hold("snum.proj_net.example", &onto(&two_links(), &rates, 1.0));
}

#[test]
fn the_best_fixed_rates_are_the_references() {
    let problem = of_one_link(100.0, &[4.0, 1.0, 1.0], 2.0, 1e-3);
    hold("snum.best_fixed m=(4,1,1) C=100", &problem.optimum().rates);
}

/// Five flows over links of 100 and 60 packets/s.
fn five_flows() -> Problem {
    let paths: [&[usize]; 5] = [&[0], &[0], &[0, 1], &[1], &[1]];
    let network = Network::new(vec![100.0, 60.0], &paths).unwrap();
    Problem { network, fairness: Fairness::alpha(2.0).unwrap(), weights: vec![1.0; 5], floor: 1e-3 }
}

#[test]
fn prices_without_a_centre_are_the_references() {
    let mut links = Decentralised::new(five_flows()).unwrap();
    (0..50).for_each(|_| links.round());
    hold("snum.dual.x", &links.rates());
    hold("snum.dual.price", links.prices());
    let optimum = five_flows().optimum();
    hold("snum.dual.x", &optimum.rates);
    hold("snum.dual.price", &optimum.prices);
}

/// Dykstra's method: the sets of all links in turn, each with its own correction (J. Boyle, R. Dykstra 1986).
/// The rates, and all corrections: where the method stalls, rates stand still for thousands of cycles while these move.
fn dykstra(network: &Network, rates: &[f64], floor: f64, cycles: u32) -> (Vec<f64>, Vec<f64>) {
    let links = network.capacities().len();
    let members = |link: usize| {
        let crosses = move |flow: &usize| network.path(*flow).contains(&(link as u32));
        (0..rates.len()).filter(crosses).collect::<Vec<_>>()
    };
    let members: Vec<Vec<usize>> = (0..links).map(members).collect();
    let mut x = rates.to_vec();
    let mut corrections = vec![vec![0.0; rates.len()]; links + 1];
    for _ in 0..cycles {
        for (set, correction) in corrections.iter_mut().enumerate() {
            let y: Vec<f64> = x.iter().zip(correction.iter()).map(|(x, correction)| x + correction).collect();
            let mut next = y.clone();
            if set == links {
                for rate in &mut next {
                    *rate = rate.max(floor);
                }
            } else {
                let load: f64 = members[set].iter().map(|flow| y[*flow]).sum();
                let excess = (load - network.capacities()[set]).max(0.0) / members[set].len().max(1) as f64;
                members[set].iter().for_each(|flow| next[*flow] -= excess);
            }
            for flow in 0..rates.len() {
                correction[flow] = y[flow] - next[flow];
            }
            x = next;
        }
    }
    (x, corrections.concat())
}

/// Dykstra's rates do not change between 1000 and 4000 cycles here, and are those of the projection after 8000.
#[test]
fn a_projection_is_not_where_dykstra_stalls() {
    let paths: [&[usize]; 10] =
        [&[1], &[0, 2], &[2], &[0, 1, 2], &[0], &[0, 1, 2], &[0], &[1, 2], &[0], &[2]];
    let network = Network::new(vec![298.4, 28.8, 326.2], &paths).unwrap();
    let mut rates = [140.0; 10];
    (rates[1], rates[7]) = (1700.0, 1450.0);
    let [stalled, converged] = [4000, 8000].map(|cycles| dykstra(&network, &rates, 3e-8, cycles).0);
    let ours = onto(&network, &rates, 3e-8);
    let gap =
        |other: &[f64]| ours.iter().zip(other).map(|(ours, other)| (ours - other).abs()).fold(0.0, f64::max);
    assert!(gap(&converged) < 1e-6 && gap(&stalled) > 0.1, "{} {}", gap(&converged), gap(&stalled));
}

/// Links, paths over them, and a number for each flow.
#[derive(Clone, Debug)]
struct Case {
    network: Network,
    weights: Vec<f64>,
    floor: f64,
}

fn cases(most_links: usize, most_flows: usize) -> impl Strategy<Value = Case> {
    let sizes = (1..=most_links, 1..=most_flows);
    sizes.prop_flat_map(|(links, flows)| {
        let path = proptest::sample::subsequence((0..links).collect::<Vec<_>>(), 1..=links.min(4));
        let capacities = proptest::collection::vec(20.0..500.0, links);
        let weight = prop_oneof![9 => (-2.0..2.0).prop_map(math::exp), 1 => Just(0.0)];
        let weights = proptest::collection::vec(weight, flows);
        (capacities, proptest::collection::vec(path, flows), weights, 1e-4..1.0).prop_map(
            |(capacities, paths, weights, part)| {
                let network = Network::new(capacities, &paths).unwrap();
                let least = network.capacities().iter().copied().fold(f64::INFINITY, f64::min);
                let floor = part * part * least / paths.len() as f64;
                Case { network, weights, floor }
            },
        )
    })
}

fn fits(network: &Network, rates: &[f64], floor: f64) -> bool {
    let within = |(load, capacity): (f64, &f64)| load <= capacity * (1.0 + 1e-12);
    network.loads(rates).into_iter().zip(network.capacities()).all(within)
        && rates.iter().all(|rate| *rate >= floor)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// The optimum, by the conditions of Karush, Kuhn and Tucker for a problem whose optimum is unique.
    #[test]
    fn rates_are_optimal(case in cases(20, 60), alpha in prop_oneof![Just(1.0), Just(2.0), 0.1..8.0]) {
        let Case { network, weights, floor } = case;
        let fairness = Fairness::alpha(alpha).unwrap();
        let problem = Problem { network, fairness, weights, floor }.checked().unwrap();
        let optimum = problem.optimum();
        let rates = &optimum.rates;
        prop_assert!(fits(&problem.network, rates, floor));
        for (flow, (rate, weight)) in rates.iter().zip(&problem.weights).enumerate() {
            let price = problem.network.path_price(flow, &optimum.prices);
            let marginal = weight * fairness.marginal(*rate);
            if *rate > floor * (1.0 + 1e-9) {
                prop_assert!((marginal / price - 1.0).abs() < 1e-7 * alpha.max(1.0), "{flow}: {marginal} at {price}");
            } else {
                prop_assert!(marginal <= price * (1.0 + 1e-7 * alpha.max(1.0)), "{flow}: {marginal} at {price}");
            }
        }
        // A link with room has no price that any flow would feel.
        let loads = problem.network.loads(rates);
        for (flow, _) in rates.iter().enumerate().filter(|(_, rate)| **rate > floor * (1.0 + 1e-9)) {
            let path_price = problem.network.path_price(flow, &optimum.prices);
            for link in problem.network.path(flow).iter().map(|link| *link as usize) {
                let (part, load) = (optimum.prices[link] / path_price, loads[link] / problem.network.capacities()[link]);
                prop_assert!(part < 1e-8 || load > 1.0 - 1e-8, "{link}: {part} at {load}");
            }
        }
    }

    /// Against Dykstra's method, which projects onto one set after the other, where it has converged.
    #[test]
    fn projections_are_those_of_dykstra(case in cases(3, 12), scale in 0.1..20.0) {
        let Case { network, weights, floor } = case;
        let rates: Vec<f64> = weights.iter().map(|weight| scale * 20.0 * (weight - 0.5)).collect();
        let [(_, earlier), (other, later)] = [1000, 2000].map(|cycles| dykstra(&network, &rates, floor, cycles));
        let excess = network.loads(&other).into_iter().zip(network.capacities()).map(|(load, capacity)| load - capacity);
        let is_inside = excess.fold(0.0, f64::max) < 1e-9 && other.iter().all(|rate| *rate > floor - 1e-9);
        prop_assume!(is_inside && earlier.iter().zip(&later).all(|(a, b)| (a - b).abs() < 1e-9));
        let ours = onto(&network, &rates, floor);
        prop_assert!(fits(&network, &ours, floor));
        for (ours, other) in ours.iter().zip(&other) {
            prop_assert!((ours - other).abs() < 1e-7 * (1.0 + other.abs()), "{ours} {other}");
        }
    }

    /// The nearest point of a convex set: no feasible one lies further along the way to where it came from.
    #[test]
    fn projections_are_nearest_in_their_metric(case in cases(12, 40), other in cases(1, 40), scale in 0.1..20.0) {
        let Case { network, weights, floor } = case;
        let rates: Vec<f64> = weights.iter().map(|weight| scale * 30.0 * weight).collect();
        let metric: Vec<f64> = (0..rates.len()).map(|flow| 0.05 + other.weights[flow % other.weights.len()]).collect();
        let x = onto_by(&network, &rates, floor, &metric);
        prop_assert!(fits(&network, &x, floor));
        let z: Vec<f64> = (0..rates.len()).map(|flow| 40.0 * other.weights[(7 * flow) % other.weights.len()]).collect();
        let z = onto(&network, &z, floor);
        let angle: f64 = (0..rates.len()).map(|flow| metric[flow] * (rates[flow] - x[flow]) * (z[flow] - x[flow])).sum();
        let size: f64 = (0..rates.len()).map(|flow| metric[flow] * rates[flow] * rates[flow]).sum();
        prop_assert!(angle <= 1e-9 * size, "{angle} of {size}");
    }

    /// Max-min fairness: every flow has a link that is full, on which no other has more (Bertsekas, Gallager 1992, 6.5.2).
    #[test]
    fn max_min_rates_have_a_bottleneck_each(case in cases(20, 60)) {
        let Case { network, weights, floor } = case;
        let problem = Problem { network, fairness: Fairness::MaxMin, weights, floor }.checked().unwrap();
        let rates = problem.optimum().rates;
        prop_assert!(fits(&problem.network, &rates, floor));
        let loads = problem.network.loads(&rates);
        for flow in (0..rates.len()).filter(|flow| problem.weights[*flow] > 0.0) {
            let is_bottleneck = |link: &u32| {
                let is_full = loads[*link as usize] > problem.network.capacities()[*link as usize] * (1.0 - 1e-9);
                let others = (0..rates.len()).filter(|other| problem.network.path(*other).contains(link));
                is_full && others.map(|other| rates[other]).fold(0.0, f64::max) <= rates[flow] * (1.0 + 1e-9)
            };
            prop_assert!(problem.network.path(flow).iter().any(is_bottleneck), "{flow}");
        }
    }

    /// A large alpha is close to max-min fairness, and alpha = 0 to the greatest throughput of all.
    #[test]
    fn alpha_is_between_the_greatest_throughput_and_max_min(case in cases(8, 24)) {
        let Case { network, weights, floor } = case;
        let weights: Vec<f64> = weights.iter().map(|weight| f64::from(u8::from(*weight > 0.0))).collect();
        let problem = |fairness| Problem { network: network.clone(), fairness, weights: weights.clone(), floor };
        // Between them the throughput need not fall with alpha (A. Tang, J. Wang, S. Low, IEEE/ACM ToN 14(2), 2006).
        let total = |alpha| problem(Fairness::alpha(alpha).unwrap()).optimum().rates.iter().sum::<f64>();
        let [greatest, rest @ ..] = [0.0, 0.1, 1.0, 8.0].map(total);
        prop_assert!(rest.iter().all(|total| *total <= greatest * (1.0 + 1e-9)), "{greatest} {rest:?}");
        let least = |rates: &[f64]| rates.iter().zip(&weights).filter(|(_, w)| **w > 0.0).map(|(rate, _)| *rate).fold(f64::INFINITY, f64::min);
        let [fair, max_min] = [Fairness::alpha(8.0).unwrap(), Fairness::MaxMin].map(|fairness| least(&problem(fairness).optimum().rates));
        prop_assert!(weights.iter().all(|w| *w == 0.0) || fair > 0.6 * max_min && fair <= max_min * (1.0 + 1e-9), "{fair} {max_min}");
    }
}

#[test]
fn what_is_no_problem_is_refused_in_a_line() {
    let line = |problem: Problem| problem.checked().unwrap_err().to_string();
    let problem = |floor: f64, weights: Vec<f64>| Problem {
        network: two_links(),
        fairness: Fairness::MaxMin,
        weights,
        floor,
    };
    let lines = [
        line(problem(40.0, vec![1.0; 9])),
        line(problem(0.0, vec![1.0; 9])),
        line(problem(1.0, vec![1.0; 8])),
        line(problem(1.0, vec![-1.0; 9])),
        Fairness::alpha(-1.0).unwrap_err().to_string(),
        Network::new(vec![1.0], &[vec![]]).unwrap_err().to_string(),
        Network::new(vec![1.0], &[[1]]).unwrap_err().to_string(),
        Network::new(vec![1.0], &[[0, 0]]).unwrap_err().to_string(),
        Network::new(vec![0.0], &[[0]]).unwrap_err().to_string(),
    ];
    let expected = [
        "floor: 40 times the 6 flows of link 1 leaves nothing of its 200 packets/s; expected below 33.333333333333336",
        "floor: 0 is out of range; expected more than 0",
        "weights: 8 are given; expected one of each flow, 9",
        "weights[0]: -1 is out of range; expected 0 or more",
        "-1 is out of range; expected 0, 0.1 to 8, or \"max_min\"",
        "paths[0]: has no link; expected one or more links, each once",
        "paths[0]: crosses link 1 of 1; expected one or more links, each once",
        "paths[0]: crosses link 0 twice; expected one or more links, each once",
        "capacities[0]: 0 is out of range; expected more than 0",
    ];
    assert_eq!(lines, expected);
}
