//! What flows that are signalled leave of the link raises its target.
//!
//! A target suffices for flows that are many and alike. Where few halve at once, or others come and go within round trips, a
//! backlog of that mean is empty for much of the time. So the target rises where signals leave more than a part of the link
//! unused, and falls where they leave less:
//!
//! ```text
//! du/dt = (1 - A_out / C - 0.04) / 5 s,   0 <= u <= 0.8         while flows are signalled, else as if A_out = C         (xi)
//! ```
//!
//! with A_out what leaves; the target is (1 + u) C T.

/// u, and what has left since it was known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unused {
    raise: f64,
    /// Packets that have left.
    sent: f64,
}

impl Unused {
    /// A packet of this size, in mean packets, leaves.
    pub(super) fn sent(&mut self, size: f64) {
        self.sent += size;
    }

    /// So many s have passed, on a link of `rate` packets/s. Without signals the flows have no more to send.
    pub(super) fn update(&mut self, seconds: f64, rate: f64, has_signals: bool) {
        let sent = std::mem::take(&mut self.sent);
        let unused = if has_signals { seconds - sent / rate } else { 0.0 };
        self.raise = (self.raise + (unused - LEFT * seconds) / OVER).clamp(0.0, MOST_RAISE);
    }

    /// What has left does not count: the link has stood still.
    pub(super) fn resume(&mut self) {
        self.sent = 0.0;
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
/// Time in which the target doubles on an idle link, s.
const OVER: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// After so many times 0.1 s on a link of 1000 packets/s.
    fn after(unused: &mut Unused, times: u32, packets: f64, has_signals: bool) -> f64 {
        for _ in 0..times {
            unused.sent(packets);
            unused.update(0.1, 1000.0, has_signals);
        }
        unused.raise()
    }

    #[test]
    fn the_target_rises_while_signals_leave_more_than_a_part_unused() {
        let mut unused = Unused::default();
        assert!((after(&mut unused, 10, 87.0, true) - 0.09 / 5.0).abs() < 1e-9);
        assert_eq!(after(&mut unused, 1000, 50.0, true), 0.8);
        assert!((after(&mut unused, 100, 99.0, true) - (0.8 - 0.3 / 5.0)).abs() < 1e-9);
        assert_eq!(after(&mut unused, 2000, 10.0, false), 0.0, "flows that have no more to send");
    }
}
