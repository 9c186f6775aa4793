//! Routes, cut into legs at the links where flows meet.
//!
//! A link that one flow has to itself in one direction, without a disc and not
//! in the schedule, is private: its packets leave in the order in which they
//! came, so when they arrive follows from when they were sent. All other links
//! are shared. A leg is a stretch of a route over private links up to the next
//! shared link, or up to the endpoint.
//!
//! ```text
//! sender --access--> |bottleneck| --access--> receiver
//!        leg 0                   leg 1
//! ```

use crate::link::{Link, Private, Speed};
use crate::network::{FlowPlan, Hop, Joining, LinkPlan, Network};
use sojourn_units::{Rate, Span};
use std::collections::BTreeMap;

/// A stretch of a flow's route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    /// The first of its links, among the private ones; the next leg's come behind.
    pub(crate) from: u32,
    /// The number of the shared link where it ends, or of an endpoint.
    to: u32,
}

/// Where a leg ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At this shared link.
    Link(u32),
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
    /// The private links, in the order of the legs.
    pub(crate) private: Vec<Private>,
    /// Their speeds.
    pub(crate) speeds: Vec<Speed>,
    /// And one more, where the last one's links end.
    pub(crate) legs: Vec<Leg>,
    /// The speeds by their rates, and by whether they are those of data.
    known: BTreeMap<(u64, bool), u32>,
    /// The number of the next link that is made.
    next: u32,
    stepwise: bool,
}

/// A link of a way, before the way is cut.
#[derive(Clone, Copy)]
enum Step {
    Private(Rate, Span),
    /// Where it is among the shared ones.
    Shared(u32),
}

impl Leg {
    fn new(from: u32, end: End) -> Leg {
        let to = match end {
            End::Link(link) => link,
            End::Receiver => RECEIVER,
            End::Sender => SENDER,
        };
        Leg { from, to }
    }

    pub(crate) fn end(self) -> End {
        match self.to {
            RECEIVER => End::Receiver,
            SENDER => End::Sender,
            link => End::Link(link),
        }
    }
}

/// Numbers that no link has.
const RECEIVER: u32 = u32::MAX;
const SENDER: u32 = u32::MAX - 1;

impl Layout {
    /// Cuts the network's ways into legs; gives the first legs of each flow, forward and reverse.
    pub(crate) fn new(network: &mut Network, stepwise: bool) -> (Layout, Vec<[u32; 2]>) {
        let real = network.links.len();
        if stepwise {
            add_endpoints(network);
        }
        let private = private_links(network, stepwise);
        let mut layout = Layout { next: network.links.len() as u32, stepwise, ..Layout::default() };
        layout.private.reserve_exact(private.iter().filter(|private| **private).count());
        let mut plans = std::mem::take(&mut network.links);
        let mut places = vec![u32::MAX; plans.len()];
        for (number, plan) in plans.iter_mut().enumerate().filter(|(number, _)| !private[*number]) {
            places[number] = layout.links.len() as u32;
            let plan = LinkPlan { disc: plan.disc.take(), ..*plan };
            layout.links.push(Link::new(number as u32, number >= real, plan));
        }
        let step = |link: &u32| match plans[*link as usize] {
            LinkPlan { rate, delay, .. } if private[*link as usize] => Step::Private(rate, delay),
            _ => Step::Shared(places[*link as usize]),
        };
        let flows = network.flows.iter();
        let first =
            flows.map(|flow| layout.add_flow([&flow.forward, &flow.reverse].map(|way| way.iter().map(step))));
        let first = first.collect();
        layout.legs.shrink_to_fit();
        (layout, first)
    }

