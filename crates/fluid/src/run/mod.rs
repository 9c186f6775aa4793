//! A run of a scenario as a fluid, from the empty queue to the metrics.

mod outcome;

use crate::host::World;
use crate::plant::{Passed, Plant, Ramp, Received, Tally};
use crate::read::traffic::HEADER;
use crate::read::{self, Fluid};
pub use outcome::{Columns, LinkOutcome, Outcome};
use sojourn_aqm::Law;
use sojourn_scenario::{Change, Flows, Scenario, Setting};
use sojourn_units::{Fault, Rate, Span, Time, Value};
use std::collections::BTreeMap;

/// A run of a scenario, advanced bit by bit.
pub struct Run {
    scenario: Scenario,
    world: World,
    /// The scenario's number of each link.
    links: Vec<usize>,
    /// What each link's law has been given.
    given: Vec<Vec<(String, Value)>>,
    /// What is still to happen, the last one first.
    events: Vec<(Time, Event)>,
    step_start: Time,
    warm: Option<Snapshot>,
    last: Snapshot,
    views: Vec<View>,
    /// What each class got in each step, bit/s.
    goodputs: Vec<Vec<f64>>,
    time_s: Vec<f64>,
}

/// What may happen to a class or a link at a time.
#[derive(Clone, Debug)]
enum Event {
    Flows(usize, Ramp),
    Change(Change),
}

/// All sums at a time.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    links: Vec<Tally>,
    passed: Vec<Vec<(usize, Passed)>>,
    received: Vec<Received>,
}

/// What is kept of a link.
#[derive(Clone, Debug, Default)]
struct View {
    disc: Option<String>,
    /// The columns of its series, but for the time.
    columns: BTreeMap<&'static str, Vec<f64>>,
    stretches: Vec<(f64, Option<f64>, Tally)>,
}

impl Run {
    /// The run at its start; the scenario or a law may have no fluid model.
    pub fn new(scenario: &Scenario) -> Result<Run, Fault> {
        Run::with_laws(scenario, Vec::new())
    }

    /// The run under laws of the caller's own, such as those written in Python, one for each replaceable link in order.
    pub fn with_laws(scenario: &Scenario, own: Vec<Box<dyn Law>>) -> Result<Run, Fault> {
        let replaced = !own.is_empty();
        let Fluid { plant, hosts, links, given, step } = Fluid::new(scenario, own)?;
        let views = links.iter().map(|number| {
            let link = &scenario.topology.links[*number];
            let own = replaced && !link.is_fixed;
            let disc = link.disc.as_ref().filter(|_| !own).map(ToString::to_string);
            View { disc, ..View::default() }
        });
        let last = Snapshot::of(&plant);
        let mut run = Run {
            views: views.collect(),
            goodputs: vec![Vec::new(); scenario.flows.len()],
            time_s: Vec::new(),
            events: events(scenario),
            world: World::new(plant, hosts, step),
            links,
            given,
            step_start: Time::ZERO,
            warm: None,
            last,
            scenario: scenario.clone(),
        };
        run.happen();
        run.begin_stretch();
        Ok(run)
    }

    /// The share of simulated time that is done.
    pub fn progress(&self) -> f64 {
        self.world.now().seconds() / self.scenario.duration.seconds()
    }

    /// Steps of integration so far.
    pub fn steps(&self) -> u64 {
        self.world.steps()
    }

    /// Goes on for a moment; says whether there is more.
    pub fn advance(&mut self) -> bool {
        let end = Time::ZERO + self.scenario.duration;
        for _ in 0..STOPS_PER_TURN {
            let now = self.world.now();
            if now >= end {
                return false;
            }
            let warm = Time::ZERO + self.scenario.warmup;
            let step_end = (self.step_start + self.scenario.step()).min(end);
            let event = self.events.last().map_or(end, |(time, _)| *time);
            let mut stop = step_end.min(event.max(now));
            if self.warm.is_none() {
                stop = stop.min(warm);
            }
            self.world.run_until(stop);
            if self.warm.is_none() && stop == warm {
                self.end_warm_up();
            }
            if stop == step_end {
                self.end_step(stop);
            }
            self.happen();
        }
        self.world.now() < end
    }

    /// The outcome, when there is no more.
    pub fn finish(mut self) -> Outcome {
        if self.warm.is_none() {
            self.end_warm_up();
        }
        let links = (0..self.links.len()).map(|place| self.outcome(place)).collect();
        Outcome { links, elsewhere: self.elsewhere() }
    }

    fn end_warm_up(&mut self) {
        self.warm = Some(Snapshot::of(self.world.plant()));
        self.world.change(|plant, _| plant.watch().on = true);
    }

    /// Lets happen what is due; changes of links and laws begin a new stretch.
    fn happen(&mut self) {
        let mut stretches = false;
        while let Some((_, event)) = self.events.pop_if(|(time, _)| *time <= self.world.now()) {
            match event {
                Event::Flows(class, ramp) => {
                    self.world.change(|plant, y| plant.set_flows(class, ramp, y));
                }
                Event::Change(change) => {
                    stretches = true;
                    self.change(&change);
                }
            }
        }
        if stretches && self.views.first().is_some_and(|view| view.stretches.len() <= MOST_CHANGES) {
            self.begin_stretch();
        }
    }

