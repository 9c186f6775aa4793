//! Response of windows to signals, calibrated: by Markov chains of the sender's rules.
//!
//! The chains (`round_chain.rs`, `cubic_chain.rs`) give at each p the mean window W, whose inverse is the response function
//! p(W), and the mean growth G: that between signals, by all round trips, those of recoveries included. As a fluid, with W_d
//! and R_d of a round trip ago and s the share of the packets with a signal, the mean over the span that begins with that
//! round trip ([`Response::signal_span`]),
//!
//! ```text
//! W' = G(W) (1 / R - W_d s / (W p(W) R_d))                                   (1)
//! ```
//!
//! which is at rest at s = p(W), and the published model for G = 1 and p(W) = 2 / W^2: what a signal takes away is what
//! windows grow by between two of them. DCTCP's average of the marked share, alpha, is a state of its own (M. Alizadeh, A.
//! Javanmard, B. Prabhakar, "Analysis of DCTCP", SIGMETRICS 2011, equation 2):
//!
//! ```text
//! W' = G(W) (1 / R - W_d f(s / p(W)) alpha / (W p(W) R_d)),  alpha' = g (s - alpha) / R (2)
//! f(x) = x / (a + (1 - a) x) where a <= 1, else x^a
//! ```
//!
//! Of its many marks only one a window reduces it, and those that do not are no growth: a(W) is the elasticity of both
//! together while alpha is constant, from the chain. f has it at x = 1, no effect at 0 and, for a < 1, a limit.
//!
//! CUBIC's p(W) and G(W) depend on R, too. After a signal it grows slowly at first, so that windows grow by less where there
//! were more signals: with m reductions per second, and y the signals by those at equilibrium,
//!
//! ```text
//! W' = G(W) (h - y) / R,  y = R W_d s / (W p(W) R_d),  h' = m (e^(c (1 - y)) - h)  (3)
//! ```
//!
//! h = y = 1 at equilibrium. c is a fit (docs/theory/calibration.md).

mod cubic_chain;
#[cfg(test)]
mod draws;
mod dynamics;
mod recovery;
pub mod round_chain;
mod table;

use crate::interval::Interval;
use cubic_chain::Cubic;
pub use dynamics::Memory;
pub(crate) use dynamics::WindowInputs;
pub use sojourn_scenario::{Repair, WindowControl as Control};
use sojourn_units::math;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};
use table::{Ranges, Table};

/// Rules of a sender on which its response depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Congestion control.
    pub control: Control,
    /// Growth of the window.
    pub growth: Growth,
    /// Packets per acknowledgment.
    pub per_ack: u32,
    /// Signal.
    pub reaction: Reaction,
    /// Least window after a signal, packets.
    pub least: f64,
    /// True if a loss halves the whole packets in flight, false if it halves the window.
    pub halves_flight: bool,
}

/// Value of a control's parameter without a model, and those with one; None where there is a model.
pub fn unmodelled(control: &Control) -> Option<[String; 2]> {
    let Control::Scalable { increase, decrease, low } = *control else { return None };
    let (ratio, [least, most]) = (increase / decrease, SCALABLE_RATIOS);
    if ratio < least || ratio > most {
        return Some([format!("a / b = {ratio:.3e}"), format!("a / b from {least} to {most}")]);
    }
    (low > MOST_LOW).then(|| [format!("low_window = {low}"), format!("low_window of at most {MOST_LOW}")])
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
    /// Marks, whose echo reduces the window.
    Mark,
    /// Drops, which are retransmitted.
    Loss(Repair),
}

/// Reno with byte counting, without delayed ACKs, under marks.
impl Default for Rules {
    fn default() -> Rules {
        Rules {
            control: Control::Reno { keeps: 0.5 },
            growth: Growth::Bytes,
            per_ack: 1,
            reaction: Reaction::Mark,
            least: 1.0,
            halves_flight: false,
        }
    }
}

