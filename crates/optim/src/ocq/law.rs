//! Feedback over an infinite horizon; equations as on the page of the law, docs/laws/fb_ocq.md.
//!
//! An input away from u_s may have a cost too: with eps (u - u_s)^2 added to the integrand, the paper's penalty about
//! the singular input, the Hamilton-Jacobi-Bellman equation of the infinite horizon,
//!
//! ```text
//! min over u of { x + R (w - u) + eps (u - u_s)^2 + V'(x) (u - g(x)) } = psi(x_s),     (4)
//! psi(x) = x + R (w - g(x))
//! ```
//!
//! has a closed form. Its minimum is at V' = R - 2 eps (u - u_s); substituting it eliminates w, and (u - g)^2 = (g -
//! u_s)^2 + (psi(x) - psi(x_s)) / eps remains. The root that leads towards x_s is the feedback
//!
//! ```text
//! u(x) = g - sgn(x - x_s) sqrt((g - u_s)^2 + (psi(x) - psi(x_s)) / eps)                (5)
//!      = g - (x - x_s) sqrt(s^2 + 1 / (eps (a + x))),
//! s = (g - u_s) / (x - x_s) = a mu / ((a + x) (a + x_s))
//! ```
//!
//! whose second form has no cancellation, because by (2) psi(x) - psi(x_s) = (x - x_s)^2 / (a + x). Near x_s it
//! converges with the time constant t_c,
//!
//! ```text
//! 1 / t_c^2 = 1 / R^2 + 1 / (eps (a + x_s)),   t_c < R                                 (6)
//! ```

use super::Queue;

/// The problem of a queue whose singular arc exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    queue: Queue,
    price: f64,
    x_s: f64,
}

impl Problem {
    /// Problem with a cost of `price` per rejected packet, R in s; none where R is so small that the optimum is an
    /// empty queue.
    pub fn new(queue: Queue, price: f64) -> Option<Problem> {
        let x_s = queue.x_s(price);
        (x_s > 0.0).then_some(Problem { queue, price, x_s })
    }

    /// Problem with this x_s, packets, more than 0: equation (2) solved for R = (a + x_s)^2 / (a mu).
    pub fn with_x_s(queue: Queue, x_s: f64) -> Problem {
        Problem { queue, price: 1.0 / queue.secant(x_s, x_s), x_s }
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
    pub fn x_s(&self) -> f64 {
        self.x_s
    }

    /// u_s, packets/s.
    pub fn u_s(&self) -> f64 {
        self.queue.outflow(self.x_s)
    }

    /// psi(x), cost per second of staying at x under the offered load `offered`, packets.
    pub fn psi(&self, x: f64, offered: f64) -> f64 {
        x + self.price * (offered - self.queue.outflow(x))
    }

    /// Equation (6): the penalty eps, s^2/packet, of the time constant t_c; it is less than R.
    pub fn penalty(&self, time_constant: f64) -> f64 {
        let rate = |time: f64| 1.0 / (time * time);
        1.0 / ((self.queue.half + self.x_s) * (rate(time_constant) - rate(self.price)))
    }

    /// Equation (5): input at x under the penalty eps, not limited to the offered load.
    pub fn input(&self, x: f64, penalty: f64) -> f64 {
        let slope = self.queue.secant(x, self.x_s);
        let root = (slope * slope + 1.0 / (penalty * (self.queue.half + x))).sqrt();
        self.queue.outflow(x) - (x - self.x_s) * root
    }

    /// Deadbeat input from x to x_s within `period` seconds: bang, singular, bang, in sampled time; up to x_s at least u_s,
    /// since more than x_s may leave within a long period.
    pub fn deadbeat(&self, x: f64, period: f64) -> f64 {
        let input = self.queue.outflow(x) + (self.x_s - x) / period;
        if x <= self.x_s { input.max(self.u_s()) } else { input }
    }
}
