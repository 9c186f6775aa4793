//! One run, from the first packet to the metrics.

use crate::engine::Simulation;
use crate::gains::{Gains, Life};
use crate::network::Network;
use crate::recorder::{Interval, Recorder, Watched, Watchlist};
use crate::results::{self, Balance, Elsewhere, LinkOutcome, Outcome, Row, Series, Step, Stretch};
use crate::topology;
use sojourn_aqm::{Gauges, Law};
use sojourn_scenario::{Flows, Scenario, Source};
use sojourn_units::{Fault, Span, Time};

/// A run of a scenario under one seed, advanced bit by bit.
pub struct Run {
    simulation: Simulation<Recorder>,
    scenario: Scenario,
    step: Span,
    step_start: Time,
    /// Whether the warm-up is past.
    is_warm: bool,
    /// The start and the first changes of the schedule, as far as they are still to come, the last one first.
    starts: Vec<Time>,
    links: Vec<LinkView>,
    /// The classes whose data cross none of them.
    elsewhere: Vec<u32>,
}

/// A link that has a disc, and what is seen there.
struct LinkView {
    number: u32,
    name: String,
    /// The label of its disc; None where a law of the caller's own stands in its place.
    disc: Option<String>,
    /// The classes whose data cross it.
    classes: Vec<u32>,
    series: Series,
    /// Bits sent and bits that could have been sent at the last step.
    last: (f64, f64),
    /// The same at the end of the warm-up.
    warm: (f64, f64),
    stretches: Vec<Stretch>,
}

/// What a link has sent and its disc has counted, at the end.
#[derive(Clone, Copy)]
struct LinkEnd {
    utilization: Option<f64>,
    balance: Balance,
}

