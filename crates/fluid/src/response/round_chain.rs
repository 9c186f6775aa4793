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
//! takes away another share: DCTCP's is half of its average of the marked share, alpha, which is p. DCTCP's windows grow
//! during the recovery, too: of the f - 1 packets then only the unmarked ones count, u of them, and
//! E (1 - p)^(w - u) = (1 - p)^w (1 + p)^(f - 1) is the probability that the window w grows before the next reduction.
//! Those of Scalable TCP keep the growth since the last state at a signal: a reduction may be less than a state.
//!
//! Cycles of the distribution of w bring it nearer to the stationary one by the share that a signal leaves. Where that is
//! slow, the chain is solved by elimination of one state after another, without a difference (W. K. Grassmann, M. I. Taksar
//! and D. P. Heyman, "Regenerative analysis and steady state distributions for Markov chains", Operations Research 33(5),
//! 1985).

use super::recovery::{Recovery, SQUARE_IN_RECOVERY};
use super::{Control, Growth, Reductions, Rules, Stationary};
use sojourn_units::math;

/// Signals of a sender.
#[derive(Clone, Copy, Debug)]
struct Signals {
    /// p.
    p: f64,
    /// Average of the marked share, for DCTCP.
    average: f64,
}

/// The chain for one p.
struct Chain {
    states: Vec<State>,
    /// State from which the iteration starts.
    start: usize,
    /// True if a signal may take away so large a share that few cycles suffice.
    halves: bool,
    /// True for DCTCP.
    keeps_average: bool,
}

/// Probabilities of the states at which a cycle begins.
#[derive(Default)]
struct Row {
    at: Vec<f64>,
    /// Lowest state that is not 0, and the highest one that was set.
    from: usize,
    to: usize,
}

impl Row {
    fn new(count: usize) -> Row {
        Row { at: vec![0.0; count], from: count, to: 0 }
    }

    fn clear(&mut self) {
        let (from, end) = (self.from, self.at.len().min(self.to + 1));
        if from < end {
            self.at[from..end].fill(0.0);
        }
        (self.from, self.to) = (self.at.len(), 0);
    }

    fn add_at(&mut self, place: usize, share: f64) {
        if share > 0.0 {
            self.at[place] += share;
            (self.from, self.to) = (self.from.min(place), self.to.max(place));
        }
    }

    /// Adds a share of another row, of its states below `end`.
    fn add(&mut self, other: &Row, share: f64, end: usize) {
        let end = end.min(other.to + 1);
        if share > 0.0 && other.from < end {
            let range = other.from..end;
            self.at[range.clone()]
                .iter_mut()
                .zip(&other.at[range])
                .for_each(|(to, from)| *to += share * from);
            (self.from, self.to) = (self.from.min(other.from), self.to.max(end - 1));
        }
    }
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
    /// Mean growth since the state was reached, where that is kept, at a signal, states.
    partial: f64,
    /// Share that a signal takes away.
    taken: f64,
    /// State after a signal, and the share of those in the next higher one.
    reduced: usize,
    higher: f64,
    /// State after a timeout in the recovery, and its share.
    again: usize,
    times_out: f64,
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
    let signals = |p, average| Chain::new(rules, Signals { p, average }).stationary();
    let found = signals(p, p);
    if !matches!(rules.control, Control::Dctcp { .. }) {
        return found;
    }
    // What signals take off and growth that they delay, by what alpha takes off.
    let [low, high] = [p * (1.0 - NEAR), (p * (1.0 + NEAR)).min(MOST_NEAR)];
    let by_p = math::ln(signals(high, p).window / signals(low, p).window);
    let by_average = math::ln(signals(p, high).window / signals(p, low).window);
    let at_once = by_p / by_average;
    // At the least window alpha takes nothing off.
    Stationary { at_once: if at_once > 0.0 { at_once.min(MOST_AT_ONCE) } else { MOST_AT_ONCE }, ..found }
}

