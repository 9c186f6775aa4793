//! The optimum over a receding horizon: the same problem again and again, each time from another backlog.
//!
//! Cells of equal length h; the backlog of a cell is that at its end, where the outflow is taken, too, so that any h is stable
//! and keeps the concavity of g. Changes of the input have a cost, beta u'^2 per second, and beyond the horizon the optimum
//! stays at x_s, where a packet costs R ((17) and (18) are those of docs/laws/fb_ocq.md):
//!
//! ```text
//! min  sum of h [x_(k+1) + R (w - u_k)] + beta (u_k - u_(k-1))^2 / h,  plus  V(x_N)
//! V(x) = R x + c (x - x_s)^2 / 2 where its slope is above 0, its least value below
//! x_(k+1) + h g(x_(k+1)) = x_k + h u_k,   within bounds of each u_k                  (17)
//! ```
//!
//! V falls nowhere, so lambda >= 0 and (17) is convex as the problem without the penalty is: the gap of `run` holds, with the
//! derivatives of (17).
//!
//! Without the penalty the optimum is at x_s after one cell, where the bounds let it: [`Problem::deadbeat`] with the outflow of
//! the end. With the penalty alone x and u approach their equilibrium as a double integrator under quadratic cost,
//! with the time constant
//!
//! ```text
//! t_u^4 = beta (a + x_s)                                                             (18)
//! ```
//!
//! and c is the cost of doing so from x_N.
//!
//! The method is Newton's, its step one Riccati recursion over the backlog and the last input, with inputs held at the bounds
//! that they would leave, and the feedback of the recursion applied along the new backlog (control-limited differential dynamic
//! programming: Y. Tassa, N. Mansard, E. Todorov, ICRA 2014). A step is shortened until the cost falls. The last plan, a cell
//! later, is the start.

use super::{Problem, Queue};

/// A plan over the horizon, and memory to solve it again without allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Receding {
    cells: Vec<Cell>,
}

/// Initial state and cost of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// mu, a, R and x_s.
    pub problem: Problem,
    /// h, s.
    pub step: f64,
    /// beta, s^4/packet; 0: no cost of changes.
    pub penalty: f64,
    /// Backlog at the start, packets.
    pub backlog: f64,
    /// Input before the start, packets/s.
    pub input: f64,
    /// Lower bound of the input, packets/s.
    pub least: f64,
}

/// Outcome of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// Input of the first cell, packets/s.
    pub input: f64,
    /// No plan is better by more, packets s.
    pub gap: f64,
    /// Forward sweeps after the first one.
    pub iterations: u32,
    /// The gap is small enough.
    pub converged: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cell {
    input: f64,
    most: f64,
    /// x at the end.
    backlog: f64,
    /// Input and backlog that are tried.
    tried: [f64; 2],
    /// Derivative of the backlog at the end by that at the start.
    kept: f64,
    /// lambda at the start, s.
    costate: f64,
    /// Derivative of the cost by the input.
    gradient: f64,
    /// Change of the input: a constant, and by the changes of the backlog and of the input before.
    feedback: [f64; 3],
}

impl Task {
    /// Equation (18): beta of the time constant t_u, s.
    pub fn penalty(problem: &Problem, time: f64) -> f64 {
        time * time * (time * time) / (problem.queue().half + problem.x_s())
    }

    /// c, by the time to come back: a cell and the time constant of (18).
    fn curvature(&self) -> f64 {
        let square = 1.0 / (self.problem.queue().half + self.problem.x_s());
        2.0 * square * (self.step + std::f64::consts::SQRT_2 * (self.penalty / square).sqrt().sqrt())
    }

    /// V of (17), above that of x_s, with its slope and its curvature, at a distance from x_s.
    fn terminal(&self, away: f64) -> [f64; 3] {
        let (price, curvature) = (self.problem.price(), self.curvature());
        let flat = -price / curvature;
        if away <= flat {
            return [price * flat / 2.0, 0.0, 0.0];
        }
        [price * away + curvature * away * away / 2.0, price + curvature * away, curvature]
    }

    /// Gap that is small enough, packets s.
    fn tolerance(&self, cells: usize) -> f64 {
        let (service, cells) = (self.problem.queue().service, cells as f64);
        let cost = (self.problem.x_s() + self.problem.price() * service) * self.step * cells;
        TOLERANCE * cost + ROUNDING * self.penalty / self.step * service * service * cells
    }
}

