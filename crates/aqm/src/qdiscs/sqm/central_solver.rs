//! Algorithms 1 and 2 at one place: the problem of all links together.
//!
//! The paper's solver knows every flow and the links that it crosses, solves (26), (27) at the end of each period, and each
//! link sets the rates that follow as the weights of its queues. Here a flow crosses the links at which it has a queue. It
//! has one rate at all of them, and the greatest of the weights w that they give it. The acknowledgments of a flow are
//! packets of another size on another way: at the links where they have a queue they are a flow of their own.
//!
//! Links whose alpha or rule of steps differ have no problem in common: those of each kind are solved apart.

use super::rules::{DUAL_DAMPING, DUAL_STEP};
use super::tuning::MOST_FLOOR_OF_SLOWER;
use super::{StepRule, Utility};
use crate::flow_shares::Demands;
use crate::law::FlowId;
use sojourn_optim::num::online::{Online, Step};
use sojourn_optim::num::primal_dual::PrimalDual;
use sojourn_optim::num::{Fairness, Network, Problem};
use sojourn_params::InputError;
use sojourn_units::math;
use std::collections::BTreeMap;

/// The solver of several links.
#[derive(Clone, Debug, Default)]
pub struct CentralSolver {
    solvers: Vec<Solver>,
}

/// The rates at a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solved {
    /// pi of the link; None: this rule has no prices.
    pub price: Option<f64>,
    /// Rate of each of its flows, packets/s.
    pub rates: Vec<(FlowId, f64)>,
}

impl CentralSolver {
    /// The rates of the next period at each of the links; `is_data` of a link and a flow: its data cross the link, not its
    /// acknowledgments.
    pub fn solve(&mut self, links: &[Demands], is_data: impl Fn(usize, FlowId) -> bool) -> Vec<Solved> {
        let mut solved = vec![Solved::default(); links.len()];
        let mut rest: Vec<usize> = (0..links.len()).filter(|link| !links[*link].flows.is_empty()).collect();
        while let Some(first) = rest.first() {
            let kind = Kind::of(&links[*first]);
            let (alike, others) = rest.into_iter().partition(|link| Kind::of(&links[*link]) == kind);
            rest = others;
            self.solver(kind).solve(&Together::of(links, alike, &is_data), &mut solved);
        }
        solved
    }

    fn solver(&mut self, kind: Kind) -> &mut Solver {
        let place = self.solvers.iter().position(|solver| solver.kind == kind).unwrap_or_else(|| {
            self.solvers.push(Solver { kind, learner: None, utilities: Vec::new(), known: BTreeMap::new() });
            self.solvers.len() - 1
        });
        &mut self.solvers[place]
    }
}

/// Common properties of links with one problem.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kind {
    fairness: Fairness,
    step: StepRule,
}

impl Kind {
    fn of(demands: &Demands) -> Kind {
        Kind { fairness: demands.fairness, step: demands.step }
    }
}

/// A flow, its data (true) or its acknowledgments.
type Way = (FlowId, bool);

/// Flows over links.
struct Together {
    /// Numbers of the links.
    links: Vec<usize>,
    /// Units of their weights.
    utilities: Vec<Utility>,
    capacities: Vec<f64>,
    floor: f64,
    ways: Vec<Way>,
    weights: Vec<f64>,
    /// Places in `links` of those that each crosses.
    paths: Vec<Vec<usize>>,
}

impl Together {
    fn of(all: &[Demands], links: Vec<usize>, is_data: impl Fn(usize, FlowId) -> bool) -> Together {
        let mut crossings: BTreeMap<Way, (f64, Vec<usize>)> = BTreeMap::new();
        let mut floor = f64::INFINITY;
        for (place, link) in links.iter().enumerate() {
            let demands = &all[*link];
            // A link that has become slower has less than eps for each.
            floor = floor
                .min(demands.floor)
                .min(MOST_FLOOR_OF_SLOWER * demands.capacity / demands.flows.len() as f64);
            for (flow, weight) in &demands.flows {
                let (greatest, path) = crossings.entry((*flow, is_data(*link, *flow))).or_default();
                *greatest = greatest.max(*weight);
                path.push(place);
            }
        }
        let capacities = links.iter().map(|link| all[*link].capacity).collect();
        let utilities = links.iter().map(|link| all[*link].utility).collect();
        let ways = crossings.keys().copied().collect();
        let (weights, paths) = crossings.into_values().unzip();
        Together { links, utilities, capacities, floor, ways, weights, paths }
    }

