//! Hosts of this project: a sender or a receiver of `sojourn-tcp`.

use crate::play::Host;
use crate::script::{Act, Backend, Offer, Packet, Quantity, Stamps, Window};
use crate::setup::{Role, Setup};
use sojourn_tcp::{Config, Flags, Receiver, SackBlocks, Segment, Sender, Stamp, TIMESTAMPS};
use sojourn_units::{Ecn, Span, Time};
use std::collections::VecDeque;

/// State machine, with the segments that it has sent.
pub struct Ours {
    end: End,
    sent: VecDeque<(Time, Packet)>,
    /// Window scales of both sides, once both have offered one.
    shift: Shifts,
    mss: f64,
    /// Bytes written by the application.
    written: u64,
    timers: u32,
    /// The window in a proportional reduction is what it allows in flight, as in Linux.
    counts_reduction: bool,
}

enum End {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
}

#[derive(Clone, Copy, Default)]
struct Shifts {
    ours: Option<u8>,
    theirs: Option<u8>,
}

impl Ours {
    /// Creates the host of a script.
    pub fn new(setup: &Setup) -> Ours {
        let options = if setup.profile.timestamps { TIMESTAMPS } else { 0 };
        let (cc, profile) = (setup.cc.clone(), setup.profile.clone());
        let config =
            Config { profile, cc, mss: setup.mss + options, ecn: setup.ecn, ect1: false, reads: None };
        let end = match setup.role {
            Role::Receiver => End::Receiver(Box::new(Receiver::new(&config))),
            Role::Sender => End::Sender(Box::new(Sender::new(config))),
        };
        let mss = f64::from(setup.mss);
        Ours {
            end,
            sent: VecDeque::new(),
            shift: Shifts::default(),
            mss,
            written: 0,
            timers: 0,
            counts_reduction: false,
        }
    }

    /// Reports as window, in a proportional reduction, what it allows in flight.
    pub(crate) fn counting_reduction(self) -> Ours {
        Ours { counts_reduction: true, ..self }
    }

    /// Takes all segments that a sender has to send now.
    fn collect(&mut self, now: Time) {
        while let End::Sender(sender) = &mut self.end
            && let Some(segment) = sender.poll_transmit(now)
        {
            self.push(now, &segment);
        }
    }

    fn push(&mut self, now: Time, segment: &Segment) {
        let packet = self.packet(segment);
        self.sent.push_back((now, packet));
    }

    /// Bytes.
    fn cwnd(&self, sender: &Sender) -> f64 {
        let reducing = sender.reducing_to().filter(|_| self.counts_reduction);
        reducing.unwrap_or(sender.window().get()) as f64
    }

    fn next_timeout(&self) -> Option<Time> {
        match &self.end {
            End::Sender(sender) => sender.next_timeout(),
            End::Receiver(receiver) => receiver.next_timeout(),
        }
    }

    fn on_timeout(&mut self, now: Time) {
        match &mut self.end {
            End::Sender(sender) => sender.on_timeout(now),
            End::Receiver(receiver) => {
                if let Some(ack) = receiver.on_timeout(now) {
                    self.push(now, &ack);
                }
            }
        }
        self.collect(now);
    }

    /// Converts one of our segments to a script's.
    fn packet(&mut self, segment: &Segment) -> Packet {
        let syn = segment.flags.has(Flags::SYN);
        if syn {
            self.shift.ours = segment.flags.has(Flags::SCALE).then_some(segment.scale);
        }
        let from_sender = matches!(self.end, End::Sender(_));
        let first = u64::from(!syn);
        let shift = if syn { 0 } else { self.shift.agreed(self.shift.ours) };
        let micros = segment.stamp.nanos_since(Stamp::default()) / 1000;
        let stamps = if from_sender {
            Stamps { value: Some(micros / 1000), echo: None }
        } else {
            Stamps { value: None, echo: Some(micros / 1000) }
        };
        let flags = CONTROL.iter().fold(Flags::NONE, |all, flag| all.with(*flag, segment.flags.has(*flag)));
        let offer = Offer { mss: None, sack: segment.flags.has(Flags::SACK), scale: self.shift.ours };
        Packet {
            flags,
            seq: if from_sender { segment.seq + first } else { first },
            len: segment.len.into(),
            ack: if flags.has(Flags::ACK) { segment.ack + 1 } else { 0 },
            window: (!from_sender).then(|| Window::Seen {
                field: u64::from(segment.window >> shift),
                bytes: segment.window.into(),
            }),
            ecn: Some(segment.ecn),
            sack: segment.sack.iter(segment.ack).map(|(from, to)| (from + 1, to + 1)).collect(),
            stamp: segment.flags.has(Flags::TIMESTAMP).then_some(stamps),
            offer: syn.then_some(offer),
        }
    }

