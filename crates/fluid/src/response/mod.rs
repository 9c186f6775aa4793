//! Response of windows to signals, calibrated: by the round chain of the sender's rules.
//!
//! [`round_chain`] gives the mean window W at each p; its inverse is the response function p(W), and E(W^2) / E(W)^2 the
//! fluctuation kappa. As a fluid, d a round trip ago,
//!
//! ```text
//! W' = kappa(W) / 2 (W^2 p(W) / R - W W_d s / R_d)                           (1)
//! ```
//!
//! which is at rest at s = p(W), and the published model for kappa = 1 and p(W) = 2 / W^2.

pub mod round_chain;

use sojourn_optim::root;
use sojourn_units::math;
use std::sync::{Mutex, PoisonError};

/// Rules of a sender on which its response depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Growth of the window.
    pub growth: Growth,
    /// Packets per acknowledgment.
    pub per_ack: u32,
    /// Signal.
    pub reaction: Reaction,
    /// Least window after a signal, packets.
    pub least: f64,
    /// True if a signal halves the whole packets in flight, false if it halves the window.
    pub halves_flight: bool,
}

/// Growth of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// A packet for each window of acknowledged bytes (RFC 3465).
    Bytes,
    /// One by the window for each acknowledgment (RFC 5681, equation 3).
    Acks,
}

/// Signal and recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Marks, whose echo halves the window.
    Mark,
    /// Drops, which are retransmitted.
    Loss,
}

/// Response function and fluctuation, as tables over 1 / W.
#[derive(Debug, PartialEq)]
pub struct Response {
    /// W^2 p(W).
    squared: Curve,
    /// kappa(W).
    fluctuation: Curve,
}

/// A function of y = 1 / W on [0, 1]: cubics between equidistant values, with continuous slopes.
#[derive(Debug, PartialEq)]
struct Curve {
    values: [f64; CELLS + 1],
}

/// Responses computed so far; there are as many as sets of rules.
static KNOWN: Mutex<Vec<(Rules, &'static Response)>> = Mutex::new(Vec::new());

impl Response {
    /// Response of a sender; computed once for each set of rules.
    pub fn of(rules: Rules) -> &'static Response {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, response)) = known.iter().find(|(of, _)| *of == rules) {
            return response;
        }
        let response: &'static Response = Box::leak(Box::new(Response::new(&rules)));
        known.push((rules, response));
        response
    }

    fn new(rules: &Rules) -> Response {
        let (mut squared, mut fluctuation) = ([0.0; CELLS + 1], [0.0; CELLS + 1]);
        let least = round_chain::stationary(rules, MOST_P).window;
        for cell in 1..=CELLS {
            let window = CELLS as f64 / cell as f64;
            if window < least {
                // Beyond p = 1.
                (squared[cell], fluctuation[cell]) = (squared[cell - 1], fluctuation[cell - 1]);
                continue;
            }
            let from = if cell == 1 { 1.5 } else { squared[cell - 1] };
            let p = signals_at(rules, window, from / (window * window));
            squared[cell] = window * window * p;
            fluctuation[cell] = round_chain::stationary(rules, p).fluctuation;
        }
        for values in [&mut squared, &mut fluctuation] {
            values[0] = 2.0 * values[1] - values[2];
        }
        Response { squared: Curve { values: squared }, fluctuation: Curve { values: fluctuation } }
    }

    /// p(W): the share of signals at which the mean window is `window` packets.
    pub fn signals(&self, window: f64) -> f64 {
        let y = 1.0 / window;
        self.squared.at(y)[0] * y * y
    }

    /// W^2 p(W).
    #[inline]
    pub fn squared(&self, window: f64) -> f64 {
        self.squared.at(1.0 / window)[0]
    }

    /// - d ln p / d ln W: 2 in the published model.
    pub fn elasticity(&self, window: f64) -> f64 {
        let y = 1.0 / window;
        let [value, slope] = self.squared.at(y);
        2.0 + y * slope / value
    }

    /// kappa(W).
    #[inline]
    pub fn fluctuation(&self, window: f64) -> f64 {
        self.fluctuation.at(1.0 / window)[0]
    }

    /// Mean window at the share `signals`, packets; at least 1.
    pub fn window(&self, signals: f64) -> f64 {
        if signals <= 0.0 {
            return f64::INFINITY;
        }
        if signals >= self.signals(1.0) {
            return 1.0;
        }
        let [low, high] = [4.0, 0.1].map(|square| (signals / square).sqrt().min(1.0));
        let of = |y: f64| {
            let [value, slope] = self.squared.at(y);
            (value * y * y, (slope * y + 2.0 * value) * y)
        };
        1.0 / root::of_rising(signals, low, high, of)
    }
}

