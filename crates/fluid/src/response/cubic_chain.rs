//! The chain of CUBIC (RFC 9438): its window between two signals is a function of the time, and of the windows at the
//! last two signals.
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - beta f) / C)           (1)
//! W_est     += alpha / w for each packet                                     (2)
//! w = W_est where W_cubic < W_est (the Reno-friendly region), else w follows W_cubic(t + R)
//! ```
//!
//! A state is the window at the signal that begins the cycle, on a logarithmic grid, and whether fast convergence lowers
//! W_max, as that window is below the W_max before. From each a cycle is followed in steps that a signal ends with the
//! probability of their packets. Packets and rounds are those of [`super::round_chain`]; t counts from the end of the
//! recovery, and R is constant.

use super::recovery::SQUARE_IN_RECOVERY;
use super::{Reductions, Rules, Stationary};
use sojourn_units::math;

/// A sender, and its signals.
#[derive(Clone, Copy)]
pub(super) struct Cubic<'a> {
    pub(super) rules: &'a Rules,
    /// Share of the flight that a signal leaves.
    pub(super) keeps: f64,
    pub(super) fast_convergence: bool,
    /// R, s.
    pub(super) rtt: f64,
    pub(super) p: f64,
}

/// Sums over a cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    packets: f64,
    rounds: f64,
    squares: f64,
    growth: f64,
    /// Square of the reduction.
    reduced_squares: f64,
}

/// Window at a signal, and the largest one before.
#[derive(Clone, Copy)]
struct Start {
    window: f64,
    is_short: bool,
}

/// A congestion avoidance stage.
struct Stage {
    /// Seconds since its start.
    t: f64,
    k: f64,
    w_max: f64,
    w_est: f64,
    /// `cwnd_prior`.
    prior: f64,
    window: f64,
}

