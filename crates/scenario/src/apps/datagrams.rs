//! Datagrams: traffic without congestion control.

use super::voip::{self, PAUSE, SPURT, VOICE_FRAME};
use super::{App, Cbr, Lrd, OnOff, Ping, Poisson, bytes};
use sojourn_params::{InputError, SizeDraw, TimeDraw};
use sojourn_units::{Bytes, Rate, Span};
use std::ops::RangeInclusive;

/// Datagrams of a flow over UDP.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagrams {
    /// Times at which they are sent.
    pub source: Source,
    /// Sizes of whole IP packets, in bytes.
    pub size: SizeDraw,
}

/// Times at which datagrams are sent; rates are those on the wire.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// In even steps.
    Cbr(Rate),
    /// At random, at this mean rate.
    Poisson(Rate),
    /// In even steps in on-periods, with pauses between them.
    OnOff {
        /// Rate while it is on.
        rate: Rate,
        /// Length of an on-period.
        on: TimeDraw,
        /// Length of a pause.
        off: TimeDraw,
    },
    /// By many on/off sources with Pareto periods.
    Lrd {
        /// Mean rate of all together.
        rate: Rate,
        /// The Hurst parameter.
        hurst: f64,
        /// Number of them.
        sources: u32,
        /// The mean on-period.
        on: Span,
        /// The mean pause.
        off: Span,
    },
    /// A frame of speech each.
    Voip {
        /// True: talk spurts with pauses between them.
        spurts: bool,
    },
    /// At this interval; the receiver sends each back.
    Ping(Span),
}

impl App {
    /// Datagrams of an application over UDP in a class whose segments have this size; None over TCP.
    pub fn datagrams(&self, segment: Bytes) -> Option<Datagrams> {
        let packet = self.packet(segment);
        let source = match self {
            App::Cbr(cbr) => Source::Cbr(cbr.rate.bits(packet)),
            App::Poisson(poisson) => Source::Poisson(poisson.rate.bits(packet)),
            App::OnOff(OnOff { rate, on, off, .. }) => {
                Source::OnOff { rate: rate.bits(packet), on: on.clone(), off: off.clone() }
            }
            App::Lrd(Lrd { rate, hurst, sources, on, off, .. }) => {
                let (hurst, sources, on, off) = (*hurst, *sources, *on, *off);
                Source::Lrd { rate: rate.bits(packet), hurst, sources, on, off }
            }
            App::Voip(voip) => Source::Voip { spurts: voip.spurts },
            App::Ping(ping) => Source::Ping(ping.every),
            _ => return None,
        };
        Some(Datagrams { source, size: self.datagram_size().cloned().unwrap_or_else(|| bytes(packet)) })
    }

    /// Mean size of its packets of data, bytes, in a class whose segments have this size.
    pub fn packet(&self, segment: Bytes) -> f64 {
        match self {
            App::Voip(_) => voip::PACKET,
            _ => self.datagram_size().map_or(segment.get() as f64, mean_size),
        }
    }

    /// True if its packets have the size of the class's segments.
    pub fn has_segments(&self) -> bool {
        !matches!(self, App::Voip(_)) && self.datagram_size().is_none()
    }

    /// Sizes of datagrams, where the application has its own.
    fn datagram_size(&self) -> Option<&SizeDraw> {
        match self {
            App::Cbr(Cbr { size, .. })
            | App::Poisson(Poisson { size, .. })
            | App::OnOff(OnOff { size, .. })
            | App::Lrd(Lrd { size, .. }) => size.as_ref(),
            App::Ping(Ping { size, .. }) => Some(size),
            _ => None,
        }
    }
}

impl Datagrams {
    /// Mean size of the packets, bytes.
    pub fn mean_size(&self) -> f64 {
        mean_size(&self.size)
    }

    /// The given rate; for speech and pings the resulting one. Of an on/off source while it is on.
    pub fn rate(&self) -> Rate {
        let each = |gap: Span| Rate::from_bits_per_second(8.0 * self.mean_size() / gap.seconds());
        match &self.source {
            Source::Cbr(rate)
            | Source::Poisson(rate)
            | Source::OnOff { rate, .. }
            | Source::Lrd { rate, .. } => *rate,
            Source::Voip { .. } => each(VOICE_FRAME),
            Source::Ping(every) => each(*every),
        }
    }

    /// Long-run share of the time in which it sends.
    pub fn share_on(&self) -> f64 {
        let share = |on: f64, off: f64| on / (on + off);
        match &self.source {
            Source::OnOff { on, off, .. } => share(on.seconds().mean(), off.seconds().mean()),
            Source::Voip { spurts: true } => share(SPURT, PAUSE),
            // The rate of long-range dependent sources is the mean already.
            _ => 1.0,
        }
    }

    /// Rejects datagrams that take thousands of on-periods to fill: they are no bursts, and slow to compute.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let (on, rate) = match &self.source {
            Source::OnOff { rate, on, .. } => (on.seconds().mean(), *rate),
            Source::Lrd { rate, sources, on, off, .. } => {
                let share = on.seconds() / (on.seconds() + off.seconds());
                let each = rate.bits_per_second() / f64::from(*sources) / share;
                (on.seconds(), Rate::from_bits_per_second(each))
            }
            _ => return Ok(()),
        };
        let gap = 8.0 * self.mean_size() / rate.bits_per_second();
        if gap <= MOST_PERIODS * on {
            return Ok(());
        }
        let [gap, on] = [gap, on].map(Span::from_seconds);
        let problem =
            format!("is too low: a source fills a datagram in {gap}, in periods of {on} on average");
        let expected = format!("at most {MOST_PERIODS} of them for each datagram");
        Err(InputError::conflict(self.rate(), problem, expected).at("rate"))
    }
}

/// Mean size of datagrams as they are sent, bytes.
fn mean_size(drawn: &SizeDraw) -> f64 {
    // Never in packets: its range excludes them.
    drawn.bytes(1.0).mean_within(*DATAGRAM.start(), *DATAGRAM.end())
}

/// True for sizes of datagrams.
pub(super) fn is_datagram(size: &SizeDraw) -> bool {
    !size.is_in_packets() && DATAGRAM.contains(&size.bytes(1.0).mean())
}

/// The headers of a datagram, bytes: IPv4 and UDP (RFC 791, RFC 768).
pub const UDP_HEADER: u32 = 28;
/// Bytes of a datagram: from its headers to the limit of IP. Draws are clamped to it.
pub const DATAGRAM: RangeInclusive<f64> = UDP_HEADER as f64..=65535.0;
/// Its range, in words.
pub(super) const DATAGRAM_SIZES: &str = "28 B to 65535 B on average, not in packets";
/// On-periods that a datagram may take.
const MOST_PERIODS: f64 = 1000.0;