/// p at which the chain's mean window is `window`, from a value near it: p falls with nearly the second power of W, so that
/// each step leaves a tenth of the error.
fn signals_at(rules: &Rules, window: f64, near: f64) -> f64 {
    let mut p = near.min(MOST_P);
    for _ in 0..MOST_STEPS {
        let excess = round_chain::stationary(rules, p).window / window;
        p = (p * math::exp(USUAL_ELASTICITY * math::ln(excess))).min(MOST_P);
        if (excess - 1.0).abs() < CLOSE {
            break;
        }
    }
    p
}

impl Curve {
    /// Value and slope at `y`, at most 1.
    #[inline]
    fn at(&self, y: f64) -> [f64; 2] {
        let place = (y * CELLS as f64).clamp(0.0, CELLS as f64);
        let cell = (place as usize).min(CELLS - 1);
        let (t, [from, to]) = (place - cell as f64, [self.values[cell], self.values[cell + 1]]);
        let [left, right] = [self.slope(cell), self.slope(cell + 1)];
        let (rise, bend) = (to - from, left + right);
        // Hermite's cubic.
        let [square, cube] = [3.0 * rise - bend - left, bend - 2.0 * rise];
        let value = from + t * (left + t * (square + t * cube));
        [value, CELLS as f64 * (left + t * (2.0 * square + t * 3.0 * cube))]
    }

    /// Slope at a value, by cell.
    #[inline]
    fn slope(&self, place: usize) -> f64 {
        let [before, after] = [place.saturating_sub(1), (place + 1).min(CELLS)];
        (self.values[after] - self.values[before]) / (after - before) as f64
    }
}

/// Cells of a table.
const CELLS: usize = 64;
/// - d ln p / d ln W of usual windows.
const USUAL_ELASTICITY: f64 = 1.8;
/// Steps to p, and the relative error of W at which they end.
const MOST_STEPS: u32 = 60;
const CLOSE: f64 = 1e-8;
/// Greatest p of the chain.
const MOST_P: f64 = 0.999;

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Vec<Rules> {
        let mut all = Vec::new();
        for growth in [Growth::Bytes, Growth::Acks] {
            for per_ack in [1, 2] {
                for reaction in [Reaction::Mark, Reaction::Loss] {
                    let least = if reaction == Reaction::Mark { 1.0 } else { 2.0 };
                    all.push(Rules { growth, per_ack, reaction, least, halves_flight: false });
                }
            }
        }
        all
    }

    #[test]
    fn windows_and_signals_are_inverse() {
        for rules in rules() {
            let response = Response::of(rules);
            for window in [1.7, 3.0, 4.4, 9.0, 30.0, 63.5, 150.0, 3000.0] {
                let back = response.window(response.signals(window));
                assert!((back / window - 1.0).abs() < 1e-9, "{rules:?} {window}: {back}");
            }
        }
    }

    /// Between its nodes, and beyond the last one, the table is the chain.
    #[test]
    fn the_table_is_the_chain() {
        for rules in rules() {
            let response = Response::of(rules);
            for p in [0.0001, 0.0023, 0.011, 0.047, 0.08] {
                let exact = round_chain::stationary(&rules, p);
                let window = response.window(p);
                assert!((window / exact.window - 1.0).abs() < 5e-3, "{rules:?} {p}: {window} {exact:?}");
                let kappa = response.fluctuation(exact.window);
                assert!((kappa / exact.fluctuation - 1.0).abs() < 1e-2, "{rules:?} {p}: {kappa} {exact:?}");
            }
        }
    }

    /// The slope by differences; more signals always mean smaller windows.
    #[test]
    fn the_elasticity_is_the_slope() {
        for rules in rules() {
            let response = Response::of(rules);
            for tenth in 11..400 {
                let window = f64::from(tenth) / 10.0;
                let [more, less] = [1.0 + 1e-6, 1.0 - 1e-6].map(|by| response.signals(window * by));
                let slope = math::ln(less / more) / 2e-6;
                let elasticity = response.elasticity(window);
                assert!((elasticity - slope).abs() < 1e-4, "{rules:?} {window}: {elasticity} {slope}");
                assert!(elasticity > 1.0, "{rules:?} {window}: {elasticity}");
            }
        }
    }
}
