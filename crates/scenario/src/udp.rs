//! Datagrams: traffic without congestion control.

use sojourn_params::{Page, SizeDraw, TimeDraw};
use sojourn_units::{Rate, Span};
use std::ops::RangeInclusive;

/// Datagrams of a flow over UDP.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagrams {
    /// Times at which they are sent.
    pub source: Source,
    /// Sizes of whole IP packets, in bytes.
    pub size: SizeDraw,
}

/// Times at which datagrams are sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// In even steps, at this rate on the wire.
    Cbr(Rate),
    /// At random, at this mean rate on the wire.
    Poisson(Rate),
    /// In even steps in on-periods, with pauses between them.
    OnOff(OnOff),
    /// By many on/off sources whose sum is long-range dependent.
    Lrd(Lrd),
    /// A frame of speech each.
    Voip {
        /// True: talk spurts with pauses between them.
        spurts: bool,
    },
    /// At this interval; the receiver sends each back.
    Ping(Span),
}

/// A source that is on and off in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// Rate on the wire, while it is on.
    pub rate: Rate,
    /// Length of an on-period.
    pub on: TimeDraw,
    /// Length of a pause.
    pub off: TimeDraw,
}

/// The sum of many on/off sources with Pareto periods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lrd {
    /// Rate on the wire, the mean of all together.
    pub rate: Rate,
    /// The Hurst parameter.
    pub hurst: f64,
    /// Number of them.
    pub sources: u32,
    /// The mean on-period.
    pub on: Span,
    /// The mean pause.
    pub off: Span,
}

impl Datagrams {
    /// Mean size of the packets, bytes.
    pub fn mean_size(&self) -> f64 {
        mean_size(&self.size)
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self.source {
            Source::Cbr(_) => "cbr",
            Source::Poisson(_) => "poisson",
            Source::OnOff(_) => "on_off",
            Source::Lrd(_) => "lrd",
            Source::Voip { .. } => "voip",
            Source::Ping(_) => "ping",
        }
    }

    /// The given rate; for speech and pings the resulting one. Of an on/off source while it is on.
    pub fn rate(&self) -> Rate {
        let each = |gap: Span| Rate::from_bits_per_second(8.0 * self.mean_size() / gap.seconds());
        match &self.source {
            Source::Cbr(rate)
            | Source::Poisson(rate)
            | Source::OnOff(OnOff { rate, .. })
            | Source::Lrd(Lrd { rate, .. }) => *rate,
            Source::Voip { .. } => each(VOICE_FRAME),
            Source::Ping(every) => each(*every),
        }
    }

    /// Long-run share of the time in which it sends.
    pub fn share_on(&self) -> f64 {
        let share = |on: f64, off: f64| on / (on + off);
        match &self.source {
            Source::OnOff(of) => share(of.on.seconds().mean(), of.off.seconds().mean()),
            Source::Voip { spurts: true } => share(SPURT, PAUSE),
            // The rate of long-range dependent sources is the mean already.
            _ => 1.0,
        }
    }
}

/// Mean size of datagrams as they are sent, bytes.
pub(crate) fn mean_size(drawn: &SizeDraw) -> f64 {
    // Never in packets: the reader has checked it.
    drawn.bytes(1.0).mean_within(*DATAGRAM.start(), *DATAGRAM.end())
}

/// Sizes of `segment`, bytes.
pub(crate) const SEGMENT: RangeInclusive<u64> = 100..=65535;
/// A frame of speech: RFC 3551, section 4.5.14 and table 1.
pub const VOICE_FRAME: Span = Span::from_millis(20);
/// Its packet: 64 kbit/s for that time, and 40 B of headers of RTP, UDP and IP.
pub(crate) const VOICE_PACKET: f64 = 200.0;
/// The mean talk spurt and the mean pause, s: ITU-T P.59 (03/93), table 1.
pub const SPURT: f64 = 1.004;
/// The mean pause between talk spurts, s.
pub const PAUSE: f64 = 1.587;
/// Default packet of a ping: 56 B and the headers, as of `ping`.
pub(crate) const PING_PACKET: f64 = 84.0;
/// Default time from ping to ping.
pub(crate) const PING_EVERY: Span = Span::from_millis(200);
/// The headers of a datagram, bytes: IPv4 and UDP (RFC 791, RFC 768).
pub const UDP_HEADER: u32 = 28;
/// Bytes of a datagram: from its headers to the limit of IP. Draws are clamped to it.
pub const DATAGRAM: RangeInclusive<f64> = UDP_HEADER as f64..=65535.0;
/// Default mean of on-periods and of pauses: those of ns-2's sources (The ns Manual,
/// chapter "Applications and transport agent API").
pub(crate) const PERIOD: Span = Span::from_millis(500);

