//! Responsiveness of flows to their signals.
//!
//! An answer shows as a fall of the flow's rate within three round trips of a signal: to a half with Reno, to 0.7 with CUBIC
//! (RFC 5681; RFC 9438). A flow that leaves signals in a row unanswered, such as a flood, has its queue bounded instead
//! (RFC 7567, section 4.2, on unresponsive flows).

use sojourn_units::Time;

/// Signals of a flow, and its rate since the one that is to be answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Responsiveness {
    /// Time of that signal; None: there was none.
    since: Option<Time>,
    /// Rate then, and the lowest since, packets/s.
    then: f64,
    lowest: f64,
    /// Signals in a row without an answer.
    unanswered: u32,
}

impl Responsiveness {
    /// True until too many signals have no answer.
    pub(super) fn is_responsive(&self) -> bool {
        self.unanswered < MOST_UNANSWERED
    }

    /// The flow has this rate.
    pub(super) fn has_rate(&mut self, rate: f64) {
        self.lowest = self.lowest.min(rate);
        if self.lowest <= ANSWERED * self.then {
            self.unanswered = 0;
        }
    }

    /// A flow of this rate and round trip, s, is signalled.
    pub(super) fn signalled(&mut self, now: Time, rate: f64, delay: f64) {
        match self.since {
            Some(since) if now.since(since).seconds() < RESPONSE_RTTS * delay => return,
            Some(_) if self.lowest > ANSWERED * self.then => self.unanswered += 1,
            _ => self.unanswered = 0,
        }
        (self.since, self.then, self.lowest) = (Some(now), rate, rate);
    }
}

/// Round trips within which an answer shows.
const RESPONSE_RTTS: f64 = 3.0;
/// Part of its rate that a flow falls below when it answers.
const ANSWERED: f64 = 0.9;
/// Signals in a row without an answer after which none is expected.
const MOST_UNANSWERED: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    /// Signals each 0.12 s on a path of 0.1 s, to a flow that falls to this part of its rate after each.
    fn after(signals: u64, fall: f64) -> Responsiveness {
        let mut flow = Responsiveness::default();
        for number in 0..signals {
            flow.signalled(Time::ZERO + Span::from_millis(120 * number), 100.0, 0.1);
            flow.has_rate(100.0 * fall);
            flow.has_rate(100.0);
        }
        flow
    }

    #[test]
    fn a_flow_that_falls_is_expected_to_answer() {
        assert!(after(100, 0.7).is_responsive());
        assert!(after(100, 0.5).is_responsive());
    }

    #[test]
    fn a_flood_that_slows_down_is_expected_to_answer_again() {
        let mut flow = after(13, 1.0);
        flow.has_rate(89.0);
        assert!(flow.is_responsive());
    }

    #[test]
    fn a_flood_is_found_after_four_times_three_round_trips() {
        // Signals 0, 3, 6, 9 and 12 are judged: 0.36 s apart.
        assert!(after(12, 1.0).is_responsive());
        assert!(!after(13, 1.0).is_responsive());
    }
}
