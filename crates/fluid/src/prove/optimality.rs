//! Proof that the equilibrium of FB-OCQ is the optimum of its problem under the load offered there.
//!
//! At equilibrium w = C / (1 - p) arrives all the time. Over a horizon from x_s on the optimum stays at x_s and admits
//! everything at the end; its certified gap proves that no input is cheaper ([`sojourn_optim::ocq`]).

use crate::linear::equilibrium::Equilibrium;
use sojourn_aqm::{Gauges, Law, Network};
use sojourn_optim::ocq::{Instance, Problem, Queue, Solution, Structure};

/// Optimum from the equilibrium on.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimality {
    /// The problem, which starts at the equilibrium.
    pub instance: Instance,
    /// Its optimum.
    pub solution: Solution,
    /// Time until which the optimum stays at the equilibrium, s.
    pub stays_until: f64,
}

impl Optimality {
    /// Optimality of FB-OCQ in a form that solves the problem, where its singular arc exists.
    pub(super) fn of(
        stem: &str,
        law: &dyn Law,
        equilibrium: &Equilibrium,
        network: Network,
    ) -> Option<Optimality> {
        if stem != "fb_ocq" {
            return None;
        }
        let mut seen = Half(None);
        law.analysis().derived(&mut seen);
        let queue = Queue { service: network.capacity, half: seen.0? };
        let price = Problem::with_x_s(queue, equilibrium.backlog).price();
        let offered = network.capacity / (1.0 - equilibrium.p);
        let horizon = HORIZON * price;
        let instance = Instance { offered, queue, price, start: equilibrium.backlog, horizon };
        let solution = instance.solve().ok().filter(|found| found.structure == Structure::Singular)?;
        let stays_until = solution.pieces.iter().rev().nth(1)?.until;
        Some(Optimality { instance, solution, stays_until })
    }
}

/// The gauge `a` of the law.
struct Half(Option<f64>);

impl Gauges for Half {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        if name == "a" {
            self.0 = Some(value);
        }
    }
}

/// Horizon, relative to the cost of a rejected packet.
const HORIZON: f64 = 20.0;
