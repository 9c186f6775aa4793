//! One direction of a link: a queue, a transmitter, a wire.

use crate::calendar_queue::CalendarQueue;
use crate::flow::Timer;
use crate::link_schedule::LinkSchedule;
use crate::network::LinkPlan;
use crate::packet::Packet;
use sojourn_aqm::{Coordinator, Qdisc};
use sojourn_scenario::links::Framing;
use sojourn_units::{Rate, Span, Time};

/// A transmitter and the wire behind it, first in, first out: the arrival time of
/// a packet at the far end follows from that at the near end.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    speed: Speed,
    delay: Span,
    /// Time at which it is free.
    free: Time,
    /// Fraction of a nanosecond beyond `free`, 2^-32 ns.
    fraction: u32,
    /// The last arrival at the far end, which nothing overtakes.
    last_arrival: Time,
    /// Opportunities to send, instead of a constant rate; `free` is the next one then.
    link_schedule: Option<Box<LinkSchedule>>,
}

/// A link that one flow has to itself: a transmitter and a wire that never
/// change. A flow of a dumbbell has four, so it is kept small: all links of a
/// speed share the transmission times of packets.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    /// Time at which it is free, and the fraction of a nanosecond beyond it, 2^-32 ns.
    free: Time,
    fraction: u32,
    /// The number of its speed.
    speed: u32,
    delay: Span,
}

/// Transmission times of packets at a rate.
#[derive(Clone, Debug)]
pub(crate) struct Speed {
    rate: Rate,
    framing: Framing,
    known: Known,
}

/// The last packet size and its transmission time; none with a schedule.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    len: u32,
    /// Its bytes on the wire.
    wire: u32,
    takes: Exact,
}

/// A time with a fraction of a nanosecond.
#[derive(Clone, Copy, Debug, Default)]
struct Exact {
    nanos: u64,
    /// 2^-32 ns.
    fraction: u32,
}

/// A shared link: one that several flows use, that has a qdisc, or that the schedule changes.
pub(crate) struct Link {
    /// Its number in the network.
    pub(crate) number: u32,
    /// It takes no time: packets only wait for their arrival times.
    pub(crate) is_station: bool,
    pub(crate) transmitter: Transmitter,
    /// The packets on their way to it.
    pub(crate) incoming: CalendarQueue,
    pub(crate) queue: Queue,
    /// Time at which arrivals and departures must be processed.
    pub(crate) drain: Timer,
    /// Bytes on the wire of all transmissions begun so far.
    begun_bytes: u64,
    /// The rate of the transmission that was begun last.
    begun_rate: Rate,
    capacity: Capacity,
}

/// Queue in front of the transmitter.
pub(crate) enum Queue {
    /// Unlimited and unmanaged.
    Plain,
    /// A qdisc.
    Managed(Managed),
}

/// A qdisc and its state in the engine.
pub(crate) struct Managed {
    pub(crate) qdisc: Box<dyn Qdisc<Packet>>,
    /// The qdisc names several queues.
    pub(crate) is_divided: bool,
    /// Packets carry the qdisc's price.
    pub(crate) is_priced: bool,
    /// The transmitter dequeues a packet when it is free.
    pub(crate) dequeues_when_free: bool,
    /// The qdisc has packets and hands none over before the transmitter counts as free, unless an arrival ends the wait.
    pub(crate) is_waiting: bool,
    /// Time of the law's next update.
    pub(crate) update: Time,
}

/// The integral of the rate: `bits` up to `at`, from which the present rate holds.
#[derive(Clone, Copy, Default)]
struct Capacity {
    at: Time,
    bits: f64,
    /// The rate just before `at`, which may lie ahead.
    before: Rate,
}

impl Transmitter {
    fn new(plan: &mut LinkPlan) -> Transmitter {
        let (speed, mut link_schedule) = (Speed::new(plan.rate, plan.framing), plan.link_schedule.take());
        if let Some(link_schedule) = link_schedule.as_mut().filter(|_| plan.qdisc.is_none()) {
            link_schedule.make_plain();
        }
        let free = link_schedule.as_ref().map_or(Time::ZERO, |link_schedule| link_schedule.next());
        Transmitter { speed, delay: plan.delay, free, fraction: 0, last_arrival: Time::ZERO, link_schedule }
    }