impl Chain {
    fn new(rules: &Rules, signals: Signals) -> Chain {
        let usual = rules.usual(signals.p);
        let count = ((4.0 * usual + 8.0) * PARTS) as usize;
        let mut states: Vec<State> =
            (0..count).map(|number| State::new(rules, signals, number as f64 / PARTS)).collect();
        let last = &mut states[count - 1];
        if last.reduced >= count - 1 {
            (last.reduced, last.higher, last.times_out) = (count - 2, 1.0, 0.0);
        }
        Chain {
            states,
            start: (0.5 * usual * PARTS) as usize,
            halves: !matches!(rules.control, Control::Scalable { .. }),
            keeps_average: matches!(rules.control, Control::Dctcp { .. }),
        }
    }

    /// Means over the stationary distribution.
    fn stationary(&self) -> Stationary {
        let found = if self.halves { self.iterated() } else { None };
        let [after, later] = found.unwrap_or_else(|| self.eliminated());
        self.means(&after, &later)
    }

    /// Iterates the distribution of windows just after a signal; each cycle brings it nearer to the fixed point, by the share
    /// that a signal leaves. None where the cycles do not suffice. Visits of each state, the first ones of cycles apart.
    fn iterated(&self) -> Option<[Vec<f64>; 2]> {
        let mut after = vec![0.0; self.states.len()];
        after[self.start] = 1.0;
        let mut later = vec![0.0; self.states.len()];
        for _ in 0..CYCLES {
            let next = self.cycle(&after, &mut later);
            let moved: f64 = next.iter().zip(&after).map(|(new, old)| (new - old).abs()).sum();
            after = next;
            if moved < CONVERGED {
                return Some([after, later]);
            }
        }
        None
    }

    /// Eliminates the states from the highest one down, and follows the visits up again: as [`Chain::iterated`], to a common
    /// factor.
    ///
    /// Without the states above k a cycle that leaves k upwards comes back at the first state of at most k at which a cycle
    /// begins. Only states of the last [`Stage`]s below k lead there, so that no other rows are kept.
    fn eliminated(&self) -> [Vec<f64>; 2] {
        let count = self.states.len();
        let mut rows: Vec<Row> = (0..ROWS).map(|_| Row::new(count)).collect();
        let [mut own, mut above] = [Row::new(count), Row::new(count)];
        // By state: the probability that a cycle which begins there leads below before it leads back, and that a growth of the
        // states 1 to 4 below leads to it.
        let (mut descends, mut returns) = (vec![0.0; count], vec![[0.0; STEPS]; count]);
        let mut bottom = self.states[0].reduced;
        for number in (bottom..count).rev() {
            let state = &self.states[number];
            std::mem::swap(&mut own, &mut above);
            let [first, other] = self.grows(number);
            // At the end of the table nothing grows.
            let mut row = std::mem::take(&mut rows[number % ROWS]);
            let grown = &rows[(number + state.step) % ROWS];
            for (to, grows) in [(&mut row, other), (&mut own, first)] {
                to.clear();
                to.add(grown, grows, number + 1);
                to.add_at(state.reduced, (1.0 - grows) * (1.0 - state.higher - state.times_out));
                to.add_at(state.again, (1.0 - grows) * state.times_out);
                let higher = (1.0 - grows) * state.higher;
                if state.reduced < number {
                    to.add_at(state.reduced + 1, higher);
                } else {
                    to.add(&above, higher, number + 1);
                }
            }
            rows[number % ROWS] = row;
            own.at[number] = 0.0;
            let below: f64 = own.at[own.from.min(number)..number].iter().sum();
            if below < NEVER {
                bottom = number;
            } else {
                descends[number] = below;
                own.at[own.from..number].iter_mut().for_each(|share| *share /= below);
            }
            for (back, returns) in (1..=STEPS.min(number)).zip(&mut returns[number]) {
                let to = number - back + self.states[number - back].step;
                if to >= number && to < count {
                    let row = &mut rows[to % ROWS];
                    *returns = row.at[number];
                }
            }
            if bottom == number {
                break;
            }
            for row in &mut rows {
                let share = std::mem::take(&mut row.at[number]);
                row.add(&own, share, number);
            }
        }
        self.visits(bottom, &descends, &returns)
    }