/// Means over the stationary distribution of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stationary {
    /// W, packets.
    pub window: f64,
    /// G, packets per round trip.
    pub growth: f64,
    /// E(W^2) / E(W)^2.
    pub fluctuation: f64,
    /// Reductions.
    pub reductions: Reductions,
    /// Mean share of a window that a reduction takes away.
    pub lost: f64,
    /// Elasticity of the reductions by signals at a constant average of them: 1 where none is kept.
    pub at_once: f64,
}

/// Reductions of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reductions {
    /// Sum of their squares, packets^2 per round trip.
    pub squares: f64,
    /// Their number per round trip.
    pub rate: f64,
}

/// Response of a sender.
pub struct Response {
    rules: Rules,
    /// By the round trip where it matters, R_j = [`SHORTEST`] 2^j; else one. A table is computed when it is first needed.
    tables: Vec<OnceLock<Table>>,
}

/// Response at a window and a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderPoint {
    /// p(W).
    pub signals: f64,
    /// G(W), packets per round trip.
    pub growth: f64,
    /// - d ln p / d ln W: 2 in the published model.
    pub elasticity: f64,
    /// d ln p / d ln R: 0 but for CUBIC.
    pub by_rtt: f64,
    /// a of equation (2): 1 but for DCTCP.
    pub at_once: f64,
    /// Reductions.
    pub reductions: Reductions,
}

/// A round trip among those of tables.
struct RoundTrip {
    /// Tables before it and after it, and their neighbours; the share of the way from the second to the third.
    around: [usize; 4],
    t: f64,
    /// True if it is within those of the tables.
    is_inside: bool,
}

/// Bounds of a response over an interval of windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Over {
    /// p(W).
    pub signals: Interval,
    /// G(W), packets per round trip.
    pub growth: Interval,
    /// - d ln p / d ln W.
    pub elasticity: Interval,
    /// W p(W).
    pub load: Interval,
    /// r: half of the span of [`Response::signal_span`], round trips.
    pub half_span: Interval,
}

/// Responses of all rules so far.
static KNOWN: Mutex<Vec<&'static Response>> = Mutex::new(Vec::new());

impl fmt::Debug for Response {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.fmt(to)
    }
}

impl PartialEq for Response {
    fn eq(&self, other: &Response) -> bool {
        self.rules == other.rules
    }
}

impl RoundTrip {
    /// Value between those of the tables, and its slope by their number.
    fn value(&self, values: [f64; 4]) -> [f64; 2] {
        let [left, right] = [0, 1].map(|side| {
            let wide = (self.around[side + 2] - self.around[side]) as f64;
            (values[side + 2] - values[side]) / wide
        });
        table::hermite(self.t, 1.0, [values[1], left], [values[2], right])
    }
}