    /// The least of the rates that each flow would have if each of its links were the only one: new flows begin there.
    /// Steps from equal shares lead flows of small weights to eps, from which they rise slowly.
    fn shares(&self, fairness: Fairness) -> Vec<f64> {
        let size = |weight: f64| match fairness {
            Fairness::Alpha(alpha) if alpha > 0.0 => math::pow(weight, 1.0 / alpha),
            _ => 1.0,
        };
        let sizes: Vec<f64> = self.weights.iter().map(|weight| size(*weight)).collect();
        let mut sums = vec![0.0; self.links.len()];
        for (path, size) in self.paths.iter().zip(&sizes) {
            for link in path {
                sums[*link] += size;
            }
        }
        let share = |(path, size): (&Vec<usize>, &f64)| {
            let at = |link: &usize| self.capacities[*link] * size / sums[*link];
            path.iter().map(at).fold(f64::INFINITY, f64::min)
        };
        self.paths.iter().zip(&sizes).map(share).collect()
    }

    fn problem(&self, fairness: Fairness, weights: Vec<f64>) -> Result<Problem, InputError> {
        let network = Network::new(self.capacities.clone(), &self.paths)?;
        Problem { network, fairness, weights, floor: self.floor }.checked()
    }
}

/// The rates of a period from those of the periods before.
#[derive(Clone, Debug)]
enum Learner {
    Online(Box<Online>),
    /// With the numbers of its links.
    PrimalDual(Box<PrimalDual>, Vec<usize>),
}

/// The solver of links of a kind.
#[derive(Clone, Debug)]
struct Solver {
    kind: Kind,
    /// None: before the first period, and for the optimum.
    learner: Option<Learner>,
    /// Units in which it has learnt.
    utilities: Vec<Utility>,
    /// Rate of each flow of the last period. An absent one has eps by (25), and begins anew when it is back.
    known: BTreeMap<Way, f64>,
}

impl Solver {
    /// A period of these flows; a problem without a solution leaves the rates as they are.
    fn solve(&mut self, together: &Together, solved: &mut [Solved]) {
        if self.utilities != together.utilities {
            (self.learner, self.utilities) = (None, together.utilities.clone());
        }
        let Ok((rates, prices)) = self.rates(together) else { return };
        for (place, link) in together.links.iter().enumerate() {
            solved[*link].price = prices.get(place).copied();
        }
        for (((flow, _), path), rate) in together.ways.iter().zip(&together.paths).zip(&rates) {
            for place in path {
                solved[together.links[*place]].rates.push((*flow, *rate));
            }
        }
        self.known = together.ways.iter().copied().zip(rates).collect();
    }

    /// Rates of the flows, and prices of the links where there are any.
    fn rates(&mut self, together: &Together) -> Result<(Vec<f64>, Vec<f64>), InputError> {
        let Kind { fairness, step } = self.kind;
        let weights = &together.weights;
        let greatest = weights.iter().copied().fold(0.0, f64::max);
        let step = match step {
            StepRule::Optimum => {
                let optimum = together.problem(fairness, weights.clone())?.optimum();
                return Ok((optimum.rates, optimum.prices));
            }
            StepRule::Adaptive => Some(Step::Adaptive),
            StepRule::Newton => Some(Step::Newton),
            StepRule::Printed => {
                let gradient = greatest * (weights.len() as f64).sqrt() * fairness.marginal(together.floor);
                Some(Step::Printed { gradient })
            }
            StepRule::PrimalDual => None,
        };
        let problem = together.problem(fairness, weights.clone())?;
        let rates = together.ways.iter().zip(together.shares(fairness));
        let rates: Vec<f64> =
            rates.map(|(way, share)| self.known.get(way).copied().unwrap_or(share)).collect();
        match step {
            Some(step) => self.online(problem, step, &rates, weights).map(|rates| (rates, Vec::new())),
            None => self.primal_dual(problem, together, &rates),
        }
    }

