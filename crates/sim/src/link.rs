//! One direction of a link: a queue, a transmitter, a wire.

use crate::network::LinkPlan;
use crate::packet::Packet;
use sojourn_aqm::Disc;
use sojourn_units::{Rate, Span, Time};
use std::collections::VecDeque;

/// A link at work.
pub(crate) struct Link {
    rate: Rate,
    pub(crate) delay: Span,
    pub(crate) queue: Queue,
    wire: Wire,
    transmission: Transmission,
    /// Bits of all transmissions begun so far.
    begun_bits: f64,
    capacity: Capacity,
}

/// What stands in front of the transmitter.
pub(crate) enum Queue {
    /// Unlimited and unmanaged: when a packet leaves follows from when it came, without an event.
    Plain,
    /// A disc.
    Disc(Box<dyn Disc<Packet>>),
}

/// The packets on their way, in order of arrival.
#[derive(Default)]
struct Wire {
    packets: VecDeque<(Time, Packet)>,
    last: Time,
}

/// The integral of the rate: `bits` up to `at`, from where the present rate holds.
#[derive(Clone, Copy, Default)]
struct Capacity {
    at: Time,
    bits: f64,
    /// The rate just before `at`, which may lie ahead.
    before: Rate,
}

/// The packet being sent, or the last one.
#[derive(Clone, Copy, Default)]
struct Transmission {
    until: Time,
    /// How much later than `until` it really ends, ns; below 1.
    fraction: f64,
    rate: Rate,
}

impl Link {
    pub(crate) fn new(plan: LinkPlan) -> Link {
        Link {
            rate: plan.rate,
            delay: plan.delay,
            queue: plan.disc.map_or(Queue::Plain, Queue::Disc),
            wire: Wire::default(),
            transmission: Transmission::default(),
            begun_bits: 0.0,
            capacity: Capacity::default(),
        }
    }

    /// Whether the transmitter is free.
    pub(crate) fn is_free(&self, now: Time) -> bool {
        self.transmission.until <= now
    }

    /// Sends a packet, after those that are being sent; says when the
    /// transmitter is free again, and the arrival at the far end if none was
    /// on the wire.
    pub(crate) fn send(&mut self, now: Time, packet: Packet) -> (Time, Option<Time>) {
        let bits = f64::from(packet.len) * 8.0;
        // Back to back, the fraction of a nanosecond is carried over, so that no rate is rounded.
        let carried = if self.transmission.until < now { 0.0 } else { self.transmission.fraction };
        let nanos = bits * 1e9 / self.rate.bits_per_second() + carried;
        let whole = Span::from_nanos(nanos as u64);
        let until = self.transmission.until.max(now) + whole;
        self.transmission = Transmission { until, fraction: nanos - nanos.floor(), rate: self.rate };
        self.begun_bits += bits;
        (until, self.wire.push(until + self.delay, packet))
    }

    /// Takes the packet that has arrived; says when the next one does.
    pub(crate) fn arrive(&mut self) -> Option<(Packet, Option<Time>)> {
        let (_, packet) = self.wire.packets.pop_front()?;
        Some((packet, self.wire.packets.front().map(|(time, _)| *time)))
    }

    /// Bits that have left the transmitter since the start, to the bit.
    pub(crate) fn sent_bits(&self, now: Time) -> f64 {
        let left = self.transmission.until.since(now).seconds();
        self.begun_bits - left * self.transmission.rate.bits_per_second()
    }

    /// Bits that could have left the transmitter since the start.
    pub(crate) fn capacity_bits(&self, now: Time) -> f64 {
        let Capacity { at, bits, before } = self.capacity;
        if now < at {
            return bits - at.since(now).seconds() * before.bits_per_second();
        }
        bits + now.since(at).seconds() * self.rate.bits_per_second()
    }

    /// The next packet is sent at the new rate; the one being sent is finished at its own.
    pub(crate) fn change_rate(&mut self, now: Time, rate: Rate) {
        if now >= self.capacity.at {
            let at = self.transmission.until.max(now);
            self.capacity = Capacity { at, bits: self.capacity_bits(at), before: self.rate };
        }
        self.rate = rate;
        if let Queue::Disc(disc) = &mut self.queue {
            disc.link_changed(now, rate);
        }
    }

    pub(crate) fn disc(&self) -> Option<&dyn Disc<Packet>> {
        match &self.queue {
            Queue::Plain => None,
            Queue::Disc(disc) => Some(disc.as_ref()),
        }
    }
}

impl Wire {
    /// Puts a packet behind the others, whom it does not overtake.
    fn push(&mut self, arrival: Time, packet: Packet) -> Option<Time> {
        self.last = self.last.max(arrival);
        let alone = self.packets.is_empty();
        self.packets.push_back((self.last, packet));
        alone.then_some(self.last)
    }
}
