//! The ordeal: what every law of the catalogue must live through.
//!
//! For any legal parameters, at any place, under any sequence of operations: no
//! panic, no packet lost or made, marks only on ECN-capable packets, work that
//! is bounded by what is held, the same future after a clone, verdicts that do
//! not change when all times are shifted, nor when the law is given its own
//! parameters anew or parameters that it refuses. A new law needs no line here;
//! only what a certain law must have met stands in `Met::check`.
//!
//! `ORDEAL_OPERATIONS` sets the number of operations for each law; every case
//! has a number, which a failure names and `ORDEAL_FIRST` begins with.

mod common;

use common::Parcel;
use sojourn_aqm::catalogue::{self, Entry};
use sojourn_aqm::discs::Fifo;
use sojourn_aqm::{
    Arrival, Cause, Departure, Disc, Gauges, Given, Law, Limit, Observation, Overflow, Sink, Site, Verdict,
};
use sojourn_units::param::{Field, Kind};
use sojourn_units::{Ecn, Fault, Rate, Span, Stream, Time, Value};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn every_law_lives_through_the_ordeal() {
    let (first, operations) = (setting("ORDEAL_FIRST", 0), setting("ORDEAL_OPERATIONS", 1_000_000));
    std::thread::scope(|scope| {
        for entry in catalogue::LAWS {
            scope.spawn(move || {
                let mut met = Met::default();
                for number in first..first + operations.div_ceil(OPERATIONS_A_CASE) {
                    Case { entry, number }.run(&mut met);
                }
                met.check(entry, operations);
            });
        }
    });
}

/// One law at one place under one sequence of operations.
#[derive(Clone, Copy)]
struct Case {
    entry: &'static Entry,
    number: u64,
}

/// What the cases of a law have met, so that an ordeal that asks nothing is noticed.
#[derive(Default)]
struct Met {
    keys: BTreeSet<String>,
    dropped: u64,
    marked: u64,
    condemned_in_a_row: u64,
    retuned: u64,
}

impl Case {
    fn run(self, met: &mut Met) {
        let _told = Told(self);
        let mut draws = Stream::named(self.number, self.entry.page.stem);
        let (site, limit) = place(&mut draws);
        let (given, law) = self.law(&mut draws, &site);
        let operations = self.operations(&mut draws, &site);
        let calls = Arc::default();
        let watched = Watched { law, calls: Arc::clone(&calls) };
        let disc = Fifo::new(watched, limit, site, Stream::named(self.number, "disc")).given(&given);
        let period = disc.next_update().map(|due| due.since(Time::ZERO));

        let begin = later(Time::ZERO, LONG_IDLE, period);
        let begun = |disc, now| Play {
            disc,
            limit,
            calls: Arc::clone(&calls),
            now,
            number: 0,
            delivered: 0,
            condemned_in_a_row: 0,
            retuned: 0,
            log: Vec::new(),
        };
        let plain: Vec<_> = operations.iter().filter(|operation| !operation.is_retune()).cloned().collect();
        let (mut left, mut told) = (begun(disc.clone(), begin), begun(disc.clone(), begin));
        left.all(&plain);
        told.all_while_told(&plain, &given, site.rate);
        assert!(left.log == told.log, "it is not the same law under its own parameters");
        assert_eq!(left.disc.next_update(), told.disc.next_update());

        let mut first = begun(disc.clone(), begin);
        let (head, tail) = operations.split_at(operations.len() / 2);
        first.all(head);
        let mut twin = first.clone();
        first.all(tail);
        twin.all(tail);
        assert!(first.log == twin.log, "a clone has another future");

        let shift = Span::from_seconds(draws.uniform() * 1e6);
        let mut shifted = begun(disc, later(begin, shift, period));
        shifted.all(&operations);
        assert!(first.log == shifted.log, "verdicts change when all times are shifted");

        met.keys.extend(given.into_iter().map(|(key, _)| key));
        met.dropped += first.disc.counts().dropped_by_law;
        met.marked += first.disc.counts().marked;
        met.condemned_in_a_row = met.condemned_in_a_row.max(first.condemned_in_a_row);
        met.retuned += first.retuned;
    }

    /// Operations, with other parameters of the law now and then.
    fn operations(self, draws: &mut Stream, site: &Site) -> Vec<Operation> {
        let mut operations = operations(draws, site);
        for _ in 0..RETUNES_A_CASE {
            let (given, _) = self.law(draws, site);
            let place = (draws.uniform() * operations.len() as f64) as usize;
            operations.insert(place, Operation::Retune(given));
        }
        operations
    }

