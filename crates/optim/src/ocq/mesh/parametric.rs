//! The paper's third rule for a step: path-following in t (equations (26) to (35) of the paper, after J. Guddat, F. Guerra
//! Vazquez, H. T. Jongen, "Parametric Optimization", 1990).
//!
//! The change du of the input minimises, at each time t, the augmented Hamiltonian within the bounds:
//!
//! ```text
//! min H_u(t) du + beta du^2,   g_0 = u_0 - u(t) - du <= 0,   g_w = u(t) + du - u_w <= 0               (B4)
//! ```
//!
//! With a set of active constraints fixed, the conditions of Karush, Kuhn and Tucker are equations F(v, t) = 0 for v = (du,
//! multiplier). A predictor carries v from one time to the next, Newton's method corrects it, and the set changes where a
//! multiplier or a constraint changes its sign.
//!
//! **Here F is linear in v, so one Newton step solves it from any v**, the prediction included, and (B4) has one minimum, as beta
//! is above 0. So the path is that of (B1), the clip, and following it costs more than computing it at each time anew.

use super::{Cell, Mesh};

/// A path followed, and its course.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// u + du in each cell, packets/s.
    pub input: Vec<f64>,
    /// Newton steps.
    pub corrections: u32,
    /// Changes of the active set.
    pub changes: u32,
}

/// The active constraint; two cannot be, unless the bounds are one.
#[derive(Clone, Copy, PartialEq)]
enum Active {
    None,
    Lower,
    Upper,
}

impl Mesh {
    /// Follows the minimum of (B4) along the cells of an input with this gradient.
    pub fn follow(&self, input: &[f64], gradient: &[f64], beta: f64) -> Followed {
        let mut followed = Followed { input: Vec::with_capacity(input.len()), corrections: 0, changes: 0 };
        let mut active = Active::None;
        // At first du is 0, as in the paper.
        let mut change = 0.0;
        let mut before = gradient.first().copied().unwrap_or_default();
        for (cell, (u, slope)) in self.cells.iter().zip(input.iter().zip(gradient)) {
            let at = Conditions { slope: *slope, beta, room: cell.room(*u) };
            if active == Active::None {
                change += (before - slope) / (2.0 * beta);
            }
            loop {
                change = at.corrected(active, change);
                followed.corrections += 1;
                let next = at.next(active, change);
                if next == active {
                    break;
                }
                active = next;
                followed.changes += 1;
            }
            before = *slope;
            followed.input.push(within(cell, u + change));
        }
        followed
    }
}

/// F at one time.
struct Conditions {
    slope: f64,
    beta: f64,
    room: [f64; 2],
}

impl Conditions {
    /// One Newton step on F with an active set.
    fn corrected(&self, active: Active, change: f64) -> f64 {
        match active {
            Active::None => change - (self.slope + 2.0 * self.beta * change) / (2.0 * self.beta),
            Active::Lower => -self.room[0],
            Active::Upper => self.room[1],
        }
    }

    /// The active set that follows: without a constraint of a negative multiplier, with one that is violated.
    fn next(&self, active: Active, change: f64) -> Active {
        let stationary = self.slope + 2.0 * self.beta * change;
        match active {
            Active::Lower if stationary < 0.0 => Active::None,
            Active::Upper if stationary > 0.0 => Active::None,
            Active::None if change < -self.room[0] => Active::Lower,
            Active::None if change > self.room[1] => Active::Upper,
            other => other,
        }
    }
}

fn within(cell: &Cell, input: f64) -> f64 {
    input.clamp(cell.bounds[0], cell.bounds[1])
}
