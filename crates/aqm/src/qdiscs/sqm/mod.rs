//! SQM: a queue for each elephant, shares by utility, signals to one flow after another.
//!
//! J. Ye, K. Cai, D. Lin, J. Li, J. He, J. C. S. Lui, "A Control-Theoretic and Online Learning Approach to Self-Tuning
//! Queue Management", 2022, figure 1:
//!
//! ```text
//!              | elephant 1      |
//! packets --> finder -- ...            --> weights Q --> link
//!              | reserved, a law |
//! ```
//!
//! - `finder.rs`: which flows have queues of their own;
//! - `settled.rs`: flows that stay without one;
//! - `flow_count.rs`: effective number of flows;
//! - `predictor.rs`: signals by a prediction of the link's backlog, the default;
//! - `surplus.rs`: which flow is signalled next;
//! - `responsiveness.rs`: that of flows to them;
//! - `pauses.rs`: pauses of a link that sends in bursts;
//! - `split_range.rs`: the threshold of the signals, and the bound of the backlog where they do not suffice;
//! - `young_flows.rs`: backlog of flows that are not signalled by the prediction;
//! - `unused.rs`: a target that rises where the link is not used;
//! - `mean.rs`: means of rates;
//! - `price.rs`: prices of queues by their lengths, and the signals that carry them;
//! - `rules.rs`: utilities, and rules for the rates of a period;
//! - `tuning.rs`: weights, rates and sigmas, each period anew;
//! - `central_solver.rs`: the rates at several links together;
//! - `qdisc.rs`: the packets;
//! - `fluid.rs`: the same without packets.

pub mod central_solver;
pub mod fluid;

mod backlogged;
mod finder;
mod flow_count;
mod mean;
mod pauses;
mod predictor;
mod price;
mod qdisc;
mod queue_price;
mod responsiveness;
mod rules;
mod settings;
mod settled;
mod split_range;
mod surplus;
mod tuning;
mod unused;
mod young_flows;

use super::schedulers::{Gps, GroupWeights, Rounds};
use super::{Built, Queues};
use crate::flow_shares::Coordinator;
use crate::law_spec::LawSpec;
use crate::qdisc::{Limit, Packet};
use crate::qdisc_spec::{Place, QdiscEntry};
use qdisc::Sqm as SqmQueues;
use settings::{Alpha, Settings};
use sojourn_optim::num::Fairness;
use sojourn_params::{Described, Given, InputError, Page, Params, choice, params};
use sojourn_random::Stream;
use sojourn_units::{Bytes, Packets, Rate, Span};
use std::sync::Arc;

use super::common::Weights;

choice! {
    /// Ways to give flows queues of their own.
    pub enum Find {
        /// those with the most packets, by counts that others wear off
        HeavyKeeper = "heavy_keeper",
        /// those that are sampled again and again
        ElephantTrap = "elephant_trap",
        /// all, by a keyed hash
        Hash = "hash",
    }
}

choice! {
    /// Order of service of the queues.
    pub enum Service {
        /// deficit round robin
        Drr = "drr",
        /// weighted fair queueing
        Wfq = "wfq",
    }
}

choice! {
    /// Kinds of signals.
    pub enum Form {
        /// signals one by one, where the backlog of the link a round trip ahead will exceed the target
        Predictive = "predictive",
        /// the price at which a Reno flow has its share, corrected by the error of the queue and its integral
        Pi = "pi",
        /// in proportion to the packets above beta, equation (4)
        Price = "price",
        /// the queueing delay, which is not signalled: flows that respond to it measure it
        Delay = "delay",
    }
}

choice! {
    /// Weight w of a flow's utility.
    pub enum Utility {
        /// 2 / D^2, that of Reno with alpha = 2
        Reno = "reno",
        /// 1
        Equal = "equal",
        /// 1 by the bytes sent so far
        CompletionTime = "completion_time",
    }
}

choice! {
    /// Rules for the rates of a period.
    pub enum StepRule {
        /// the optimum of the flows seen, in closed form
        Optimum = "optimum",
        /// gradient step D / sqrt(2 sum of ||g||^2)
        Adaptive = "adaptive",
        /// Newton's step
        Newton = "newton",
        /// gradient step D / (G sqrt t), equation (29)
        Printed = "printed",
        /// a step of rates and prices, without projection
        PrimalDual = "primal_dual",
    }
}

choice! {
    /// Rule for the sigma of form = "price".
    pub enum SigmaRule {
        /// 45 degrees of phase margin with the exact delay
        Margin = "margin",
        /// Theorem 3, equation (23), of all queues together
        Theorem = "theorem",
        /// equation (23) of each queue alone
        PerFlow = "per_flow",
    }
}

params! {
    /// The queue of the flows without one of their own.
    pub struct Mice {
        /// least rate while other queues have packets, too; the others use what it leaves
        rate: Option<Rate> = None, above "0 bit/s", where "below the rate of the link", "part of the link's";
        /// part of the rate of the link, where rate is not given
        part: f64 = 0.1, in above 0.0 to below 1.0, "mice are a tenth of the bytes";
        /// law of the queue
        law: LawSpec = LawSpec::parse("codel").expect("a law of the catalogue"), "it needs no rate", "section II-A";
    }
}

