//! Signals by prediction: the backlog of the link one round trip ahead.
//!
//! A signal halves the rate of one flow, one round trip later, and by then many more packets have come. So the link counts
//! the signals in flight, as a Smith predictor does (O. J. M. Smith 1957). With Q packets in all queues, which the link sends
//! at C, arrivals at A (averaged over D), n flows, and signals j whose flows of rate x_j answer at t_j,
//!
//! ```text
//! V^ = A - C + g D - sum of d_j                                                                                 (iv)
//! Q^ = [Q + (A - C) D + g D^2 / 2 - sum of d_j [D - [t_j - t]^+]^+]^+
//! d_j = x_j / (2 m_j),   e^(-(t - t_j) / D) of it after t_j, when A shows the rest
//! g = n / D^2
//! signal while Q^ + D V^ > S                                                                                    (v)
//! ```
//!
//! with D the harmonic mean of the round trips of flows that are not limited. Of young flows A is a mean over 1 s. g is the
//! growth of all rates together, a packet a round trip for each flow (RFC 5681, section 3.1). m_j is 1, but for a flow that
//! answers several marks together. A signal goes to the flow of the greatest surplus, at most one in 1.2 of its round trips,
//! or m_j. Thus the flows slow down one after another, each when the link needs it.
//!
//! With many flows (v) holds Q^ + D dQ^/dt = S, and with a true prediction Q is Q^ of D before. S is an integral of the error
//! of Q ([`super::split_range`]), whose loop is
//!
//! ```text
//! L(s) = kappa e^(-sD) / (s (s + a)),   a = 1 / D,   kappa = 1 / (5 D^2)                                        (vi)
//! ```
//!
//! whose margins are those of `sojourn_optim::sqm::margin::QueueLoop`: 68 degrees, whatever D, C and the number of flows.

use super::mean::Mean;
use super::split_range::{Elapsed, SplitRange};
use super::unused::{MOST_RAISE, Unused};
use sojourn_units::{Span, Time, math};
use std::collections::VecDeque;

/// State of the link, in packets and seconds.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    /// A is their sum: of all flows but young ones, and of these.
    arrivals: Mean,
    young: Mean,
    /// Signals, the earliest first.
    signals: VecDeque<Fall>,
    most_signals: usize,
    /// Time of the last one.
    signalled: Option<Time>,
    /// S and the bound of the backlog.
    range: SplitRange,
    unused: Unused,
    /// Integral of Q since the last update, packets s, and what counts of the time, s, up to a time.
    backlog: f64,
    counted: f64,
    until: Time,
}

/// A link at the time of an update.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    /// Q, packets.
    pub(super) backlog: f64,
    /// C, packets/s.
    pub(super) rate: f64,
    /// The target with what young flows hold, and raised by (xi), packets.
    pub(super) target: f64,
    /// The target, packets: C T, or [`least_target`] where that is more.
    pub(super) base: f64,
    /// D, s.
    pub(super) delay: f64,
    /// Round trip of the windows, s: the mean over flows that are not young.
    pub(super) window_delay: f64,
    /// n.
    pub(super) flows: f64,
    /// Arrival rate of young flows and of the reserved queue, packets/s.
    pub(super) young: f64,
}

/// The link one round trip ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prediction {
    /// Q^ before [ ]^+, packets.
    backlog: f64,
    /// V^, packets/s.
    speed: f64,
    /// S, packets.
    threshold: f64,
    /// D, s.
    delay: f64,
}

/// A signal to a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    /// x_j, packets/s.
    pub(super) rate: f64,
    /// Its round trip, s.
    pub(super) delay: f64,
    /// m_j.
    pub(super) marks: f64,
}

/// The fall of a rate that follows from a signal.
#[derive(Clone, Copy, Debug)]
struct Fall {
    /// t_j.
    acts: Time,
    /// d_j, packets/s, of so many signals.
    size: f64,
    signals: u32,
}

impl Predictor {
    /// Before the first packet, for so many queues.
    pub(super) fn new(queues: u32) -> Predictor {
        let most_signals = (SIGNALS_A_QUEUE * queues).clamp(LEAST_SIGNALS, MOST_SIGNALS) as usize;
        Predictor {
            arrivals: Mean::default(),
            young: Mean::default(),
            signals: VecDeque::with_capacity(most_signals + 1),
            most_signals,
            signalled: None,
            range: SplitRange::default(),
            unused: Unused::default(),
            backlog: 0.0,
            counted: 0.0,
            until: Time::ZERO,
        }
    }

    /// A packet of this size, in mean packets, arrives on a path of D.
    pub(super) fn arrived(&mut self, now: Time, size: f64, delay: f64) {
        self.arrivals.add(now, size, delay);
    }

