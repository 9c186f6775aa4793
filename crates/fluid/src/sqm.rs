//! SQM's flows and queues (`sojourn_optim::sqm`) as delay differential equations, and the loop of a queue as one of
//! [`crate::linear`].
//!
//! Values are x_1 ... x_n, then q_1 ... q_n. Three events bend the right-hand side: a queue runs empty, an empty one
//! is offered more than it sends, and a delayed price becomes positive or 0.

use crate::dde::{History, System};
use crate::linear::complex::{Complex64, exp};
use crate::linear::loops::{Fraction, Loop};
use sojourn_optim::sqm::margin::QueueLoop;
use sojourn_optim::sqm::{Flow, Link, Price, positive};
use sojourn_params::InputError;
use sojourn_units::math;

/// A link, its flows and their prices, for [`crate::dde::Integrator`].
#[derive(Clone, Debug)]
pub struct Dynamics {
    alpha: f64,
    lanes: Vec<Lane>,
}

/// A flow and its queue.
#[derive(Clone, Copy, Debug)]
struct Lane {
    flow: Flow,
    price: Price,
    /// C_i, packets/s.
    capacity: f64,
    /// The queue is empty and stays so.
    empty: bool,
    /// The price that arrives at the flow now is above 0.
    priced: bool,
    /// Step of the delayed value found last.
    hint: usize,
}

impl Dynamics {
    /// The model of `link`, a price for each flow, and its initial values: `rate` for each flow, empty queues.
    pub fn new(link: &Link, prices: &[Price], rate: f64) -> Result<(Dynamics, Vec<f64>), InputError> {
        let link = link.clone().checked()?;
        let count = link.flows.len();
        if prices.len() != count {
            let expected = format!("one a flow, {count}");
            return Err(InputError::conflict(prices.len(), "are given", expected).at("prices"));
        }
        for (index, price) in prices.iter().enumerate() {
            positive(&format!("prices[{index}].scale"), price.scale)?;
            if !price.target.is_finite() {
                let key = format!("prices[{index}].target");
                return Err(InputError::out_of_range(price.target, "a number").at(&key));
            }
        }
        positive("rate", rate)?;
        let lane = |((&flow, capacity), &price): ((&Flow, f64), &Price)| Lane {
            flow,
            price,
            capacity,
            empty: rate < capacity,
            priced: price.target < 0.0,
            hint: 0,
        };
        let lanes = link.flows.iter().zip(link.rates()).zip(prices).map(lane).collect();
        let start = [vec![rate; count], vec![0.0; count]].concat();
        Ok((Dynamics { alpha: link.alpha, lanes }, start))
    }

    /// Excess of a flow's queue over beta one round trip ago, packets.
    fn excess(&mut self, index: usize, t: f64, past: &History) -> f64 {
        let place = self.lanes.len() + index;
        let lane = &mut self.lanes[index];
        past.at(t - lane.flow.delay, &mut lane.hint).value(place) - lane.price.target
    }
}

impl System for Dynamics {
    fn width(&self) -> usize {
        2 * self.lanes.len()
    }

    fn slope(&mut self, t: f64, y: &[f64], past: &History, out: &mut [f64]) {
        let count = self.lanes.len();
        for index in 0..count {
            let excess = self.excess(index, t, past);
            let Lane { flow, price, capacity, empty, priced, .. } = self.lanes[index];
            let rate = y[index];
            // Equations (4), (2) and (3).
            let price = if priced { excess / price.scale } else { 0.0 };
            out[index] = flow.gain * (1.0 - price * math::pow(rate, self.alpha) / flow.weight);
            out[count + index] = if empty { 0.0 } else { rate - capacity };
        }
    }

    /// For each flow: its queue, then the delayed price.
    fn guards(&self) -> usize {
        2 * self.lanes.len()
    }

    fn guard(&mut self, event: usize, t: f64, y: &[f64], past: &History) -> f64 {
        let index = event / 2;
        let lane = self.lanes[index];
        match (event % 2, lane.empty, lane.priced) {
            (0, true, _) => lane.capacity - y[index],
            (0, false, _) => y[self.lanes.len() + index],
            (_, _, true) => self.excess(index, t, past),
            (_, _, false) => -self.excess(index, t, past),
        }
    }

    fn handle_event(&mut self, event: usize, _t: f64, y: &mut [f64], _past: &History) {
        let place = self.lanes.len() + event / 2;
        let lane = &mut self.lanes[event / 2];
        if event % 2 == 1 {
            lane.priced = !lane.priced;
            return;
        }
        lane.empty = !lane.empty;
        y[place] = if lane.empty { 0.0 } else { y[place] };
    }

    fn reach(&self, t: f64, _y: &[f64]) -> f64 {
        let longest = self.lanes.iter().map(|lane| lane.flow.delay).fold(0.0, f64::max);
        t - longest
    }
}

/// Its poles and its Nyquist count follow.
impl Loop for QueueLoop {
    fn at(&self, s: Complex64) -> Fraction {
        Fraction { above: self.gain * exp(-s * self.delay), below: s * (s + self.pole) }
    }

    fn delay(&self) -> f64 {
        self.delay
    }

    /// |s| (|s| - a) > kappa e^(left D) / level.
    fn reach(&self, level: f64, left: f64) -> Option<f64> {
        let most = self.gain * math::exp(left * self.delay) / level;
        Some(f64::midpoint(self.pole, math::hypot(self.pole, 2.0 * most.sqrt())))
    }
}