params! {
    /// Parameters of SQM.
    pub struct Sqm {
        /// queues of elephants
        queues "K": u32 = 1024, in 1 to 65_536, "as drr";
        /// how flows get queues of their own
        find: Find = Find::HeavyKeeper, "bounded memory, and no flow can be pushed out by chosen others", "T. Yang et al. 2019";
        /// bytes after which a flow can have a queue
        elephant: Bytes = Bytes::new(3_000), in "1 B" to "1 GB", "two packets: flows of fewer wait for none";
        /// order of service of the queues
        scheduler: Service = Service::Drr, "least cost a packet", "section II-A";
        /// kind of signals
        form: Form = Form::Predictive, "at the same delay it loses the least throughput", "docs/theory/sqm.md";
        /// queueing delay to hold; on a slow link that of 10 packets, or 1.8 times this if that is less, and of 4 packets at least
        target: Span = Span::from_millis(5), in above "0 s" to "1 h", "that of the source", "section V-B";
        /// length at which the price of form = "price" begins
        beta: Packets = Packets::new(0), in 0 to 1_000_000, "the queue is sigma p*", "equation (4)";
        /// rule for the sigma of form = "price"
        sigma: SigmaRule = SigmaRule::Margin, "a bound gives no margin", "docs/theory/sqm.md";
        /// the queue of the flows without one of their own
        reserved: Mice = Mice::default(), "a tenth of the link, under codel";
        /// time between two solutions; longer than the round trips
        period: Span = Span::from_secs(5), in "100 ms" to "1 h", "that of the source", "section V-B";
        /// weight w of a flow's utility; Reno's own equilibrium is alpha = 2 with w = 2 / D^2
        utility: Utility = Utility::Reno, "that of the flows themselves", "docs/theory/sqm.md";
        /// alpha of the flows' utility: 0, 0.1 to 8, or "max_min"
        alpha: Alpha = Alpha(Fairness::Alpha(2.0)), "Reno's", "equation (1)";
        /// weights of classes, which multiply w: { CLASS = NUMBER }
        weights: Weights = Weights::default(), "1 each";
        /// least rate of a flow
        floor "eps": Option<Rate> = None, above "0 bit/s", where "queues times it below what the reserved queue leaves", "a fifth of C / K",
            "equation (27)";
        /// the rates of a period from those of the periods before
        step: StepRule = StepRule::Optimum, "it follows a change within a period", "Algorithm 1";
        /// where the rates are computed
        coordinator: Coordinator = Coordinator::Local, "no other link is needed";
        /// packets of all queues together
        limit: Packets = Packets::new(10_240), in 1 to 1_000_000_000, where "above queues",
            "as drr; the link's buffer, where that is less";
        /// bytes of all queues together
        memory: Bytes = Bytes::new(32 << 20), in "1 B" to "1000 GB", "as drr; the link's buffer, where that is less";
    }
}

/// Description and constructor.
pub(crate) const ENTRY: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "sqm",
        summary: "self-tuning queue management: a queue for each elephant, shares by utility, signals by prediction",
        idea: "Elephants have queues of their own, mice share a reserved one. A weighted scheduler gives each elephant the \
               rate at which the sum of all utilities is greatest, each period anew; a new one has its share at once, by the \
               price of the link. The link predicts its backlog a round trip ahead, with the signals in flight, and signals \
               the flow with the greatest surplus over its share where that is above the target. Or each queue has a price.",
        equation: "C_i = C Q_i / sum of Q;  Q_i = (w_i / pi)^(1 / alpha);  signal while Q^ + D V^ > S, S' = (C T - Q) / (5 D)",
        source: "J. Ye, K. Cai, D. Lin, J. Li, J. He, J. C. S. Lui, A Control-Theoretic and Online Learning Approach to \
                 Self-Tuning Queue Management, 2022",
        fields: <Sqm as Described>::fields,
    },
    read: Given::read::<Sqm>,
    design,
};

fn design(params: &dyn Params, place: &Place<'_>) -> Result<Queues, InputError> {
    let sqm: &Sqm = params.of()?;
    let classes: Arc<[String]> = place.classes.iter().map(|class| class.name.to_string()).collect();
    let settings = Settings::of(sqm, &classes, &place.context)?;
    Ok(Queues::Sqm(Box::new(Design { sqm: sqm.clone(), settings, classes })))
}

/// SQM in front of a link.
#[derive(Clone)]
pub(crate) struct Design {
    sqm: Sqm,
    settings: Settings,
    classes: Arc<[String]>,
}

impl Design {
    /// The qdisc at its start, behind a buffer.
    pub(super) fn build<P: Packet + Send + 'static>(
        &self,
        buffer: Limit,
        given: Given,
        draws: Stream,
    ) -> Built<P> {
        let weights = GroupWeights::new(vec![1.0; self.sqm.queues as usize + 1]);
        let start = qdisc::Start { buffer, given, classes: Arc::clone(&self.classes), draws };
        match self.sqm.scheduler {
            Service::Drr => {
                let rounds = Rounds::new(QUANTUM, weights, false);
                Box::new(SqmQueues::new(&self.sqm, &self.settings, rounds, start))
            }
            Service::Wfq => {
                let gps = Gps::new(weights, self.settings.link.rate);
                Box::new(SqmQueues::new(&self.sqm, &self.settings, gps, start))
            }
        }
    }

    /// Refuses a reserved queue that is not below the link.
    pub(super) fn fit_link(&self) -> Result<(), InputError> {
        self.settings.reserved_fits(self.settings.link.rate)
    }
}

/// Mean of the bytes that queues send in a turn: a full Ethernet frame.
const QUANTUM: u32 = 1514;
