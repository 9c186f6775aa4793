//! Queues that share the rate of a link: what each has of it, and qdiscs as models without packets have them.

use super::Queues;
use super::classifiers::By;
use super::common::Parts;
use super::limits::Limits;
use super::sqm::fluid::Priced;
use crate::entry::Designed;
use crate::link_context::LinkContext;
use crate::qdisc::Limit;
use crate::qdisc_spec::{DesignedQdisc, Place};
use sojourn_params::{Given, InputError};
use sojourn_units::Rate;

/// Share of one queue of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// A part of its rate.
    Part(f64),
    /// A part of what a reserved queue leaves of its rate, [`LEAST_REST`] at least.
    Rest {
        /// Rate of the reserved queue.
        reserved: Rate,
        /// The part.
        part: f64,
    },
    /// A rate of its own, at most that of the link.
    Own(Rate),
}

impl Share {
    pub(super) fn of(self, rate: Rate) -> Rate {
        match self {
            Share::Part(part) => Rate::from_bits_per_second(rate.bits_per_second() * part),
            Share::Rest { reserved, part } => {
                let link = rate.bits_per_second();
                Rate::from_bits_per_second((link - reserved.bits_per_second()).max(LEAST_REST * link) * part)
            }
            Share::Own(own) if own < rate => own,
            Share::Own(_) => rate,
        }
    }

    /// The same where the reserved queue has this rate.
    pub(super) fn with_reserved(self, reserved: Rate) -> Share {
        match self {
            Share::Part(part) => Share::Part(part),
            Share::Rest { part, .. } => Share::Rest { reserved, part },
            Share::Own(_) => Share::Own(reserved),
        }
    }
}

/// Queues in front of a link, each of which has a share of it: deficit round robin and weighted fair queueing with
/// packets of no size.
#[derive(Clone)]
pub struct Shares {
    /// What the packets of a queue have in common.
    pub by: By,
    /// Weight of each class, by its number.
    pub weights: Vec<f64>,
    /// Most packets in all queues together.
    pub most_packets: f64,
    /// Most bytes in all queues together.
    pub most_bytes: f64,
    /// True if packets are marked above a sojourn time, whatever the law says.
    pub has_threshold: bool,
    /// Law of the queues, and that of the reserved queue if there is one.
    pub laws: Vec<QueueLaw>,
    /// Rate of the reserved queue, and for each class whether it goes there.
    pub reserved: Option<(Rate, Vec<bool>)>,
    /// Utilities from which weights and laws follow; None: they are given.
    pub priced: Option<Priced>,
}

/// Law of one of several queues, with the link and traffic that it is designed for.
#[derive(Clone)]
pub struct QueueLaw {
    /// The law.
    pub law: Designed,
    /// Its name.
    pub name: &'static str,
    /// Its parameters.
    pub given: Given,
    /// Link and traffic of one queue.
    pub context: LinkContext,
    pub(super) share: Share,
}

impl QueueLaw {
    /// Rate that a queue is designed for where the link has this one.
    pub fn rate_of(&self, link: Rate) -> Rate {
        self.share.of(link)
    }
}

impl DesignedQdisc {
    /// The qdisc behind its shapers.
    pub fn unshaped(&self) -> &DesignedQdisc {
        match self.queues() {
            Queues::Shaper(shaper) => shaper.inner.unshaped(),
            _ => self,
        }
    }

    /// Rate of its shapers, packets/s of this size; infinite where there is none.
    pub fn shaped_capacity(&self, packet: f64) -> f64 {
        match self.queues() {
            Queues::Shaper(shaper) => shaper.capacity(packet).min(shaper.inner.shaped_capacity(packet)),
            _ => f64::INFINITY,
        }
    }

    /// Rate that the qdisc behind its shapers has where the link has this one.
    pub fn unshaped_rate(&self, link: Rate) -> Rate {
        match self.queues() {
            Queues::Shaper(shaper) => shaper.inner.unshaped_rate(shaper.slower(link)),
            _ => link,
        }
    }

    /// Its queues as shares of the link; None: it is no scheduler of shares.
    pub fn shares(&self) -> Option<Shares> {
        let (parts, by, limits) = match self.queues() {
            Queues::Drr(design) => (&design.parts, design.by(), design.limits()),
            Queues::Wfq(design) => (&design.parts, design.by(), design.limits()),
            Queues::Sqm(design) => return Some(design.shares(self.given())),
            _ => return None,
        };
        Some(Shares::of(parts, by, &limits))
    }

    /// The qdisc with changed parameters, which a [`DryRun`](crate::DryRun) has taken; those that are not given stay.
    pub fn changed(&self, change: &Given, place: &Place<'_>) -> Result<DesignedQdisc, InputError> {
        self.after_change(change)?.design(place)
    }
}

impl Shares {
    fn of(parts: &Parts, by: By, limits: &Limits) -> Shares {
        let bounds = limits.bounds(Limit::Unlimited);
        let laws = parts.kinds.iter().zip(&parts.specs).map(|((law, context, share), spec)| QueueLaw {
            law: law.clone(),
            name: spec.law(),
            given: spec.given().clone(),
            context: *context,
            share: *share,
        });
        Shares {
            by,
            weights: (0..).zip(parts.classes.iter()).map(|(class, _)| parts.weights.of(class)).collect(),
            most_packets: f64::from(bounds.most_packets),
            most_bytes: bounds.most_bytes as f64,
            has_threshold: bounds.ce_threshold.is_some(),
            laws: laws.collect(),
            reserved: parts.reserved.clone(),
            priced: None,
        }
    }
}

/// Part of the rate of a link that counts as the others' at least beside a reserved queue, whatever its rate.
pub const LEAST_REST: f64 = 0.01;
