//! Rates of the flows that are set from outside.

use super::Sqm;
use crate::flow_shares::{Coordinator, Demands, FlowShares, PathPrice};
use crate::law::FlowId;
use crate::qdisc::Packet;
use crate::qdiscs::schedulers::Weighted;
use sojourn_units::{Span, Time};

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
            capacity: self.capacity(),
            fairness: self.settings.rules.fairness,
            floor: self.settings.rules.floor,
            step: self.settings.rules.step,
            flows: self.tuning.demands().filter_map(flow).collect(),
        }
    }

    fn rates(&self) -> Vec<(FlowId, f64)> {
        let capacity = self.capacity();
        let rate = |slot: u32| Some((self.queues[slot as usize].flow?, self.tuning.share(slot, capacity)));
        self.tuning.active().filter_map(rate).collect()
    }

    fn set_rates(&mut self, _now: Time, rates: &[(FlowId, f64)]) {
        let mut rates = rates.to_vec();
        rates.sort_unstable_by_key(|(flow, _)| *flow);
        self.tuning.set_rates(&rates, |slot| self.queues[slot as usize].flow);
        self.set_weights();
    }

    fn price(&self) -> f64 {
        self.tuning.price
    }

    fn set_price(&mut self, price: f64) {
        self.tuning.price = price;
    }

    fn announce(&mut self, path: PathPrice) {
        self.tuning.announced = path;
    }
}
