//! The round chain: the window of one sender under independent signals, as a Markov chain.
//!
//! Between two signals a window grows by a fixed rule, so that a cycle follows from the window w at its beginning. A
//! packet of a window is signalled with probability p; the first one that is ends the cycle, and w is reduced. With f
//! packets in flight at that time, and n after it (whole packets), a cycle has
//!
//! ```text
//! packets  K + f - 1,  K geometric with p: those that a signal may follow, and those of the recovery
//! rounds   sum over K of 1/f + recovery + sum over the growth of dw / (2 (f + 1))     (1)
//! ```
//!
//! The recovery is in `recovery.rs`. ACKs arrive at the rate of the round before, in which the window was smaller: the
//! last term. The mean number of packets in flight, W, is the packets of a cycle by its rounds, over the stationary
//! distribution of w. Delayed ACKs let windows grow after even numbers of packets.
//!
//! The growth of a window is that of Reno, or a share of the packets acknowledged (Scalable TCP); a signal halves it, or
//! takes away another share: DCTCP's is half of its average of the marked share, which is p. DCTCP's windows grow during
//! the recovery, too: only marked packets are echoed then.

use super::recovery::{Recovery, SQUARE_IN_RECOVERY};
use super::{Control, Falls, Growth, Rules, Stationary};
use sojourn_units::math;

/// The chain for one p.
struct Chain {
    states: Vec<State>,
    /// State from which the iteration starts.
    start: usize,
}

/// A window, a multiple of 1 / [`PARTS`].
#[derive(Clone, Copy, Debug)]
struct State {
    /// f, whole packets.
    flight: f64,
    /// Rounds of a packet, 1 / f, with the wait of the last one of an odd flight.
    rounds_each: f64,
    /// Until the window grows: just after a signal, and later; states by which it grows then.
    stages: [Stage; 2],
    step: usize,
    /// Growth for each packet acknowledged.
    growth_each: f64,
    /// State after a signal, and the share of those in the next higher one.
    reduced: usize,
    higher: f64,
    recovery: Recovery,
    /// Growth during the recovery.
    recovery_growth: f64,
}

/// Time until the window grows.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Probability of no signal.
    passes: f64,
    /// Mean number of packets until it ends or a signal follows.
    packets: f64,
}

/// Means of a sender under signals with probability `p`.
pub fn stationary(rules: &Rules, p: f64) -> Stationary {
    Chain::new(rules, p).stationary()
}

impl Chain {
    fn new(rules: &Rules, p: f64) -> Chain {
        let usual = rules.usual(p);
        let count = ((4.0 * usual + 8.0) * PARTS) as usize;
        let states = (0..count).map(|number| State::new(rules, p, number as f64 / PARTS)).collect();
        Chain { states, start: (0.5 * usual * PARTS) as usize }
    }

    /// Iterates the distribution of windows just after a signal; each cycle brings it nearer to the fixed point, by half
    /// where windows are halved.
    fn stationary(&self) -> Stationary {
        let mut after = vec![0.0; self.states.len()];
        after[self.start] = 1.0;
        let mut later = vec![0.0; self.states.len()];
        for _ in 0..CYCLES {
            let next = self.cycle(&after, &mut later);
            let moved: f64 = next.iter().zip(&after).map(|(new, old)| (new - old).abs()).sum();
            after = next;
            if moved < CONVERGED {
                break;
            }
        }
        self.means(&after, &later)
    }

    /// Distribution after a cycle that begins with `after`; `later` are the visits of each state but the first one.
    fn cycle(&self, after: &[f64], later: &mut [f64]) -> Vec<f64> {
        let mut next = vec![0.0; self.states.len()];
        later.fill(0.0);
        let last = self.states.len() - 1;
        for (number, state) in self.states.iter().enumerate() {
            let [first, other] = state.stages;
            let mut grown = after[number] * first.passes + later[number] * other.passes;
            let mut signalled = after[number] + later[number] - grown;
            let to = number + state.step;
            if to <= last {
                later[to] += grown;
            } else {
                (grown, signalled) = (0.0, signalled + grown);
            }
            debug_assert!(grown >= 0.0);
            next[state.reduced] += signalled * (1.0 - state.higher);
            next[state.reduced + 1] += signalled * state.higher;
        }
        next
    }

