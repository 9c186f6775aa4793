//! Optimal control of a queue: its equilibrium, the input that leads there, and a certificate of any input.
//!
//! A. Radwan, H.-L. To, W.-J. Hwang, "Optimal Control for Bufferbloat Queue Management Using Indirect Method with
//! Parametric Optimization", Scientific Programming, 2016. Of an offered load w the input u is admitted, such that
//!
//! ```text
//! J = integral of [x + R (w - u)] from 0 to t_f  is least,
//! x' = u - g(x),   g(x) = mu x / (a + x),   0 <= u <= w,   x(0) = x0
//! ```
//!
//! A packet in the queue costs 1 per second, a rejected one costs R once. The Hamiltonian is linear in u, so u is
//! bang-bang except for one singular arc. There R g'(x) = 1: the equilibrium is
//!
//! ```text
//! x_s = sqrt(a mu R) - a,   u_s = g(x_s)                            where R > a / mu   (3)
//! ```
//!
//! Equations have the numbers of docs/theory/ocq.md, those of [`Problem`] and [`Receding`] of docs/laws/fb_ocq.md; a letter marks
//! what no page has.
//!
//! - [`Instance::solve`] is the exact optimum over a horizon, with its switch times;
//! - [`Stepped::solve`] is the same for a load that changes in steps;
//! - [`Instance::run`] follows any input and bounds its excess over the optimum, [`Run::along`] also where R and the bounds vary;
//! - [`mesh::Mesh`] is the problem for a load that varies, with the paper's Algorithm 1 and an interior-point method;
//! - [`Receding`] solves it again from each new backlog, with a cost of changes of the input;
//! - [`Problem`] is the feedback over an infinite horizon, with or without a penalty.

mod arc;
mod instance;
mod law;
pub mod mesh;
mod receding;
mod run;
mod solution;
mod stepped;

pub use instance::Instance;
pub use law::Problem;
pub use receding::{Planned, Receding, Task};
pub use run::{Part, Piece, Point, Run};
pub use solution::{Solution, Structure};
pub use stepped::{ArcKind, Load, OptimalArc, Optimum, Stepped};

/// A queue with the outflow g.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// mu, the outflow of a long queue, packets/s.
    pub service: f64,
    /// a, the backlog at which half of mu flows out, packets; 1 is M/M/1.
    pub half: f64,
}

impl Queue {
    /// g(x), packets/s.
    pub fn outflow(self, x: f64) -> f64 {
        self.service * x / (self.half + x)
    }

    /// (g(x) - g(y)) / (x - y), 1/s; for x = y the slope g'(x).
    pub fn secant(self, x: f64, y: f64) -> f64 {
        self.half / (self.half + x) * self.service / (self.half + y)
    }

    /// Equation (3): x_s with a cost of `price` per rejected packet, R in s; not above 0 where the optimum is an empty
    /// queue.
    pub fn x_s(self, price: f64) -> f64 {
        let x_s = (self.half * self.service * price).sqrt() - self.half;
        // A difference of equal numbers: what is left of it are rounding errors.
        if x_s.abs() < ROUNDING * self.half { 0.0 } else { x_s }
    }
}

/// Part of a below which x_s is 0.
const ROUNDING: f64 = 1e-12;
