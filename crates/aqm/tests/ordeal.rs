//! The ordeal: random tests of every law of the catalogue.
//!
//! For any valid parameters, on any link, under any sequence of operations: no
//! panic, no packet lost or created, marks only on ECN-capable packets, work
//! bounded by the backlog, equal output of a clone, verdicts that are invariant
//! under a shift of all times and under `set_params` with the law's own parameters
//! or with refused ones. A new law needs no line here; `Met::check` has the events
//! that the cases of certain laws must include.
//!
//! `ORDEAL_OPERATIONS` sets the number of operations per law; a failure names the
//! number of its case, and `ORDEAL_FIRST` starts with that one.

mod common;

use common::Parcel;
use common::drawn::{between, place, setting, value};
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{
    Arrival, Cause, Departure, Gauges, Law, Limit, LinkContext, Qdisc, Sink, Verdict, forward_law,
};
use sojourn_aqm::{Entry, catalogue};
use sojourn_params::{Expected, Given, InputError, Value};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn every_law_passes_the_ordeal() {
    let (first, operations) = (setting("ORDEAL_FIRST", 0), setting("ORDEAL_OPERATIONS", 300_000));
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

/// One law on one link under one sequence of operations.
#[derive(Clone, Copy)]
struct Case {
    entry: &'static Entry,
    number: u64,
}

/// Events in the cases of a law, to detect an ordeal that tests nothing.
#[derive(Default)]
struct Met {
    keys: BTreeSet<&'static str>,
    dropped: u64,
    marked: u64,
    condemned_in_a_row: u64,
    set_params: u64,
}

impl Case {
    fn run(self, met: &mut Met) {
        let _reporter = Reporter(self);
        let mut draws = Stream::named(self.number, self.entry.page.stem);
        let (context, limit) = place(&mut draws);
        let (given, law) = self.law(&mut draws, &context);
        let operations = self.operations(&mut draws, &context);
        let calls = Arc::default();
        let watched = Watched { law, calls: Arc::clone(&calls) };
        let qdisc =
            Fifo::new(watched, limit, context, Stream::named(self.number, "disc")).given(given.clone());
        let period = qdisc.next_update().map(|due| due.since(Time::ZERO));

        let begin = later(Time::ZERO, LONG_IDLE, period);
        let begun = |qdisc, now| Play {
            qdisc,
            limit,
            calls: Arc::clone(&calls),
            now,
            number: 0,
            delivered: 0,
            condemned_in_a_row: 0,
            set_params: 0,
            log: Vec::new(),
        };
        let plain: Vec<_> =
            operations.iter().filter(|operation| operation.change().is_none()).cloned().collect();
        let (mut left, mut set) = (begun(qdisc.clone(), begin), begun(qdisc.clone(), begin));
        left.all(&plain);
        let changes: Vec<&Given> = operations.iter().filter_map(Operation::change).collect();
        set.all_with_set_params(&plain, (&given, &changes), context.rate);
        assert!(left.log == set.log, "set_params of its own parameters changes the law");
        assert_eq!(left.qdisc.next_update(), set.qdisc.next_update());

        let mut first = begun(qdisc.clone(), begin);
        let (head, tail) = operations.split_at(operations.len() / 2);
        first.all(head);
        let mut clone = first.clone();
        first.all(tail);
        clone.all(tail);
        assert!(first.log == clone.log, "a clone behaves differently");

        let shift = Span::from_seconds(draws.uniform() * 1e6);
        let mut shifted = begun(qdisc, later(begin, shift, period));
        shifted.all(&operations);
        assert!(first.log == shifted.log, "verdicts change when all times are shifted");

        met.keys.extend(given.keys);
        met.dropped += first.qdisc.counts().dropped_by_law;
        met.marked += first.qdisc.counts().marked;
        met.condemned_in_a_row = met.condemned_in_a_row.max(first.condemned_in_a_row);
        met.set_params += first.set_params;
    }

    /// Operations, with occasional changes of parameters.
    fn operations(self, draws: &mut Stream, context: &LinkContext) -> Vec<Operation> {
        let mut operations = operations(draws, context);
        for _ in 0..CHANGES_A_CASE {
            let (given, _) = self.law(draws, context);
            let place = (draws.uniform() * operations.len() as f64) as usize;
            operations.insert(place, Operation::SetParams(given));
        }
        operations
    }

    /// The law with random parameters by its catalogue entry; rejected ones are left out.
    fn law(self, draws: &mut Stream, context: &LinkContext) -> (Given, Box<dyn Law>) {
        let fields = (self.entry.page.fields)();
        loop {
            let drawn = fields.iter().filter(|_| draws.uniform() < 0.5).collect::<Vec<_>>();
            let mut values: Vec<(String, Value)> =
                drawn.into_iter().map(|field| (field.key.to_string(), value(field, draws))).collect();
            loop {
                let error = match self.built(&values, context) {
                    Ok(built) => return built,
                    Err(error) => error,
                };
                assert!(!error.to_string().contains('\n') && error.expected != Expected::Unstated, "{error}");
                let Some(place) = values.iter().position(|(key, _)| key.as_str() == error.key) else { break };
                values.remove(place);
            }
        }
    }

    /// The law with these parameters, or the first error of them.
    fn built(
        self,
        values: &[(String, Value)],
        context: &LinkContext,
    ) -> Result<(Given, Box<dyn Law>), InputError> {
        let given = (self.entry.read)(values).map_err(|errors| errors.first().clone())?;
        let design = (self.entry.design)(given.params.as_ref(), context)?;
        Ok((given, design.law()))
    }
}

impl Met {
    fn check(&self, entry: &Entry, operations: u64) {
        // With fewer operations some laws drop too seldom for these limits.
        if operations < 500_000 {
            return;
        }
        let stem = entry.page.stem;
        for field in (entry.page.fields)() {
            assert!(self.keys.contains(field.key), "{stem}: {} was never valid", field.key);
        }
        if !NEVER_DROP.contains(&stem) {
            let marks = SELDOM_MARK.iter().find(|(law, _)| *law == stem).map_or(100, |(_, marks)| *marks);
            assert!(self.dropped > 100 && self.marked >= marks, "{stem}: {} {}", self.dropped, self.marked);
        }
        assert!(self.set_params > 100, "{stem}: {} changes of parameters", self.set_params);
        if stem == "codel" {
            assert!(self.condemned_in_a_row > 2, "{stem}: {}", self.condemned_in_a_row);
        }
    }
}

/// Prints the case when a test fails within it.
struct Reporter(Case);

impl Drop for Reporter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Case { entry, number } = self.0;
            eprintln!("ordeal of {}, case {number}: repeat with ORDEAL_FIRST={number}", entry.page.stem);
        }
    }
}