    /// Equation (1), averaged.
    fn means(&self, after: &[f64], later: &[f64]) -> Stationary {
        let (mut packets, mut rounds, mut squares, mut growth) = (0.0, 0.0, 0.0, 0.0);
        let (mut falls, mut fallen) = (0.0, 0.0);
        for (number, (state, (after, later))) in self.states.iter().zip(after.iter().zip(later)).enumerate() {
            let [first, other] = state.stages;
            let sent = after * first.packets + later * other.packets;
            let grown = after * first.passes + later * other.passes;
            let signalled = after + later - grown;
            let silent = signalled * state.recovery.rounds;
            let dw = state.step as f64 / PARTS;
            packets += sent + signalled * state.recovery.packets;
            rounds += sent * state.rounds_each + silent + grown * dw / (2.0 * (state.flight + 1.0));
            squares += sent * state.flight + silent * state.flight * state.flight * SQUARE_IN_RECOVERY;
            growth += sent * state.growth_each + signalled * state.recovery_growth;
            let fall = (number as f64 - state.reduced as f64 - state.higher) / PARTS;
            falls += signalled;
            fallen += signalled * fall * fall;
        }
        let window = packets / rounds;
        let falls = Falls { squares: fallen / rounds, rate: falls / rounds };
        let fluctuation = squares / rounds / (window * window);
        Stationary { window, growth: growth / rounds, fluctuation, falls }
    }
}

impl State {
    fn new(rules: &Rules, p: f64, window: f64) -> State {
        let flight = window.floor().max(1.0);
        let growing = rules.growing(p, window.max(1.0));
        let (reduced, higher) = rules.reduced(p, window, flight);
        let left = (reduced as f64 / PARTS).floor().max(1.0);
        let recovery = rules.recovery(p, flight, left);
        let is_growing = matches!(rules.control, Control::Dctcp { .. });
        State {
            flight,
            rounds_each: rules.rounds_each(flight),
            stages: growing.packets.map(|packets| Stage::of(p, packets)),
            step: growing.step,
            growth_each: growing.each,
            reduced,
            higher,
            recovery,
            recovery_growth: if is_growing { recovery.packets * (1.0 - p) * growing.each } else { 0.0 },
        }
    }
}

impl Stage {
    fn of(p: f64, packets: f64) -> Stage {
        let passes = math::exp(packets * math::ln(1.0 - p));
        Stage { passes, packets: (1.0 - passes) / p }
    }
}

/// Growth of a window.
struct Growing {
    /// Packets until it grows, from a signal on, and later.
    packets: [f64; 2],
    /// States by which it grows.
    step: usize,
    /// Growth for each packet.
    each: f64,
}

impl Rules {
    /// A window that is at most a little smaller than the mean one.
    fn usual(&self, p: f64) -> f64 {
        let reno = (2.0 / p).sqrt();
        match self.control {
            Control::Reno { .. } | Control::Cubic { .. } => reno,
            Control::Scalable { increase, decrease, low } => reno.min(low).max(increase / (decrease * p)),
            Control::Dctcp { .. } => 2.0 / p,
        }
    }

