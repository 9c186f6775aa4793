//! Responsiveness of flows to their signals.
//!
//! An answer shows as a fall of the flow's rate within three round trips of a signal: to a half with Reno, to 0.7 with CUBIC
//! (RFC 5681; RFC 9438). DCTCP answers many marks, and hardly one (RFC 8257, section 3.3): a flow that leaves marks
//! unanswered has twice as many, up to 32 in the time of one. A flow that leaves more signals unanswered than it answers
//! has its queue bounded instead (RFC 7567, section 4.2, on unresponsive flows), and is a flood if it does not answer losses, or
//! marks on at least half of its packets: few marks slow DCTCP down by too little to see. A pause is no answer, as a
//! source that is off has not slowed down: its rate counts again when the mean is that since the pause. A first pause gives
//! the flow time anew, as a sender may have waited for its timer; each other one counts as a round trip.

use sojourn_units::{Span, Time};

/// Signals of a flow, and its rate since the one that is to be answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Responsiveness {
    pending: Option<Pending>,
    /// Times of the last packet, and of the last one after a pause.
    seen: Time,
    resumed: Time,
    /// Signals without an answer, less those with one.
    unanswered: u32,
    /// The same of losses and of marks on half of the packets.
    ignored: u32,
    is_bounded: bool,
    /// Marks in the time of one signal.
    marks: f64,
}

/// A signal that is to be answered.
#[derive(Clone, Copy, Debug)]
struct Pending {
    since: Time,
    /// Rate then, packets/s.
    rate: f64,
    has_paused: bool,
    /// Packets in the time of its answer, and signals on them, of which one is a loss.
    packets: u32,
    signals: u32,
    has_loss: bool,
}

impl Default for Responsiveness {
    fn default() -> Responsiveness {
        Responsiveness {
            pending: None,
            seen: Time::ZERO,
            resumed: Time::ZERO,
            unanswered: 0,
            ignored: 0,
            is_bounded: false,
            marks: 1.0,
        }
    }
}

impl Responsiveness {
    /// True until too many signals have no answer, and again after as many answers.
    pub(super) fn is_responsive(&self) -> bool {
        !self.is_bounded
    }

    /// The flow ignores losses, or marks on half of its packets.
    pub(super) fn is_flood(&self) -> bool {
        self.ignored == MOST_UNANSWERED
    }

    /// Marks that the flow has in the time of one signal.
    pub(super) fn marks(&self) -> f64 {
        self.marks
    }

    /// A packet comes, and the flow has this rate, on a path of `delay` s.
    pub(super) fn has_rate(&mut self, now: Time, rate: f64, delay: f64) {
        let silence = now.since(std::mem::replace(&mut self.seen, now)).seconds();
        if silence > SILENT_RTTS * delay {
            self.resumed = now;
            if let Some(signal) = &mut self.pending {
                signal.pause(now, silence, delay);
            }
        }
        if let Some(signal) = &mut self.pending
            && signal.is_awaited(now, delay)
        {
            signal.packets = signal.packets.saturating_add(1);
        }
        let is_steady = now.since(self.resumed).seconds() > STEADY_RTTS * delay;
        if self.pending.is_some_and(|signal| is_steady && signal.is_answered(now, rate, delay)) {
            self.pending = None;
            self.count(self.unanswered.saturating_sub(1));
            self.ignored = self.ignored.saturating_sub(1);
            self.marks = (self.marks / FEWER).max(1.0);
        }
    }

    /// A flow of this rate and round trip, s, is signalled, by a mark if it can be.
    pub(super) fn signalled(&mut self, now: Time, rate: f64, (delay, is_marked): (f64, bool)) {
        match &mut self.pending {
            Some(signal) if signal.is_awaited(now, delay) => {
                signal.signals = signal.signals.saturating_add(1);
                signal.has_loss |= !is_marked;
                return;
            }
            Some(signal) if !signal.has_loss && self.marks < MOST_MARKS => {
                self.marks = (2.0 * self.marks).min(MOST_MARKS);
            }
            Some(signal) => {
                if signal.has_loss || 2 * signal.signals >= signal.packets {
                    self.ignored = (self.ignored + 1).min(MOST_UNANSWERED);
                }
                self.count((self.unanswered + 1).min(MOST_UNANSWERED));
            }
            None => {}
        }
        let has_loss = !is_marked;
        self.pending =
            Some(Pending { since: now, rate, has_paused: false, packets: 0, signals: 1, has_loss });
    }

