//! A link that stays unused while flows are signalled raises its target.
//!
//! A target suffices for flows that are many and alike. Where few halve at once, or others come and go within round trips, a
//! backlog of that mean is empty for much of the time. So the target rises where more than a part of the link stays unused, and
//! falls where less does:
//!
//! ```text
//! du/dt = (1 - A_out / C - 0.04) / 5 s,   0 <= u <= 0.8         if a flow was signalled in the last 10 s, else as if A_out = C     (xi)
//! ```
//!
//! with A_out what leaves, where of an idle time one round trip counts; the target is (1 + u) C T, with what young flows hold
//! ([`super::predictor::Link::with_target`]). It rises within some seconds of a link that is hardly used, and falls over 100 s.

/// u, and for how long the link has sent since it was known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unused {
    raise: f64,
    /// Time in which the packets were sent that have left, s.
    busy: f64,
}

impl Unused {
    /// A packet leaves, which the link sends in so many s.
    pub(super) fn sent(&mut self, seconds: f64) {
        self.busy += seconds;
    }

    /// So many s have passed that count. Without signals the flows have no more to send.
    pub(super) fn update(&mut self, seconds: f64, has_signals: bool) {
        let busy = std::mem::take(&mut self.busy);
        let unused = if has_signals { seconds - busy } else { 0.0 };
        self.raise = (self.raise + (unused - LEFT * seconds) / OVER).clamp(0.0, MOST_RAISE);
    }

    /// What has left does not count: the link has stood still.
    pub(super) fn resume(&mut self) {
        self.busy = 0.0;
    }

    /// u.
    pub(super) fn raise(&self) -> f64 {
        self.raise
    }
}

/// Part by which a target is raised at most: it remains below its double.
pub(super) const MOST_RAISE: f64 = 0.8;
/// Part of the link that may be left.
const LEFT: f64 = 0.04;
/// Time constant of u, s.
const OVER: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// After so many times 0.1 s, of which the link sends for a part.
    fn after(unused: &mut Unused, times: u32, part: f64, has_signals: bool) -> f64 {
        for _ in 0..times {
            unused.sent(0.1 * part);
            unused.update(0.1, has_signals);
        }
        unused.raise()
    }

    #[test]
    fn what_left_before_a_pause_of_the_link_does_not_count() {
        let mut unused = Unused::default();
        unused.sent(0.1);
        unused.resume();
        unused.update(0.1, true);
        assert!((unused.raise() - 0.096 / 5.0).abs() < 1e-9);
    }

    #[test]
    fn the_target_rises_while_signals_leave_more_than_a_part_unused() {
        let mut unused = Unused::default();
        assert!((after(&mut unused, 10, 0.87, true) - 0.09 / 5.0).abs() < 1e-9);
        assert_eq!(after(&mut unused, 1000, 0.5, true), 0.8);
        assert!((after(&mut unused, 100, 0.99, true) - (0.8 - 0.3 / 5.0)).abs() < 1e-9);
        assert_eq!(after(&mut unused, 2000, 0.1, false), 0.0, "flows that have no more to send");
    }
}
