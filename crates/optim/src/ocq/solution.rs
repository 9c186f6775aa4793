//! Exact optimum over a horizon.
//!
//! By the maximum principle (its conditions are sufficient here: [`super::Run::gap`]) with a constant load w, the
//! costate l ends at 0 < R, so the last arc has u = w and the Hamiltonian, which is constant, is x(t_f). On the
//! singular arc it is x_s + R (w - u_s). So a run with a singular arc ends at
//!
//! ```text
//! x_f = x_s + R (w - u_s)                                                             (12)
//! ```
//!
//! With T1 from x0 to x_s under u = w (from below) or u = 0 (from above), and T3 from x_s to x_f under u = w:
//!
//! | x_s > 0, u_s < w, T1 + T3 < t_f | w or 0 until T1, u_s until t_f - T3, then w |
//! |---|---|
//! | otherwise, x0 <= x_s and x_s > 0 | w all the time |
//! | otherwise | 0 until l = R, then w; w all the time where l(0) <= R already |
//!
//! In the last row l at the switch follows from the arc after it (7), so the switch time is one root.

use super::arc::Arc;
use super::{Instance, Piece, Run};
use crate::root;
use sojourn_params::InputError;

/// The optimum of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Sequence of arcs.
    pub structure: Structure,
    /// Input.
    pub pieces: Vec<Piece>,
    /// Run under that input.
    pub run: Run,
}

/// Sequence of arcs of an optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// To x_s, at x_s, and u = w at the end.
    Singular,
    /// u = 0, then u = w.
    Switch,
    /// u = w all the time.
    All,
}

impl Instance {
    /// The optimum.
    pub fn solve(&self) -> Result<Solution, InputError> {
        let instance = self.checked()?;
        let (structure, pieces) = match instance.by_singular_arc() {
            Some(pieces) => (Structure::Singular, pieces),
            None => instance.without_singular_arc(),
        };
        let run = instance.run(&pieces)?;
        Ok(Solution { structure, pieces, run })
    }

    /// First row of the table; none where it does not apply.
    fn by_singular_arc(&self) -> Option<Vec<Piece>> {
        let (x_s, input) = (self.x_s(), self.u_s());
        if x_s <= 0.0 || input >= self.offered {
            return None;
        }
        let toward = if self.start < x_s { self.offered } else { 0.0 };
        let first = Arc::leading(self.queue, toward, self.start, x_s)?.time();
        // Equation (12).
        let end = x_s + self.price * (self.offered - input);
        let last = self.horizon - Arc::leading(self.queue, self.offered, x_s, end)?.time();
        let pieces = [
            Piece { input: toward, until: first },
            Piece { input, until: last },
            Piece { input: self.offered, until: self.horizon },
        ];
        let begin = usize::from(first == 0.0);
        (first < last).then(|| pieces[begin..].to_vec())
    }

    /// The other rows of the table.
    fn without_singular_arc(&self) -> (Structure, Vec<Piece>) {
        let all = Piece { input: self.offered, until: self.horizon };
        let is_below = self.x_s() > 0.0 && self.start <= self.x_s();
        if is_below || self.offered == 0.0 || self.above(0.0) <= 0.0 {
            return (Structure::All, vec![all]);
        }
        let until = root::between(0.0, self.horizon, |time| self.above(time));
        (Structure::Switch, vec![Piece { input: 0.0, until }, all])
    }

    /// l - R at the time `switch`, with u = 0 before it and u = w after it.
    fn above(&self, switch: f64) -> f64 {
        let backlog = Arc::lasting(self.queue, 0.0, self.start, switch).end();
        Arc::lasting(self.queue, self.offered, backlog, self.horizon - switch).costate(0.0) - self.price
    }
}

impl Solution {
    /// J of the optimum, packets s.
    pub fn cost(&self) -> f64 {
        self.run.cost()
    }

    /// Times at which the input changes, s.
    pub fn switch_times(&self) -> Vec<f64> {
        self.pieces.iter().take(self.pieces.len() - 1).map(|piece| piece.until).collect()
    }

    /// Inputs of the pieces, packets/s.
    pub fn inputs(&self) -> Vec<f64> {
        self.pieces.iter().map(|piece| piece.input).collect()
    }
}