impl Receding {
    /// A plan of so many cells, at least one.
    pub fn new(cells: usize) -> Receding {
        Receding { cells: vec![Cell::default(); cells.max(1)] }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The plan, packets/s.
    pub fn inputs(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().map(|cell| cell.input)
    }

    /// Forgets the last plan: the next one starts from this input.
    pub fn reset(&mut self, input: f64) {
        self.cells.fill(Cell { input, ..Cell::default() });
    }

    /// Solves (17) in at most `budget` forward sweeps, with the upper bound of each cell by `most`.
    pub fn solve(&mut self, task: &Task, most: impl Fn(usize) -> f64, budget: u32) -> Planned {
        self.shift(task, most);
        let enough = task.tolerance(self.cells.len());
        let mut cost = self.roll(task, 0.0);
        self.take();
        let mut iterations = 0;
        loop {
            let gap = self.backward(task);
            let converged = gap <= enough;
            if converged || iterations >= budget {
                return Planned { input: self.cells[0].input, gap, iterations, converged };
            }
            self.newton(task);
            let mut length = 1.0;
            loop {
                let lower = self.roll(task, length);
                iterations += 1;
                // Near the optimum the cost changes by rounding alone.
                if lower < cost + enough / 10.0 {
                    cost = lower;
                    self.take();
                    break;
                }
                length /= 2.0;
                if iterations >= budget || length < SHORTEST {
                    return Planned { input: self.cells[0].input, gap, iterations, converged: false };
                }
            }
        }
    }

    /// The last plan a cell later, within the new bounds.
    fn shift(&mut self, task: &Task, most: impl Fn(usize) -> f64) {
        self.cells.rotate_left(1);
        let cells = self.cells.len();
        if cells > 1 {
            self.cells[cells - 1].input = self.cells[cells - 2].input;
        }
        for (place, cell) in self.cells.iter_mut().enumerate() {
            cell.most = most(place).max(task.least);
            cell.input = cell.input.clamp(task.least, cell.most);
            cell.feedback = [0.0; 3];
        }
    }

    /// Tries the plan after a part of Newton's step, with the feedback on the backlog that follows; returns the cost, less
    /// that of the load and of the equilibrium.
    fn roll(&mut self, task: &Task, length: f64) -> f64 {
        let (queue, h, stiffness) = (task.problem.queue(), task.step, task.penalty / task.step);
        let (price, x_s, u_s) = (task.problem.price(), task.problem.x_s(), task.problem.u_s());
        let (mut x, mut before, mut cost) = (task.backlog, task.input, 0.0);
        let (mut y, mut e) = (0.0, 0.0);
        for cell in &mut self.cells {
            let [first, by_backlog, by_input] = cell.feedback;
            let change = length * first + by_backlog * y + by_input * e;
            let u = (cell.input + change).clamp(task.least, cell.most);
            x = drained(queue, h, x + h * u);
            cost += h * (x - x_s - price * (u - u_s)) + stiffness * (u - before) * (u - before);
            (y, e, before) = (x - cell.backlog, u - cell.input, u);
            cell.tried = [u, x];
        }
        cost + task.terminal(x - x_s)[0]
    }

    /// x_N, packets.
    fn end(&self, task: &Task) -> f64 {
        self.cells.last().map_or(task.backlog, |cell| cell.backlog)
    }

    /// Takes the plan that was tried.
    fn take(&mut self) {
        self.cells.iter_mut().for_each(|cell| [cell.input, cell.backlog] = cell.tried);
    }

    /// Costates and gradients of the inputs that have been followed; returns the gap.
    fn backward(&mut self, task: &Task) -> f64 {
        let (h, price, stiffness) = (task.step, task.problem.price(), 2.0 * task.penalty / task.step);
        let [_, mut costate, _] = task.terminal(self.end(task) - task.problem.x_s());
        let (mut later, mut gap) = (None, 0.0);
        for place in (0..self.cells.len()).rev() {
            let before = if place == 0 { task.input } else { self.cells[place - 1].input };
            let cell = &mut self.cells[place];
            cell.kept = 1.0 / (1.0 + h * task.problem.queue().secant(cell.backlog, cell.backlog));
            costate = cell.kept * (h + costate);
            cell.costate = costate;
            let bend = cell.input - before - later.map_or(0.0, |next: f64| next - cell.input);
            cell.gradient = h * (costate - price) + stiffness * bend;
            let bound = if cell.gradient > 0.0 { task.least } else { cell.most };
            gap += cell.gradient * (cell.input - bound);
            later = Some(cell.input);
        }
        gap
    }

    /// Newton's step as a feedback. Behind each cell the cost is, by the changes y of the backlog and e of the input,
    /// p y^2 / 2 + m y e + s e^2 / 2 + q y + r e.
    fn newton(&mut self, task: &Task) {
        let (h, stiffness, queue) = (task.step, 2.0 * task.penalty / task.step, task.problem.queue());
        let [_, _, curvature] = task.terminal(self.end(task) - task.problem.x_s());
        let [mut p, mut m, mut s, mut q, mut r] = [curvature, 0.0, 0.0, 0.0, 0.0];
        for cell in self.cells.iter_mut().rev() {
            let (x, kept) = (cell.backlog, cell.kept);
            let own = p + h * cell.costate * 2.0 * queue.secant(x, x) / (queue.half + x);
            let square = own * kept * kept;
            let mixed = square * h + m * kept;
            let divisor = stiffness + s + square * h * h + 2.0 * m * kept * h;
            let slope = cell.gradient + q * kept * h + r;
            let change = -slope / divisor;
            let bounded = change.clamp(task.least - cell.input, cell.most - cell.input);
            if bounded == change {
                cell.feedback = [change, -mixed / divisor, stiffness / divisor];
                p = square - mixed * mixed / divisor;
                m = stiffness * mixed / divisor;
                s = stiffness - stiffness * stiffness / divisor;
            } else {
                cell.feedback = [bounded, 0.0, 0.0];
                [p, m, s] = [square, 0.0, stiffness];
            }
            q = q * kept + mixed * bounded;
            r = -stiffness * bounded;
        }
    }
}

/// Solution x of x + h g(x) = z.
fn drained(queue: Queue, h: f64, z: f64) -> f64 {
    let middle = (z - queue.half - h * queue.service) / 2.0;
    let product = queue.half * z;
    let root = (middle * middle + product).sqrt();
    // Without cancellation.
    if middle > 0.0 { middle + root } else { product / (root - middle) }
}

/// Gap of a solution, by the cost of x_s and of rejecting mu over the horizon: rounding takes 1e-15 of it a cell, and 500
/// cells are the most of the law.
const TOLERANCE: f64 = 1e-12;
/// Rounding of the changes of u, of which the penalty is the square: some units in the last place of mu.
const ROUNDING: f64 = 4e-15;
/// Least part of a Newton step: ten halvings. Where that does not lower the cost, rounding is in the way.
const SHORTEST: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    /// 1250 packets/s, a = 1, 40 packets; cells of 10 ms.
    fn task(backlog: f64, input: f64, time: f64) -> Task {
        let problem = Problem::with_x_s(Queue { service: 1250.0, half: 1.0 }, 40.0);
        Task { problem, step: 0.01, penalty: Task::penalty(&problem, time), backlog, input, least: 0.0 }
    }

