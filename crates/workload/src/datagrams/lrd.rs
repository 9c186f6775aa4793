//! Long-range dependent traffic: many on/off sources whose periods are Pareto distributed, as one flow.
//!
//! With periods of tail index a the sum's correlations fall as t^(1 - a) and its variance over intervals of t grows as
//! t^2H, H = (3 - a) / 2 (W. Willinger, M. S. Taqqu, R. Sherman, D. V. Wilson, "Self-Similarity Through High-Variability",
//! IEEE/ACM Transactions on Networking 5, 1997; M. S. Taqqu, W. Willinger, R. Sherman, Computer Communication Review 27,
//! 1997). The sources start in their stationary state, so the sum is stationary from its start on.

use super::on_off::OnOff;
use super::{Draws, OnOffSum};
use sojourn_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) struct Lrd {
    sources: Vec<OnOff>,
    /// Next send time of each source, the earliest on top.
    next: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Lrd {
    /// `rate` in datagrams per second, the mean of all sources together.
    pub(super) fn new(start: Time, rate: f64, plan: OnOffSum, draws: Draws<'_>) -> Lrd {
        let [on, off] = plan.periods();
        let peak = rate / f64::from(plan.sources) * (plan.on + plan.off) / plan.on;
        let source = |number| {
            let draws = draws.stream(&format!("source {number}"));
            OnOff::stationary(start, peak, (on.clone(), off.clone()), draws)
        };
        let mut sources: Vec<OnOff> = (0..plan.sources).map(source).collect();
        let next = (0..).zip(&mut sources).map(|(number, source)| Reverse((source.next(), number))).collect();
        Lrd { sources, next }
    }

    pub(super) fn next(&mut self) -> Time {
        let Some(mut top) = self.next.peek_mut() else { return Time::NEVER };
        let Reverse((time, number)) = *top;
        *top = Reverse((self.sources[number as usize].next(), number));
        time
    }
}
