//! A fluid run of a scenario, from empty queues to its outcome.

mod outcome;
mod tuning;
mod windows;

use crate::law_driver::World;
use crate::plant::{Plant, Ramp, Watch};
use crate::read::parts::Part;
use crate::read::traffic::HEADER;
use crate::read::{self, Fluid, Port, Reset};
use sojourn_aqm::Law;
use sojourn_measure::{
    MOST_CHANGES, Outcome, Packets, QueueSeries, Received, Series, Step, StretchStart, Totals, WindowRow,
    finite_ratio,
};
use sojourn_params::{Given, InputError};
use sojourn_scenario::{Change, Flows, Scenario, Setting, UDP_HEADER};
use sojourn_units::{Rate, Span, Time};
use tuning::Tuning;
use windows::Windows;

/// A fluid run of a scenario, advanced in turns.
pub struct Run {
    scenario: Scenario,
    world: World,
    /// Links of the scenario, with their queues.
    ports: Vec<Port>,
    /// The plant's classes of each of the scenario's.
    parts: Vec<Vec<Part>>,
    /// Weights by utility, where there are such links.
    tuning: Option<Tuning>,
    /// Pending events, the last one first.
    events: Vec<(Time, Event)>,
    step_start: Time,
    /// Totals at the end of the warm-up.
    warm: Option<Snapshot>,
    /// Totals at the end of the last step.
    last: Snapshot,
    views: Vec<View>,
    windows: Windows,
    /// Goodput of each class in each step, bit/s.
    goodputs: Vec<Vec<f64>>,
    time_s: Vec<f64>,
}

/// An event of the schedule, or the start or stop of a class of the plant.
#[derive(Clone, Debug)]
enum Event {
    Flows(usize, Ramp),
    Change(Change),
}

/// Totals at one time.
#[derive(Clone, Debug)]
struct Snapshot {
    time: Time,
    /// Of each link of the scenario, and of each queue of the plant.
    links: Vec<Totals>,
    queues: Vec<Totals>,
    passed: Vec<Vec<(usize, Packets)>>,
    received: Vec<Received>,
}

/// Measurements over a span of time.
struct Measured {
    from: Snapshot,
    until: Snapshot,
    watch: Watch,
}

/// Number of the samples after the warm-up; those of windows follow.
const MEASURED: usize = 0;

/// Measurements of a link.
#[derive(Clone, Debug, Default)]
struct View {
    qdisc: Option<String>,
    series: Series,
    stretches: Vec<StretchStart<Totals>>,
    /// Its queues with names, where it has several.
    queues: Vec<(String, usize)>,
}

impl Run {
    /// The run at its start; an error where the scenario or a law has no fluid model.
    pub fn new(scenario: &Scenario) -> Result<Run, InputError> {
        Run::with_laws(scenario, Vec::new())
    }

    /// The run under custom laws, one for each replaceable link in order.
    pub fn with_laws(scenario: &Scenario, own: Vec<Box<dyn Law>>) -> Result<Run, InputError> {
        let replaced = !own.is_empty();
        let Fluid { mut plant, drivers, ports, parts, step } = Fluid::new(scenario, own)?;
        expect_schedule(&mut plant, ports.clone(), &parts, scenario);
        let views = ports.iter().map(|port| {
            let link = &scenario.topology.links[port.number];
            let own = replaced && !link.is_fixed;
            let qdisc = link.qdisc.as_ref().filter(|_| !own).map(ToString::to_string);
            let queues = port.named_queues(scenario);
            let of =
                |(name, _): &(String, usize)| QueueSeries { name: name.clone(), ..QueueSeries::default() };
            let series = Series { queues: queues.iter().map(of).collect(), ..Series::default() };
            View { qdisc, series, queues, ..View::default() }
        });
        let last = Snapshot::of(Time::ZERO, &plant, &ports);
        let mut run = Run {
            views: views.collect(),
            windows: Windows::of(scenario),
            goodputs: vec![Vec::new(); scenario.flows.len()],
            time_s: Vec::new(),
            events: events(scenario, &parts),
            world: World::new(plant, drivers, step),
            tuning: Tuning::new(&ports),
            ports,
            parts,
            step_start: Time::ZERO,
            warm: None,
            last,
            scenario: scenario.clone(),
        };
        run.handle_events();
        run.begin_stretch();
        run.pass_bound();
        Ok(run)
    }

