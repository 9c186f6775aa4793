//! Routes, cut into legs at the links where flows meet.
//!
//! A link that one flow has to itself in one direction, without a disc and not
//! in the schedule, is private: its packets leave in the order in which they
//! came, so when they arrive follows from when they were sent. All other links
//! are shared, and so are those that send only now and then or whose wire does
//! something to packets. A leg is a stretch of a route over private links up to
//! the next shared link, to the wire behind one, or up to the endpoint. Where a
//! wire changes the order of packets, a station stands behind it that takes no
//! time: there they come into the order of their new times.
//!
//! ```text
//! sender --access--> |bottleneck| --access--> receiver
//!        leg 0                   leg 1
//! ```

use crate::link::{Link, Private, Speed};
use crate::network::{FlowPlan, LinkPlan, Network};
use crate::wire::Wire;
use sojourn_units::{Rate, Span};
use std::collections::BTreeMap;

/// A stretch of a flow's route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    /// The first of its links, among the private ones; the next leg's come behind.
    pub(crate) from: u32,
    /// The number of the shared link where it ends, of a wire, or of an endpoint.
    to: u32,
}

/// Where a leg ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At this shared link.
    Link(u32),
    /// On the wire with this number, among those that do something to packets.
    Wire(u32),
    /// At the flow's receiver.
    Receiver,
    /// At the flow's sender.
    Sender,
}

/// A network's links and legs.
pub(crate) struct Layout {
    /// The shared links, in the order of their numbers.
    pub(crate) links: Vec<Link>,
    /// The wires that do something to packets, each with its link's number, in that order.
    pub(crate) wires: Vec<(u32, Wire)>,
    /// The private links, in the order of the legs.
    pub(crate) private: Vec<Private>,
    /// Their speeds.
    pub(crate) speeds: Vec<Speed>,
    /// And one more, where the last one's links end.
    pub(crate) legs: Vec<Leg>,
    /// Each flow's first legs, forward and reverse.
    pub(crate) first: Vec<[u32; 2]>,
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

/// Numbers that no link has; between these, those of wires.
const FIRST_WIRE: u32 = 1 << 31;
const RECEIVER: u32 = u32::MAX;
const SENDER: u32 = u32::MAX - 1;

impl Layout {
    /// Cuts the network's routes into legs.
    pub(crate) fn new(network: &mut Network, stepwise: bool) -> Layout {
        let real = network.links.len();
        let stations = add_stations(network);
        if stepwise {
            add_endpoints(network);
        }
        let private = private_links(network, stepwise);
        let mut layout = Layout {
            links: Vec::new(),
            wires: Vec::new(),
            private: Vec::with_capacity(private.iter().filter(|private| **private).count()),
            speeds: Vec::new(),
            legs: Vec::new(),
            first: Vec::with_capacity(network.flows.len()),
        };
        let mut plans = std::mem::take(&mut network.links);
        let mut places = vec![u32::MAX; plans.len()];
        let mut wires = vec![None; plans.len()];
        for (number, plan) in plans.iter_mut().enumerate().filter(|(number, _)| !private[*number]) {
            places[number] = layout.links.len() as u32;
            if let Some(wire) = plan.impairments.take() {
                wires[number] = Some(layout.wires.len() as u32);
                layout.wires.push((number as u32, *wire));
            }
            let plan = LinkPlan {
                disc: plan.disc.take(),
                deliveries: plan.deliveries.take(),
                impairments: None,
                ..*plan
            };
            layout.links.push(Link::new(number as u32, number >= real, plan));
        }
        let mut speeds = BTreeMap::new();
        for flow in &network.flows {
            let routes = [(&flow.forward, End::Receiver), (&flow.reverse, End::Sender)];
            let first = routes.map(|(route, end)| {
                let first = layout.legs.len() as u32;
                let mut from = layout.private.len() as u32;
                for link in route {
                    if private[*link as usize] {
                        let LinkPlan { rate, delay, framing, .. } = plans[*link as usize];
                        // Data go one way and acknowledgments the other: each way knows its own size.
                        let key = (rate.bits_per_second().to_bits(), framing, end == End::Receiver);
                        let new = || layout.add_speed(Speed::new(rate, framing));
                        let speed = *speeds.entry(key).or_insert_with(new);
                        layout.private.push(Private::new(speed, delay));
                    } else {
                        from = layout.add_leg(from, End::Link(places[*link as usize]));
                        if let Some(wire) = wires[*link as usize] {
                            from = layout.add_leg(from, End::Wire(wire));
                        }
                        if let Some(station) = stations[*link as usize] {
                            from = layout.add_leg(from, End::Link(places[station]));
                        }
                    }
                }
                layout.add_leg(from, end);
                first
            });
            layout.first.push(first);
        }
        // Behind the last leg's.
        layout.add_leg(layout.private.len() as u32, End::Sender);
        layout.legs.shrink_to_fit();
        layout
    }

    /// Adds a speed; gives its number.
    fn add_speed(&mut self, speed: Speed) -> u32 {
        self.speeds.push(speed);
        self.speeds.len() as u32 - 1
    }

    /// Adds the leg over the private links from number `from` on; gives the next number.
    fn add_leg(&mut self, from: u32, end: End) -> u32 {
        self.legs.push(Leg::new(from, end));
        self.private.len() as u32
    }
}

/// Which links are private; stepwise none is.
fn private_links(network: &Network, stepwise: bool) -> Vec<bool> {
    let mut uses = vec![0_u32; network.links.len()];
    let links = |flow: &FlowPlan| [flow.forward.clone(), flow.reverse.clone()].concat();
    network.flows.iter().flat_map(links).for_each(|link| uses[link as usize] += 1);
    let plans = uses.iter().zip(&network.links);
    let plain =
        |plan: &LinkPlan| plan.disc.is_none() && plan.deliveries.is_none() && plan.impairments.is_none();
    let mut private: Vec<bool> = plans.map(|(uses, plan)| !stepwise && *uses == 1 && plain(plan)).collect();
    network.changes.iter().for_each(|change| private[change.link as usize] = false);
    // A flow that met no shared link would go round and round without an event.
    for flow in &network.flows {
        if links(flow).iter().all(|link| private[*link as usize]) {
            private[flow.forward[0] as usize] = false;
        }
    }
    private
}

/// Gives every endpoint a station of its own, so that packets wait there for their time.
fn add_endpoints(network: &mut Network) {
    for flow in &mut network.flows {
        for route in [&mut flow.forward, &mut flow.reverse] {
            route.push(network.links.len() as u32);
            network.links.push(station());
        }
    }
}

/// Adds a station behind every link whose wire changes the order of packets; gives its number, by link.
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
