//! One direction of a link: a queue, a transmitter, a wire.

use crate::deliveries::Deliveries;
use crate::flow::Timer;
use crate::inbox::Inbox;
use crate::network::LinkPlan;
use crate::packet::Packet;
use sojourn_aqm::Disc;
use sojourn_scenario::links::Framing;
use sojourn_units::{Rate, Span, Time};

/// A transmitter and the wire behind it, first in, first out: when a packet
/// arrives follows from when it came.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    speed: Speed,
    delay: Span,
    /// When it is free.
    free: Time,
    /// How much later than `free` that really is, 2^-32 ns.
    fraction: u32,
    /// The last arrival at the far end, which nothing overtakes.
    last_arrival: Time,
    /// When it may send, where it has no constant rate; `free` is the next opportunity then.
    deliveries: Option<Box<Deliveries>>,
}

/// A link that one flow has to itself: a transmitter and a wire that nothing
/// ever changes. There are four for each flow of a dumbbell, so that it is kept
/// small: how long its packets take is told once for all links of a speed.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    /// When it is free, and how much later that really is, 2^-32 ns.
    free: Time,
    fraction: u32,
    /// The number of its speed.
    speed: u32,
    delay: Span,
}

/// How long packets take at a rate.
#[derive(Clone, Debug)]
pub(crate) struct Speed {
    rate: Rate,
    framing: Framing,
    known: Known,
}

/// The last size of a packet. There is none with deliveries, where no size takes a time of its own.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    len: u32,
    /// Its bytes on the wire.
    wire: u32,
    takes: Exact,
}

/// A time that is no whole number of nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Exact {
    nanos: u64,
    /// 2^-32 ns.
    fraction: u32,
}

/// A shared link: one that several flows use, that has a disc, or that the schedule changes.
pub(crate) struct Link {
    /// Its number in the network.
    pub(crate) number: u32,
    /// Whether it takes no time: packets only wait there for theirs.
    pub(crate) is_station: bool,
    pub(crate) transmitter: Transmitter,
    /// The packets on their way to it.
    pub(crate) inbox: Inbox,
    pub(crate) queue: Queue,
    /// When the inbox and the disc's departures must have been looked at.
    pub(crate) drain: Timer,
    /// Bytes on the wire of all transmissions begun so far.
    begun_bytes: u64,
    /// The rate of the transmission that was begun last.
    begun_rate: Rate,
    capacity: Capacity,
}

/// What stands in front of the transmitter.
pub(crate) enum Queue {
    /// Unlimited and unmanaged.
    Plain,
    /// A disc.
    Managed(Managed),
}

/// A disc, and what the engine must remember for it.
pub(crate) struct Managed {
    pub(crate) disc: Box<dyn Disc<Packet>>,
    /// Whether the transmitter, when free, will ask the disc for a packet.
    pub(crate) asking: bool,
    /// When the law's next update is due.
    pub(crate) update: Time,
}

/// The integral of the rate: `bits` up to `at`, from where the present rate holds.
#[derive(Clone, Copy, Default)]
struct Capacity {
    at: Time,
    bits: f64,
    /// The rate just before `at`, which may lie ahead.
    before: Rate,
}

impl Transmitter {
    fn new(plan: &mut LinkPlan) -> Transmitter {
        let (speed, mut deliveries) = (Speed::new(plan.rate, plan.framing), plan.deliveries.take());
        if let Some(deliveries) = deliveries.as_mut().filter(|_| plan.disc.is_none()) {
            deliveries.unasked();
        }
        let free = deliveries.as_ref().map_or(Time::ZERO, |deliveries| deliveries.next());
        Transmitter { speed, delay: plan.delay, free, fraction: 0, last_arrival: Time::ZERO, deliveries }
    }

    /// About how long there is between events, where it is busy: a packet has some three of them.
    pub(crate) fn gap(&self) -> Span {
        Span::from_nanos(self.typical().nanos() / 3)
    }

