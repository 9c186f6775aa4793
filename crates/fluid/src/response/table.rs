//! Functions of the window between the nodes at which a chain is known.

use super::{Reductions, Stationary};
use crate::interval::Interval;
use sojourn_optim::root;
use sojourn_units::math;

/// ln p and the growth by ln W: cubics between the nodes, with continuous slopes; straight lines beyond them.
#[derive(Debug)]
pub(super) struct Table {
    nodes: Vec<Node>,
}

/// Values at a window, with their slopes by ln W.
#[derive(Clone, Copy, Debug)]
struct Node {
    ln_window: f64,
    ln_p: [f64; 2],
    growth: [f64; 2],
    /// Squares of the reductions by W, and their rate times W: nearly constant. Straight lines between the nodes, as of
    /// the share that a reduction takes away, and of the elasticity of reductions by signals at a constant average.
    reductions: [f64; 2],
    lost: f64,
    at_once: f64,
}

/// Values at a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    /// ln p, and its slope by ln W.
    pub(super) ln_p: f64,
    pub(super) slope: f64,
    /// Growth, packets per round trip.
    pub(super) growth: f64,
    /// Squares of the reductions by W, packets per round trip, and their rate times W.
    pub(super) squares: f64,
    pub(super) rate: f64,
    /// Mean share of a window that a reduction takes away.
    pub(super) lost: f64,
    /// Elasticity of reductions by signals at a constant average of them.
    pub(super) at_once: f64,
}

impl Entry {
    /// Reductions of a window.
    pub(super) fn reductions(&self, window: f64) -> Reductions {
        Reductions { squares: self.squares * window, rate: self.rate / window }
    }
}

impl Table {
    /// Table of a chain at p = `most`, and at ever smaller ones by e^-`step` down to `least`.
    pub(super) fn of([most, least]: [f64; 2], step: f64, chain: impl Fn(f64) -> Stationary) -> Table {
        let (most, least) = (math::ln(most), math::ln(least));
        let count = ((most - least) / step).ceil() as u32;
        let mut nodes: Vec<Node> = Vec::new();
        for place in 0..=count {
            let ln_p = most - step * f64::from(place);
            let Stationary { window, growth, reductions, lost, at_once, .. } = chain(math::exp(ln_p));
            let ln_window = math::ln(window);
            // Near p = 1 windows may all be the least one.
            while nodes.last().is_some_and(|last| ln_window < last.ln_window + APART) {
                nodes.pop();
            }
            let reductions = [reductions.squares / window, reductions.rate * window];
            nodes.push(Node {
                ln_window,
                ln_p: [ln_p, 0.0],
                growth: [growth, 0.0],
                reductions,
                lost,
                at_once,
            });
        }
        let mut table = Table { nodes };
        table.set_slopes();
        table
    }

    /// Slopes of the parabola through each node and its neighbours, of the chord at the ends.
    fn set_slopes(&mut self) {
        let last = self.nodes.len() - 1;
        let chord = |of: fn(&Node) -> f64, from: &Node, to: &Node| {
            (of(to) - of(from)) / (to.ln_window - from.ln_window)
        };
        for of in [0, 1] {
            let value: fn(&Node) -> f64 = if of == 0 { |node| node.ln_p[0] } else { |node| node.growth[0] };
            let chords: Vec<f64> =
                self.nodes.windows(2).map(|pair| chord(value, &pair[0], &pair[1])).collect();
            for place in 0..=last {
                let (before, after) = (chords[place.saturating_sub(1)], chords[place.min(last - 1)]);
                let wide = |place: usize| self.nodes[place + 1].ln_window - self.nodes[place].ln_window;
                let (left, right) = (wide(place.saturating_sub(1)), wide(place.min(last - 1)));
                let slope = (before * right + after * left) / (left + right);
                let node = &mut self.nodes[place];
                if of == 0 { node.ln_p[1] = slope } else { node.growth[1] = slope }
            }
        }
    }

    /// Bounds over windows, by their logarithms: those of the control points of each cubic (Bernstein's form).
    pub(super) fn over(&self, windows: Interval) -> Ranges {
        let ends = [windows.low, windows.high].map(|at| self.at(at));
        let (mut slopes, mut growths) = (ends.map(|at| at.slope).to_vec(), ends.map(|at| at.growth).to_vec());
        for pair in self.nodes.windows(2) {
            let (from, to) = (&pair[0], &pair[1]);
            let wide = to.ln_window - from.ln_window;
            let t = [windows.low, windows.high].map(|at| ((at - from.ln_window) / wide).clamp(0.0, 1.0));
            if t[0] < t[1] {
                let [_, first, second, third] = cubic(wide, from.ln_p, to.ln_p);
                let slope = |u: f64, v: f64| (first + second * (u + v) + 3.0 * third * u * v) / wide;
                slopes.extend([slope(t[0], t[0]), slope(t[0], t[1]), slope(t[1], t[1])]);
                let [value, first, second, third] = cubic(wide, from.growth, to.growth);
                let growth = |[u, v, w]: [f64; 3]| {
                    let [sum, pairs] = [u + v + w, u * v + u * w + v * w].map(|sum| sum / 3.0);
                    value + first * sum + second * pairs + third * u * v * w
                };
                let [low, high] = t;
                growths.extend([[low; 3], [low, low, high], [low, high, high], [high; 3]].map(growth));
            }
        }
        Ranges { slope: Interval::around(&slopes), growth: Interval::around(&growths) }
    }

