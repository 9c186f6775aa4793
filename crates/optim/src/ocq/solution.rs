//! Exact optimum over a horizon.
//!
//! By the maximum principle (its conditions are sufficient here: [`super::Run::gap`]) with a constant load w, the
//! costate l ends at 0 < R, so the last arc has u = w and the Hamiltonian, which is constant, is x(t_f). On the
//! singular arc it is x_s + R (w - u_s). So a run with a singular arc ends at
//!
//! ```text
//! x_f = x_s + R (w - u_s)                                                              (4)
//! ```
//!
//! That of [`super::Stepped`] with one step has this structure. The closed form of its times is in the test below.

use super::stepped::ArcKind;
use super::{Instance, Piece, Run};
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
        let stepped = self.checked()?.stepped();
        let optimum = stepped.solve()?;
        let has = |kind| optimum.arcs.iter().any(|arc| arc.kind == kind);
        if self.offered == 0.0 {
            // u = 0 and u = w are one.
            let pieces = vec![Piece { input: 0.0, until: self.horizon }];
            let run = stepped.run(&pieces)?;
            return Ok(Solution { structure: Structure::All, pieces, run });
        }
        let structure = match (has(ArcKind::Singular), has(ArcKind::Lower)) {
            (true, _) => Structure::Singular,
            (false, true) => Structure::Switch,
            (false, false) => Structure::All,
        };
        Ok(Solution { structure, pieces: optimum.run.pieces().collect(), run: optimum.run })
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

#[cfg(test)]
mod tests {
    //! The closed form: with T1 from x0 to x_s under u = w (from below) or u = 0 (from above), and T3 from x_s to x_f of (4)
    //! under u = w,
    //!
    //! | x_s > 0, u_s < w, T1 + T3 < t_f | w or 0 until T1, u_s until t_f - T3, then w |
    //! |---|---|
    //! | otherwise, x0 <= x_s and x_s > 0 | w all the time |
    //! | otherwise | 0 until l = R, then w; w all the time where l(0) <= R already |
    //!
    //! In the last row l at the switch follows from the arc after it (A3), so the switch time is one root.

    use super::super::arc::Arc;
    use super::super::{Instance, Piece, Queue};
    use super::Structure;
    use crate::root;
    use proptest::prelude::*;
    use sojourn_units::math;

    fn closed_form(instance: &Instance) -> (Structure, Vec<Piece>) {
        match by_singular_arc(instance) {
            Some(pieces) => (Structure::Singular, pieces),
            None => without_singular_arc(instance),
        }
    }

    /// First row of the table; none where it does not apply.
    fn by_singular_arc(instance: &Instance) -> Option<Vec<Piece>> {
        let Instance { offered, queue, price, start, horizon } = *instance;
        let (x_s, input) = (instance.x_s(), instance.u_s());
        if x_s <= 0.0 || input >= offered {
            return None;
        }
        let toward = if start < x_s { offered } else { 0.0 };
        let first = Arc::leading(queue, toward, start, x_s)?.time();
        let end = x_s + price * (offered - input);
        let last = horizon - Arc::leading(queue, offered, x_s, end)?.time();
        let pieces = [
            Piece { input: toward, until: first },
            Piece { input, until: last },
            Piece { input: offered, until: horizon },
        ];
        (first < last).then(|| pieces[usize::from(first == 0.0)..].to_vec())
    }

    /// The other rows of the table.
    fn without_singular_arc(instance: &Instance) -> (Structure, Vec<Piece>) {
        let Instance { offered, horizon, start, .. } = *instance;
        let all = Piece { input: offered, until: horizon };
        let is_below = instance.x_s() > 0.0 && start <= instance.x_s();
        if is_below || offered == 0.0 || above(instance, 0.0) <= 0.0 {
            return (Structure::All, vec![all]);
        }
        let until = root::between(0.0, horizon, |time| above(instance, time));
        (Structure::Switch, vec![Piece { input: 0.0, until }, all])
    }

    /// l - R at the time `switch`, with u = 0 before it and u = w after it.
    fn above(instance: &Instance, switch: f64) -> f64 {
        let Instance { offered, queue, price, start, horizon } = *instance;
        let backlog = Arc::lasting(queue, 0.0, start, switch).end();
        Arc::lasting(queue, offered, backlog, horizon - switch).costate(0.0) - price
    }

    /// A valid instance, an order of magnitude or two in each number.
    fn any() -> impl Strategy<Value = Instance> {
        let log = |low: f64, high: f64| (math::ln(low)..math::ln(high)).prop_map(math::exp);
        (log(1.0, 1e3), log(0.2, 5.0), log(0.05, 20.0), log(0.1, 30.0), log(0.1, 30.0), log(0.02, 20.0))
            .prop_map(|(service, load, half, price, start, horizon)| {
                let busy = half / service;
                Instance {
                    offered: if load < 0.25 { 0.0 } else { load * service },
                    queue: Queue { service, half },
                    price: price * busy,
                    start: if start < 0.2 { 0.0 } else { start * half },
                    horizon: horizon * price * busy,
                }
            })
    }

    proptest! {
        #[test]
        fn the_optimum_is_the_closed_form(instance in any()) {
            let (structure, pieces) = closed_form(&instance);
            let found = instance.solve().unwrap();
            prop_assert_eq!(found.structure, structure);
            prop_assert_eq!(found.pieces.len(), pieces.len());
            for (one, other) in found.pieces.iter().zip(&pieces) {
                prop_assert!((one.input - other.input).abs() <= 1e-12 * instance.offered, "{one:?} {other:?}");
                prop_assert!((one.until - other.until).abs() < 1e-9 * instance.horizon, "{one:?} {other:?}");
            }
            let closed = instance.run(&pieces).unwrap();
            prop_assert!((found.cost() - closed.cost()).abs() <= 1e-11 * closed.cost());
        }
    }
}
