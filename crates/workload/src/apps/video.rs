//! Adaptive video: BBA-0 of T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M. Watson, "A Buffer-Based Approach to Rate
//! Adaptation: Evidence from a Large Video Streaming Service", SIGCOMM 2014, algorithm 1.
//!
//! The player requests one chunk after the other over one connection, at a rate
//! that is a function of the fill level of its buffer alone:
//!
//! ```text
//! rate ^ highest            ________
//!      |                  /
//!      |                /
//!      | lowest ______/
//!      +-------------+-----+--------+--> seconds in the buffer
//!                reservoir  cushion   full
//! ```

use super::{Action, App, Request};
use crate::transaction::Purpose;
use sojourn_scenario as scenario;
use sojourn_units::{Span, Time};

pub(crate) struct Video {
    plan: scenario::Video,
    /// Available rates, bit/s.
    ladder: Vec<f64>,
    /// Place of the last chunk's rate on the ladder.
    rung: usize,
    /// Fill level of the buffer at `since`.
    buffer: Span,
    since: Time,
    /// A chunk has arrived: waiting before that is no stall.
    plays: bool,
    /// Time played and stalled since the last record.
    played: Span,
    stalled: Span,
    /// Time of the pending request.
    began: Time,
    wakes_at: Time,
    /// A chunk has arrived and is not recorded yet.
    has_arrived: bool,
    is_due: bool,
    is_new: bool,
}

impl Video {
    pub(crate) fn new(plan: scenario::Video) -> Video {
        Video {
            ladder: plan.ladder.0.iter().map(|rate| rate.bits_per_second()).collect(),
            plan,
            rung: 0,
            buffer: Span::ZERO,
            since: Time::ZERO,
            plays: false,
            played: Span::ZERO,
            stalled: Span::ZERO,
            began: Time::ZERO,
            wakes_at: Time::NEVER,
            has_arrived: false,
            is_due: false,
            is_new: false,
        }
    }

    /// Plays up to `now`.
    fn play(&mut self, now: Time) {
        let past = now.since(self.since);
        self.since = now;
        if self.plays {
            let played = past.min(self.buffer);
            self.buffer = self.buffer - played;
            self.played += played;
            self.stalled += past - played;
        }
    }

    /// Algorithm 1: place of the next chunk's rate on the ladder.
    fn choose(&self) -> usize {
        let Video { ladder, plan: scenario::Video { reservoir, cushion, .. }, .. } = self;
        let (lowest, highest) = (ladder[0], ladder[ladder.len() - 1]);
        let last = ladder.len() - 1;
        if self.buffer <= *reservoir {
            return 0;
        }
        if self.buffer >= *reservoir + *cushion {
            return last;
        }
        let share = (self.buffer - *reservoir).seconds() / cushion.seconds();
        let mapped = lowest + (highest - lowest) * share;
        let (up, down) = ((self.rung + 1).min(last), self.rung.saturating_sub(1));
        if mapped >= ladder[up] {
            // Up: the highest rate below the map; down: the lowest above it.
            ladder.partition_point(|rate| *rate < mapped).saturating_sub(1)
        } else if mapped <= ladder[down] {
            ladder.partition_point(|rate| *rate <= mapped).min(last)
        } else {
            self.rung
        }
    }

    /// Size of the buffer: the highest rate is reached when it is nine tenths full.
    fn full(&self) -> Span {
        Span::from_seconds((self.plan.reservoir + self.plan.cushion).seconds() / FULLNESS)
    }
}

impl App for Video {
    fn start(&mut self, now: Time, _bytes: Option<u64>) {
        *self = Video { since: now, is_due: true, is_new: true, ..Video::new(self.plan.clone()) };
    }

    fn answered(&mut self, now: Time, _connection: u32) {
        self.play(now);
        (self.plays, self.has_arrived) = (true, true);
        self.buffer += self.plan.chunk;
        // There is room for the next one even if it arrives at once.
        let over = (self.buffer + self.plan.chunk).nanos().saturating_sub(self.full().nanos());
        self.wakes_at = now + Span::from_nanos(over);
    }

    fn wakes_at(&self) -> Time {
        self.wakes_at
    }

