//! Service rate mu: the link's rate over the mean size of departed packets, or departures under a backlog.

use super::{Service, approach};
use crate::law::Observation;
use sojourn_units::Rate;

/// mu, and what it is computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ServiceRate {
    /// mu, packets/s.
    pub packets: f64,
    pub stopped: bool,
    /// Last link rate above 0, bytes/s.
    rate: f64,
    /// Average departure rates, packets/s and bytes/s; their ratio is the mean size.
    left: [f64; 2],
}

impl ServiceRate {
    /// A link of `packets` a second, each of `size` bytes.
    pub(super) fn new(packets: f64, size: f64) -> ServiceRate {
        let rate = packets * size;
        ServiceRate { packets, stopped: false, rate, left: [packets, rate] }
    }

    pub(super) fn observe(&mut self, source: Service, observed: &Observation) {
        match source {
            Service::Link => self.observe_size(observed),
            Service::Measured => self.observe_departures(observed),
        }
    }

    /// A link without a rate keeps its last one.
    pub(super) fn follow(&mut self, rate: Rate) {
        let bytes = rate.bits_per_second() / 8.0;
        self.stopped = bytes <= 0.0;
        if !self.stopped {
            self.packets = (self.packets * (bytes / self.rate)).clamp(SLOWEST, FASTEST);
            self.rate = bytes;
        }
    }

    fn observe_size(&mut self, observed: &Observation) {
        if observed.departed_packets > 0.0 && observed.departed_bytes > 0.0 {
            let [packets, bytes] = &mut self.left;
            approach(packets, observed.departed_packets, observed.elapsed, AVERAGED);
            approach(bytes, observed.departed_bytes, observed.elapsed, AVERAGED);
            self.packets = (self.rate * (*packets / *bytes)).clamp(SLOWEST, FASTEST);
        }
    }

    /// Only periods that were busy throughout: departures from an empty queue do not measure the link.
    fn observe_departures(&mut self, observed: &Observation) {
        if !self.stopped && observed.elapsed > 0.0 && observed.busy > BUSY * observed.elapsed {
            approach(&mut self.packets, observed.departed_packets, observed.elapsed, AVERAGED);
            self.packets = self.packets.max(SLOWEST);
        }
    }
}

/// Time constant of the averages, s.
const AVERAGED: f64 = 1.0;
/// Least share of a period with a backlog to count as busy throughout: times are rounded.
const BUSY: f64 = 1.0 - 1e-6;
/// Range of service rates, packets/s.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e12;
