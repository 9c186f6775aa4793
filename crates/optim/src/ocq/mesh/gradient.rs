//! Algorithm 1 of the paper, FB-OCQ: forward and backward sweeps, with a penalty on the change of the input.
//!
//! The augmented Hamiltonian H + beta du^2 is least, as H is linear in u, at
//!
//! ```text
//! u + du = clip(u - H_u / (2 beta), 0, w)                                             (13)
//! ```
//!
//! a projected gradient step of length 1 / (2 beta). A step that lowers J is taken, and beta becomes rho beta; otherwise beta
//! becomes beta / rho, and the step is tried again. The paper stops at a small norm of H_u, which is not small at the optimum;
//! here the gap stops it.

use super::{Costate, Found, Mesh, Sweep};

/// Rule for the length of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// By beta, as printed.
    Beta,
    /// By beta, with a sufficient decrease (the paper's Remark 2: backtracking line search, L. Armijo 1966).
    Backtracking,
    /// By beta, with the minimum followed along time (the paper's equations (26) to (35)): [`super::parametric`].
    Parametric,
    /// By beta, with the change of H_u along the last step (J. Barzilai, J. M. Borwein 1988) and the greatest J of the last ten
    /// as the one to be lowered (E. G. Birgin, J. M. Martinez, M. Raydan 2000, SPG).
    Spectral,
}

/// Parameters of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Rule of the steps.
    pub step: Step,
    /// Iterations, at most.
    pub iterations: u32,
    /// Gap at which it stops, by max(1, J).
    pub tolerance: f64,
    /// beta at the start, s^2/packet.
    pub beta: f64,
    /// rho.
    pub rho: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { step: Step::Beta, iterations: 50, tolerance: 1e-6, beta: 1e-3, rho: 0.5 }
    }
}

/// A run of the method.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Its result.
    pub found: Found,
    /// J of the start and after each iteration, packets s.
    pub costs: Vec<f64>,
    /// Their gaps, packets s.
    pub gaps: Vec<f64>,
    /// beta at the start and of each iteration, s^2/packet.
    pub betas: Vec<f64>,
    /// The last costate.
    pub costate: Costate,
}

impl Mesh {
    /// Algorithm 1 from an input, which is within its bounds.
    pub fn descend(&self, input: Vec<f64>, options: &Options) -> History {
        let mut state = State::of(self, input);
        let mut beta = options.beta;
        let mut history = History {
            found: state.found(0, false),
            costs: vec![state.sweep.cost],
            gaps: vec![state.gap],
            betas: vec![beta],
            costate: Costate::default(),
        };
        for iteration in 1..=options.iterations {
            if state.gap <= options.tolerance * state.sweep.cost.max(1.0) {
                break;
            }
            let reference = match options.step {
                Step::Spectral => history.costs.iter().rev().take(MEMORY).copied().fold(f64::MIN, f64::max),
                _ => state.sweep.cost,
            };
            let Some(taken) = state.step(beta, reference, options) else { break };
            beta = match options.step {
                Step::Spectral => state.spectral().unwrap_or(taken),
                _ => taken * options.rho,
            };
            history.costs.push(state.sweep.cost);
            history.gaps.push(state.gap);
            history.betas.push(taken);
            history.found.iterations = iteration;
        }
        let converged = state.gap <= options.tolerance * state.sweep.cost.max(1.0);
        history.found = state.found(history.found.iterations, converged);
        history.costate = state.costate;
        history
    }
}

struct State<'a> {
    mesh: &'a Mesh,
    input: Vec<f64>,
    sweep: Sweep,
    costate: Costate,
    gap: f64,
    sweeps: u32,
    /// A step that is tried.
    next: Vec<f64>,
    tried: Sweep,
    before: Vec<f64>,
}

impl State<'_> {
    fn of(mesh: &Mesh, input: Vec<f64>) -> State<'_> {
        let (mut sweep, mut costate) = (Sweep::default(), Costate::default());
        mesh.forward(&input, &mut sweep);
        mesh.backward(&input, &sweep, &mut costate);
        let gap = mesh.gap(&input, &costate);
        let before = costate.gradient.clone();
        State {
            mesh,
            next: input.clone(),
            input,
            sweep,
            costate,
            gap,
            sweeps: 2,
            tried: Sweep::default(),
            before,
        }
    }

    /// A step with beta, or a greater one; returns the beta taken, None where no step lowers the cost.
    fn step(&mut self, beta: f64, reference: f64, options: &Options) -> Option<f64> {
        let mut beta = beta.max(LEAST_BETA);
        while beta < MOST_BETA {
            let slope = self.attempt(beta, options.step);
            self.mesh.forward(&self.next, &mut self.tried);
            self.sweeps += 1;
            let enough = match options.step {
                Step::Beta | Step::Parametric => 0.0,
                Step::Backtracking | Step::Spectral => SUFFICIENT * slope,
            };
            if self.tried.cost < reference + enough {
                std::mem::swap(&mut self.input, &mut self.next);
                std::mem::swap(&mut self.sweep, &mut self.tried);
                self.before.copy_from_slice(&self.costate.gradient);
                self.mesh.backward(&self.input, &self.sweep, &mut self.costate);
                self.sweeps += 1;
                self.gap = self.mesh.gap(&self.input, &self.costate);
                return Some(beta);
            }
            beta /= options.rho;
        }
        None
    }

    /// Equation (13); returns the change of J that H_u predicts.
    fn attempt(&mut self, beta: f64, step: Step) -> f64 {
        let State { mesh, input, next, costate, .. } = self;
        if step == Step::Parametric {
            *next = mesh.follow(input, &costate.gradient, beta).input;
        } else {
            let cells = mesh.cells.iter().zip(input.iter().zip(&costate.gradient));
            for (next, (cell, (u, gradient))) in next.iter_mut().zip(cells) {
                *next = (u - gradient / (2.0 * beta)).clamp(cell.bounds[0], cell.bounds[1]);
            }
        }
        let changes = next.iter().zip(input.iter()).zip(costate.gradient.iter().zip(&mesh.cells));
        changes.map(|((next, u), (gradient, cell))| cell.length * gradient * (next - u)).sum()
    }

    /// beta by the change of H_u along the last step.
    fn spectral(&self) -> Option<f64> {
        let inputs = self.mesh.cells.iter().zip(self.input.iter().zip(&self.next));
        let gradients = self.costate.gradient.iter().zip(&self.before);
        let (mut curvature, mut square) = (0.0, 0.0);
        for ((cell, (u, last)), (gradient, before)) in inputs.zip(gradients) {
            curvature += cell.length * (u - last) * (gradient - before);
            square += cell.length * (u - last) * (u - last);
        }
        (curvature > 0.0).then(|| (curvature / (2.0 * square)).clamp(LEAST_BETA, MOST_BETA))
    }

    fn found(&self, iterations: u32, converged: bool) -> Found {
        Found {
            input: self.input.clone(),
            cost: self.sweep.cost,
            gap: self.gap,
            iterations,
            sweeps: self.sweeps,
            converged,
        }
    }
}

/// Least and greatest beta: with 0 the division by rho would not change it.
const LEAST_BETA: f64 = 1e-12;
const MOST_BETA: f64 = 1e12;
/// Part of the decrease that the slope predicts.
const SUFFICIENT: f64 = 1e-4;
/// Costs that are remembered.
const MEMORY: usize = 10;
