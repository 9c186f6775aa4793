//! One problem, with its numbers.

use super::{Point, Queue};
use sojourn_units::Fault;

/// A queue, a load that stays the same, and a horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// w, what is offered, packets/s.
    pub offered: f64,
    /// mu and a.
    pub queue: Queue,
    /// R, what a packet turned away costs, s.
    pub price: f64,
    /// x0, the backlog at first, packets.
    pub start: f64,
    /// t_f, s.
    pub horizon: f64,
}

impl Instance {
    /// The instance itself, where its numbers are legal.
    pub fn checked(self) -> Result<Instance, Fault> {
        let positive = format!("more than 0, at most {LARGEST:e}");
        for (key, value) in
            [("mu", self.queue.service), ("a", self.queue.half), ("R", self.price), ("t_f", self.horizon)]
        {
            legal(key, value, &positive, value > 0.0)?;
        }
        let natural = format!("0 to {LARGEST:e}");
        legal("w", self.offered, &natural, self.offered >= 0.0)?;
        legal("x0", self.start, &natural, self.start >= 0.0)?;
        Ok(self)
    }

    /// Equation (1): x_s, packets; not above 0 where the queue would rest empty, and no singular arc exists.
    pub fn rest(&self) -> f64 {
        self.queue.rest(self.price)
    }

    /// Equation (1): u_s = mu - sqrt(a mu / R), packets/s. It is no input where it is above w or below 0.
    pub fn rest_input(&self) -> f64 {
        self.queue.outflow(self.rest())
    }

    /// H = x + R (w - u) + lambda (u - g(x)), packets. On an optimal run it is the same at all times.
    pub fn hamiltonian(&self, point: &Point) -> f64 {
        let lost = self.price * (self.offered - point.input);
        point.backlog + lost + point.costate * (point.input - self.queue.outflow(point.backlog))
    }
}

fn legal(key: &str, value: f64, rule: &str, is: bool) -> Result<(), Fault> {
    if is && value <= LARGEST {
        return Ok(());
    }
    Err(Fault::new(key, format!("{value} is not legal; legal: {rule}")))
}

/// Beyond it, squares of products leave the range of numbers.
const LARGEST: f64 = 1e12;
