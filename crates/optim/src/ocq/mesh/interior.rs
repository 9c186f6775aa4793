//! An interior-point method: the bounds of the input become a barrier, and a Newton step is one Riccati recursion.
//!
//! With barriers of weight tau the conditions of a cell are
//!
//! ```text
//! H_u - z_0 + z_w = 0,   z_0 (u - u_0) = tau,   z_w (u_w - u) = tau                   (B2)
//! ```
//!
//! Newton's step v on them has the queue's change y, y_(k+1) = A y_k + B v_k, and is the minimum of
//!
//! ```text
//! sum over cells of h [ r v + (z_0 / (u - u_0) + z_w / (u_w - u)) v^2 / 2 ] + sum of stages of kappa (-g''(x)) y_s^2 / 2   (B3)
//! ```
//!
//! with r = H_u - tau / (u - u_0) + tau / (u_w - u); the bounds u_0 and u_w are 0 and w, unless others are given. A cell has four
//! stages: at each, x is that of the stage, y_s its change, linear in y and v, and kappa the derivative of the cost by the rate
//! there. That is the exact curvature, as nothing but g is not linear; with one value a cell, lambda (-g'') at its middle, the
//! method circled about the optimum where h mu / a was near 2. The curvature is not negative, as g is concave and kappa >= 0 (a
//! kappa below 0, by a long step, counts as 0), so the recursion backwards in time has a positive divisor always, and a step costs
//! as much as some sweeps. tau follows from the complementarity that is left. The gap, not tau, stops the method.

use super::{Cell, Costate, Found, Mesh, SHARES, Sweep, stage_costs};

/// Parameters of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Iterations, at most.
    pub iterations: u32,
    /// Gap at which it stops, by J.
    pub tolerance: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { iterations: 60, tolerance: 1e-6 }
    }
}

impl Mesh {
    /// The optimum on the mesh.
    pub fn optimum(&self, options: &Options) -> Found {
        self.optimum_with(options, |_, _| true)
    }

    /// The optimum on the mesh; `watch` takes J and gap, packets s, of the start and after each iteration, and ends the method
    /// by false.
    ///
    /// The result is the iterate of least gap: where the tolerance is below rounding, later ones are worse.
    pub fn optimum_with(&self, options: &Options, mut watch: impl FnMut(f64, f64) -> bool) -> Found {
        let mut state = State::of(self);
        let mut best = Found {
            input: state.input.clone(),
            cost: state.sweep.cost,
            gap: state.gap,
            iterations: 0,
            sweeps: 0,
            converged: false,
        };
        let mut iterations = 0;
        while watch(state.sweep.cost, state.gap)
            && !state.is_within(options)
            && iterations < options.iterations
        {
            iterations += 1;
            if !state.improve() {
                break;
            }
            if state.gap < best.gap {
                best.input.clone_from(&state.input);
                (best.cost, best.gap) = (state.sweep.cost, state.gap);
            }
        }
        let converged = best.gap <= options.tolerance * best.cost;
        Found { iterations, sweeps: state.sweeps, converged, ..best }
    }
}

struct State<'a> {
    mesh: &'a Mesh,
    input: Vec<f64>,
    sweep: Sweep,
    costate: Costate,
    /// z_0 and z_w by cell, s.
    duals: Vec<[f64; 2]>,
    gap: f64,
    sweeps: u32,
    newton: Newton,
}

/// A Newton step and its recursion.
#[derive(Default)]
struct Newton {
    /// v by cell, its feedback v = first + second y, and A and B.
    change: Vec<f64>,
    feedback: Vec<[f64; 2]>,
    transitions: Vec<[f64; 2]>,
}

