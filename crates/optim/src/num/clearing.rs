//! Prices of links at which the rates that flows demand fit.
//!
//! A flow demands a rate that falls in the price of its path. The prices pi >= 0 clear the links if
//!
//! ```text
//! sum over the flows of l of x_i + s_l = C_l,   s_l >= 0,   pi_l s_l = 0                                      (i)
//! ```
//!
//! which are the Karush-Kuhn-Tucker conditions of a separable concave problem in its dual form. An interior-point method
//! (S. Wright, "Primal-Dual Interior-Point Methods", 1997, chapter 8) takes Newton steps of (i) with pi_l s_l a tenth of
//! what it was, for each link by itself: prices may differ by 20 orders of magnitude, and one target for all products
//! would hide the small ones. A rate of eps at least has a kink, at which Newton's method may turn in circles; v + eps,
//! the rate without it, is smoothed to (C. Chen, O. L. Mangasarian, Computational Optimization and Applications 5, 1996)
//!
//! ```text
//! x = eps + (v + sqrt(v^2 + 4 m^2)) / 2                                                                      (ii)
//! ```
//!
//! with a width m that falls with the products. With r = C - load - s the step is
//!
//! ```text
//! (R' diag(-dx/dprice) R + diag(s / pi)) dpi = -r - 0.9 s,   ds = -0.9 s - (s / pi) dpi                      (iii)
//! ```

use super::Network;
use sojourn_units::math;

/// Demand of flows at a price.
pub(super) trait Demand {
    /// The rate that a flow would have at the price of its path, were there no least one.
    fn at(&self, flow: usize, price: f64) -> Demanded;
    /// eps.
    fn floor(&self) -> f64;
}

/// A rate, and by how much it falls with the price, above 0.
#[derive(Clone, Copy)]
pub(super) struct Demanded {
    pub(super) rate: f64,
    pub(super) fall: f64,
}

impl Demanded {
    /// Equation (ii).
    fn smoothed(self, floor: f64, width: f64) -> Demanded {
        let above = self.rate - floor;
        let root = math::hypot(above, 2.0 * width);
        // Without cancellation below eps.
        let part =
            if above > 0.0 { f64::midpoint(root, above) } else { 2.0 * width * width / (root - above) };
        Demanded { rate: floor + part, fall: self.fall * part / root }
    }
}

/// Rates and prices that meet (i) to rounding, or as nearly as the steps allowed.
pub(super) struct Cleared {
    pub(super) rates: Vec<f64>,
    pub(super) prices: Vec<f64>,
}

/// Clears the links; the search for a feasible start begins at these prices, above 0.
pub(super) fn clear(network: &Network, demand: &impl Demand, prices: &[f64]) -> Cleared {
    let share = network.capacities().iter().sum::<f64>() / network.flows() as f64;
    let mut market = Market::start(network, demand, prices, share);
    let mut state = market.state(&market.prices, &market.slack);
    for _ in 0..STEPS {
        let complementarity = market.complementarity(&state);
        let is_sharp = market.width <= SHARP * share;
        if is_sharp && state.residual <= CLOSE && complementarity <= CLOSE {
            break;
        }
        let Some(step) = market.newton(&state) else { break };
        let part = market.advance(&state, &step, complementarity);
        market.width = (market.width * (1.0 - PART * part)).max(SHARP * share);
        state = market.state(&market.prices, &market.slack);
    }
    let rate =
        |flow: usize| demand.at(flow, network.path_price(flow, &market.prices)).rate.max(demand.floor());
    Cleared { rates: (0..network.flows()).map(rate).collect(), prices: market.prices }
}

struct Market<'a, D> {
    network: &'a Network,
    demand: &'a D,
    /// pi.
    prices: Vec<f64>,
    /// The prices at the start.
    first_prices: Vec<f64>,
    /// s.
    slack: Vec<f64>,
    /// m of (ii), packets/s.
    width: f64,
}

/// Demand at some prices and slacks.
struct State {
    demanded: Vec<Demanded>,
    /// r, packets/s.
    missing: Vec<f64>,
    /// Greatest |r_l| / C_l.
    residual: f64,
}

struct Step {
    prices: Vec<f64>,
    slack: Vec<f64>,
}