impl Response {
    /// Response of a sender; kept for all that have the same rules.
    pub fn of(rules: Rules) -> &'static Response {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(response) = known.iter().find(|of| of.rules == rules) {
            return response;
        }
        let count = if matches!(rules.control, Control::Cubic { .. }) { ROUND_TRIPS } else { 1 };
        let tables = (0..count).map(|_| OnceLock::new()).collect();
        let response: &'static Response = Box::leak(Box::new(Response { rules, tables }));
        known.push(response);
        response
    }

    /// The sender.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Time over which the effect of a signal on the packets in flight is spread, from a round trip after it on, round trips.
    ///
    /// A loss is noticed three packets later, and the flight falls to the share that is kept, by one for each ACK, or in
    /// proportion over a round trip. One of the packets by which it falls is the lost one, which no ACK follows. The span has
    /// the mean of these effects in its middle.
    pub fn signal_span(&self, window: f64) -> f64 {
        let lost = self.lost(window);
        let Reaction::Loss(repair) = self.rules.reaction else { return lost };
        let reduces = if matches!(repair, Repair::Selective { prr: true, .. }) { 0.5 } else { lost / 2.0 };
        let others = 1.0 - 1.0 / (lost * window).max(1.0);
        2.0 * others * (self.rules.noticed_by(window) + reduces)
    }

    /// Share of a window that a signal takes away.
    fn lost(&self, window: f64) -> f64 {
        match self.rules.control {
            Control::Reno { keeps } | Control::Cubic { keeps, .. } => 1.0 - keeps,
            // Below `low` it is Reno, and windows are on both sides of it about a mean near it.
            Control::Scalable { .. } => self.table(0).at(math::ln(window)).lost,
            Control::Dctcp { .. } => 0.0,
        }
    }

    /// A bound of [`Response::signal_span`] at any window, round trips.
    pub fn longest_signal_span(&self) -> f64 {
        match (self.rules.control, self.rules.reaction) {
            (Control::Dctcp { .. }, _) => 0.0,
            (_, Reaction::Mark) => 1.0,
            (_, Reaction::Loss(_)) => 3.0,
        }
    }

    /// Mean growth towards the next packet of a window that a reduction discards: counters of bytes begin anew.
    pub fn lost_growth(&self) -> f64 {
        let counts = self.rules.growth == Growth::Bytes && matches!(self.rules.control, Control::Reno { .. });
        if counts { 0.5 } else { 0.0 }
    }

    /// Variance of the packets of a flow whose acknowledgments are delayed: any number below those of an acknowledgment.
    pub fn unacknowledged(&self) -> f64 {
        let packets = f64::from(self.rules.per_ack);
        (packets * packets - 1.0) / 12.0
    }

    /// Greatest share of packets with a signal for which the response is meant.
    ///
    /// A retransmission that is lost waits for a timer that doubles: the mean wait has the sum of (2 p)^k, which has no bound
    /// from 1/2 on, where the chain has one timeout. Of marks the greatest p of the table.
    pub fn most_signals(&self) -> f64 {
        match (self.rules.reaction, self.rules.control) {
            (Reaction::Loss(_), _) => MOST_LOSS,
            (Reaction::Mark, Control::Cubic { .. }) => MOST_CUBIC,
            (Reaction::Mark, _) => MOST_P,
        }
    }

    /// State besides the window: of DCTCP and CUBIC.
    pub fn memory(&self) -> Option<Memory> {
        match self.rules.control {
            Control::Dctcp { weight } => Some(Memory::Signals { weight }),
            Control::Cubic { .. } => Some(Memory::Growth { by_signals: BY_SIGNALS }),
            Control::Reno { .. } | Control::Scalable { .. } => None,
        }
    }

    /// Response where the mean window is `window` packets and the round trip `rtt` s.
    pub fn at(&self, window: f64, rtt: f64) -> SenderPoint {
        self.at_ln(math::ln(window), rtt)
    }

    /// Standard deviation of one window about its mean, packets: reductions of x at random times move it by -x and decay at the
    /// rate e G / W a round trip, so that it has the variance (sum of x^2) W / (2 e G) (N. Campbell, "The study of discontinuous
    /// phenomena", 1909). Where signals are averaged each of the W packets of a round trip is a draw of its signal, and with
    /// the average's m the variance is that of white noise behind (z + m / (s + m)) / (s + (1 + z) e G / W). CUBIC's memory of
    /// signals, equation (3), is left out.
    pub fn window_sd(&self, window: f64, rtt: f64) -> f64 {
        let SenderPoint { signals, growth, elasticity, at_once, reductions, .. } = self.at(window, rtt);
        let Some(Memory::Signals { weight: average }) = self.memory() else {
            return (reductions.squares * window / (2.0 * elasticity * growth)).sqrt();
        };
        let rate = (1.0 + at_once) * elasticity * growth / window;
        let drawn = signals * (1.0 - signals) / window * (growth / signals) * (growth / signals);
        let [now, later] = [at_once, average * (1.0 + at_once)];
        let both = average * rate;
        (drawn * (now * now * both + later * later) / (2.0 * (average + rate) * both)).sqrt()
    }

    /// Response over windows, packets; None of losses, or where it depends on the round trip, too, or signals are averaged.
    pub fn over(&self, windows: Interval) -> Option<Over> {
        if self.rules.reaction != Reaction::Mark || self.tables.len() > 1 || self.memory().is_some() {
            return None;
        }
        let ln_windows = Interval::of([math::ln(windows.low), math::ln(windows.high)]);
        let Ranges { slope, growth } = self.table(0).over(ln_windows);
        let signals = [windows.high, windows.low].map(|window| self.at(window, 0.0).signals);
        let elasticity = Interval::of([-slope.high, -slope.low]);
        let growth = Interval { low: growth.low.max(0.0), ..growth };
        // d ln (W p) / d ln W = 1 - e.
        let steepest = (1.0 - elasticity.low).abs().max((1.0 - elasticity.high).abs());
        let is_monotone = (elasticity.low - 1.0) * (elasticity.high - 1.0) >= 0.0;
        let off = math::exp(if is_monotone { 0.0 } else { steepest * ln_windows.radius() });
        let load = Interval::around(&[windows.high * signals[0], windows.low * signals[1]]);
        let load = Interval::of([load.low / off, load.high * off]);
        // After marks it is monotone in the window.
        let half_span = [windows.low, windows.high].map(|window| self.signal_span(window) / 2.0);
        let half_span = Interval::around(&half_span);
        let signals = Interval::of(signals);
        (elasticity.low > 0.0).then_some(Over { signals, growth, elasticity, load, half_span })
    }

    fn at_ln(&self, ln_window: f64, rtt: f64) -> SenderPoint {
        if self.tables.len() == 1 {
            let entry = self.table(0).at(ln_window);
            let signals = math::exp(entry.ln_p);
            return SenderPoint {
                signals,
                growth: entry.growth,
                elasticity: -entry.slope,
                by_rtt: 0.0,
                at_once: entry.at_once,
                reductions: entry.reductions(math::exp(ln_window)),
            };
        }
        self.between(ln_window, rtt)
    }

    /// Cubics between round trips, with continuous slopes.
    fn between(&self, ln_window: f64, rtt: f64) -> SenderPoint {
        let between = self.round_trip(rtt);
        let entries = between.around.map(|at| self.table(at).at(ln_window));
        let cubic = |of: fn(&table::Entry) -> f64| between.value([0, 1, 2, 3].map(|at| of(&entries[at])));
        let [ln_p, by_place] = cubic(|entry| entry.ln_p);
        let window = math::exp(ln_window);
        SenderPoint {
            signals: math::exp(ln_p),
            growth: cubic(|entry| entry.growth)[0],
            elasticity: -cubic(|entry| entry.slope)[0],
            by_rtt: if between.is_inside { by_place / std::f64::consts::LN_2 } else { 0.0 },
            at_once: 1.0,
            reductions: Reductions {
                squares: window * cubic(|entry| entry.squares)[0],
                rate: cubic(|entry| entry.rate)[0] / window,
            },
        }
    }

    fn round_trip(&self, rtt: f64) -> RoundTrip {
        let last = self.tables.len() - 1;
        let of_rtt = math::ln(rtt / SHORTEST) / std::f64::consts::LN_2;
        // Beyond the tables' round trips the response is that of the last one, without a slope.
        let place = of_rtt.clamp(0.0, last as f64);
        let node = (place as usize).min(last - 1);
        RoundTrip {
            around: [node.saturating_sub(1), node, node + 1, (node + 2).min(last)],
            t: place - node as f64,
            is_inside: of_rtt == place,
        }
    }

    /// Mean window at the share `signals`, packets; at least 1.
    pub fn window(&self, signals: f64, rtt: f64) -> f64 {
        if signals <= 0.0 {
            return f64::INFINITY;
        }
        if self.tables.len() == 1 {
            return math::exp(self.table(0).ln_window(math::ln(signals)).max(0.0));
        }
        let between = self.round_trip(rtt);
        let ln_p = |ln_window: f64| {
            let known = between.around.map(|at| self.table(at).ln_p(ln_window));
            [0, 1].map(|of| between.value(known.map(|one| one[of]))[0])
        };
        math::exp(table::ln_window_of(math::ln(signals), ln_p))
    }

    fn table(&self, place: usize) -> &Table {
        self.tables[place].get_or_init(|| self.computed(place))
    }

    fn computed(&self, place: usize) -> Table {
        let rules = &self.rules;
        let least = match rules.control {
            Control::Reno { .. } => 1e-5,
            // Windows are a / (b p) there.
            Control::Scalable { increase, decrease, low } => {
                increase / (decrease * LARGEST_SCALABLE.max(4.0 * low))
            }
            Control::Dctcp { .. } => 1e-2,
            Control::Cubic { keeps, fast_convergence } => {
                let rtt = SHORTEST * math::pow_int(2.0, place as u64);
                let chain = |p| Cubic { rules, keeps, fast_convergence, rtt, p }.stationary();
                return Table::of([MOST_CUBIC, 1e-6], 0.5, chain);
            }
        };
        // Scalable TCP's response has a step where it begins to differ from Reno's.
        let step = if matches!(rules.control, Control::Scalable { .. }) { 0.05 } else { 0.15 };
        Table::of([MOST_P, least], step, |p| round_chain::stationary(rules, p))
    }
}