impl State<'_> {
    fn of(mesh: &Mesh) -> State<'_> {
        let input: Vec<f64> =
            mesh.cells.iter().map(|cell| f64::midpoint(cell.bounds[0], cell.bounds[1])).collect();
        let (mut sweep, mut costate) = (Sweep::default(), Costate::default());
        mesh.forward(&input, &mut sweep);
        mesh.backward(&input, &sweep, &mut costate);
        let gap = mesh.gap(&input, &costate);
        let of = |(slope, cell): (&f64, &Cell)| [slope, &-slope].map(|slope| slope.max(0.0) + cell.price);
        let duals = costate.gradient.iter().zip(&mesh.cells).map(of).collect();
        State { mesh, input, sweep, costate, duals, gap, sweeps: 2, newton: Newton::default() }
    }

    fn is_within(&self, options: &Options) -> bool {
        self.gap <= options.tolerance * self.sweep.cost
    }

    /// Mean of z_0 (u - u_0) and z_w (u_w - u) over the cells that are free.
    fn complementarity(&self) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for ((u, cell), [low, high]) in self.input.iter().zip(&self.mesh.cells).zip(&self.duals) {
            if !cell.is_fixed() {
                let room = inner_room(cell, *u);
                sum += low * room[0] + high * room[1];
                count += 2.0;
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// One step; false: none is possible, or it is lost in rounding.
    fn improve(&mut self) -> bool {
        let tau = CENTRE * self.complementarity();
        if tau == 0.0 {
            return false;
        }
        self.solve(tau);
        let (length, dual_length) = self.longest(tau);
        let cells = self.input.iter_mut().zip(&self.mesh.cells).zip(&mut self.duals).zip(&self.newton.change);
        for (((u, cell), duals), v) in cells {
            if cell.is_fixed() {
                continue;
            }
            let [low, high] = dual_changes(inner_room(cell, *u), *duals, *v, tau);
            duals[0] += dual_length * low;
            duals[1] += dual_length * high;
            *u = (*u + length * v).clamp(cell.bounds[0], cell.bounds[1]);
        }
        self.mesh.forward(&self.input, &mut self.sweep);
        self.mesh.backward(&self.input, &self.sweep, &mut self.costate);
        self.sweeps += 2;
        self.gap = self.mesh.gap(&self.input, &self.costate);
        self.gap.is_finite()
    }

    /// Equation (B3).
    fn solve(&mut self, tau: f64) {
        let mesh = self.mesh;
        let cells = self.input.len();
        let Newton { change, feedback, transitions } = &mut self.newton;
        change.resize(cells, 0.0);
        feedback.resize(cells, [0.0; 2]);
        transitions.resize(cells, [0.0; 2]);
        let (mut square, mut linear) = (0.0, 0.0);
        for cell in (0..cells).rev() {
            let (x, u, h) = (self.sweep.backlog[cell], self.input[cell], mesh.cells[cell].length);
            let Expansion { next: [by_backlog, by_input], curvature: [xx, xu, uu] } =
                mesh.expansion(h, [x, u], self.costate.costate[cell + 1]);
            transitions[cell] = [by_backlog, by_input];
            if mesh.cells[cell].is_fixed() {
                feedback[cell] = [0.0; 2];
                (square, linear) = (xx + by_backlog * by_backlog * square, by_backlog * linear);
                continue;
            }
            let ([low, high], [below, above]) = (self.duals[cell], inner_room(&mesh.cells[cell], u));
            let slope = h * (self.costate.gradient[cell] - tau / below + tau / above);
            let own = h * (low / below + high / above) + uu + by_input * by_input * square;
            let mixed = xu + by_backlog * by_input * square;
            let first = slope + by_input * linear;
            feedback[cell] = [-first / own, -mixed / own];
            linear = by_backlog * linear - mixed * first / own;
            square = xx + by_backlog * by_backlog * square - mixed * mixed / own;
        }
        let mut y = 0.0;
        for cell in 0..cells {
            let [first, second] = feedback[cell];
            change[cell] = first + second * y;
            y = transitions[cell][0] * y + transitions[cell][1] * change[cell];
        }
    }

    /// Longest steps of the input and of the duals that stay within their bounds.
    fn longest(&self, tau: f64) -> (f64, f64) {
        let (mut length, mut dual_length): (f64, f64) = (1.0, 1.0);
        let cells = self.input.iter().zip(&self.mesh.cells).zip(&self.duals).zip(&self.newton.change);
        for (((u, cell), duals), v) in cells {
            if cell.is_fixed() {
                continue;
            }
            let [below, above] = inner_room(cell, *u);
            let steps = if *v < 0.0 { -below / v } else { above / v.max(f64::MIN_POSITIVE) };
            length = length.min(TO_BOUNDARY * steps);
            for (dual, change) in duals.iter().zip(dual_changes([below, above], *duals, *v, tau)) {
                if change < 0.0 {
                    dual_length = dual_length.min(TO_BOUNDARY * dual / -change);
                }
            }
        }
        (length, dual_length)
    }
}

/// Second-order expansion of a cell by its first backlog x and its input u.
struct Expansion {
    /// Derivatives of the last backlog by x and u.
    next: [f64; 2],
    /// Second derivatives of its area and of lambda times its last backlog, by x x, x u and u u; positive semidefinite.
    curvature: [f64; 3],
}

impl Mesh {
    /// Of a cell of length h, with lambda at its end.
    fn expansion(&self, h: f64, [x, u]: [f64; 2], costate: f64) -> Expansion {
        let stages = self.stages(h, x, u);
        let slopes = stages.map(|x| self.queue.secant(x, x));
        // Derivatives of the stages by x and u, by which the rates have -g' times them, and 1 by u.
        let ahead = |part: f64, slope: f64, [by_x, by_u]: [f64; 2]| {
            [1.0 - part * slope * by_x, part * (1.0 - slope * by_u)]
        };
        let first = [1.0, 0.0];
        let second = ahead(h / 2.0, slopes[0], first);
        let third = ahead(h / 2.0, slopes[1], second);
        let fourth = ahead(h, slopes[2], third);
        let by = [first, second, third, fourth];
        let (mut next, mut curvature) = ([1.0, 0.0], [0.0; 3]);
        for place in 0..4 {
            let [by_x, by_u] = by[place];
            let rate = h * SHARES[place];
            next[0] -= rate * slopes[place] * by_x;
            next[1] += rate * (1.0 - slopes[place] * by_u);
        }
        // What a rate of each stage costs: only g in it is not linear.
        let costs = stage_costs(h, slopes, costate);
        for place in 0..4 {
            let [by_x, by_u] = by[place];
            let bend = costs[place].max(0.0) * 2.0 * slopes[place] / (self.queue.half + stages[place]);
            curvature[0] += bend * by_x * by_x;
            curvature[1] += bend * by_x * by_u;
            curvature[2] += bend * by_u * by_u;
        }
        Expansion { next, curvature }
    }
}

/// Distances of an input from its bounds, above 0 also where an input rounds to its bound.
fn inner_room(cell: &Cell, input: f64) -> [f64; 2] {
    let least = f64::EPSILON * (cell.bounds[1] - cell.bounds[0]);
    cell.room(input).map(|room| room.max(least))
}

/// Newton's changes of z_0 and z_w where the input changes by v.
fn dual_changes([below, above]: [f64; 2], [low, high]: [f64; 2], v: f64, tau: f64) -> [f64; 2] {
    [(tau - low * v) / below - low, (tau + high * v) / above - high]
}

/// tau, by the complementarity that is left: a tenth, so that most steps are nearly full ones. From 0.05 to 0.3 the number of
/// iterations on A and P is the same within three.
const CENTRE: f64 = 0.1;
/// Part of the way to the boundary that a step takes at most: inputs and multipliers stay above 0 (S. Wright, "Primal-Dual
/// Interior-Point Methods", 1997, has 0.9 to 0.9995).
const TO_BOUNDARY: f64 = 0.995;
