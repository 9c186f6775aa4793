//! A shaper in front of a qdisc: a rate below that of the link, so that packets wait here and not in a buffer behind.

use super::common::is_fixed;
use super::{Built, Queues};
use crate::flow_shares::FlowShares;
use crate::framing::Framing;
use crate::gauges::Gauges;
use crate::law::{Backlog, FlowId};
use crate::link_context::LinkContext;
use crate::qdisc::{Ack, Cause, Counts, FlowTag, Limit, Packet, Qdisc, Sink};
use crate::qdisc_spec::{DesignedQdisc, Place, QdiscEntry, QdiscSpec};
use sojourn_params::{Described, Given, InputError, Page, Params, params};
use sojourn_random::Stream;
use sojourn_units::{Bytes, Rate, Span, Time};

params! {
    /// Parameters of a shaper.
    pub struct Shaper {
        /// rate, of bytes as the framing counts them
        rate: Rate, above "0 bit/s";
        /// qdisc behind it; `qdisc.KEY` is a parameter of that
        qdisc: QdiscSpec = QdiscSpec::parse("fq_codel").expect("a qdisc of the catalogue"), "flows have equal shares";
        /// bytes that may follow each other at once after a pause
        burst: Bytes = Bytes::ZERO, in "0 B" to "1 GB",
            "none: each packet waits for the time of the one before", "tc-cake(8), shaper parameters";
        /// size of a packet as it counts: a name, or { overhead = SIZE, least = SIZE, cells = true }
        framing: Framing = Framing::IP, "the IP packet alone", "tc-cake(8), overhead compensation";
    }
}

/// Description and constructor.
pub(crate) const ENTRY: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "shaper",
        summary: "a rate of its own in front of a qdisc, which then is the bottleneck",
        idea: "A link behind may have a deep buffer, as a modem has. A shaper a little below its rate keeps that buffer \
               empty: packets wait in the qdisc here, whose law and order then count. Each packet moves the time of \
               the next one by its transmission time at the rate.",
        equation: "next <- max(next, now - burst / rate) + size / rate",
        source: "RFC 2475, section 2.3.3.3; tc-cake(8); T. Høiland-Jørgensen, D. Täht, J. Morton, Piece of CAKE, 2018, \
                 section 2.1",
        fields: <Shaper as Described>::fields,
    },
    read: Given::read::<Shaper>,
    design,
};

fn design(params: &dyn Params, place: &Place<'_>) -> Result<Queues, InputError> {
    let shaper: &Shaper = params.of()?;
    let context = LinkContext { rate: slower(shaper.rate, place.context.rate), ..place.context };
    let inner = shaper.qdisc.clone().design(&Place { context, ..*place });
    let inner = inner.map_err(|error| error.at("qdisc"))?;
    let clock = Clock::new(shaper.rate, shaper.burst, shaper.framing).with_link(place.context.rate);
    Ok(Queues::Shaper(Box::new(Design { inner, clock })))
}

/// A shaper in front of a link.
#[derive(Clone)]
pub(crate) struct Design {
    pub(super) inner: DesignedQdisc,
    clock: Clock,
}

impl Design {
    /// Its rate or that of a link, whichever is slower.
    pub(super) fn slower(&self, link: Rate) -> Rate {
        slower(self.clock.rate, link)
    }

    /// Its rate, packets/s of this size.
    pub(super) fn capacity(&self, packet: f64) -> f64 {
        let framed = f64::from(self.clock.framing.on_wire(packet.round() as u32));
        self.clock.rate.packets_per_second(framed)
    }

    /// The qdisc at its start, behind a buffer.
    pub(super) fn build<P: Packet + Send + 'static>(
        &self,
        buffer: Limit,
        given: Given,
        draws: Stream,
    ) -> Built<P> {
        self.build_with(self.inner.build(buffer, draws), given)
    }

    /// The same in front of another qdisc than its own.
    pub(super) fn build_with<P: Packet + Send + 'static>(&self, inner: Built<P>, given: Given) -> Built<P> {
        Box::new(Shaped { inner, clock: self.clock.clone(), counts_drops: false, given, set_params })
    }
}

/// Parameters during a run: the clock's, and those of the inner qdisc with the key of an error of them. Where these are the
/// same, its laws are designed with them for the rate of the clock.
fn set_params([before, after]: [&Given; 2], clock: &mut Clock) -> Result<Option<Inner>, InputError> {
    let (before, after): (&Shaper, &Shaper) = (before.params.of()?, after.params.of()?);
    is_fixed("qdisc", before.qdisc.name() == after.qdisc.name())?;
    (clock.rate, clock.burst, clock.framing) = (after.rate, after.burst, after.framing);
    Ok(Some(("qdisc", after.qdisc.given().clone())))
}

