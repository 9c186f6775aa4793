//! A network as plain data, from which a simulation is built.

use sojourn_aqm::Qdisc;
use sojourn_params::Given;
use sojourn_scenario::links::Framing;
use sojourn_scenario::{self as scenario, Spread};
use sojourn_tcp::Config;
use sojourn_units::{Rate, Span, Time};
use sojourn_workload::{AppPlan, Churn, DatagramsPlan};
use std::sync::Arc;

use crate::impairments::Wire;
use crate::link_schedule::LinkSchedule;
use crate::packet::Packet;

/// Links, flows and the schedule of changes.
pub struct Network {
    /// The links, by number.
    pub links: Vec<LinkPlan>,
    /// The classes of flows, by number.
    pub classes: Vec<ClassPlan>,
    /// The flows that exist from the start, by number.
    pub flows: Vec<FlowPlan>,
    /// Changes in the order of time; at one instant the earlier entry comes first.
    pub changes: Vec<Change>,
}

/// One direction of a link.
pub struct LinkPlan {
    /// Rate of bits on the wire; a packet takes a nanosecond at the least. The mean with a `link_schedule`.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Qdisc in front of it; None: an unlimited first-in-first-out queue.
    pub qdisc: Option<Box<dyn Qdisc<Packet>>>,
    /// Bytes on the wire by packet size.
    pub framing: Framing,
    /// Opportunities to send, instead of a constant rate.
    pub link_schedule: Option<Box<LinkSchedule>>,
    /// Impairments of its wire.
    pub impairments: Option<Box<Wire>>,
}

impl LinkPlan {
    /// A link with only a rate and a delay.
    pub fn plain(rate: Rate, delay: Span) -> LinkPlan {
        LinkPlan { rate, delay, qdisc: None, framing: Framing::IP, link_schedule: None, impairments: None }
    }
}

/// A class of flows.
#[derive(Clone, Default)]
pub struct ClassPlan {
    /// Arrivals and departures.
    pub churn: Churn,
    /// Hosts of its senders and of its receivers; None: each user has one of its own.
    pub hosts: [Option<u32>; 2],
    /// DSCP of its packets.
    pub dscp: u8,
    /// Flows that join during the run.
    pub joining: Option<Joining>,
}

/// A flow that joins during the run.
#[derive(Clone)]
pub struct Joining {
    /// Its sender.
    pub source: SourcePlan,
    /// Its route from the sender to the receiver; at least one link.
    pub forward: Vec<Hop>,
    /// From the receiver to the sender.
    pub reverse: Vec<Hop>,
}

/// A link of a route.
#[derive(Clone, Copy, Debug)]
pub enum Hop {
    /// The network's link with this number.
    Link(u32),
    /// A link of the flow's own, without a qdisc; the delay is that of the user's number among the class's `most`.
    Own(Rate, Spread),
}

/// A flow: its endpoints and the links between them.
pub struct FlowPlan {
    /// Its class.
    pub class: u32,
    /// Number of its user in the class; the flows of one user are consecutive.
    pub user: u32,
    /// Its sender.
    pub source: SourcePlan,
    /// Links from the sender to the receiver; at least one.
    pub forward: Vec<u32>,
    /// Links from the receiver to the sender.
    pub reverse: Vec<u32>,
    /// Start time.
    pub start: Time,
    /// Stop time.
    pub stop: Option<Time>,
}

/// A sender.
#[derive(Clone)]
pub enum SourcePlan {
    /// A TCP sender that always has data; flows of one kind share their configuration.
    Bulk(Arc<Config>),
    /// TCP under an application that sends or requests data at times.
    App(Arc<Config>, scenario::App),
    /// Datagrams that do not respond to congestion.
    Datagrams(DatagramsPlan),
}

impl SourcePlan {
    /// Configuration of TCP.
    pub fn config(&self) -> Option<&Arc<Config>> {
        match self {
            SourcePlan::Bulk(config) | SourcePlan::App(config, _) => Some(config),
            SourcePlan::Datagrams(_) => None,
        }
    }

    /// The application on top.
    pub fn app(&self) -> AppPlan {
        match self {
            SourcePlan::Bulk(_) => AppPlan::Bulk,
            SourcePlan::App(config, app) => AppPlan::Session(app.clone(), config.mss),
            SourcePlan::Datagrams(plan) => AppPlan::Datagrams(plan.clone()),
        }
    }

    /// The same for one user of a class.
    pub fn of_user(&self, class: &str, user: u32) -> SourcePlan {
        let mut source = self.clone();
        if let SourcePlan::Datagrams(datagrams) = &mut source {
            datagrams.name = format!("{class}/{user}");
        }
        source
    }
}

/// An entry of the schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// First time.
    pub time: Time,
    /// Period, more than 0; None: it happens once.
    pub every: Option<Span>,
    /// Last time.
    pub until: Time,
    /// Number of the link.
    pub link: u32,
    /// The change.
    pub set: LinkChange,
}

/// A change of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkChange {
    /// A new rate; the packet being sent (without a qdisc: all that wait, too) finishes at the old one. No effect on a
    /// link with a schedule.
    Rate(Rate),
    /// A new delay; packets on the wire keep theirs and are not overtaken.
    Delay(Span),
    /// Parameters of its law, valid for it.
    Law(Arc<Given>),
}