    /// The same for a flow that is not signalled by the prediction: of these only the mean lasts.
    pub(super) fn young_arrived(&mut self, now: Time, size: f64) {
        self.young.add(now, size, YOUNG_OVER);
    }

    /// A young flow of this rate, packets/s, that has sent so many packets, is young no longer: A takes up its next ones within a
    /// round trip, and forgets those before, which would count beside them for 1 s.
    pub(super) fn grown(&mut self, now: Time, rate: f64, sent: f64) {
        self.young.lower(now, rate.min(sent / YOUNG_OVER), YOUNG_OVER);
    }

    /// A packet leaves, which the link sends in so many s.
    pub(super) fn sent(&mut self, seconds: f64) {
        self.unused.sent(seconds);
    }

    /// So many packets were held until now, on a path of D. Of an idle time one round trip counts: it is no reason to let
    /// the next flows fill the queue.
    pub(super) fn held(&mut self, now: Time, packets: f64, delay: f64) {
        let elapsed = now.since(std::mem::replace(&mut self.until, now)).seconds();
        let counted = if packets == 0.0 { elapsed.min(delay) } else { elapsed };
        self.backlog += packets * counted;
        self.counted += counted;
    }

    /// The backlog counts again from now on: the link has stood still, or the law was another.
    pub(super) fn resume(&mut self, now: Time) {
        (self.backlog, self.counted, self.until) = (0.0, 0.0, now);
        self.unused.resume();
        self.range.resume();
    }

    /// S, r and the target follow, and signals that A shows are forgotten.
    pub(super) fn update(&mut self, now: Time, link: &Link) {
        self.held(now, link.backlog, link.delay);
        let (backlog, elapsed) = (std::mem::take(&mut self.backlog), std::mem::take(&mut self.counted));
        let has_signals = self.signalled.is_some_and(|at| now.since(at).seconds() < SIGNALS_WITHIN);
        self.unused.update(elapsed, has_signals);
        let error = backlog - elapsed * link.target;
        self.range.update(link, Elapsed { seconds: elapsed, error, has_signals });
        let is_shown = |fall: &Fall| now.since(fall.acts).seconds() > SHOWN * link.delay;
        while self.signals.front().is_some_and(is_shown) {
            self.signals.pop_front();
        }
    }

    /// Equation (iv).
    pub(super) fn predict(&self, now: Time, link: &Link) -> Prediction {
        let arrivals = self.arrivals.at(now, link.delay) + self.young.at(now, YOUNG_OVER);
        let growth = link.growth();
        let mut speed = arrivals - link.rate + growth * link.delay;
        let mut backlog = link.backlog + (speed - growth * link.delay / 2.0) * link.delay;
        for fall in &self.signals {
            let shown = now.since(fall.acts).seconds() / link.delay;
            let size = fall.size * math::exp(-shown);
            let left = fall.acts.since(now).seconds();
            speed -= size;
            backlog -= size * (link.delay - left).max(0.0);
        }
        let threshold = self.range.threshold(link);
        Prediction { backlog, speed, threshold, delay: link.delay }
    }

    /// A flow is signalled, and answers after its round trip. Falls of nearly the same time are one.
    pub(super) fn signalled(&mut self, now: Time, signal: Signal) {
        self.signalled = Some(now);
        let (acts, size) = (now + Span::from_seconds(signal.delay), signal.fall());
        let place = self.signals.partition_point(|fall| fall.acts <= acts);
        if let Some(before) = place.checked_sub(1).and_then(|before| self.signals.get_mut(before))
            && acts.since(before.acts).seconds() < SAME_TIME * signal.delay
        {
            before.size += size;
            before.signals += 1;
            return;
        }
        self.signals.insert(place, Fall { acts, size, signals: 1 });
        if self.signals.len() > self.most_signals {
            self.signals.pop_front();
        }
    }

    /// u of equation (xi).
    pub(super) fn raise(&self) -> f64 {
        self.unused.raise()
    }

    /// Most packets that the queues hold, and those from which on a queue loses that can be marked.
    pub(super) fn rooms(&self, link: &Link) -> [f64; 2] {
        [self.range.room(link), self.range.marked_room(link)].map(|room| room * link.base)
    }

    /// Signals that have not been answered at the last change of the backlog, by the packets that arrive in a round trip.
    pub(super) fn signalled_part(&self, delay: f64) -> f64 {
        let in_flight = self.signals.iter().filter(|fall| fall.acts > self.until);
        let in_flight = f64::from(in_flight.map(|fall| fall.signals).sum::<u32>());
        let arrivals = (self.arrivals.at(self.until, delay) + self.young.at(self.until, YOUNG_OVER)) * delay;
        if arrivals > 0.0 { (in_flight / arrivals).min(1.0) } else { 0.0 }
    }
}

