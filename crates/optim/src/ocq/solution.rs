//! The optimum over a horizon, exactly.
//!
//! By the maximum principle (its conditions are sufficient here: [`super::Run::gap`]) with a load w that stays the
//! same, the costate l ends at 0 < R, so the last arc has u = w and the Hamiltonian, which is constant, is x(t_f).
//! On the singular arc it is x_s + R (w - u_s). So a run that has rested ends at
//!
//! ```text
//! x_f = x_s + R (w - u_s)                                                             (12)
//! ```
//!
//! With T1 from x0 to x_s under all (from below) or nothing (from above), and T3 from x_s to x_f under all:
//!
//! | x_s > 0, u_s < w, T1 + T3 < t_f | w or 0 until T1, u_s until t_f - T3, then w |
//! |---|---|
//! | otherwise, x0 <= x_s | w all the time |
//! | otherwise, x0 > x_s | 0 until l = R, then w; w all the time where l(0) <= R already |
//!
//! In the last row l at the switch follows from the arc after it (7), so the switch time is one root.

use super::arc::Arc;
use super::{Instance, Piece, Run};
use crate::root;
use sojourn_units::Fault;

/// The optimum of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Which arcs it has.
    pub structure: Structure,
    /// Its input.
    pub pieces: Vec<Piece>,
    /// What it does.
    pub run: Run,
}

/// Which arcs an optimum has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// To rest, at rest, and all in at the end.
    Singular,
    /// Nothing, then all.
    Switch,
    /// All, all the time.
    All,
}

impl Instance {
    /// The optimum.
    pub fn solve(&self) -> Result<Solution, Fault> {
        let instance = self.checked()?;
        let (structure, pieces) = match instance.by_way_of_rest() {
            Some(pieces) => (Structure::Singular, pieces),
            None => instance.without_rest(),
        };
        let run = instance.run(&pieces)?;
        Ok(Solution { structure, pieces, run })
    }

    /// The first row of the table; none where it is not that.
    fn by_way_of_rest(&self) -> Option<Vec<Piece>> {
        let (rest, input) = (self.rest(), self.rest_input());
        if rest <= 0.0 || input >= self.offered {
            return None;
        }
        let toward = if self.start < rest { self.offered } else { 0.0 };
        let first = Arc::leading(self.queue, toward, self.start, rest)?.time();
        // Equation (12).
        let end = rest + self.price * (self.offered - input);
        let last = self.horizon - Arc::leading(self.queue, self.offered, rest, end)?.time();
        let pieces = [
            Piece { input: toward, until: first },
            Piece { input, until: last },
            Piece { input: self.offered, until: self.horizon },
        ];
        let begin = usize::from(first == 0.0);
        (first < last).then(|| pieces[begin..].to_vec())
    }

    /// The other rows.
    fn without_rest(&self) -> (Structure, Vec<Piece>) {
        let all = Piece { input: self.offered, until: self.horizon };
        if self.start <= self.rest() || self.offered == 0.0 || self.above(0.0) <= 0.0 {
            return (Structure::All, vec![all]);
        }
        let until = root::between(0.0, self.horizon, |time| self.above(time));
        (Structure::Switch, vec![Piece { input: 0.0, until }, all])
    }

    /// l - R at the time `switch`, where nothing is let in before it and all after it.
    fn above(&self, switch: f64) -> f64 {
        let backlog = Arc::lasting(self.queue, 0.0, self.start, switch).end();
        Arc::lasting(self.queue, self.offered, backlog, self.horizon - switch).costate(0.0) - self.price
    }
}

impl Solution {
    /// J, the least there is, packets s.
    pub fn cost(&self) -> f64 {
        self.run.cost()
    }

    /// When the input changes, s.
    pub fn switch_times(&self) -> Vec<f64> {
        self.pieces[1..].iter().zip(&self.pieces).map(|(_, before)| before.until).collect()
    }

    /// The inputs one after the other, packets/s.
    pub fn inputs(&self) -> Vec<f64> {
        self.pieces.iter().map(|piece| piece.input).collect()
    }
}