    /// Adds as many flows as a member of a class has that joins, over the same links, and those links that are its own;
    /// gives the flows' first legs. `number` is the member's in its class, `most` how many there may be.
    pub(crate) fn join(
        &mut self,
        joining: &Joining,
        (number, most): (u32, u32),
        flows: u32,
    ) -> Vec<[u32; 2]> {
        let ways = [&joining.forward, &joining.reverse];
        // What several flows use is shared, and a flow that met no shared link would go round without an event.
        let mut first_too = !ways.iter().any(|way| way.iter().any(|hop| matches!(hop, Hop::Link(_))));
        let mut steps = ways.map(|way| {
            let step = |hop: &Hop| match *hop {
                Hop::Link(link) => Step::Shared(self.place(link)),
                Hop::Own(rate, delay) => {
                    let delay = delay.at(number, most);
                    if self.stepwise || flows > 1 || std::mem::take(&mut first_too) {
                        Step::Shared(self.add_link(rate, delay, false))
                    } else {
                        Step::Private(rate, delay)
                    }
                }
            };
            way.iter().map(step).collect::<Vec<Step>>()
        });
        let mut first = Vec::new();
        for _ in 0..flows {
            if self.stepwise {
                for way in &mut steps {
                    way.push(Step::Shared(self.add_link(at_once(), Span::ZERO, true)));
                }
            }
            first.push(self.add_flow([0, 1].map(|way| steps[way].iter().copied())));
            if self.stepwise {
                steps.iter_mut().for_each(|way| way.truncate(way.len() - 1));
            }
        }
        first
    }

    /// Where the shared link with this number is.
    fn place(&self, number: u32) -> u32 {
        self.links.binary_search_by_key(&number, |link| link.number).expect("a link of all is shared") as u32
    }

    /// Adds a shared link; gives its place.
    fn add_link(&mut self, rate: Rate, delay: Span, is_endpoint: bool) -> u32 {
        self.links.push(Link::new(self.next, is_endpoint, LinkPlan { rate, delay, disc: None }));
        self.next += 1;
        self.links.len() as u32 - 1
    }

    /// Adds a flow that goes these ways, forward and reverse; gives its first legs.
    fn add_flow(&mut self, ways: [impl Iterator<Item = Step>; 2]) -> [u32; 2] {
        // Behind the links of the last leg stand those of the new ones.
        self.legs.pop();
        let [forward, reverse] = ways;
        let first = [self.add_way(forward, End::Receiver), self.add_way(reverse, End::Sender)];
        self.add_leg(self.private.len() as u32, End::Sender);
        first
    }

    fn add_way(&mut self, steps: impl Iterator<Item = Step>, end: End) -> u32 {
        let first = self.legs.len() as u32;
        let mut from = self.private.len() as u32;
        for step in steps {
            match step {
                Step::Private(rate, delay) => {
                    // Data go one way and acknowledgments the other: each way knows its own size.
                    let speed = self.speed(rate, end == End::Receiver);
                    self.private.push(Private::new(speed, delay));
                }
                Step::Shared(place) => from = self.add_leg(from, End::Link(place)),
            }
        }
        self.add_leg(from, end);
        first
    }

    /// The number of a speed.
    fn speed(&mut self, rate: Rate, of_data: bool) -> u32 {
        let speeds = &mut self.speeds;
        *self.known.entry((rate.bits_per_second().to_bits(), of_data)).or_insert_with(|| {
            speeds.push(Speed::new(rate));
            speeds.len() as u32 - 1
        })
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
    let mut private: Vec<bool> =
        plans.map(|(uses, plan)| !stepwise && *uses == 1 && plan.disc.is_none()).collect();
    // What flows use that are still to come is shared in any case.
    for joining in network.classes.iter().filter_map(|class| class.joining.as_ref()) {
        for hop in joining.forward.iter().chain(&joining.reverse) {
            if let Hop::Link(link) = hop {
                private[*link as usize] = false;
            }
        }
    }
    network.changes.iter().for_each(|change| private[change.link as usize] = false);
    // A flow that met no shared link would go round and round without an event.
    for flow in &network.flows {
        if links(flow).iter().all(|link| private[*link as usize]) {
            private[flow.forward[0] as usize] = false;
        }
    }
    private
}

/// Gives every endpoint a link of its own that takes no time, so that packets wait there for their time.
fn add_endpoints(network: &mut Network) {
    for flow in &mut network.flows {
        for route in [&mut flow.forward, &mut flow.reverse] {
            route.push(network.links.len() as u32);
            network.links.push(LinkPlan { rate: at_once(), delay: Span::ZERO, disc: None });
        }
    }
}

/// The rate of an endpoint.
fn at_once() -> Rate {
    Rate::from_bits_per_second(f64::INFINITY)
}
