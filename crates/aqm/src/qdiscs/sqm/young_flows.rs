//! Backlog of young flows and of the reserved queue, which are not signalled by the prediction.
//!
//! A flow that ends after some packets sends them all in one or two round trips. If what such flows hold counted in the target,
//! the others would leave the link unused to make up for it. So their mean backlog is added to the target.

use sojourn_units::Time;

/// Bytes of young flows in the queues, and their mean over recent periods.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct YoungFlows {
    bytes: u64,
    /// Bytes that have come.
    came: f64,
    /// Time up to which the integrals are known.
    until: Time,
    /// Integral of the bytes, byte s, and its time, s.
    integral: f64,
    elapsed: f64,
    /// The link stands still: neither its time counts nor what comes.
    is_stalled: bool,
}

impl YoungFlows {
    /// A packet of one comes.
    pub(super) fn add(&mut self, now: Time, len: u32) {
        self.integrate(now);
        self.bytes += u64::from(len);
        if !self.is_stalled {
            self.came += f64::from(len);
        }
    }

    /// So many bytes of theirs leave.
    pub(super) fn remove(&mut self, now: Time, bytes: u64) {
        self.integrate(now);
        self.bytes -= bytes;
    }

    /// A period ends: half is forgotten.
    pub(super) fn end_period(&mut self, now: Time) {
        self.integrate(now);
        for sum in [&mut self.integral, &mut self.elapsed, &mut self.came] {
            *sum /= 2.0;
        }
    }

    /// Mean, bytes.
    pub(super) fn mean(&self) -> f64 {
        if self.elapsed > 0.0 { self.integral / self.elapsed } else { 0.0 }
    }

    /// Rate at which they come, bytes/s, over 1 s or more.
    pub(super) fn rate(&self) -> f64 {
        self.came / self.elapsed.max(SHORTEST)
    }

    /// The link stands still from now on, or does so no longer.
    pub(super) fn set_stalled(&mut self, now: Time, is_stalled: bool) {
        self.integrate(now);
        self.is_stalled = is_stalled;
    }

    fn integrate(&mut self, now: Time) {
        let elapsed = now.since(std::mem::replace(&mut self.until, now)).seconds();
        if self.is_stalled {
            return;
        }
        self.integral += self.bytes as f64 * elapsed;
        self.elapsed += elapsed;
    }
}

/// Least time of the rate, s.
const SHORTEST: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    #[test]
    fn the_mean_is_that_over_the_time() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut flows = YoungFlows::default();
        flows.add(at(50), 1000);
        flows.remove(at(100), 1000);
        assert!((flows.mean() - 500.0).abs() < 1e-9);
        assert!((flows.rate() - 1000.0).abs() < 1e-6, "over 1 s at first");
        flows.end_period(at(100));
        // The second period holds none, the first counts half.
        flows.end_period(at(200));
        assert!((flows.mean() - 500.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_link_that_stands_still_does_not_count() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut flows = YoungFlows::default();
        (0..20).for_each(|packet| flows.add(at(100 * packet), 1000));
        let (mean, rate) = (flows.mean(), flows.rate());
        flows.set_stalled(at(1900), true);
        (0..50).for_each(|packet| flows.add(at(2000 + 100 * packet), 1000));
        flows.set_stalled(at(8000), false);
        assert_eq!((flows.mean(), flows.rate()), (mean, rate));
        flows.remove(at(8000), 70_000);
    }
}