    /// Window at which ln p, which falls, is `target`; its logarithm.
    pub(super) fn ln_window(&self, target: f64) -> f64 {
        let place = self.nodes.partition_point(|node| node.ln_p[0] > target);
        let (Some(from), Some(to)) = (place.checked_sub(1).map(|at| &self.nodes[at]), self.nodes.get(place))
        else {
            let end = &self.nodes[place.min(self.nodes.len() - 1)];
            return end.ln_window + (target - end.ln_p[0]) / end.ln_p[1];
        };
        let wide = to.ln_window - from.ln_window;
        let rising = |t: f64| {
            let [value, slope] = hermite(t, wide, from.ln_p, to.ln_p);
            (-value, -slope * wide)
        };
        from.ln_window + wide * root::of_rising(-target, 0.0, 1.0, rising)
    }

    /// ln p at a window, by its logarithm, and its slope.
    pub(super) fn ln_p(&self, ln_window: f64) -> [f64; 2] {
        let place = self.nodes.partition_point(|node| node.ln_window <= ln_window);
        let (Some(from), Some(to)) = (place.checked_sub(1).map(|at| &self.nodes[at]), self.nodes.get(place))
        else {
            let end = &self.nodes[place.min(self.nodes.len() - 1)];
            return [end.ln_p[0] + end.ln_p[1] * (ln_window - end.ln_window), end.ln_p[1]];
        };
        let wide = to.ln_window - from.ln_window;
        hermite((ln_window - from.ln_window) / wide, wide, from.ln_p, to.ln_p)
    }

    /// Values at a window, by its logarithm.
    pub(super) fn at(&self, ln_window: f64) -> Entry {
        let place = self.nodes.partition_point(|node| node.ln_window <= ln_window);
        let (Some(from), Some(to)) = (place.checked_sub(1).map(|at| &self.nodes[at]), self.nodes.get(place))
        else {
            let end = &self.nodes[place.min(self.nodes.len() - 1)];
            let ln_p = end.ln_p[0] + end.ln_p[1] * (ln_window - end.ln_window);
            let [squares, rate] = end.reductions;
            return Entry {
                ln_p,
                slope: end.ln_p[1],
                growth: end.growth[0],
                squares,
                rate,
                lost: end.lost,
                at_once: end.at_once,
            };
        };
        let wide = to.ln_window - from.ln_window;
        let t = (ln_window - from.ln_window) / wide;
        let [ln_p, slope] = hermite(t, wide, from.ln_p, to.ln_p);
        let between = |from: f64, to: f64| from + t * (to - from);
        let [squares, rate] = [0, 1].map(|of| between(from.reductions[of], to.reductions[of]));
        let growth = hermite(t, wide, from.growth, to.growth)[0];
        let [lost, at_once] = [between(from.lost, to.lost), between(from.at_once, to.at_once)];
        Entry { ln_p, slope, growth, squares, rate, lost, at_once }
    }
}

/// Ranges over an interval of windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranges {
    /// d ln p / d ln W.
    pub(super) slope: Interval,
    /// Growth, packets per round trip.
    pub(super) growth: Interval,
}

/// Window at which a falling `ln_p` (its value and slope by ln W) is `target`, at least 1; logarithms.
pub(super) fn ln_window_of(target: f64, ln_p: impl Fn(f64) -> [f64; 2]) -> f64 {
    if ln_p(0.0)[0] <= target {
        return 0.0;
    }
    let mut most = 8.0;
    while ln_p(most)[0] > target {
        most *= 2.0;
    }
    let rising = |at: f64| {
        let [value, slope] = ln_p(most - at);
        (value, -slope)
    };
    most - root::of_rising(target, 0.0, most, rising)
}

/// Hermite's cubic between two values with slopes, and its slope.
pub(super) fn hermite(t: f64, wide: f64, from: [f64; 2], to: [f64; 2]) -> [f64; 2] {
    let [start, left, square, cube] = cubic(wide, from, to);
    let value = start + t * (left + t * (square + t * cube));
    [value, (left + t * (2.0 * square + t * 3.0 * cube)) / wide]
}

/// Its coefficients, ascending powers of the share of the way.
fn cubic(wide: f64, from: [f64; 2], to: [f64; 2]) -> [f64; 4] {
    let (left, right, rise) = (from[1] * wide, to[1] * wide, to[0] - from[0]);
    [from[0], left, 3.0 * rise - 2.0 * left - right, left + right - 2.0 * rise]
}

/// Least distance of two nodes, by ln W.
const APART: f64 = 1e-3;
