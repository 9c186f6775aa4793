//! Windows of time: measurements of the parts between their ends, in one pass.
//!
//! The ends of all windows, the end of the warm-up and the first changes divide the run into *parts*. Each part has
//! sums and distributions of its own, in memory that does not grow with its length; a window is the sum of its parts.
//! A part contains its start and not its end, but for the end of the run.

use crate::class_stats::TimeStats;
use crate::losses::{LossPart, Runs};
use crate::queue_stats::{PacketPart, in_seconds, packet_stats};
use crate::recorder::{LOST_AFTER, TimeWindow};
use crate::{
    ClassStats, ExactTotals, FlowKind, FlowStats, Histogram, Interval, LinkRecord, LinkStats, Metrics,
    PacketStats, Quantiles, Reading, Recorder, Series, Stretch, applying, class_metrics,
};
use sojourn_units::{Span, Time, math};
use std::collections::{BTreeMap, VecDeque};

/// Measurements of the parts of a run.
#[derive(Clone, Debug)]
pub struct Parts {
    windows: Vec<TimeWindow>,
    /// Starts of the parts, and the end of the run.
    bounds: Vec<Time>,
    /// Numbers of the links that are watched.
    links: Vec<u32>,
    /// By part and place of the link; only parts that have ended.
    at_links: Vec<Vec<LinkPart>>,
    /// By part and class.
    classes: Vec<Vec<ClassPart>>,
    /// Bytes received by the applications, by part and flow.
    received: Vec<Vec<u64>>,
    /// Packets lost on the wire, by part, link and class.
    wire_lost: BTreeMap<(usize, u32, u32), u64>,
    /// Datagrams of each flow that are under way: their times of departure, and their numbers.
    under_way: Vec<Departures>,
}

/// Counts at a link in a part, but for losses on the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkPart {
    pub(crate) all: PacketPart,
    /// Nanoseconds at each length.
    pub(crate) lengths: Histogram<10>,
    pub(crate) shares: Vec<PacketPart>,
    pub(crate) queues: Vec<PacketPart>,
    pub(crate) losses: LossPart,
}

/// Statistics of a class in a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassPart {
    pub(crate) stats: ClassStats,
    /// The shortest round trip.
    rtt_min: Option<Span>,
    /// Sum of the natural logarithms of the round trips in ns, in units of [`LOG_UNIT`], so that their order is no matter.
    rtt_logs: u128,
    /// The shortest time under way of a datagram.
    delay_min: Option<Span>,
    /// Its longest.
    delay_max: Span,
    /// Differences of the times under way of two datagrams in a row, without their signs.
    ipdv: TimeStats,
}

/// Datagrams of a flow that are under way.
#[derive(Clone, Debug, Default)]
struct Departures {
    sent: u64,
    waiting: VecDeque<Time>,
    /// Number and time under way of the last one that came.
    last: Option<(u64, Span)>,
}

impl LinkPart {
    /// The part since `before`; losses are those of the part already.
    pub(crate) fn since(&self, before: &LinkPart) -> LinkPart {
        let each = |mine: &[PacketPart], before: &[PacketPart]| {
            let since = |(place, part): (usize, &PacketPart)| {
                before.get(place).map_or_else(|| part.clone(), |before| part.since(before))
            };
            mine.iter().enumerate().map(since).collect()
        };
        LinkPart {
            all: self.all.since(&before.all),
            lengths: self.lengths.since(&before.lengths),
            shares: each(&self.shares, &before.shares),
            queues: each(&self.queues, &before.queues),
            losses: self.losses.clone(),
        }
    }

    fn add(&mut self, other: &LinkPart) {
        let each = |mine: &mut Vec<PacketPart>, other: &[PacketPart]| {
            mine.resize_with(other.len().max(mine.len()), PacketPart::default);
            mine.iter_mut().zip(other).for_each(|(mine, other)| mine.add(other));
        };
        self.all.add(&other.all);
        self.lengths.merge(&other.lengths);
        each(&mut self.shares, &other.shares);
        each(&mut self.queues, &other.queues);
        self.losses.add(&other.losses);
    }
}

