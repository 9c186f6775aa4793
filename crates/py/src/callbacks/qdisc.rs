//! A qdisc written in Python.
//!
//! The host holds the packets and counts them; the object has a view of each and decides which one leaves, is marked
//! or is dropped. So packets are conserved whatever the object does: what it does not return stays held, and an answer
//! that names no held packet ends the run.

use super::answers::{A_TIME, Due, GAUGES, next_of, nothing, probability, set_params, wrong_answer};
use super::attributes::{period_of, refuse_period, target_of};
use super::callee::{Callee, Failure};
use super::packet::{Act, Desk, Fate, Packet};
use crate::errors::LawError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_aqm::qdiscs::Tags;
use sojourn_aqm::{self as aqm, Backlog, Cause, Counts, FlowId, FlowTag, Gauges, Limit, Sink};
use sojourn_params::{Given, InputError};
use sojourn_random::Stream;
use sojourn_units::{Rate, Span, Time};
use std::sync::Arc;

/// One run's own copy of a qdisc in Python, with its attributes read once: what [`PythonQdisc`] is built from.
pub(super) struct Parts {
    callee: Callee,
    methods: Methods,
    target: Option<f64>,
    /// Time between two updates, if any.
    period: Span,
}

/// The methods that the class defines, bound to the object.
struct Methods {
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
    not_before: Option<Py<PyAny>>,
    on_overflow: Option<Py<PyAny>>,
    on_link_change: Option<Py<PyAny>>,
    on_update: Option<Py<PyAny>>,
    gauges: Option<Py<PyAny>>,
}

impl Parts {
    /// The object, of whose methods only `calls` are called.
    pub(super) fn of(object: &Bound<'_, PyAny>, calls: &[String], failure: Failure) -> PyResult<Parts> {
        let own = |name: &str| {
            let has_own = calls.iter().any(|call| call == name);
            has_own.then(|| object.getattr(name).map(Bound::unbind)).transpose()
        };
        let methods = Methods {
            enqueue: object.getattr("enqueue")?.unbind(),
            dequeue: object.getattr("dequeue")?.unbind(),
            not_before: own("not_before")?,
            on_overflow: own("on_overflow")?,
            on_link_change: own("on_link_change")?,
            on_update: own("on_update")?,
            gauges: own("gauges")?,
        };
        let updated = methods.on_update.is_some();
        let period = if updated { period_of(object)? } else { refuse_period(object).map(|()| Span::ZERO)? };
        Ok(Parts { methods, target: target_of(object)?, period, callee: Callee::of(object, failure) })
    }
}

/// A qdisc in Python in front of a link.
pub(super) struct PythonQdisc<P> {
    parts: Parts,
    due: Option<Due>,
    limit: Limit,
    draws: Stream,
    desk: Arc<Desk>,
    tags: Tags,
    /// The packets, each at its place, with the object's view of it.
    held: Vec<Option<Held<P>>>,
    free: Vec<usize>,
    backlog: Backlog,
    counts: Counts,
    /// Time before which it returns none of them, as far as it knows before the next arrival.
    not_before: Time,
}

struct Held<P> {
    packet: P,
    since: Time,
}

impl<P: aqm::Packet> PythonQdisc<P> {
    pub(super) fn new(parts: Parts, classes: Vec<String>, limit: Limit, draws: Stream) -> PythonQdisc<P> {
        let due = parts.methods.on_update.is_some().then(|| Due::first(parts.period));
        PythonQdisc {
            parts,
            due,
            limit,
            draws,
            desk: Desk::new(classes),
            tags: Tags::default(),
            held: Vec::new(),
            free: Vec::new(),
            backlog: Backlog::default(),
            counts: Counts::default(),
            not_before: Time::ZERO,
        }
    }