// ---- Checks ----------------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Operation {
    Enqueue { len: u32, ecn: Ecn, flow: u32 },
    Dequeue,
    Wait(Span),
    Rate(Rate),
    SetParams(Given),
}

impl Operation {
    /// New parameters.
    fn change(&self) -> Option<&Given> {
        if let Operation::SetParams(change) = self { Some(change) } else { None }
    }
}

/// A qdisc in operation, and the log of the fate of every packet.
#[derive(Clone)]
struct Play {
    qdisc: Fifo<Parcel, Watched>,
    limit: Limit,
    /// Number of calls of the law.
    calls: Arc<AtomicU64>,
    now: Time,
    number: u64,
    delivered: u64,
    condemned_in_a_row: u64,
    set_params: u64,
    log: Vec<(u64, char)>,
}

impl Play {
    /// As [`Play::all`], with repeated `set_params` of the law's own parameters while its context is unchanged, and of
    /// those `changes` that it refuses.
    fn all_with_set_params(
        &mut self,
        operations: &[Operation],
        (own, changes): (&Given, &[&Given]),
        at: Rate,
    ) {
        let mut rate = at;
        for (place, operation) in operations.iter().enumerate() {
            if place.is_multiple_of(10) && rate == at {
                self.qdisc.set_params(self.now, own).expect("its own parameters");
            }
            if place.is_multiple_of(50) {
                let refuses = |change: &&&Given| self.qdisc.clone().set_params(self.now, change).is_err();
                let refused: Vec<_> = changes.iter().filter(refuses).collect();
                for change in refused {
                    self.qdisc.set_params(self.now, change).expect_err("refused by its copy");
                }
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
            let before = self.calls.load(Ordering::Relaxed);
            let (held, logged) = (u64::from(self.qdisc.backlog().packets), self.log.len());
            self.one(operation);
            let calls = self.calls.load(Ordering::Relaxed) - before;
            let logged = (self.log.len() - logged) as u64;
            assert!(
                calls <= held + 2 && logged <= held + 1,
                "{operation:?}: {calls} calls for {held} packets"
            );
            self.check();
        }
    }

    fn one(&mut self, operation: &Operation) {
        let mut fate = Fate::default();
        match operation {
            Operation::Wait(span) => self.now += *span,
            Operation::Rate(rate) => self.qdisc.link_changed(self.now, *rate),
            Operation::SetParams(change) => {
                // Some are inconsistent with the present ones.
                self.set_params += u64::from(self.qdisc.set_params(self.now, change).is_ok());
                assert!(
                    self.qdisc.next_update().is_none_or(|next| next >= self.now),
                    "an update in the past"
                );
            }
            Operation::Enqueue { len, ecn, flow } => {
                let (len, ecn, flow) = (*len, *ecn, *flow);
                self.number += 1;
                self.qdisc.enqueue(self.now, Parcel { number: self.number, len, ecn, flow }, &mut fate);
                self.log.append(&mut fate.log);
            }
            Operation::Dequeue => {
                let taken = self.qdisc.dequeue(self.now, &mut fate);
                let condemned = fate.log.iter().filter(|(_, event)| *event == 'd').count() as u64;
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

    /// Due updates precede the next packet; after a stall there is one.
    fn update(&mut self) {
        if let Some(due) = self.qdisc.next_update().filter(|due| *due <= self.now) {
            self.qdisc.on_update(due, self.now);
            assert!(self.qdisc.next_update().is_none_or(|next| next > self.now), "one update for a stall");
        }
    }

    fn check(&self) {
        let (counts, held) = (self.qdisc.counts(), self.qdisc.backlog());
        assert!(counts.conserve(held.packets), "{counts:?}, {held:?}");
        match self.limit {
            Limit::Packets(most) => assert!(held.packets <= most),
            Limit::Bytes(most) => assert!(held.bytes <= most),
            Limit::Unlimited => assert_eq!(counts.overflowed, 0),
        }
        assert!(self.qdisc.target_packets().is_none_or(|target| target.is_finite() && target >= 0.0));
        self.qdisc.gauges(&mut Sound);
    }
}

/// Checks that gauges are finite and p is a probability.
struct Sound;

impl Gauges for Sound {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        assert!(value.is_finite(), "{name} is {value}");
        assert!(name != "p" || (0.0..=1.0).contains(&value), "{name} is {value}");
    }
}

/// Counts the calls of a law, and checks that it marks ECN-capable packets only.
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
        assert!(
            verdict != Verdict::Mark || arrival.ecn.is_capable(),
            "marks a packet that is not ECN-capable"
        );
        verdict
    }
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        self.count();
        let verdict = self.law.on_departure(departure);
        assert!(
            verdict != Verdict::Mark || departure.ecn.is_capable(),
            "marks a packet that is not ECN-capable"
        );
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
    forward_law!(self => self.law; set_params, next_update, on_update, properties, analysis, gauges);
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

// ---- Random input ----------------------------------------------------------------------------------------

/// Light and heavy load in turn, relative to the link rate, with occasional stalls and new rates.
fn operations(draws: &mut Stream, context: &LinkContext) -> Vec<Operation> {
    let service = 1.0 / context.capacity();
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
                ..0.5 => context.rate.bits_per_second(),
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

/// `span` or more after `time`; for a law with a period a multiple of it, so that updates keep their phase.
fn later(time: Time, span: Span, period: Option<Span>) -> Time {
    match period {
        Some(period) => time + period.saturating_mul(span.nanos().div_ceil(period.nanos())),
        None => time + span,
    }
}

const OPERATIONS_A_CASE: u64 = 500;
/// Changes of parameters per case.
const CHANGES_A_CASE: u64 = 5;

/// Laws that drop at a full buffer only.
const NEVER_DROP: [&str; 2] = ["tail_drop", "head_drop"];

/// Laws that mark at a small p only, or never, and their least number of marks.
const SELDOM_MARK: [(&str, u64); 2] = [("pie", 20), ("docsis_pie", 0)];

/// Longer than the start-up of every law.
const LONG_IDLE: Span = Span::from_secs(50_000);