impl ClassPart {
    pub(crate) fn add_round_trip(&mut self, time: Span, packets: u32) {
        self.stats.rtts.add(time, packets);
        self.rtt_min = Some(self.rtt_min.map_or(time, |least| least.min(time)));
        self.rtt_logs +=
            u128::from((math::ln(time.nanos().max(1) as f64) / LOG_UNIT) as u64) * u128::from(packets);
    }

    fn add(&mut self, other: &ClassPart) {
        let least = |one: Option<Span>, other: Option<Span>| one.into_iter().chain(other).min();
        self.stats.merge(&other.stats);
        self.rtt_min = least(self.rtt_min, other.rtt_min);
        self.rtt_logs += other.rtt_logs;
        self.delay_min = least(self.delay_min, other.delay_min);
        self.delay_max = self.delay_max.max(other.delay_max);
        self.ipdv.merge(&other.ipdv);
    }

    /// The metrics that only windows have.
    fn metrics(&self) -> Metrics {
        let rtt = |share| Reading::from(self.stats.rtts.quantile(share));
        let rtts = self.stats.rtts.count();
        let geomean =
            (rtts > 0).then(|| in_seconds(math::exp(self.rtt_logs as f64 * LOG_UNIT / rtts as f64)));
        let (least, most) = (self.delay_min.unwrap_or_default(), self.delay_max.nanos() as f64);
        // RFC 5481, section 4.2: the variation is the delay less the least one.
        let pdv = |share| {
            let above = |middle: f64| in_seconds((middle.min(most) - least.nanos() as f64).max(0.0));
            Reading::from(self.stats.delays.quantile(share).map(above))
        };
        vec![
            ("rtt_min_s", self.rtt_min.map(Span::seconds).into()),
            ("rtt_p05_s", rtt(0.05)),
            ("rtt_p25_s", rtt(0.25)),
            ("rtt_p75_s", rtt(0.75)),
            ("rtt_geomean_s", geomean.into()),
            ("one_way_pdv_p50_s", pdv(0.5)),
            ("one_way_pdv_p95_s", pdv(0.95)),
            ("one_way_pdv_p99_s", pdv(0.99)),
            ("one_way_ipdv_mean_s", self.ipdv.summary().mean.into()),
            ("one_way_ipdv_p95_s", self.ipdv.quantile(0.95).into()),
        ]
    }
}

