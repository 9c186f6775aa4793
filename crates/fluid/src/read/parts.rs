//! Parts of a scenario's classes: flows over alike round trips, of which the model has one class each.
//!
//! At one p the mean rate of flows over unlike round trips is above that of the mean round trip: 40 flows over 8 to 608 ms
//! have twice the p of a class of their mean.

use super::traffic;
use crate::plant::{Sender, Window};
use sojourn_scenario::{Flows, Scenario};
use std::ops::Range;

/// Flows of a class of the scenario that are a class of the plant.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Number of the plant's class.
    pub(crate) class: usize,
    /// Numbers of the flows within theirs; those that come beyond its count are in the last part.
    flows: Range<u32>,
    is_last: bool,
}

/// Parts of each class of the scenario, numbered in order; one of a class for which `is_whole`.
pub(crate) fn all(scenario: &Scenario, is_whole: impl Fn(&Flows) -> bool) -> Vec<Vec<Part>> {
    let mut next = 0;
    let of_class = |own: &Flows| {
        let whole = || std::iter::once(0..own.count).collect();
        let sender = traffic::sender(scenario, own);
        let each: Vec<Range<u32>> = if is_whole(own) { whole() } else { flows(scenario, own, &sender) };
        let last = each.len() - 1;
        let part = |(place, flows)| Part { class: next + place, flows, is_last: place == last };
        let parts: Vec<Part> = each.into_iter().enumerate().map(part).collect();
        next += parts.len();
        parts
    };
    scenario.flows.iter().map(of_class).collect()
}

/// Numbers of the plant's classes of these parts of a class.
pub(crate) fn classes(parts: &[Part]) -> Range<usize> {
    parts[0].class..parts[0].class + parts.len()
}

/// Numbers of the flows of each part of a class: where windows are calibrated those over alike round trips, else all.
pub(crate) fn flows(scenario: &Scenario, own: &Flows, sender: &Sender) -> Vec<Range<u32>> {
    if matches!(sender, Sender::Tcp(Window::Calibrated(_), _)) {
        scenario.parts_by_rtt(own, WIDEST)
    } else {
        std::iter::once(0..own.count).collect()
    }
}

/// Mean base RTT of some flows of a class, s.
pub(crate) fn base_rtt(scenario: &Scenario, own: &Flows, flows: Range<u32>) -> f64 {
    if flows == (0..own.count) || flows.is_empty() {
        scenario.mean_base_rtt(own)
    } else {
        scenario.mean_base_rtt_of(own, flows)
    }
}

impl Part {
    /// Its flows where the class has so many.
    pub(crate) fn count(&self, of_class: u32) -> u32 {
        let end = if self.is_last { of_class } else { self.flows.end };
        of_class.min(end).saturating_sub(self.flows.start)
    }

    /// Mean base RTT, s.
    pub(crate) fn base_rtt(&self, scenario: &Scenario, own: &Flows) -> f64 {
        base_rtt(scenario, own, self.flows.clone())
    }

    /// Times between which its flows start, s, where those of the class start in order from `from` to `until`.
    pub(crate) fn starts(&self, own: &Flows, [from, until]: [f64; 2]) -> [f64; 2] {
        let at = |flow: u32| from + (until - from) * f64::from(flow) / f64::from(own.count.max(1));
        [at(self.flows.start), at(self.flows.end)]
    }
}

/// Longest base RTT of a part by the shortest: at one p, a class of the mean has 1.4 % less rate.
const WIDEST: f64 = 1.5;