    /// Typical time between events while it is busy: about three a packet.
    pub(crate) fn gap(&self) -> Span {
        Span::from_nanos(self.typical().nanos() / 3)
    }

    /// Typical transmission time of a packet.
    fn typical(&self) -> Span {
        Span::from_seconds(TYPICAL_BITS / self.speed.rate.bits_per_second())
    }

    /// Time at which it is free.
    pub(crate) fn free(&self) -> Time {
        self.free
    }

    /// Propagation delay.
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// Changes the propagation delay of packets sent from now on.
    pub(crate) fn change_delay(&mut self, delay: Span) {
        self.delay = delay;
    }

    /// Returns whether an idle transmitter sends a packet at `now` at once; otherwise it is free at the next
    /// opportunity.
    pub(crate) fn is_ready(&mut self, now: Time) -> bool {
        if let Some(link_schedule) = &mut self.link_schedule {
            link_schedule.skip(now);
            self.free = link_schedule.next();
        }
        self.link_schedule.is_none()
    }

    /// Its qdisc hands over nothing before `time`. Opportunities are skipped when the wait is over, as it may end earlier.
    pub(crate) fn wait(&mut self, time: Time) {
        (self.free, self.fraction) = (time, 0);
    }

    /// Sends a packet of `len` bytes that arrives at `now`, after the earlier ones;
    /// returns its arrival time at the far end.
    pub(crate) fn send(&mut self, now: Time, len: u32) -> Time {
        if len != self.speed.known.len {
            return self.send_unknown(now, len);
        }
        (self.free, self.fraction) = self.speed.known.takes.after((self.free, self.fraction), now);
        self.arrive(self.free)
    }

    /// Sends a packet of another size than the last; with a schedule, every packet.
    #[cold]
    #[inline(never)]
    fn send_unknown(&mut self, now: Time, len: u32) -> Time {
        let Some(link_schedule) = &mut self.link_schedule else {
            self.speed.measure(len);
            return self.send(now, len);
        };
        let wire = self.speed.framing.on_wire(len);
        self.speed.known.wire = wire;
        // A packet takes a nanosecond at the least, so that its effects come after it.
        let sent = link_schedule.take(now, wire) + Span::from_nanos(1);
        self.free = link_schedule.next();
        self.arrive(sent)
    }

    /// Arrival time of a packet whose last bit leaves at `sent`.
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

    /// Propagation delay.
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// Some of its memory, to be read as a prefetch.
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

    /// Transmission time of a packet of `len` bytes.
    fn takes(&mut self, len: u32) -> Exact {
        if len != self.known.len {
            self.measure(len);
        }
        self.known.takes
    }

    /// Never inlined: its operands would be set up for every packet.
    #[cold]
    #[inline(never)]
    fn measure(&mut self, len: u32) {
        let wire = self.framing.on_wire(len);
        let takes = Exact::new(f64::from(wire) * 8.0 * 1e9 / self.rate.bits_per_second());
        self.known = Known { len, wire, takes };
    }
}

impl Exact {
    /// At least a nanosecond, so that the effects of a packet come after it.
    fn new(nanos: f64) -> Exact {
        let nanos = nanos.max(1.0);
        Exact { nanos: nanos as u64, fraction: (nanos.fract() * FRACTIONS) as u32 }
    }

    /// Next free time of a transmitter that is free at `free` plus a fraction and has a packet at `now`.
    fn after(self, (free, fraction): (Time, u32), now: Time) -> (Time, u32) {
        // Back to back, the fraction of a nanosecond is carried over, so that no rate is rounded.
        let (free, fraction) = if free < now { (now, 0) } else { (free, fraction) };
        let (fraction, carry) = fraction.overflowing_add(self.fraction);
        (Time::from_nanos(free.nanos() + self.nanos + u64::from(carry)), fraction)
    }
}

/// A packet of 1500 B.
const TYPICAL_BITS: f64 = 12_000.0;
/// Fractions in a nanosecond.
const FRACTIONS: f64 = (1_u64 << 32) as f64;

