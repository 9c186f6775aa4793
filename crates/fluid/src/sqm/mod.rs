//! SQM: fair queues that are tuned by prices.
//!
//! J. Ye, K. Cai, D. Lin, J. Li, J. He, J. C. S. Lui, "A Control-Theoretic and Online Learning Approach to
//! Self-Tuning Queue Management", 2022; equation numbers are that paper's. Each flow i has a queue of its own,
//! a weighted fair scheduler shares the link, and each queue makes a price of its length:
//!
//! ```text
//! x_i' = k_i (1 - p_i(t - D_i) x_i^alpha / w_i)                                (2)
//! q_i' = x_i - C_i,   0 <= q_i                                                 (3)
//! p_i  = [(q_i - beta_i) / sigma_i]^+                                          (4)
//! C_i  = C Q_i / sum of Q                                                      (5)
//! ```
//!
//! The paper has w = 1 and k = 1 / D^2 for Reno, whose price at rest is then x^-2, 7e-5 at 120 packets/s. What Reno
//! does is x' = 1 / D^2 - p x^2 / 2, which is w = 2 / D^2: p at rest is 2 / (x D)^2, 0.014 at 0.1 s. The
//! sigma of a margin scales with 1 / w, and the queue sigma p that it leads to stays as it is.
//!
//! - [`equilibrium`]: where it rests, and how many such places there are (theorems 1 and 2);
//! - [`bound`]: theorem 3 in closed form;
//! - [`margin`]: the loop of one queue, its margin with the exact delay and the sigma of a margin; the exact limits
//!   of the model and of the paper's linearisation;
//! - [`model`]: the equations themselves.

pub mod bound;
pub mod equilibrium;
pub mod margin;
pub mod model;

use sojourn_units::{Fault, math};

/// A flow at a link, with a queue of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// k, how fast it takes what is free, packets/s^2; 1 / D^2 for Reno.
    pub gain: f64,
    /// w, the weight of its utility; 1 in the paper, 2 / D^2 for Reno.
    pub weight: f64,
    /// D, its round-trip time, s.
    pub delay: f64,
    /// Q, its share of the link in proportion.
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

/// How a queue's length becomes its price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// beta, the length from which on there is one, packets.
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
    /// The link itself, where its numbers are legal.
    pub fn checked(self) -> Result<Link, Fault> {
        positive("capacity", self.capacity)?;
        positive("alpha", self.alpha)?;
        if self.flows.is_empty() {
            return Err(Fault::new("flows", "there are none; legal: one or more"));
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let Flow { gain, weight, delay, quantum } = *flow;
            for (key, value) in [("gain", gain), ("weight", weight), ("delay", delay), ("quantum", quantum)] {
                positive(&format!("flows[{index}].{key}"), value)?;
            }
        }
        Ok(self)
    }

    /// Equation (5): C_i, packets/s, which is also x_i at rest (7).
    pub fn rates(&self) -> Vec<f64> {
        let sum: f64 = self.flows.iter().map(|flow| flow.quantum).sum();
        self.flows.iter().map(|flow| flow.quantum / sum * self.capacity).collect()
    }

    /// k_i x_i^alpha / w_i at rest, packets/s^2: how much sooner x_i grows with a price lower by 1.
    pub fn pulls(&self) -> Vec<f64> {
        let pull = |(flow, x): (&Flow, f64)| flow.gain * math::pow(x, self.alpha) / flow.weight;
        self.flows.iter().zip(self.rates()).map(pull).collect()
    }
}

fn positive(key: &str, value: f64) -> Result<(), Fault> {
    if value > 0.0 && value <= LARGEST {
        return Ok(());
    }
    Err(Fault::new(key, format!("{value} is not legal; legal: more than 0, at most {LARGEST:e}")))
}

/// Beyond it, powers leave the range of numbers.
const LARGEST: f64 = 1e12;