impl Link {
    /// The link with a target C T of so many packets, where young flows hold so many on average, raised by u of equation (xi).
    pub(super) fn with_target(self, packets: f64, young: f64, raise: f64) -> Link {
        let base = least_target(packets, self.window());
        let more = young.min(MOST_OF_YOUNG * packets) + raise * packets;
        Link { base, target: base.max(packets + more.min(MOST_RAISE * packets)), ..self }
    }

    /// W of the flows that are signalled, packets.
    fn window(&self) -> f64 {
        (self.rate - self.young).max(0.0) * self.window_delay / self.flows
    }

    /// A mark leaves a packet of a window, on average, so that its sender does not wait for a timer.
    pub(super) fn marks_leave_a_packet(&self) -> bool {
        self.window() >= LEAST_MARKED
    }

    /// A signal would leave too few packets for a fast retransmit.
    pub(super) fn has_short_windows(&self) -> bool {
        self.window() < LEAST_WINDOW
    }

    /// g, packets/s^2.
    fn growth(&self) -> f64 {
        self.flows / (self.delay * self.delay)
    }
}

impl Signal {
    /// d_j, packets/s.
    fn fall(&self) -> f64 {
        CUT * self.rate / self.marks
    }
}

impl Prediction {
    /// Equation (v).
    pub(super) fn exceeds_threshold(&self) -> bool {
        self.backlog.max(0.0) + self.delay * self.speed > self.threshold
    }

    /// Subtracts the fall of a signal that is sent now.
    pub(super) fn signalled(&mut self, signal: Signal) {
        let size = signal.fall();
        self.speed -= size;
        self.backlog -= size * (self.delay - signal.delay).max(0.0);
    }
}

/// Target of the backlog where C T and the windows W are so many packets.
///
/// Senders send two packets at a time, and more after a loss: on a slow link C T is less than they bring at once, and a queue
/// held at it is empty for much of the time. There the target is 10 packets, or 1.8 C T if that is less; with windows below 4
/// packets a part of that suffices; and 4 packets always.
pub(super) fn least_target(packets: f64, window: f64) -> f64 {
    let raised = ((1.0 + MOST_RAISE) * packets).min(BURSTS).max(packets);
    let part = (window / LONG_WINDOW).min(1.0);
    (packets + part * (raised - packets)).max(LEAST_TARGET)
}