/// c of equation (3): a fit to the linear response of senders that follow RFC 9438 (docs/theory/calibration.md).
const BY_SIGNALS: f64 = 0.3;
/// Greatest p of the round chain, that of CUBIC's, and that of drops.
const MOST_P: f64 = 0.999;
const MOST_CUBIC: f64 = 0.5;
const MOST_LOSS: f64 = 0.5;
/// Largest window of Scalable TCP's table, packets; at least four times that up to which it is Reno.
const LARGEST_SCALABLE: f64 = 400.0;
/// Ranges of a / b of Scalable TCP, and of the window up to which it is Reno, packets, for which the chain is small.
const SCALABLE_RATIOS: [f64; 2] = [1e-5, 100.0];
const MOST_LOW: f64 = 250.0;
/// Round trips for which CUBIC's tables are computed: the shortest one, s, and their number.
const SHORTEST: f64 = 1.0 / 1024.0;
const ROUND_TRIPS: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    fn all_rules() -> Vec<Rules> {
        let mut all = Vec::new();
        for growth in [Growth::Bytes, Growth::Acks] {
            for per_ack in [1, 2] {
                let losses = [
                    Repair::First,
                    Repair::Partial { exits_below: false },
                    Repair::Partial { exits_below: true },
                    Repair::Selective { prr: false, rack: false },
                    Repair::Selective { prr: true, rack: true },
                ];
                for reaction in [Reaction::Mark].into_iter().chain(losses.map(Reaction::Loss)) {
                    let least = if reaction == Reaction::Mark { 1.0 } else { 2.0 };
                    all.push(Rules { growth, per_ack, reaction, least, ..Rules::default() });
                }
            }
        }
        let scalable = Control::Scalable { increase: 0.01, decrease: 0.125, low: 16.0 };
        let cubic = Control::Cubic { keeps: 0.7, fast_convergence: true };
        for repair in [Repair::Partial { exits_below: true }, Repair::Selective { prr: true, rack: true }] {
            all.push(Rules {
                control: cubic,
                reaction: Reaction::Loss(repair),
                least: 2.0,
                ..Rules::default()
            });
        }
        for control in [scalable, Control::Dctcp { weight: 0.0625 }, cubic] {
            all.push(Rules { control, ..Rules::default() });
        }
        all
    }

    /// Round trips, s: only one but for CUBIC.
    fn rtts(rules: &Rules) -> &'static [f64] {
        if matches!(rules.control, Control::Cubic { .. }) { &[0.01, 0.1, 0.27] } else { &[0.1] }
    }

    #[test]
    fn windows_and_signals_are_inverse() {
        for rules in all_rules() {
            for &rtt in rtts(&rules) {
                let response = Response::of(rules);
                for window in [1.7, 3.0, 4.4, 9.0, 30.0, 63.5, 150.0, 3000.0] {
                    let back = response.window(response.at(window, rtt).signals, rtt);
                    assert!((back / window - 1.0).abs() < 1e-9, "{rules:?} {window}: {back}");
                }
            }
        }
    }

    /// Signals take effect over longer the more a reduction takes away, which changes continuously with the window, and never
    /// over longer than the bound.
    #[test]
    fn signals_take_effect_within_the_bound() {
        for rules in all_rules() {
            let (response, mut before) = (Response::of(rules), f64::INFINITY);
            for place in 0..400 {
                let window = math::exp(0.02 * f64::from(place));
                let span = response.signal_span(window);
                assert!((0.0..=response.longest_signal_span()).contains(&span), "{rules:?} {window}: {span}");
                if rules.reaction == Reaction::Mark {
                    assert!(
                        span <= before + 1e-9 && before - span < 0.04 || place == 0,
                        "{rules:?} {window}"
                    );
                }
                before = span;
            }
        }
    }

    /// Shares that a signal takes away; with losses 3 / W to notice one (RACK: at most 1/4 + 1 / W), half of the share or, in
    /// proportion, half of a round trip, of all packets but the lost one (docs/theory/calibration.md).
    #[test]
    fn spans_are_those_of_the_recoveries() {
        let cubic = |keeps| Control::Cubic { keeps, fast_convergence: true };
        let scalable = Control::Scalable { increase: 0.01, decrease: 0.125, low: 16.0 };
        for (control, window, span) in [
            (Control::Reno { keeps: 0.5 }, 8.0, 0.5),
            (Control::Reno { keeps: 0.8 }, 8.0, 0.2),
            (cubic(0.7), 8.0, 0.3),
            (cubic(0.85), 8.0, 0.15),
            (Control::Dctcp { weight: 0.0625 }, 8.0, 0.0),
            // A few windows are on the other side of `low`.
            (scalable, 5.0, 0.5),
            (scalable, 40.0, 0.125),
        ] {
            let found = Response::of(Rules { control, ..Rules::default() }).signal_span(window);
            assert!((found - span).abs() < 5e-3, "{control:?} {window}: {found}");
        }
        let [alone, sack] = [Repair::First, Repair::Selective { prr: false, rack: false }];
        let [prr, rack] = [(true, false), (true, true)].map(|(prr, rack)| Repair::Selective { prr, rack });
        for (repair, window, span) in [
            // Of two packets one is kept: the lost one is all that is missing.
            (alone, 2.0, 0.0),
            (alone, 4.0, 2.0 * 0.5 * (0.75 + 0.25)),
            (sack, 10.0, 2.0 * 0.8 * (0.3 + 0.25)),
            (prr, 10.0, 2.0 * 0.8 * (0.3 + 0.5)),
            // RACK waits for 0.35 of a round trip, more than three packets take, and for 0.5 at four packets, less than those.
            (rack, 10.0, 2.0 * 0.8 * (0.3 + 0.5)),
            (rack, 4.0, 2.0 * 0.5 * (0.5 + 0.5)),
        ] {
            let rules = Rules { reaction: Reaction::Loss(repair), least: 2.0, ..Rules::default() };
            let found = Response::of(rules).signal_span(window);
            assert!((found - span).abs() < 1e-12, "{repair:?} {window}: {found}, not {span}");
        }
    }

    /// Bounds over a box take a span from the two ends of a range of windows: it goes from the half of Reno to the decrease.
    #[test]
    fn spans_after_marks_are_monotone_in_the_window() {
        for (increase, decrease, low) in
            [(0.01, 0.125, 16.0), (0.002, 0.02, 4.0), (0.1, 0.5, 50.0), (0.5, 0.9, 8.0), (0.02, 0.3, 200.0)]
        {
            let control = Control::Scalable { increase, decrease, low };
            let response = Response::of(Rules { control, ..Rules::default() });
            let span = |place: u32| response.signal_span(math::exp(0.01 * f64::from(place)));
            let way = if decrease > 0.5 { 1.0 } else { -1.0 };
            for place in 1..700 {
                let step = way * (span(place) - span(place - 1));
                assert!(step > -1e-9, "{control:?} {place}: {step}");
            }
        }
    }

    /// Between its nodes, and beyond the last one, the table is the chain.
    #[test]
    fn the_table_is_the_chain() {
        for rules in all_rules() {
            let response = Response::of(rules);
            for p in [0.011, 0.047, 0.08] {
                let exact = match rules.control {
                    Control::Cubic { keeps, fast_convergence } => {
                        Cubic { rules: &rules, keeps, fast_convergence, rtt: 0.1, p }.stationary()
                    }
                    _ => round_chain::stationary(&rules, p),
                };
                let window = response.window(p, 0.1);
                assert!((window / exact.window - 1.0).abs() < 1e-2, "{rules:?} {p}: {window} {exact:?}");
                let growth = response.at(exact.window, 0.1).growth;
                assert!((growth / exact.growth - 1.0).abs() < 2e-2, "{rules:?} {p}: {growth} {exact:?}");
            }
        }
    }

    /// The slopes by differences; more signals always mean smaller windows.
    #[test]
    fn the_elasticities_are_the_slopes() {
        for rules in all_rules() {
            let response = Response::of(rules);
            for tenth in 15..400 {
                let window = f64::from(tenth) / 10.0;
                let rest = response.at(window, 0.11);
                let [more, less] = [1.0 + 1e-6, 1.0 - 1e-6].map(|by| response.at(window * by, 0.11).signals);
                let slope = math::ln(less / more) / 2e-6;
                assert!((rest.elasticity - slope).abs() < 1e-4, "{rules:?} {window}: {rest:?} {slope}");
                assert!(rest.elasticity > 0.5, "{rules:?} {window}: {rest:?}");
                let [more, less] = [1.0 + 1e-6, 1.0 - 1e-6].map(|by| response.at(window, 0.11 * by).signals);
                let slope = math::ln(more / less) / 2e-6;
                assert!((rest.by_rtt - slope).abs() < 1e-4, "{rules:?} {window}: {rest:?} {slope}");
            }
        }
    }

    /// Beyond the round trips of the tables the response is constant, and its slope 0.
    #[test]
    fn the_slope_by_the_round_trip_ends_with_the_tables() {
        let control = Control::Cubic { keeps: 0.7, fast_convergence: true };
        let response = Response::of(Rules { control, ..Rules::default() });
        for (rtt, is_inside) in [(0.5 * SHORTEST, false), (0.1, true), (40.0, false)] {
            let [more, less] = [1.0 + 1e-6, 1.0 - 1e-6].map(|by| response.at(3000.0, rtt * by).signals);
            let by_rtt = response.at(3000.0, rtt).by_rtt;
            assert!((by_rtt - math::ln(more / less) / 2e-6).abs() < 1e-4, "{rtt}: {by_rtt}");
            assert_eq!(by_rtt != 0.0, is_inside, "{rtt}");
        }
    }

    /// W = a / (b p) of large windows, however slowly a signal reduces them, and however fast they grow.
    #[test]
    fn windows_of_scalable_tcp_are_in_proportion_to_growth_by_reduction() {
        for (increase, decrease, p) in
            [(0.01, 0.1, 1e-3), (1e-3, 1e-2, 1e-3), (1e-4, 1e-3, 1e-3), (1e-5, 1e-4, 1e-3), (1.0, 0.01, 0.5)]
        {
            let control = Control::Scalable { increase, decrease, low: 1.0 };
            assert_eq!(unmodelled(&control), None);
            let window = Response::of(Rules { control, ..Rules::default() }).window(p, 0.1);
            // In the recovery from a signal windows do not grow; between signals the mean one is smaller by b / 2.
            let published = increase * (1.0 - p) / (decrease * p);
            assert!(
                (window / published - 1.0).abs() < 0.02 + decrease,
                "{increase} {decrease}: {window} {published}"
            );
        }
        for (increase, decrease, low) in [(1.0, 1e-6, 16.0), (1e-9, 0.5, 16.0), (0.01, 0.125, 1e4)] {
            assert!(unmodelled(&Control::Scalable { increase, decrease, low }).is_some());
        }
    }

    /// More signals leave smaller windows, up to the share that is known.
    #[test]
    fn windows_fall_with_signals() {
        for rules in all_rules() {
            let response = Response::of(rules);
            let windows = (1..60)
                .map(|place| math::exp(-f64::from(place) / 8.0))
                .map(|share| response.window(share * response.most_signals(), 0.1));
            let windows: Vec<f64> = windows.collect();
            assert!(windows.is_sorted(), "{rules:?}: {windows:?}");
        }
    }

    /// Bounds over windows enclose the values, and narrow to them.
    #[test]
    fn bounds_enclose_the_response() {
        for rules in all_rules() {
            let response = Response::of(rules);
            for [low, high] in [[1.2, 40.0], [2.0, 3.1], [8.9, 9.0], [700.0, 90_000.0], [5.0, 5.0 + 1e-9]] {
                let Some(over) = response.over(Interval::of([low, high])) else {
                    let is_excepted = matches!(rules.control, Control::Cubic { .. } | Control::Dctcp { .. });
                    assert!(is_excepted || rules.reaction != Reaction::Mark, "{rules:?}");
                    continue;
                };
                for place in 0..=200 {
                    let window = low + (high - low) * f64::from(place) / 200.0;
                    let rest = response.at(window, 0.1);
                    let values = [rest.signals, rest.growth, rest.elasticity, window * rest.signals];
                    let bounds = [over.signals, over.growth, over.elasticity, over.load];
                    for (value, bound) in values.into_iter().zip(bounds) {
                        let off = 1e-12 * value;
                        assert!(
                            bound.low - off <= value && value <= bound.high + off,
                            "{rules:?} {window} {over:?}"
                        );
                        assert!(high - low > 1e-3 || bound.radius() < 1e-6 * value, "{over:?}");
                    }
                }
            }
        }
    }

    /// RFC 9438, section 5.2: 1.054 (R / p)^(3/4) if signals are 1/p packets apart. Windows are 1.23 times as large if they
    /// are random, as the cube of a random time is larger in the mean than that of its mean. Those of DCTCP are in
    /// proportion to 1 / p, and those of Scalable TCP are a / (b p).
    #[test]
    fn large_windows_have_the_published_responses() {
        let of = |control| Response::of(Rules { control, ..Rules::default() });
        let cubic = of(Control::Cubic { keeps: 0.7, fast_convergence: false });
        let window = cubic.window(2e-5, 0.2);
        let published = 1.054 * math::exp(0.75 * math::ln(0.2 / 2e-5));
        assert!((window / published / 1.23 - 1.0).abs() < 0.02, "{window} {published}");
        let elasticity = cubic.at(window, 0.2).elasticity;
        assert!((elasticity - 4.0 / 3.0).abs() < 0.05, "{elasticity}");
        let scalable = of(Control::Scalable { increase: 0.01, decrease: 0.125, low: 16.0 });
        let window = scalable.window(4e-4, 0.2);
        assert!((window * 4e-4 / 0.08 - 1.0).abs() < 0.1, "{window}");
        let dctcp = of(Control::Dctcp { weight: 0.0625 });
        let [few, many] = [0.02, 0.04].map(|p| dctcp.window(p, 0.2));
        assert!((few / many / 2.0 - 1.0).abs() < 0.1, "{few} {many}");
    }
}
