//! Links whose shares depend on one another: a solver of all of them, or the prices that packets carry.
//!
//! The solver is at no place of the network: it knows the flows of all links, and sets their rates, without delay, as the
//! paper's does (J. Ye et al. 2022, Algorithm 1). Prices take the way of the packets. A packet sums up those of the links
//! that it passes; the end where it arrives writes the sum into what it sends back, and the other end writes that into
//! its next packets, from which the links learn the price of the whole path:
//!
//! ```text
//! sender --(path, 0)--> |link 1| --(path, pi_1)--> |link 2| --(path, pi_1 + pi_2)--> receiver
//!        <---------------------- (pi_1 + pi_2 is returned) --------------------------
//! ```
//!
//! Both ends do the same, so that acknowledgments carry the prices of their own way, too. Without a link of these kinds a
//! simulation has neither, and no packet passes this code.

use super::Simulation;
use crate::event::{Event, Kind};
use crate::leg::{End, way};
use crate::link::{Managed, Queue};
use crate::packet::Packet;
use crate::tap::Tap;
use sojourn_aqm::qdiscs::sqm::central_solver::CentralSolver;
use sojourn_aqm::{self as aqm, Demands, FlowShares, PathPrice, Qdisc};
use sojourn_measure::Probe;
use sojourn_units::Time;
use std::collections::VecDeque;

/// The solver of several links.
pub(super) struct Coordinator {
    /// Places of its links.
    links: Vec<u32>,
    solver: CentralSolver,
}

/// Prices on their way, and at the ends of flows.
#[derive(Default)]
pub(super) struct PathPrices {
    /// Of packets, by the places of their segments.
    carried: Vec<Carried>,
    /// Of flows: at the sender and at the receiver.
    ends: Vec<[Known; 2]>,
}

/// The price that a packet carries.
#[derive(Clone, Copy, Default)]
struct Carried {
    /// The links that it has passed.
    passed: PathPrice,
    /// Its whole way, as the other end returned it.
    path: PathPrice,
    /// The way that packets take to the end that sent it.
    returned: PathPrice,
}

/// Prices known at an end.
#[derive(Default)]
struct Known {
    /// The way from it, and the way to it.
    now: [PathPrice; 2],
    /// The same from times on that may lie ahead.
    later: VecDeque<(Time, [PathPrice; 2])>,
}

impl Known {
    /// Moves to `time`, after which nothing earlier is needed.
    fn advance(&mut self, time: Time) {
        while let Some((_, known)) = self.later.front().filter(|(from, _)| *from <= time) {
            self.now = *known;
            self.later.pop_front();
        }
    }
}

impl PathPrices {
    /// A packet and its copy carry the same.
    pub(super) fn copy(&mut self, packet: Packet, copy: Packet) {
        if let (Some(from), Some(to)) = (packet.segment_place(), copy.segment_place()) {
            let carried = self.carried.get(from).copied().unwrap_or_default();
            *at(&mut self.carried, to) = carried;
        }
    }
}

/// The element of a number, which may be the first of it.
fn at<T: Default>(of: &mut Vec<T>, number: usize) -> &mut T {
    if of.len() <= number {
        of.resize_with(number + 1, T::default);
    }
    &mut of[number]
}

/// A packet arrives at a link with a price.
#[inline(never)]
pub(super) fn announce(prices: &mut Option<Box<PathPrices>>, packet: Packet, qdisc: &mut dyn Qdisc<Packet>) {
    let (Some(prices), Some(shares)) = (prices, qdisc.shares()) else { return };
    let own = shares.price();
    let carried = packet.segment_place().and_then(|place| prices.carried.get_mut(place));
    let path = carried.map_or(PathPrice::default().over(own), |carried| {
        carried.passed = carried.passed.over(own);
        // Before the first return what it has passed is the best guess.
        if carried.path.links > 0 { carried.path } else { carried.passed }
    });
    shares.announce(path);
}

