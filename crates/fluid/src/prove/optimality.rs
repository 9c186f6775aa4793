//! That FB-OCQ rests where the cheapest run of its problem does, under the load that is offered there.
//!
//! At rest w = C / (1 - p) comes all the time. Over a horizon from x_s on the optimum stays at x_s and lets all in at
//! the end, and its certified gap says that nothing is cheaper ([`sojourn_optim::ocq`]).

use crate::linear::equilibrium::Equilibrium;
use sojourn_aqm::{Gauges, Law, Network};
use sojourn_optim::ocq::{Instance, Problem, Queue, Solution, Structure};

/// The optimum from the rest on.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimality {
    /// The problem, whose start is the rest.
    pub instance: Instance,
    /// Its optimum.
    pub solution: Solution,
    /// Until when that stays at rest, s.
    pub stays_until: f64,
}

impl Optimality {
    /// Of FB-OCQ in a form that solves the problem, where its singular arc exists.
    pub(super) fn of(stem: &str, law: &dyn Law, rest: &Equilibrium, network: Network) -> Option<Optimality> {
        if stem != "fb_ocq" {
            return None;
        }
        let mut seen = Half(None);
        law.derived(&mut seen);
        let queue = Queue { service: network.capacity, half: seen.0? };
        let price = Problem::resting_at(queue, rest.backlog).price();
        let offered = network.capacity / (1.0 - rest.p);
        let horizon = HORIZON * price;
        let instance = Instance { offered, queue, price, start: rest.backlog, horizon };
        let solution = instance.solve().ok().filter(|found| found.structure == Structure::Singular)?;
        let stays_until = solution.pieces.iter().rev().nth(1)?.until;
        Some(Optimality { instance, solution, stays_until })
    }
}

/// The law's a.
struct Half(Option<f64>);

impl Gauges for Half {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        if name == "a" {
            self.0 = Some(value);
        }
    }
}

/// The horizon, by what a packet turned away costs.
const HORIZON: f64 = 20.0;
