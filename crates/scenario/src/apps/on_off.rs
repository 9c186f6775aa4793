//! Datagrams in even steps while the source is on: D. Anick, D. Mitra, M. M. Sondhi, "Stochastic Theory of a Data-Handling
//! System with Multiple Sources", Bell System Technical Journal 61, 1982.

use super::datagrams::{DATAGRAM_SIZES, is_datagram};
use crate::ranges::RATES;
use sojourn_params::{Described, EntryParams, Page, SizeDraw, TimeDraw, params};
use sojourn_random::Draw;
use sojourn_units::LinkRate;

params! {
    /// Parameters of an on/off source.
    pub struct OnOff {
        /// rate of each flow while it is on, in whole IP packets
        rate: LinkRate, within RATES, where "at most the access link's rate";
        /// size of a datagram, headers (28 B) included, or a distribution; draws are clamped to 28 B and 65535 B
        size: Option<SizeDraw> = None, where DATAGRAM_SIZES if |size| size.as_ref().is_none_or(is_datagram),
            "the class's segment";
        /// length of an on-period, or a distribution of it
        on: TimeDraw = exponential(0.5), where "more than 0 on average" if |on| on.seconds().mean() > 0.0,
            "as of the exponential source of ns-2", "The ns Manual, traffic generators";
        /// length of a pause, or a distribution of it
        off: TimeDraw = exponential(0.5), "as of the exponential source of ns-2", "The ns Manual, traffic generators";
    }
}

/// An exponential time of this mean, s.
fn exponential(mean: f64) -> TimeDraw {
    TimeDraw::of_seconds(Draw::exponential(mean).expect("a mean is positive"))
}

impl EntryParams for OnOff {
    const PAGE: Page = Page {
        stem: "on_off",
        summary: "UDP datagrams in even steps while it is on, none while it is off",
        idea: "Bursts with pauses. While it is on, the source produces data at `rate`, and sends a datagram when it is full; \
        a partial one is carried into the next on-period, so the mean rate is exact. It begins with an \
               on-period at its start. `on` and `off` are times or distributions: exponential ones make bursts of one \
               time scale, Pareto ones with a shape below 2 bursts of all time scales.",
        equation: "mean rate = rate on / (on + off);   exponential: Var A(t) -> 2 rate^2 p (1 - p) t / (1/on + 1/off),  \
                   p = on / (on + off)",
        source: "D. Anick, D. Mitra, M. M. Sondhi, Stochastic Theory of a Data-Handling System with Multiple Sources, Bell \
                 System Technical Journal 61, 1982; defaults: The ns Manual, traffic generators",
        fields: <OnOff as Described>::fields,
    };
}
