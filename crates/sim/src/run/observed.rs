//! A plant of packets, measured: what makes series and metrics of what a recorder counts.

mod windows;

use crate::network::Network;
use crate::packet::Packet;
use sojourn_aqm::{Gauges, Qdisc};
use sojourn_measure::{
    Balance, Elsewhere, ExactTotals, FlowKind, FlowStats, Interval, LOST_AFTER, LinkOutcome, MOST_CHANGES,
    Outcome, QueueOutcome, Recorder, Row, Series, Step, StretchStart, TimeWindow, Watched, Watchlist,
    WindowRow, class_metrics,
};
use sojourn_scenario::{Flows, Scenario, Source, Traffic, VOICE_FRAME};
use sojourn_units::{Span, Time};

/// A plant with packets, which reports to a recorder.
pub trait Plant {
    /// The present.
    fn now(&self) -> Time;
    /// The latest time of what the recorder may have counted; later than the present where packets come by themselves.
    fn recorded_until(&self) -> Time {
        self.now()
    }
    /// Processes what is due by `stop`, not much more than `most` events; returns whether none is left.
    fn advance_some(&mut self, stop: Time, most: u64) -> bool;
    /// Latest time of the next stop.
    fn latest_stop(&self) -> Time {
        Time::NEVER
    }
    /// Everything up to `stop` has been processed.
    fn settled(&mut self, _stop: Time) {}
    /// The recorder.
    fn recorder(&mut self) -> &mut Recorder;
    /// The qdisc in front of a link.
    fn qdisc(&self, link: u32) -> Option<&dyn Qdisc<Packet>>;
    /// Bits on the wire that a link has sent since the start, and that it could have sent; None: it is not watched.
    fn bits(&self, link: u32) -> Option<(f64, f64)>;
    /// The run ends at `end`: reports what is left, and asserts that every packet is accounted for.
    fn finish(&mut self, end: Time);
    /// Work done so far: events, and packets that arrived at shared links.
    fn work(&self) -> u64;
}

/// A run of a plant, measured.
pub struct Observed<P> {
    plant: P,
    scenario: Scenario,
    step: Span,
    step_start: Time,
    /// The warm-up is past.
    is_warm: bool,
    /// Pending times among the start and the first changes of the schedule, the last one first.
    starts: Vec<Time>,
    links: Vec<LinkView>,
    /// The classes whose data cross none of them.
    elsewhere: Vec<u32>,
    windows: windows::Bounds,
}

/// A link that has a qdisc, and its measurements.
struct LinkView {
    number: u32,
    name: String,
    /// The label of its qdisc; None: replaced by a custom one.
    qdisc: Option<String>,
    /// The classes whose data cross it.
    classes: Vec<u32>,
    series: Series,
    /// Bits sent and bits that could have been sent at the last step.
    last: (f64, f64),
    /// The same at the end of the warm-up.
    warm: (f64, f64),
    stretches: Vec<StretchStart<ExactTotals>>,
}

/// Utilization of a link and packets counted by its qdisc, at the end.
#[derive(Clone, Copy)]
struct LinkEnd {
    utilization: Option<f64>,
    balance: Balance,
}

impl<P: Plant> Observed<P> {
    /// The run of a scenario at its start, in the plant that `build` makes around the recorder; `given`: qdiscs of the
    /// caller replace the replaceable ones.
    pub fn new(
        scenario: &Scenario,
        watch: Watchlist,
        given: bool,
        build: impl FnOnce(Recorder) -> P,
    ) -> Observed<P> {
        let step = scenario.step();
        let recorder = Recorder::new(watch.clone());
        let sampled: Vec<u32> = recorder.windows().sampled().collect();
        let links = watch.links.into_iter().map(|Watched { link, classes, queues, .. }| {
            let crosses = |flow: &u32| classes.contains(&watch.flows[*flow as usize]);
            let plan = &scenario.topology.links[link as usize];
            let replaced = given && !plan.is_fixed;
            LinkView {
                number: link,
                name: plan.name.clone(),
                qdisc: plan.qdisc.as_ref().filter(|_| !replaced).map(ToString::to_string),
                series: Series::new(sampled.iter().copied().filter(crosses)).with_queues(&queues),
                classes,
                last: (0.0, 0.0),
                warm: (0.0, 0.0),
                stretches: Vec::new(),
            }
        });
        Observed {
            links: links.collect(),
            elsewhere: elsewhere(scenario),
            windows: windows::Bounds::of(&recorder),
            plant: build(recorder),
            step,
            scenario: scenario.clone(),
            step_start: Time::ZERO,
            is_warm: false,
            starts: starts(scenario),
        }
    }