/// Parameters of the qdisc behind a shaper, and where they stand.
pub(super) type Inner = (&'static str, Given);

/// A qdisc behind a shaper.
pub(super) struct Shaped<P> {
    pub(super) inner: Box<dyn Qdisc<P>>,
    pub(super) clock: Clock,
    /// A packet that is dropped moves the clock as one that is sent.
    pub(super) counts_drops: bool,
    pub(super) given: Given,
    /// Sets the second of these parameters, in place of the first.
    pub(super) set_params: fn([&Given; 2], &mut Clock) -> Result<Option<Inner>, InputError>,
}

/// The time of the next packet.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub(super) rate: Rate,
    pub(super) burst: Bytes,
    pub(super) framing: Framing,
    /// Last rate of the link behind above 0; None: not known.
    link: Option<Rate>,
    /// That link has no rate now.
    is_stalled: bool,
    next: Time,
    /// Part of a nanosecond beyond `next`: no rate is rounded.
    fraction: f64,
}

impl Clock {
    /// A clock that has sent nothing.
    pub(super) fn new(rate: Rate, burst: Bytes, framing: Framing) -> Clock {
        Clock { rate, burst, framing, link: None, is_stalled: false, next: Time::ZERO, fraction: 0.0 }
    }

    /// The same before a link of this rate.
    fn with_link(self, link: Rate) -> Clock {
        Clock { link: Some(link), ..self }
    }

    /// Its rate or that of the link, whichever is slower; in a stall as before it.
    fn slower(&self) -> Rate {
        self.link.map_or(self.rate, |link| slower(self.rate, link))
    }

    /// Earliest time of the next packet.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// A packet of `len` bytes is sent at `now`, which is not before `next`.
    pub(super) fn sent(&mut self, now: Time, len: u32) {
        let bytes = self.rate.bits_per_second() / 8.0;
        let saved = Span::from_seconds(self.burst.get() as f64 / bytes);
        let earliest = Time::from_nanos(now.nanos().saturating_sub(saved.nanos()));
        if self.next < earliest {
            (self.next, self.fraction) = (earliest, 0.0);
        }
        let nanos = f64::from(self.framing.on_wire(len)) * 1e9 / bytes + self.fraction;
        self.fraction = nanos.fract();
        self.next += Span::from_nanos(nanos as u64);
    }
}

/// A sink whose drops move a clock.
struct Counted<'a, P> {
    clock: &'a mut Clock,
    out: &'a mut dyn Sink<P>,
}

impl<P: Packet> Sink<P> for Counted<'_, P> {
    fn dropped(&mut self, now: Time, packet: P, cause: Cause) {
        self.clock.sent(now, packet.len());
        self.out.dropped(now, packet, cause);
    }
    fn marked(&mut self, now: Time, packet: &P) {
        self.out.marked(now, packet);
    }
    fn ack(&self, packet: &P) -> Option<Ack> {
        self.out.ack(packet)
    }
}

fn slower(one: Rate, other: Rate) -> Rate {
    if other < one { other } else { one }
}

impl<P: Packet> Shaped<P> {
    /// The second rate in place of the first.
    fn set_inner_rate(&mut self, now: Time, [before, after]: [Rate; 2]) {
        if before != after {
            self.inner.link_changed(now, after);
        }
    }
}