    fn change(&mut self, change: &Change) {
        match &change.set {
            Setting::Rate(links, rate) => {
                for link in links {
                    self.set_rate(*link, *rate);
                }
            }
            Setting::Delay(links, delay) => {
                for link in links {
                    self.scenario.topology.links[*link].delay = *delay;
                }
                for (class, flows) in self.scenario.flows.iter().enumerate() {
                    let base_rtt = self.scenario.mean_base_rtt(flows);
                    self.world.change(|plant, _| plant.set_base_rtt(class, base_rtt));
                }
            }
            Setting::Law(link, given) => self.retune(*link, given),
            Setting::Count(class, count) => {
                let ramp = Ramp { since: self.world.now().seconds(), count: f64::from(*count), growth: 0.0 };
                self.world.change(|plant, y| plant.set_flows(*class, ramp, y));
            }
        }
    }

    fn set_rate(&mut self, link: usize, rate: Rate) {
        let Some(place) = self.links.iter().position(|number| *number == link) else { return };
        let now = self.world.now();
        let first = self.scenario.topology.links[link].rate;
        let share = rate.bits_per_second() / first.bits_per_second();
        let capacity = share * self.world.plant().links()[place].nominal();
        self.world.change(|plant, _| plant.set_capacity(place, now.seconds(), capacity));
        self.world.hosts()[place].on_link_change(now, rate);
    }

    fn retune(&mut self, link: usize, set: &[(String, Value)]) {
        let Some(place) = self.links.iter().position(|number| *number == link) else { return };
        let given = &mut self.given[place];
        for (key, value) in set {
            match given.iter_mut().find(|(known, _)| known == key) {
                Some((_, old)) => old.clone_from(value),
                None => given.push((key.clone(), value.clone())),
            }
        }
        let now = self.world.now();
        // The scenario has been checked: its laws take what it sets.
        let _ = self.world.hosts()[place].retune(now, given);
    }

    fn begin_stretch(&mut self) {
        let start = self.world.now().seconds();
        for place in 0..self.links.len() {
            let target = self.world.hosts()[place].target_packets();
            let tally = self.world.plant().links()[place].tally();
            self.views[place].stretches.push((start, target, tally));
        }
    }

    fn end_step(&mut self, stop: Time) {
        let seconds = stop.since(self.step_start).seconds();
        self.step_start = stop;
        let now = Snapshot::of(self.world.plant());
        self.time_s.push(stop.seconds());
        for place in 0..self.links.len() {
            let since = now.links[place] - self.last.links[place];
            let window = self.mean_window(place);
            let p = self.world.plant().links()[place].p();
            let row = [
                ("queue_packets", since.backlog / seconds),
                ("sojourn_s", since.sojourn / (since.offered - since.lost())),
                ("p", p),
                ("offered_packets", since.offered),
                ("dropped_packets", since.lost()),
                ("marked_packets", since.marked),
                ("drop_ratio", since.lost() / since.offered),
                ("mark_ratio", since.marked / since.offered),
                ("utilization", since.delivered / since.capacity),
                ("window_packets", window),
            ];
            for (name, value) in row {
                let finite = if value.is_finite() { value } else { f64::NAN };
                self.views[place].columns.entry(name).or_default().push(finite);
            }
        }
        for (class, goodputs) in self.goodputs.iter_mut().enumerate() {
            let packets = now.received[class].delivered - self.last.received[class].delivered;
            goodputs.push(bits(&self.scenario.flows[class], packets) / seconds);
        }
        self.last = now;
    }

    /// The mean window of the flows of TCP that cross a link, packets.
    fn mean_window(&self, place: usize) -> f64 {
        let (plant, now) = (self.world.plant(), self.world.now().seconds());
        let (mut flows, mut sum) = (0.0, 0.0);
        for (class, of) in self.scenario.flows.iter().enumerate() {
            if of.app.is_tcp() && plant.passed(class).any(|(link, _)| link == place) {
                let count = plant.flows_at(class, now);
                flows += count;
                sum += count * self.world.values()[class];
            }
        }
        sum / flows
    }
}

impl Snapshot {
    fn of(plant: &Plant) -> Snapshot {
        Snapshot {
            links: plant.links().iter().map(crate::plant::Link::tally).collect(),
            passed: (0..plant.classes()).map(|class| plant.passed(class).collect()).collect(),
            received: plant.received().to_vec(),
        }
    }
}

/// What happens to classes and links, the last one first.
fn events(scenario: &Scenario) -> Vec<(Time, Event)> {
    let at = |seconds: f64| Time::ZERO + Span::from_seconds(seconds);
    let mut events: Vec<(Time, Event)> = Vec::new();
    for (class, flows) in scenario.flows.iter().enumerate() {
        let (from, until) = read::coming(flows);
        let count = f64::from(flows.count);
        if until > from {
            let ramp = Ramp { since: from, count: 0.0, growth: count / (until - from) };
            events.push((at(from), Event::Flows(class, ramp)));
        }
        events.push((at(until), Event::Flows(class, Ramp { since: until, count, growth: 0.0 })));
        if let Some(stop) = flows.stop {
            let none = Ramp { since: stop.seconds(), count: 0.0, growth: 0.0 };
            events.push((Time::ZERO + stop, Event::Flows(class, none)));
        }
    }
    events.extend(
        scenario.happenings().map(|(time, change)| (Time::ZERO + time, Event::Change(change.clone()))),
    );
    // A stable sort: of one instant those of the schedule come last, in its order.
    events.sort_by_key(|(time, _)| *time);
    events.reverse();
    events
}

/// Payload bits of so many packets of a class.
fn bits(flows: &Flows, packets: f64) -> f64 {
    let header = if flows.app.is_tcp() { HEADER } else { UDP_HEADER };
    8.0 * packets * (flows.segment.get() as f64 - header).max(0.0)
}

/// Stops between two looks of the caller.
const STOPS_PER_TURN: usize = 50;
/// Changes of the schedule from which settling and overshoot are told.
const MOST_CHANGES: usize = 100;
/// Bytes of a datagram that carry no data.
const UDP_HEADER: f64 = 28.0;
