//! Rules of the weights: the utility of flows, and how the rates of greatest utility are found.

use super::{SigmaRule, Sqm, StepRule, Utility};
use crate::flow_shares::Coordinator;
use crate::link_context::LinkContext;
use crate::qdiscs::schedulers::GroupWeights;
use sojourn_optim::num::online::{Online, Step};
use sojourn_optim::num::primal_dual::PrimalDual;
use sojourn_optim::num::{Fairness, LEAST_ALPHA, MOST_ALPHA, Network, Problem};
use sojourn_params::{InputError, Quantity};
use sojourn_units::{Rate, Span, math};

/// Rules of the weights, for a link.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) fairness: Fairness,
    pub(super) coordinator: Coordinator,
    pub(super) utility: Utility,
    pub(super) step: StepRule,
    pub(super) sigma: SigmaRule,
    /// Weights of the classes.
    classes: GroupWeights,
    /// K.
    pub(super) queues: usize,
    /// eps, packets/s.
    pub(super) floor: f64,
    /// Rate that elephants have beside a full reserved queue, packets/s: solutions are in proportion to it.
    pub(super) capacity: f64,
    /// Bytes of a flow when it enters.
    pub(super) elephant: f64,
    /// Mean size of a packet, bytes.
    pub(super) packet: f64,
    /// D of a flow whose round trip is unknown, s.
    pub(super) usual_delay: f64,
}

impl Rules {
    /// Those of the parameters, in front of this link with so much for elephants, packets/s.
    pub(super) fn of(
        sqm: &Sqm,
        classes: &[String],
        (link, capacity): (&LinkContext, f64),
    ) -> Result<Rules, InputError> {
        let queues = sqm.queues as usize;
        let usual = USUAL_FLOOR * capacity / queues as f64;
        let floor = sqm.floor.map_or(usual, |floor| floor.packets_per_second(link.packet));
        if let Some(given) = sqm.floor.filter(|_| floor * queues as f64 > capacity * MOST_FLOOR) {
            let problem = format!("times {queues} queues is above what the link has for elephants");
            // Rounded down to a bit/s.
            let most = (capacity * MOST_FLOOR * link.packet * 8.0 / queues as f64).floor();
            let expected = format!("at most {}", Rate::from_bits_per_second(most));
            return Err(InputError::conflict(given, problem, expected).at("floor"));
        }
        let rules = Rules {
            fairness: sqm.alpha.0,
            coordinator: sqm.coordinator,
            utility: sqm.utility,
            step: sqm.step,
            sigma: sqm.sigma,
            classes: sqm.weights.of(classes, &[])?,
            queues,
            floor,
            capacity,
            elephant: sqm.elephant.get() as f64,
            packet: link.packet,
            usual_delay: link.base_rtt.map_or(USUAL_DELAY, Span::seconds).max(LEAST_DELAY),
        };
        Learner::new(&rules, vec![0.0; queues])?;
        rules.has_prices()?;
        rules.has_solver()?;
        Ok(rules)
    }

    /// The unit of their utility, and so of prices, is the same.
    pub(super) fn has_unit_of(&self, other: &Rules) -> bool {
        (self.fairness, self.utility) == (other.fairness, other.utility)
    }

    /// Refuses links that exchange prices for a utility without any.
    fn has_prices(&self) -> Result<(), InputError> {
        let is_priced = matches!(self.fairness, Fairness::Alpha(alpha) if alpha > 0.0);
        if is_priced || self.coordinator != Coordinator::Decentralised {
            return Ok(());
        }
        let alpha = if self.fairness == Fairness::MaxMin { "max_min" } else { "0" };
        let expected = format!("an alpha of {LEAST_ALPHA} to {MOST_ALPHA}, or coordinator = \"centralised\"");
        let problem = "has no prices, by which coordinator = \"decentralised\" finds the rates";
        Err(InputError::conflict(alpha, problem, expected).at("alpha"))
    }