    /// The law under parameters drawn from what its page says; those that it refuses are left out.
    fn law(self, draws: &mut Stream, site: &Site) -> (Vec<(String, Value)>, Box<dyn Law>) {
        let fields = (self.entry.page.fields)();
        loop {
            let drawn = fields.iter().filter(|_| draws.uniform() < 0.5).collect::<Vec<_>>();
            let mut given: Vec<(String, Value)> =
                drawn.into_iter().map(|field| (field.key.to_string(), value(field, draws))).collect();
            loop {
                let fault = match (self.entry.build)(&given, site) {
                    Ok(law) => return (given, law),
                    Err(fault) => fault,
                };
                let line = fault.to_string();
                assert!(
                    !line.contains('\n') && (line.contains("legal: ") || line.contains("give ")),
                    "{line}"
                );
                let Some(place) = given.iter().position(|(key, _)| *key == fault.key) else { break };
                given.remove(place);
            }
        }
    }
}

impl Met {
    fn check(&self, entry: &Entry, operations: u64) {
        if operations < 50_000 {
            return;
        }
        let stem = entry.page.stem;
        for field in (entry.page.fields)() {
            assert!(self.keys.contains(field.key), "{stem}: {} was never legal", field.key);
        }
        if !NEVER_DROP.contains(&stem) {
            let marks = SELDOM_MARK.iter().find(|(law, _)| *law == stem).map_or(100, |(_, marks)| *marks);
            assert!(self.dropped > 100 && self.marked >= marks, "{stem}: {} {}", self.dropped, self.marked);
        }
        assert!(self.retuned > 100, "{stem}: took other parameters {} times", self.retuned);
        if stem == "codel" {
            assert!(self.condemned_in_a_row > 2, "{stem}: {}", self.condemned_in_a_row);
        }
    }
}

/// Names the case where a test fails inside it.
struct Told(Case);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Case { entry, number } = self.0;
            eprintln!("ordeal of {}, case {number}: repeat with ORDEAL_FIRST={number}", entry.page.stem);
        }
    }
}

// ---- What is asked --------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Operation {
    Enqueue { len: u32, ecn: Ecn, flow: u32 },
    Dequeue,
    Wait(Span),
    Rate(Rate),
    Retune(Vec<(String, Value)>),
}

impl Operation {
    fn is_retune(&self) -> bool {
        matches!(self, Operation::Retune(_))
    }
}

/// A disc at work, and the log of what came of every packet.
#[derive(Clone)]
struct Play {
    disc: Fifo<Parcel, Watched>,
    limit: Limit,
    /// How often the law was asked.
    calls: Arc<AtomicU64>,
    now: Time,
    number: u64,
    delivered: u64,
    condemned_in_a_row: u64,
    retuned: u64,
    log: Vec<(u64, char)>,
}

impl Play {
    /// The same as [`Play::all`], but the law is told its own parameters again and again while its place is its
    /// own, and refuses others.
    fn all_while_told(&mut self, operations: &[Operation], given: &Given, own: Rate) {
        let mut rate = own;
        for (place, operation) in operations.iter().enumerate() {
            if place.is_multiple_of(10) && rate == own {
                self.disc.retune(self.now, given).expect("its own parameters");
            }
            if place.is_multiple_of(50) {
                let unknown = [("no such key".into(), Value::Flag(true))];
                self.disc.retune(self.now, &unknown).expect_err("parameters of no law");
            }
            self.all(std::slice::from_ref(operation));
            if let Operation::Rate(new) = operation
                && *new > Rate::ZERO
            {
                rate = *new;
            }
        }
    }

    fn all(&mut self, operations: &[Operation]) {
        for operation in operations {
            self.update();
            let asked = self.calls.load(Ordering::Relaxed);
            let (held, logged) = (u64::from(self.disc.backlog().packets), self.log.len());
            self.one(operation);
            let asked = self.calls.load(Ordering::Relaxed) - asked;
            let logged = (self.log.len() - logged) as u64;
            assert!(
                asked <= held + 2 && logged <= held + 1,
                "{operation:?}: {asked} calls for {held} packets"
            );
            self.look();
        }
    }