impl<'a, D: Demand> Market<'a, D> {
    /// Each link at a price, within a factor of two of the least, that would keep it below its capacity if it had the only one:
    /// with r = 0 no step has to lead back to it.
    fn start(network: &'a Network, demand: &'a D, prices: &[f64], share: f64) -> Market<'a, D> {
        let floor = demand.floor();
        let rooms = network.capacities().iter().zip(network.counts());
        let rooms = rooms.filter(|(_, count)| *count > 0.0).map(|(capacity, count)| capacity / count - floor);
        let width = (WIDEST * rooms.fold(f64::INFINITY, f64::min)).max(SHARP * share);
        let mut members = vec![Vec::new(); prices.len()];
        for flow in 0..network.flows() {
            network.path(flow).iter().for_each(|link| members[*link as usize].push(flow));
        }
        let price = |(link, flows): (usize, &Vec<usize>)| {
            let least = floor * flows.len() as f64;
            let most = least + (1.0 - 0.1) * (network.capacities()[link] - least);
            let load = |price: f64| {
                flows.iter().map(|flow| demand.at(*flow, price).smoothed(floor, width).rate).sum::<f64>()
            };
            let mut price = prices[link];
            while load(price) > most && price < prices[link] * MOST {
                price *= 2.0;
            }
            while load(price / 2.0) <= most && price > prices[link] * LEAST {
                price /= 2.0;
            }
            price
        };
        let prices: Vec<f64> = members.iter().enumerate().map(price).collect();
        let mut market =
            Market { network, demand, first_prices: prices.clone(), prices, slack: Vec::new(), width };
        let none = vec![0.0; market.prices.len()];
        let room = market.state(&market.prices, &none).missing;
        let slack = |(room, capacity): (&f64, &f64)| room.max(1e-3 * capacity);
        market.slack = room.iter().zip(network.capacities()).map(slack).collect();
        market
    }

    fn state(&self, prices: &[f64], slack: &[f64]) -> State {
        let floor = self.demand.floor();
        let of = |flow: usize| {
            self.demand.at(flow, self.network.path_price(flow, prices)).smoothed(floor, self.width)
        };
        let demanded: Vec<Demanded> = (0..self.network.flows()).map(of).collect();
        let rates: Vec<f64> = demanded.iter().map(|demanded| demanded.rate).collect();
        let capacities = self.network.capacities();
        let loads = self.network.loads(&rates);
        let missing: Vec<f64> = capacities
            .iter()
            .zip(&loads)
            .zip(slack)
            .map(|((capacity, load), slack)| capacity - load - slack)
            .collect();
        let part = |(missing, capacity): (&f64, &f64)| (missing / capacity).abs();
        let residual = missing.iter().zip(capacities).map(part).fold(0.0, f64::max);
        State { demanded, missing, residual }
    }

    /// Greatest violation of pi_l s_l = 0: the lesser of a link's room, relative to its capacity, and its price's effect,
    /// relative to the rates.
    fn complementarity(&self, state: &State) -> f64 {
        let mut felt = vec![0.0_f64; self.prices.len()];
        for (flow, Demanded { rate, fall }) in state.demanded.iter().enumerate() {
            let is_least = *rate <= self.demand.floor() + self.width;
            for link in self.network.path(flow).iter().map(|link| *link as usize) {
                let price = self.prices[link];
                // What a lower price would make of the least rate is unknown: no part of it counts as nothing.
                let effect = if is_least { price / self.first_prices[link] } else { price * fall / rate };
                felt[link] = felt[link].max(effect);
            }
        }
        let room = self.slack.iter().zip(self.network.capacities()).map(|(slack, capacity)| slack / capacity);
        room.zip(felt).map(|(room, felt)| room.min(felt)).fold(0.0, f64::max)
    }

    /// Equation (iii).
    fn newton(&self, state: &State) -> Option<Step> {
        let count = self.prices.len();
        let mut matrix = vec![0.0; count * count];
        for (flow, Demanded { fall, .. }) in state.demanded.iter().enumerate() {
            for row in self.network.path(flow) {
                for column in self.network.path(flow) {
                    matrix[*row as usize * count + *column as usize] += fall;
                }
            }
        }
        let mut right = Vec::with_capacity(count);
        for link in 0..count {
            matrix[link * count + link] += self.slack[link] / self.prices[link];
            right.push(-state.missing[link] - PART * self.slack[link]);
        }
        let prices = solve(&mut matrix, right)?;
        let of = |link: usize| {
            let slack = self.slack[link];
            -PART * slack - slack / self.prices[link] * prices[link]
        };
        let slack = (0..count).map(of).collect();
        Some(Step { prices, slack })
    }

    /// Takes the step, or as much of it as keeps prices and slacks above 0 and the residual within the products': this part.
    fn advance(&mut self, state: &State, step: &Step, complementarity: f64) -> f64 {
        let room = |values: &[f64], steps: &[f64]| {
            let to_zero =
                |(value, step): (&f64, &f64)| if *step < 0.0 { -value / step } else { f64::INFINITY };
            values.iter().zip(steps).map(to_zero).fold(f64::INFINITY, f64::min)
        };
        let most = room(&self.prices, &step.prices).min(room(&self.slack, &step.slack));
        let mut part = (0.99 * most).min(1.0);
        let moved = |values: &[f64], steps: &[f64], part: f64| -> Vec<f64> {
            values.iter().zip(steps).map(|(value, step)| value + part * step).collect()
        };
        let mut halvings = 0;
        loop {
            let prices = moved(&self.prices, &step.prices, part);
            let slack = moved(&self.slack, &step.slack, part);
            let residual = self.state(&prices, &slack).residual;
            let most = (0.3 * complementarity.min(1.0)).max(0.1 * CLOSE);
            let is_nearer = residual <= most.max((1.0 - 0.01 * part) * state.residual);
            if is_nearer || halvings == HALVINGS {
                (self.prices, self.slack) = (prices, slack);
                return part;
            }
            (part, halvings) = (part / 2.0, halvings + 1);
        }
    }
}

