//! Exact solution for any input, and a bound of its excess over the optimum.
//!
//! The optimality conditions of the maximum principle are the costate l with
//!
//! ```text
//! l' = -1 + l g'(x),   l(t_f) = 0                                                      (2)
//! ```
//!
//! and u = w where l < R, u = 0 where l > R. In general they are necessary. Here they are sufficient as well,
//! because the problem is convex in disguise. Let (u, x) and (v, y) be two admissible inputs with their queues,
//! and l the costate of the first. g is concave, so g(y) <= g(x) + g'(x) (y - x), and l >= 0 by (2), so
//!
//! ```text
//! [l (x - y)]' = -(x - y) + l (u - v) + l [g'(x) (x - y) - g(x) + g(y)] <= -(x - y) + l (u - v).
//! ```
//!
//! Integrated from x = y at 0 to l = 0 at t_f, with 0 <= v <= w:
//!
//! ```text
//! J(u) - J(v) = integral of [(x - y) - R (u - v)] <= integral of (l - R) (u - v)
//!            <= gap(u) = integral of [ max(l - R, 0) u + max(R - l, 0) (w - u) ]       (6)
//! ```
//!
//! The right side does not depend on v. So J(u) is at most gap(u) above the least J, and gap(u) = 0 exactly where u
//! satisfies the conditions: there are no local minima. One backward sweep computes the number.
//!
//! An input consists of pieces of constant u. Between its breaks the queue, the costate and both costs come from the
//! exact arcs, and the integrand left to quadrature is smooth, so the bound holds for the problem itself, not for its
//! discretisation, up to rounding. (Explicit Euler with its own adjoint, l_j = l_(j+1) (1 - h g'(x_j)) + h, satisfies
//! (6) for its own problem, provided that h mu / a <= 1: then x and l stay at or above 0.)

use super::arc::Arc;
use super::{Instance, Load, Queue, Stepped};
use crate::root;
use sojourn_params::{ErrorKind, InputError};

/// A time interval of constant input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// u, packets/s.
    pub input: f64,
    /// End, s.
    pub until: f64,
}

/// State at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// x, packets.
    pub backlog: f64,
    /// u, packets/s.
    pub input: f64,
    /// lambda, s: the cost of one more packet from here on.
    pub costate: f64,
}

/// A time interval of constant input, load, cost and bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// u, packets/s.
    pub input: f64,
    /// End, s.
    pub until: f64,
    /// w, packets/s.
    pub offered: f64,
    /// R, s.
    pub price: f64,
    /// Bounds of u, packets/s.
    pub bounds: [f64; 2],
}

/// Result of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    queue: Queue,
    legs: Vec<Leg>,
}

/// A part, solved.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Leg {
    begins: f64,
    part: Part,
    arc: Arc,
    /// Final lambda, s.
    costate: f64,
}

impl Stepped {
    /// Follows the input that consists of `pieces`, the last of which ends at t_f.
    pub fn run(&self, pieces: &[Piece]) -> Result<Run, InputError> {
        let mut parts: Vec<Part> = Vec::with_capacity(pieces.len() + self.steps.len());
        let (price, mut time, mut steps) = (self.price, 0.0, self.steps.as_slice());
        for (index, &Piece { input, until: end }) in pieces.iter().enumerate() {
            self.check_end(index, &Piece { input, until: end }, time)?;
            while let [step, later @ ..] = steps
                && time < end
            {
                check_input(index, input, step)?;
                time = end.min(step.until);
                let offered = step.offered;
                parts.push(Part { input, until: time, offered, price, bounds: [0.0, offered] });
                if time == step.until {
                    steps = later;
                }
            }
        }
        let horizon = self.horizon();
        if time != horizon {
            let problem = format!("ends at {time} s");
            return Err(InputError::new(ErrorKind::Range, problem, format!("at t_f = {horizon} s")).at("u"));
        }
        Ok(Run::along(self.queue, self.start, parts))
    }

    fn check_end(&self, index: usize, piece: &Piece, begins: f64) -> Result<(), InputError> {
        let (until, horizon) = (piece.until, self.horizon());
        if begins <= until && until <= horizon {
            return Ok(());
        }
        let expected = format!("{begins}, where it begins, to t_f = {horizon}");
        Err(InputError::out_of_range(format!("until {until} s"), expected).at(&format!("u[{index}]")))
    }
}

fn check_input(index: usize, input: f64, step: &Load) -> Result<(), InputError> {
    if (0.0..=step.offered).contains(&input) {
        return Ok(());
    }
    let (found, expected) = (format!("{input} packets/s"), format!("0 to w = {}", step.offered));
    Err(InputError::out_of_range(found, expected).at(&format!("u[{index}]")))
}

impl Instance {
    /// Follows the input that consists of `pieces`, the last of which ends at t_f.
    pub fn run(&self, pieces: &[Piece]) -> Result<Run, InputError> {
        self.checked()?.stepped().run(pieces)
    }

    /// The same problem with a load in steps, of which there is one.
    pub fn stepped(&self) -> Stepped {
        let Instance { offered, queue, price, start, horizon } = *self;
        Stepped { steps: vec![Load { offered, until: horizon }], queue, price, start }
    }