pub(crate) const CBR: Page = Page {
    stem: "cbr",
    summary: "UDP datagrams in even steps; does not respond to congestion",
    idea: "A constant bit rate, as of a video or voice stream without adaptation. The first datagram leaves at the \
           flow's start. `rate` counts whole IP packets, `segment` is their size, headers (28 B) included, or `size` \
           a distribution of sizes; the steps stay even, and `rate` is then the mean. With `ecn` they are \
           ECN-capable, and marks change nothing.",
    equation: "gap = 8 segment / rate",
    source: "RFC 8085, section 3.1: traffic that does not respond",
    fields: Vec::new,
};

pub(crate) const POISSON: Page = Page {
    stem: "poisson",
    summary: "UDP datagrams at random times; does not respond to congestion",
    idea: "Gaps are independent and exponential, so arrivals look the same at every moment: the traffic of queueing \
           theory. `rate` is the mean, of whole IP packets; `segment` is their size, headers (28 B) included, or \
           `size` a distribution of sizes, which makes any M/G/1 queue. With `ecn` they are ECN-capable, and marks \
           change nothing.",
    equation: "P(gap > t) = exp(-t / m),   m = 8 segment / rate",
    source: "L. Kleinrock, Queueing Systems I, 1975, section 2.4",
    fields: Vec::new,
};

pub(crate) const ON_OFF: Page = Page {
    stem: "on_off",
    summary: "UDP datagrams in even steps while it is on, none while it is off",
    idea: "Bursts with pauses. While it is on, the source produces data at `rate`, and sends a datagram when it is full; \
    a partial one is carried into the next on-period, so the mean rate is exact. It begins with an \
           on-period at its start. `on` and `off` are times or distributions: exponential ones make bursts of one \
           time scale, Pareto ones with a shape below 2 bursts of all time scales.",
    equation: "mean rate = rate on / (on + off);   exponential: Var A(t) -> 2 rate^2 p (1 - p) t / (1/on + 1/off),  \
               p = on / (on + off)",
    source: "D. Anick, D. Mitra, M. M. Sondhi, Stochastic Theory of a Data-Handling System with Multiple Sources, Bell \
             System Technical Journal 61, 1982; defaults: The ns Manual, traffic generators",
    fields: Vec::new,
};

pub(crate) const LRD: Page = Page {
    stem: "lrd",
    summary: "UDP datagrams of many on/off sources, bursty on all time scales (long-range dependent)",
    idea: "The sum of `sources` on/off sources whose periods are Pareto distributed with tail index 3 - 2H, means `on` \
           and `off`; each sends at rate (on + off) / (on sources) while it is on. Their periods have no finite \
           variance, and the sum keeps its bursts however long it is averaged: its variance over a time t falls as \
           t^(2H - 2), for other traffic as 1/t. That holds for times well above the mean periods. The sources start in \
           their stationary state.",
    equation: "H = (3 - a) / 2,   P(period > x) ~ x^-a",
    source: "W. Willinger, M. S. Taqqu, R. Sherman, D. V. Wilson, Self-Similarity Through High-Variability, IEEE/ACM \
             Transactions on Networking 5, 1997",
    fields: Vec::new,
};

pub(crate) const VOIP: Page = Page {
    stem: "voip",
    summary: "a voice call's one direction: G.711 in packets of 200 B each 20 ms, over UDP",
    idea: "160 B of speech and 40 B of headers (RTP, UDP, IP) each 20 ms, 80 kbit/s on the wire. The first packet leaves \
           when its 20 ms have been spoken. With `spurts` the speaker pauses: talk spurts and pauses are exponential with \
           means of 1.004 s and 1.587 s, and a frame that a spurt fills in part is sent whole. Its metrics are delay, \
           loss and R-factor.",
    equation: "",
    source: "ITU-T G.711; RFC 3551, section 4.5.14; ITU-T P.59, table 1",
    fields: Vec::new,
};

pub(crate) const PING: Page = Page {
    stem: "ping",
    summary: "a small datagram at intervals, which the receiver sends back: the round-trip time of the path",
    idea: "The receiver returns each datagram at once, of the same size; the sender measures the time from one to the \
    other, which is the class's round-trip time. Datagrams that do not return are lost and measure nothing. The default, \
    84 B each 200 ms, is too little to affect the measurement.",
    equation: "",
    source: "RFC 862",
    fields: Vec::new,
};
