//! All reports to a probe.

use sojourn_aqm::{Backlog, Cause};
use sojourn_measure::{Cwnd, Probe, ProbeTime, Queued, RoundTrip};
use sojourn_units::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// All reports to a probe: by link, and by flow.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log {
    pub(crate) links: Reports<Happened>,
    /// Flows of packets that wires lost, by link.
    pub(crate) lost: BTreeMap<u32, Vec<(Time, u32)>>,
    pub(crate) received: Reports<u64>,
    pub(crate) sent: Reports<()>,
    /// The delays of datagrams.
    pub(crate) datagrams: Reports<Span>,
    pub(crate) rtts: Vec<(Time, u32, RoundTrip)>,
    /// None where the flow stops.
    pub(crate) windows: Reports<Option<Cwnd>>,
    /// Start times of completed transfers.
    pub(crate) completed: Reports<Time>,
    /// Durations of probes of responsiveness.
    pub(crate) probed: Reports<(ProbeTime, Span)>,
    /// Times for which players played and stalled.
    pub(crate) played: Reports<(Span, Span)>,
    /// The classes of flows that began.
    pub(crate) began: Reports<u32>,
    /// By class.
    pub(crate) rejected: Reports<()>,
    /// First report in the wrong order.
    pub(crate) wrong: Option<String>,
}

/// Reports on each component, with their times.
type Reports<T> = BTreeMap<u32, Vec<(Time, T)>>;

#[derive(Debug, PartialEq)]
pub(crate) enum Happened {
    Held(Backlog),
    /// The flow, here and below.
    Offered(u32),
    Delivered(u32, Span),
    Dropped(u32, Cause),
    Marked(u32),
}

impl Log {
    /// Removes reports beyond the end, and sorts those on several flows.
    pub(crate) fn in_time(&mut self, end: Time) {
        cut(&mut self.received, end);
        cut(&mut self.sent, end);
        cut(&mut self.datagrams, end);
        cut(&mut self.lost, end);
        self.lost.values_mut().for_each(|lost| lost.sort());
        cut(&mut self.windows, end);
        cut(&mut self.completed, end);
        cut(&mut self.probed, end);
        cut(&mut self.began, end);
        self.rtts.retain(|(at, ..)| *at <= end);
        self.rtts.sort();
    }

    /// The earliest entry in which the two differ.
    pub(crate) fn first_difference(&self, other: &Log) -> Option<String> {
        let mut found = Vec::new();
        compare("link", (&self.links, &other.links), &mut found);
        compare("lost by the wire of link", (&self.lost, &other.lost), &mut found);
        compare("received by flow", (&self.received, &other.received), &mut found);
        compare("sent by flow", (&self.sent, &other.sent), &mut found);
        compare("datagram of flow", (&self.datagrams, &other.datagrams), &mut found);
        compare("window of flow", (&self.windows, &other.windows), &mut found);
        compare("completed by flow", (&self.completed, &other.completed), &mut found);
        compare("probed by flow", (&self.probed, &other.probed), &mut found);
        compare("played by flow", (&self.played, &other.played), &mut found);
        compare("beginning of flow", (&self.began, &other.began), &mut found);
        compare("rejected of class", (&self.rejected, &other.rejected), &mut found);
        let rtts = (self.rtts != other.rtts).then(|| "the round-trip times".into());
        found.into_iter().min().map(|(_, difference)| difference).or(rtts)
    }

    fn add(&mut self, now: Time, link: u32, report: Happened) {
        add(&mut self.links, &mut self.wrong, (now, link, report));
    }
}

/// Adds an entry; notes the first that runs back in time.
fn add<T: Debug>(reports: &mut Reports<T>, wrong: &mut Option<String>, (at, number, report): (Time, u32, T)) {
    let reports = reports.entry(number).or_default();
    if let Some((last, before)) = reports.last().filter(|(last, _)| *last > at) {
        wrong.get_or_insert_with(|| format!("{number}: {report:?} at {at:?} after {before:?} at {last:?}"));
    }
    reports.push((at, report));
}

fn cut<T>(reports: &mut Reports<T>, end: Time) {
    reports.retain(|_, reports| {
        reports.retain(|(at, _)| *at <= end);
        !reports.is_empty()
    });
}