impl<P: Probe, T: Tap> Simulation<P, T> {
    /// A packet leaves an end.
    pub(super) fn write_prices(&mut self, time: Time, packet: Packet) {
        if let (Some(prices), Some(place)) = (&mut self.prices, packet.segment_place()) {
            let is_data = packet.leg < self.flows[packet.flow_number() as usize].reverse;
            let known = &mut at(&mut prices.ends, packet.flow_number() as usize)[usize::from(!is_data)];
            known.advance(time);
            let [path, returned] = known.now;
            *at(&mut prices.carried, place) = Carried { passed: PathPrice::default(), path, returned };
        }
        self.travel(time, packet.on_next_leg());
    }

    /// A packet arrives at an end.
    pub(super) fn read_prices(&mut self, time: Time, packet: Packet) {
        if let (Some(prices), Some(place)) = (&mut self.prices, packet.segment_place()) {
            let is_data = packet.leg < self.flows[packet.flow_number() as usize].reverse;
            let Carried { passed, returned, .. } = *at(&mut prices.carried, place);
            let known = &mut at(&mut prices.ends, packet.flow_number() as usize)[usize::from(is_data)];
            known.advance(self.now);
            known.later.push_back((time, [returned, passed]));
        }
        self.travel(time, packet.on_next_leg());
    }

    /// The first event of the solver, if links have one.
    pub(super) fn begin_coordination(&mut self) {
        let places = |simulation: &mut Self, by| -> Vec<u32> {
            let links = (0..).zip(&mut simulation.links);
            links.filter_map(|(place, link)| link.is_coordinated(by).then_some(place)).collect()
        };
        if !places(self, aqm::Coordinator::Decentralised).is_empty() {
            self.prices = Some(Box::default());
        }
        let links = places(self, aqm::Coordinator::Centralised);
        if !links.is_empty() {
            self.coordinator = Some(Box::new(Coordinator { links, solver: CentralSolver::default() }));
            self.schedule_coordination();
        }
    }

    /// The solver is due when the shortest period of its links is over.
    fn schedule_coordination(&mut self) {
        let Some(coordinator) = &self.coordinator else { return };
        let links = coordinator.links.clone();
        let periods = links.into_iter().filter_map(|link| self.shares_at(link).map(|shares| shares.period()));
        if let Some(period) = periods.min() {
            self.events.push(self.now + period, Event::new(Kind::Coordinate, 0));
        }
    }

    /// Solves the problem of all links, and sets their rates.
    pub(super) fn coordinate(&mut self) {
        let now = self.now;
        let Some(mut coordinator) = self.coordinator.take() else { return };
        let Coordinator { links, solver } = &mut *coordinator;
        // What is due at this instant comes after it, as with updates.
        for link in &*links {
            self.catch_up(*link, now);
        }
        let demands: Vec<Demands> =
            links.iter().filter_map(|link| self.shares_at(*link).map(|shares| shares.demands())).collect();
        let solved = solver.solve(&demands, |link, flow| self.has_data_over(flow.0, links[link]));
        for (link, solved) in links.iter().zip(solved) {
            if let Some(shares) = self.shares_at(*link) {
                // Without a price a new flow pays that of this link alone.
                shares.set_price(solved.price.unwrap_or(0.0));
                shares.set_rates(now, &solved.rates);
            }
        }
        self.coordinator = Some(coordinator);
        self.schedule_coordination();
    }

    pub(super) fn shares_at(&mut self, link: u32) -> Option<&mut dyn FlowShares> {
        match &mut self.links[link as usize].queue {
            Queue::Managed(Managed { qdisc, .. }) => qdisc.shares(),
            Queue::Plain => None,
        }
    }

    /// The data of a flow cross the link at this place.
    fn has_data_over(&self, flow: u32, link: u32) -> bool {
        way(&self.legs, self.flows[flow as usize].forward).any(|(_, end)| end == End::Link(link))
    }
}