impl Cubic<'_> {
    /// Means over the stationary distribution.
    pub(super) fn stationary(&self) -> Stationary {
        let nodes = self.nodes();
        let count = 2 * nodes.len();
        let mut moves = vec![0.0; count * count];
        let sums: Vec<Sums> = (0..count)
            .map(|state| {
                let start = Start { window: nodes[state / 2], is_short: state % 2 == 1 };
                self.cycle(start, &mut moves[state * count..][..count])
            })
            .collect();
        let mut shares = vec![1.0 / count as f64; count];
        for _ in 0..CYCLES {
            let mut next = vec![0.0; count];
            for (share, row) in shares.iter().zip(moves.chunks(count)) {
                next.iter_mut().zip(row).for_each(|(next, to)| *next += share * to);
            }
            shares = next;
        }
        let mean = |of: fn(&Sums) -> f64| -> f64 {
            shares.iter().zip(&sums).map(|(share, sums)| share * of(sums)).sum()
        };
        let rounds = mean(|of| of.rounds);
        let window = mean(|of| of.packets) / rounds;
        Stationary {
            window,
            growth: mean(|of| of.growth) / rounds,
            fluctuation: mean(|of| of.squares) / rounds / (window * window),
            reductions: Reductions { squares: mean(|of| of.reduced_squares) / rounds, rate: 1.0 / rounds },
            lost: 1.0 - self.keeps,
            at_once: 1.0,
        }
    }

    /// Windows from 1 to several usual ones: those of Reno's response, or of CUBIC's (RFC 9438, section 5.2).
    fn nodes(&self) -> Vec<f64> {
        let usual = (2.0 / self.p).sqrt().max(1.1 * math::exp(0.75 * math::ln(self.rtt / self.p)));
        let count = (math::ln(LARGEST * usual) / math::ln(RATIO)).ceil() as u64;
        (0..=count).map(|power| math::pow_int(RATIO, power)).collect()
    }

    /// Follows a cycle, and adds the probabilities of the states in which it ends to `ends`.
    fn cycle(&self, start: Start, ends: &mut [f64]) -> Sums {
        let Cubic { rules, p, .. } = self;
        let f = start.window.floor().max(1.0);
        let stage = self.stage(start, f);
        let again = self.after_timeout(&stage);
        let [left, resumed] = [&stage, &again].map(|stage| stage.window.floor().max(1.0));
        let times_out = if rules.is_selective() { 0.0 } else { rules.times_out(*p, f) };
        let recovery = rules.recovery(*p, f, left, if rules.is_selective() { left } else { resumed });
        let mut sums = Sums { packets: recovery.packets, rounds: recovery.rounds, ..Sums::default() };
        sums.squares = recovery.rounds * f * f * SQUARE_IN_RECOVERY;
        for (share, stage) in [(1.0 - times_out, stage), (times_out, again)] {
            let fall = start.window - stage.window;
            sums.reduced_squares += share * fall * fall;
            self.stage_of(stage, share, &mut sums, ends);
        }
        sums
    }

    /// Follows a share of the cycles from the start of their stage.
    fn stage_of(&self, mut stage: Stage, share: f64, sums: &mut Sums, ends: &mut [f64]) {
        let Cubic { rules, p, .. } = self;
        let mut alive = share;
        while alive > 0.0 {
            let flight = stage.window.floor().max(1.0);
            let packets = (flight / 4.0).max(STEP / p);
            let passes = if alive < FEW { 0.0 } else { math::exp(packets * math::ln(1.0 - p)) };
            let sent = alive * (1.0 - passes) / p;
            let each = rules.rounds_each(flight);
            let from = stage.window;
            self.advance(&mut stage, packets, packets * each);
            let grown = stage.window - from;
            sums.packets += sent;
            sums.rounds += sent * each + alive * grown / (2.0 * (flight + 1.0));
            sums.squares += sent * flight;
            // Signals are spread evenly over the step.
            sums.growth += alive * grown * 0.5 * (1.0 + passes);
            let at = 0.5 * (from + stage.window);
            add(ends, alive * (1.0 - passes), at, at < stage.w_max);
            alive *= passes;
        }
    }

    /// The stage after a timeout in the recovery (section 4.8).
    fn after_timeout(&self, before: &Stage) -> Stage {
        let window = (self.keeps * before.window).max(self.rules.least).min(before.window);
        Stage { t: 0.0, k: 0.0, w_max: window, w_est: window, prior: before.window, window }
    }

    /// The stage after a signal with `f` packets in flight (sections 4.6 and 4.7).
    fn stage(&self, start: Start, f: f64) -> Stage {
        let left = self.keeps * self.rules.base(start.window, f);
        let left = if self.rules.exits_below() { left.ceil() } else { left };
        let window = left.max(self.rules.least).min(start.window);
        let share = if self.fast_convergence && start.is_short { f64::midpoint(1.0, BETA) } else { 1.0 };
        let w_max = (share * start.window).max(window);
        let k = math::cbrt((w_max - window) / C);
        Stage { t: 0.0, k, w_max, w_est: window, prior: start.window, window }
    }

    /// Moves a stage on by so many packets, which take `rounds` (sections 4.2 to 4.5).
    fn advance(&self, stage: &mut Stage, packets: f64, rounds: f64) {
        stage.t += rounds * self.rtt;
        let alpha = if stage.w_est >= stage.prior { 1.0 } else { ALPHA };
        stage.w_est += alpha * packets / stage.window;
        if stage.at(stage.t) < stage.w_est {
            stage.window = stage.window.max(stage.w_est);
            return;
        }
        let target = stage.at(stage.t + self.rtt).clamp(stage.window, MAX_GROWTH * stage.window);
        let left = math::exp(-rounds / f64::from(self.rules.per_ack));
        stage.window += (target - stage.window) * (1.0 - left);
    }
}

impl Stage {
    /// Equation (1).
    fn at(&self, t: f64) -> f64 {
        let x = t - self.k;
        C * x * x * x + self.w_max
    }
}

/// Adds a probability to the two states about a window, so that its mean logarithm stays.
fn add(ends: &mut [f64], probability: f64, window: f64, is_short: bool) {
    let last = ends.len() / 2 - 1;
    let place = (math::ln(window.max(1.0)) / math::ln(RATIO)).min(last as f64);
    let node = (place as usize).min(last - 1);
    let higher = place - node as f64;
    ends[2 * node + usize::from(is_short)] += probability * (1.0 - higher);
    ends[2 * node + 2 + usize::from(is_short)] += probability * higher;
}

