//! Speech: a datagram for each frame, all the time or in talk spurts.
//!
//! Spurts and pauses are exponential with the means that ITU-T P.59 gives for conversational speech. A frame that a spurt
//! fills in part is sent whole, as a coder does.

use sojourn_random::Stream;
use sojourn_scenario::{PAUSE, SPURT};
use sojourn_units::{Span, Time};

pub(super) struct Voice {
    /// End of the last frame, or start of the next spurt.
    at: Time,
    /// Length of a frame.
    frame: Span,
    /// Draws of spurts and pauses; None: there are none.
    draws: Option<Stream>,
    /// Frames left of the spurt.
    left: u64,
}

impl Voice {
    /// `rate` in frames per second; where there are spurts, one begins at `start`.
    pub(super) fn new(start: Time, rate: f64, spurts: bool, draws: Stream) -> Voice {
        let frame = Span::from_seconds(1.0 / rate);
        let mut voice = Voice { at: start, frame, draws: spurts.then_some(draws), left: 0 };
        voice.left = voice.spurt();
        voice
    }

    pub(super) fn next(&mut self) -> Time {
        if let Some(draws) = &mut self.draws
            && self.left == 0
        {
            self.at += Span::from_seconds(draws.exponential(PAUSE));
            self.left = self.spurt();
        }
        self.left -= 1;
        self.at += self.frame;
        self.at
    }

    /// Frames of a spurt.
    fn spurt(&mut self) -> u64 {
        let Some(draws) = &mut self.draws else { return u64::MAX };
        let frames = draws.exponential(SPURT) / self.frame.seconds();
        (frames.ceil() as u64).max(1)
    }
}
