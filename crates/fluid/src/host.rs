//! A law in front of a link of the fluid: told what the fluid did, asked for p.
//!
//! It is the same code as before packets. A law that is only "every so often, give me a probability" is updated with
//! what the fluid brought since the last time, in fractions of packets. Before that it is shown one packet that
//! departs, since some laws learn the delay from those. In the place of a law that lives on packets its twin stands,
//! which is told of every step ([`crate::twins`]).

use crate::dde::Integrator;
use crate::plant::{Plant, Tally};
use crate::twins::{self, Step, Twin};
use sojourn_aqm::{Backlog, Departure, FlowId, Given, Law, Observation, Site};
use sojourn_scenario::DiscSpec;
use sojourn_units::{Ecn, Fault, Prob, Rate, Span, Time};

/// A law at a link.
#[derive(Clone)]
pub struct Host {
    /// The link.
    pub link: usize,
    actor: Actor,
    /// What the law may know of its place, with the link's present rate.
    pub site: Site,
    /// What the fluid makes of p; None: p itself.
    pub actuator: Option<Actuator>,
    updated: Time,
    before: Tally,
}

/// Who decides.
#[derive(Clone)]
enum Actor {
    /// A law that gives a probability.
    Law(Box<dyn Law>),
    /// The twin of one that does not, and that law.
    Twin(Box<dyn Twin>, Box<dyn Law>),
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
    /// The law at its link, at the start. It must give a probability.
    pub fn new(link: usize, law: Box<dyn Law>, site: Site) -> Host {
        Host::of(link, Actor::Law(law), site)
    }

    /// The law of a disc at its link, or its twin; None where it has neither.
    pub fn built(link: usize, disc: &DiscSpec, site: Site) -> Option<Result<Host, Fault>> {
        let law = match disc.law_at(&site) {
            Ok(law) => law,
            Err(fault) => return Some(Err(fault)),
        };
        if law.probability().is_some() {
            return Some(Ok(Host::new(link, law, site)));
        }
        let twin = twins::twin(&disc.law, &disc.params, &site)?;
        Some(twin.map(|twin| Host::of(link, Actor::Twin(twin, law), site)))
    }

    /// The law; None where its twin stands in its place.
    pub fn law(&mut self) -> Option<&mut Box<dyn Law>> {
        match &mut self.actor {
            Actor::Law(law) => Some(law),
            Actor::Twin(..) => None,
        }
    }

    fn of(link: usize, actor: Actor, site: Site) -> Host {
        Host { link, actor, site, actuator: None, updated: Time::ZERO, before: Tally::default() }
    }

    /// Makes its link one whose p moves in every step, where it does, and one that signals what departs.
    fn prepare(&self, plant: &mut Plant) {
        match &self.actor {
            Actor::Twin(twin, _) => plant.set_twin(self.link, twin.at_departure()),
            Actor::Law(law) if law.at_departure() => plant.set_twin(self.link, true),
            Actor::Law(_) => (),
        }
    }

    /// The backlog that is to be held, packets.
    pub fn target_packets(&self) -> Option<f64> {
        match &self.actor {
            Actor::Law(law) => law.target_packets(),
            Actor::Twin(twin, _) => twin.target_packets(),
        }
    }

    /// The link has a new rate.
    pub fn on_link_change(&mut self, now: Time, rate: Rate) {
        if rate.bits_per_second() > 0.0 {
            self.site.rate = rate;
        }
        match &mut self.actor {
            Actor::Law(law) => law.on_link_change(now, rate),
            Actor::Twin(twin, law) => {
                law.on_link_change(now, rate);
                twin.on_link_change(now, rate);
            }
        }
    }

    /// The law stands under other parameters from now on: `given` are all that it is given.
    pub fn retune(&mut self, now: Time, given: &Given) -> Result<(), Fault> {
        match &mut self.actor {
            Actor::Law(law) => law.retune(now, given, &self.site),
            Actor::Twin(twin, law) => {
                law.retune(now, given, &self.site)?;
                twin.retune(now, given, &self.site)
            }
        }
    }

    /// When it wants to be updated next.
    fn due(&self) -> Option<Time> {
        match &self.actor {
            Actor::Law(law) => law.next_update(),
            Actor::Twin(..) => None,
        }
    }

    fn is_twin(&self) -> bool {
        matches!(self.actor, Actor::Twin(..))
    }

    /// Updates the law, or tells its twin of the step that ends.
    fn update(&mut self, now: Time, fluid: &mut Integrator<Plant>) {
        let seen = self.observe(now, fluid);
        let departure = self.departure(&seen);
        let p = match &mut self.actor {
            Actor::Law(law) => {
                if seen.backlog_packets > 0.0 {
                    law.on_departure(&departure);
                } else {
                    law.on_idle(now);
                }
                law.on_update(now, &seen);
                law.probability().map_or(0.0, Prob::get)
            }
            Actor::Twin(twin, _) => {
                if seen.elapsed > 0.0 {
                    twin.step(&step(&seen, &(fluid.system.links()[self.link].tally() - self.before)));
                }
                twin.p()
            }
        };
        (self.updated, self.before) = (now, fluid.system.links()[self.link].tally());
        let (link, marks) = (self.link, self.marks(p));
        if marks != fluid.system.links()[link].marks() {
            fluid.change(|plant, _| plant.set_marks(link, marks));
        }
        let p = self.actuator.map_or(p, |actuator| actuator.on(p));
        let (link, now) = (self.link, now.seconds());
        if p != fluid.system.links()[link].p() {
            fluid.change(|plant, _| plant.set_p(link, now, p));
        }
    }

    /// Whether what can be marked is marked at `p`.
    fn marks(&self, p: f64) -> bool {
        let (law, present) = match &self.actor {
            Actor::Law(law) => (law, None),
            Actor::Twin(twin, law) => (law, twin.marks()),
        };
        present.unwrap_or_else(|| law.marks_at(Prob::clamped(p)))
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

/// What a twin sees of the flow over a step.
fn step(seen: &Observation, since: &Tally) -> Step {
    Step {
        now: seen.now,
        dt: seen.elapsed,
        backlog: seen.backlog_packets,
        sojourn: seen.head_sojourn,
        arrival_rate: since.offered / seen.elapsed,
        dropped_rate: since.dropped / seen.elapsed,
        overflow_rate: since.overflowed / seen.elapsed,
        capacity: since.capacity / since.time,
    }
}

impl Actuator {
    fn on(self, p: f64) -> f64 {
        (self.about + self.gain * (p - self.about)).clamp(0.0, 1.0)
    }
}

impl World {
    /// The fluid under these laws, integrated in steps of at most `step` seconds.
    pub fn new(mut plant: Plant, hosts: Vec<Host>, step: f64) -> World {
        for host in &hosts {
            host.prepare(&mut plant);
        }
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
        let twins = self.hosts.iter().any(Host::is_twin);
        let stride = Span::from_seconds(self.step).max(Span::from_nanos(1));
        while self.now < stop {
            let due = self.hosts.iter().filter_map(Host::due).min();
            let mut next = due.map_or(stop, |due| due.max(self.now).min(stop));
            if twins {
                next = next.min(self.now + stride);
            }
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
            if host.is_twin() || host.due().is_some_and(|due| due <= self.now) {
                host.update(self.now, &mut self.fluid);
            }
        }
    }
}
