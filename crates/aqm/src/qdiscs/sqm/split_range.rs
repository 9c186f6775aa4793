//! The mean backlog is held by signals, and by a bound where they do not suffice.
//!
//! Split-range control (K. J. Astrom, T. Hagglund, Advanced PID Control, 2006, section 6.8): one error, the integral of Q over
//! the target, and two actuators, one after the other. S is the threshold of the signals; beyond r times the target, without
//! what young flows and (xi) add to it, packets are lost (`qdisc/overflow.rs`).
//!
//! ```text
//! dr/dt = (C T - Q) / (C T 5 s),    1 <= r <= 8    where W >= 6 packets, and S = -8 C T with Q > C T, or r < 8 with Q < C T
//! dS/dt = (C T - Q) / (5 D),       -8 C T <= S <= 8 C T      else where W >= 6                                     (ix)
//! dr/dt = (C T - Q) / (C T 5 s),    1 <= r <= 16             where W < 6
//! W = (C - A') D_w / n
//! ```
//!
//! with A' of young flows and the reserved queue, and D_w the mean round trip of others; S <= 32 C T while signals are sent, so
//! that beside bursts, which come and go within some round trips, it rises above them, and does not where a link is not full; r
//! of short windows and that of others are two, and the latter returns five times as fast while the mean of Q over 2 s is below
//! C T / 2. A signal leaves half of a window. Three packets are the least in which a loss brings three duplicate acknowledgments,
//! with limited transmit (RFC 3042); below, the sender waits for its timer. So flows of short windows are not signalled: what the
//! link does not carry is lost beyond the bound, or marked where W >= 2, as a mark leaves a packet. That keeps the link busier at
//! the same delay than signals do, and r holds the target beside flows that no signal slows down. It rises to 16, as flows that
//! come at once, of windows that no round trip has measured yet, such as the six connections of a web page, wait in a queue that
//! is empty most of the time.

use super::predictor::Link;
use sojourn_units::math;

/// S and r.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitRange {
    /// S, packets; None: it has not begun.
    threshold: Option<f64>,
    /// S by the target, at most.
    most: f64,
    /// r while windows are long, and while they are short.
    long: f64,
    short: f64,
    /// Q - C T, packets, over 2 s.
    recent_error: f64,
}

/// A time, of so many s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elapsed {
    pub(super) seconds: f64,
    /// Integral of Q - C T, packets s.
    pub(super) error: f64,
    /// A flow has been signalled in it, or not long before.
    pub(super) has_signals: bool,
}

impl Default for SplitRange {
    fn default() -> SplitRange {
        SplitRange {
            threshold: None,
            most: MOST_THRESHOLD,
            long: MOST_ROOM,
            short: INITIAL_ROOM,
            recent_error: 0.0,
        }
    }
}

impl SplitRange {
    /// S, packets.
    pub(super) fn threshold(&self, link: &Link) -> f64 {
        let (least, most) = (LEAST_THRESHOLD * link.target, self.most * link.target);
        self.threshold.unwrap_or(link.target).clamp(least, most)
    }

    /// r.
    pub(super) fn room(&self, link: &Link) -> f64 {
        if link.has_short_windows() { self.short } else { self.long }
    }

    /// The same for a queue that can be marked: twice r while r is at its most, and r where it is at its least, as marks did not
    /// suffice; of short windows twice r, or r where they cannot be halved.
    pub(super) fn marked_room(&self, link: &Link) -> f64 {
        let room = self.room(link);
        let more = if !link.has_short_windows() {
            (room - LEAST_ROOM) / (MOST_ROOM - LEAST_ROOM)
        } else if link.marks_leave_a_packet() {
            1.0
        } else {
            0.0
        };
        room * (1.0 + more)
    }

    /// The mean of Q is not known any more.
    pub(super) fn resume(&mut self) {
        self.recent_error = 0.0;
    }

    /// Equation (ix).
    pub(super) fn update(&mut self, link: &Link, Elapsed { seconds, error, has_signals }: Elapsed) {
        if seconds > 0.0 {
            self.recent_error += (error / seconds - self.recent_error) * -math::exp_m1(-seconds / RECENT);
        }
        self.most = if has_signals { MOST_BESIDE_BURSTS } else { MOST_THRESHOLD };
        let change = -error / link.target / ROOM_OVER;
        if link.has_short_windows() {
            self.short = (self.short + change).clamp(LEAST_ROOM, SHORT_ROOM);
            return;
        }
        let threshold = self.threshold(link);
        let is_least = threshold <= LEAST_THRESHOLD * link.target;
        let moves_room = if error > 0.0 { is_least } else { self.long < MOST_ROOM };
        if moves_room {
            let is_over = error < 0.0 && self.recent_error < -link.target / 2.0;
            let speed = if is_over { RETURN } else { 1.0 };
            self.long = (self.long + speed * change).clamp(LEAST_ROOM, MOST_ROOM);
        } else {
            self.threshold = Some(threshold - INTEGRAL / link.delay * error);
            self.threshold = Some(self.threshold(link));
        }
    }
}