impl Parts {
    /// Parts of a run with these windows, links and classes.
    pub(crate) fn new(
        windows: Vec<TimeWindow>,
        changes: &[Time],
        links: Vec<u32>,
        classes: u32,
        measured: Interval,
    ) -> Parts {
        let ends = windows.iter().flat_map(|window| [window.from, window.until]);
        let ends = ends.chain(changes.iter().copied());
        let mut bounds: Vec<Time> = ends.chain([Time::ZERO, measured.from, measured.until]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let count = bounds.len() - 1;
        Parts {
            windows,
            bounds,
            links,
            at_links: Vec::new(),
            classes: vec![vec![ClassPart::default(); classes as usize]; count],
            received: vec![Vec::new(); count],
            wire_lost: BTreeMap::new(),
            under_way: Vec::new(),
        }
    }

    /// The windows, in the order in which they were given.
    pub fn windows(&self) -> &[TimeWindow] {
        &self.windows
    }

    /// Starts of the parts after the first one, and the end of the run.
    pub fn ends(&self) -> &[Time] {
        &self.bounds[1..]
    }

    /// The run ends earlier; windows that end later are none.
    pub(crate) fn end_at(&mut self, end: Time) {
        self.windows.retain(|window| window.until <= end);
        self.bounds.retain(|bound| *bound < end);
        self.bounds.push(end);
    }

    pub(crate) fn links(&self) -> &[u32] {
        &self.links
    }

    /// Takes the counts of the part that ends.
    pub(crate) fn end(&mut self, part: Vec<LinkPart>) {
        self.at_links.push(part);
    }

    /// The part of a time; None after the run.
    fn part(&self, at: Time) -> Option<usize> {
        let last = self.bounds.len() - 1;
        let part = self.bounds[..last].partition_point(|start| *start <= at) - 1;
        (at <= self.bounds[last]).then_some(part)
    }

    /// The statistics of a class in the part of a time.
    pub(crate) fn class(&mut self, at: Time, class: u32) -> Option<&mut ClassPart> {
        let part = self.part(at)?;
        self.classes[part].get_mut(class as usize)
    }

    pub(crate) fn lose(&mut self, at: Time, link: u32, class: u32) {
        if let Some(part) = self.part(at).filter(|_| self.links.contains(&link)) {
            *self.wire_lost.entry((part, link, class)).or_default() += 1;
        }
    }

    pub(crate) fn receive(&mut self, at: Time, flow: u32, bytes: u64) {
        if let Some(part) = self.part(at) {
            self.add_bytes(part, flow, bytes);
        }
    }

    /// Counts bytes read from `since` to `at`; `by` gives the total at a time between the two.
    pub(crate) fn read(&mut self, since: Time, at: Time, flow: u32, by: &dyn Fn(Time) -> u64) {
        let Some(first) = self.part(since) else { return };
        for part in first..self.received.len() {
            let (from, to) = (since.max(self.bounds[part]), at.min(self.bounds[part + 1]));
            if from >= to {
                return;
            }
            self.add_bytes(part, flow, by(to) - by(from));
        }
    }

    fn add_bytes(&mut self, part: usize, flow: u32, bytes: u64) {
        let (received, place) = (&mut self.received[part], flow as usize);
        if place >= received.len() {
            received.resize(place + 1, 0);
        }
        received[place] += bytes;
    }

    /// The fate of a datagram sent at this time is known by the end of the run.
    fn is_judged(&self, at: Time) -> bool {
        at + LOST_AFTER <= self.bounds[self.bounds.len() - 1]
    }

    /// A flow sends a datagram.
    pub(crate) fn send(&mut self, at: Time, flow: u32, class: u32) {
        if self.is_judged(at)
            && let Some(part) = self.class(at, class)
        {
            part.stats.sent += 1;
        }
        let departures = self.departures(flow);
        departures.sent += 1;
        departures.waiting.push_back(at);
    }

    /// A datagram arrives.
    pub(crate) fn arrive(&mut self, at: Time, flow: u32, class: u32, delay: Span) {
        let left = Time::from_nanos(at.nanos() - delay.nanos());
        let difference = self.departures(flow).arrive(left, delay);
        if let Some(part) = self.class(at, class) {
            part.stats.delays.add(delay.nanos(), 1);
            part.delay_min = Some(part.delay_min.map_or(delay, |least| least.min(delay)));
            part.delay_max = part.delay_max.max(delay);
            if let Some(difference) = difference {
                part.ipdv.add(difference, 1);
            }
        }
        if delay <= LOST_AFTER
            && self.is_judged(left)
            && let Some(part) = self.class(left, class)
        {
            part.stats.came += 1;
        }
    }

    /// A datagram comes back.
    pub(crate) fn come_back(&mut self, at: Time, class: u32, rtt: Span) {
        if let Some(part) = self.class(at, class) {
            part.add_round_trip(rtt, 1);
        }
        let left = Time::from_nanos(at.nanos() - rtt.nanos());
        if rtt <= LOST_AFTER
            && self.is_judged(left)
            && let Some(part) = self.class(left, class)
        {
            part.stats.came_back += 1;
        }
    }

    fn departures(&mut self, flow: u32) -> &mut Departures {
        let place = flow as usize;
        if place >= self.under_way.len() {
            self.under_way.resize_with(place + 1, Departures::default);
        }
        &mut self.under_way[place]
    }

    /// Numbers of the parts of a stretch of time, whose ends are bounds.
    fn parts_of(&self, from: Time, until: Time) -> std::ops::Range<usize> {
        let place = |time| self.bounds.partition_point(|bound| *bound < time);
        place(from)..place(until)
    }

    /// Sums of a link, by its place among those that are watched, between two bounds.
    pub fn totals(&self, place: usize, from: Time, until: Time) -> ExactTotals {
        let mut totals = ExactTotals::default();
        self.at_links[self.parts_of(from, until)].iter().for_each(|part| totals.add(&part[place].all.totals));
        totals
    }

    /// The measurements in a window.
    pub fn window(&self, window: TimeWindow) -> WindowParts {
        let range = self.parts_of(window.from, window.until);
        let mut classes = vec![ClassPart::default(); self.classes[0].len()];
        let mut received = Vec::new();
        let mut links = vec![LinkPart::default(); self.links.len()];
        for part in range.clone() {
            classes.iter_mut().zip(&self.classes[part]).for_each(|(all, part)| all.add(part));
            links.iter_mut().zip(&self.at_links[part]).for_each(|(all, part)| all.add(part));
            received.resize(received.len().max(self.received[part].len()), 0);
            received.iter_mut().zip(&self.received[part]).for_each(|(all, bytes)| *all += bytes);
        }
        let mut wire_lost = BTreeMap::new();
        for ((_, link, class), lost) in self.wire_lost.range((range.start, 0, 0)..(range.end, 0, 0)) {
            *wire_lost.entry((*link, *class)).or_default() += lost;
        }
        let stats = classes.iter().map(|class| class.stats.clone()).collect();
        WindowParts { span: window.until.since(window.from), classes, stats, received, links, wire_lost }
    }
}

impl Departures {
    /// A datagram that left at `left` comes: the difference of its time under way from that of the one before it, where
    /// that came, too (RFC 5481, section 4.1).
    fn arrive(&mut self, left: Time, delay: Span) -> Option<Span> {
        let place = self.waiting.iter().position(|sent| *sent == left)?;
        let number = self.sent - (self.waiting.len() - place) as u64;
        self.waiting.drain(..=place);
        let (before, earlier) = self.last.replace((number, delay))?;
        (before + 1 == number).then(|| delay.max(earlier).saturating_sub(delay.min(earlier)))
    }
}

/// The measurements in a window of time.
#[derive(Debug)]
pub struct WindowParts {
    span: Span,
    classes: Vec<ClassPart>,
    stats: Vec<ClassStats>,
    /// By flow.
    received: Vec<u64>,
    /// By the places of links.
    links: Vec<LinkPart>,
    wire_lost: BTreeMap<(u32, u32), u64>,
}

/// Inputs of the metrics of a link in a window beside its measurements.
#[derive(Debug)]
pub struct WindowOfLink<'a> {
    /// Its place among the links that are watched.
    pub place: usize,
    /// Its record.
    pub record: &'a LinkRecord,
    /// Bits delivered over the capacity.
    pub utilization: Option<f64>,
    /// The parts of the window between changes.
    pub stretches: &'a [Stretch],
    /// Its series, up to the end of the window.
    pub series: &'a Series,
}

