//! Routes, cut into legs at the links where flows meet.
//!
//! A link that one flow has to itself in one direction, without a qdisc and not
//! in the schedule, is private: its packets leave in the order of arrival, so
//! their arrival times follow from their send times. All other links are
//! shared, and so are those with a schedule of opportunities or with
//! impairments. A leg is a stretch of a route over private links up to the next
//! shared link, to the wire behind one, or up to the endpoint. Where a wire
//! changes the order of packets, a station behind it that takes no time sorts
//! them by their new times. Where packets carry prices of links, the first leg
//! of a way ends where they get them, the last but one where they are read.
//!
//! ```text
//! sender --access--> |bottleneck| --access--> receiver
//!        leg 0                   leg 1
//! ```

use crate::impairments::Wire;
use crate::link::{Link, Private, Speed};
use crate::network::{FlowPlan, Hop, Joining, LinkPlan, Network};
use sojourn_aqm::Coordinator;
use sojourn_scenario::links::Framing;
use sojourn_units::{Rate, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// A stretch of a flow's route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    /// The first of its links, among the private ones; the next leg's come behind.
    pub(crate) from: u32,
    /// The number of the shared link where it ends, of a wire, or of an endpoint.
    to: u32,
}

/// End of a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At this shared link.
    Link(u32),
    /// On the wire with this number, among those with impairments.
    Wire(u32),
    /// At the flow's receiver.
    Receiver,
    /// At the flow's sender.
    Sender,
}

/// A network's links and legs.
#[derive(Default)]
pub(crate) struct Layout {
    /// The shared links, in the order of their numbers.
    pub(crate) links: Vec<Link>,
    /// Wires with impairments, each with its link's number, in that order.
    pub(crate) wires: Vec<(u32, Wire)>,
    /// The private links, in the order of the legs.
    pub(crate) private: Vec<Private>,
    /// Their speeds.
    pub(crate) speeds: Vec<Speed>,
    /// The legs, and one more that marks the end of the last one's links.
    pub(crate) legs: Vec<Leg>,
    /// Numbers of speeds by rate, framing and direction (data or not).
    known: BTreeMap<(u64, Framing, bool), u32>,
    /// Wire behind a link and the station behind that, if any, by the number of the link.
    beyond: BTreeMap<u32, Vec<End>>,
    /// The number of the next link.
    next: u32,
    stepwise: bool,
    /// Packets carry prices of links.
    has_prices: bool,
}

/// A step of a route before it is cut into legs.
#[derive(Clone, Copy)]
enum RouteStep {
    /// Over a private link.
    Private(Rate, Span, Framing),
    /// To the end of a leg.
    To(End),
}

impl Leg {
    fn new(from: u32, end: End) -> Leg {
        let to = match end {
            End::Link(link) => link,
            End::Wire(wire) => FIRST_WIRE + wire,
            End::Receiver => RECEIVER,
            End::Sender => SENDER,
        };
        Leg { from, to }
    }

    pub(crate) fn end(self) -> End {
        match self.to {
            0..FIRST_WIRE => End::Link(self.to),
            RECEIVER => End::Receiver,
            SENDER => End::Sender,
            FIRST_WIRE.. => End::Wire(self.to - FIRST_WIRE),
        }
    }
}

/// The legs of a way from its first one to an end of the flow: the private links of each, and where it ends.
pub(crate) fn way(legs: &[Leg], first: u32) -> impl Iterator<Item = (Range<usize>, End)> {
    let legs = legs[first as usize..].windows(2);
    let legs = legs.map(|legs| (legs[0].from as usize..legs[1].from as usize, legs[0].end()));
    let mut is_over = false;
    legs.take_while(move |(_, end)| {
        !std::mem::replace(&mut is_over, matches!(end, End::Receiver | End::Sender))
    })
}

/// Numbers of the links with queues on a way.
pub(crate) fn links(legs: &[Leg], first: u32) -> impl Iterator<Item = u32> {
    way(legs, first).filter_map(|(_, end)| match end {
        End::Link(link) => Some(link),
        _ => None,
    })
}

/// Numbers that no link has; between these, those of wires.
const FIRST_WIRE: u32 = 1 << 31;
const RECEIVER: u32 = u32::MAX;
const SENDER: u32 = u32::MAX - 1;

/// Wire that no link has, where a packet leaves an end with the prices known there: the match of ends is no longer for it.
pub(crate) const PRICE_WRITER: u32 = SENDER - FIRST_WIRE - 1;
/// The same where the prices that a packet carries are known to an end.
pub(crate) const PRICE_READER: u32 = SENDER - FIRST_WIRE - 2;