    fn wake(&mut self, _now: Time) {
        (self.wakes_at, self.is_due) = (Time::NEVER, true);
    }

    fn next(&mut self, now: Time) -> Option<Action> {
        if std::mem::take(&mut self.has_arrived) {
            return Some(Action::Complete(self.began));
        }
        if self.played + self.stalled > Span::ZERO {
            let (played, stalled) = (std::mem::take(&mut self.played), std::mem::take(&mut self.stalled));
            return Some(Action::Played(played, stalled));
        }
        std::mem::take(&mut self.is_due).then(|| {
            self.play(now);
            self.rung = self.choose();
            self.began = now;
            let bytes = (self.ladder[self.rung] * self.plan.chunk.seconds() / 8.0).round().max(1.0);
            let is_new = std::mem::take(&mut self.is_new);
            Action::Request(Request {
                connection: 0,
                is_new,
                size: self.plan.request.get() as u16,
                purpose: Purpose::Data(bytes as u64),
            })
        })
    }
}

/// Relative fill level at which the highest rate is reached: 216 s of 240 s in the paper.
const FULLNESS: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Bytes, Rate};

    fn video() -> Video {
        let span = Span::from_secs;
        let ladder = [1e6, 2e6, 3e6, 4e6, 5e6].map(Rate::from_bits_per_second);
        Video::new(scenario::Video {
            ladder: scenario::Ladder(ladder.to_vec()),
            chunk: span(4),
            reservoir: span(10),
            cushion: span(40),
            request: Bytes::new(400),
        })
    }

    /// Algorithm 1: the map rises from 1 Mbit/s at 10 s to 5 Mbit/s at 50 s, a tenth a second; the rate stays until the
    /// map reaches the next one, up or down.
    #[test]
    fn the_rate_is_a_function_of_the_buffer() {
        let rung = |before: usize, seconds: f64| {
            let mut video = video();
            (video.rung, video.buffer) = (before, Span::from_seconds(seconds));
            video.choose()
        };
        for (seconds, expected) in
            [(0.0, 0), (10.0, 0), (19.9, 0), (20.1, 1), (29.0, 1), (30.1, 2), (49.0, 3), (50.0, 4)]
        {
            assert_eq!(rung(0, seconds), expected, "from the lowest, {seconds} s");
        }
        // From 3 Mbit/s: it stays above 2 Mbit/s and below 4, and falls to the next above the map.
        for (seconds, expected) in
            [(39.9, 2), (40.1, 3), (25.0, 2), (20.1, 2), (19.9, 1), (10.1, 1), (10.0, 0)]
        {
            assert_eq!(rung(2, seconds), expected, "from the middle, {seconds} s");
        }
    }

    /// Chunks of 4 s that take 1 s each fill the buffer; one that takes 60 s empties it, and the rest is a stall.
    #[test]
    fn the_player_waits_at_a_full_buffer_and_stalls_at_an_empty_one() {
        let mut video = video();
        let mut now = Time::ZERO;
        let (mut played, mut stalled, mut requests) = (Span::ZERO, Span::ZERO, 0);
        video.start(now, None);
        for chunk in 0..40 {
            while let Some(action) = video.next(now) {
                match action {
                    Action::Played(more, more_stalled) => {
                        (played, stalled) = (played + more, stalled + more_stalled);
                    }
                    Action::Request(request) => {
                        requests += 1;
                        assert_eq!(request.is_new, chunk == 0);
                    }
                    _ => {}
                }
            }
            now += Span::from_secs(if chunk == 39 { 60 } else { 1 });
            video.answered(now, 0);
            assert!(video.buffer <= video.full());
            if video.wakes_at() > now {
                now = video.wakes_at();
            }
            video.wake(now);
        }
        while let Some(action) = video.next(now) {
            if let Action::Played(more, more_stalled) = action {
                (played, stalled) = (played + more, stalled + more_stalled);
            }
        }
        assert_eq!(requests, 40);
        // Full is 55.6 s: the request leaves with 51.6 s left, so the stall is 60 - 51.6 s.
        assert!((stalled.seconds() - (60.0 - (50.0 / 0.9 - 4.0))).abs() < 1e-6, "{stalled}");
        assert_eq!(played + stalled + Span::from_secs(1), now.since(Time::ZERO));
    }
}