    /// Visits from the lowest state up.
    fn visits(&self, bottom: usize, descends: &[f64], returns: &[[f64; STEPS]]) -> [Vec<f64>; 2] {
        let count = self.states.len();
        let (mut after, mut later) = (vec![0.0; count], vec![0.0; count]);
        after[bottom] = 1.0;
        for number in bottom..count {
            let mut comes = 0.0;
            for (back, returns) in (1..=STEPS.min(number - bottom)).zip(&returns[number]) {
                let from = number - back;
                let state = &self.states[from];
                let [first, other] = self.grows(from);
                let grown = after[from] * first + later[from] * other;
                if from + state.step == number {
                    later[number] += grown;
                }
                comes += grown * returns;
                if back == 1 && state.reduced == from {
                    comes += (after[from] + later[from] - grown) * state.higher;
                }
            }
            if number > bottom {
                after[number] = comes / descends[number];
            }
            let most = after[number].max(later[number]);
            if most > LARGE {
                after[bottom..=number]
                    .iter_mut()
                    .chain(&mut later[bottom..=number])
                    .for_each(|of| *of /= most);
            }
        }
        [after, later]
    }

    /// Probability of growth in each stage of a state, 0 where the table ends.
    fn grows(&self, number: usize) -> [f64; 2] {
        let state = &self.states[number];
        let is_inside = number + state.step < self.states.len();
        state.stages.map(|stage| if is_inside { stage.passes } else { 0.0 })
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
            next[state.reduced] += signalled * (1.0 - state.higher - state.times_out);
            next[state.again] += signalled * state.times_out;
            next[state.reduced + 1] += signalled * state.higher;
        }
        next
    }

    /// Equation (1), averaged.
    fn means(&self, after: &[f64], later: &[f64]) -> Stationary {
        let (mut packets, mut rounds, mut squares, mut growth) = (0.0, 0.0, 0.0, 0.0);
        let (mut reductions, mut falls, mut reduced_squares, mut taken) = (0.0, 0.0, 0.0, 0.0);
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
            let fall = (number as f64 + state.partial - state.reduced as f64 - state.higher) / PARTS;
            let second = (state.reduced - state.again) as f64 / PARTS;
            reductions += signalled;
            taken += signalled * state.taken;
            falls += signalled * (fall + state.times_out * second);
            reduced_squares += signalled * (fall * fall + state.times_out * (2.0 * fall + second) * second);
        }
        let window = packets / rounds;
        // What a counter of bytes has at a reduction is lost: of DCTCP's small reductions a good part.
        let growth = if self.keeps_average { falls } else { growth };
        let lost = taken / reductions;
        let reductions = Reductions { squares: reduced_squares / rounds, rate: reductions / rounds };
        let fluctuation = squares / rounds / (window * window);
        Stationary { window, growth: growth / rounds, fluctuation, reductions, lost, at_once: 1.0 }
    }
}