/// Part of the target by which what young flows hold raises it at most.
const MOST_OF_YOUNG: f64 = 0.7;
/// Packets of the target that take up the bursts of senders, and windows from which on they do so.
const BURSTS: f64 = 10.0;
const LONG_WINDOW: f64 = 4.0;
/// Time over which the rate of young flows is averaged, s.
const YOUNG_OVER: f64 = 1.0;
/// Time in which a signal counts for the upper limit of S, s.
const SIGNALS_WITHIN: f64 = 10.0;
/// Least target, packets: senders send two at a time.
const LEAST_TARGET: f64 = 4.0;
/// Packets a round trip of which half suffice for a fast retransmit, with limited transmit (RFC 3042).
const LEAST_WINDOW: f64 = 6.0;
/// Packets a round trip of which half is one (RFC 3168, section 6.1.2).
const LEAST_MARKED: f64 = 2.0;
/// Part of its rate by which a flow falls at a signal (Reno's; RFC 5681).
const CUT: f64 = 0.5;
/// Part of a round trip within which two falls are one.
const SAME_TIME: f64 = 0.025;
/// Falls of a queue until A shows them, and the least and most of all queues that are counted.
const SIGNALS_A_QUEUE: u32 = 4;
const LEAST_SIGNALS: u32 = 256;
const MOST_SIGNALS: u32 = 4096;
/// Round trips after which A shows a fall but for 5 %.
const SHOWN: f64 = 3.0;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::qdiscs::sqm::split_range::INTEGRAL;
    use sojourn_optim::sqm::margin::QueueLoop;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// 1000 packets/s, 0.1 s, one flow, 100 packets held, 20 wanted.
    pub(in crate::qdiscs::sqm) const LINK: Link = Link {
        backlog: 100.0,
        rate: 1000.0,
        target: 20.0,
        base: 20.0,
        delay: 0.1,
        window_delay: 0.1,
        flows: 1.0,
        young: 0.0,
    };

    fn with_arrivals(rate: f64) -> Predictor {
        let mut predictor = Predictor::new(1);
        predictor.arrivals = Mean::of(Time::ZERO, rate);
        predictor
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{value} for {expected}");
    }

    #[test]
    fn the_prediction_is_that_of_equation_iv() {
        let mut predictor = with_arrivals(1100.0);
        // W = 100 packets, so g = 1 / D^2 = 100 packets/s^2.
        let without = predictor.predict(Time::ZERO, &LINK);
        assert_near(without.speed, 1100.0 - 1000.0 + 100.0 * 0.1);
        assert_near(without.backlog, 100.0 + 100.0 * 0.1 + 100.0 * 0.1 * 0.1 / 2.0);
        // A flow of 400 packets/s answers in 40 ms.
        predictor.signalled(Time::ZERO, Signal { rate: 400.0, delay: 0.04, marks: 1.0 });
        let with = predictor.predict(Time::ZERO, &LINK);
        assert_near(with.speed, without.speed - 200.0);
        assert_near(with.backlog, without.backlog - 200.0 * (0.1 - 0.04));
        // One round trip after its answer A shows all but 1 / e of it.
        predictor.arrivals = Mean::of(at(140), 900.0);
        let later = predictor.predict(at(140), &LINK);
        assert_near(later.speed, 900.0 - 1000.0 + 10.0 - 200.0 / std::f64::consts::E);
    }

    /// Silence after a signal is no sign of flows that leave the link unused.
    #[test]
    fn idle_time_raises_the_target_by_one_round_trip_of_it() {
        let mut link = Predictor::new(8);
        link.signalled(at(0), Signal { rate: 100.0, delay: 0.1, marks: 1.0 });
        let state = Link { backlog: 0.0, ..LINK };
        link.update(at(9000), &state);
        assert!(link.raise() <= 0.96 * state.delay / 5.0 + 1e-9, "{}", link.raise());
    }

    #[test]
    fn the_target_takes_up_bursts_on_a_slow_link() {
        // 5 ms of 50, 20, 10 and 5 Mbit/s in packets of 1500 B, with windows of 20 packets.
        assert_near(least_target(20.8, 20.0), 20.8);
        assert_near(least_target(8.3, 20.0), 10.0);
        assert_near(least_target(4.2, 20.0), 1.8 * 4.2);
        assert_near(least_target(2.1, 20.0), 4.0);
        // Windows of a packet: a quarter of the way.
        assert_near(least_target(8.0, 1.0), 8.5);
        let link = LINK.with_target(8.0, 1000.0, 0.0);
        assert_eq!(
            (link.base, link.target),
            (10.0, 8.0 + 0.7 * 8.0),
            "what young flows hold adds to T alone"
        );
        assert_eq!(LINK.with_target(8.0, 1000.0, 0.8).target, 8.0 + 0.8 * 8.0);
    }

    #[test]
    fn one_signal_is_given_where_one_suffices() {
        let predictor = with_arrivals(1000.0);
        let mut prediction = predictor.predict(Time::ZERO, &LINK);
        assert!(prediction.exceeds_threshold());
        // Q^ + D V^ = 101.5 packets; 20 are wanted, and 1630 packets/s less bring them.
        let signal = Signal { rate: 1600.0, delay: LINK.delay, marks: 1.0 };
        prediction.signalled(signal);
        assert!(prediction.exceeds_threshold());
        prediction.signalled(Signal { rate: 120.0, marks: 2.0, ..signal });
        assert!(!prediction.exceeds_threshold());
    }

    #[test]
    fn the_threshold_follows_the_mean_backlog() {
        let mut predictor = Predictor::new(1);
        // 30 packets held for half of a round trip, 0 for the other half: 5 below the target on average.
        predictor.held(at(50), 30.0, 0.1);
        predictor.held(at(100), 0.0, 0.1);
        predictor.update(at(100), &Link { backlog: 0.0, ..LINK });
        assert_near(predictor.range.threshold(&LINK), 20.0 + 5.0 / 5.0);
    }

    #[test]
    fn an_idle_link_raises_the_threshold_by_a_round_trip_alone() {
        let mut predictor = Predictor::new(1);
        predictor.update(at(60_000), &Link { backlog: 0.0, ..LINK });
        assert_near(predictor.range.threshold(&LINK), 20.0 + 20.0 / 5.0);
    }

    #[test]
    fn the_margins_of_equation_vi_are_those_of_the_page() {
        for delay in [0.005, 0.1, 1.0] {
            let own = QueueLoop { pole: 1.0 / delay, delay, gain: INTEGRAL / (delay * delay) };
            assert!((own.phase_margin() - 67.7).abs() < 0.05, "{}", own.phase_margin());
            assert!((own.gain_margin() - 5.67).abs() < 0.01, "{}", own.gain_margin());
            assert!((own.delay_margin() / delay - 6.02).abs() < 0.01, "{}", own.delay_margin() / delay);
        }
    }
}