    /// Share of the time that is done.
    pub fn progress(&self) -> f64 {
        self.plant.now().seconds() / self.scenario.duration.seconds()
    }

    /// Ends the run at the first step at which the fate of every datagram sent by now is known, or as planned if that is
    /// earlier. Returns that end; None where nothing would have been measured by then.
    pub fn end_early(&mut self) -> Option<Time> {
        let soon = (self.plant.recorded_until().max(self.step_start) + LOST_AFTER)
            .nanos()
            .div_ceil(self.step.nanos());
        let end = Time::from_nanos(soon * self.step.nanos());
        let warm = Time::ZERO + self.scenario.warmup;
        let planned = Time::ZERO + self.scenario.duration;
        if end >= planned || end <= warm {
            return (end >= planned).then_some(planned);
        }
        self.scenario.duration = end.since(Time::ZERO);
        self.plant.recorder().end_at(end);
        self.windows.end_at(end);
        Some(end)
    }

    /// The plant.
    pub fn plant(&self) -> &P {
        &self.plant
    }

    /// The same, to be changed.
    pub fn plant_mut(&mut self) -> &mut P {
        &mut self.plant
    }

    /// Advances by not much more than `most` events; returns whether there is more.
    pub fn advance_some(&mut self, most: u64) -> bool {
        let end = Time::ZERO + self.scenario.duration;
        let step_end = (self.step_start + self.step).min(end);
        let warm = Time::ZERO + self.scenario.warmup;
        let stop = if self.is_warm { step_end } else { warm.min(step_end) };
        let stop = self.starts.last().map_or(stop, |start| stop.min(*start));
        let stop = stop.min(self.plant.latest_stop());
        let stop = self.windows.next().map_or(stop, |next| stop.min(next));
        if !self.plant.advance_some(stop, most) {
            return true;
        }
        self.plant.settled(stop);
        if !self.is_warm && stop == warm {
            self.end_warm_up();
        }
        if stop == step_end {
            self.end_step(stop);
        }
        if self.starts.pop_if(|start| *start == stop).is_some() {
            self.begin_stretch(stop);
        }
        if self.windows.next() == Some(stop) {
            self.pass_bound(stop, end);
        }
        stop < end
    }

    /// The outcome, once the run has ended, the metrics of the windows of the scenario, and the plant.
    pub fn finish(mut self) -> (Outcome, Vec<WindowRow>, P) {
        self.plant.finish(Time::ZERO + self.scenario.duration);
        if !self.is_warm {
            self.end_warm_up();
        }
        let ends: Vec<_> = self.links.iter().map(|link| self.end_of(link)).collect();
        let windows = self.window_rows();
        let events = self.plant.work();
        let Observed { mut plant, scenario, links, elsewhere, .. } = self;
        let (recorder, kinds) = (&*plant.recorder(), kinds(&scenario));
        let mut flows = FlowStats::new(recorder, &kinds, scenario.duration - scenario.warmup);
        let elsewhere = not_at_links(&scenario, recorder, &flows, &links, &elsewhere);
        let links = links.into_iter().zip(ends);
        let links = links.map(|(link, end)| at_link(&scenario, recorder, &mut flows, link, end)).collect();
        let outcome = Outcome { links, elsewhere, events };
        (outcome, windows, plant)
    }

    /// Utilization and packets of a link at the end.
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

    /// Records the laws' targets from a change of the schedule on, which has been applied.
    fn begin_stretch(&mut self, start: Time) {
        for link in &mut self.links {
            let target = self.plant.qdisc(link.number).and_then(sojourn_aqm::Qdisc::target_packets);
            let sums = self.plant.recorder().measured_until(start, link.number);
            link.stretches.push(StretchStart { start_s: start.seconds(), target, sums });
        }
    }

