//! The nearest rates that links carry.
//!
//! Minimise sum over i of h_i (x_i - y_i)^2 / 2 such that x_i >= eps and the rates over each link add up to C_l at
//! most. With the price Pi_i of a flow's path the minimum is
//!
//! ```text
//! x_i = max(eps, y_i - Pi_i / h_i)                                                                            (i)
//! ```
//!
//! and one link has its price exactly after a sort (Y. Chen, X. Ye, "Projection onto a simplex", 2011, for h = 1). The
//! prices of a network are those that clear it.

use super::Network;
use super::clearing::{Cleared, Demand, Demanded, clear};

/// Projects `rates` onto what the links carry, where each is `floor` at least.
pub fn onto(network: &Network, rates: &[f64], floor: f64) -> Vec<f64> {
    onto_by(network, rates, floor, &vec![1.0; rates.len()])
}

/// The same in the metric of these h, above 0.
pub fn onto_by(network: &Network, rates: &[f64], floor: f64, metric: &[f64]) -> Vec<f64> {
    if let [capacity] = network.capacities() {
        return onto_link(*capacity, rates, floor, metric);
    }
    let demand = Nearest { rates, floor, metric };
    let lifted: Vec<f64> = rates.iter().map(|rate| rate.max(floor)).collect();
    let fits = |(load, capacity): (&f64, &f64)| load <= capacity;
    if network.loads(&lifted).iter().zip(network.capacities()).all(fits) {
        return lifted;
    }
    let Cleared { mut rates, .. } = clear(network, &demand, &demand.prices(network, &lifted));
    // What rounding leaves above the capacity.
    trim(network, &mut rates, floor);
    rates
}

/// Equation (i) on one link.
fn onto_link(capacity: f64, rates: &[f64], floor: f64, metric: &[f64]) -> Vec<f64> {
    let room = capacity - floor * rates.len() as f64;
    // A flow has more than eps below the price h (y - eps).
    let mut order: Vec<u32> = (0..rates.len() as u32).collect();
    let limit = |flow: &u32| metric[*flow as usize] * (rates[*flow as usize] - floor);
    order.sort_unstable_by(|a, b| limit(b).total_cmp(&limit(a)));
    let (mut above, mut compliance, mut price) = (0.0, 0.0, 0.0);
    for flow in order {
        if limit(&flow) <= price {
            break;
        }
        above += rates[flow as usize] - floor;
        compliance += 1.0 / metric[flow as usize];
        price = ((above - room) / compliance).max(0.0);
    }
    let near = |(rate, metric): (&f64, &f64)| floor + (rate - floor - price / metric).max(0.0);
    rates.iter().zip(metric).map(near).collect()
}

/// Lowers what exceeds a link's capacity by parts in 1e12, in proportion to what its flows have above `floor`.
pub(super) fn trim(network: &Network, rates: &mut [f64], floor: f64) {
    let base = network.loads(&vec![floor; rates.len()]);
    let loads = network.loads(rates);
    let factor = |((load, base), capacity): ((&f64, &f64), &f64)| {
        if load > capacity { (capacity - base) / (load - base) } else { 1.0 }
    };
    let factors: Vec<f64> = loads.iter().zip(&base).zip(network.capacities()).map(factor).collect();
    for (flow, rate) in rates.iter_mut().enumerate() {
        let least = network.path(flow).iter().map(|link| factors[*link as usize]).fold(1.0, f64::min);
        *rate = floor + (*rate - floor) * least.max(0.0);
    }
}

/// Equation (i) as a demand.
struct Nearest<'a> {
    rates: &'a [f64],
    floor: f64,
    metric: &'a [f64],
}

impl Demand for Nearest<'_> {
    fn at(&self, flow: usize, price: f64) -> Demanded {
        let fall = 1.0 / self.metric[flow];
        Demanded { rate: self.rates[flow] - price * fall, fall }
    }

    fn floor(&self) -> f64 {
        self.floor
    }
}

impl Nearest<'_> {
    /// Prices to search from: what would bring each link to its capacity if nothing else did.
    fn prices(&self, network: &Network, lifted: &[f64]) -> Vec<f64> {
        let inverse: Vec<f64> = self.metric.iter().map(|metric| 1.0 / metric).collect();
        let compliance = network.loads(&inverse);
        let loads = network.loads(lifted);
        let price = |((load, compliance), capacity): ((&f64, &f64), &f64)| {
            let excess = (load - capacity).max(1e-3 * capacity);
            if *compliance > 0.0 { excess / compliance } else { 1.0 }
        };
        loads.iter().zip(&compliance).zip(network.capacities()).map(price).collect()
    }
}
