//! Runs laws over the links of the fluid.
//!
//! A law that gives a probability runs the same code as over packets: each update gets the flow since the last one, in
//! fractions of packets, after one departure, from which some laws take the delay. A law whose verdicts depend on
//! single packets is replaced by its fluid law ([`FluidLaw`]), which advances at every step.

use crate::dde::Integrator;
use crate::plant::{Plant, Watch};
use sojourn_aqm::qdiscs::QueueLaw;
use sojourn_aqm::{
    Backlog, Departure, Designed, DesignedQdisc, FlowId, FluidLaw, FluidStep, Law, LinkContext, Observation,
    PricedShare,
};
use sojourn_measure::Totals;
use sojourn_optim::root;
use sojourn_params::{Given, InputError};
use sojourn_units::{Ecn, Prob, Rate, Span, Time};

/// Drives the law of a link.
#[derive(Clone)]
pub struct LawDriver {
    /// The link.
    pub link: usize,
    actor: Actor,
    /// Parameters of the law; None: not given.
    given: Option<Given>,
    /// Link parameters for the law, with the last link rate above 0.
    pub context: LinkContext,
    /// Distortion of p between law and fluid; None: p itself.
    pub actuator: Option<Actuator>,
    /// True for the law of queues that share a link: it is that of each of them.
    is_share: bool,
    /// True if the sojourn that it sees is that of the packet that leaves, and not that of one that arrives.
    pub sees_departures: bool,
    updated: Time,
    before: Totals,
}

/// Source of p.
#[derive(Clone)]
enum Actor {
    /// A law that gives a probability.
    Law(Box<dyn Law>),
    /// A fluid law, and the law that it replaces.
    Fluid(Box<dyn FluidLaw>, Box<dyn Law>),
}

/// Applies `about` + `gain` (p - `about`) in the place of p: changes the loop gain about an operating point outside
/// of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actuator {
    /// Gain.
    pub gain: f64,
    /// Fixed point.
    pub about: f64,
}

/// A fluid under the laws of its links.
#[derive(Clone)]
pub struct World {
    fluid: Integrator<Plant>,
    drivers: Vec<LawDriver>,
    step: f64,
    now: Time,
}

impl LawDriver {
    /// Driver of a law that gives a probability, at the start.
    pub fn new(link: usize, law: Box<dyn Law>, context: LinkContext) -> LawDriver {
        LawDriver::of(link, Actor::Law(law), context)
    }

    /// Driver of a qdisc's law, or of its fluid law; None: the law has neither a probability nor a fluid law.
    pub fn designed(link: usize, qdisc: &DesignedQdisc, context: LinkContext) -> Option<LawDriver> {
        LawDriver::of_design(link, qdisc.single()?, (qdisc.given(), context))
    }

    /// Driver of the law of queues that share a link.
    pub fn of_a_queue(link: usize, law: &QueueLaw) -> Option<LawDriver> {
        let driver = LawDriver::of_design(link, &law.law, (&law.given, law.context))?;
        Some(LawDriver { is_share: true, ..driver })
    }

    fn of_design(
        link: usize,
        design: &Designed,
        (given, context): (&Given, LinkContext),
    ) -> Option<LawDriver> {
        let actor = match design.fluid() {
            _ if design.as_law().probability().is_some() => Actor::Law(design.law()),
            Some(fluid) => Actor::Fluid(fluid, design.law()),
            None => return None,
        };
        Some(LawDriver { given: Some(given.clone()), ..LawDriver::of(link, actor, context) })
    }

    /// The law; None under a fluid law.
    pub fn law(&mut self) -> Option<&mut Box<dyn Law>> {
        match &mut self.actor {
            Actor::Law(law) => Some(law),
            Actor::Fluid(..) => None,
        }
    }

    fn of(link: usize, actor: Actor, context: LinkContext) -> LawDriver {
        LawDriver {
            link,
            actor,
            given: None,
            context,
            actuator: None,
            is_share: false,
            sees_departures: false,
            updated: Time::ZERO,
            before: Totals::default(),
        }
    }

    /// Configures the link: p that changes at every step, and signals at departure.
    fn prepare(&self, plant: &mut Plant) {
        match &self.actor {
            Actor::Fluid(fluid, _) => plant.set_smooth(self.link, fluid.at_departure()),
            Actor::Law(law) if law.properties().at_departure => plant.set_smooth(self.link, true),
            Actor::Law(_) => (),
        }
    }

