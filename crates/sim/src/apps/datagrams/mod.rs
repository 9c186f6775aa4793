//! Datagrams that do not respond to congestion: when they are sent, and how large they are.
//!
//! When the next one is sent and how large it is have nothing to do with each other, and draw from streams of their
//! own. A file has one source; each is asked for the times of its datagrams, one after the other.

mod even;
mod lrd;
mod on_off;
mod poisson;
mod voice;

use crate::network::{DatagramsPlan, OnOffSum, Spacing};
use even::Even;
use lrd::Lrd;
use on_off::OnOff;
use poisson::Poisson;
use sojourn_scenario::{self as scenario, DATAGRAM};
use sojourn_units::{Draw, Ecn, Stream, Time};
use voice::Voice;

/// A stream of datagrams at work.
pub(crate) struct Datagrams {
    source: Source,
    /// When the next one is sent.
    next: Time,
    sizes: Draw,
    size_draws: Stream,
    ecn: Ecn,
    echo: bool,
}

/// When datagrams are sent.
enum Source {
    Even(Even),
    Poisson(Poisson),
    OnOff(OnOff),
    Lrd(Lrd),
    Voice(Voice),
}

/// A datagram that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// Its size on the wire, bytes.
    pub(crate) len: u16,
    pub(crate) ecn: Ecn,
}

/// Where the streams of a flow's random numbers are: the run's seed, and the flow's name.
#[derive(Clone, Copy, Debug)]
struct Draws<'a> {
    seed: u64,
    name: &'a str,
}

/// The plan of what a scenario says, for a flow that has no name yet.
pub(crate) fn plan(of: &scenario::Datagrams, ecn: bool) -> DatagramsPlan {
    let rate = of.rate().packets_per_second(of.mean_size());
    let spacing = match &of.source {
        scenario::Source::Cbr(_) | scenario::Source::Ping(_) => Spacing::Even,
        scenario::Source::Poisson(_) => Spacing::Poisson,
        scenario::Source::OnOff(scenario::OnOff { on, off, .. }) => {
            Spacing::OnOff { on: on.seconds().clone(), off: off.seconds().clone() }
        }
        scenario::Source::Lrd(lrd) => Spacing::Lrd(OnOffSum {
            sources: lrd.sources,
            hurst: lrd.hurst,
            on: lrd.on.seconds(),
            off: lrd.off.seconds(),
        }),
        scenario::Source::Voip { spurts } => Spacing::Voice { spurts: *spurts },
    };
    let echo = matches!(of.source, scenario::Source::Ping(_));
    DatagramsPlan { name: String::new(), rate, spacing, size: of.size.bytes(1.0), ecn, echo }
}

impl Datagrams {
    /// From its plan, under this seed; it starts at `start`.
    pub(crate) fn new(plan: DatagramsPlan, seed: u64, start: Time) -> Datagrams {
        let draws = Draws { seed, name: &plan.name };
        let mut source = Source::new(plan.rate, plan.spacing, draws, start);
        Datagrams {
            next: source.next(),
            source,
            sizes: plan.size,
            size_draws: draws.stream("size"),
            ecn: if plan.ecn { Ecn::Ect0 } else { Ecn::NotEct },
            echo: plan.echo,
        }
    }

    /// When the next datagram is sent; NEVER where there is none any more.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The datagram that is sent now.
    pub(crate) fn send(&mut self) -> Datagram {
        self.next = self.source.next();
        let size = self.sizes.sample(&mut self.size_draws).round();
        Datagram { len: size.clamp(*DATAGRAM.start(), *DATAGRAM.end()) as u16, ecn: self.ecn }
    }

    /// A datagram of `len` bytes has come to the receiver: the one that it sends back, if it does.
    pub(crate) fn answer(&self, len: u16) -> Option<Datagram> {
        self.echo.then_some(Datagram { len, ecn: self.ecn })
    }
}

impl Source {
    fn new(rate: f64, spacing: Spacing, draws: Draws<'_>, start: Time) -> Source {
        match spacing {
            Spacing::Even => Source::Even(Even::new(start, rate)),
            Spacing::Poisson => Source::Poisson(Poisson::new(start, rate, draws.stream("gap"))),
            Spacing::OnOff { on, off } => {
                Source::OnOff(OnOff::new(start, rate, (on, off), draws.stream("periods")))
            }
            Spacing::Lrd(plan) => Source::Lrd(Lrd::new(start, rate, plan, draws)),
            Spacing::Voice { spurts } => {
                Source::Voice(Voice::new(start, rate, spurts, draws.stream("spurts")))
            }
        }
    }

    /// The time of the next datagram, never before that of the last; NEVER where there is none any more.
    fn next(&mut self) -> Time {
        match self {
            Source::Even(even) => even.next(),
            Source::Poisson(poisson) => poisson.next(),
            Source::OnOff(on_off) => on_off.next(),
            Source::Lrd(lrd) => lrd.next(),
            Source::Voice(voice) => voice.next(),
        }
    }
}

impl Draws<'_> {
    /// The stream for one purpose.
    fn stream(self, purpose: &str) -> Stream {
        Stream::named(self.seed, &format!("{}/{purpose}", self.name))
    }
}
