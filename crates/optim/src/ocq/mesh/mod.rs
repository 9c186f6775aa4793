//! The problem on a mesh, for a load that varies: the input is constant in each of N equal cells.
//!
//! A cell is one step of the classical Runge-Kutta method for the queue and its area, x' = u - g(x) and y' = x. The costate and
//! the gradient are those of that step itself, taken backwards through its four stages, so that they agree with the cost on the
//! mesh to rounding; a discretised costate of the continuous problem would stall at the error of the step.
//!
//! - [`gradient`]: Algorithm 1 of the paper, and its steps;
//! - [`interior`]: an interior-point method with one Riccati recursion a step, the fast one.

pub mod gradient;
pub mod interior;

use super::{Instance, Queue, instance};
use sojourn_params::InputError;

/// A queue, a load for each of equal cells, and a horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// mu and a.
    pub queue: Queue,
    /// R, cost of a rejected packet, s.
    pub price: f64,
    /// x0, initial backlog, packets.
    pub start: f64,
    /// t_f, s.
    pub horizon: f64,
    /// w in each cell, packets/s.
    pub offered: Vec<f64>,
}

/// A forward sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// x at the beginning of each cell, and at t_f, packets.
    pub backlog: Vec<f64>,
    /// J, packets s.
    pub cost: f64,
}

/// A backward sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costate {
    /// lambda at the beginning of each cell, and at t_f, s.
    pub costate: Vec<f64>,
    /// H_u in each cell, s: the derivative of J by its input, by the length of the cell.
    pub gradient: Vec<f64>,
}

/// Result of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// u in each cell, packets/s.
    pub input: Vec<f64>,
    /// J, packets s.
    pub cost: f64,
    /// No input is better by more, packets s.
    pub gap: f64,
    /// Iterations.
    pub iterations: u32,
    /// Sweeps in them, forward or backward.
    pub sweeps: u32,
    /// The gap is as small as it was to be.
    pub converged: bool,
}

impl Mesh {
    /// The mesh itself, if its numbers are valid.
    pub fn checked(self) -> Result<Mesh, InputError> {
        if self.offered.is_empty() {
            return Err(InputError::out_of_range("0 cells", "1 or more").at("w"));
        }
        let Mesh { queue, price, start, horizon, .. } = self;
        Instance { offered: 0.0, queue, price, start, horizon }.checked()?;
        for (cell, &offered) in self.offered.iter().enumerate() {
            instance::check_not_negative(&format!("w[{cell}]"), offered)?;
        }
        // One step damps a short queue as the queue itself does.
        let step = self.step() * self.queue.secant(0.0, 0.0);
        if step > MOST_STEP {
            let cells = (self.offered.len() as f64 * step / MOST_STEP).ceil();
            let found = format!("{} cells", self.offered.len());
            return Err(InputError::out_of_range(found, format!("{cells} or more, by t_f mu / a")).at("w"));
        }
        Ok(self)
    }

    /// Length of a cell, s.
    pub fn step(&self) -> f64 {
        self.horizon / self.offered.len() as f64
    }

    /// The same problem with each cell cut into so many.
    pub fn refined(&self, parts: usize) -> Mesh {
        Mesh { offered: repeat(&self.offered, parts), ..self.clone() }
    }

    /// Follows an input, one value a cell.
    pub fn forward(&self, input: &[f64], sweep: &mut Sweep) {
        let (h, mut x) = (self.step(), self.start);
        let mut area = 0.0;
        sweep.backlog.clear();
        sweep.backlog.push(x);
        for &u in input {
            let stages = self.stages(x, u);
            let [x1, x2, x3, x4] = stages;
            let [k1, k2, k3, k4] = stages.map(|x| u - self.queue.outflow(x));
            area += x1 + 2.0 * (x2 + x3) + x4;
            x += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
            sweep.backlog.push(x);
        }
        let lost: f64 = self.offered.iter().zip(input).map(|(w, u)| w - u).sum();
        sweep.cost = h / 6.0 * area + self.price * h * lost;
    }

    /// Costate and gradient of an input that has been followed.
    pub fn backward(&self, input: &[f64], sweep: &Sweep, costate: &mut Costate) {
        let h = self.step();
        let cells = input.len();
        costate.costate.clear();
        costate.costate.resize(cells + 1, 0.0);
        costate.gradient.resize(cells, 0.0);
        for cell in (0..cells).rev() {
            let (by_backlog, by_input) =
                self.adjoint(sweep.backlog[cell], input[cell], costate.costate[cell + 1]);
            costate.costate[cell] = by_backlog;
            costate.gradient[cell] = by_input / h - self.price;
        }
    }

    /// Equation (11) on the mesh: the sum of [max(H_u, 0) u + max(-H_u, 0) (w - u)] over its cells, packets s.
    pub fn gap(&self, input: &[f64], costate: &Costate) -> f64 {
        let cells = self.offered.iter().zip(input).zip(&costate.gradient);
        let part =
            |((w, u), slope): ((&f64, &f64), &f64)| if *slope > 0.0 { slope * u } else { slope * (u - w) };
        self.step() * cells.map(part).sum::<f64>()
    }

    /// J and gap of an input on a mesh of cells that are ten times shorter.
    pub fn verified(&self, input: &[f64]) -> (f64, f64) {
        let fine = self.refined(FINER);
        let input = repeat(input, FINER);
        let (mut sweep, mut costate) = (Sweep::default(), Costate::default());
        fine.forward(&input, &mut sweep);
        fine.backward(&input, &sweep, &mut costate);
        (sweep.cost, fine.gap(&input, &costate))
    }

    /// x at the four stages of a cell.
    fn stages(&self, x: f64, u: f64) -> [f64; 4] {
        let h = self.step();
        let rate = |x: f64| u - self.queue.outflow(x);
        let second = x + h / 2.0 * rate(x);
        let third = x + h / 2.0 * rate(second);
        [x, second, third, x + h * rate(third)]
    }

    /// Derivatives of the area of a cell, and of `costate` times its last backlog, by its first backlog and by its input.
    fn adjoint(&self, x: f64, u: f64, costate: f64) -> (f64, f64) {
        let h = self.step();
        let [s1, s2, s3, s4] = self.stages(x, u).map(|x| self.queue.secant(x, x));
        let fourth = h / 6.0 * costate;
        let by_fourth = h / 6.0 - s4 * fourth;
        let third = h / 3.0 * costate + h * by_fourth;
        let by_third = h / 3.0 - s3 * third;
        let second = h / 3.0 * costate + h / 2.0 * by_third;
        let by_second = h / 3.0 - s2 * second;
        let first = h / 6.0 * costate + h / 2.0 * by_second;
        let by_first = h / 6.0 - s1 * first;
        (costate + by_first + by_second + by_third + by_fourth, first + second + third + fourth)
    }
}

fn repeat(values: &[f64], parts: usize) -> Vec<f64> {
    values.iter().flat_map(|value| std::iter::repeat_n(*value, parts)).collect()
}

/// Most of h mu / a: beyond it a step of the Runge-Kutta method does not damp as the queue does.
const MOST_STEP: f64 = 2.0;
/// Cells in one, for a check of the step.
const FINER: usize = 10;