/// First difference of each component's entries.
fn compare<T: PartialEq + Debug>(
    kind: &str,
    both: (&Reports<T>, &Reports<T>),
    found: &mut Vec<(Time, String)>,
) {
    let numbers: BTreeSet<&u32> = both.0.keys().chain(both.1.keys()).collect();
    for number in numbers {
        let [one, other] = [both.0, both.1].map(|reports| reports.get(number).map_or(&[][..], Vec::as_slice));
        let Some(at) = (0..one.len().max(other.len())).find(|at| one.get(*at) != other.get(*at)) else {
            continue;
        };
        let (one, other) = (one.get(at), other.get(at));
        let time = [one, other].into_iter().flatten().map(|(time, _)| *time).min();
        found.push((
            time.unwrap_or(Time::NEVER),
            format!("{kind} {number}, entry {at}: {one:?} and {other:?}"),
        ));
    }
}

impl Probe for Log {
    fn backlog(&mut self, now: Time, link: u32, backlog: Backlog) {
        self.add(now, link, Happened::Held(backlog));
    }
    fn offered(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued) {
        self.add(now, link, Happened::Offered(flow));
    }
    fn delivered(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued, sojourn: Span) {
        self.add(now, link, Happened::Delivered(flow, sojourn));
    }
    fn dropped(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued, cause: Cause) {
        self.add(now, link, Happened::Dropped(flow, cause));
    }
    fn marked(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued) {
        self.add(now, link, Happened::Marked(flow));
    }
    fn lost(&mut self, at: Time, link: u32, flow: u32) {
        self.lost.entry(link).or_default().push((at, flow));
    }
    fn received(&mut self, at: Time, flow: u32, bytes: u64) {
        add(&mut self.received, &mut self.wrong, (at, flow, bytes));
    }
    fn read(&mut self, since: Time, at: Time, flow: u32, by: &dyn Fn(Time) -> u64) {
        add(&mut self.received, &mut self.wrong, (at, flow, by(at) - by(since)));
    }
    fn sent(&mut self, at: Time, flow: u32) {
        add(&mut self.sent, &mut self.wrong, (at, flow, ()));
    }
    fn datagram(&mut self, at: Time, flow: u32, delay: Span) {
        add(&mut self.datagrams, &mut self.wrong, (at, flow, delay));
    }
    fn came_back(&mut self, at: Time, flow: u32, rtt: Span) {
        self.rtts.push((at, flow, RoundTrip { path: rtt, smoothed: None, packets: 1 }));
    }
    fn round_trip(&mut self, at: Time, flow: u32, measured: RoundTrip) {
        self.rtts.push((at, flow, measured));
    }
    fn window(&mut self, at: Time, flow: u32, window: Cwnd) {
        let began = self.began.get(&flow).and_then(|reports| reports.last()).map(|(began, _)| *began);
        if let Some((stop, None)) = self.windows.get(&flow).and_then(|reports| reports.last())
            && began.is_none_or(|began| began < *stop)
        {
            self.wrong.get_or_insert_with(|| format!("flow {flow}: a window at {at:?}, stopped at {stop:?}"));
        }
        add(&mut self.windows, &mut self.wrong, (at, flow, Some(window)));
    }
    fn began(&mut self, at: Time, flow: u32, class: u32) {
        add(&mut self.began, &mut self.wrong, (at, flow, class));
    }
    fn completed(&mut self, at: Time, flow: u32, started: Time) {
        add(&mut self.completed, &mut self.wrong, (at, flow, started));
    }
    fn probed(&mut self, at: Time, flow: u32, of: ProbeTime, duration: Span) {
        add(&mut self.probed, &mut self.wrong, (at, flow, (of, duration)));
    }
    fn played(&mut self, at: Time, flow: u32, played: Span, stalled: Span) {
        add(&mut self.played, &mut self.wrong, (at, flow, (played, stalled)));
    }
    fn rejected(&mut self, at: Time, class: u32) {
        add(&mut self.rejected, &mut self.wrong, (at, class, ()));
    }
    fn stopped(&mut self, at: Time, flow: u32) {
        add(&mut self.windows, &mut self.wrong, (at, flow, None));
    }
}
