//! A law in front of a link of the fluid: told what the fluid did, asked for p.
//!
//! It is the same code as before packets. A law that is only "every so often, give me a probability" is updated with
//! what the fluid brought since the last time, in fractions of packets. Before that it is shown one packet that
//! departs, since some laws learn the delay from those.

use crate::dde::Integrator;
use crate::plant::{Plant, Tally};
use sojourn_aqm::{Backlog, Departure, FlowId, Law, Observation, Site};
use sojourn_units::{Ecn, Prob, Rate, Span, Time};

/// A law at a link.
#[derive(Clone)]
pub struct Host {
    /// The link.
    pub link: usize,
    /// The law.
    pub law: Box<dyn Law>,
    /// What the law may know of its place, with the link's present rate.
    pub site: Site,
    /// What the fluid makes of p; None: p itself.
    pub actuator: Option<Actuator>,
    updated: Time,
    before: Tally,
}

/// The fluid answers to p as if it were `about` + `gain` (p - `about`): its gain about a point of rest is another one,
/// and the law does not know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actuator {
    /// How much stronger.
    pub gain: f64,
    /// Where nothing changes.
    pub about: f64,
}

/// A fluid with laws in front of its links.
#[derive(Clone)]
pub struct World {
    fluid: Integrator<Plant>,
    hosts: Vec<Host>,
    step: f64,
    now: Time,
}

impl Host {
    /// The law at its link, at the start.
    pub fn new(link: usize, law: Box<dyn Law>, site: Site) -> Host {
        Host { link, law, site, actuator: None, updated: Time::ZERO, before: Tally::default() }
    }

    /// Whether this law can stand before a fluid.
    pub fn takes(law: &dyn Law) -> bool {
        law.probability().is_some()
    }

    fn update(&mut self, due: Time, fluid: &mut Integrator<Plant>) {
        let seen = self.observe(due, fluid);
        if seen.backlog_packets > 0.0 {
            self.law.on_departure(&self.departure(&seen));
        } else {
            self.law.on_idle(due);
        }
        self.law.on_update(due, &seen);
        (self.updated, self.before) = (due, fluid.system.links()[self.link].tally());
        let p = self.law.probability().map_or(0.0, Prob::get);
        let p = self.actuator.map_or(p, |actuator| actuator.on(p));
        let (link, now) = (self.link, due.seconds());
        if p != fluid.system.links()[link].p() {
            fluid.change(|plant, _| plant.set_p(link, now, p));
        }
    }

    fn observe(&self, now: Time, fluid: &Integrator<Plant>) -> Observation {
        let link = &fluid.system.links()[self.link];
        let since = link.tally() - self.before;
        let backlog = fluid.values()[fluid.system.backlog(self.link)].max(0.0);
        let (capacity, packet) = (link.capacity(), self.site.packet);
        let signalled = since.marked + since.dropped;
        Observation {
            now,
            elapsed: now.since(self.updated).seconds(),
            backlog_packets: backlog,
            backlog_bytes: packet * backlog,
            head_sojourn: if capacity > 0.0 { backlog / capacity } else { 0.0 },
            arrived_packets: since.offered,
            arrived_bytes: packet * since.offered,
            departed_packets: since.delivered,
            departed_bytes: packet * since.delivered,
            dropped_packets: since.lost(),
            marked_packets: since.marked,
            busy: since.busy,
            capacity: Some(Rate::from_bits_per_second(8.0 * packet * capacity)),
            base_rtt: self.site.base_rtt,
            mean_packet: packet,
            limit: link.buffer,
            applied: Prob::clamped(if since.offered > 0.0 { signalled / since.offered } else { 0.0 }),
        }
    }

    /// The packet at the head, as it leaves.
    fn departure(&self, seen: &Observation) -> Departure {
        let held = seen.backlog_packets as u32;
        Departure {
            now: seen.now,
            len: self.site.packet as u32,
            ecn: Ecn::Ect0,
            flow: FlowId(0),
            sojourn: Span::from_seconds(seen.head_sojourn),
            backlog: Backlog { packets: held, bytes: seen.backlog_bytes as u64 },
            u: [1.0, 1.0],
        }
    }
}

impl Actuator {
    fn on(self, p: f64) -> f64 {
        (self.about + self.gain * (p - self.about)).clamp(0.0, 1.0)
    }
}

impl World {
    /// The fluid under these laws, integrated in steps of at most `step` seconds.
    pub fn new(plant: Plant, hosts: Vec<Host>, step: f64) -> World {
        let start = plant.start();
        World { fluid: Integrator::new(plant, 0.0, start), hosts, step, now: Time::ZERO }
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The fluid.
    pub fn plant(&self) -> &Plant {
        &self.fluid.system
    }

    /// Its values: windows by class, then backlogs by link.
    pub fn values(&self) -> &[f64] {
        self.fluid.values()
    }

    /// The backlog of a link, packets.
    pub fn backlog(&self, link: usize) -> f64 {
        self.values()[self.plant().backlog(link)]
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.fluid.past().steps()
    }

    /// The laws.
    pub fn hosts(&mut self) -> &mut [Host] {
        &mut self.hosts
    }

    /// Lets something happen from outside.
    pub fn change(&mut self, what: impl FnOnce(&mut Plant, &mut [f64])) {
        self.fluid.change(what);
    }

    /// Goes on to a time; the laws' updates that are due then have happened.
    pub fn run_until(&mut self, stop: Time) {
        while self.now < stop {
            let due = self.hosts.iter().filter_map(|host| host.law.next_update()).min();
            let next = due.map_or(stop, |due| due.max(self.now).min(stop));
            if next > self.now {
                self.fluid.advance(next.seconds(), self.step);
                self.now = next;
            }
            self.update();
        }
    }

    /// Updates the laws that are due.
    pub fn update(&mut self) {
        for host in &mut self.hosts {
            if host.law.next_update().is_some_and(|due| due <= self.now) {
                host.update(self.now, &mut self.fluid);
            }
        }
    }
}