impl WindowParts {
    /// The flows in the window, class by class.
    pub fn flows<'a>(&'a self, recorder: &Recorder, kinds: &'a [FlowKind]) -> FlowStats<'a> {
        let received = self.received.iter().copied().chain(std::iter::repeat(0));
        let flows = recorder.class_of.iter().copied().zip(received);
        FlowStats::of_stretch(&self.stats, flows, kinds, self.span, true)
    }

    /// All metrics of the flows of a class.
    pub fn of_class(&self, class: u32, flows: &FlowStats<'_>) -> Metrics {
        let metrics = class_metrics(flows.of_class(class), None, None);
        applying(metrics.into_iter().chain(self.classes[class as usize].metrics()))
    }

    /// All metrics of a link.
    pub fn of_link(&self, link: &WindowOfLink<'_>, flows: &mut FlowStats<'_>) -> Metrics {
        let (part, classes) = (&self.links[link.place], link.record.classes());
        let mut of_classes = ClassPart::default();
        for class in classes {
            of_classes.add(&self.classes[*class as usize]);
        }
        let of_flows = if classes.is_empty() { &[][..] } else { flows.of(classes) };
        let stats = LinkStats {
            moments: part.all.totals.moments(self.span.seconds()),
            backlog: Quantiles::of(|q| part.lengths.quantile(q)),
            empty_ratio: part.lengths.share_of_zero(),
            utilization: link.utilization,
            packets: self.packets(link.record, &part.all, None),
            stretches: link.stretches,
            series: link.series,
            central: true,
        };
        let quantile = |share| Reading::from(part.lengths.quantile(share));
        let (events, synchronized) = part.losses.events();
        let further = [
            ("queue_p05_packets", quantile(0.05)),
            ("queue_p25_packets", quantile(0.25)),
            ("queue_p75_packets", quantile(0.75)),
            ("itae_packets_s2", stats.itae()),
            ("loss_events", Reading::Number(events as f64)),
            ("loss_sync_ratio", synchronized.into()),
        ];
        let metrics = stats.metrics(of_flows).into_iter().chain(further);
        let metrics = metrics.chain(of_packets(&part.all)).chain(of_runs(part.losses.runs().lengths()));
        let of_flows = if classes.is_empty() { Vec::new() } else { of_classes.metrics() };
        applying(metrics.chain(of_flows))
    }