    /// Completed share of the simulated time.
    pub fn progress(&self) -> f64 {
        self.world.now().seconds() / self.scenario.duration.seconds()
    }

    /// Integration steps so far.
    pub fn steps(&self) -> u64 {
        self.world.steps()
    }

    /// Runs one turn; true if simulated time remains.
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
            let mut stop = step_end.min(event.max(now)).min(self.windows.next().unwrap_or(end));
            if self.warm.is_none() {
                stop = stop.min(warm);
            }
            if let Some(tuning) = &self.tuning {
                stop = stop.min(tuning.ends());
            }
            self.world.run_until(stop);
            if self.warm.is_none() && stop == warm {
                self.end_warm_up();
            }
            if stop == step_end {
                self.end_step(stop);
            }
            self.pass_bound();
            self.handle_events();
        }
        self.world.now() < end
    }

    /// Outcome of the completed run.
    pub fn finish(self) -> Outcome {
        self.finish_with_windows().0
    }

    /// The outcome, and the rows of the windows of time.
    pub fn finish_with_windows(mut self) -> (Outcome, Vec<WindowRow>) {
        if self.warm.is_none() {
            self.end_warm_up();
        }
        let warm = self.warm.take().unwrap_or_else(|| self.last.clone());
        let measured = self.measured(warm, MEASURED);
        let links = (0..self.ports.len()).map(|place| self.outcome(place, &measured)).collect();
        let outcome = Outcome { links, elsewhere: self.elsewhere(&measured), events: self.steps() };
        (outcome, self.windows.into_rows())
    }

    fn end_warm_up(&mut self) {
        self.warm = Some(self.snapshot());
        self.world.change(|plant, _| plant.begin_watch(MEASURED));
    }

    /// Totals of the present.
    fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.world.now(), self.world.plant(), &self.ports)
    }

    /// The measurements from a snapshot on, with the samples of this number, which end.
    fn measured(&mut self, from: Snapshot, number: usize) -> Measured {
        let until = self.snapshot();
        let watch = self.world.end_watch(number).expect("samples begin with the measurements");
        Measured { from, until, watch }
    }

    /// Applies the events that are due; changes of the schedule begin a new stretch.
    fn handle_events(&mut self) {
        let (mut stretches, mut is_changed) = (false, false);
        while let Some((_, event)) = self.events.pop_if(|(time, _)| *time <= self.world.now()) {
            is_changed = true;
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
        if let Some(tuning) = &mut self.tuning {
            tuning.update(&mut self.world, (&self.ports, &self.parts, &self.scenario), is_changed);
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
                for (class, base_rtt) in base_rtts(&self.scenario, &self.parts) {
                    self.world.change(|plant, _| plant.set_base_rtt(class, base_rtt));
                }
            }
            Setting::Law(link, change) => self.set_params(*link, change),
            Setting::Count(class, count) => {
                let since = self.world.now().seconds();
                for part in &self.parts[*class] {
                    let ramp = Ramp { since, count: f64::from(part.count(*count)), growth: 0.0 };
                    self.world.change(|plant, y| plant.set_flows(part.class, ramp, y));
                }
            }
        }
    }

    fn set_rate(&mut self, link: usize, rate: Rate) {
        let Some(port) = self.ports.iter_mut().find(|port| port.number == link) else { return };
        let now = self.world.now();
        let capacity = port.set_rate(rate, now.seconds());
        set_capacity(&mut self.world, port, capacity);
        for (queue, rate) in port.rates_of_laws(rate) {
            self.world.drivers()[queue].on_link_change(now, rate);
        }
    }

    fn set_params(&mut self, link: usize, change: &Given) {
        let Some(port) = self.ports.iter_mut().find(|port| port.number == link) else { return };
        let now = self.world.now();
        let before = port.rates_of_laws(port.last_rate());
        let taken = port.set_params(change, &self.scenario);
        let Reset { capacity, bounds, weights, laws } =
            taken.unwrap_or_else(|error| panic!("unchecked parameters: {error}"));
        if let Some(number) = port.shared {
            self.world.change(|plant, _| {
                if let Some((most, reserved)) = bounds {
                    plant.set_shared_buffer(number, now.seconds(), most);
                    plant.shared_mut()[number].set_reserved(reserved);
                }
                let shared = &mut plant.shared_mut()[number];
                for (queue, weight) in &weights {
                    shared.set_weight(*queue, *weight);
                }
            });
        }
        set_capacity(&mut self.world, port, capacity);
        // Laws are designed anew for a new rate of their queue.
        let after = port.rates_of_laws(port.last_rate());
        let changed: Vec<(usize, Rate)> = after.into_iter().filter(|own| !before.contains(own)).collect();
        for (queue, rate) in &changed {
            self.world.drivers()[*queue].on_link_change(now, *rate);
        }
        for (queue, given) in laws {
            let taken = self.world.drivers()[queue].set_params(now, &given);
            assert!(taken.is_ok(), "unchecked parameters: {taken:?}");
        }
        for (queue, _) in changed.into_iter().filter(|_| port.is_stalled()) {
            self.world.drivers()[queue].on_link_change(now, Rate::ZERO);
        }
    }

    fn begin_stretch(&mut self) {
        let start_s = self.world.now().seconds();
        let now = self.snapshot();
        for place in 0..self.ports.len() {
            let target =
                self.only_queue(place).and_then(|queue| self.world.drivers()[queue].target_packets());
            let sums = now.links[place];
            self.views[place].stretches.push(StretchStart { start_s, target, sums });
        }
    }

    fn end_step(&mut self, stop: Time) {
        let seconds = stop.since(self.step_start).seconds();
        self.step_start = stop;
        let now = self.snapshot();
        self.time_s.push(stop.seconds());
        for place in 0..self.ports.len() {
            let since = now.links[place] - self.last.links[place];
            let window = self.mean_window(place);
            let p = self.only_queue(place).map(|queue| self.world.plant().links()[queue].p());
            let series = &mut self.views[place].series;
            series.push(&Step {
                end_s: stop.seconds(),
                queue: since.backlog / seconds,
                sojourn: since.mean_sojourn(),
                packets: since.packets(),
                utilization: finite_ratio(since.delivered, since.capacity).unwrap_or(f64::NAN),
                p: p.filter(|p| p.is_finite()),
            });
            series.window_packets.push(window.unwrap_or(f64::NAN));
            let View { series, queues, .. } = &mut self.views[place];
            for (own, (_, queue)) in series.queues.iter_mut().zip(queues) {
                let since = now.queues[*queue] - self.last.queues[*queue];
                own.packets.push(since.backlog / seconds);
                own.sojourn_s.push(since.mean_sojourn().unwrap_or(f64::NAN));
            }
        }
        for (class, goodputs) in self.goodputs.iter_mut().enumerate() {
            let since =
                |part: &Part| now.received[part.class].delivered - self.last.received[part.class].delivered;
            let packets = self.parts[class].iter().map(since).sum();
            goodputs.push(bits(&self.scenario.flows[class], packets) / seconds);
        }
        self.last = now;
    }

    /// The queue of a link that has only one.
    fn only_queue(&self, place: usize) -> Option<usize> {
        let port = &self.ports[place];
        port.shared.is_none().then(|| port.queues[0])
    }

    /// Mean window of the TCP flows that cross a link, packets.
    fn mean_window(&self, place: usize) -> Option<f64> {
        let (plant, now) = (self.world.plant(), self.world.now().seconds());
        let (mut flows, mut sum) = (0.0, 0.0);
        for (class, of) in self.scenario.flows.iter().enumerate() {
            if of.app.is_tcp() && self.ports[place].queue_of(class).is_some() {
                for part in &self.parts[class] {
                    let count = plant.flows_at(part.class, now);
                    flows += count;
                    sum += count * self.world.values()[part.class];
                }
            }
        }
        finite_ratio(sum, flows)
    }
}

