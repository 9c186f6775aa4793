//! Rates learned over periods, and prices without a centre: regret, tracking, and agreement with the optimum.

use sojourn_optim::num::online::{Online, Step};
use sojourn_optim::num::prices::Decentralised;
use sojourn_optim::num::primal_dual::PrimalDual;
use sojourn_optim::num::regret::Regret;
use sojourn_optim::num::{Fairness, Network, Problem};
use sojourn_random::Stream;
use sojourn_units::math;

/// A network of `links` and paths of up to four of them, five flows a link.
fn drawn(links: usize, alpha: f64, draws: &mut Stream) -> Problem {
    let whole = |draws: &mut Stream, below: usize| (draws.uniform() * below as f64) as usize;
    let flows = 5 * links;
    let capacities = (0..links).map(|_| 50.0 + 450.0 * draws.uniform()).collect();
    let path = |draws: &mut Stream| {
        let hops = 1 + whole(draws, links.min(4));
        let mut path: Vec<usize> = Vec::new();
        while path.len() < hops {
            let link = whole(draws, links);
            if !path.contains(&link) {
                path.push(link);
            }
        }
        path
    };
    let paths: Vec<Vec<usize>> = (0..flows).map(|_| path(draws)).collect();
    let weights = (0..flows).map(|_| 0.5 + 1.5 * draws.uniform()).collect();
    let network = Network::new(capacities, &paths).unwrap();
    Problem { network, fairness: Fairness::alpha(alpha).unwrap(), weights, floor: 1e-3 }.checked().unwrap()
}

/// After so many rounds: the greatest relative difference of a rate from the optimum, and that of the utility.
fn distance(problem: &Problem, rounds: u32) -> [f64; 2] {
    let mut links = Decentralised::new(problem.clone()).unwrap();
    (0..rounds).for_each(|_| links.round());
    let (rates, optimum) = (links.rates(), problem.optimum().rates);
    let off = |(rate, best): (&f64, &f64)| (rate / best - 1.0).abs();
    let utility = problem.utility(&optimum);
    [rates.iter().zip(&optimum).map(off).fold(0.0, f64::max), (problem.utility(&rates) / utility - 1.0).abs()]
}

#[test]
fn fifty_rounds_of_prices_lead_to_the_optimum() {
    for alpha in [1.0, 2.0] {
        let distance = |number: u64| {
            let mut draws = Stream::named(number, "networks");
            distance(&drawn(2 + number as usize % 19, alpha, &mut draws), 50)
        };
        let distances: Vec<[f64; 2]> = (0..20).map(distance).collect();
        let close = distances.iter().filter(|[rates, _]| *rates < 0.01).count();
        assert!(close >= 19, "{close} of 20 networks: {distances:?}");
        assert!(distances.iter().all(|[_, utility]| *utility < 0.001), "{distances:?}");
    }
}

#[test]
fn two_hundred_rounds_lead_a_hundred_links_to_the_optimum() {
    let is_close = |number: &u64| {
        let mut draws = Stream::named(*number, "large networks");
        distance(&drawn(100, 1.0, &mut draws), 200)[0] < 0.01
    };
    let close = (0..20).filter(is_close).count();
    assert!(close >= 18, "{close} of 20 networks");
}

/// Flows over one link, each at least at this part of its fair share.
fn one_link(flows: usize, part: f64) -> Problem {
    let network = Network::of_one_link(4166.0, flows).unwrap();
    let fairness = Fairness::alpha(2.0).unwrap();
    Problem { network, fairness, weights: vec![0.0; flows], floor: part * 4166.0 / flows as f64 }
        .checked()
        .unwrap()
}

/// Weights of a period.
type Load = fn(&mut Stream) -> f64;

/// A flow that is there in three of five periods.
fn on_and_off(draws: &mut Stream) -> f64 {
    f64::from(u8::from(draws.uniform() < 0.6))
}

/// A flow that is always there, of varying weight.
fn weighted(draws: &mut Stream) -> f64 {
    0.5 + draws.uniform()
}

/// Mean regret of eight loads after each of these numbers of periods.
fn regrets(problem: &Problem, step: Step, load: Load, at: &[u32]) -> Vec<f64> {
    let mut sums = vec![0.0; at.len()];
    for seed in 0..8 {
        let mut draws = Stream::named(seed, "load");
        let mut online = Online::new(problem.clone(), step).unwrap();
        let mut regret = Regret::new(problem);
        let mut weights = problem.weights.clone();
        for t in 1..=*at.last().unwrap() {
            for weight in &mut weights {
                *weight = load(&mut draws);
            }
            regret.add(&weights, online.rates());
            online.end_period(&weights);
            if let Some(place) = at.iter().position(|at| *at == t) {
                sums[place] += regret.value().unwrap() / 8.0;
            }
        }
    }
    sums
}