    /// About how long a packet takes.
    fn typical(&self) -> Span {
        Span::from_seconds(TYPICAL_BITS / self.speed.rate.bits_per_second())
    }

    /// When it is free.
    pub(crate) fn free(&self) -> Time {
        self.free
    }

    /// How long a packet is on the wire.
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// Packets sent from now on are on the wire for `delay`; those on it keep theirs.
    pub(crate) fn change_delay(&mut self, delay: Span) {
        self.delay = delay;
    }

    /// Whether what comes at `now` to a transmitter that has nothing to send is sent at once. Where it is not, it is
    /// free at the next opportunity.
    pub(crate) fn is_ready(&mut self, now: Time) -> bool {
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.skip(now);
            self.free = deliveries.next();
        }
        self.deliveries.is_none()
    }

    /// Sends a packet of `len` bytes that comes at `now`, after those that came
    /// before; says when it arrives at the far end.
    pub(crate) fn send(&mut self, now: Time, len: u32) -> Time {
        if len != self.speed.known.len {
            return self.send_unknown(now, len);
        }
        (self.free, self.fraction) = self.speed.known.takes.after((self.free, self.fraction), now);
        self.arrive(self.free)
    }

    /// Sends a packet of another size than the last; with deliveries, every packet.
    #[cold]
    #[inline(never)]
    fn send_unknown(&mut self, now: Time, len: u32) -> Time {
        let Some(deliveries) = &mut self.deliveries else {
            self.speed.measure(len);
            return self.send(now, len);
        };
        let wire = self.speed.framing.on_wire(len);
        self.speed.known.wire = wire;
        // A packet takes a nanosecond at the least, so that what it sets off comes after it.
        let sent = deliveries.take(now, wire) + Span::from_nanos(1);
        self.free = deliveries.next();
        self.arrive(sent)
    }

    /// When a packet arrives whose last bit leaves at `sent`.
    fn arrive(&mut self, sent: Time) -> Time {
        let arrival = Time::from_nanos(sent.nanos() + self.delay.nanos());
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_arrival
    }
}

impl Private {
    /// A link of the speed with this number.
    pub(crate) fn new(speed: u32, delay: Span) -> Private {
        Private { free: Time::ZERO, fraction: 0, speed, delay }
    }

    /// Something of it: whoever reads that has it brought near.
    pub(crate) fn nearby(&self) -> u64 {
        self.free.nanos()
    }

    /// As [`Transmitter::send`].
    pub(crate) fn send(&mut self, now: Time, len: u32, speeds: &mut [Speed]) -> Time {
        let takes = speeds[self.speed as usize].takes(len);
        (self.free, self.fraction) = takes.after((self.free, self.fraction), now);
        Time::from_nanos(self.free.nanos() + self.delay.nanos())
    }
}

impl Speed {
    pub(crate) fn new(rate: Rate, framing: Framing) -> Speed {
        Speed { rate, framing, known: Known::default() }
    }

    /// How long a packet of `len` bytes takes.
    fn takes(&mut self, len: u32) -> Exact {
        if len != self.known.len {
            self.measure(len);
        }
        self.known.takes
    }

    /// Never inlined: what it computes with would be made ready at every packet.
    #[cold]
    #[inline(never)]
    fn measure(&mut self, len: u32) {
        let wire = self.framing.on_wire(len);
        let takes = Exact::new(f64::from(wire) * 8.0 * 1e9 / self.rate.bits_per_second());
        self.known = Known { len, wire, takes };
    }
}

impl Exact {
    /// At least a nanosecond, so that what a packet sets off comes after it.
    fn new(nanos: f64) -> Exact {
        let nanos = nanos.max(1.0);
        Exact { nanos: nanos as u64, fraction: (nanos.fract() * FRACTIONS) as u32 }
    }