    /// Target backlog, packets.
    pub fn target_packets(&self) -> Option<f64> {
        let (Actor::Law(law) | Actor::Fluid(_, law)) = &self.actor;
        law.analysis().target_packets()
    }

    /// The link's rate has changed.
    pub fn on_link_change(&mut self, now: Time, rate: Rate) {
        if rate.bits_per_second() > 0.0 {
            self.context.rate = rate;
        }
        match &mut self.actor {
            Actor::Law(law) => law.on_link_change(now, rate),
            Actor::Fluid(fluid, law) => {
                law.on_link_change(now, rate);
                fluid.on_link_change(now, rate);
            }
        }
    }

    /// The queue has another share of its link.
    pub fn set_share(&mut self, share: &PricedShare) {
        self.context.rate = Rate::from_bits_per_second(8.0 * self.context.packet * share.rate);
        if let Actor::Fluid(fluid, _) = &mut self.actor {
            fluid.on_share(share);
        }
    }

    /// Sets those parameters of the law that `change` gives; the others keep their values.
    pub fn set_params(&mut self, now: Time, change: &Given) -> Result<(), InputError> {
        let given = match &self.given {
            Some(given) => given.with(change)?,
            None => change.clone(),
        };
        match &mut self.actor {
            Actor::Law(law) => law.set_params(now, &given, &self.context)?,
            Actor::Fluid(fluid, law) => {
                law.set_params(now, &given, &self.context)?;
                fluid.set_params(now, &given, &self.context)?;
            }
        }
        self.given = Some(given);
        Ok(())
    }

    /// Time of the next update.
    fn due(&self) -> Option<Time> {
        match &self.actor {
            Actor::Law(law) => law.next_update(),
            Actor::Fluid(..) => None,
        }
    }

    fn is_fluid(&self) -> bool {
        matches!(self.actor, Actor::Fluid(..))
    }

    /// Updates the law, or advances the fluid law by the step that ends.
    fn update(&mut self, now: Time, fluid: &mut Integrator<Plant>) {
        let seen = self.observe(now, fluid);
        let since = self.since(fluid).1;
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
            Actor::Fluid(fluid_law, _) => {
                if seen.elapsed > 0.0 {
                    let link = fluid.system.around(self.link, fluid.values());
                    fluid_law.step(&FluidStep { link, ..step(&seen, &since) });
                }
                fluid_law.p()
            }
        };
        (self.updated, self.before) = (now, fluid.system.links()[self.link].totals());
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

    /// True if ECN-capable packets are marked, not dropped, at `p`.
    fn marks(&self, p: f64) -> bool {
        let (law, present) = match &self.actor {
            Actor::Law(law) => (law, None),
            Actor::Fluid(fluid, law) => (law, fluid.marks()),
        };
        present.unwrap_or_else(|| law.analysis().marks_at(Prob::clamped(p)))
    }

    /// Part of the flow that one queue has, and its totals since the last update.
    fn since(&self, fluid: &Integrator<Plant>) -> (f64, Totals) {
        let since = fluid.system.links()[self.link].totals() - self.before;
        let queues = fluid.system.queues_at(self.link, fluid.now());
        if queues == 1.0 || queues <= 0.0 { (1.0, since) } else { (1.0 / queues, since.part(1.0 / queues)) }
    }

    fn observe(&self, now: Time, fluid: &Integrator<Plant>) -> Observation {
        let link = &fluid.system.links()[self.link];
        let (part, since) = self.since(fluid);
        let backlog = part * fluid.values()[fluid.system.backlog(self.link)].max(0.0);
        let (capacity, packet) = (part * link.capacity(), self.context.packet);
        let rate = Rate::from_bits_per_second(8.0 * packet * capacity);
        let signalled = since.marked + since.dropped;
        Observation {
            now,
            elapsed: now.since(self.updated).seconds(),
            backlog_packets: backlog,
            backlog_bytes: packet * backlog,
            head_sojourn: match (capacity > 0.0, self.sees_departures) {
                (false, _) => 0.0,
                (true, false) => backlog / capacity,
                (true, true) => head_sojourn(fluid, self.link).unwrap_or(backlog / capacity),
            },
            arrived_packets: since.offered,
            arrived_bytes: packet * since.offered,
            departed_packets: since.delivered,
            departed_bytes: packet * since.delivered,
            dropped_packets: since.lost(),
            marked_packets: since.marked,
            busy: since.busy,
            // A law in a scheduler knows the rate that it was designed for.
            capacity: Some(if self.is_share { self.context.rate } else { rate }),
            base_rtt: self.context.base_rtt,
            mean_packet: packet,
            limit: if self.is_share { self.context.limit } else { link.buffer },
            applied: Prob::clamped(if since.offered > 0.0 { signalled / since.offered } else { 0.0 }),
        }
    }