    fn end_step(&mut self, stop: Time) {
        let start = std::mem::replace(&mut self.step_start, stop);
        self.plant.recorder().end_windows(stop);
        for place in 0..self.links.len() {
            let number = self.links[place].number;
            let bits = self.bits(number);
            let mut read = Read::default();
            if let Some(qdisc) = self.plant.qdisc(number) {
                qdisc.gauges(&mut read);
            }
            let link = &mut self.links[place];
            let recorder = self.plant.recorder();
            let (totals, seconds) = (recorder.end_step(stop, number), stop.since(start).seconds());
            link.series.push(&Step {
                end_s: stop.seconds(),
                queue: totals.moments(seconds).backlog / seconds,
                sojourn: totals.mean_sojourn(),
                packets: totals.packets(),
                utilization: utilization(link.last, bits),
                p: read.p,
            });
            link.series.active_queues.extend(read.active_queues);
            link.series.push_gauges(OTHER_GAUGES.into_iter().zip(read.others));
            link.series.push_queues(recorder.end_queue_steps(stop, number), seconds);
            link.series.push_windows(recorder.windows(), &link.classes);
            link.last = bits;
        }
    }

    fn bits(&self, link: u32) -> (f64, f64) {
        self.plant.bits(link).expect("a link with a qdisc is shared")
    }

    /// The qdisc's own counts.
    fn balance(&self, link: u32) -> Balance {
        let qdisc = self.plant.qdisc(link).expect("a watched link has a qdisc");
        let counts = qdisc.counts();
        Balance {
            offered: counts.offered,
            delivered: counts.delivered,
            dropped: counts.dropped(),
            held: u64::from(qdisc.backlog().packets),
        }
    }
}

/// The outcome at a link.
fn at_link(
    scenario: &Scenario,
    recorder: &Recorder,
    flows: &mut FlowStats<'_>,
    link: LinkView,
    end: LinkEnd,
) -> LinkOutcome {
    let LinkView { number, name, qdisc: label, classes, mut series, stretches, .. } = link;
    let LinkEnd { utilization, balance } = end;
    let (record, span) = (recorder.record(number), scenario.duration - scenario.warmup);
    debug_assert_eq!(record.balance(), balance, "{name}: the recorder and the qdisc count differently");
    let stretches = record.stretches(&stretches, scenario.warmup.seconds(), span);
    let of_flows = if record.classes().is_empty() { &[][..] } else { flows.of(record.classes()) };
    let metrics = record.stats(span, utilization, &stretches, &series).metrics(of_flows);
    let rows = record.class_stats(span).map(|(class, packets, backlog, balance)| {
        let metrics = class_metrics(flows.of_class(class), Some(&packets), Some(backlog));
        (scenario.flows[class as usize].name.clone(), Row { metrics, balance: Some(balance) })
    });
    let rows = rows.collect();
    if recorder.is_by_class() {
        add_classes(&mut series, scenario, recorder, &classes);
    }
    let all = Row { metrics, balance: Some(balance) };
    let queues: Vec<QueueOutcome> = record.queue_outcomes(span).collect();
    series.queues.retain(|of| queues.iter().any(|queue| queue.name == of.name));
    let sojourn_distribution = record.sojourn_distribution();
    LinkOutcome { link: name, qdisc: label, all, classes: rows, queues, series, sojourn_distribution }
}

/// The outcome for classes whose data cross none of the links; the steps of the series are those of any link.
fn not_at_links(
    scenario: &Scenario,
    recorder: &Recorder,
    flows: &FlowStats<'_>,
    links: &[LinkView],
    classes: &[u32],
) -> Elsewhere {
    let mut series = Series::default();
    if !classes.is_empty() {
        series.time_s = links.first().map_or(Vec::new(), |link| link.series.time_s.clone());
        add_classes(&mut series, scenario, recorder, classes);
    }
    let row = |class: &u32| {
        let metrics = class_metrics(flows.of_class(*class), None, None);
        (scenario.flows[*class as usize].name.clone(), Row { metrics, balance: None })
    };
    Elsewhere { classes: classes.iter().map(row).collect(), series }
}