impl State {
    fn new(rules: &Rules, signals: Signals, window: f64) -> State {
        let p = signals.p;
        let flight = window.floor().max(1.0);
        let growing = rules.growing(signals, window.max(1.0));
        let stages = growing.packets.map(|packets| Stage::of(p, packets));
        let partial = if growing.keeps {
            PARTS * growing.each * stages[1].before_signal(p, growing.packets[1])
        } else {
            0.0
        };
        let (reduced, higher) = rules.reduced(signals, window + partial / PARTS, flight);
        let left = (reduced as f64 / PARTS).floor().max(1.0);
        // A retransmission that SACK shows to be lost does not reduce the window again.
        let times_out = if rules.is_selective() { 0.0 } else { rules.times_out(p, flight) };
        let again = ((0.5 * left).max(rules.least) * PARTS).floor().min(reduced as f64) as usize;
        let resumed = if rules.is_selective() { left } else { (again as f64 / PARTS).floor().max(1.0) };
        let recovery = rules.recovery(p, flight, left, resumed);
        let is_growing = matches!(rules.control, Control::Dctcp { .. });
        State {
            flight,
            rounds_each: rules.rounds_each(flight),
            stages,
            step: growing.step,
            growth_each: growing.each,
            partial,
            taken: 1.0 - rules.kept(signals, window + partial / PARTS),
            reduced,
            higher: higher * (1.0 - times_out),
            again,
            times_out,
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

    /// Mean packets before a signal, of stages of so many that one ends.
    fn before_signal(self, p: f64, packets: f64) -> f64 {
        let signalled = 1.0 - self.passes;
        if signalled > 0.0 {
            (1.0 / p - packets * self.passes / signalled - 1.0).clamp(0.0, packets)
        } else {
            0.0
        }
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
    /// True if a signal leaves what has grown since the last state.
    keeps: bool,
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

    fn growing(&self, Signals { p, average }: Signals, window: f64) -> Growing {
        let each = f64::from(self.per_ack);
        let acked = if self.growth == Growth::Bytes { 1.0 } else { each };
        match (self.control, self.growth) {
            (Control::Scalable { increase, low, .. }, _) if window > low => {
                // A growth is of one packet or more.
                let step = (PARTS * increase / acked).ceil();
                let packets = acked * step / (PARTS * increase);
                Growing { packets: [packets; 2], step: step as usize, each: increase / acked, keeps: true }
            }
            (Control::Dctcp { .. }, Growth::Bytes) => {
                // Whole packets in flight, half a packet less than the window before in the mean.
                let immune = (window / (1.0 - 0.5 * average) - 1.5).max(0.0);
                let counted = -immune * math::ln(1.0 + p) / math::ln(1.0 - p);
                let first = ((window / each).ceil() * each - counted).max(1.0);
                Growing { packets: [first, window], step: PARTS as usize, each: 1.0 / window, keeps: false }
            }
            (_, Growth::Bytes) => Growing {
                // Above half of an odd flight slow start has used an ACK.
                packets: [(window / each).ceil() * each + if self.exits_below() { 0.5 } else { 0.0 }, window],
                step: PARTS as usize,
                each: 1.0 / window,
                keeps: false,
            },
            (_, Growth::Acks) => Growing {
                packets: [each * window / PARTS; 2],
                step: 1,
                each: 1.0 / (each * window),
                keeps: false,
            },
        }
    }

    /// Share of a window that a signal leaves.
    fn kept(&self, Signals { average, .. }: Signals, window: f64) -> f64 {
        match self.control {
            Control::Reno { keeps } => keeps,
            Control::Scalable { decrease, low, .. } if window > low => 1.0 - decrease,
            Control::Scalable { .. } | Control::Cubic { .. } => 0.5,
            Control::Dctcp { .. } => 1.0 - 0.5 * average,
        }
    }

    /// State after a signal, and the share of the next higher one. Half windows fall to a state; other shares are between
    /// two of them. Slow start from the whole packets below half of an odd flight ends half a packet above it.
    fn reduced(&self, signals: Signals, window: f64, flight: f64) -> (usize, f64) {
        let base = self.base(window, flight);
        let share = self.kept(signals, window);
        let left = (base * share).max(self.least);
        let place = PARTS * if self.exits_below() { left.ceil().min(window.max(left)) } else { left };
        let whole = place.floor();
        (whole as usize, if share == 0.5 { 0.0 } else { place - whole })
    }
}

/// Relative distance of the p at which elasticities are taken, and the greatest one.
const NEAR: f64 = 0.1;
const MOST_NEAR: f64 = 0.9999;
/// Greatest of these elasticities, that of windows of two packets.
const MOST_AT_ONCE: f64 = 2.0;
/// States per packet of window.
const PARTS: f64 = 4.0;
/// Most cycles, and the change of the distribution at which they end.
const CYCLES: u32 = 400;
const CONVERGED: f64 = 1e-8;
/// Most states of a growth, and rows in use at a time.
const STEPS: usize = PARTS as usize;
const ROWS: usize = STEPS + 1;
/// Probability below which a state is never left downwards, and visits at which they are divided.
const NEVER: f64 = 1e-250;
const LARGE: f64 = 1e20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::Response;
    use crate::response::draws::Draws;
    use crate::response::{Reaction, Repair};
    use std::collections::VecDeque;

    /// Mean flight of DCTCP's sliding window over `rounds` round trips, at a constant alpha, and its reductions, packets a
    /// round trip: no chain, but the sender itself.
    fn simulated_dctcp(p: f64, alpha: f64, rounds: f64) -> [f64; 2] {
        let (mut una, mut nxt, mut window, mut acked, mut point) = (0u64, 0u64, 2.0 / p, 0.0, 0);
        let (mut flying, mut now, mut draws) = (VecDeque::new(), 0.0, Draws::default());
        let (mut flight, mut fallen) = (0.0, 0.0);
        while now < rounds {
            while nxt - una < window as u64 {
                flying.push_back((now + 1.0, draws.uniform() < p));
                nxt += 1;
            }
            let (at, marked) = flying.pop_front().expect("a window is at least one packet");
            flight += (nxt - una) as f64 * (at - now);
            (now, una) = (at, una + 1);
            if marked && una > point {
                let left = (window * (1.0 - alpha / 2.0)).max(1.0);
                fallen += window - left;
                (window, acked, point) = (left, 0.0, nxt);
            } else if !marked {
                acked += 1.0;
                if acked >= window {
                    (window, acked) = (window + 1.0, acked - window);
                }
            }
        }
        [flight / rounds, fallen / rounds]
    }

    /// The response of DCTCP's windows to marks and to alpha apart, and the growth that reductions leave.
    #[test]
    fn dctcp_answers_marks_and_alpha_as_the_sender_does() {
        let rules = Rules { control: Control::Dctcp { weight: 0.0625 }, ..Rules::default() };
        for p in [0.04, 0.08, 0.11, 0.15, 0.2, 0.25] {
            let chain = stationary(&rules, p);
            let [window, fallen] = simulated_dctcp(p, p, 1e5);
            assert!((chain.window / window - 1.0).abs() < 0.06, "{p}: {} {window}", chain.window);
            assert!((chain.growth / fallen - 1.0).abs() < 0.04, "{p}: {} {fallen}", chain.growth);
            let moved = |p: [f64; 2], alpha: [f64; 2]| {
                let [low, high] = [0, 1].map(|at| simulated_dctcp(p[at], alpha[at], 1e5)[0]);
                math::ln(high / low)
            };
            let (around, here) = ([p / 1.2, p * 1.2], [p; 2]);
            let at_once = moved(around, here) / moved(here, around);
            assert!((chain.at_once / at_once - 1.0).abs() < 0.06, "{p}: {} {at_once}", chain.at_once);
        }
    }

    /// Mean flight of a sliding window over `rounds` round trips, its reductions, and the standard deviation of its window: no
    /// chain, but the sender itself, each packet marked with probability `p` by xorshift.
    fn simulated(growth: Growth, scalable: Option<[f64; 3]>, p: f64, rounds: f64) -> (f64, Reductions, f64) {
        let mut reductions = Reductions { squares: 0.0, rate: 0.0 };
        let (mut windows, mut squares) = (0.0, 0.0);
        let (mut una, mut nxt, mut window, mut acked, mut point) = (0u64, 0u64, 10.0f64, 0.0, 0);
        let (mut flying, mut now, mut draws) = (VecDeque::new(), 0.0, Draws::default());
        while now < rounds {
            while nxt - una < window as u64 {
                let marked = draws.uniform();
                flying.push_back((now + 1.0, marked < p));
                nxt += 1;
            }
            let (at, marked) = flying.pop_front().expect("a window is at least one packet");
            // Windows that change slowly have to grow first.
            if now > BEGINS * rounds {
                windows += (at - now) * window;
                squares += (at - now) * window * window;
            }
            (now, una) = (at, una + 1);
            if una <= point {
                continue;
            }
            if marked {
                let fall = window
                    - (window * scalable.filter(|of| window > of[2]).map_or(0.5, |of| 1.0 - of[1])).max(1.0);
                reductions.squares += fall * fall / rounds;
                reductions.rate += 1.0 / rounds;
                (window, acked, point) = (window - fall, 0.0, nxt);
                continue;
            }
            match growth {
                _ if scalable.is_some_and(|of| window > of[2]) => window += scalable.map_or(0.0, |of| of[0]),
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
        let lasts = (1.0 - BEGINS) * rounds;
        let mean = windows / lasts;
        (nxt as f64 / rounds, reductions, (squares / lasts - mean * mean).sqrt())
    }

    /// Share of a simulation before the deviation of its windows counts.
    const BEGINS: f64 = 0.1;

    /// Elimination finds what the cycles converge to.
    #[test]
    fn elimination_is_the_limit_of_the_cycles() {
        for growth in [Growth::Bytes, Growth::Acks] {
            let scalable = |increase, decrease, low| Control::Scalable { increase, decrease, low };
            for control in [
                Control::Reno { keeps: 0.5 },
                Control::Reno { keeps: 0.8 },
                scalable(0.01, 0.125, 16.0),
                scalable(0.02, 0.7, 12.0),
                scalable(0.3, 0.125, 1.0),
                Control::Dctcp { weight: 0.0625 },
            ] {
                let loss = Reaction::Loss(Repair::Partial { exits_below: true });
                for (per_ack, p, reaction) in [
                    (1, 0.11, Reaction::Mark),
                    (2, 0.2, Reaction::Mark),
                    (1, 0.5, Reaction::Mark),
                    (2, 0.15, Reaction::Mark),
                    (1, 0.11, loss),
                    (2, 0.3, loss),
                ] {
                    let rules = Rules { control, growth, per_ack, reaction, ..Rules::default() };
                    let chain = Chain::new(&rules, Signals { p, average: p });
                    let iterated = chain.iterated().expect("a signal takes away enough");
                    let [cycles, found] =
                        [iterated, chain.eliminated()].map(|[after, later]| chain.means(&after, &later));
                    let off = [
                        found.window / cycles.window,
                        found.growth / cycles.growth,
                        found.reductions.squares / cycles.reductions.squares,
                    ];
                    assert!(off.iter().all(|ratio| (ratio - 1.0).abs() < 1e-6), "{rules:?} {p}: {off:?}");
                }
            }
        }
    }

    /// Scalable TCP with reductions of many states, of one and of a tenth of one; and where it is Reno at times.
    #[test]
    fn the_chain_is_the_sliding_window_of_scalable_tcp() {
        for (a, b, low, p, rounds) in [
            (0.01, 0.125, 0.0, 0.004, 4e5),
            (0.2, 0.1, 0.0, 0.05, 1e5),
            (0.004, 0.02, 0.0, 0.01, 4e5),
            (3e-4, 1e-3, 0.0, 0.006, 2e6),
            (0.01, 0.125, 16.0, 0.005, 4e5),
            (0.01, 0.125, 16.0, 0.012, 4e5),
            (0.01, 0.125, 16.0, 0.03, 4e5),
        ] {
            let control = Control::Scalable { increase: a, decrease: b, low };
            let rules = Rules { control, ..Rules::default() };
            let chain = stationary(&rules, p);
            let (found, reductions, sd) = simulated(Growth::Bytes, Some([a, b, low]), p, rounds);
            let own = Response::of(rules).window_sd(found, 0.1);
            assert!((own / sd - 1.0).abs() < 0.12, "{a} {b} {low} {p}: {own} {sd}");
            let off =
                [chain.reductions.squares / reductions.squares, chain.reductions.rate / reductions.rate];
            let places = off.map(|ratio| (ratio - 1.0).abs());
            assert!((chain.window / found - 1.0).abs() < 0.025, "{a} {b} {low} {p}: {chain:?}, {found}");
            assert!(places[0] < 0.06 && places[1] < 0.03, "{a} {b} {low} {p}: {off:?}");
        }
    }

    #[test]
    fn the_chain_is_the_sliding_window() {
        for growth in [Growth::Bytes, Growth::Acks] {
            for p in [0.003, 0.01, 0.03, 0.06, 0.12] {
                let rules = Rules { growth, per_ack: 1, ..Rules::default() };
                let chain = stationary(&rules, p);
                let (found, reductions, sd) = simulated(growth, None, p, 2e5);
                let own = Response::of(rules).window_sd(found, 0.1);
                let within = if found < 4.0 { 0.26 } else { 0.12 };
                assert!((own / sd - 1.0).abs() < within, "{growth:?} {p}: {own} {sd}");
                assert!((chain.window / found - 1.0).abs() < 0.025, "{growth:?} {p}: {chain:?}, {found}");
                let off =
                    [chain.reductions.squares / reductions.squares, chain.reductions.rate / reductions.rate];
                let places = off.map(|ratio| (ratio - 1.0).abs());
                assert!(places[0] < 0.06 && places[1] < 0.03, "{growth:?} {p}: {off:?}");
            }
        }
    }
}