    fn growing(&self, p: f64, window: f64) -> Growing {
        let each = f64::from(self.per_ack);
        let acked = if self.growth == Growth::Bytes { 1.0 } else { each };
        match (self.control, self.growth) {
            (Control::Scalable { increase, low, .. }, _) if window > low => {
                Growing { packets: [acked / (PARTS * increase); 2], step: 1, each: increase / acked }
            }
            (Control::Dctcp { .. }, Growth::Bytes) => {
                let in_recovery = (window / (1.0 - 0.5 * p) - 1.0) * (1.0 - p);
                let first = ((window - in_recovery).max(1.0) / each).ceil() * each;
                Growing { packets: [first, window], step: PARTS as usize, each: 1.0 / window }
            }
            (_, Growth::Bytes) => Growing {
                packets: [(window / each).ceil() * each, window],
                step: PARTS as usize,
                each: 1.0 / window,
            },
            (_, Growth::Acks) => {
                Growing { packets: [each * window / PARTS; 2], step: 1, each: 1.0 / (each * window) }
            }
        }
    }

    /// State after a signal, and the share of the next higher one. Half windows fall to a state; other shares are between
    /// two of them.
    fn reduced(&self, p: f64, window: f64, flight: f64) -> (usize, f64) {
        let base = if self.halves_flight { flight } else { window };
        let share = match self.control {
            Control::Reno { keeps } => keeps,
            Control::Scalable { decrease, low, .. } if window > low => 1.0 - decrease,
            Control::Scalable { .. } | Control::Cubic { .. } => 0.5,
            Control::Dctcp { .. } => 1.0 - 0.5 * p,
        };
        let place = (base * share).max(self.least) * PARTS;
        let whole = place.floor();
        (whole as usize, if share == 0.5 { 0.0 } else { place - whole })
    }
}

/// States per packet of window.
const PARTS: f64 = 4.0;
/// Most cycles, and the change of the distribution at which they end.
const CYCLES: u32 = 400;
const CONVERGED: f64 = 1e-8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::draws::Draws;
    use std::collections::VecDeque;

    /// Mean flight of a sliding window over `rounds` round trips, and its reductions: no chain, but the sender itself,
    /// each packet marked with probability `p` by xorshift.
    fn simulated(growth: Growth, p: f64, rounds: f64) -> (f64, Falls) {
        let mut falls = Falls { squares: 0.0, rate: 0.0 };
        let (mut una, mut nxt, mut window, mut acked, mut point) = (0u64, 0u64, 10.0f64, 0.0, 0);
        let (mut flying, mut now, mut draws) = (VecDeque::new(), 0.0, Draws::default());
        while now < rounds {
            while nxt - una < window as u64 {
                let marked = draws.uniform();
                flying.push_back((now + 1.0, marked < p));
                nxt += 1;
            }
            let (at, marked) = flying.pop_front().expect("a window is at least one packet");
            (now, una) = (at, una + 1);
            if una <= point {
                continue;
            }
            if marked {
                let fall = window - (window / 2.0).max(1.0);
                falls.squares += fall * fall / rounds;
                falls.rate += 1.0 / rounds;
                (window, acked, point) = (window - fall, 0.0, nxt);
                continue;
            }
            match growth {
                Growth::Acks => window += 1.0 / window,
                Growth::Bytes => {
                    acked += 1.0;
                    if acked >= window {
                        acked -= window;
                        window += 1.0;
                    }
                }
            }
        }
        (nxt as f64 / rounds, falls)
    }

    #[test]
    fn the_chain_is_the_sliding_window() {
        for growth in [Growth::Bytes, Growth::Acks] {
            for p in [0.003, 0.01, 0.03, 0.06, 0.12] {
                let rules = Rules { growth, per_ack: 1, ..Rules::default() };
                let (chain, (found, falls)) = (stationary(&rules, p), simulated(growth, p, 2e5));
                assert!((chain.window / found - 1.0).abs() < 0.025, "{growth:?} {p}: {chain:?}, {found}");
                let off = [chain.falls.squares / falls.squares, chain.falls.rate / falls.rate];
                let places = off.map(|ratio| (ratio - 1.0).abs());
                assert!(places[0] < 0.06 && places[1] < 0.03, "{growth:?} {p}: {off:?}");
            }
        }
    }
}