/// Names all rates and base round trips to come: the slowest link needs the longest history.
fn expect_schedule(plant: &mut Plant, mut ports: Vec<Port>, parts: &[Vec<Part>], scenario: &Scenario) {
    let mut later = scenario.clone();
    let expect = |plant: &mut Plant, port: &Port, capacity: f64| match port.shared {
        Some(number) => plant.expect_shared_capacity(number, capacity),
        None => plant.expect_capacity(port.queues[0], capacity),
    };
    for (_, change) in scenario.happenings() {
        match &change.set {
            Setting::Rate(links, rate) => {
                for port in ports.iter_mut().filter(|port| links.contains(&port.number)) {
                    let capacity = port.set_rate(*rate, 0.0);
                    expect(plant, port, capacity);
                }
            }
            Setting::Law(link, change) => {
                for port in ports.iter_mut().filter(|port| port.number == *link) {
                    if let Ok(reset) = port.set_params(change, scenario) {
                        expect(plant, port, reset.capacity);
                    }
                }
            }
            Setting::Delay(links, delay) => {
                for link in links {
                    later.topology.links[*link].delay = *delay;
                }
                for (class, base_rtt) in base_rtts(&later, parts) {
                    plant.expect_base_rtt(class, base_rtt);
                }
            }
            Setting::Count(..) => {}
        }
    }
}