    fn one(&mut self, operation: &Operation) {
        let mut fate = Fate::default();
        match operation {
            Operation::Wait(span) => self.now += *span,
            Operation::Rate(rate) => self.disc.link_changed(self.now, *rate),
            Operation::Retune(given) => {
                // Some do not go with those that it has.
                self.retuned += u64::from(self.disc.retune(self.now, given).is_ok());
                assert!(self.disc.next_update().is_none_or(|next| next >= self.now), "an update in the past");
            }
            Operation::Enqueue { len, ecn, flow } => {
                let (len, ecn, flow) = (*len, *ecn, *flow);
                self.number += 1;
                self.disc.enqueue(self.now, Parcel { number: self.number, len, ecn, flow }, &mut fate);
                self.log.append(&mut fate.log);
            }
            Operation::Dequeue => {
                let taken = self.disc.dequeue(self.now, &mut fate);
                let condemned = fate.log.iter().filter(|(_, what)| *what == 'd').count() as u64;
                self.condemned_in_a_row = self.condemned_in_a_row.max(condemned);
                self.log.append(&mut fate.log);
                if let Some((parcel, _)) = taken {
                    assert!(parcel.number > self.delivered, "first in, first out");
                    self.delivered = parcel.number;
                    self.log.push((parcel.number, '>'));
                }
            }
        }
    }

    /// Updates that are due come before the next packet; after a stall there is one.
    fn update(&mut self) {
        if let Some(due) = self.disc.next_update().filter(|due| *due <= self.now) {
            self.disc.on_update(due, self.now);
            assert!(self.disc.next_update().is_none_or(|next| next > self.now), "one update for a stall");
        }
    }

    fn look(&self) {
        let (counts, held) = (self.disc.counts(), self.disc.backlog());
        assert!(counts.conserve(held.packets), "{counts:?}, {held:?}");
        match self.limit {
            Limit::Packets(most) => assert!(held.packets <= most),
            Limit::Bytes(most) => assert!(held.bytes <= most),
            Limit::Unlimited => assert_eq!(counts.overflowed, 0),
        }
        assert!(self.disc.target_packets().is_none_or(|target| target.is_finite() && target >= 0.0));
        self.disc.gauges(&mut Sound);
    }
}

/// Gauges are finite, and a probability is one.
struct Sound;

impl Gauges for Sound {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        assert!(value.is_finite(), "{name} is {value}");
        assert!(name != "p" || (0.0..=1.0).contains(&value), "{name} is {value}");
    }
}

/// A law whose calls are counted, and which never marks what cannot be marked.
#[derive(Clone)]
struct Watched {
    law: Box<dyn Law>,
    calls: Arc<AtomicU64>,
}

impl Watched {
    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Law for Watched {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.count();
        let verdict = self.law.on_arrival(arrival);
        assert!(verdict != Verdict::Mark || arrival.ecn.is_capable(), "marks what is not ECN-capable");
        verdict
    }
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        self.count();
        let verdict = self.law.on_departure(departure);
        assert!(verdict != Verdict::Mark || departure.ecn.is_capable(), "marks what is not ECN-capable");
        verdict
    }
    fn on_idle(&mut self, now: Time) {
        self.count();
        self.law.on_idle(now);
    }
    fn on_overflow(&mut self, now: Time) {
        self.count();
        self.law.on_overflow(now);
    }
    fn on_link_change(&mut self, now: Time, rate: Rate) {
        self.count();
        self.law.on_link_change(now, rate);
    }
    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        self.law.retune(now, given, site)
    }
    fn overflow(&self) -> Overflow {
        self.law.overflow()
    }
    fn wants_victim(&self) -> bool {
        self.law.wants_victim()
    }
    fn next_update(&self) -> Option<Time> {
        self.law.next_update()
    }
    fn on_update(&mut self, due: Time, seen: &Observation) {
        self.law.on_update(due, seen);
    }
    fn target_packets(&self) -> Option<f64> {
        self.law.target_packets()
    }
    fn gauges(&self, out: &mut dyn Gauges) {
        self.law.gauges(out);
    }
}

#[derive(Default)]
struct Fate {
    log: Vec<(u64, char)>,
}

impl Sink<Parcel> for Fate {
    fn dropped(&mut self, _now: Time, packet: Parcel, cause: Cause) {
        self.log.push((packet.number, if cause == Cause::Law { 'd' } else { 'o' }));
    }
    fn marked(&mut self, _now: Time, packet: &Parcel) {
        self.log.push((packet.number, 'm'));
    }
}

// ---- What is drawn --------------------------------------------------------------------------------------