impl<P: Packet + Send> Qdisc<P> for Shaped<P> {
    fn enqueue(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if self.counts_drops {
            let mut out = Counted { clock: &mut self.clock, out };
            return self.inner.enqueue(now, packet, &mut out);
        }
        self.inner.enqueue(now, packet, out);
    }

    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        if now < self.clock.next() {
            return None;
        }
        let taken = if self.counts_drops {
            self.inner.dequeue(now, &mut Counted { clock: &mut self.clock, out })
        } else {
            self.inner.dequeue(now, out)
        };
        if let Some((packet, _)) = &taken {
            self.clock.sent(now, packet.len());
        }
        taken
    }

    fn not_before(&self) -> Time {
        self.clock.next().max(self.inner.not_before())
    }

    fn next_update(&self) -> Option<Time> {
        self.inner.next_update()
    }

    fn on_update(&mut self, due: Time, now: Time) {
        self.inner.on_update(due, now);
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        self.clock.is_stalled = rate == Rate::ZERO;
        if self.clock.is_stalled {
            return self.inner.link_changed(now, rate);
        }
        self.clock.link = Some(rate);
        self.inner.link_changed(now, self.clock.slower());
    }

    fn flow_joined(&mut self, flow: FlowId, tag: FlowTag) {
        self.inner.flow_joined(flow, tag);
    }

    fn connection_began(&mut self, now: Time, flow: FlowId) {
        self.inner.connection_began(now, flow);
    }

    fn filters_acks(&self) -> bool {
        self.inner.filters_acks()
    }

    fn shares(&mut self) -> Option<&mut dyn FlowShares> {
        self.inner.shares()
    }

    fn queue_names(&self) -> Vec<String> {
        self.inner.queue_names()
    }

    fn queue_of(&self, packet: &P) -> u8 {
        self.inner.queue_of(packet)
    }

    fn set_params(&mut self, now: Time, change: &Given) -> Result<(), InputError> {
        let given = self.given.with(change)?;
        let mut clock = self.clock.clone();
        let inner = (self.set_params)([&self.given, &given], &mut clock)?;
        let rates = [self.clock.slower(), clock.slower()];
        self.set_inner_rate(now, rates);
        let set = inner
            .map_or(Ok(()), |(key, inner)| self.inner.set_params(now, &inner).map_err(|error| error.at(key)));
        if set.is_err() {
            self.set_inner_rate(now, [rates[1], rates[0]]);
        }
        if self.clock.is_stalled && rates[0] != rates[1] {
            // The laws are designed for the rate after the stall.
            self.inner.link_changed(now, Rate::ZERO);
        }
        set?;
        (self.clock, self.given) = (clock, given);
        Ok(())
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn counts(&self) -> Counts {
        self.inner.counts()
    }

    fn target_packets(&self) -> Option<f64> {
        self.inner.target_packets()
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        self.inner.gauges(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_params::Value;
    use sojourn_units::Ecn;
    use std::sync::{Arc, Mutex};

    struct Block;

    impl Packet for Block {
        fn len(&self) -> u32 {
            1000
        }
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
        fn set_ce(&mut self) {}
        fn flow(&self) -> FlowId {
            FlowId(0)
        }
    }

    /// A qdisc that notes rates of its link, Mbit/s, and None at new parameters.
    struct Noted(Arc<Mutex<Vec<Option<f64>>>>);

    impl Qdisc<Block> for Noted {
        fn enqueue(&mut self, _: Time, _: Block, _: &mut dyn Sink<Block>) {}
        fn dequeue(&mut self, _: Time, _: &mut dyn Sink<Block>) -> Option<(Block, Span)> {
            None
        }
        fn next_update(&self) -> Option<Time> {
            None
        }
        fn on_update(&mut self, _: Time, _: Time) {}
        fn link_changed(&mut self, _: Time, rate: Rate) {
            self.0.lock().unwrap().push(Some(rate.bits_per_second() / 1e6));
        }
        fn set_params(&mut self, _: Time, _: &Given) -> Result<(), InputError> {
            self.0.lock().unwrap().push(None);
            Ok(())
        }
        fn backlog(&self) -> Backlog {
            Backlog::default()
        }
        fn counts(&self) -> Counts {
            Counts::default()
        }
        fn target_packets(&self) -> Option<f64> {
            None
        }
        fn gauges(&self, _: &mut dyn Gauges) {}
    }

    /// The inner qdisc has the slower of the two rates, and none in a stall; its laws are designed for the last one above 0.
    #[test]
    fn the_inner_qdisc_has_the_slower_rate() {
        let given = |rate: &str| {
            Given::read::<Shaper>(&[("rate".to_string(), Value::Text(rate.to_string()))]).unwrap()
        };
        let mbit = |rate: f64| Rate::from_bits_per_second(rate * 1e6);
        let noted = Arc::new(Mutex::new(Vec::new()));
        let mut shaped = Shaped {
            inner: Box::new(Noted(Arc::clone(&noted))),
            clock: Clock::new(mbit(9.0), Bytes::ZERO, Framing::IP).with_link(mbit(10.0)),
            counts_drops: false,
            given: given("9 Mbit/s"),
            set_params,
        };
        shaped.set_params(Time::ZERO, &given("1000 Mbit/s")).unwrap();
        assert_eq!(std::mem::take(&mut *noted.lock().unwrap()), [Some(10.0), None]);
        shaped.link_changed(Time::ZERO, Rate::ZERO);
        shaped.set_params(Time::ZERO, &given("4 Mbit/s")).unwrap();
        assert_eq!(std::mem::take(&mut *noted.lock().unwrap()), [Some(0.0), Some(4.0), None, Some(0.0)]);
        shaped.link_changed(Time::ZERO, mbit(3.0));
        shaped.set_params(Time::ZERO, &given("5 Mbit/s")).unwrap();
        assert_eq!(std::mem::take(&mut *noted.lock().unwrap()), [Some(3.0), None]);
    }
}
