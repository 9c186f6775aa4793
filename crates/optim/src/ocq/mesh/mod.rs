//! The problem on a mesh, where load, cost and bounds may vary: all are constant in each of N cells, and so is the input.
//!
//! A cell is one step of the classical Runge-Kutta method for the queue and its area, x' = u - g(x) and y' = x. The costate and
//! the gradient are those of that step itself, taken backwards through its four stages, so that they agree with the cost on the
//! mesh to rounding; a discretised costate of the continuous problem would stall at the error of the step.
//!
//! - [`gradient`]: Algorithm 1 of the paper, and its steps, of which [`parametric`] is one;
//! - [`interior`]: an interior-point method with one Riccati recursion a step, the fast one.

pub mod gradient;
pub mod interior;
pub mod parametric;

use super::{Queue, instance};
use sojourn_params::InputError;

/// A queue over cells of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// mu and a.
    pub queue: Queue,
    /// x0, initial backlog, packets.
    pub start: f64,
    /// The cells, in the order of time, up to t_f.
    pub cells: Vec<Cell>,
}

/// A cell of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// h, s.
    pub length: f64,
    /// w, offered load, packets/s.
    pub offered: f64,
    /// R, cost of a rejected packet, s.
    pub price: f64,
    /// Bounds of u, packets/s, within 0 and w.
    pub bounds: [f64; 2],
}

impl Cell {
    /// Cell whose input is bounded by its load alone.
    pub fn new(length: f64, offered: f64, price: f64) -> Cell {
        Cell { length, offered, price, bounds: [0.0, offered] }
    }

    fn check(&self, place: usize) -> Result<(), InputError> {
        let Cell { length, offered, price, bounds: [low, high] } = *self;
        instance::check_not_negative(&format!("w[{place}]"), offered)?;
        instance::check_positive(&format!("R[{place}]"), price)?;
        instance::check_positive(&format!("h[{place}]"), length)?;
        if 0.0 <= low && low <= high && high <= offered {
            return Ok(());
        }
        let expected = format!("the lower bound first, within 0 and w = {offered}");
        let found = format!("{low} to {high} packets/s");
        Err(InputError::out_of_range(found, expected).at(&format!("u[{place}]")))
    }

    /// True where the bounds leave no choice.
    fn is_fixed(&self) -> bool {
        self.bounds[0] == self.bounds[1]
    }