    /// All metrics of each class whose data cross a link.
    pub fn classes_at(&self, link: &WindowOfLink<'_>, flows: &FlowStats<'_>) -> Vec<(u32, Metrics)> {
        let part = &self.links[link.place];
        let of = |(place, class): (usize, &u32)| {
            // A class by itself has the packets of the link.
            let packets = part.shares.get(place).unwrap_or(&part.all);
            let stats = self.packets(link.record, packets, Some(*class));
            let backlog = packets.totals.moments(self.span.seconds()).backlog / self.span.seconds();
            let metrics = class_metrics(flows.of_class(*class), Some(&stats), Some(backlog));
            let runs = part.losses.runs_in(*class).map_or([None; 3], Runs::lengths);
            let metrics = metrics.into_iter().chain(of_packets(packets)).chain(of_runs(runs));
            (*class, applying(metrics.chain(self.classes[*class as usize].metrics())))
        };
        link.record.classes().iter().enumerate().map(of).collect()
    }

    /// All metrics of each named queue of a link that was offered packets, or holds some.
    pub fn queues_at(&self, link: &WindowOfLink<'_>) -> Vec<(String, Metrics)> {
        let part = &self.links[link.place];
        let named = link.record.watched().queues.iter().zip(&part.queues);
        let of = |(name, packets): (&String, &PacketPart)| {
            let backlog = packets.totals.moments(self.span.seconds()).backlog / self.span.seconds();
            let filters_acks = link.record.watched().filters_acks;
            let stats = packet_stats(&packets.totals, &packets.sojourns, None, filters_acks);
            let is_used = stats.packets.offered > 0.0 || backlog > 0.0;
            let metrics = class_metrics(&[], Some(&stats), Some(backlog));
            is_used.then(|| (name.clone(), applying(metrics.into_iter().chain(of_packets(packets)))))
        };
        named.filter_map(of).collect()
    }

    /// Packets of a link, or of one of its classes.
    fn packets(&self, record: &LinkRecord, part: &PacketPart, class: Option<u32>) -> PacketStats {
        let watched = record.watched();
        let is_of = |(link, of): &(u32, u32)| *link == watched.link && class.is_none_or(|class| class == *of);
        let lost = self.wire_lost.iter().filter(|(place, _)| is_of(place)).map(|(_, lost)| lost).sum();
        packet_stats(&part.totals, &part.sojourns, watched.loses.then_some(lost), watched.filters_acks)
    }
}

