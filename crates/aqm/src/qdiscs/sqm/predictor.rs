//! Signals by prediction: the backlog of the link one round trip ahead.
//!
//! A signal halves the rate of one flow, one round trip later, and by then many more packets have come. So the link counts
//! the signals in flight, as a Smith predictor does (O. J. M. Smith 1957). With Q packets in all queues, which the link sends
//! at C, arrivals at A (averaged over D), n flows, and signals j whose flows of rate x_j answer at t_j,
//!
//! ```text
//! V^ = A - C + g D - sum of d_j                                                                                 (iv)
//! Q^ = [Q + (A - C) D + g D^2 / 2 - sum of d_j (D - [t_j - t]^+)]^+
//! d_j = x_j / 2,   e^(-(t - t_j) / D) of it after t_j, when A shows the rest
//! g = n / D^2 min(1, W / 4)^2,   W = C D / n
//! signal while Q^ + D V^ > S,   dS/dt = (C T - Q) / (5 D)                                                       (v)
//! ```
//!
//! with D the mean round trip of the flows and T the target. g is the growth of all rates together, a packet a round trip for
//! each flow (RFC 5681, section 3.1); a window of less than four packets does not grow for long, as a loss in it brings fewer
//! than three duplicate acknowledgments, and so a timeout. A signal goes to the flow whose queue is longest by its share, at
//! most one in a round trip. Thus the flows slow down one after another, each when the link needs it.
//!
//! With many flows (v) holds Q^ + D dQ^/dt = S, and with a true prediction Q is Q^ of D before. The loop of S is
//!
//! ```text
//! L(s) = kappa e^(-sD) / (s (s + a)),   a = 1 / D,   kappa = 1 / (5 D^2)                                        (vi)
//! ```
//!
//! whose margins are those of `sojourn_optim::sqm::margin::QueueLoop`: 68 degrees, whatever D, C and the number of flows.
//!
//! Flows of less than two packets a round trip cannot slow down further. Then the backlog is bounded by a multiple of the
//! target, which follows the mean of Q as S does.

use sojourn_units::{Time, math};
use std::collections::VecDeque;

/// State of the link, in packets and seconds.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    /// A.
    arrivals: Mean,
    /// Signals, the earliest first.
    signals: VecDeque<Fall>,
    /// S, packets; None: it has not begun.
    threshold: Option<f64>,
    /// Most packets of an overloaded link, by the target.
    room: f64,
    /// Integral of Q since the last update, packets s, up to a time.
    backlog: f64,
    until: Time,
    /// Time of the last update.
    at: Time,
}

/// A link at the time of an update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Q, packets.
    pub(super) backlog: f64,
    /// C, packets/s.
    pub(super) rate: f64,
    /// C T, packets, but for the shortest.
    pub(super) target: f64,
    /// D, s.
    pub(super) delay: f64,
    /// n.
    pub(super) flows: f64,
}

/// The link one round trip ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prediction {
    /// Q^, packets.
    backlog: f64,
    /// V^, packets/s.
    speed: f64,
    /// S, packets.
    threshold: f64,
    /// D, s.
    delay: f64,
}

/// The fall of a rate that follows from a signal.
#[derive(Clone, Copy, Debug)]
struct Fall {
    /// t_j.
    acts: Time,
    /// x_j / 2, packets/s.
    size: f64,
}

impl Predictor {
    /// Before the first packet, for so many queues.
    pub(super) fn new(queues: u32) -> Predictor {
        Predictor {
            arrivals: Mean::default(),
            signals: VecDeque::with_capacity((SIGNALS_A_QUEUE * queues).min(MOST_SIGNALS) as usize),
            threshold: None,
            room: 2.0,
            backlog: 0.0,
            until: Time::ZERO,
            at: Time::ZERO,
        }
    }

    /// A packet of this size, in mean packets, arrives on a path of D.
    pub(super) fn arrived(&mut self, now: Time, size: f64, delay: f64) {
        self.arrivals.add(now, size, delay);
    }

    /// So many packets were held until now.
    pub(super) fn held(&mut self, now: Time, packets: u32) {
        let elapsed = now.since(std::mem::replace(&mut self.until, now)).seconds();
        self.backlog += f64::from(packets) * elapsed;
    }