    #[test]
    fn a_cell_drains_by_its_own_equation() {
        let queue = Queue { service: 1250.0, half: 1.0 };
        for z in [0.0, 1e-9, 0.5, 11.5, 12.5, 40.0, 1e4, -10.0] {
            let x = drained(queue, 0.01, z);
            assert!((x + 0.01 * queue.outflow(x) - z).abs() < 1e-12 * z.abs().max(1.0), "{z}: {x}");
        }
    }

    #[test]
    fn without_a_penalty_it_is_deadbeat_with_the_outflow_of_the_end() {
        let mut plan = Receding::new(20);
        for backlog in [0.0, 10.0, 39.0, 40.0, 41.0, 47.0, 100.0] {
            let task = task(backlog, 1250.0, 0.0);
            let planned = plan.solve(&task, |_| 2000.0, 50);
            let deadbeat = task.problem.u_s() + (40.0 - backlog) / 0.01;
            assert!(planned.converged, "{backlog}: {planned:?}");
            assert!(
                (planned.input - deadbeat.clamp(0.0, 2000.0)).abs() < 1e-3,
                "{backlog}: {planned:?} {deadbeat}"
            );
        }
    }

    #[test]
    fn gradient_and_newton_step_are_those_of_differences() {
        let task = task(60.0, 1300.0, 0.1);
        let mut plan = Receding::new(8);
        plan.reset(1100.0);
        plan.shift(&task, |_| 2000.0);
        for (place, cell) in plan.cells.iter_mut().enumerate() {
            cell.input += 30.0 * ((place * place) as f64 % 7.0 - 3.0);
        }
        plan.roll(&task, 0.0);
        plan.take();
        plan.backward(&task);
        let gradient = |plan: &Receding| plan.cells.iter().map(|cell| cell.gradient).collect::<Vec<_>>();
        let slopes = gradient(&plan);
        for (place, slope) in slopes.iter().enumerate() {
            let moved = |by: f64| {
                let mut other = plan.clone();
                other.cells[place].input += by;
                other.roll(&task, 0.0)
            };
            let difference = (moved(0.01) - moved(-0.01)) / 0.02;
            assert!((difference - slope).abs() < 1e-9, "{place}: {difference} {slope}");
        }
        // H e = -gradient: the gradient changes by minus itself along the step.
        plan.newton(&task);
        let mut ahead = plan.clone();
        ahead.roll(&task, 1e-6);
        ahead.take();
        ahead.backward(&task);
        for (before, after) in slopes.iter().zip(gradient(&ahead)) {
            assert!(
                ((after - before) / 1e-6 + before).abs() < 1e-4 * before.abs().max(1e-3),
                "{before} {after}"
            );
        }
    }