/// Solves a symmetric positive definite system by Cholesky's method, scaled to a diagonal of ones; None: it is not so.
fn solve(matrix: &mut [f64], mut right: Vec<f64>) -> Option<Vec<f64>> {
    let count = right.len();
    let scale: Vec<f64> = (0..count).map(|row| 1.0 / matrix[row * count + row].sqrt()).collect();
    for row in 0..count {
        for column in 0..count {
            matrix[row * count + column] *= scale[row] * scale[column];
        }
        matrix[row * count + row] += SHIFT;
        right[row] *= scale[row];
    }
    for row in 0..count {
        for column in 0..=row {
            let (above, below) = (&matrix[column * count..][..column], &matrix[row * count..][..column]);
            let sum: f64 = above.iter().zip(below).map(|(a, b)| a * b).sum();
            let rest = matrix[row * count + column] - sum;
            matrix[row * count + column] =
                if row == column { rest.sqrt() } else { rest / matrix[column * count + column] };
        }
        let known: f64 = matrix[row * count..][..row].iter().zip(&right).map(|(a, b)| a * b).sum();
        right[row] = (right[row] - known) / matrix[row * count + row];
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|below| matrix[below * count + row] * right[below]).sum();
        right[row] = (right[row] - known) / matrix[row * count + row];
    }
    right.iter_mut().zip(&scale).for_each(|(value, scale)| *value *= scale);
    right.iter().all(|value| value.is_finite()).then_some(right)
}

/// Part of each pi_l s_l that a step removes.
const PART: f64 = 0.9;
/// Relative distance from (i) at which the search ends.
const CLOSE: f64 = 1e-12;
/// Width of (ii) at the start, in the least room per flow of a link, and at the end, in capacities per flow.
const WIDEST: f64 = 0.01;
const SHARP: f64 = 1e-12;
/// Least and greatest price at the start, in those given: of a link that is empty, and of one that the least rates fill.
const LEAST: f64 = 1e-30;
const MOST: f64 = 1e30;
/// Most steps; a network of 20 links takes 20 to 40.
const STEPS: usize = 300;
const HALVINGS: usize = 30;
/// Keeps the system definite where links carry the same flows alone.
const SHIFT: f64 = 1e-15;
