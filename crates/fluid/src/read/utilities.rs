//! Weights of queues by the utilities of their flows: the qdisc `sqm` without packets.
//!
//! A link by itself solves the problem of its own flows. Links under a coordinator have that of all of them together, at
//! one place or by prices of which each link changes its own once in a period ([`sojourn_optim::num`]). Flows of a class
//! are equal; for the solution their number is rounded up.

use super::traffic;
use crate::plant::Sender;
use sojourn_aqm::qdiscs::sqm::fluid::{FlowsOfClass, Priced};
use sojourn_aqm::{Coordinator, PricedShare};
use sojourn_optim::num::prices::Decentralised;
use sojourn_optim::num::{Network, Problem};
use sojourn_scenario::Scenario;

/// A link whose queues have weights by utility.
#[derive(Clone)]
pub(crate) struct PricedLink {
    pub(crate) priced: Priced,
    /// C, packets/s, and the bytes of a packet.
    pub(crate) capacity: f64,
    pub(crate) packet: f64,
    /// For each class whether its data cross the link.
    pub(crate) crossing: Vec<bool>,
}

/// Links whose queues have weights by utility.
#[derive(Clone, Default)]
pub(crate) struct Utilities {
    /// Prices of the links under a decentralised coordinator, in order, once they are known.
    prices: Option<Decentralised>,
}

/// Weight and priced share of each flow, by class.
pub(crate) struct Weighted {
    pub(crate) quanta: Vec<f64>,
    pub(crate) shares: Vec<PricedShare>,
}

impl PricedLink {
    /// Those flows that cross the link.
    pub(crate) fn flows(&self, all: &[FlowsOfClass]) -> Vec<FlowsOfClass> {
        let here = |of: &FlowsOfClass| if self.crossing[of.class as usize] { of.count } else { 0.0 };
        all.iter()
            .map(|of| FlowsOfClass { count: here(of), demand: of.demand / self.packet, ..*of })
            .collect()
    }
}

impl Utilities {
    /// Weights and shares at each link of these flows, by class; `ends_period`: links under a decentralised coordinator
    /// change their prices.
    pub(crate) fn solve(
        &mut self,
        links: &[PricedLink],
        flows: &[FlowsOfClass],
        ends_period: bool,
    ) -> Vec<Weighted> {
        solved(links, flows, |problem| self.by_prices(problem, ends_period))
    }

    /// Rates that flows demand at the prices of their paths, after a round of the links if the period ends.
    fn by_prices(&mut self, problem: &Problem, ends_period: bool) -> Vec<f64> {
        let prices = match &mut self.prices {
            Some(prices) => {
                prices.set_problem(problem.clone());
                prices
            }
            none => none.insert(Decentralised::new(problem.clone()).expect("a utility with prices")),
        };
        if ends_period {
            prices.round();
        }
        prices.rates()
    }
}

/// Flows of a class as they are from the start; a flow that its access link or its application limits leaves what it does
/// not send to the others.
pub(crate) fn flows(scenario: &Scenario, class: u32) -> FlowsOfClass {
    let own = &scenario.flows[class as usize];
    let (Sender::Constant(demand) | Sender::Tcp(_, demand)) = traffic::class(scenario, own, &[]).sender;
    FlowsOfClass {
        class,
        count: f64::from(own.count),
        delay: scenario.mean_base_rtt(own),
        bytes: 0.0,
        demand: demand * own.segment.get() as f64,
    }
}

/// Weights and shares at each link of these flows, by class, where prices have led to the optimum.
pub(crate) fn at_optimum(links: &[PricedLink], flows: &[FlowsOfClass]) -> Vec<Weighted> {
    solved(links, flows, |problem| problem.optimum().rates)
}

/// The same, where `by_prices` gives the rates under a decentralised coordinator.
fn solved(
    links: &[PricedLink],
    flows: &[FlowsOfClass],
    mut by_prices: impl FnMut(&Problem) -> Vec<f64>,
) -> Vec<Weighted> {
    let mut quanta = vec![vec![0.0; flows.len()]; links.len()];
    for under in groups(links) {
        let Some(problem) = Together::of(links, &under, flows) else { continue };
        let rates = match links[under[0]].priced.coordinator() {
            Coordinator::Decentralised => by_prices(&problem.problem),
            Coordinator::Local | Coordinator::Centralised => problem.problem.optimum().rates,
        };
        for place in &under {
            quanta[*place] = problem.by_class(&rates, flows.len());
        }
    }
    let of_link = |(link, quanta): (&PricedLink, Vec<f64>)| {
        let flows = link.flows(flows);
        let shares = link.priced.shares(&flows, &quanta, link.capacity);
        Weighted { quanta, shares }
    };
    links.iter().zip(quanta).map(of_link).collect()
}

/// Links that have a problem together: each by itself, or those under a coordinator.
fn groups(links: &[PricedLink]) -> Vec<Vec<usize>> {
    let under =
        |coordinator| (0..links.len()).filter(move |place| links[*place].priced.coordinator() == coordinator);
    let alone = under(Coordinator::Local).map(|place| vec![place]);
    let together = [Coordinator::Centralised, Coordinator::Decentralised].map(|of| under(of).collect());
    alone.chain(together).filter(|group: &Vec<usize>| !group.is_empty()).collect()
}

/// The problem of the flows over some links.
struct Together {
    problem: Problem,
    /// Class of each flow of the problem.
    classes: Vec<usize>,
}

impl Together {
    /// None: no flow crosses any of these links, or one of them has no rate for them all.
    fn of(links: &[PricedLink], under: &[usize], flows: &[FlowsOfClass]) -> Option<Together> {
        let first = links.get(*under.first()?)?;
        let capacity = |place: &usize| links[*place].capacity * links[*place].packet / first.packet;
        let capacities: Vec<f64> = under.iter().map(capacity).collect();
        let (mut classes, mut paths, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for of in flows.iter().filter(|of| of.count > 0.0) {
            let class = of.class as usize;
            let path: Vec<usize> = (0..under.len()).filter(|at| links[under[*at]].crossing[class]).collect();
            let Some(start) = path.first() else { continue };
            let weight = links[under[*start]].priced.weight(of);
            for _ in 0..of.count.ceil() as usize {
                classes.push(class);
                paths.push(path.clone());
                weights.push(weight);
            }
        }
        let floor = under.iter().map(|place| links[*place].priced.floor()).fold(f64::INFINITY, f64::min);
        let network = Network::new(capacities, &paths).ok().filter(|network| network.flows() > 0)?;
        let problem = Problem { network, fairness: first.priced.fairness(), weights, floor };
        Some(Together { problem: problem.checked().ok()?, classes })
    }

    /// Rate of a flow of each class.
    fn by_class(&self, rates: &[f64], classes: usize) -> Vec<f64> {
        let mut found = vec![0.0; classes];
        for (class, rate) in self.classes.iter().zip(rates) {
            found[*class] = *rate;
        }
        found
    }
}