    /// Holds an arrival; returns its place.
    fn hold(&mut self, now: Time, packet: P) -> usize {
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.len());
        let held = Some(Held { packet, since: now });
        let place = self.free.pop().unwrap_or(self.held.len());
        if place == self.held.len() {
            self.held.push(held);
        } else {
            self.held[place] = held;
        }
        place
    }

    fn take(&mut self, place: usize) -> Option<Held<P>> {
        let held = self.held.get_mut(place)?.take()?;
        self.free.push(place);
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(held.packet.len());
        Some(held)
    }

    /// Carries out what the object did to its packets since the last time.
    fn act(&mut self, now: Time, cause: Cause, out: &mut dyn Sink<P>) {
        let desk = Arc::clone(&self.desk);
        for act in desk.acts().drain(..) {
            match act {
                Act::Mark(place) => {
                    if let Some(held) = &mut self.held[place] {
                        held.packet.set_ce();
                        self.counts.marked += 1;
                        out.marked(now, &held.packet);
                    }
                }
                Act::Drop(place) => self.discard(now, place, cause, out),
            }
        }
    }

    fn discard(&mut self, now: Time, place: usize, cause: Cause, out: &mut dyn Sink<P>) {
        let Some(held) = self.take(place) else { return };
        match cause {
            Cause::Law => self.counts.dropped_by_law += 1,
            Cause::Overflow => self.counts.overflowed += 1,
            Cause::AckFilter => self.counts.filtered += 1,
        }
        out.dropped(now, held.packet, cause);
    }

    /// A view of an arrival at its place.
    fn view(&mut self, now: Time, place: usize) -> Option<Packet> {
        let u = [self.draws.uniform(), self.draws.uniform()];
        let packet = &self.held[place].as_ref()?.packet;
        let tag = self.tags.of(packet.flow());
        Some(Packet::arriving(now, (place, packet), (tag, u), &self.desk))
    }

    /// Everything held, without the arrival at this place, and this much more fit.
    fn fits(&self, len: u32) -> bool {
        let Backlog { packets, bytes } = self.backlog;
        self.limit.admits(Backlog { packets: packets - 1, bytes: bytes - u64::from(len) }, len)
    }

    /// Makes room for an arrival; false: it is dropped.
    fn make_room(&mut self, now: Time, view: &Py<Packet>, len: u32, out: &mut dyn Sink<P>) -> bool {
        if let Some(method) = &self.parts.methods.on_overflow {
            self.parts.callee.call("on_overflow", now, |py| {
                let answer = method.bind(py).call1((now.seconds(), view))?;
                nothing("on_overflow", &answer, now)
            });
            self.act(now, Cause::Overflow, out);
        }
        let packet = view.get();
        if packet.fate() == Fate::Held && !self.fits(len) {
            packet.set_fate(Fate::Dropped);
            self.discard(now, packet.place, Cause::Overflow, out);
        }
        packet.fate() == Fate::Held
    }

    /// The packet that the object's `dequeue` returns.
    fn chosen(&self, now: Time) -> Option<Py<Packet>> {
        let method = &self.parts.methods.dequeue;
        let chosen = self.parts.callee.call("dequeue", now, |py| {
            let answer = method.bind(py).call1((now.seconds(),))?;
            if answer.is_none() {
                return Ok(None);
            }
            let wrong = |expected: &str| wrong_answer("dequeue", &answer, expected, now);
            let packet = answer.cast::<Packet>().map_err(|_| wrong(A_PACKET))?;
            match packet.get().fate() {
                _ if !packet.get().is_of(&self.desk) => Err(wrong("a packet that was passed to its enqueue")),
                Fate::Dropped => Err(wrong("a packet that it holds, not one that was dropped")),
                Fate::Sent => Err(wrong("a packet that it holds, not one that it returned before")),
                Fate::Held => Ok(Some(packet.clone().unbind())),
            }
        });
        chosen.flatten()
    }

    /// Time at which an object that returned None while it holds packets can return one.
    fn wait(&self, now: Time) -> Time {
        let held = self.backlog.packets;
        let Some(method) = &self.parts.methods.not_before else {
            let held = if held == 1 { "a packet is".into() } else { format!("{held} packets are") };
            self.parts.callee.call("dequeue", now, |_| {
                let message = format!("dequeue gave None while {held} held");
                Err::<(), _>(LawError::new_err((message, now.seconds(), "dequeue", MUST_WAIT)))
            });
            return Time::ZERO;
        };
        let time = self.parts.callee.call("not_before", now, |py| {
            let answer = method.bind(py).call1((now.seconds(),))?;
            let wrong = || wrong_answer("not_before", &answer, A_LATER_TIME, now);
            let seconds = answer.extract::<f64>().map_err(|_| wrong())?;
            if seconds == f64::INFINITY {
                // The link dequeues again at the next arrival.
                return Ok(Time::ZERO);
            }
            // A time less than a nanosecond ahead is ahead in its own arithmetic.
            let time = (Time::ZERO + Span::from_seconds(seconds)).max(now + Span::from_nanos(1));
            if seconds.is_finite() && seconds > now.seconds() { Ok(time) } else { Err(wrong()) }
        });
        time.unwrap_or(Time::ZERO)
    }
}

