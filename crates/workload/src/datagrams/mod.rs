//! Datagrams that do not respond to congestion: send times and sizes.
//!
//! Send times and sizes are independent, with streams of their own. Each source, a file each, returns the send times of
//! its datagrams one after the other.

mod even;
mod lrd;
mod on_off;
mod poisson;
mod voice;

use even::Even;
use lrd::Lrd;
use on_off::OnOff;
use poisson::Poisson;
use sojourn_random::{Draw, Stream};
use sojourn_scenario::{self as scenario, DATAGRAM};
use sojourn_units::{Ecn, Time};
use voice::Voice;

/// A stream of UDP datagrams.
#[derive(Clone, Debug)]
pub struct DatagramsPlan {
    /// Name of the flow, class and user, with which those of its random streams begin.
    pub name: String,
    /// Datagrams per second, the mean; of an on/off source while it is on.
    pub rate: f64,
    /// Their spacing in time.
    pub spacing: Spacing,
    /// Sizes on the wire, bytes; clamped to those of datagrams.
    pub size: Draw,
    /// Their ECN codepoint.
    pub ecn: Ecn,
    /// The receiver sends each one back.
    pub echo: bool,
}

impl DatagramsPlan {
    /// The plan of a scenario's datagrams, for a flow without a name yet.
    pub fn of_scenario(of: &scenario::Datagrams, ecn: Ecn) -> DatagramsPlan {
        let rate = of.rate().packets_per_second(of.mean_size());
        let spacing = match &of.source {
            scenario::Source::Cbr(_) | scenario::Source::Ping(_) => Spacing::Even,
            scenario::Source::Poisson(_) => Spacing::Poisson,
            scenario::Source::OnOff { on, off, .. } => {
                Spacing::OnOff { on: on.seconds().clone(), off: off.seconds().clone() }
            }
            scenario::Source::Lrd { hurst, sources, on, off, .. } => Spacing::Lrd(OnOffSum {
                sources: *sources,
                hurst: *hurst,
                on: on.seconds(),
                off: off.seconds(),
            }),
            scenario::Source::Voip { spurts } => Spacing::Voice { spurts: *spurts },
        };
        let echo = matches!(of.source, scenario::Source::Ping(_));
        DatagramsPlan { name: String::new(), rate, spacing, size: of.size.bytes(1.0), ecn, echo }
    }

    /// Datagrams of one size, bytes, at a rate per second; neither ECN-capable nor sent back.
    pub fn plain(name: &str, rate: f64, spacing: Spacing, bytes: u16) -> DatagramsPlan {
        let size = Draw::constant(f64::from(bytes)).expect("a size is finite");
        DatagramsPlan { name: name.into(), rate, spacing, size, ecn: Ecn::NotEct, echo: false }
    }
}

/// Spacing of datagrams in time.
#[derive(Clone, Debug, PartialEq)]
pub enum Spacing {
    /// In even steps, the first at the start.
    Even,
    /// With independent exponential gaps, also before the first.
    Poisson,
    /// In even steps during on-periods, the first of which begins at the start.
    OnOff {
        /// Lengths of on-periods, s.
        on: Draw,
        /// Lengths of the pauses between them, s.
        off: Draw,
    },
    /// The sum of many on/off sources with long-range dependence.
    Lrd(OnOffSum),
    /// In even steps, a frame of speech each, the first at the end of the first frame.
    Voice {
        /// There are pauses between talk spurts.
        spurts: bool,
    },
}

/// Equal on/off sources whose periods are Pareto distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOffSum {
    /// Number of sources.
    pub sources: u32,
    /// The Hurst parameter of their sum; between 0.5 and 1.
    pub hurst: f64,
    /// The mean on-period, s.
    pub on: f64,
    /// The mean pause, s.
    pub off: f64,
}

impl OnOffSum {
    /// The lengths of on-periods and of pauses, s: Pareto with a tail index of 3 - 2H.
    pub fn periods(&self) -> [Draw; 2] {
        let period = |mean| Draw::pareto(mean, 3.0 - 2.0 * self.hurst);
        [self.on, self.off].map(|mean| period(mean).expect("the scenario has checked the periods"))
    }
}

/// A stream of datagrams.
pub struct Datagrams {
    source: Source,
    /// Send time of the next one.
    next: Time,
    sizes: Draw,
    size_draws: Stream,
    ecn: Ecn,
    echo: bool,
}

/// Source of send times.
enum Source {
    Even(Even),
    Poisson(Poisson),
    OnOff(OnOff),
    Lrd(Lrd),
    Voice(Voice),
}

/// A datagram to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Its size on the wire, bytes.
    pub len: u16,
    /// ECN bits.
    pub ecn: Ecn,
}

/// Seed of the run and name of the flow, from which its random streams follow.
#[derive(Clone, Copy, Debug)]
struct Draws<'a> {
    seed: u64,
    name: &'a str,
}

impl Datagrams {
    /// From its plan, under this seed; it starts at `start`.
    pub fn new(plan: DatagramsPlan, seed: u64, start: Time) -> Datagrams {
        let draws = Draws { seed, name: &plan.name };
        let mut source = Source::new(plan.rate, plan.spacing, draws, start);
        Datagrams {
            next: source.next(),
            source,
            sizes: plan.size,
            size_draws: draws.stream("size"),
            ecn: plan.ecn,
            echo: plan.echo,
        }
    }

    /// Send time of the next datagram; NEVER: there are no more.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// The next datagram, sent now.
    #[inline]
    pub fn send(&mut self) -> Datagram {
        self.next = self.source.next();
        let size = self.sizes.sample(&mut self.size_draws).round();
        Datagram { len: size.clamp(*DATAGRAM.start(), *DATAGRAM.end()) as u16, ecn: self.ecn }
    }

    /// The datagram that the receiver sends back in answer to one of `len` bytes, if it does.
    #[inline]
    pub fn answer(&self, len: u16) -> Option<Datagram> {
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

    /// Send time of the next datagram, not before the last one; NEVER: there are no more.
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
