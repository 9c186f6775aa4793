//! Theorem 3: a closed-form bound on the prices under which the paper's linear model is stable.
//!
//! That model, with a_i = alpha k_i / x_i, b_i = 1 / D_i and kappa_i = k_i x_i^alpha / (w_i sigma_i), is
//!
//! ```text
//! dx' = -a dx - kappa dq(t - D)                                                (15)
//! dq' = dx - b dq                                                              (16)
//! ```
//!
//! The flows are not coupled, so the Lyapunov equation F'A + AF = -I (21) is one of 2 by 2 for each:
//!
//! ```text
//! A22 = 1 / (2 b),  A12 = A22 / (a + b),  A11 = (1/2 + A12) / a                (i)
//! eigenvalues m -+ sqrt(((A11 - A22) / 2)^2 + A12^2),  m = (A11 + A22) / 2
//! ```
//!
//! ||A|| is the greatest eigenvalue of all, J the root of the greatest by the least, and the model is stable if for
//! some rho > 1
//!
//! ```text
//! sum over i of kappa_i < 1 / (2 rho J ||A||)                                  (23)
//! ```
//!
//! Since nothing couples the flows, (23) holds for each separately too, with its own A and no sum. Two remarks: A
//! mixes packets with packets/s, so the bound changes with the unit of time; and the term -b dq is not in equation
//! (3), whose linearisation is dq' = dx. [`super::margin`] compares the bound with the model.

use super::{Flow, Link};

/// The Lyapunov matrix of one flow, symmetric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// A11, of the rate.
    pub rate: f64,
    /// A12.
    pub cross: f64,
    /// A22, of the queue.
    pub queue: f64,
}

/// Eigenvalues of A that enter (23).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spectrum {
    /// ||A||, the greatest eigenvalue.
    pub greatest: f64,
    /// The least one.
    pub least: f64,
}

impl Block {
    /// Equation (i), of a flow with the rate `rate` at equilibrium.
    pub fn new(flow: &Flow, rate: f64, alpha: f64) -> Block {
        let (a, b) = (alpha * flow.gain / rate, 1.0 / flow.delay);
        let queue = 1.0 / (2.0 * b);
        let cross = queue / (a + b);
        Block { rate: (0.5 + cross) / a, cross, queue }
    }

    /// Eigenvalues of the block.
    pub fn spectrum(&self) -> Spectrum {
        let middle = f64::midpoint(self.rate, self.queue);
        let away = (self.rate - self.queue) / 2.0;
        let greatest = middle + (away * away + self.cross * self.cross).sqrt();
        // Their product is the determinant: no cancellation.
        let least = (self.rate * self.queue - self.cross * self.cross) / greatest;
        Spectrum { greatest, least }
    }
}

impl Spectrum {
    /// J, the root of the condition number.
    pub fn root_of_condition(&self) -> f64 {
        (self.greatest / self.least).sqrt()
    }

    /// The right side of (23), packets/s^2 per packet.
    pub fn bound(&self, rho: f64) -> f64 {
        1.0 / (2.0 * rho * self.root_of_condition() * self.greatest)
    }
}

impl Link {
    /// A, a block for each flow.
    pub fn blocks(&self) -> Vec<Block> {
        let block = |(flow, rate): (&Flow, f64)| Block::new(flow, rate, self.alpha);
        self.flows.iter().zip(self.rates()).map(block).collect()
    }

    /// Spectrum of the whole of A.
    pub fn spectrum(&self) -> Spectrum {
        let all = self.blocks().into_iter().map(|block| block.spectrum());
        let none = Spectrum { greatest: 0.0, least: f64::INFINITY };
        all.fold(none, |a, b| Spectrum { greatest: a.greatest.max(b.greatest), least: a.least.min(b.least) })
    }

    /// sigma of each flow at equality in (23), each having an equal part of its right side.
    pub fn scales_of_the_sum(&self, rho: f64) -> Vec<f64> {
        let part = self.spectrum().bound(rho) / self.flows.len() as f64;
        self.price_gains().into_iter().map(|price_gain| price_gain / part).collect()
    }

    /// sigma of each flow at equality in (23) for it alone.
    pub fn scales_by_flow(&self, rho: f64) -> Vec<f64> {
        let bounds = self.blocks().into_iter().map(|block| block.spectrum().bound(rho));
        self.price_gains().into_iter().zip(bounds).map(|(price_gain, bound)| price_gain / bound).collect()
    }
}
