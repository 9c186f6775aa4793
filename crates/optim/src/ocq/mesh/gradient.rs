//! Algorithm 1 of the paper, FB-OCQ: forward and backward sweeps, with a penalty on the change of the input.
//!
//! The augmented Hamiltonian H + beta du^2 is least, as H is linear in u, at
//!
//! ```text
//! u + du = clip(u - H_u / (2 beta), 0, w)                                             (B1)
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
    /// Gap at which it stops, by J.
    pub tolerance: f64,
    /// beta at the start, s^2/packet; None: that of [`Mesh::usual_beta`].
    pub beta: Option<f64>,
    /// rho.
    pub rho: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { step: Step::Beta, iterations: 50, tolerance: 1e-6, beta: None, rho: 0.5 }
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
    /// Costate and gradient of the result.
    pub costate: Costate,
}

impl Mesh {
    /// beta at the start, s^2/packet: 3 a / (mu w) with the greatest w, which is the paper's 1e-3 on its own instance.
    pub fn usual_beta(&self) -> f64 {
        let most = self.most_offered();
        let rate = if most > 0.0 { most } else { self.queue.service };
        USUAL_BETA * self.queue.half / (self.queue.service * rate)
    }

    /// Algorithm 1 from an input, which is within its bounds.
    pub fn descend(&self, input: Vec<f64>, options: &Options) -> History {
        self.descend_while(input, options, || true)
    }

    /// The same while `go_on`, which is called before each step that is tried, returns true.
    ///
    /// The spectral step may raise J for a while: the result is the input of least J, or the one that met the tolerance.
    pub fn descend_while(
        &self,
        input: Vec<f64>,
        options: &Options,
        mut go_on: impl FnMut() -> bool,
    ) -> History {
        let mut state = State::of(self, input);
        let mut best = Best::of(&state);
        let mut beta = options.beta.unwrap_or_else(|| self.usual_beta());
        let (mut costs, mut gaps, mut betas) = (Vec::new(), Vec::new(), Vec::new());
        let mut taken = beta;
        let converged = loop {
            costs.push(state.sweep.cost);
            gaps.push(state.gap);
            betas.push(taken);
            let converged = state.gap <= options.tolerance * state.sweep.cost;
            if converged || state.sweep.cost < best.cost {
                best.take(&state);
            }
            if converged || costs.len() > options.iterations as usize {
                break converged;
            }
            let memory = if options.step == Step::Spectral { MEMORY } else { 1 };
            let reference = costs.iter().rev().take(memory).copied().fold(f64::MIN, f64::max);
            match state.step(beta, reference, options, &mut go_on) {
                Some(step) => taken = step,
                None => break false,
            }
            beta = match options.step {
                Step::Spectral => state.spectral().unwrap_or(taken),
                _ => taken * options.rho,
            };
        };
        let Best { input, cost, gap, costate } = best;
        let (iterations, sweeps) = (costs.len() as u32 - 1, state.sweeps);
        let found = Found { input, cost, gap, iterations, sweeps, converged };
        History { found, costs, gaps, betas, costate }
    }
}

/// The input to return.
struct Best {
    input: Vec<f64>,
    cost: f64,
    gap: f64,
    costate: Costate,
}

impl Best {
    fn of(state: &State<'_>) -> Best {
        let State { input, sweep, costate, gap, .. } = state;
        Best { input: input.clone(), cost: sweep.cost, gap: *gap, costate: costate.clone() }
    }

    fn take(&mut self, state: &State<'_>) {
        self.input.clone_from(&state.input);
        self.costate.clone_from(&state.costate);
        (self.cost, self.gap) = (state.sweep.cost, state.gap);
    }
}

struct State<'a> {
    mesh: &'a Mesh,
    input: Vec<f64>,
    sweep: Sweep,
    costate: Costate,
    gap: f64,
    sweeps: u32,
    /// Least and greatest beta.
    range: [f64; 2],
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
            range: RANGE.map(|part| part * mesh.usual_beta()),
            tried: Sweep::default(),
            before,
        }
    }

    /// A step with beta, or a greater one; returns the beta taken, None where no step lowers the cost, or after the end of
    /// `go_on`.
    fn step(
        &mut self,
        beta: f64,
        reference: f64,
        options: &Options,
        go_on: &mut impl FnMut() -> bool,
    ) -> Option<f64> {
        let mut beta = beta.max(self.range[0]);
        while go_on() {
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
            if beta >= self.range[1] {
                break;
            }
        }
        None
    }

    /// Equation (B1); returns the change of J that H_u predicts.
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
        (curvature > 0.0).then(|| (curvature / (2.0 * square)).clamp(self.range[0], self.range[1]))
    }
}

/// beta at the start, by a / (mu w).
const USUAL_BETA: f64 = 3.0;
/// Least and greatest beta, by that at the start: with 0 the division by rho would not change it.
const RANGE: [f64; 2] = [1e-9, 1e15];
/// Part of the decrease that the slope predicts.
const SUFFICIENT: f64 = 1e-4;
/// Costs that are remembered.
const MEMORY: usize = 10;
