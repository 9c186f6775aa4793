//! The round chain: the window of one sender under independent signals, as a Markov chain.
//!
//! Between two signals a window grows by a fixed rule, so that a cycle follows from the window w at its beginning. A
//! packet of a window is signalled with probability p; the first one that is ends the cycle, and w is halved. With f
//! packets in flight at that time, and n after it (whole packets), a cycle has
//!
//! ```text
//! packets  K + f - 1,  K geometric with p: those that a signal may follow, and those in flight at it, which are immune
//! rounds   sum over K of 1/f + (n - 1)/f + (1 - n/f) (3/2 - 1/(2n)) + sum over the growth of dw / (2 (f + 1))     (1)
//! ```
//!
//! Packets leave in bursts, as the ACKs of the burst before arrive. Of a signal at the j-th of f packets, uniform, f - j
//! immune ones arrive in the same round and j - 1 in the next; the sender is silent until n are left in flight. If j > n
//! it is silent for all of the next round: the second and the third term of (1). ACKs arrive at the rate of the round
//! before, in which the window was smaller: the last term.
//!
//! A loss is noticed three packets later, in which limited transmit sends two more, and its retransmission is another
//! one. Each further loss of the window takes a round more (RFC 6582); that of the retransmission waits for the timer.
//!
//! The mean number of packets in flight, W, is the packets of a cycle by its rounds, over the stationary distribution of
//! w. Delayed ACKs let windows grow after even numbers of packets, and the last packet of an odd flight waits.

use super::{Growth, Reaction, Rules};
use sojourn_units::math;

/// Means over the stationary chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stationary {
    /// W, packets.
    pub window: f64,
    /// E(W^2) / E(W)^2.
    pub fluctuation: f64,
}

/// The chain for one p.
struct Chain {
    states: Vec<State>,
    /// States by which the window grows at once.
    step: usize,
}

/// A window, a multiple of 1 / [`PARTS`].
#[derive(Clone, Copy, Debug)]
struct State {
    /// f, whole packets.
    flight: f64,
    /// Rounds of a packet, 1 / f, with the wait of the last one of an odd flight.
    rounds_each: f64,
    /// Until the window grows: just after a signal, and later.
    stages: [Stage; 2],
    /// State after a signal, the rounds that it takes, and the packets of these.
    halved: usize,
    recovery: f64,
    immune: f64,
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
        let usual = (2.0 / p).sqrt();
        let count = ((4.0 * usual + 8.0) * PARTS) as usize;
        let states = (0..count).map(|number| State::new(rules, p, number as f64 / PARTS)).collect();
        let step = match rules.growth {
            Growth::Bytes => PARTS as usize,
            Growth::Acks => 1,
        };
        Chain { states, step }
    }

    /// Iterates the distribution of windows just after a signal; each cycle halves its distance from the fixed point.
    fn stationary(&self) -> Stationary {
        let mut after = vec![0.0; self.states.len()];
        after[self.states.len() / 8] = 1.0;
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
            let grown = after[number] * first.passes + later[number] * other.passes;
            let signalled = after[number] + later[number] - grown;
            next[state.halved] += signalled;
            if grown > 0.0 {
                let to = number + self.step;
                if to <= last { later[to] += grown } else { next[state.halved] += grown }
            }
        }
        next
    }

    /// Equation (1), averaged.
    fn means(&self, after: &[f64], later: &[f64]) -> Stationary {
        let (mut packets, mut rounds, mut squares) = (0.0, 0.0, 0.0);
        let growth = self.step as f64 / PARTS;
        for (state, (after, later)) in self.states.iter().zip(after.iter().zip(later)) {
            let [first, other] = state.stages;
            let sent = after * first.packets + later * other.packets;
            let grown = after * first.passes + later * other.passes;
            let signalled = after + later - grown;
            let silent = signalled * state.recovery;
            packets += sent + signalled * state.immune;
            rounds += sent * state.rounds_each + silent + grown * growth / (2.0 * (state.flight + 1.0));
            squares += sent * state.flight + silent * state.flight * state.flight * SQUARE_IN_RECOVERY;
        }
        let window = packets / rounds;
        Stationary { window, fluctuation: squares / rounds / (window * window) }
    }
}