impl Run {
    /// The run at its start; a law may refuse its place.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Run, Fault> {
        Run::with_laws(scenario, seed, Vec::new())
    }

    /// The run under laws of the caller's own, such as those written in Python, one for each replaceable link in order.
    pub fn with_laws(scenario: &Scenario, seed: u64, own: Vec<Box<dyn Law>>) -> Result<Run, Fault> {
        let given = !own.is_empty();
        let network = topology::network_under(scenario, seed, topology::laws(scenario, own)?);
        let step = scenario.step();
        let watch = watch(scenario, &network, step);
        let recorder = Recorder::new(watch.clone());
        let sampled: Vec<u32> = recorder.windows.sampled().collect();
        let links = watch.links.into_iter().map(|Watched { link, classes, .. }| {
            let crosses = |flow: &u32| classes.contains(&watch.flows[*flow as usize]);
            let told = &scenario.topology.links[link as usize];
            let replaced = given && !told.is_fixed;
            LinkView {
                number: link,
                name: told.name.clone(),
                disc: told.disc.as_ref().filter(|_| !replaced).map(ToString::to_string),
                series: Series::new(sampled.iter().copied().filter(crosses)),
                classes,
                last: (0.0, 0.0),
                warm: (0.0, 0.0),
                stretches: Vec::new(),
            }
        });
        Ok(Run {
            links: links.collect(),
            elsewhere: elsewhere(scenario),
            simulation: Simulation::new(network, seed, recorder),
            step,
            scenario: scenario.clone(),
            step_start: Time::ZERO,
            is_warm: false,
            starts: starts(scenario),
        })
    }

    /// The share of simulated time that is done.
    pub fn progress(&self) -> f64 {
        self.simulation.now().seconds() / self.scenario.duration.seconds()
    }

    /// Goes on for a moment, so that a caller can look up in between; says whether there is more.
    pub fn advance(&mut self) -> bool {
        self.advance_some(EVENTS_PER_TURN)
    }

    /// The same for not much more than `most` events and arrivals.
    pub fn advance_some(&mut self, most: u64) -> bool {
        let end = Time::ZERO + self.scenario.duration;
        let step_end = (self.step_start + self.step).min(end);
        let warm = Time::ZERO + self.scenario.warmup;
        let stop = if self.is_warm { step_end } else { warm.min(step_end) };
        let stop = self.starts.last().map_or(stop, |start| stop.min(*start));
        if !self.simulation.advance_some(stop, most) {
            return true;
        }
        if !self.is_warm && stop == warm {
            self.end_warm_up();
        }
        if stop == step_end {
            self.end_step(stop);
        }
        if self.starts.pop_if(|start| *start == stop).is_some() {
            self.begin_stretch(stop);
        }
        stop < end
    }

    /// Asserts that every packet is accounted for.
    pub fn assert_conservation(&self) {
        self.simulation.assert_conservation();
    }

    /// The outcome, when there is no more.
    pub fn finish(mut self) -> Outcome {
        self.simulation.assert_conservation();
        self.simulation.finish_reading(Time::ZERO + self.scenario.duration);
        if !self.is_warm {
            self.end_warm_up();
        }
        let ends: Vec<_> = self.links.iter().map(|link| self.end_of(link)).collect();
        let counts = self.simulation.counts();
        let Run { mut simulation, scenario, links, elsewhere, .. } = self;
        let (recorder, lives) = (&*simulation.probe(), lives(&scenario));
        let mut gains = Gains::new(recorder, &lives, scenario.duration - scenario.warmup);
        let elsewhere = not_at_links(&scenario, recorder, &gains, &links, &elsewhere);
        let links = links.into_iter().zip(ends);
        let links = links.map(|(link, end)| at_link(&scenario, recorder, &mut gains, link, end)).collect();
        Outcome { links, elsewhere, counts }
    }

    /// How a link has ended.
    fn end_of(&self, link: &LinkView) -> LinkEnd {
        let could_send = utilization(link.warm, self.bits(link.number));
        LinkEnd {
            utilization: could_send.is_finite().then_some(could_send),
            balance: self.balance(link.number),
        }
    }

    fn end_warm_up(&mut self) {
        self.is_warm = true;
        for place in 0..self.links.len() {
            self.links[place].warm = self.bits(self.links[place].number);
        }
    }

    /// What the laws try to hold from a change of the schedule on, which has happened.
    fn begin_stretch(&mut self, start: Time) {
        for link in &mut self.links {
            let target = self.simulation.disc(link.number).and_then(sojourn_aqm::Disc::target_packets);
            let before = self.simulation.probe().measured_until(start, link.number);
            link.stretches.push(Stretch { start_s: start.seconds(), target, before });
        }
    }

    fn end_step(&mut self, stop: Time) {
        let start = std::mem::replace(&mut self.step_start, stop);
        self.simulation.probe().windows.end_step(stop);
        for place in 0..self.links.len() {
            let number = self.links[place].number;
            let bits = self.bits(number);
            let mut p = ProbabilityGauge(None);
            if let Some(disc) = self.simulation.disc(number) {
                disc.gauges(&mut p);
            }
            let link = &mut self.links[place];
            let recorder = self.simulation.probe();
            link.series.push(&Step {
                end_s: stop.seconds(),
                length_s: stop.since(start).seconds(),
                tally: recorder.end_step(stop, number),
                utilization: utilization(link.last, bits),
                p: p.0,
            });
            link.series.push_windows(&recorder.windows, &link.classes);
            link.last = bits;
        }
    }

    fn bits(&self, link: u32) -> (f64, f64) {
        let (sent, capacity) = (self.simulation.sent_bits(link), self.simulation.capacity_bits(link));
        sent.zip(capacity).expect("a link with a disc is shared")
    }

    /// As the disc itself has counted.
    fn balance(&self, link: u32) -> Balance {
        let disc = self.simulation.disc(link).expect("a link that is watched has a disc");
        let counts = disc.counts();
        Balance {
            offered: counts.offered,
            delivered: counts.delivered,
            dropped: counts.dropped(),
            held: u64::from(disc.backlog().packets),
        }
    }
}

/// What was seen at a link.
fn at_link(
    scenario: &Scenario,
    recorder: &Recorder,
    gains: &mut Gains<'_>,
    link: LinkView,
    end: LinkEnd,
) -> LinkOutcome {
    let LinkView { number, name, disc: label, classes, mut series, stretches, .. } = link;
    let LinkEnd { utilization, balance } = end;
    let disc = recorder.disc(number);
    debug_assert_eq!(
        results::balance(&disc.all),
        balance,
        "{name}: told otherwise than the disc has counted"
    );
    let measured = results::Measured {
        disc,
        series: &series,
        from_s: scenario.warmup.seconds(),
        span: scenario.duration - scenario.warmup,
        utilization,
        stretches: &stretches,
    };
    let all = Row { metrics: results::of_link(&measured, gains), balance };
    let name_of = |class: u32| scenario.flows[class as usize].name.clone();
    let rows = results::of_classes(&measured, gains).map(|(class, row)| (name_of(class), row)).collect();
    if recorder.tells_classes_apart {
        add_goodputs(&mut series, scenario, recorder, &classes);
    }
    let sojourn_distribution = disc.all.sojourns.cumulative().map(|(nanos, share)| (nanos * 1e-9, share));
    let sojourn_distribution = sojourn_distribution.collect();
    LinkOutcome { link: name, disc: label, all, classes: rows, series, sojourn_distribution }
}