    #[test]
    fn near_its_equilibrium_it_is_the_linear_quadratic_feedback() {
        // y' = e - y / R, e' = v, cost y^2 / (a + x_s) + beta v^2: v = -k_y y - k_e e has the characteristic polynomial
        // s^2 + b s + 1/t_u^2, b^2 = 2/t_u^2 + 1/R^2.
        let (time, mut plan) = (0.1, Receding::new(800));
        let near = Task { step: 0.001, ..task(40.0, 0.0, time) };
        let (u_s, leak, square) = (near.problem.u_s(), 1.0 / near.problem.price(), 1.0 / (time * time));
        let by_input = (2.0 * square + leak * leak).sqrt() - leak;
        let by_backlog = square - by_input * leak;
        for (y, e) in [(0.1, 0.0), (0.0, 1.0), (-0.1, 0.3)] {
            let task = Task { backlog: 40.0 + y, input: u_s + e, ..near };
            let planned = plan.solve(&task, |_| 5000.0, 50);
            let (rate, expected) = ((planned.input - u_s - e) / 0.001, -by_backlog * y - by_input * e);
            // A cell is a hundredth of t_u.
            assert!(
                planned.converged && (rate / expected - 1.0).abs() < 0.03,
                "{y} {e}: {rate}, not {expected}"
            );
        }
    }

    #[test]
    fn a_dip_of_the_load_is_filled_in_advance() {
        let mut plan = Receding::new(60);
        let dip = |place| if (20..40).contains(&place) { 1000.0 } else { 1400.0 };
        let task = task(40.0, 1219.0, 0.0);
        let planned = plan.solve(&task, dip, 200);
        assert!(planned.converged, "{planned:?}");
        let highest = plan.cells[..20].iter().map(|cell| cell.backlog).fold(0.0, f64::max);
        let lowest = plan.cells[20..40].iter().map(|cell| cell.backlog).fold(100.0, f64::min);
        assert!(highest > 41.0 && lowest < 39.5, "{highest} {lowest}");
    }

    #[test]
    fn a_warm_start_needs_few_sweeps_and_a_budget_is_kept() {
        let mut plan = Receding::new(50);
        let cold = plan.solve(&task(80.0, 1219.5, 0.05), |_| 1300.0, 100);
        let next = Task { backlog: plan.cells[0].backlog, input: cold.input, ..task(0.0, 0.0, 0.05) };
        let warm = plan.solve(&next, |_| 1300.0, 100);
        assert!(cold.converged && warm.converged && warm.iterations <= 3, "{cold:?} {warm:?}");
        plan.reset(0.0);
        let short = plan.solve(&task(0.0, 0.0, 0.05), |_| 1300.0, 1);
        assert!(short.iterations <= 1 && !short.converged, "{short:?}");
    }
}
