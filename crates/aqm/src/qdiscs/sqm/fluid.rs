//! SQM without packets: each flow has a queue, with the weight of its utility and the price of its share
//! (`queue_price.rs`). A model knows its long flows, so none of them waits in the reserved queue.

use super::predictor::least_target;
use super::price::PriceLaw;
use super::queue_price::{FluidForm, designed};
use super::rules::{LEAST_DELAY, Rules};
use super::split_range::INTEGRAL;
use super::tuning::{LIMITED, MARGIN, RHO};
use super::{Design, SigmaRule, StepRule};
use crate::entry::Designed;
use crate::flow_shares::Coordinator;
use crate::fluid_law::PricedShare;
use crate::link_context::LinkContext;
use crate::qdisc::Limit;
use crate::qdiscs::classifiers::By;
use crate::qdiscs::shares::{LEAST_REST, QueueLaw, Share, Shares};
use sojourn_optim::num::Fairness;
use sojourn_optim::sqm::margin::QueueLoop;
use sojourn_optim::sqm::{Flow, Link};
use sojourn_params::Given;
use sojourn_units::Span;

/// Utilities of the flows at a link, and the price law of their queues.
#[derive(Clone)]
pub struct Priced {
    rules: Rules,
    form: FluidForm,
    period: Span,
    /// K.
    queues: u32,
}

/// Equal flows of a class, each with a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowsOfClass {
    /// Number of the class.
    pub class: u32,
    /// Number of its flows.
    pub count: f64,
    /// Round-trip time without queueing, s.
    pub delay: f64,
    /// Bytes that each has sent.
    pub bytes: f64,
    /// Rate that each sends at most; at a link in packets/s of its mean size.
    pub demand: f64,
}

/// sigma of a queue under form = "price" beside those of the theory, packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sigmas {
    /// The one in use.
    pub used: f64,
    /// Theorem 3, equation (23) of all queues together, each having an equal part.
    pub theorem: f64,
    /// Equation (23) of the queue alone.
    pub per_flow: f64,
    /// The exact limit of stability of the paper's model.
    pub limit: f64,
    /// The loop of that model with the one in use.
    pub queue_loop: QueueLoop,
}

impl Design {
    /// Queues of flows in front of the link, each with the weight 1 as long as no utility has been considered.
    pub(in crate::qdiscs) fn shares(&self, given: &Given) -> Shares {
        let settings = &self.settings;
        let bounds = settings.limits.bounds(Limit::Unlimited);
        let form = FluidForm::of(&self.sqm);
        let law = QueueLaw {
            law: designed(form, PricedShare::default()),
            name: "sqm",
            given: given.clone(),
            context: LinkContext { flows: Some(1.0), ..settings.link },
            share: Share::Part(1.0),
        };
        Shares {
            by: By::Flow,
            weights: vec![1.0; self.classes.len()],
            most_packets: f64::from(bounds.most_packets),
            most_bytes: bounds.most_bytes as f64,
            has_threshold: false,
            laws: vec![law],
            reserved: None,
            priced: Some(Priced {
                rules: settings.rules.clone(),
                form,
                period: settings.period,
                queues: self.sqm.queues,
            }),
        }
    }
}

impl Priced {
    /// Key and value of a parameter without a model, and what has one.
    pub fn unmodelled(&self) -> Option<(&'static str, &'static str, &'static str)> {
        let has_prices = !matches!(self.rules.fairness, Fairness::MaxMin | Fairness::Alpha(0.0));
        if self.rules.coordinator == Coordinator::Decentralised && !has_prices {
            return Some(("alpha", "a utility without prices", "a number above 0"));
        }
        if self.form.law == PriceLaw::Predictive {
            return Some(("form", "\"predictive\", which signals single packets,", "pi, price or delay"));
        }
        let step = match self.rules.step {
            StepRule::Optimum => return None,
            StepRule::Adaptive => "\"adaptive\"",
            StepRule::Newton => "\"newton\"",
            StepRule::Printed => "\"printed\"",
            StepRule::PrimalDual => "\"primal_dual\"",
        };
        Some(("step", step, "\"optimum\""))
    }