/// What the classes got that none of the links has seen; the steps of the series are those of any link.
fn not_at_links(
    scenario: &Scenario,
    recorder: &Recorder,
    gains: &Gains<'_>,
    links: &[LinkView],
    classes: &[u32],
) -> Elsewhere {
    let mut series = Series::default();
    if !classes.is_empty() {
        series.time_s = links.first().map_or(Vec::new(), |link| link.series.time_s.clone());
        add_goodputs(&mut series, scenario, recorder, classes);
    }
    let named = |(class, metrics)| (scenario.flows[class as usize].name.clone(), metrics);
    Elsewhere { classes: results::elsewhere(classes, gains).into_iter().map(named).collect(), series }
}

fn add_goodputs(series: &mut Series, scenario: &Scenario, recorder: &Recorder, classes: &[u32]) {
    for class in classes.iter().map(|class| *class as usize) {
        series.push_goodput(&scenario.flows[class].name, &recorder.classes[class].received);
    }
}

/// What is watched: the links that have a disc, those first that data cross, and of them those first whose disc another
/// one may take the place of.
fn watch(scenario: &Scenario, network: &Network, step: Span) -> Watchlist {
    let topology = &scenario.topology;
    let fixed = topology.managed().filter(|link| topology.links[*link].is_fixed);
    let mut crossing = scenario.crossing();
    let links = topology.replaceable().chain(fixed).map(|link| Watched {
        link: link as u32,
        classes: std::mem::take(&mut crossing[link]),
        loses: network.links[link].impairments.is_some(),
    });
    let (mut links, idle): (Vec<_>, Vec<_>) = links.partition(|link| !link.classes.is_empty());
    links.extend(idle);
    Watchlist {
        links,
        classes: scenario.flows.len() as u32,
        tells_classes_apart: scenario.flows.len() > 1 || !elsewhere(scenario).is_empty(),
        flows: network.flows.iter().map(|flow| flow.class).collect(),
        measured: Interval { from: Time::ZERO + scenario.warmup, until: Time::ZERO + scenario.duration },
        step,
    }
}

/// The classes whose data cross no link that is watched.
fn elsewhere(scenario: &Scenario) -> Vec<u32> {
    let is_managed = |link: &usize| scenario.topology.links[*link].disc.is_some();
    let classes = (0..).zip(&scenario.flows);
    classes.filter(|(_, flows)| !flows.route.iter().any(is_managed)).map(|(class, _)| class).collect()
}

/// The start and the first changes of the schedule, the last one first.
fn starts(scenario: &Scenario) -> Vec<Time> {
    let changes = scenario.change_times(MOST_CHANGES);
    let within = changes.into_iter().filter(|time| (Span::from_nanos(1)..scenario.duration).contains(time));
    let mut starts: Vec<Time> = within.map(|time| Time::ZERO + time).rev().collect();
    starts.push(Time::ZERO);
    starts
}

/// What the flows of each class live for.
fn lives(scenario: &Scenario) -> Vec<Life> {
    let life = |flows: &Flows| match flows.app.datagrams().map(|datagrams| &datagrams.source) {
        None if flows.is_long_lived() => Life::Greedy,
        None => Life::Session,
        Some(Source::Voip { .. }) => Life::Call,
        Some(Source::Ping(_)) => Life::Echo,
        Some(_) => Life::Stream,
    };
    scenario.flows.iter().map(life).collect()
}

/// Picks the gauge `p` out of a law's.
struct ProbabilityGauge(Option<f64>);

impl Gauges for ProbabilityGauge {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        if name == "p" {
            self.0 = Some(value);
        }
    }
}

fn utilization(before: (f64, f64), after: (f64, f64)) -> f64 {
    (after.0 - before.0) / (after.1 - before.1)
}

/// Events and arrivals between two looks of the caller: some ten milliseconds.
const EVENTS_PER_TURN: u64 = 100_000;
/// Changes of the schedule from which settling and overshoot are told; a schedule may have any number of them.
const MOST_CHANGES: usize = 100;