    /// S follows, and signals that A shows are forgotten.
    pub(super) fn update(&mut self, now: Time, link: &Link) {
        self.held(now, link.backlog as u32);
        let elapsed = now.since(std::mem::replace(&mut self.at, now)).seconds();
        let excess = std::mem::take(&mut self.backlog) - elapsed * link.target;
        let step = -(INTEGRAL / link.delay) * excess;
        let before = self.threshold.unwrap_or(link.target);
        self.threshold = Some((before + step).clamp(-MOST * link.target, MOST * link.target));
        self.room = (self.room + step / link.target).clamp(1.0, MOST_ROOM);
        let is_shown = |fall: &Fall| now.since(fall.acts).seconds() > SHOWN * link.delay;
        while self.signals.front().is_some_and(is_shown) {
            self.signals.pop_front();
        }
    }

    /// Equation (iv).
    pub(super) fn predict(&self, now: Time, link: &Link) -> Prediction {
        let (arrivals, growth) = (self.arrivals.at(now, link.delay), link.growth());
        let mut speed = arrivals - link.rate + growth * link.delay;
        let mut backlog = link.backlog + (speed - growth * link.delay / 2.0) * link.delay;
        for fall in &self.signals {
            let shown = now.since(fall.acts).seconds() / link.delay;
            let size = fall.size * math::exp(-shown);
            let left = fall.acts.since(now).seconds();
            speed -= size;
            backlog -= size * (link.delay - left).max(0.0);
        }
        let threshold = self.threshold.unwrap_or(link.target);
        Prediction { backlog: backlog.max(0.0), speed, threshold, delay: link.delay }
    }

    /// A flow of this rate is signalled, and answers after its round trip.
    pub(super) fn signalled(&mut self, acts: Time, rate: f64) {
        if self.signals.len() == self.signals.capacity() {
            self.signals.pop_front();
        }
        let place = self.signals.partition_point(|fall| fall.acts <= acts);
        self.signals.insert(place, Fall { acts, size: CUT * rate });
    }

    /// Most packets; None: signals suffice.
    pub(super) fn room(&self, link: &Link) -> Option<u32> {
        (link.window() < LEAST_WINDOW).then_some((self.room * link.target) as u32)
    }

    /// Signals that have not been answered at the last update, by the packets that arrive in a round trip.
    pub(super) fn price(&self, delay: f64) -> f64 {
        let in_flight = self.signals.iter().filter(|fall| fall.acts > self.at).count() as f64;
        let arrivals = self.arrivals.at(self.at, delay) * delay;
        if arrivals > 0.0 { (in_flight / arrivals).min(1.0) } else { 0.0 }
    }
}

impl Link {
    /// W, packets.
    fn window(&self) -> f64 {
        self.rate * self.delay / self.flows
    }

    /// g, packets/s^2.
    fn growth(&self) -> f64 {
        let part = (self.window() / FAST_WINDOW).min(1.0);
        self.flows / (self.delay * self.delay) * part * part
    }
}

impl Prediction {
    /// Equation (v).
    pub(super) fn wants_signal(&self) -> bool {
        self.backlog + self.delay * self.speed > self.threshold
    }

    /// A flow of this rate is signalled, too.
    pub(super) fn signalled(&mut self, rate: f64) {
        self.speed -= CUT * rate;
    }
}

/// A rate: an exponentially weighted mean of what comes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    value: f64,
    at: Time,
}

impl Mean {
    /// So much comes; `over` s is the time constant.
    pub(super) fn add(&mut self, now: Time, amount: f64, over: f64) {
        *self = Mean { value: self.at(now, over) + amount / over, at: now };
    }

    /// The rate at a time.
    pub(super) fn at(&self, now: Time, over: f64) -> f64 {
        self.value * math::exp(-now.since(self.at).seconds() / over)
    }
}

/// Integral gain, per round trip.
const INTEGRAL: f64 = 0.2;
/// Packets of a window in which a loss brings three duplicate acknowledgments.
const FAST_WINDOW: f64 = 4.0;
/// Packets a round trip below which a signal slows no flow down (RFC 5681, section 3.1: two remain).
const LEAST_WINDOW: f64 = 2.0;
/// Magnitude of S by the target, at most: no windup.
const MOST: f64 = 8.0;
/// Most packets of an overloaded link, by the target.
const MOST_ROOM: f64 = 4.0;
/// Part of its rate by which a flow falls at a signal (Reno's; RFC 5681).
const CUT: f64 = 0.5;
/// Signals of a queue until A shows them, and most of all queues that are counted.
const SIGNALS_A_QUEUE: u32 = 4;
const MOST_SIGNALS: u32 = 4096;
/// Round trips after which A shows a fall but for 5 %.
const SHOWN: f64 = 3.0;