impl Layout {
    /// Cuts the network's routes into legs; returns the first legs of each flow, forward and reverse. Links that are
    /// `tapped` are shared ones.
    pub(crate) fn new(network: &mut Network, stepwise: bool, tapped: &[u32]) -> (Layout, Vec<[u32; 2]>) {
        let real = network.links.len();
        let stations = add_stations(network);
        if stepwise {
            add_endpoints(network);
        }
        let mut private = private_links(network, stepwise);
        for link in tapped {
            private[*link as usize] = false;
        }
        let mut layout = Layout { next: network.links.len() as u32, stepwise, ..Layout::default() };
        layout.private.reserve_exact(private.iter().filter(|private| **private).count());
        let mut plans = std::mem::take(&mut network.links);
        let mut places = vec![u32::MAX; plans.len()];
        for (number, plan) in plans.iter_mut().enumerate().filter(|(number, _)| !private[*number]) {
            places[number] = layout.links.len() as u32;
            if let Some(wire) = plan.impairments.take() {
                layout.beyond.insert(number as u32, vec![End::Wire(layout.wires.len() as u32)]);
                layout.wires.push((number as u32, *wire));
            }
            let plan = LinkPlan {
                qdisc: plan.qdisc.take(),
                link_schedule: plan.link_schedule.take(),
                impairments: None,
                ..*plan
            };
            let mut link = Link::new(number as u32, number >= real, plan);
            layout.has_prices |= link.is_coordinated(Coordinator::Decentralised);
            layout.links.push(link);
        }
        for (link, beyond) in &mut layout.beyond {
            beyond.extend(stations[*link as usize].map(|station| End::Link(places[station])));
        }
        let mut first = Vec::with_capacity(network.flows.len());
        let mut steps = [Vec::new(), Vec::new()];
        for flow in &network.flows {
            for (way, steps) in [&flow.forward, &flow.reverse].into_iter().zip(&mut steps) {
                steps.clear();
                for link in way {
                    let LinkPlan { rate, delay, framing, .. } = plans[*link as usize];
                    if private[*link as usize] {
                        steps.push(RouteStep::Private(rate, delay, framing));
                    } else {
                        layout.step_over(*link, places[*link as usize], steps);
                    }
                }
            }
            first.push(layout.add_flow(&steps));
        }
        layout.legs.shrink_to_fit();
        (layout, first)
    }

    /// Adds the flows of a user that joins, over the same links, and the links of its own; returns the flows' first
    /// legs. `number` is the user's in its class, `most` the bound of that number.
    pub(crate) fn join(
        &mut self,
        joining: &Joining,
        (number, most): (u32, u32),
        flows: u32,
    ) -> Vec<[u32; 2]> {
        let ways = [&joining.forward, &joining.reverse];
        // A flow without a shared link would be computed without end and without an event.
        let mut first_too = !ways.iter().any(|way| way.iter().any(|hop| matches!(hop, Hop::Link(_))));
        let mut steps = ways.map(|way| {
            let mut steps = Vec::new();
            for hop in way {
                match *hop {
                    Hop::Link(link) => self.step_over(link, self.place(link), &mut steps),
                    Hop::Own(rate, delay) => {
                        let delay = delay.at(number, most);
                        // A link that several flows use is shared.
                        let shared = self.stepwise || flows > 1 || std::mem::take(&mut first_too);
                        steps.push(if shared {
                            RouteStep::To(self.add_link(LinkPlan::plain(rate, delay), false))
                        } else {
                            RouteStep::Private(rate, delay, Framing::IP)
                        });
                    }
                }
            }
            steps
        });
        let mut first = Vec::new();
        for _ in 0..flows {
            if self.stepwise {
                for way in &mut steps {
                    way.push(RouteStep::To(self.add_link(station(), true)));
                }
            }
            first.push(self.add_flow(&steps));
            if self.stepwise {
                for way in &mut steps {
                    way.truncate(way.len() - 1);
                }
            }
        }
        first
    }

    /// Place of the shared link with this number.
    fn place(&self, number: u32) -> u32 {
        self.links
            .binary_search_by_key(&number, |link| link.number)
            .expect("links of several flows are shared") as u32
    }

    /// Adds a shared link; returns it as the end of a leg.
    fn add_link(&mut self, plan: LinkPlan, is_station: bool) -> End {
        self.links.push(Link::new(self.next, is_station, plan));
        self.next += 1;
        End::Link(self.links.len() as u32 - 1)
    }