    /// Input with `inputs` over equal parts of the horizon.
    pub fn on_a_mesh(&self, inputs: &[f64]) -> Vec<Piece> {
        let cells = inputs.len() as f64;
        let until = |cell: usize| self.horizon * ((cell + 1) as f64 / cells);
        inputs.iter().enumerate().map(|(cell, &input)| Piece { input, until: until(cell) }).collect()
    }
}

impl Run {
    /// Follows the parts of an input from the backlog `start` at 0 s on; each input is within its bounds.
    pub fn along(queue: Queue, start: f64, parts: impl IntoIterator<Item = Part>) -> Run {
        let (mut begins, mut backlog) = (0.0, start);
        let leg = |part: Part| {
            let arc = Arc::lasting(queue, part.input, backlog, part.until - begins);
            let leg = Leg { begins, part, arc, costate: 0.0 };
            (begins, backlog) = (part.until, arc.end());
            leg
        };
        let mut legs: Vec<Leg> = parts.into_iter().map(leg).collect();
        let mut costate = 0.0;
        for leg in legs.iter_mut().rev() {
            leg.costate = costate;
            costate = leg.arc.costate(costate);
        }
        Run { queue, legs }
    }

    /// J, packets s.
    pub fn cost(&self) -> f64 {
        self.legs.iter().map(Leg::cost).sum()
    }

    /// Equation (6), packets s: no input is better by more.
    pub fn gap(&self) -> f64 {
        self.gaps().sum()
    }

    /// The parts of the gap, packets s.
    pub fn gaps(&self) -> impl Iterator<Item = f64> + '_ {
        self.legs.iter().map(|leg| leg.gap(self.queue))
    }

    /// Backlog, packets, and costate, s, at the beginning of each part, and at the end.
    pub fn nodes(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let begins = |leg: &Leg| [leg.arc.from(), leg.arc.costate(leg.costate)];
        let end = self.legs.last().map(|leg| [leg.arc.end(), leg.costate]);
        self.legs.iter().map(begins).chain(end)
    }

    /// Norm of H_u = lambda - R over time, s^(3/2). It does not measure optimality: on a bang arc H_u is not 0.
    pub fn gradient_norm(&self) -> f64 {
        let square = |leg: &Leg| {
            let price = leg.part.price;
            leg.arc.integral(leg.costate, |_, costate| (costate - price) * (costate - price))
        };
        self.legs.iter().map(square).sum::<f64>().sqrt()
    }

    /// State at `time`, between 0 and t_f; at a break the state just after it.
    pub fn at(&self, time: f64) -> Point {
        let index = self.legs.partition_point(|leg| leg.part.until <= time).min(self.legs.len() - 1);
        let leg = &self.legs[index];
        let since = (time - leg.begins).clamp(0.0, leg.part.until - leg.begins);
        let passed = Arc::lasting(self.queue, leg.arc.input(), leg.arc.from(), since);
        let left = leg.arc.after(passed.length().min(leg.arc.length()));
        Point { backlog: left.from(), input: left.input(), costate: left.costate(leg.costate) }
    }

    /// The input, cut also where the load changes.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        self.legs.iter().map(|leg| Piece { input: leg.part.input, until: leg.part.until })
    }

    /// x(t_f), packets.
    pub fn last_backlog(&self) -> f64 {
        self.legs.last().map_or(0.0, |leg| leg.arc.end())
    }
}

impl Leg {
    fn cost(&self) -> f64 {
        let Part { input, until, offered, price, .. } = self.part;
        self.arc.area() + price * (offered - input) * (until - self.begins)
    }

    /// The leg's part of equation (6).
    fn gap(&self, queue: Queue) -> f64 {
        let Part { input, price, bounds: [low, high], .. } = self.part;
        let cuts = self.cuts(queue);
        let part = |ends: &[f64]| {
            let left = self.arc.after(ends[0]);
            let costate = self.costate_at(ends[1]);
            let excess = left.before(ends[1] - ends[0]).integral(costate, |_, costate| costate - price);
            excess.max(0.0) * (input - low) + (-excess).max(0.0) * (high - input)
        };
        cuts.windows(2).map(part).sum()
    }

    /// Inner times between which lambda - R has one sign, from the leg's beginning to its end.
    fn cuts(&self, queue: Queue) -> Vec<f64> {
        let price = self.part.price;
        let above = |length: f64| self.costate_at(length) - price;
        let length = self.arc.length();
        // Where lambda = R, lambda rises on one side of x_s and falls on the other: on one side it crosses R once.
        let mut ends = vec![0.0];
        ends.extend(self.passes(queue, queue.x_s(price)));
        ends.push(length);
        let mut cuts = vec![0.0];
        for end in ends.windows(2) {
            if above(end[0]) * above(end[1]) < 0.0 {
                cuts.push(root::between(end[0], end[1], above));
            }
            cuts.push(end[1]);
        }
        cuts
    }

    /// Inner time at which the queue passes `backlog`.
    fn passes(&self, queue: Queue, backlog: f64) -> Option<f64> {
        let (from, to) = (self.arc.from(), self.arc.end());
        let on_the_way = from.min(to) < backlog && backlog < from.max(to);
        let arc = on_the_way.then(|| Arc::leading(queue, self.arc.input(), from, backlog)).flatten();
        arc.map(|arc| arc.length()).filter(|&length| length < self.arc.length())
    }

    fn costate_at(&self, length: f64) -> f64 {
        self.arc.after(length).costate(self.costate)
    }
}