    /// So many signals are unanswered.
    fn count(&mut self, unanswered: u32) {
        self.unanswered = unanswered;
        self.is_bounded = unanswered == MOST_UNANSWERED || (self.is_bounded && unanswered > 0);
    }
}

impl Pending {
    /// A pause of so many s ends.
    fn pause(&mut self, now: Time, silence: f64, delay: f64) {
        let later = |from: Time, seconds: f64| from + Span::from_seconds(seconds);
        self.since = if self.has_paused {
            later(self.since, silence - delay)
        } else {
            later(now, (STEADY_RTTS + 1.0 - RESPONSE_RTTS) * delay)
        };
        self.has_paused = true;
    }

    fn is_awaited(&self, now: Time, delay: f64) -> bool {
        now.since(self.since).seconds() < RESPONSE_RTTS * delay
    }

    fn is_answered(&self, now: Time, rate: f64, delay: f64) -> bool {
        rate <= ANSWERED * self.rate && self.is_awaited(now, delay)
    }
}

/// Round trips within which an answer shows.
const RESPONSE_RTTS: f64 = 3.0;
/// Round trips after which a pause is silence.
const SILENT_RTTS: f64 = 1.5;
/// Round trips after which the mean rate, over 1.5 of them, is that since a pause but for a tenth.
const STEADY_RTTS: f64 = 3.5;
/// Part of its rate that a flow falls below when it answers.
const ANSWERED: f64 = 0.9;
/// Signals without an answer after which none is expected.
const MOST_UNANSWERED: u32 = 4;
/// Most marks in the time of one signal, and the factor by which an answer makes them fewer.
const MOST_MARKS: f64 = 32.0;
const FEWER: f64 = std::f64::consts::SQRT_2;

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: f64 = 0.1;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Signals each 0.12 s on a path of 0.1 s, to a flow that falls to this part of its rate after each.
    fn after(signals: u64, fall: f64, is_marked: bool) -> Responsiveness {
        let mut flow = Responsiveness::default();
        for number in 0..signals {
            flow.has_rate(at(120 * number), 100.0, DELAY);
            flow.signalled(at(120 * number), 100.0, (DELAY, is_marked));
            flow.has_rate(at(120 * number + 60), 100.0 * fall, DELAY);
        }
        flow
    }

    #[test]
    fn a_flow_that_falls_is_expected_to_answer() {
        assert!(after(100, 0.7, false).is_responsive());
        assert!(after(100, 0.5, false).is_responsive());
    }

    #[test]
    fn a_flood_that_slows_down_is_expected_to_answer_again() {
        let mut flow = after(13, 1.0, false);
        for answer in 0..4 {
            assert!(!flow.is_responsive());
            let now = at(1500 + 100 * answer);
            flow.signalled(now, 100.0, (DELAY, false));
            flow.has_rate(now, 89.0, DELAY);
        }
        assert!(flow.is_responsive());
    }

    #[test]
    fn a_flood_is_found_after_four_times_three_round_trips() {
        // Signals 0, 3, 6, 9 and 12 are judged: 0.36 s apart.
        assert!(after(12, 1.0, false).is_responsive());
        assert!(!after(13, 1.0, false).is_responsive());
    }

    /// A source that sends 100 packets/s for `on` ms of each `cycle` ms, signalled each 120 ms, and its mean rate over 150 ms.
    fn with_pauses(on: u64, cycle: u64) -> Responsiveness {
        let mut flow = Responsiveness::default();
        let (mut rate, mut last, mut signalled) = (0.0, 0.0, 0.0);
        for millis in (0..20_000).step_by(10).filter(|millis| millis % cycle < on) {
            let now = millis as f64 / 1000.0;
            rate = rate * sojourn_units::math::exp(-(now - last) / 0.15) + 1.0 / 0.15;
            last = now;
            flow.has_rate(at(millis), rate, DELAY);
            if now - signalled > 0.12 && rate > 50.0 {
                signalled = now;
                flow.signalled(at(millis), rate, (DELAY, false));
            }
        }
        flow
    }

    #[test]
    fn a_source_that_pauses_has_not_answered() {
        assert!(!with_pauses(1000, 1000).is_responsive());
        assert!(!with_pauses(500, 1000).is_responsive());
        // Bursts that are shorter than the time in which an answer would show.
        assert!(!with_pauses(200, 500).is_responsive());
    }

    #[test]
    fn a_sender_that_waited_for_its_timer_has_answered() {
        let mut flow = Responsiveness::default();
        for cycle in 0..20 {
            // Signalled at 100 packets/s; after a timeout of 0.4 s it goes on at 40.
            let start = 2000 * cycle;
            for packet in 0..10 {
                flow.has_rate(at(start + 10 * packet), 100.0, DELAY);
            }
            flow.signalled(at(start + 100), 100.0, (DELAY, false));
            for packet in 0..60 {
                flow.has_rate(at(start + 500 + 25 * packet), 40.0, DELAY);
            }
        }
        assert!(flow.is_responsive());
    }

    /// A flow whose marks have no answer, of so many packets each 12 ms, of which one is marked.
    fn with_part_marked(packets: u64) -> Responsiveness {
        let mut flow = Responsiveness::default();
        for number in 0..400 {
            for packet in 0..packets {
                let now = at(12 * number + packet);
                flow.has_rate(now, 100.0, DELAY);
                if packet == 0 {
                    flow.signalled(now, 100.0, (DELAY, true));
                }
            }
        }
        flow
    }

    #[test]
    fn a_flood_ignores_losses_or_marks_on_half_of_its_packets() {
        assert!(after(13, 1.0, false).is_flood());
        assert!(!after(12, 1.0, false).is_flood());
        assert!(with_part_marked(1).is_flood() && with_part_marked(2).is_flood());
        // DCTCP with one in four marked falls by an eighth of its rate at most in a round trip, and grows.
        let few = with_part_marked(4);
        assert!(!few.is_responsive() && !few.is_flood());
        // One answer, and it is none.
        let mut flow = with_part_marked(1);
        flow.signalled(at(4792), 100.0, (DELAY, true));
        flow.has_rate(at(4800), 50.0, DELAY);
        assert!(!flow.is_flood());
    }

    #[test]
    fn a_fall_after_three_round_trips_is_no_answer() {
        // The last signal is at 0.36 s.
        let mut flow = after(4, 1.0, true);
        (0..30).for_each(|packet| flow.has_rate(at(430 + 10 * packet), 100.0, DELAY));
        flow.has_rate(at(730), 50.0, DELAY);
        assert_eq!(flow.marks(), 2.0);
    }

    #[test]
    fn marks_without_an_answer_become_more_and_with_one_fewer() {
        assert_eq!(after(1, 1.0, true).marks(), 1.0);
        assert_eq!(after(4, 1.0, true).marks(), 2.0);
        let mut flow = after(16, 1.0, true);
        assert_eq!(flow.marks(), 32.0);
        assert!(flow.is_responsive());
        flow.has_rate(at(1900), 85.0, DELAY);
        assert!((flow.marks() - 32.0 / FEWER).abs() < 1e-12);
        // The signal at 2 s has no answer.
        flow.signalled(at(2000), 100.0, (DELAY, true));
        flow.signalled(at(2400), 100.0, (DELAY, true));
        assert_eq!(flow.marks(), 32.0);
        assert!(!after(28, 1.0, true).is_responsive(), "a flood that can be marked is found, too");
    }
}