    /// Refuses a rule of steps where links exchange prices, and none solves a problem.
    fn has_solver(&self) -> Result<(), InputError> {
        if self.step == StepRule::Optimum || self.coordinator != Coordinator::Decentralised {
            return Ok(());
        }
        let problem = "has no part in the rates, which coordinator = \"decentralised\" finds by prices";
        let expected = "\"optimum\", or coordinator = \"centralised\"";
        Err(InputError::conflict(self.step.write(), problem, expected).at("step"))
    }

    /// The problem (26), (27) with these weights.
    pub(super) fn problem(&self, weights: Vec<f64>) -> Result<Problem, InputError> {
        let network = Network::of_one_link(self.capacity, weights.len())?;
        Problem { network, fairness: self.fairness, weights, floor: self.floor }.checked()
    }

    /// w of a flow of a class, whose round trip is D, s, after so many bytes: its utility's, times its class's.
    pub(super) fn weight(&self, class: u32, delay: f64, bytes: f64) -> f64 {
        let own = match self.utility {
            Utility::Reno => 2.0 / (delay * delay),
            Utility::Equal => 1.0,
            Utility::CompletionTime => 1.0 / bytes,
        };
        own * self.classes.of(class)
    }

    /// w^(1 / alpha); 1 where rates do not follow from prices.
    pub(super) fn demand(&self, weight: f64) -> f64 {
        match self.fairness {
            Fairness::Alpha(alpha) if alpha > 0.0 => math::pow(weight, 1.0 / alpha),
            _ => 1.0,
        }
    }

    /// w of a flow at the usual round trip.
    pub(super) fn usual_weight(&self) -> f64 {
        self.weight(u32::MAX, self.usual_delay, self.elephant)
    }
}

/// The rates of a period from those of the periods before.
#[derive(Clone, Debug)]
pub(super) enum Learner {
    /// The optimum of the flows seen.
    Optimum,
    Online(Box<Online>),
    PrimalDual(Box<PrimalDual>),
}

impl Learner {
    /// Before its first period; `weights` of the slots in the one before, 0 where there was no flow.
    pub(super) fn new(rules: &Rules, weights: Vec<f64>) -> Result<Learner, InputError> {
        let all = || rules.problem(weights);
        let online = |problem, step| Ok(Learner::Online(Box::new(Online::new(problem, step)?)));
        match rules.step {
            StepRule::Optimum => Ok(Learner::Optimum),
            StepRule::Adaptive => online(all()?, Step::Adaptive),
            StepRule::Newton => online(all()?, Step::Newton),
            StepRule::Printed => {
                let problem = all()?;
                let gradient = problem.gradient_bound(rules.usual_weight(), rules.queues);
                online(problem, Step::Printed { gradient })
            }
            StepRule::PrimalDual => {
                Ok(Learner::PrimalDual(Box::new(PrimalDual::new(all()?, DUAL_STEP, DUAL_DAMPING)?)))
            }
        }
    }

    /// It goes on from these rates of all slots, and this price of the link.
    pub(super) fn start(&mut self, rates: &[f64], price: f64) {
        match self {
            Learner::Optimum => {}
            Learner::Online(online) => online.start(rates),
            Learner::PrimalDual(dual) => dual.start(rates, &[price]),
        }
    }
}

/// eps as a part of C / K.
const USUAL_FLOOR: f64 = 0.2;
/// Greatest part of the capacity that eps may fill.
const MOST_FLOOR: f64 = 0.999;
/// D where nothing is known of it, s.
const USUAL_DELAY: f64 = 0.1;
/// Least D, s: on a shorter path no weight is greater.
pub(super) const LEAST_DELAY: f64 = 1e-5;
/// Step and damping of the primal-dual rule (sojourn_optim::num::primal_dual).
pub(super) const DUAL_STEP: f64 = 0.02;
pub(super) const DUAL_DAMPING: f64 = 1e-4;