    /// Adds the steps over the shared link with this number, at this place.
    fn step_over(&self, number: u32, place: u32, steps: &mut Vec<RouteStep>) {
        steps.push(RouteStep::To(End::Link(place)));
        steps.extend(self.beyond.get(&number).into_iter().flatten().map(|end| RouteStep::To(*end)));
    }

    /// Adds a flow over these routes, forward and reverse; returns its first legs.
    fn add_flow(&mut self, [forward, reverse]: &[Vec<RouteStep>; 2]) -> [u32; 2] {
        // The links of the new legs follow those of the last one.
        self.legs.pop();
        let first = [self.add_way(forward, End::Receiver), self.add_way(reverse, End::Sender)];
        self.add_leg(self.private.len() as u32, End::Sender);
        first
    }

    fn add_way(&mut self, steps: &[RouteStep], end: End) -> u32 {
        let first = self.legs.len() as u32;
        let mut from = self.private.len() as u32;
        if self.has_prices {
            from = self.add_leg(from, End::Wire(PRICE_WRITER));
        }
        for step in steps {
            match *step {
                RouteStep::Private(rate, delay, framing) => {
                    // Data and acknowledgments have speeds of their own: each caches one packet size.
                    let speed = self.speed(rate, framing, end == End::Receiver);
                    self.private.push(Private::new(speed, delay));
                }
                RouteStep::To(end) => from = self.add_leg(from, end),
            }
        }
        if self.has_prices {
            from = self.add_leg(from, End::Wire(PRICE_READER));
        }
        self.add_leg(from, end);
        first
    }

    /// The number of a speed.
    fn speed(&mut self, rate: Rate, framing: Framing, of_data: bool) -> u32 {
        let speeds = &mut self.speeds;
        *self.known.entry((rate.bits_per_second().to_bits(), framing, of_data)).or_insert_with(|| {
            speeds.push(Speed::new(rate, framing));
            speeds.len() as u32 - 1
        })
    }

    /// Adds the leg over the private links from number `from` on; returns the next number.
    fn add_leg(&mut self, from: u32, end: End) -> u32 {
        self.legs.push(Leg::new(from, end));
        self.private.len() as u32
    }
}

/// Marks private links; stepwise there are none.
fn private_links(network: &Network, stepwise: bool) -> Vec<bool> {
    let mut uses = vec![0_u32; network.links.len()];
    let links = |flow: &FlowPlan| [flow.forward.clone(), flow.reverse.clone()].concat();
    network.flows.iter().flat_map(links).for_each(|link| uses[link as usize] += 1);
    let plans = uses.iter().zip(&network.links);
    let plain =
        |plan: &LinkPlan| plan.qdisc.is_none() && plan.link_schedule.is_none() && plan.impairments.is_none();
    let mut private: Vec<bool> = plans.map(|(uses, plan)| !stepwise && *uses == 1 && plain(plan)).collect();
    // Links of flows that join later are shared in any case.
    for joining in network.classes.iter().filter_map(|class| class.joining.as_ref()) {
        for hop in joining.forward.iter().chain(&joining.reverse) {
            if let Hop::Link(link) = hop {
                private[*link as usize] = false;
            }
        }
    }
    network.changes.iter().for_each(|change| private[change.link as usize] = false);
    // A flow without a shared link would be computed without end and without an event.
    for flow in &network.flows {
        if links(flow).iter().all(|link| private[*link as usize]) {
            private[flow.forward[0] as usize] = false;
        }
    }
    private
}

/// Adds a station in front of every endpoint, at which packets wait for their time.
fn add_endpoints(network: &mut Network) {
    for flow in &mut network.flows {
        for route in [&mut flow.forward, &mut flow.reverse] {
            route.push(network.links.len() as u32);
            network.links.push(station());
        }
    }
}

/// Adds a station behind every link whose wire reorders; returns its number, by link.
fn add_stations(network: &mut Network) -> Vec<Option<usize>> {
    let links = network.links.len();
    let reorders = |plan: &LinkPlan| plan.impairments.as_ref().is_some_and(|wire| wire.reorders());
    let mut stations: Vec<Option<usize>> = (0..links)
        .map(|link| {
            reorders(&network.links[link]).then(|| {
                network.links.push(station());
                network.links.len() - 1
            })
        })
        .collect();
    stations.resize(network.links.len() + 2 * network.flows.len(), None);
    stations
}

/// A link that takes no time.
fn station() -> LinkPlan {
    LinkPlan::plain(Rate::from_bits_per_second(f64::INFINITY), Span::ZERO)
}