/// Segments per second cubed (section 5.1), beta (4.6), alpha (4.3), and the largest target in windows (4.2).
const C: f64 = 0.4;
const BETA: f64 = 0.7;
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
const MAX_GROWTH: f64 = 1.5;
/// Ratio of windows on the grid, and its last one in usual windows.
const RATIO: f64 = 1.08;
const LARGEST: f64 = 5.0;
/// Expected signals in a step of a cycle, and the probability of cycles that are not followed on.
const STEP: f64 = 0.08;
const FEW: f64 = 1e-4;
/// Cycles to the stationary distribution.
const CYCLES: u32 = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::draws::Draws;
    use crate::response::{Control, Response};
    use std::collections::VecDeque;

    /// Mean flight of a sliding window that follows RFC 9438 packet by packet, each marked with probability `p`, and the
    /// standard deviation of its window.
    fn simulated(of: &Cubic<'_>, seconds: f64) -> [f64; 2] {
        let (mut windows, mut squares) = (0.0, 0.0);
        let (mut una, mut nxt, mut window, mut point) = (0u64, 0u64, 10.0f64, 0);
        let (mut w_max, mut prior, mut stage) = (10.0f64, 10.0, None::<Stage>);
        let (mut flying, mut now, mut draws) = (VecDeque::new(), 0.0, Draws::default());
        let mut began = 0.0;
        while now < seconds {
            while nxt - una < window as u64 {
                let marked = draws.uniform();
                flying.push_back((now + of.rtt, marked < of.p));
                nxt += 1;
            }
            let (at, marked) = flying.pop_front().expect("a window is at least one packet");
            let flight = (nxt - una) as f64;
            (windows, squares) = (windows + (at - now) * window, squares + (at - now) * window * window);
            (now, una) = (at, una + 1);
            if una <= point {
                continue;
            }
            if marked {
                let is_short = of.fast_convergence && window < w_max;
                w_max = if is_short { 0.85 * window } else { window };
                prior = window;
                window = (of.keeps * flight).max(1.0).min(window);
                (point, stage) = (nxt, None);
                continue;
            }
            let now_in = stage.get_or_insert_with(|| {
                began = now;
                let k = math::cbrt((w_max.max(window) - window) / C);
                Stage { t: 0.0, k, w_max: w_max.max(window), w_est: window, prior, window }
            });
            now_in.w_est += if now_in.w_est >= prior { 1.0 } else { ALPHA } / window;
            let t = now - began;
            if now_in.at(t) < now_in.w_est {
                window = window.max(now_in.w_est);
            } else {
                window += (now_in.at(t + of.rtt).clamp(window, 1.5 * window) - window) / window;
            }
        }
        let mean = windows / seconds;
        [nxt as f64 * of.rtt / seconds, (squares / seconds - mean * mean).sqrt()]
    }

    /// In the Reno-friendly region, in CUBIC's, and between them.
    #[test]
    fn the_chain_is_the_sliding_window() {
        let rules =
            Rules { control: Control::Cubic { keeps: 0.7, fast_convergence: true }, ..Rules::default() };
        for (rtt, p) in [(0.02, 0.01), (0.02, 0.05), (0.1, 0.001), (0.1, 0.01), (0.3, 0.003), (0.3, 0.05)] {
            for fast_convergence in [false, true] {
                let of = Cubic { rules: &rules, keeps: 0.7, fast_convergence, rtt, p };
                let (chain, [found, sd]) = (of.stationary().window, simulated(&of, 1e5 * rtt));
                let control = Control::Cubic { keeps: 0.7, fast_convergence };
                let own = Response::of(Rules { control, ..rules }).window_sd(found, rtt);
                assert!((own / sd - 1.0).abs() < 0.2, "{rtt} {p} {fast_convergence}: {own} {sd}");
                assert!((chain / found - 1.0).abs() < 0.04, "{rtt} {p} {fast_convergence}: {chain}, {found}");
            }
        }
    }
}