fn add_classes(series: &mut Series, scenario: &Scenario, recorder: &Recorder, classes: &[u32]) {
    for class in classes {
        let name = &scenario.flows[*class as usize].name;
        series.push_goodput(name, recorder.received_in_steps(*class));
        series.push_returned(name, recorder.returned_in_steps(*class));
    }
}

/// The watchlist of the network of a scenario: the links with a qdisc, crossed ones first, and among these
/// replaceable qdiscs first.
pub fn watchlist(scenario: &Scenario, network: &Network) -> Watchlist {
    let topology = &scenario.topology;
    let fixed = topology.managed().filter(|link| topology.links[*link].is_fixed);
    let mut crossing = scenario.crossing();
    let links = topology.replaceable().chain(fixed).map(|link| Watched {
        link: link as u32,
        classes: std::mem::take(&mut crossing[link]),
        queues: network.links[link].qdisc.as_ref().map_or(Vec::new(), |qdisc| qdisc.queue_names()),
        loses: network.links[link].impairments.is_some(),
        filters_acks: network.links[link].qdisc.as_ref().is_some_and(|qdisc| qdisc.filters_acks()),
    });
    let (mut links, idle): (Vec<_>, Vec<_>) = links.partition(|link| !link.classes.is_empty());
    links.extend(idle);
    // One second where no base RTT is known: no flow crosses the link.
    let event = |of: &Watched| scenario.context(of.link as usize).base_rtt.unwrap_or(Span::from_secs(1));
    let loss_events = links.iter().map(event).collect();
    Watchlist {
        links,
        classes: scenario.flows.len() as u32,
        by_class: scenario.flows.len() > 1 || !elsewhere(scenario).is_empty(),
        flows: network.flows.iter().map(|flow| flow.class).collect(),
        measured: Interval { from: Time::ZERO + scenario.warmup, until: Time::ZERO + scenario.duration },
        step: scenario.step(),
        windows: windows_of(scenario),
        changes: starts(scenario),
        loss_events,
    }
}

/// The windows of a run.
fn windows_of(scenario: &Scenario) -> Vec<TimeWindow> {
    let at = |span| Time::ZERO + span;
    let windows = scenario.windows_of_time(MOST_CHANGES).into_iter();
    windows.map(|of| TimeWindow { entry: of.entry, from: at(of.from), until: at(of.until) }).collect()
}

/// The classes whose data cross no watched link.
fn elsewhere(scenario: &Scenario) -> Vec<u32> {
    let is_managed = |link: &usize| scenario.topology.links[*link].qdisc.is_some();
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

/// The kind of the flows of each class.
fn kinds(scenario: &Scenario) -> Vec<FlowKind> {
    let kind = |flows: &Flows| match flows.traffic() {
        Traffic::Bulk if flows.is_long_lived() => FlowKind::Greedy,
        Traffic::Bulk | Traffic::Session => FlowKind::Session,
        Traffic::Datagrams(datagrams) => match datagrams.source {
            Source::Voip { .. } => FlowKind::Call { frame: VOICE_FRAME },
            Source::Ping(_) => FlowKind::Echo { idle: scenario.mean_idle_rtt(flows) },
            _ => FlowKind::Stream,
        },
    };
    scenario.flows.iter().map(kind).collect()
}

/// Gauges that series have.
#[derive(Default)]
struct Read {
    p: Option<f64>,
    active_queues: Option<f64>,
    /// Those of [`OTHER_GAUGES`].
    others: [Option<f64>; OTHER_GAUGES.len()],
}

/// Gauges of qdiscs whose series bear their names: flows with queues of their own, the price of the link (rem: of
/// its queue), utility and regret, updates of fb_ocq without a plan.
const OTHER_GAUGES: [&str; 5] = ["elephants", "price", "utility", "regret", "fallbacks"];

impl Gauges for Read {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        match name {
            "p" => self.p = Some(value),
            "active_queues" => self.active_queues = Some(value),
            name => {
                if let Some(place) = OTHER_GAUGES.iter().position(|other| *other == name) {
                    self.others[place] = Some(value);
                }
            }
        }
    }
}

fn utilization(before: (f64, f64), after: (f64, f64)) -> f64 {
    (after.0 - before.0) / (after.1 - before.1)
}
