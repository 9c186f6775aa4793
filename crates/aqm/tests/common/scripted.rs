//! A law whose verdict a packet carries in its length: the last digit 1 drops, 2 marks.

use sojourn_aqm::{Departure, Law, LinkContext, Verdict};
use sojourn_units::Rate;

#[derive(Clone)]
pub(crate) struct Scripted;

impl Law for Scripted {
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        match departure.len % 10 {
            1 => Verdict::Drop,
            2 => Verdict::Mark,
            _ => Verdict::Pass,
        }
    }
}

pub(crate) fn link() -> LinkContext {
    LinkContext {
        rate: Rate::from_bits_per_second(8e6),
        packet: 1000.0,
        limit: f64::INFINITY,
        flows: None,
        base_rtt: None,
    }
}