/// Base round trips of the plant's classes, s.
fn base_rtts<'a>(
    scenario: &'a Scenario,
    parts: &'a [Vec<Part>],
) -> impl Iterator<Item = (usize, f64)> + use<'a> {
    let classes = scenario.flows.iter().zip(parts);
    classes.flat_map(|(flows, parts)| parts.iter().map(|part| (part.class, part.base_rtt(scenario, flows))))
}

/// Sets the rate of a link, packets/s.
fn set_capacity(world: &mut World, port: &Port, capacity: f64) {
    let now = world.now().seconds();
    let before = match port.shared {
        Some(number) => world.plant().shared()[number].capacity(),
        None => world.plant().links()[port.queues[0]].capacity(),
    };
    if capacity != before {
        world.change(|plant, _| match port.shared {
            Some(number) => plant.set_shared_capacity(number, capacity),
            None => plant.set_capacity(port.queues[0], now, capacity),
        });
    }
}

impl Snapshot {
    fn of(time: Time, plant: &Plant, ports: &[Port]) -> Snapshot {
        let totals = |port: &Port| {
            let totals = match port.shared {
                Some(number) => plant.shared()[number].totals(),
                None => plant.links()[port.queues[0]].totals(),
            };
            // The utilisation is that of the link, not of its shaper.
            let capacity = port.unshaped_capacity(totals.time).unwrap_or(totals.capacity);
            Totals { capacity, ..totals }
        };
        Snapshot {
            time,
            links: ports.iter().map(totals).collect(),
            queues: plant.links().iter().map(crate::plant::Link::totals).collect(),
            passed: (0..plant.classes()).map(|class| plant.passed(class).collect()).collect(),
            received: plant.received().to_vec(),
        }
    }
}

/// Events of classes and of the schedule, the last one first.
fn events(scenario: &Scenario, parts: &[Vec<Part>]) -> Vec<(Time, Event)> {
    let at = |seconds: f64| Time::ZERO + Span::from_seconds(seconds);
    let mut events: Vec<(Time, Event)> = Vec::new();
    let parts = scenario
        .flows
        .iter()
        .zip(parts)
        .flat_map(|(flows, parts)| parts.iter().map(move |part| (flows, part)));
    for (flows, part) in parts {
        let (class, count) = (part.class, f64::from(part.count(flows.count)));
        let (from, until) = read::start_interval(flows, part);
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
    // The sort is stable: at one time those of the schedule come last, in its order.
    events.sort_by_key(|(time, _)| *time);
    events.reverse();
    events
}

/// Payload bits of packets of a class.
fn bits(flows: &Flows, packets: f64) -> f64 {
    let header = if flows.app.is_tcp() { HEADER } else { f64::from(UDP_HEADER) };
    8.0 * packets * (flows.segment.get() as f64 - header).max(0.0)
}

/// Stops of the integration per turn.
const STOPS_PER_TURN: usize = 50;