impl State {
    fn new(rules: &Rules, p: f64, window: f64) -> State {
        let flight = window.floor().max(1.0);
        let each = f64::from(rules.per_ack);
        let is_odd = each > 1.0 && flight % 2.0 == 1.0;
        let waiting = if is_odd { DELAYED } else { 0.0 };
        let base = if rules.halves_flight { flight } else { window };
        let halved = (base / 2.0 * PARTS).floor().max(rules.least * PARTS);
        let mut state = State {
            flight,
            rounds_each: 1.0 / (flight - waiting),
            stages: rules.stages(p, window.max(1.0)),
            halved: halved as usize,
            recovery: 0.0,
            immune: 0.0,
        };
        state.recover(rules, p, (halved / PARTS).floor().max(1.0));
        state
    }

    /// Sets the rounds of a recovery that leaves `n` packets in flight, and their packets.
    fn recover(&mut self, rules: &Rules, p: f64, n: f64) {
        let f = self.flight;
        self.recovery = ((n - 1.0) / f + (1.0 - n / f) * (1.5 - 0.5 / n)).max(0.0);
        let acked_with_it = f64::from(rules.per_ack.min(2) - 1) / 2.0;
        self.immune = (f - 1.0 - acked_with_it).max(0.0);
        if rules.reaction == Reaction::Loss {
            let further = p * (f - 1.0);
            let by_timer = if f < 2.0 { 1.0 } else { p };
            self.recovery +=
                3.0 / f.max(3.0) + further + by_timer * (TIMEOUT + math::ln(n) / std::f64::consts::LN_2);
            self.immune += 3.0 + further * n;
        }
    }
}

impl Rules {
    /// Stages of a window: the packets of the first one count from a signal on.
    fn stages(&self, p: f64, window: f64) -> [Stage; 2] {
        let each = f64::from(self.per_ack);
        let [first, other] = match self.growth {
            Growth::Bytes => [(window / each).ceil() * each, window],
            Growth::Acks => [each * window / PARTS; 2],
        };
        [first, other].map(|packets| {
            let passes = math::exp(packets * math::ln(1.0 - p));
            Stage { passes, packets: (1.0 - passes) / p }
        })
    }
}

/// States per packet of window.
const PARTS: f64 = 4.0;
/// Most cycles, and the change of the distribution at which they end.
const CYCLES: u32 = 60;
const CONVERGED: f64 = 1e-8;
/// Share of a round that the last packet of an odd flight waits for its ACK: 40 ms of 140.
const DELAYED: f64 = 0.29;
/// Retransmission timeout, rounds: from 1 on long paths to the least one of 200 ms on short ones.
const TIMEOUT: f64 = 2.0;
/// The flight falls from f to f / 2 over the first half of a recovery: the mean of its square, by f^2.
const SQUARE_IN_RECOVERY: f64 = 0.42;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Mean flight of a sliding window over `rounds` round trips: no chain, but the sender itself, each packet marked
    /// with probability `p` by xorshift.
    fn simulated(growth: Growth, p: f64, rounds: f64) -> f64 {
        let (mut una, mut nxt, mut window, mut acked, mut point) = (0u64, 0u64, 10.0f64, 0.0, 0);
        let (mut flying, mut now, mut random) = (VecDeque::new(), 0.0, 0x9e37_79b9_7f4a_7c15u64);
        while now < rounds {
            while nxt - una < window as u64 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let marked = (random >> 11) as f64 / (1u64 << 53) as f64;
                flying.push_back((now + 1.0, marked < p));
                nxt += 1;
            }
            let (at, marked) = flying.pop_front().expect("a window is at least one packet");
            (now, una) = (at, una + 1);
            if una <= point {
                continue;
            }
            if marked {
                (window, acked, point) = ((window / 2.0).max(1.0), 0.0, nxt);
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
        nxt as f64 / rounds
    }

    #[test]
    fn the_chain_is_the_sliding_window() {
        for growth in [Growth::Bytes, Growth::Acks] {
            for p in [0.003, 0.01, 0.03, 0.06, 0.12] {
                let rules =
                    Rules { growth, per_ack: 1, reaction: Reaction::Mark, least: 1.0, halves_flight: false };
                let (chain, found) = (stationary(&rules, p).window, simulated(growth, p, 2e5));
                assert!((chain / found - 1.0).abs() < 0.025, "{growth:?} {p}: {chain}, simulated {found}");
            }
        }
    }
}