/// Integral gain of S, per round trip.
pub(super) const INTEGRAL: f64 = 0.2;
/// S by the target, at least, and at most: where no flow was signalled, and else.
const LEAST_THRESHOLD: f64 = -8.0;
const MOST_THRESHOLD: f64 = 8.0;
const MOST_BESIDE_BURSTS: f64 = 32.0;
/// r at least, and at most: of short windows, where it begins at another value, and of others.
const LEAST_ROOM: f64 = 1.0;
const SHORT_ROOM: f64 = 16.0;
const INITIAL_ROOM: f64 = 2.0;
const MOST_ROOM: f64 = 8.0;
/// Time constant of r, s, and how much faster r of long windows returns while half of the target or less is held on average: what
/// made it fall is over.
const ROOM_OVER: f64 = 5.0;
const RETURN: f64 = 5.0;
/// Time over which that is averaged, s.
const RECENT: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdiscs::sqm::predictor::tests::LINK;

    /// A target of 20 packets, and windows of 100 packets, or of 5.
    const LONG: Link = Link { backlog: 0.0, ..LINK };
    const SHORT: Link = Link { flows: 20.0, ..LONG };

    /// 0.1 s, with the integral of Q - C T, packets s.
    fn after(error: f64) -> Elapsed {
        Elapsed { seconds: 0.1, error, has_signals: true }
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{value} for {expected}");
    }

    #[test]
    fn the_threshold_follows_the_mean_backlog() {
        let mut range = SplitRange::default();
        // 5 packets below the target for a round trip.
        range.update(&LONG, after(-5.0 * 0.1));
        assert_near(range.threshold(&LONG), 20.0 + 5.0 / 5.0);
        assert_eq!(range.room(&LONG), 8.0);
    }

    #[test]
    fn the_threshold_rises_further_only_while_flows_are_signalled() {
        let mut range = SplitRange::default();
        let idle = Elapsed { has_signals: false, ..after(-20.0 * 0.1) };
        (0..400).for_each(|_| range.update(&LONG, idle));
        assert_near(range.threshold(&LONG), 8.0 * 20.0);
        (0..400).for_each(|_| range.update(&LONG, after(-20.0 * 0.1)));
        assert_near(range.threshold(&LONG), 32.0 * 20.0);
        range.update(&LONG, idle);
        assert_near(range.threshold(&LONG), 8.0 * 20.0);
    }

    #[test]
    fn the_bound_follows_where_signals_do_not_suffice() {
        let mut range = SplitRange::default();
        // Twice the target for 45 round trips, until S is at its least, and for ten more.
        (0..45).for_each(|_| range.update(&LONG, after(20.0 * 0.1)));
        assert_near(range.threshold(&LONG), -160.0);
        assert_eq!(range.room(&LONG), 8.0);
        (0..10).for_each(|_| range.update(&LONG, after(20.0 * 0.1)));
        assert_near(range.room(&LONG), 8.0 - 10.0 * 0.1 / 5.0);
        // It returns before S rises, and five times as fast once the mean is far below the target.
        range.update(&LONG, after(-20.0 * 0.1));
        assert_near(range.room(&LONG), 7.8 + 0.1 / 5.0);
        range.recent_error = -15.0;
        range.update(&LONG, after(-20.0 * 0.1));
        assert_near(range.room(&LONG), 7.82 + 5.0 * 0.1 / 5.0);
        range.update(&LONG, after(-20.0 * 0.1));
        assert_near(range.threshold(&LONG), -160.0);
        assert_near(range.room(&LONG), 8.0);
        (0..2).for_each(|_| range.update(&LONG, after(-20.0 * 0.1)));
        assert!(range.threshold(&LONG) > -160.0);
    }

    #[test]
    fn queues_that_can_be_marked_have_more_room_while_marks_may_suffice() {
        let mut range = SplitRange::default();
        assert_eq!(range.marked_room(&LONG), 16.0);
        range.long = 4.5;
        assert_near(range.marked_room(&LONG), 4.5 * 1.5);
        range.long = 1.0;
        assert_eq!(range.marked_room(&LONG), 1.0);
        // Windows of 5 packets can be halved, those of one cannot.
        assert_eq!(range.marked_room(&SHORT), 2.0 * range.room(&SHORT));
        let shortest = Link { flows: 100.0, ..LONG };
        assert_eq!(range.marked_room(&shortest), range.room(&shortest));
    }

    #[test]
    fn the_bound_falls_where_a_backlog_swings_about_a_mean_above_the_target() {
        let mut range = SplitRange { threshold: Some(-160.0), ..SplitRange::default() };
        // None for 0.3 s, 80 packets for 0.3 s.
        for step in 0..600 {
            let excess = if step % 6 < 3 { -20.0 } else { 60.0 };
            range.update(&LONG, after(excess * 0.1));
            range.threshold = Some(-160.0);
        }
        assert_eq!(range.room(&LONG), 1.0);
    }

    /// Young flows come, and the target with them, while r is below its most: S is no longer at its least, and r still returns.
    #[test]
    fn the_bound_returns_where_the_target_has_changed() {
        let mut range = SplitRange::default();
        (0..400).for_each(|_| range.update(&LONG, after(20.0 * 0.1)));
        assert_eq!(range.room(&LONG), 1.0);
        let more = Link { target: 20.2, ..LONG };
        (0..400).for_each(|_| range.update(&more, after(-20.2 * 0.1)));
        assert_eq!(range.room(&more), 8.0);
        assert!(range.threshold(&LONG) <= 32.0 * 20.0, "S is within the bounds of the present target");
    }

    #[test]
    fn short_windows_are_held_by_a_bound_of_their_own() {
        let mut range = SplitRange::default();
        (0..10).for_each(|_| range.update(&SHORT, after(20.0 * 0.1)));
        assert_near(range.room(&SHORT), 2.0 - 10.0 * 0.1 / 5.0);
        (0..1000).for_each(|_| range.update(&SHORT, after(20.0 * 0.1)));
        assert_eq!(range.room(&SHORT), 1.0);
        (0..1000).for_each(|_| range.update(&SHORT, after(-20.0 * 0.1)));
        assert_eq!(range.room(&SHORT), 16.0);
        assert_near(range.threshold(&LONG), 20.0);
        assert_eq!(range.room(&LONG), 8.0);
    }
}