impl Link {
    pub(crate) fn new(number: u32, is_station: bool, mut plan: LinkPlan) -> Link {
        let managed = |mut qdisc: Box<dyn Qdisc<Packet>>| {
            Queue::Managed(Managed {
                is_divided: !qdisc.queue_names().is_empty(),
                is_priced: is_coordinated(qdisc.as_mut(), Coordinator::Decentralised),
                qdisc,
                dequeues_when_free: false,
                is_waiting: false,
                update: Time::NEVER,
            })
        };
        let transmitter = Transmitter::new(&mut plan);
        Link {
            number,
            is_station,
            incoming: CalendarQueue::new(transmitter.typical()),
            transmitter,
            queue: plan.qdisc.map_or(Queue::Plain, managed),
            drain: Timer::OFF,
            begun_bytes: 0,
            begun_rate: plan.rate,
            capacity: Capacity::default(),
        }
    }

    /// Sends a packet of `len` bytes, after those being sent; returns its arrival time.
    pub(crate) fn send(&mut self, now: Time, len: u32) -> Time {
        self.begun_rate = self.transmitter.speed.rate;
        let arrival = self.transmitter.send(now, len);
        self.begun_bytes += u64::from(self.transmitter.speed.known.wire);
        arrival
    }

    /// Bits on the wire that have left the transmitter since the start, to the bit.
    pub(crate) fn sent_bits(&self, now: Time) -> f64 {
        if let Some(link_schedule) = &self.transmitter.link_schedule {
            return (self.begun_bytes - link_schedule.ahead(now)) as f64 * 8.0;
        }
        let left = self.sends_until().since(now).seconds();
        self.begun_bytes as f64 * 8.0 - left * self.begun_rate.bits_per_second()
    }

    /// Bits that could have left the transmitter since the start.
    pub(crate) fn capacity_bits(&self, now: Time) -> f64 {
        if let Some(link_schedule) = &self.transmitter.link_schedule {
            return link_schedule.possible(now) as f64 * 8.0;
        }
        let Capacity { at, bits, before } = self.capacity;
        if now < at {
            return bits - at.since(now).seconds() * before.bits_per_second();
        }
        bits + now.since(at).seconds() * self.transmitter.speed.rate.bits_per_second()
    }

    /// End of the last transmission, where it may lie ahead: a transmitter whose qdisc waits is sending nothing.
    fn sends_until(&self) -> Time {
        match &self.queue {
            Queue::Managed(Managed { is_waiting: true, .. }) => Time::ZERO,
            _ => self.transmitter.free,
        }
    }

    /// Counts the opportunities up to `now`, so that later counts are short.
    pub(crate) fn count_capacity(&mut self, now: Time) {
        if let Some(link_schedule) = &mut self.transmitter.link_schedule {
            link_schedule.count(now);
        }
    }

    /// The next packet is sent at the new rate; the one being sent is finished at its own.
    pub(crate) fn change_rate(&mut self, now: Time, rate: Rate) {
        if self.transmitter.link_schedule.is_some() {
            return;
        }
        if now >= self.capacity.at {
            let at = self.sends_until().max(now);
            self.capacity =
                Capacity { at, bits: self.capacity_bits(at), before: self.transmitter.speed.rate };
        }
        self.transmitter.speed = Speed::new(rate, self.transmitter.speed.framing);
        if let Queue::Managed(managed) = &mut self.queue {
            managed.qdisc.link_changed(now, rate);
        }
    }

    /// The rates of its flows are computed there.
    pub(crate) fn is_coordinated(&mut self, by: Coordinator) -> bool {
        match &mut self.queue {
            Queue::Plain => false,
            Queue::Managed(managed) => is_coordinated(managed.qdisc.as_mut(), by),
        }
    }

    /// Time of the next dequeue; NEVER where the qdisc is empty, unless `idle` counts.
    pub(crate) fn next_departure(&self, idle: bool) -> Time {
        match &self.queue {
            Queue::Managed(Managed { qdisc, dequeues_when_free: true, .. })
                if idle || qdisc.backlog().packets > 0 =>
            {
                self.transmitter.free
            }
            _ => Time::NEVER,
        }
    }

    pub(crate) fn qdisc(&self) -> Option<&dyn Qdisc<Packet>> {
        match &self.queue {
            Queue::Plain => None,
            Queue::Managed(managed) => Some(managed.qdisc.as_ref()),
        }
    }
}

/// The rates of a qdisc's flows are computed there.
fn is_coordinated(qdisc: &mut dyn Qdisc<Packet>, by: Coordinator) -> bool {
    qdisc.shares().is_some_and(|shares| shares.coordinator() == by)
}
