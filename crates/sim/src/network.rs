//! A network as plain data: what a simulation is built from.

use sojourn_aqm::Disc;
use sojourn_scenario::links::Framing;
use sojourn_scenario::{Arrivals, Session, Spread};
use sojourn_tcp::Config;
use sojourn_units::{Draw, Rate, Span, Time, TimeDraw, Value};
use std::sync::Arc;

use crate::deliveries::Deliveries;
use crate::packet::Packet;
use crate::wire::Wire;

/// Links, flows and the schedule of changes.
pub struct Network {
    /// The links, by number.
    pub links: Vec<LinkPlan>,
    /// The classes of flows, by number.
    pub classes: Vec<ClassPlan>,
    /// The flows that there are from the start, by number.
    pub flows: Vec<FlowPlan>,
    /// What changes when, in order; at one instant the earlier entry comes first.
    pub changes: Vec<Change>,
}

/// One direction of a link.
pub struct LinkPlan {
    /// How fast it sends, bits on the wire; a packet takes a nanosecond at the least. The mean where there are
    /// `deliveries`.
    pub rate: Rate,
    /// How long a packet is on the wire after it has been sent.
    pub delay: Span,
    /// What stands in front of it; without a disc, an unlimited first-in-first-out queue.
    pub disc: Option<Box<dyn Disc<Packet>>>,
    /// What a packet takes on the wire.
    pub framing: Framing,
    /// When it may send, where it has no constant rate.
    pub deliveries: Option<Box<Deliveries>>,
    /// What the wire does to packets.
    pub impairments: Option<Box<Wire>>,
}

impl LinkPlan {
    /// A link with nothing but a rate and a delay.
    pub fn plain(rate: Rate, delay: Span) -> LinkPlan {
        LinkPlan { rate, delay, disc: None, framing: Framing::IP, deliveries: None, impairments: None }
    }
}

/// A class: like flows, and how they come and go.
#[derive(Clone, Default)]
pub struct ClassPlan {
    /// Its name, from which the names of its random streams are made.
    pub name: String,
    /// How many there may be at a time; only matters where they come and go.
    pub most: u32,
    /// What becomes of that number at what time, in order.
    pub counts: Vec<(Time, u32)>,
    /// When they come, where that is not told of each by itself.
    pub arrivals: Option<Arrivals>,
    /// How long one stays.
    pub lifetime: Option<TimeDraw>,
    /// When all stop that came during the run.
    pub stop: Option<Time>,
    /// What those are that come during the run.
    pub joining: Option<Joining>,
}

/// A flow that comes during the run.
#[derive(Clone)]
pub struct Joining {
    /// What sends.
    pub source: SourcePlan,
    /// Its way from the sender to the receiver; at least one link.
    pub forward: Vec<Hop>,
    /// From the receiver to the sender.
    pub reverse: Vec<Hop>,
}

/// A link of a way.
#[derive(Clone, Copy, Debug)]
pub enum Hop {
    /// That of the network with this number.
    Link(u32),
    /// One of the flow's own, without a disc; the delay is that of the class's flow with its number among `most`.
    Own(Rate, Spread),
}

/// A flow: its endpoints and the links between them.
pub struct FlowPlan {
    /// Its class.
    pub class: u32,
    /// Its number within the class; applications that use several connections have one number for all of them, which
    /// stand together.
    pub member: u32,
    /// What sends.
    pub source: SourcePlan,
    /// Links from the sender to the receiver; at least one.
    pub forward: Vec<u32>,
    /// Links from the receiver to the sender.
    pub reverse: Vec<u32>,
    /// When it starts.
    pub start: Time,
    /// When it stops.
    pub stop: Option<Time>,
}

/// What sends.
#[derive(Clone)]
pub enum SourcePlan {
    /// A TCP sender that always has data; flows of one kind share their configuration.
    Bulk(Arc<Config>),
    /// TCP under an application that has something to send now and then.
    App(Arc<Config>, Session),
    /// Datagrams that do not respond to congestion.
    Datagrams(DatagramsPlan),
}