    /// Reason why a certificate of TCP's flows proves nothing of the price law.
    pub fn unproven(&self) -> Option<&'static str> {
        match self.form.law {
            PriceLaw::Predictive | PriceLaw::Pi | PriceLaw::Price { .. } => None,
            PriceLaw::Delay => Some(
                "no model: form = \"delay\" signals nothing; its price is the delay that senders such as FAST measure, and the model's senders respond to signals",
            ),
        }
    }

    /// Loop of the backlog of the link, of flows whose round trips have this harmonic mean, equation (vi) of `predictor.rs`;
    /// None: each queue has its own.
    pub fn link_loop(&self, delay: f64) -> Option<QueueLoop> {
        match self.form.law {
            PriceLaw::Predictive => {
                Some(QueueLoop { gain: INTEGRAL / (delay * delay), pole: 1.0 / delay, delay })
            }
            PriceLaw::Pi | PriceLaw::Price { .. } | PriceLaw::Delay => None,
        }
    }

    /// Target of the backlog of a link of so many packets/s that is predicted, whose flows have windows of so many, packets.
    pub fn predicted_target(&self, capacity: f64, window: f64) -> f64 {
        least_target(capacity * self.form.target, window)
    }

    /// The place of the computation of rates.
    pub fn coordinator(&self) -> Coordinator {
        self.rules.coordinator
    }

    /// Time between two solutions.
    pub fn period(&self) -> Span {
        self.period
    }

    /// alpha of the flows' utility.
    pub fn fairness(&self) -> Fairness {
        self.rules.fairness
    }

    /// eps, packets/s.
    pub fn floor(&self) -> f64 {
        self.rules.floor
    }

    /// K.
    pub fn queues(&self) -> u32 {
        self.queues
    }

    /// w of each flow of a class.
    pub fn weight(&self, flows: &FlowsOfClass) -> f64 {
        let bytes = self.rules.elephant + flows.bytes;
        self.rules.weight(flows.class, flows.delay.max(LEAST_DELAY), bytes)
    }

    /// Share of each flow of the classes, whose weights are `quanta`, of so many packets/s: equation (ii) of
    /// `tuning.rs`, which is (5) where each flow sends its share.
    pub fn shares(&self, flows: &[FlowsOfClass], quanta: &[f64], capacity: f64) -> Vec<PricedShare> {
        let limited = limited(flows, quanta, capacity);
        let sums = |own: usize| {
            let others = (0..flows.len()).filter(|place| !limited[*place] || *place == own);
            let quanta: f64 = others.map(|place| flows[place].count * quanta[place]).sum();
            let rates = (0..flows.len()).filter(|place| limited[*place] && *place != own);
            (quanta, rates.map(|place| flows[place].count * flows[place].demand).sum::<f64>())
        };
        let share = |place: usize| {
            let (sum, left) = sums(place);
            let is_served = sum > 0.0 && flows[place].count > 0.0;
            let rest = (capacity - left).max(LEAST_REST * capacity);
            // Of less than a flow, in the mean, a flow has what there is.
            let rate = if is_served { rest * (quanta[place] / sum).min(1.0) } else { 0.0 };
            PricedShare { rate, delay: flows[place].delay.max(LEAST_DELAY), scale: f64::INFINITY }
        };
        let mut shares: Vec<PricedShare> = (0..flows.len()).map(share).collect();
        if matches!(self.form.law, PriceLaw::Price { .. }) {
            for (share, sigmas) in self.sigmas(flows, &shares) {
                shares[share].scale = sigmas.used;
            }
        }
        shares
    }

    /// sigma of each class with a share, with its place.
    fn sigmas(&self, flows: &[FlowsOfClass], shares: &[PricedShare]) -> Vec<(usize, Sigmas)> {
        let present: Vec<usize> = (0..shares.len()).filter(|place| shares[*place].rate > 0.0).collect();
        let reno = |place: &usize| {
            let PricedShare { rate, delay, .. } = shares[*place];
            Flow { weight: 2.0 / (delay * delay), ..Flow::reno(delay, rate) }
        };
        let of: Vec<Flow> = present.iter().map(reno).collect();
        let link = Link { capacity: of.iter().map(|flow| flow.quantum).sum(), alpha: 2.0, flows: of };
        // A flow of each class has the same part of the right side of (23) as any other.
        let count: f64 = present.iter().map(|place| flows[*place].count).sum();
        let more = count / present.len() as f64;
        let theorem: Vec<f64> = link.scales_of_the_sum(RHO).into_iter().map(|scale| scale * more).collect();
        let (per_flow, limit) = (link.scales_by_flow(RHO), link.scales_of_margin(0.0));
        let margin = link.scales_of_margin(MARGIN);
        let used: &[f64] = match self.rules.sigma {
            SigmaRule::Margin => &margin,
            SigmaRule::Theorem => &theorem,
            SigmaRule::PerFlow => &per_flow,
        };
        let loops = link.loops(used);
        let sigmas = |at: usize| Sigmas {
            used: used[at],
            theorem: theorem[at],
            per_flow: per_flow[at],
            limit: limit[at],
            queue_loop: loops[at],
        };
        present.iter().enumerate().map(|(at, place)| (*place, sigmas(at))).collect()
    }

    /// sigma of a class beside those of the theory; None: there is none in this form, or no share.
    pub fn sigmas_of(&self, flows: &[FlowsOfClass], shares: &[PricedShare], class: u32) -> Option<Sigmas> {
        if !matches!(self.form.law, PriceLaw::Price { .. }) {
            return None;
        }
        let found = self.sigmas(flows, shares).into_iter();
        found.into_iter().find(|(place, _)| flows[*place].class == class).map(|(_, sigmas)| sigmas)
    }

    /// The price law of a queue with this share.
    pub fn law(&self, share: PricedShare) -> Designed {
        designed(self.form, share)
    }
}

/// For each class whether its flows send less than a part of their share; without them the shares of the others are greater.
fn limited(flows: &[FlowsOfClass], quanta: &[f64], capacity: f64) -> Vec<bool> {
    let mut limited = vec![false; flows.len()];
    loop {
        let before = limited.clone();
        let (mut sum, mut rest) = (0.0, capacity);
        for (place, flows) in flows.iter().enumerate().filter(|(_, flows)| flows.count > 0.0) {
            if limited[place] {
                rest -= flows.count * flows.demand;
            } else {
                sum += flows.count * quanta[place];
            }
        }
        for (place, flows) in flows.iter().enumerate() {
            limited[place] |= flows.demand * sum < LIMITED * rest.max(0.0) * quanta[place];
        }
        if limited == before {
            return limited;
        }
    }
}
