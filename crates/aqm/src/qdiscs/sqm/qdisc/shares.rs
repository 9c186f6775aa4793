//! Rates of the flows that are set from outside.

use super::Sqm;
use crate::flow_shares::{COMMON_PACKET, Coordinator, Demands, FlowShares, PathPrice};
use crate::law::FlowId;
use crate::qdisc::Packet;
use crate::qdiscs::schedulers::Weighted;
use sojourn_optim::num::Fairness;
use sojourn_units::{Span, Time, math};

impl<P: Packet + Send, S: Weighted> FlowShares for Sqm<P, S> {
    fn coordinator(&self) -> Coordinator {
        self.settings.rules.coordinator
    }

    fn period(&self) -> Span {
        self.settings.period
    }

    fn demands(&self) -> Demands {
        let flow = |(slot, weight): (u32, f64)| Some((self.queues[slot as usize].flow?, weight));
        Demands {
            capacity: self.capacity() * self.unit(),
            fairness: self.settings.rules.fairness,
            floor: self.settings.rules.floor * self.unit(),
            utility: self.settings.rules.utility,
            step: self.settings.rules.step,
            flows: self.tuning.demands().filter_map(flow).collect(),
        }
    }

    fn rates(&self) -> Vec<(FlowId, f64)> {
        let capacity = self.capacity();
        let rate = |slot: u32| {
            Some((self.queues[slot as usize].flow?, self.tuning.share(slot, capacity) * self.unit()))
        };
        self.tuning.active().filter_map(rate).collect()
    }

    fn set_rates(&mut self, _now: Time, rates: &[(FlowId, f64)]) {
        let mut rates: Vec<(FlowId, f64)> =
            rates.iter().map(|(flow, rate)| (*flow, rate / self.unit())).collect();
        rates.sort_unstable_by_key(|(flow, _)| *flow);
        self.tuning.set_rates(&rates, |slot| self.queues[slot as usize].flow);
        self.set_weights();
    }

    fn price(&self) -> f64 {
        self.tuning.price / self.unit_of_price()
    }

    fn set_price(&mut self, price: f64) {
        self.tuning.price = price * self.unit_of_price();
    }

    fn announce(&mut self, path: PathPrice) {
        self.tuning.announced = PathPrice { price: path.price * self.unit_of_price(), ..path };
    }
}

impl<P: Packet, S: Weighted> Sqm<P, S> {
    /// The mean packet of this link, in packets of the size that links have in common.
    fn unit(&self) -> f64 {
        self.settings.link.packet / COMMON_PACKET
    }

    /// A price here by the same one in that unit: w x^(-alpha) is the price of a rate.
    fn unit_of_price(&self) -> f64 {
        match self.settings.rules.fairness {
            Fairness::Alpha(alpha) => math::pow(self.unit(), alpha),
            Fairness::MaxMin => 1.0,
        }
    }
}