impl SourcePlan {
    /// How TCP is set up.
    pub(crate) fn config(&self) -> Option<&Arc<Config>> {
        match self {
            SourcePlan::Bulk(config) | SourcePlan::App(config, _) => Some(config),
            SourcePlan::Datagrams(_) => None,
        }
    }

    /// How many flows it uses.
    pub(crate) fn flows(&self) -> u32 {
        match self {
            SourcePlan::App(_, Session::Web(web)) => web.connections,
            _ => 1,
        }
    }

    /// Whether it is at the receivers, and asks.
    pub(crate) fn asks(&self) -> bool {
        matches!(self, SourcePlan::App(_, Session::Web(_) | Session::Video(_) | Session::Game(_)))
    }

    /// The same for one member of a class.
    pub(crate) fn of_member(&self, class: &str, member: u32) -> SourcePlan {
        let mut source = self.clone();
        if let SourcePlan::Datagrams(datagrams) = &mut source {
            datagrams.name = format!("{class}/{member}");
        }
        source
    }
}

/// A stream of UDP datagrams.
#[derive(Clone, Debug)]
pub struct DatagramsPlan {
    /// The flow's name, `CLASS/MEMBER`, with which those of its random streams begin.
    pub name: String,
    /// Datagrams per second, the mean; of an on/off source while it is on.
    pub rate: f64,
    /// When they are sent.
    pub spacing: Spacing,
    /// Their sizes on the wire, bytes; those that no datagram has are cut.
    pub size: Draw,
    /// Whether they are ECN-capable.
    pub ecn: bool,
    /// Whether the receiver sends each one back.
    pub echo: bool,
}

impl DatagramsPlan {
    /// Datagrams of one size, bytes, at a rate per second; neither ECN-capable nor sent back.
    pub fn plain(name: &str, rate: f64, spacing: Spacing, bytes: u16) -> DatagramsPlan {
        let size = Draw::constant(f64::from(bytes)).expect("a size is finite");
        DatagramsPlan { name: name.into(), rate, spacing, size, ecn: false, echo: false }
    }
}

/// When datagrams are sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Spacing {
    /// In even steps, the first at the start.
    Even,
    /// With independent exponential gaps, also before the first.
    Poisson,
    /// In even steps during on-periods, the first of which begins at the start.
    OnOff {
        /// Lengths of on-periods, s.
        on: Draw,
        /// Lengths of the pauses between them, s.
        off: Draw,
    },
    /// The sum of many on/off sources with long-range dependence.
    Lrd(OnOffSum),
    /// In even steps, a frame of speech each, the first at the end of the first frame.
    Voice {
        /// Whether there are pauses between talk spurts.
        spurts: bool,
    },
}

/// Many alike on/off sources whose periods are Pareto distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOffSum {
    /// How many.
    pub sources: u32,
    /// The Hurst parameter of their sum; between 0.5 and 1.
    pub hurst: f64,
    /// The mean on-period, s.
    pub on: f64,
    /// The mean pause, s.
    pub off: f64,
}

impl OnOffSum {
    /// The lengths of on-periods and of pauses, s: Pareto with a tail index of 3 - 2H.
    pub fn periods(&self) -> [Draw; 2] {
        let period = |mean| Draw::pareto(mean, 3.0 - 2.0 * self.hurst);
        [self.on, self.off].map(|mean| period(mean).expect("the scenario has checked the periods"))
    }
}

/// An entry of the schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When, for the first time.
    pub time: Time,
    /// How long from each time to the next, more than 0; None: it happens once.
    pub every: Option<Span>,
    /// It does not happen later.
    pub until: Time,
    /// Which link.
    pub link: u32,
    /// What.
    pub what: LinkChange,
}

/// What changes about a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkChange {
    /// A new rate; what is being sent (without a disc: all that waits, too) is finished at the old one. Nothing to a
    /// link with deliveries.
    Rate(Rate),
    /// A new delay; packets on the wire keep theirs and are not overtaken.
    Delay(Span),
    /// These parameters of its law; the law takes them, which whoever makes the network has made sure of.
    Law(Arc<[(String, Value)]>),
}