    /// Distances of an input from its bounds, packets/s.
    fn room(&self, input: f64) -> [f64; 2] {
        [input - self.bounds[0], self.bounds[1] - input]
    }
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
        let Mesh { queue, start, ref cells } = self;
        if cells.is_empty() {
            return Err(InputError::out_of_range("0 cells", "1 or more").at("N"));
        }
        for (key, value) in [("mu", queue.service), ("a", queue.half)] {
            instance::check_positive(key, value)?;
        }
        instance::check_not_negative("x0", start)?;
        for (place, cell) in cells.iter().enumerate() {
            cell.check(place)?;
        }
        let longest = cells.iter().map(|cell| cell.length).fold(0.0, f64::max);
        let enough = least_cells(queue, cells.len(), longest);
        if enough > cells.len() as f64 {
            let found = format!("{} cells", cells.len());
            return Err(InputError::out_of_range(found, format!("{enough} or more, by t_f mu / a")).at("N"));
        }
        Ok(self)
    }

    /// Greatest offered load, packets/s.
    fn most_offered(&self) -> f64 {
        self.cells.iter().map(|cell| cell.offered).fold(0.0, f64::max)
    }

    /// t_f, s.
    pub fn horizon(&self) -> f64 {
        self.cells.iter().map(|cell| cell.length).sum()
    }

    /// The greatest input of each cell, packets/s.
    pub fn upper(&self) -> Vec<f64> {
        self.cells.iter().map(|cell| cell.bounds[1]).collect()
    }

    /// The same problem with each cell cut into so many.
    pub fn refined(&self, parts: usize) -> Mesh {
        let mut cells = repeat(&self.cells, parts);
        for cell in &mut cells {
            cell.length /= parts as f64;
        }
        Mesh { cells, ..*self }
    }

    /// Follows an input, one value a cell.
    pub fn forward(&self, input: &[f64], sweep: &mut Sweep) {
        let (mut x, mut cost) = (self.start, 0.0);
        sweep.backlog.clear();
        sweep.backlog.push(x);
        for (cell, &u) in self.cells.iter().zip(input) {
            let h = cell.length;
            let [x1, x2, x3, x4] = self.stages(h, x, u);
            let [k1, k2, k3, k4] = [x1, x2, x3, x4].map(|x| u - self.queue.outflow(x));
            cost += h * ((x1 + 2.0 * (x2 + x3) + x4) / 6.0 + cell.price * (cell.offered - u));
            x += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
            sweep.backlog.push(x);
        }
        sweep.cost = cost;
    }

    /// Costate and gradient of an input that has been followed.
    pub fn backward(&self, input: &[f64], sweep: &Sweep, costate: &mut Costate) {
        costate.costate.clear();
        costate.costate.resize(self.cells.len() + 1, 0.0);
        costate.gradient.resize(self.cells.len(), 0.0);
        for (place, cell) in self.cells.iter().enumerate().rev() {
            let (by_backlog, by_input) =
                self.adjoint(cell.length, [sweep.backlog[place], input[place]], costate.costate[place + 1]);
            costate.costate[place] = by_backlog;
            costate.gradient[place] = by_input / cell.length - cell.price;
        }
    }

    /// Equation (6) on the mesh, packets s: the sum over its cells of H_u times the distance from the bound at which H_u would
    /// be optimal.
    pub fn gap(&self, input: &[f64], costate: &Costate) -> f64 {
        let cells = self.cells.iter().zip(input).zip(&costate.gradient);
        let part = |((cell, u), slope): ((&Cell, &f64), &f64)| {
            let [low, high] = cell.bounds;
            cell.length * slope * (u - if *slope > 0.0 { low } else { high })
        };
        cells.map(part).sum()
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
    fn stages(&self, h: f64, x: f64, u: f64) -> [f64; 4] {
        let rate = |x: f64| u - self.queue.outflow(x);
        let second = x + h / 2.0 * rate(x);
        let third = x + h / 2.0 * rate(second);
        [x, second, third, x + h * rate(third)]
    }

    /// Derivatives of the area of a cell, and of `costate` times its last backlog, by its first backlog and by its input.
    fn adjoint(&self, h: f64, [x, u]: [f64; 2], costate: f64) -> (f64, f64) {
        let slopes = self.stages(h, x, u).map(|x| self.queue.secant(x, x));
        let [first, second, third, fourth] = stage_costs(h, slopes, costate);
        let [by_first, by_second, by_third, by_fourth] = [
            h / 6.0 - slopes[0] * first,
            h / 3.0 - slopes[1] * second,
            h / 3.0 - slopes[2] * third,
            h / 6.0 - slopes[3] * fourth,
        ];
        (costate + by_first + by_second + by_third + by_fourth, first + second + third + fourth)
    }
}

/// Derivatives of the area of a cell, and of `costate` times its last backlog, by the rates of its stages, where g' at the
/// stages is `slopes`.
fn stage_costs(h: f64, [_, s2, s3, s4]: [f64; 4], costate: f64) -> [f64; 4] {
    let fourth = h / 6.0 * costate;
    let third = h / 3.0 * costate + h * (h / 6.0 - s4 * fourth);
    let second = h / 3.0 * costate + h / 2.0 * (h / 3.0 - s3 * third);
    let first = h / 6.0 * costate + h / 2.0 * (h / 3.0 - s2 * second);
    [first, second, third, fourth]
}

/// Cells of a mesh of the same shape, at least: one step damps a short queue as the queue itself does.
///
/// The mesh has `cells`, the longest of `longest` seconds.
pub fn least_cells(queue: Queue, cells: usize, longest: f64) -> f64 {
    let step = longest * queue.secant(0.0, 0.0);
    (cells as f64 * step / MOST_STEP * (1.0 - ROUNDING)).ceil()
}

fn repeat<T: Copy>(values: &[T], parts: usize) -> Vec<T> {
    values.iter().flat_map(|value| std::iter::repeat_n(*value, parts)).collect()
}

/// Most of h mu / a: beyond it a step of the Runge-Kutta method does not damp as the queue does.
const MOST_STEP: f64 = 2.0;
/// Rounding of the length of a cell, relative.
const ROUNDING: f64 = 1e-9;
/// Shares of the stages in the step.
const SHARES: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
/// Cells in one, for a check of the step.
const FINER: usize = 10;