/// Metrics of packets at a link that only windows have.
fn of_packets(part: &PacketPart) -> Metrics {
    let sojourn = |share| Reading::from(part.sojourns.quantile(share).map(in_seconds));
    let least = part.sojourns.least().unwrap_or_default();
    let pdv =
        |share| Reading::from(part.sojourns.quantile(share).map(|time| in_seconds((time - least).max(0.0))));
    vec![
        ("sojourn_p05_s", sojourn(0.05)),
        ("sojourn_p25_s", sojourn(0.25)),
        ("sojourn_p75_s", sojourn(0.75)),
        ("pdv_p50_s", pdv(0.5)),
        ("pdv_p95_s", pdv(0.95)),
        ("pdv_p99_s", pdv(0.99)),
        ("offered_packets", Reading::Number(part.totals.packets().offered)),
        ("dropped_packets", Reading::Number(part.totals.packets().lost)),
        ("marked_packets", Reading::Number(part.totals.packets().marked)),
    ]
}

fn of_runs([mean, p95, longest]: [Option<f64>; 3]) -> Metrics {
    vec![
        ("loss_run_mean_packets", mean.into()),
        ("loss_run_p95_packets", p95.into()),
        ("loss_run_max_packets", longest.into()),
    ]
}

/// 2^-32, as that of completion times.
const LOG_UNIT: f64 = 1.0 / 4_294_967_296.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    fn number(metrics: &Metrics, name: &str) -> Option<f64> {
        match metrics.iter().find(|(key, _)| *key == name).map(|(_, reading)| reading) {
            Some(Reading::Number(value)) => Some(*value * 1e9),
            _ => None,
        }
    }

    /// Delays of 20, 10, 20, 25 and 22 ns, the third datagram lost or not. By hand: the variation from the least delay is
    /// 10, 0, 10, 15, 12 (RFC 5481, section 4.2), that from packet to packet -10, 10, 5, -3 (section 4.1), and undefined
    /// beside a lost one.
    #[test]
    fn delay_variation_is_that_of_rfc_5481() {
        let window = TimeWindow { entry: 0, from: Time::ZERO, until: at(10_000) };
        let measured = Interval { from: Time::ZERO, until: at(10_000) };
        let of = |is_third_lost: bool| {
            let mut parts = Parts::new(vec![window], &[], Vec::new(), 1, measured);
            for (sent, delay) in [(0, 20), (100, 10), (200, 20), (300, 25), (400, 22)] {
                parts.send(at(sent), 0, 0);
                if !(is_third_lost && sent == 200) {
                    parts.arrive(at(sent + delay), 0, 0, Span::from_nanos(delay));
                }
            }
            parts.end(Vec::new());
            parts.window(window).classes[0].metrics()
        };
        let values = |metrics: &Metrics| {
            ["one_way_pdv_p50_s", "one_way_pdv_p95_s", "one_way_ipdv_mean_s", "one_way_ipdv_p95_s"]
                .map(|name| number(metrics, name).map(f64::round))
        };
        assert_eq!(values(&of(false)), [10.0, 15.0, 7.0, 10.0].map(Some));
        // Delays 10, 20, 22, 25; |-10| and |-3|.
        assert_eq!(number(&of(true), "one_way_ipdv_mean_s").map(|mean| (mean * 10.0).round()), Some(65.0));
        assert_eq!(values(&of(true))[..2], [10.0, 15.0].map(Some));
    }

    /// A part contains its start and not its end; the last one contains the end of the run, and nothing later counts.
    #[test]
    fn a_time_belongs_to_the_part_that_begins_at_it() {
        let window = |from, until| TimeWindow { entry: 0, from: at(from), until: at(until) };
        let measured = Interval { from: at(30), until: at(100) };
        let parts =
            Parts::new(vec![window(10, 40), window(40, 100)], &[at(0), at(70)], Vec::new(), 1, measured);
        assert_eq!(parts.ends(), [10, 30, 40, 70, 100].map(at));
        let found = [0, 9, 10, 39, 40, 70, 99, 100, 101].map(|time| parts.part(at(time)));
        assert_eq!(found, [Some(0), Some(0), Some(1), Some(2), Some(3), Some(4), Some(4), Some(4), None]);
    }
}