impl<P: aqm::Packet + Send> aqm::Qdisc<P> for PythonQdisc<P> {
    fn enqueue(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        // What it dropped in an update, say, makes room, and is no overflow.
        self.act(now, Cause::Law, out);
        self.not_before = Time::ZERO;
        self.counts.offered += 1;
        let len = packet.len();
        let place = self.hold(now, packet);
        let view = self.view(now, place);
        let view = view.and_then(|view| self.parts.callee.call("enqueue", now, |py| Py::new(py, view)));
        // Without a view the object has failed, and the run is over.
        let Some(view) = view else { return self.discard(now, place, Cause::Law, out) };
        if self.fits(len) || self.make_room(now, &view, len, out) {
            let method = &self.parts.methods.enqueue;
            self.parts.callee.call("enqueue", now, |py| {
                let answer = method.bind(py).call1((now.seconds(), &view))?;
                nothing("enqueue", &answer, now)
            });
            self.act(now, Cause::Law, out);
        }
        assert!(self.counts.conserve(self.backlog.packets), "a packet is lost");
    }

    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        self.act(now, Cause::Law, out);
        let chosen = self.chosen(now);
        self.act(now, Cause::Law, out);
        self.not_before = Time::ZERO;
        let sent = chosen.and_then(|chosen| {
            chosen.get().set_fate(Fate::Sent);
            self.take(chosen.get().place)
        });
        if let Some(Held { packet, since }) = sent {
            self.counts.delivered += 1;
            assert!(self.counts.conserve(self.backlog.packets), "a packet is lost");
            return Some((packet, now.since(since)));
        }
        if self.backlog.packets > 0 {
            self.not_before = self.wait(now);
            self.act(now, Cause::Law, out);
        }
        None
    }

    fn not_before(&self) -> Time {
        self.not_before
    }

    fn next_update(&self) -> Option<Time> {
        self.due.map(|due| due.at)
    }

    fn on_update(&mut self, due: Time, now: Time) {
        let Some(method) = &self.parts.methods.on_update else { return };
        let next = self.parts.callee.call("on_update", now, |py| {
            let answer = method.bind(py).call1((now.seconds(),))?;
            next_of(&answer, now).ok_or_else(|| wrong_answer("on_update", &answer, A_TIME, now))
        });
        self.due = next.and_then(|next| next.after(due, now, self.parts.period));
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        let Some(method) = &self.parts.methods.on_link_change else { return };
        self.parts.callee.call("on_link_change", now, |py| {
            nothing("on_link_change", &method.bind(py).call1((now.seconds(), rate.bits_per_second()))?, now)
        });
    }

    fn flow_joined(&mut self, flow: FlowId, tag: FlowTag) {
        self.tags.keep(flow, tag);
    }

    /// An error of the object ends the run, as any of its failures.
    fn set_params(&mut self, now: Time, change: &Given) -> Result<(), InputError> {
        let updated = self.parts.methods.on_update.is_some();
        let read = self.parts.callee.call("set_params", now, |py| {
            let object = self.parts.callee.object.bind(py);
            set_params(object, change, now)?;
            Ok((if updated { period_of(object)? } else { Span::ZERO }, target_of(object)?))
        });
        let Some((period, target)) = read else { return Ok(()) };
        self.due = self.due.map(|due| due.moved(now, self.parts.period, period));
        (self.parts.period, self.parts.target) = (period, target);
        Ok(())
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn target_packets(&self) -> Option<f64> {
        self.parts.target
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        let Some(method) = &self.parts.methods.gauges else { return };
        let now = self.parts.callee.last_call();
        let shown = self.parts.callee.call("gauges", now, |py| {
            let answer = method.bind(py).call0()?;
            let wrong = || wrong_answer("gauges", &answer, GAUGES, now);
            let p = answer.cast::<PyDict>().map_err(|_| wrong())?.get_item("p")?;
            p.map(|p| probability(&p).ok_or_else(wrong)).transpose()
        });
        if let Some(Some(p)) = shown {
            out.gauge("p", "1", p.get());
        }
    }
}

const A_PACKET: &str = "one of the packets that were passed to enqueue, or None";
const MUST_WAIT: &str =
    "one of them, or def not_before(self, now) with the time of the next one, s since the start";
const A_LATER_TIME: &str = "the time of the next packet, s since the start and later than now; math.inf for one after \
                            the next arrival";