    /// Departure of the packet at the head.
    fn departure(&self, observed: &Observation) -> Departure {
        let held = observed.backlog_packets as u32;
        Departure {
            now: observed.now,
            len: self.context.packet as u32,
            ecn: Ecn::Ect0,
            flow: FlowId(0),
            sojourn: Span::from_seconds(observed.head_sojourn),
            backlog: Backlog { packets: held, bytes: observed.backlog_bytes as u64 },
            u: [1.0, 1.0],
        }
    }
}

/// Sojourn of the packet at the head of a queue, s: it arrived at t with t + q(t) / C = now. None: that time is not kept.
fn head_sojourn(fluid: &Integrator<Plant>, link: usize) -> Option<f64> {
    let (now, past, place) = (fluid.now(), fluid.past(), fluid.system.backlog(link));
    let capacity = fluid.system.links()[link].capacity();
    let leaves = |t: f64, backlog: f64| t + backlog.max(0.0) / capacity - now;
    let arrived = past.find_where(usize::MAX, |step| leaves(step.t, step.begin(place)) > 0.0)?;
    let step = past.step(arrived);
    let at = |t: f64| leaves(t, past.at(t, &mut arrived.clone()).value(place));
    Some(now - root::between(step.t, step.t + step.length, at))
}

/// Flow over a step, for a fluid law.
fn step(observed: &Observation, since: &Totals) -> FluidStep {
    FluidStep {
        now: observed.now,
        dt: observed.elapsed,
        backlog: observed.backlog_packets,
        sojourn: observed.head_sojourn,
        arrival_rate: since.offered / observed.elapsed,
        dropped_rate: since.dropped / observed.elapsed,
        overflow_rate: since.overflowed / observed.elapsed,
        capacity: since.capacity / since.time,
        link: None,
    }
}

impl Actuator {
    fn on(self, p: f64) -> f64 {
        (self.about + self.gain * (p - self.about)).clamp(0.0, 1.0)
    }
}

impl World {
    /// The fluid under these laws, integrated in steps of at most `step` seconds.
    pub fn new(mut plant: Plant, drivers: Vec<LawDriver>, step: f64) -> World {
        for driver in &drivers {
            driver.prepare(&mut plant);
        }
        let start = plant.start();
        World { fluid: Integrator::new(plant, 0.0, start), drivers, step, now: Time::ZERO }
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The fluid.
    pub fn plant(&self) -> &Plant {
        &self.fluid.system
    }

    /// State: windows by class, then backlogs by link.
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

    /// Drivers of the laws.
    pub fn drivers(&mut self) -> &mut [LawDriver] {
        &mut self.drivers
    }

    /// Changes the plant or its state.
    pub fn change(&mut self, apply: impl FnOnce(&mut Plant, &mut [f64])) {
        self.fluid.change(apply);
    }

    /// Takes samples from now on, under a number; the integration is not disturbed.
    pub(crate) fn begin_watch(&mut self, number: usize) {
        self.fluid.system.begin_watch(number);
    }

    /// Ends the samples of a number.
    pub(crate) fn end_watch(&mut self, number: usize) -> Option<Watch> {
        self.fluid.system.end_watch(number)
    }

    /// Runs to a time, including the updates due then.
    pub fn run_until(&mut self, stop: Time) {
        let stepwise = self.drivers.iter().any(LawDriver::is_fluid);
        let stride = Span::from_seconds(self.step).max(Span::from_nanos(1));
        while self.now < stop {
            let due = self.drivers.iter().filter_map(LawDriver::due).min();
            let mut next = due.map_or(stop, |due| due.max(self.now).min(stop));
            if stepwise {
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
        for driver in &mut self.drivers {
            if driver.is_fluid() || driver.due().is_some_and(|due| due <= self.now) {
                driver.update(self.now, &mut self.fluid);
            }
        }
    }
}