    /// When a transmitter is free again that was to be free at `free` and a fraction, and gets a packet at `now`.
    fn after(self, (free, fraction): (Time, u32), now: Time) -> (Time, u32) {
        // Back to back, the fraction of a nanosecond is carried over, so that no rate is rounded.
        let (free, fraction) = if free < now { (now, 0) } else { (free, fraction) };
        let (fraction, carry) = fraction.overflowing_add(self.fraction);
        (Time::from_nanos(free.nanos() + self.nanos + u64::from(carry)), fraction)
    }
}

/// A packet of 1500 B.
const TYPICAL_BITS: f64 = 12_000.0;
/// So many fractions make a nanosecond.
const FRACTIONS: f64 = (1_u64 << 32) as f64;

impl Link {
    pub(crate) fn new(number: u32, is_station: bool, mut plan: LinkPlan) -> Link {
        let managed = |disc| Queue::Managed(Managed { disc, asking: false, update: Time::NEVER });
        let transmitter = Transmitter::new(&mut plan);
        Link {
            number,
            is_station,
            inbox: Inbox::new(transmitter.typical()),
            transmitter,
            queue: plan.disc.map_or(Queue::Plain, managed),
            drain: Timer::OFF,
            begun_bytes: 0,
            begun_rate: plan.rate,
            capacity: Capacity::default(),
        }
    }

    /// Sends a packet of `len` bytes, after those that are being sent; says when it arrives.
    pub(crate) fn send(&mut self, now: Time, len: u32) -> Time {
        self.begun_rate = self.transmitter.speed.rate;
        let arrival = self.transmitter.send(now, len);
        self.begun_bytes += u64::from(self.transmitter.speed.known.wire);
        arrival
    }

    /// Bits on the wire that have left the transmitter since the start, to the bit.
    pub(crate) fn sent_bits(&self, now: Time) -> f64 {
        if let Some(deliveries) = &self.transmitter.deliveries {
            return (self.begun_bytes - deliveries.ahead(now)) as f64 * 8.0;
        }
        let left = self.transmitter.free.since(now).seconds();
        self.begun_bytes as f64 * 8.0 - left * self.begun_rate.bits_per_second()
    }

    /// Bits that could have left the transmitter since the start.
    pub(crate) fn capacity_bits(&self, now: Time) -> f64 {
        if let Some(deliveries) = &self.transmitter.deliveries {
            return deliveries.possible(now) as f64 * 8.0;
        }
        let Capacity { at, bits, before } = self.capacity;
        if now < at {
            return bits - at.since(now).seconds() * before.bits_per_second();
        }
        bits + now.since(at).seconds() * self.transmitter.speed.rate.bits_per_second()
    }

    /// Counts what could have left up to `now`, so that later counts are short.
    pub(crate) fn count_capacity(&mut self, now: Time) {
        if let Some(deliveries) = &mut self.transmitter.deliveries {
            deliveries.count(now);
        }
    }

    /// The next packet is sent at the new rate; the one being sent is finished at its own.
    pub(crate) fn change_rate(&mut self, now: Time, rate: Rate) {
        if self.transmitter.deliveries.is_some() {
            return;
        }
        if now >= self.capacity.at {
            let at = self.transmitter.free.max(now);
            self.capacity =
                Capacity { at, bits: self.capacity_bits(at), before: self.transmitter.speed.rate };
        }
        self.transmitter.speed = Speed::new(rate, self.transmitter.speed.framing);
        if let Queue::Managed(managed) = &mut self.queue {
            managed.disc.link_changed(now, rate);
        }
    }

    /// When the disc will be asked for a packet next; NEVER where it holds none, unless `idle` counts.
    pub(crate) fn next_departure(&self, idle: bool) -> Time {
        match &self.queue {
            Queue::Managed(Managed { disc, asking: true, .. }) if idle || disc.backlog().packets > 0 => {
                self.transmitter.free
            }
            _ => Time::NEVER,
        }
    }

    pub(crate) fn disc(&self) -> Option<&dyn Disc<Packet>> {
        match &self.queue {
            Queue::Plain => None,
            Queue::Managed(managed) => Some(managed.disc.as_ref()),
        }
    }
}