fn place(draws: &mut Stream) -> (Site, Limit) {
    let packet = between(draws, 64.0, 1500.0).round();
    let limit = match draws.uniform() {
        ..0.2 => Limit::Unlimited,
        ..0.8 => Limit::Packets(between(draws, 1.0, 500.0) as u32),
        _ => Limit::Bytes(between(draws, 1500.0, 5e5) as u64),
    };
    let known = |draws: &mut Stream| draws.uniform() < 0.7;
    let site = Site {
        rate: Rate::from_bits_per_second(between(draws, 1e5, 1e9)),
        packet,
        limit: limit.packets(packet),
        flows: known(draws).then(|| between(draws, 1.0, 1e4).round()),
        base_rtt: known(draws).then(|| Span::from_seconds(between(draws, 1e-3, 1.0))),
    };
    (site, limit)
}

/// A value that looks like one of this parameter; whether it is legal is the law's to say.
fn value(field: &Field, draws: &mut Stream) -> Value {
    let text = |number: f64, unit: &str| Value::Text(format!("{number} {unit}"));
    match &field.kind {
        Kind::Queue => text(between(draws, 0.1, 300.0), "packets"),
        Kind::Time => text(between(draws, 1e-4, 1.0), "s"),
        Kind::Rate => text(between(draws, 1e5, 1e9), "bit/s"),
        Kind::Frequency => text(between(draws, 0.1, 1e4), "Hz"),
        Kind::Size => text(between(draws, 1.0, 1e5).round(), "B"),
        Kind::Number => Value::Number(between(draws, 1e-6, 2.0)),
        Kind::Whole => Value::Whole(between(draws, 1.0, 30.0) as i64),
        Kind::Wholes => {
            let near = between(draws, 2.0, 30.0) as i64;
            let far = near + between(draws, 1.0, 10.0) as i64;
            Value::List(
                [near, far][..if draws.uniform() < 0.5 { 1 } else { 2 }]
                    .iter()
                    .map(|h| Value::Whole(*h))
                    .collect(),
            )
        }
        Kind::Flag => Value::Flag(draws.uniform() < 0.5),
        Kind::Word(words) => Value::Text(words[(draws.uniform() * words.len() as f64) as usize].into()),
        other => panic!("{}: a {other} cannot be drawn yet", field.key),
    }
}

/// Calm and excess in turn, at the pace of the link; now and then a stall or a new rate.
fn operations(draws: &mut Stream, site: &Site) -> Vec<Operation> {
    let service = 1.0 / site.capacity();
    let mut load = 0.5;
    let draw = |place: u64| {
        if place.is_multiple_of(50) {
            load = draws.uniform();
        }
        match draws.uniform() {
            ..0.3 => Operation::Wait(Span::from_seconds(service * between(draws, 0.1, 10.0))),
            ..0.305 => Operation::Wait(Span::from_seconds(between(draws, 1e-9, 100.0))),
            ..0.31 => Operation::Rate(Rate::from_bits_per_second(match draws.uniform() {
                ..0.1 => 0.0,
                ..0.5 => site.rate.bits_per_second(),
                _ => between(draws, 1e4, 1e10),
            })),
            _ if draws.uniform() > load => Operation::Dequeue,
            _ => Operation::Enqueue {
                len: between(draws, 40.0, 1500.0) as u32,
                ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][(draws.uniform() * 4.0) as usize],
                flow: (draws.uniform() * 8.0) as u32,
            },
        }
    };
    (0..OPERATIONS_A_CASE).map(draw).collect()
}

/// A draw whose logarithm is uniform.
fn between(draws: &mut Stream, low: f64, high: f64) -> f64 {
    low * sojourn_units::math::pow(high / low, draws.uniform())
}

/// `span` or more after `time`; where the law has a period, a whole number of them, so that it meets the
/// same instants.
fn later(time: Time, span: Span, period: Option<Span>) -> Time {
    match period {
        Some(period) => time + period.saturating_mul(span.nanos().div_ceil(period.nanos())),
        None => time + span,
    }
}

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}: \"{text}\" is not a whole number")),
        Err(_) => default,
    }
}

const OPERATIONS_A_CASE: u64 = 500;
/// How often a case has other parameters besides.
const RETUNES_A_CASE: u64 = 5;

/// Laws that leave all dropping to a full buffer.
const NEVER_DROP: [&str; 2] = ["tail_drop", "head_drop"];

/// Laws that mark in calm times only, or never, and how many marks they are to be met with.
const SELDOM_MARK: [(&str, u64); 2] = [("pie", 20), ("docsis_pie", 0)];

/// Long enough for every law to forget that it was just made.
const LONG_IDLE: Span = Span::from_secs(50_000);
