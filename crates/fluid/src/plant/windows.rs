//! Growth of windows, and the signals they respond to.

use super::flow::at_most;
use super::link::inverse;
use super::rates::Evaluation;
use super::{ClassState, Hop, LEAST_WINDOW, Link, Plant, SignalSum, Window};
use crate::dde::{Cubic, History, Piece};
use crate::response::WindowInputs;

impl Plant {
    /// Updates the signal in effect for each class at each of its links.
    pub(super) fn update_signals(&mut self, t: f64, y: &[f64]) {
        let Plant { classes, links, .. } = self;
        for of in classes {
            for number in 0..of.hops.len() {
                let link = &links[of.hops[number].link];
                let rtt = of.rtt(|wait| y[wait.place]);
                let given = link.given_at(t - rtt, y[link.place]);
                of.hops[number].update_signal(link, given);
            }
            // Signals at departure make no events, so that all of these are given on arrival.
            of.until = of.hops.iter().fold(f64::INFINITY, |until, hop| until.min(hop.until));
            of.is_calm = of.waits.iter().all(|wait| links[wait.link].has_one_rate())
                && of.hops.iter().all(|hop| links[hop.link].signals_steps());
            of.passed = of.hops.iter().fold(1.0 - of.loss, |passed, hop| passed * (1.0 - hop.signal_p));
        }
    }
}

impl ClassState {
    /// W', equations (2) and (3).
    #[inline]
    pub(super) fn growth(
        &mut self,
        (class, law, most): (usize, Window, f64),
        links: &[Link],
        at: Evaluation<'_>,
        rtt: f64,
    ) -> f64 {
        let then = at.t - rtt;
        if !self.sent.holds(then) {
            self.find_sent(class, then, at.past);
        }
        let (w, share) = (at.y[class].max(LEAST_WINDOW), self.sent.share(then));
        let (rtt_then, passed) = if self.is_calm {
            (self.rtt(|wait| wait.then.at(share)), self.passed)
        } else {
            self.delayed_signal(links, then, share, at.y)
        };
        let acks = at_most(most, self.window.at(share).max(LEAST_WINDOW) / rtt_then);
        match law {
            Window::Mgt => 1.0 / rtt - w * (1.0 - passed) * acks / 2.0,
            Window::Full => acks * (passed / w - (1.0 - passed) * w / 2.0),
            Window::Calibrated(response) => {
                let mut signalled = 1.0 - passed;
                if let Some(sum) = &mut self.signal_sum {
                    signalled = sum.mean(signalled, response.signal_span(w) * rtt, at);
                }
                let inputs = WindowInputs { window: w, rtt, acks, signalled };
                let memory = self.memory.as_ref().map(|memory| (memory.kind, at.y[memory.place]));
                let [slope, of_memory] = response.at(w, rtt).slopes(inputs, memory);
                if let Some(memory) = &mut self.memory {
                    memory.slope = of_memory;
                }
                slope
            }
        }
    }

    /// Finds the piece of the history in which the packets acknowledged now were sent.
    #[inline(never)]
    fn find_sent(&mut self, class: usize, then: f64, past: &History) {
        let (sent, curves) = past.piece(then, &mut self.hint);
        (self.sent, self.window) = (sent, curves.cubic(class));
        for wait in &mut self.waits {
            wait.then = curves.cubic(wait.place);
            wait.rate_then = wait.served.map(|served| curves.slope(served));
        }
    }

    /// Decrease of the mean window by new flows, whose windows are the least one, packets/s.
    #[inline(never)]
    pub(super) fn dilution(&self, w: f64, t: f64) -> f64 {
        let count = self.flows.at(t);
        if count > 0.0 { self.flows.growth / count * (w - LEAST_WINDOW) } else { 0.0 }
    }

    /// Round trip of a packet sent at `then`, and the share without a signal of those sent with it. The slow path, where
    /// rates of links have changed, or signals are not constant between events.
    #[inline(never)]
    fn delayed_signal(&self, links: &[Link], then: f64, share: f64, y: &[f64]) -> (f64, f64) {
        let (mut rtt, mut passed) = (self.base_rtt, 1.0 - self.loss);
        for wait in &self.waits {
            rtt += match &wait.rate_then {
                Some(rate) => wait.then.at(share).max(0.0) * inverse(rate.at(share)),
                None => links[wait.link].wait_then(then, wait.then.at(share)),
            };
        }
        for hop in &self.hops {
            let link = &links[hop.link];
            passed *= 1.0 - hop.p_at(link, then, y);
            if link.signals.lose_any() {
                passed *= 1.0 - link.signals.lost(then, (!link.smooth).then_some(hop.signal));
            }
        }
        (rtt, passed)
    }
}

impl SignalSum {
    pub(super) fn new(place: usize) -> SignalSum {
        SignalSum { place, slope: 0.0, begins: Piece::NONE, hint: 0, sum: Cubic::default() }
    }

    /// Sets its slope to the share of signals, and returns their mean over the last `span`, s.
    #[inline]
    fn mean(&mut self, signals: f64, span: f64, at: Evaluation<'_>) -> f64 {
        self.slope = signals;
        if span < SHORTEST {
            return signals;
        }
        let (begin, end) = (at.t - span, at.past.end());
        if begin > end {
            // Shorter than the step: the mean over the step so far.
            return (at.y[self.place] - at.past.latest(self.place)) / (at.t - end);
        }
        if !self.begins.holds(begin) {
            self.find_begin(begin, at.past);
        }
        let sum = at.y[self.place];
        let mean = (sum - self.sum.at(self.begins.share(begin))) / span;
        // Else the rounding of the sum would keep a law in equilibrium from its fixed point.
        let is_constant = (mean - signals).abs() * span <= ROUNDING * sum;
        if is_constant { signals } else { mean }
    }

    /// Finds the piece of the history in which a span begins.
    #[inline(never)]
    fn find_begin(&mut self, begin: f64, past: &History) {
        let (begins, curves) = past.piece(begin, &mut self.hint);
        (self.begins, self.sum) = (begins, curves.cubic(self.place));
    }
}

impl Hop {
    /// Updates the signal in effect, given at `given`.
    fn update_signal(&mut self, link: &Link, given: f64) {
        self.signal = link.signals.entry_at(given, self.signal);
        self.signal_p = link.signals.p(self.signal);
        self.until = if link.smooth { f64::INFINITY } else { link.signals.next(self.signal) };
    }

    /// p of the signal of a packet sent at `then`.
    fn p_at(&self, link: &Link, then: f64, y: &[f64]) -> f64 {
        if !link.smooth {
            return self.signal_p;
        }
        let given = link.given_at(then, y[link.place]);
        link.signals.p(link.signals.entry_at(given, self.signal))
    }
}

/// Relative rounding of a difference of sums, some tens of additions: the sum grows as p t.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Least span of a mean of signals, s.
const SHORTEST: f64 = 1e-7;
