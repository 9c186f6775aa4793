//! The feedback of the long run: the same problem without an end.
//!
//! An input away from rest may cost as well: with eps (u - u_s)^2 added to the
//! integrand, the paper's penalty put about the singular input, the
//! Hamilton-Jacobi-Bellman equation of the long run,
//!
//! ```text
//! min over u of { x + R (w - u) + eps (u - u_s)^2 + V'(x) (u - g(x)) } = psi(x_s),     (2)
//! psi(x) = x + R (w - g(x))
//! ```
//!
//! has a closed form. Its minimum is at V' = R - 2 eps (u - u_s); put back, w goes
//! away and (u - g)^2 = (g - u_s)^2 + (psi(x) - psi(x_s)) / eps remains. The root
//! that leads towards x_s is the feedback
//!
//! ```text
//! u(x) = g - sgn(x - x_s) sqrt((g - u_s)^2 + (psi(x) - psi(x_s)) / eps)                (3)
//!      = g - (x - x_s) sqrt(s^2 + 1 / (eps (a + x))),
//! s = (g - u_s) / (x - x_s) = a mu / ((a + x) (a + x_s))
//! ```
//!
//! in its second form without a difference of near numbers, because by (1)
//! psi(x) - psi(x_s) = (x - x_s)^2 / (a + x). Near x_s it leads there with the time constant t_c,
//!
//! ```text
//! 1 / t_c^2 = 1 / R^2 + 1 / (eps (a + x_s)),   t_c < R                                 (4)
//! ```

use super::Queue;

/// The problem of a queue whose singular arc exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    queue: Queue,
    price: f64,
    rest: f64,
}

impl Problem {
    /// Where a packet turned away costs `price`, R in s; none where R is so small that the queue rests empty.
    pub fn new(queue: Queue, price: f64) -> Option<Problem> {
        let rest = queue.rest(price);
        (rest > 0.0).then_some(Problem { queue, price, rest })
    }

    /// The one that rests at `rest` packets, more than 0: equation (1) the other way, R = (a + x_s)^2 / (a mu).
    pub fn resting_at(queue: Queue, rest: f64) -> Problem {
        Problem { queue, price: 1.0 / queue.secant(rest, rest), rest }
    }

    /// The queue.
    pub fn queue(&self) -> Queue {
        self.queue
    }

    /// R, s.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// x_s, packets.
    pub fn rest(&self) -> f64 {
        self.rest
    }

    /// u_s, packets/s.
    pub fn rest_input(&self) -> f64 {
        self.queue.outflow(self.rest)
    }

    /// psi(x), what it costs a second to stay at x under the offered load `offered`, packets.
    pub fn cost_of_rest(&self, x: f64, offered: f64) -> f64 {
        x + self.price * (offered - self.queue.outflow(x))
    }

    /// Equation (4): the penalty eps, s^2/packet, of the time constant t_c; it is less than R.
    pub fn penalty(&self, time_constant: f64) -> f64 {
        let rate = |time: f64| 1.0 / (time * time);
        1.0 / ((self.queue.half + self.rest) * (rate(time_constant) - rate(self.price)))
    }

    /// Equation (3): the input at x under the penalty eps; not kept within the offered load.
    pub fn input(&self, x: f64, penalty: f64) -> f64 {
        let slope = self.queue.secant(x, self.rest);
        let root = (slope * slope + 1.0 / (penalty * (self.queue.half + x))).sqrt();
        self.queue.outflow(x) - (x - self.rest) * root
    }

    /// The input that leads from x to rest within `period` seconds: bang, singular, bang, in sampled time.
    pub fn deadbeat(&self, x: f64, period: f64) -> f64 {
        self.queue.outflow(x) + (self.rest - x) / period
    }
}
