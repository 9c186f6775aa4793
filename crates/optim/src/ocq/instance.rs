//! A problem with its parameters.

use super::{Point, Queue};
use sojourn_params::InputError;

/// A queue, a constant load, and a horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// w, offered load, packets/s.
    pub offered: f64,
    /// mu and a.
    pub queue: Queue,
    /// R, cost of a rejected packet, s.
    pub price: f64,
    /// x0, initial backlog, packets.
    pub start: f64,
    /// t_f, s.
    pub horizon: f64,
}

impl Instance {
    /// The instance itself, if its numbers are valid.
    pub fn checked(self) -> Result<Instance, InputError> {
        for (key, value) in
            [("mu", self.queue.service), ("a", self.queue.half), ("R", self.price), ("t_f", self.horizon)]
        {
            check_positive(key, value)?;
        }
        check_not_negative("w", self.offered)?;
        check_not_negative("x0", self.start)?;
        Ok(self)
    }

    /// Equation (3): x_s, packets; not above 0 where the optimum is an empty queue, and no singular arc exists.
    pub fn x_s(&self) -> f64 {
        self.queue.x_s(self.price)
    }

    /// Equation (3): u_s = mu - sqrt(a mu / R), packets/s. It is not admissible above w or below 0.
    pub fn u_s(&self) -> f64 {
        self.queue.outflow(self.x_s())
    }

    /// H = x + R (w - u) + lambda (u - g(x)), packets. It is constant along an optimal run.
    pub fn hamiltonian(&self, point: &Point) -> f64 {
        let lost = self.price * (self.offered - point.input);
        point.backlog + lost + point.costate * (point.input - self.queue.outflow(point.backlog))
    }
}

/// Refuses a number that is not above 0, or too large.
pub(super) fn check_positive(key: &str, value: f64) -> Result<(), InputError> {
    check(key, value, &format!("more than 0, at most {LARGEST:e}"), value > 0.0)
}

/// Refuses a number that is negative, or too large.
pub(super) fn check_not_negative(key: &str, value: f64) -> Result<(), InputError> {
    check(key, value, &format!("0 to {LARGEST:e}"), value >= 0.0)
}

fn check(key: &str, value: f64, rule: &str, is: bool) -> Result<(), InputError> {
    if is && value <= LARGEST {
        return Ok(());
    }
    Err(InputError::out_of_range(value, rule).at(key))
}

/// Largest number whose squared products stay finite.
const LARGEST: f64 = 1e12;