    /// Converts a script's segment to one of ours.
    fn segment(&mut self, packet: &Packet) -> Result<Segment, String> {
        let syn = packet.flags.has(Flags::SYN);
        let offer = packet.offer.unwrap_or_default();
        if syn {
            self.shift.theirs = offer.scale;
        }
        let ack = if packet.flags.has(Flags::ACK) { before(packet.ack)? } else { 0 };
        let mut sack = SackBlocks::default();
        for &(from, to) in &packet.sack {
            sack.push(ack, before(from)?, before(to)?);
        }
        let flags = packet
            .flags
            .with(Flags::SACK, offer.sack || !packet.sack.is_empty())
            .with(Flags::SCALE, offer.scale.is_some())
            .with(Flags::TIMESTAMP, packet.stamp.is_some());
        let stamps = packet.stamp.unwrap_or_default();
        let stamp = if matches!(self.end, End::Sender(_)) { stamps.echo } else { stamps.value };
        let shift = if syn { 0 } else { self.shift.agreed(self.shift.theirs) };
        let window = match packet.window {
            Some(Window::Field(field)) => field << shift,
            Some(Window::Room(bytes) | Window::Seen { bytes, .. }) => bytes,
            None => FULL_WINDOW << shift,
        };
        Ok(Segment {
            seq: if syn { 0 } else { before(packet.seq)? },
            ack,
            sack,
            stamp: Stamp::at(Time::ZERO + Span::from_millis(1).saturating_mul(stamp.unwrap_or(0))),
            window: u32::try_from(window).map_err(|_| "a window is below 4 GiB")?,
            len: u16::try_from(packet.len).map_err(|_| "a segment is below 64 KiB")?,
            flags,
            ecn: packet.ecn.unwrap_or(Ecn::NotEct),
            scale: offer.scale.unwrap_or(0),
        })
    }
}

impl Host for Ours {
    fn backend(&self) -> Backend {
        Backend::Ours
    }

    fn act(&mut self, now: Time, act: Act) -> Result<(), String> {
        match (&mut self.end, act) {
            (End::Sender(sender), Act::Open) => sender.open(),
            (End::Sender(sender), Act::Write(bytes)) => {
                self.written = self.written.saturating_add(bytes);
                sender.supply(self.written);
            }
            (End::Sender(sender), Act::Close) => sender.close(),
            (End::Receiver(receiver), Act::StopReading) => receiver.stop_reading(now),
            (End::Receiver(receiver), Act::Read(bytes)) => {
                if let Some(update) = receiver.read(now, bytes) {
                    self.push(now, &update);
                }
            }
            _ => return Err(format!("{act:?} is not possible for this role")),
        }
        self.collect(now);
        Ok(())
    }

    fn receive(&mut self, now: Time, packet: &Packet) -> Result<(), String> {
        let segment = self.segment(packet)?;
        match &mut self.end {
            End::Sender(sender) => {
                sender.on_segment(now, &segment);
                // The ACK of a SYN is left out (`Host::transmit`).
                if segment.flags.has(Flags::SYN)
                    && let Some(first) = sender.poll_transmit(now).filter(|first| first.end() > first.seq)
                {
                    self.push(now, &first);
                }
            }
            End::Receiver(receiver) => {
                if let Some(answer) = receiver.on_segment(now, &segment) {
                    self.push(now, &answer);
                }
            }
        }
        self.collect(now);
        if segment.flags.has(Flags::SYN) {
            self.sent.retain(|(_, answer)| answer.flags != Flags::ACK || answer.len > 0);
        }
        Ok(())
    }

    fn transmit(&mut self, until: Time) -> Result<Option<(Time, Packet)>, String> {
        loop {
            if self.sent.front().is_some_and(|(at, _)| *at <= until) {
                self.timers = 0;
                return Ok(self.sent.pop_front());
            }
            let Some(due) = self.next_timeout().filter(|due| *due <= until) else { return Ok(None) };
            self.on_timeout(due);
            self.timers += 1;
            if self.timers > MOST_TIMERS {
                return Err(format!("a timer that expires without end, at {due} last"));
            }
        }
    }

    fn measure(&self, quantity: Quantity) -> Option<f64> {
        let End::Sender(sender) = &self.end else { return None };
        let millis = |span: Span| span.nanos() as f64 / 1e6;
        Some(match quantity {
            Quantity::Cwnd => self.cwnd(sender) / self.mss,
            Quantity::Ssthresh => sender.ssthresh().get() as f64 / self.mss,
            Quantity::Flight => sender.flight() as f64 / self.mss,
            Quantity::Rto => millis(sender.timeout()),
            Quantity::Srtt => millis(sender.smoothed()?),
        })
    }

    fn slack(&self, _wait: Span) -> Span {
        Span::ZERO
    }

    fn late(&self) -> bool {
        false
    }
}

impl Shifts {
    /// `shift`, if both sides have offered one (RFC 7323, section 2.2).
    fn agreed(self, shift: Option<u8>) -> u8 {
        self.ours.and(self.theirs).and(shift).unwrap_or(0)
    }
}

/// Converts a script's number to one of ours, which start at 0 after the SYN.
fn before(number: u64) -> Result<u64, String> {
    number.checked_sub(1).ok_or_else(|| "number 0 is the SYN's".into())
}

const CONTROL: [Flags; 5] = [Flags::SYN, Flags::FIN, Flags::ACK, Flags::ECE, Flags::CWR];
/// Window field of segments for which a script gives none.
const FULL_WINDOW: u64 = 65535;
/// Most timers that may expire in a row without a segment.
const MOST_TIMERS: u32 = 10_000;