    fn online(
        &mut self,
        problem: Problem,
        step: Step,
        rates: &[f64],
        weights: &[f64],
    ) -> Result<Vec<f64>, InputError> {
        if let Some(Learner::Online(online)) = &mut self.learner {
            online.set_problem(problem, step, rates)?;
            online.end_period(weights);
            return Ok(online.rates().to_vec());
        }
        let mut online = Online::new(problem, step)?;
        online.start(rates);
        online.end_period(weights);
        let rates = online.rates().to_vec();
        self.learner = Some(Learner::Online(Box::new(online)));
        Ok(rates)
    }

    fn primal_dual(
        &mut self,
        problem: Problem,
        together: &Together,
        rates: &[f64],
    ) -> Result<(Vec<f64>, Vec<f64>), InputError> {
        let mut dual = match self.learner.take() {
            Some(Learner::PrimalDual(mut dual, links)) if links == together.links => {
                dual.set_problem(problem, rates)?;
                dual
            }
            // Links without flows have left, or others have come: their prices begin anew.
            _ => {
                let mut dual = Box::new(PrimalDual::new(problem.clone(), DUAL_STEP, DUAL_DAMPING)?);
                dual.set_problem(problem, rates)?;
                dual
            }
        };
        dual.end_period(&together.weights);
        let found = (dual.rates().to_vec(), dual.prices().to_vec());
        self.learner = Some(Learner::PrimalDual(dual, together.links.clone()));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHA_2: Fairness = Fairness::Alpha(2.0);

    fn link(capacity: f64, flows: &[(u32, f64)]) -> Demands {
        let flows = flows.iter().map(|(flow, weight)| (FlowId(*flow), *weight)).collect();
        let (utility, step) = (Utility::Equal, StepRule::Optimum);
        Demands { capacity, fairness: ALPHA_2, floor: 0.1, utility, step, flows }
    }

    fn with_step(step: StepRule, links: &[Demands]) -> Vec<Demands> {
        links.iter().map(|link| Demands { step, ..link.clone() }).collect()
    }

    fn rate(solved: &Solved, flow: u32) -> f64 {
        solved.rates.iter().find(|(own, _)| *own == FlowId(flow)).expect("a flow of the link").1
    }

    fn assert_near(found: f64, expected: f64, part: f64) {
        assert!((found / expected - 1.0).abs() <= part, "{found} is not {expected}");
    }

    /// Five flows over links of 100 and 60 packets/s: 0 and 1 over the first, 2 over both, 3 and 4 over the second; rates and prices
    /// of an independent calculation.
    fn five() -> [Demands; 2] {
        [link(100.0, &[(0, 1.0), (1, 1.0), (2, 1.0)]), link(60.0, &[(3, 1.0), (2, 1.0), (4, 1.0)])]
    }

    #[test]
    fn the_rates_are_those_of_all_links_together() {
        let solved = CentralSolver::default().solve(&five(), |_, _| true);
        for (flow, expected) in [(0, 40.753_284_23), (1, 40.753_284_23), (2, 18.493_431_54)] {
            assert_near(rate(&solved[0], flow), expected, 1e-9);
        }
        for (flow, expected) in [(2, 18.493_431_54), (3, 20.753_284_23), (4, 20.753_284_23)] {
            assert_near(rate(&solved[1], flow), expected, 1e-9);
        }
        assert_near(solved[0].price.unwrap(), 6.021_085e-4, 1e-6);
        assert_near(solved[1].price.unwrap(), 2.321_808e-3, 1e-6);
    }

    #[test]
    fn steps_lead_to_the_optimum() {
        let optimum = CentralSolver::default().solve(&five(), |_, _| true);
        for (step, periods, part) in [(StepRule::Newton, 10, 1e-6), (StepRule::PrimalDual, 2000, 0.01)] {
            let (mut solver, links) = (CentralSolver::default(), with_step(step, &five()));
            let mut solved = Vec::new();
            for _ in 0..periods {
                solved = solver.solve(&links, |_, _| true);
            }
            for (flow, link) in [(0, 0), (2, 0), (2, 1), (3, 1)] {
                assert_near(rate(&solved[link], flow), rate(&optimum[link], flow), part);
            }
        }
    }

    /// The others keep the rates that they have reached; the one that comes begins where a link alone would put it.
    #[test]
    fn a_flow_that_comes_does_not_begin_the_steps_anew() {
        let mut solver = CentralSolver::default();
        let before = with_step(StepRule::Newton, &[link(100.0, &[(0, 1.0), (1, 1.0)])]);
        (0..20).for_each(|_| drop(solver.solve(&before, |_, _| true)));
        let after = with_step(StepRule::Newton, &[link(100.0, &[(0, 1.0), (1, 1.0), (5, 16.0)])]);
        let first = solver.solve(&after, |_, _| true);
        assert!(rate(&first[0], 5) > 30.0, "{first:?}");
        (0..5).for_each(|_| drop(solver.solve(&after, |_, _| true)));
        let last = solver.solve(&after, |_, _| true);
        // As sqrt w.
        assert_near(rate(&last[0], 5), 400.0 / 6.0, 1e-3);
        // Alone again, the two have all.
        let alone = solver.solve(&before, |_, _| true);
        assert_eq!(alone[0].rates.len(), 2);
    }

    /// Prices are in units of utility.
    #[test]
    fn steps_of_another_utility_keep_the_rates() {
        let mut solver = CentralSolver::default();
        let demands = |utility, weight| {
            let of = link(100.0, &[(0, weight), (1, weight)]);
            [Demands { utility, step: StepRule::PrimalDual, ..of }]
        };
        (0..2000).for_each(|_| drop(solver.solve(&demands(Utility::Reno, 200.0), |_, _| true)));
        let solved = solver.solve(&demands(Utility::Equal, 1.0), |_, _| true);
        assert_near(rate(&solved[0], 0), 50.0, 0.1);
    }

    /// Acknowledgments on the second link are no part of the data on the first.
    #[test]
    fn acknowledgments_are_flows_of_their_own() {
        let links = [link(100.0, &[(0, 1.0), (1, 1.0)]), link(10.0, &[(0, 1.0)])];
        let solved = CentralSolver::default().solve(&links, |link, _| link == 0);
        assert_near(rate(&solved[0], 0), 50.0, 1e-9);
        assert_near(rate(&solved[1], 0), 10.0, 1e-9);
    }

    #[test]
    fn links_of_another_alpha_are_solved_apart() {
        let proportional = Demands { fairness: Fairness::Alpha(1.0), ..link(10.0, &[(0, 1.0), (1, 4.0)]) };
        let solved = CentralSolver::default().solve(&[link(100.0, &[(0, 1.0)]), proportional], |_, _| true);
        assert_near(rate(&solved[0], 0), 100.0, 1e-9);
        assert_near(rate(&solved[1], 1), 8.0, 1e-9);
    }

    /// A link without flows has nothing to set, and one that eps of its flows would fill has less of it.
    #[test]
    fn links_without_flows_or_room_are_no_errors() {
        let slow = Demands { floor: 100.0, ..link(10.0, &[(0, 1.0), (1, 1.0)]) };
        let solved = CentralSolver::default().solve(&[link(100.0, &[]), slow], |_, _| true);
        assert_eq!(solved[0], Solved::default());
        assert_near(rate(&solved[1], 0), 5.0, 1e-9);
        assert!(CentralSolver::default().solve(&[], |_, _| true).is_empty());
    }
}
