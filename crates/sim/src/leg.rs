//! Routes, cut into legs at the links where flows meet.
//!
//! A link that one flow has to itself in one direction, without a disc and not
//! in the schedule, needs no events: its packets leave in the order in which
//! they came, so when they arrive follows from when they were sent. Such links
//! are private. A leg is a stretch of a route over private links up to the next
//! link that is not, or up to the endpoint.
//!
//! ```text
//! sender --access--> |bottleneck| --access--> receiver
//!        leg 0                   leg 1
//! ```

use crate::link::{Link, Transmitter};
use crate::network::{FlowPlan, Network};
use crate::packet::Packet;
use sojourn_units::Time;
use std::collections::VecDeque;
use std::ops::Range;

/// A stretch of a flow's route.
pub(crate) struct Leg {
    /// Its links, among the private ones.
    private: Range<u32>,
    pub(crate) end: End,
    /// The packets on it that have yet to arrive at its end, in order.
    packets: VecDeque<(Time, Packet)>,
}

/// Where a leg ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At this link, which is not private.
    Link(u32),
    /// At the flow's receiver.
    Receiver,
    /// At the flow's sender.
    Sender,
}

/// A network's links and legs.
pub(crate) struct Layout {
    /// The links that have events of their own.
    pub(crate) links: Vec<Link>,
    /// The private links, in the order of the legs.
    pub(crate) private: Vec<Transmitter>,
    pub(crate) legs: Vec<Leg>,
    /// Each flow's first legs, forward and reverse.
    pub(crate) first: Vec<[u32; 2]>,
}

impl Leg {
    /// Puts a packet behind the others, to arrive at the end at `at`; says whether it is the first.
    pub(crate) fn push(&mut self, at: Time, packet: Packet) -> bool {
        self.packets.push_back((at, packet));
        self.packets.len() == 1
    }

    /// Takes the packet that has arrived; says when the next one does.
    pub(crate) fn pop(&mut self) -> Option<(Packet, Option<Time>)> {
        let (_, packet) = self.packets.pop_front()?;
        Some((packet, self.packets.front().map(|(time, _)| *time)))
    }

    pub(crate) fn private(&self) -> Range<usize> {
        self.private.start as usize..self.private.end as usize
    }
}

impl Layout {
    /// Cuts the network's routes into legs; where `direct` does not hold, every link has events of its own.
    pub(crate) fn new(network: &mut Network, direct: bool) -> Layout {
        let private = private_links(network, direct);
        let mut layout =
            Layout { links: Vec::new(), private: Vec::new(), legs: Vec::new(), first: Vec::new() };
        let mut transmitters = Vec::with_capacity(network.links.len());
        let mut places = vec![u32::MAX; network.links.len()];
        for (number, plan) in std::mem::take(&mut network.links).into_iter().enumerate() {
            transmitters.push(Transmitter::new(plan.rate, plan.delay));
            if !private[number] {
                places[number] = layout.links.len() as u32;
                layout.links.push(Link::new(number as u32, plan));
            }
        }
        for flow in &network.flows {
            let mut first = [0; 2];
            for (number, (route, end)) in
                [(&flow.forward, End::Receiver), (&flow.reverse, End::Sender)].into_iter().enumerate()
            {
                first[number] = layout.legs.len() as u32;
                let mut from = layout.private.len() as u32;
                for link in route {
                    if private[*link as usize] {
                        layout.private.push(transmitters[*link as usize].clone());
                    } else {
                        layout.add_leg(from, End::Link(places[*link as usize]));
                        from = layout.private.len() as u32;
                    }
                }
                layout.add_leg(from, end);
            }
            layout.first.push(first);
        }
        layout
    }

    fn add_leg(&mut self, from: u32, end: End) {
        let private = from..self.private.len() as u32;
        self.legs.push(Leg { private, end, packets: VecDeque::new() });
    }
}

/// Which links are private.
fn private_links(network: &Network, direct: bool) -> Vec<bool> {
    let mut uses = vec![0_u32; network.links.len()];
    let routes = |flow: &FlowPlan| [flow.forward.clone(), flow.reverse.clone()].concat();
    network.flows.iter().flat_map(routes).for_each(|link| uses[link as usize] += 1);
    let mut private: Vec<bool> = uses
        .iter()
        .zip(&network.links)
        .map(|(uses, plan)| direct && *uses == 1 && plan.disc.is_none())
        .collect();
    network.changes.iter().for_each(|change| private[change.link as usize] = false);
    private
}
