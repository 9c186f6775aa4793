//! The ordeal of the qdiscs of several queues: random tests of each of the catalogue.
//!
//! For any valid parameters, on any link, under any sequence of operations, flows chosen to meet in a queue among them: no panic, no packet lost or
//! created, marks only on ECN-capable packets, first in, first out within each flow where no queue is shared by what a packet
//! carries, limits kept after every operation, in each named queue, too, work that ends, the same outcome of the same seed and after a shift of all times.
//!
//! `ORDEAL_OPERATIONS` sets the number of operations per qdisc; a failure names the number of its case, and `ORDEAL_FIRST`
//! starts with that one. `ORDEAL_OF` names one qdisc alone.

mod common;

use common::drawn::{between, place, setting, value};
use common::{Parcel, meeting};
use sojourn_aqm::catalogue::QDISCS;
use sojourn_aqm::{
    Ack, Cause, DesignedQdisc, FlowClass, FlowId, FlowTag, Gauges, Limit, LinkContext, Place, Qdisc,
    QdiscEntry, QdiscSpec, Sink,
};
use sojourn_params::{Expected, Given, Quantity, Value};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn every_qdisc_passes_the_ordeal() {
    let (first, operations) = (setting("ORDEAL_FIRST", 0), setting("ORDEAL_OPERATIONS", 300_000));
    let alone = std::env::var("ORDEAL_OF").ok();
    let is_meant = |entry: &&QdiscEntry| alone.as_ref().is_none_or(|stem| stem == entry.page.stem);
    std::thread::scope(|scope| {
        for entry in QDISCS.iter().filter(is_meant) {
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

/// One qdisc on one link under one sequence of operations.
#[derive(Clone, Copy)]
struct Case {
    entry: &'static QdiscEntry,
    number: u64,
}

/// What happened in the cases of a qdisc, to detect an ordeal that tests nothing.
#[derive(Default)]
struct Met {
    keys: BTreeSet<&'static str>,
    dropped: u64,
    marked: u64,
    overflowed: u64,
    filtered: u64,
    set_params: u64,
}

#[derive(Clone, Debug)]
enum Operation {
    Enqueue { len: u32, ecn: Ecn, flow: u32 },
    Dequeue,
    Wait(Span),
    Rate(Rate),
    SetParams(Given),
}

impl Case {
    fn run(self, met: &mut Met) {
        let _reporter = Reporter(self);
        let mut draws = Stream::named(self.number, self.entry.page.stem);
        let (context, limit) = place(&mut draws);
        let designed = self.designed(&mut draws, &context);
        let operations = self.operations(&mut draws, &context);
        let play = |begin: Time| {
            let mut play = Play {
                qdisc: designed.build(limit, Stream::named(self.number, "disc")),
                limit,
                now: begin,
                number: 0,
                queues: Vec::new(),
                held: BTreeMap::new(),
                is_in_order: ORDERED.contains(&self.entry.page.stem),
                has_queues_by_name: NAMED.contains(&self.entry.page.stem),
                set_params: 0,
                log: Vec::new(),
            };
            play.queues = play.qdisc.queue_names().iter().map(|_| Queue::default()).collect();
            for flow in 0..FLOWS / 2 {
                let (class, dscp) = (flow % 3, [0, 8, 46, 34, 1][flow as usize % 5]);
                let tag = FlowTag { class, from_host: flow % 7, to_host: flow % 2, dscp, base_rtt: None };
                play.qdisc.flow_joined(FlowId(flow), tag);
            }
            play.all(&operations);
            play
        };
        // Updates have passed before the first packet, in both.
        let (first, again) = (play(Time::ZERO), play(Time::ZERO));
        assert!(first.log == again.log, "two runs differ");
        met.keys.extend(designed.values().map(|(key, _)| key));
        met.dropped += first.qdisc.counts().dropped_by_law;
        met.overflowed += first.qdisc.counts().overflowed;
        met.filtered += first.qdisc.counts().filtered;
        met.marked += first.qdisc.counts().marked;
        met.set_params += first.set_params;
    }

    /// The qdisc with random parameters by its catalogue entry; rejected ones are left out.
    fn designed(self, draws: &mut Stream, context: &LinkContext) -> DesignedQdisc {
        let fields = (self.entry.page.fields)();
        let place =
            Place { context: *context, classes: &["class0", "class1", "class2"].map(FlowClass::of_one_flow) };
        loop {
            let mut drawn = fields.clone();
            drawn.retain(|field| field.is_required || draws.uniform() < 0.3);
            let mut values: Vec<(String, Value)> =
                drawn.iter().map(|field| (field.key.to_string(), value(field, draws))).collect();
            loop {
                let table = Value::Table(vec![(self.entry.page.stem.into(), Value::Table(values.clone()))]);
                let read = QdiscSpec::read(&table).map_err(|errors| errors.first().clone());
                let error = match read.and_then(|qdisc| qdisc.at(&place)) {
                    Ok(designed) => return designed,
                    Err(error) => error,
                };
                assert!(!error.to_string().contains('\n') && error.expected != Expected::Unstated, "{error}");
                let path = error.key.to_string();
                let names = |key: &str| path.split('.').any(|step| step == key);
                let Some(place) = values.iter().position(|(key, _)| names(key)) else { break };
                values.remove(place);
            }
        }
    }

    /// Light and heavy load in turn; a few flows or chosen ones, occasional stalls, new rates and parameters.
    fn operations(self, draws: &mut Stream, context: &LinkContext) -> Vec<Operation> {
        let service = 1.0 / context.capacity();
        let (mut load, mut hostile, chosen) = (0.5, 0, meeting());
        let mut operations: Vec<Operation> = (0..OPERATIONS_A_CASE)
            .map(|place| {
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
                    _ => {
                        hostile += 1;
                        let flow = match draws.uniform() {
                            ..0.6 => (draws.uniform() * f64::from(FLOWS)) as u32,
                            ..0.8 => hostile,
                            ..0.85 => hostile * 1024,
                            ..0.9 => chosen[hostile as usize % chosen.len()],
                            _ => draws.bits() as u32,
                        };
                        let ecn =
                            [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][(draws.uniform() * 4.0) as usize];
                        Operation::Enqueue { len: between(draws, 40.0, 1500.0) as u32, ecn, flow }
                    }
                }
            })
            .collect();
        for _ in 0..CHANGES_A_CASE {
            let given = self.designed(draws, context).given().clone();
            let place = (draws.uniform() * operations.len() as f64) as usize;
            operations.insert(place, Operation::SetParams(given));
        }
        operations
    }
}

impl Met {
    fn check(&self, entry: &QdiscEntry, operations: u64) {
        if operations < 500_000 {
            return;
        }
        let stem = entry.page.stem;
        for field in (entry.page.fields)() {
            assert!(self.keys.contains(field.key), "{stem}: {} was never valid", field.key);
        }
        let Met { dropped, marked, overflowed, filtered, set_params, .. } = self;
        assert!(
            *dropped > 100 && *marked > 100 && *overflowed > 100,
            "{stem}: {dropped} {marked} {overflowed}"
        );
        assert!((*filtered > 100) == (stem == "cake"), "{stem}: {filtered} ACKs removed");
        assert!(*set_params > 20, "{stem}: {set_params} changes of parameters");
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

/// A qdisc in operation, the packets that it holds, and the log of the fate of every packet.
struct Play {
    qdisc: Box<dyn Qdisc<Parcel>>,
    limit: Limit,
    now: Time,
    number: u64,
    /// Counts of each named queue.
    queues: Vec<Queue>,
    /// By number, with the number of the queue.
    held: BTreeMap<u64, (Parcel, usize)>,
    /// No packet of a flow overtakes another.
    is_in_order: bool,
    /// Each name is that of one queue, in which no packet overtakes another.
    has_queues_by_name: bool,
    set_params: u64,
    log: Vec<(u64, char)>,
}

/// Packets of a named queue.
#[derive(Clone, Copy, Default)]
struct Queue {
    offered: u64,
    gone: u64,
}

impl Play {
    fn all(&mut self, operations: &[Operation]) {
        for operation in operations {
            if let Some(due) = self.qdisc.next_update().filter(|due| *due <= self.now) {
                self.qdisc.on_update(due, self.now);
                assert!(
                    self.qdisc.next_update().is_none_or(|next| next > self.now),
                    "one update for a stall"
                );
            }
            let (held, logged) = (self.held.len(), self.log.len());
            self.one(operation);
            assert!(
                self.log.len() - logged <= 2 * held + 2,
                "{operation:?}: too much work for {held} packets"
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
                self.set_params += u64::from(self.qdisc.set_params(self.now, change).is_ok());
                assert!(
                    self.qdisc.next_update().is_none_or(|next| next >= self.now),
                    "an update in the past"
                );
            }
            Operation::Enqueue { len, ecn, flow } => {
                self.number += 1;
                let parcel = Parcel { number: self.number, len: *len, ecn: *ecn, flow: *flow };
                let queue = usize::from(self.qdisc.queue_of(&parcel));
                assert!(queue < self.queues.len().max(1), "queue {queue} of {}", self.queues.len());
                self.held.insert(self.number, (parcel, queue));
                self.queues.get_mut(queue).into_iter().for_each(|queue| queue.offered += 1);
                self.qdisc.enqueue(self.now, parcel, &mut fate);
            }
            Operation::Dequeue => {
                let held = self.qdisc.backlog().packets;
                let taken = self.qdisc.dequeue(self.now, &mut fate);
                let waits = self.qdisc.not_before() > self.now;
                let none_left = self.qdisc.backlog().packets == 0;
                assert!(taken.is_some() || none_left || waits, "{held} packets and none is sent");
                if let Some((parcel, sojourn)) = taken {
                    assert!(Time::ZERO + sojourn <= self.now, "longer than the run");
                    fate.log.push((parcel, '>'));
                }
            }
        }
        for (parcel, event) in fate.log {
            let (known, queue) = self.held.get(&parcel.number).copied().expect("a packet that is held");
            assert_eq!((known.len, known.flow), (parcel.len, parcel.flow));
            if event == 'm' {
                assert!(known.ecn.is_capable(), "marks a packet that is not ECN-capable");
            } else {
                self.held.remove(&parcel.number);
                self.queues.get_mut(queue).into_iter().for_each(|queue| queue.gone += 1);
            }
            if event == '>' {
                let mut before = self.held.range(..parcel.number).map(|(_, held)| held);
                let flow = |(held, _): &(Parcel, usize)| held.flow == parcel.flow;
                let queue = |(_, other): &(Parcel, usize)| *other == queue;
                let is_overtaken = self.is_in_order && before.clone().any(flow);
                assert!(!is_overtaken, "a packet overtakes one of its flow");
                let is_overtaken = self.has_queues_by_name && before.any(queue);
                assert!(!is_overtaken, "a packet overtakes one of its queue");
            }
            self.log.push((parcel.number, event));
        }
    }

    fn check(&self) {
        let (counts, held) = (self.qdisc.counts(), self.qdisc.backlog());
        assert!(counts.conserve(held.packets), "{counts:?}, {held:?}");
        let bytes: u64 = self.held.values().map(|(parcel, _)| u64::from(parcel.len)).sum();
        assert_eq!((held.packets as usize, held.bytes), (self.held.len(), bytes));
        let mut waiting = vec![0; self.queues.len()];
        for (_, queue) in self.held.values() {
            waiting.get_mut(*queue).into_iter().for_each(|held| *held += 1);
        }
        for (Queue { offered, gone }, held) in self.queues.iter().zip(&waiting) {
            assert_eq!(*offered, gone + held, "packets of a queue");
        }
        match self.limit {
            Limit::Packets(most) => assert!(held.packets <= most),
            Limit::Bytes(most) => assert!(held.bytes <= most),
            Limit::Unlimited => {}
        }
        self.qdisc.gauges(&mut Sound { waiting });
    }
}

/// Checks that gauges are finite, p is a probability, and the dual queue counts the packets of L and C as named.
struct Sound {
    /// Packets in each named queue.
    waiting: Vec<u64>,
}

impl Gauges for Sound {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        assert!(value.is_finite(), "{name} is {value}");
        assert!(name != "p" || (0.0..=1.0).contains(&value), "{name} is {value}");
        match name {
            "scalable_packets" => assert_eq!(value, self.waiting[0] as f64, "L"),
            "classic_packets" => assert_eq!(value, self.waiting[1] as f64, "C"),
            _ => {}
        }
    }
}

#[derive(Default)]
struct Fate {
    log: Vec<(Parcel, char)>,
}

impl Sink<Parcel> for Fate {
    fn dropped(&mut self, _now: Time, packet: Parcel, cause: Cause) {
        let event = match cause {
            Cause::Law => 'd',
            Cause::Overflow => 'o',
            Cause::AckFilter => 'f',
        };
        self.log.push((packet, event));
    }
    fn marked(&mut self, _now: Time, packet: &Parcel) {
        self.log.push((*packet, 'm'));
    }
    /// Of most packets; numbers rise, with duplicates and blocks among them.
    fn ack(&self, packet: &Parcel) -> Option<Ack> {
        let number = packet.number / 3 * 1000;
        let blocks = [(number + 2000, number + 3000), (number + 4000, number + 5000), (0, 0)];
        let sack = if packet.number.is_multiple_of(5) { blocks } else { [(0, 0); 3] };
        let is_pure = !packet.number.is_multiple_of(7);
        let ack = Ack { connection: packet.number as u32 / 50, number, sack, is_pure };
        (!packet.number.is_multiple_of(4)).then_some(ack)
    }
}

const OPERATIONS_A_CASE: u64 = 500;
/// Changes of parameters per case.
const CHANGES_A_CASE: u64 = 5;
/// Flows that come again; the first half have tags.
const FLOWS: u32 = 12;
/// Qdiscs in which the queue of a packet follows from its flow alone, whatever their parameters, or a flow that changes its queue
/// keeps its order; `by = "ecn"` and cake's sets may have two queues for a flow.
const ORDERED: [&str; 2] = ["prio", "sqm"];
/// Qdiscs whose names are each that of one queue; other names are those of groups of queues.
const NAMED: [&str; 2] = ["prio", "dual"];