/// Slope of a least-squares line.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x0, y0) = (mean(x), mean(y));
    let above: f64 = x.iter().zip(y).map(|(x, y)| (x - x0) * (y - y0)).sum();
    above / x.iter().map(|x| (x - x0) * (x - x0)).sum::<f64>()
}

/// Four decades of T.
const DECADES: [u32; 9] = [3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000];

/// The exponent of T in the regret.
fn exponent(regrets: &[f64]) -> f64 {
    let logs = |values: &[f64]| values.iter().map(|value| math::ln(*value)).collect::<Vec<_>>();
    slope(&logs(&DECADES.map(f64::from)), &logs(regrets))
}

#[test]
fn regret_grows_no_faster_than_the_root_of_t() {
    let problem = one_link(40, 0.2);
    let printed = Step::Printed { gradient: problem.gradient_bound(1.0, 40) };
    for step in [printed, Step::Adaptive] {
        let regrets = regrets(&problem, step, on_and_off, &DECADES);
        assert!(exponent(&regrets) <= 0.5, "{step:?}: {regrets:?}");
        if let Step::Printed { gradient } = step {
            let bound = |t: u32| 1.5 * gradient * problem.diameter() * f64::from(t).sqrt();
            assert!(regrets.iter().zip(DECADES).all(|(regret, t)| *regret <= bound(t)), "Theorem 4");
        }
    }
}

/// U_t has a curvature of H at least for every flow where none is absent.
#[test]
fn regret_grows_as_the_logarithm_of_t_where_utilities_are_strongly_concave() {
    let problem = one_link(4, 0.5);
    let most = 4166.0 - 3.0 * problem.floor;
    let curvature = 2.0 * 0.5 / (most * most * most);
    let regrets = regrets(&problem, Step::Harmonic { curvature }, weighted, &DECADES);
    let gradient = problem.gradient_bound(1.5, 4);
    let bound = |t: u32| gradient * gradient / (2.0 * curvature) * (1.0 + math::ln(f64::from(t)));
    assert!(regrets.iter().zip(DECADES).all(|(regret, t)| *regret <= bound(t)), "{regrets:?}");
    let per_log: Vec<f64> =
        regrets.iter().zip(DECADES).map(|(regret, t)| regret / math::ln(f64::from(t))).collect();
    assert!(per_log[2..].is_sorted_by(|a, b| a > b), "{per_log:?}");
}

/// Periods after a step of the load, from 10 flows to 30, until every rate is within 5 % of the new optimum.
fn periods_to_follow(step: Step) -> Option<u32> {
    let weights = |present: usize| -> Vec<f64> {
        (0..40).map(|flow| f64::from(u8::from(flow < present)) * (1.0 + flow as f64 / 10.0)).collect()
    };
    let after = Problem { weights: weights(30), ..one_link(40, 0.2) };
    let best = after.optimum().rates;
    let mut online = Online::new(one_link(40, 0.2), step).unwrap();
    (0..100).for_each(|_| online.end_period(&weights(10)));
    let is_close =
        |rates: &[f64]| rates.iter().zip(&best).all(|(rate, best)| (rate / best - 1.0).abs() < 0.05);
    (1..=10_000).find(|_| {
        online.end_period(&after.weights);
        is_close(online.rates())
    })
}

#[test]
fn rates_follow_a_step_of_the_load_within_periods() {
    assert_eq!(periods_to_follow(Step::Optimum), Some(1));
    assert_eq!(periods_to_follow(Step::Newton), Some(3));
    // What a bound of the static regret does not promise.
    let problem = one_link(40, 0.2);
    let printed = Step::Printed { gradient: problem.gradient_bound(4.9, 40) };
    assert_eq!(periods_to_follow(printed), Some(334));
    assert_eq!(periods_to_follow(Step::Adaptive), Some(49));
}

/// It depends on the step, as Remark 1 says: with one ten times as long the rates never settle.
#[test]
fn primal_and_dual_steps_lead_to_the_optimum_if_they_are_short() {
    let mut draws = Stream::named(1, "primal and dual");
    let problem = drawn(5, 2.0, &mut draws);
    let optimum = problem.optimum().rates;
    let distance = |step: f64| {
        let mut pair = PrimalDual::new(problem.clone(), step, 1e-4).unwrap();
        (0..5000).for_each(|_| pair.end_period(&problem.weights));
        let off = |(rate, best): (&f64, &f64)| (rate / best - 1.0).abs();
        pair.feasible_rates().iter().zip(&optimum).map(off).fold(0.0, f64::max)
    };
    assert!(distance(0.02) < 1e-4, "{}", distance(0.02));
    assert!(distance(0.2) > 0.1, "{}", distance(0.2));
}
