//! The qdiscs, and what they are made of: classifiers, queues under laws, schedulers; elephants are large flows.

pub mod classifiers;
pub mod elephants;
pub mod schedulers;

pub mod aliases;
pub mod cake;
pub mod drr;
pub mod dual;
pub mod prio;
pub mod shaper;
pub mod sqm;
pub mod wfq;

mod ack_filter;
mod common;
mod fifo;
mod groups;
mod limits;
mod queue;
mod scheduled;
mod shares;
mod store;
mod tags;
mod tournament;

pub use classifiers::Classifier;
pub use common::{Reservation, ReservedQueue, Weights};
pub use fifo::Fifo;
pub use groups::apart;
pub use scheduled::{Bounds, QueueKind, Scheduled, Scheduler};
pub use shares::{LEAST_REST, QueueLaw, Share, Shares};
pub use tags::Tags;

use crate::entry::Designed;
use crate::link_context::LinkContext;
use crate::qdisc::{Limit, Packet, Qdisc};
use common::Parts;
use sojourn_params::{Given, InputError};
use sojourn_random::Stream;

/// The queues of a qdisc in front of a link.
#[derive(Clone)]
pub(crate) enum Queues {
    /// One under a law, first in, first out.
    Fifo(Designed),
    /// Deficit round robin.
    Drr(drr::Design),
    /// Weighted fair queueing.
    Wfq(wfq::Design),
    /// Strict priority.
    Prio(prio::Design),
    /// The coupled dual queue.
    Dual(dual::Design),
    /// A shaper in front of another.
    Shaper(Box<shaper::Design>),
    /// CAKE.
    Cake(Box<cake::Design>),
    /// SQM.
    Sqm(Box<sqm::Design>),
}

/// A qdisc at the start of a run.
pub(crate) type Built<P> = Box<dyn Qdisc<P>>;

impl Queues {
    /// The qdisc at the start of a run, behind a buffer of `limit`.
    pub(crate) fn build<P: Packet + Send + 'static>(
        &self,
        (limit, context): (Limit, LinkContext),
        given: Given,
        draws: Stream,
    ) -> Built<P> {
        match self {
            Queues::Fifo(law) => Box::new(Fifo::new(law.law(), limit, context, draws).given(given)),
            Queues::Drr(design) => design.build(limit, given, draws),
            Queues::Wfq(design) => design.build(limit, given, draws),
            Queues::Prio(design) => design.build(limit, given, draws),
            Queues::Dual(design) => design.build(limit, given, draws),
            Queues::Shaper(design) => design.build(limit, given, draws),
            Queues::Cake(design) => design.build(limit, given, draws),
            Queues::Sqm(design) => design.build(limit, given, draws),
        }
    }

    /// The same with another law in each queue; None: its queues have no law in common.
    pub(crate) fn under(&self, law: Designed) -> Option<Queues> {
        let mut queues = self.clone();
        match &mut queues {
            Queues::Fifo(own) => *own = law,
            Queues::Drr(design) => design.parts.set_law(law),
            Queues::Wfq(design) => design.parts.set_law(law),
            Queues::Prio(design) => design.parts.set_law(law),
            Queues::Shaper(design) => design.inner = design.inner.under(law)?,
            Queues::Dual(_) | Queues::Cake(_) | Queues::Sqm(_) => return None,
        }
        Some(queues)
    }

    /// A qdisc of the caller behind the shapers, at the start of a run.
    pub(crate) fn behind_shapers<P: Packet + Send + 'static>(
        &self,
        inner: Built<P>,
        given: Given,
    ) -> Built<P> {
        let Queues::Shaper(design) = self else { return inner };
        design.build_with(design.inner.behind_shapers(inner), given)
    }

    /// Refuses what does not fit the link that it is designed for.
    pub(crate) fn fit_link(&self) -> Result<(), InputError> {
        match self {
            Queues::Shaper(design) => design.inner.queues().fit_link().map_err(|error| error.at("qdisc")),
            Queues::Sqm(design) => design.fit_link(),
            queues => queues.parts().map_or(Ok(()), Parts::fit_link),
        }
    }

    /// The link and the traffic of each queue; None: those of the link.
    pub(crate) fn queue_context(&self) -> Option<LinkContext> {
        match self {
            Queues::Shaper(design) => Some(design.inner.queue_context()),
            queues => queues.parts().map(|parts| *parts.context()),
        }
    }

    /// The laws and shares of several queues; None: one queue.
    pub(crate) fn parts(&self) -> Option<&Parts> {
        match self {
            Queues::Fifo(_) | Queues::Dual(_) | Queues::Cake(_) | Queues::Sqm(_) => None,
            Queues::Drr(design) => Some(&design.parts),
            Queues::Wfq(design) => Some(&design.parts),
            Queues::Prio(design) => Some(&design.parts),
            Queues::Shaper(design) => design.inner.queues().parts(),
        }
    }
}
