//! SQM: fair queues that are tuned by prices.
//!
//! J. Ye, K. Cai, D. Lin, J. Li, J. He, J. C. S. Lui, "A Control-Theoretic and Online Learning Approach to Self-Tuning
//! Queue Management", 2022; equation numbers are that paper's. Each flow i has its own queue, a weighted fair
//! scheduler shares the link, and each queue derives a price from its length:
//!
//! ```text
//! x_i' = k_i (1 - p_i(t - D_i) x_i^alpha / w_i)                                (2)
//! q_i' = x_i - C_i,   0 <= q_i                                                 (3)
//! p_i  = [(q_i - beta_i) / sigma_i]^+                                          (4)
//! C_i  = C Q_i / sum of Q                                                      (5)
//! ```
//!
//! The paper has w = 1 and k = 1 / D^2 for Reno, whose equilibrium price is then x^-2, 7e-5 at 120 packets/s. Reno
//! itself is x' = 1 / D^2 - p x^2 / 2, which is w = 2 / D^2: p at equilibrium is 2 / (x D)^2, 0.014 at 0.1 s. The
//! sigma of a margin scales with 1 / w, and the resulting queue sigma p does not change.
//!
//! - [`equilibrium`]: the equilibria and their number (theorems 1 and 2);
//! - [`bound`]: theorem 3 in closed form;
//! - [`margin`]: the loop of one queue, its margin with the exact delay and the sigma of a margin; the exact limits
//!   of the model and of the paper's linearisation.

pub mod bound;
pub mod equilibrium;
pub mod margin;

use sojourn_params::{ErrorKind, InputError};
use sojourn_units::math;

/// A flow at a link, with its own queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// k, the gain of its rate, packets/s^2; 1 / D^2 for Reno.
    pub gain: f64,
    /// w, the weight of its utility; 1 in the paper, 2 / D^2 for Reno.
    pub weight: f64,
    /// D, its round-trip time, s.
    pub delay: f64,
    /// Q, its weight in the scheduler.
    pub quantum: f64,
}

/// A link and its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// C, packets/s.
    pub capacity: f64,
    /// alpha of the flows' utility: 1 for FAST and Vegas, 2 for Reno.
    pub alpha: f64,
    /// The flows.
    pub flows: Vec<Flow>,
}

/// Price of a queue as a function of its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// beta, the length above which there is a price, packets.
    pub target: f64,
    /// sigma, packets for a price of 1.
    pub scale: f64,
}

impl Flow {
    /// Reno: k = 1 / D^2, with w as in the paper.
    pub fn reno(delay: f64, quantum: f64) -> Flow {
        Flow { gain: 1.0 / (delay * delay), weight: 1.0, delay, quantum }
    }
}

impl Link {
    /// The link itself, if its numbers are valid.
    pub fn checked(self) -> Result<Link, InputError> {
        positive("capacity", self.capacity)?;
        positive("alpha", self.alpha)?;
        if self.flows.is_empty() {
            return Err(InputError::new(ErrorKind::Missing, "there are none", "one or more").at("flows"));
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let Flow { gain, weight, delay, quantum } = *flow;
            for (key, value) in [("gain", gain), ("weight", weight), ("delay", delay), ("quantum", quantum)] {
                positive(&format!("flows[{index}].{key}"), value)?;
            }
        }
        Ok(self)
    }

    /// Equation (5): C_i, packets/s, which is also x_i at equilibrium (7).
    pub fn rates(&self) -> Vec<f64> {
        let sum: f64 = self.flows.iter().map(|flow| flow.quantum).sum();
        self.flows.iter().map(|flow| flow.quantum / sum * self.capacity).collect()
    }

    /// k_i x_i^alpha / w_i at equilibrium, packets/s^2: the acceleration of x_i per unit of price.
    pub fn price_gains(&self) -> Vec<f64> {
        let pull = |(flow, x): (&Flow, f64)| flow.gain * math::pow(x, self.alpha) / flow.weight;
        self.flows.iter().zip(self.rates()).map(pull).collect()
    }
}

/// Refuses a number that is not above 0, or so great that its powers are not finite.
pub fn positive(key: &str, value: f64) -> Result<(), InputError> {
    if value > 0.0 && value <= LARGEST {
        return Ok(());
    }
    Err(InputError::out_of_range(value, format!("more than 0, at most {LARGEST:e}")).at(key))
}

/// Largest number whose powers stay finite.
const LARGEST: f64 = 1e12;
