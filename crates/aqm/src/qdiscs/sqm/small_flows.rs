//! Backlog of small flows and of the reserved queue, which are not signalled by the prediction.
//!
//! A flow that ends after some packets sends them all in one or two round trips. If what such flows hold counted in the target,
//! the others would leave the link unused to make up for it. So their mean backlog is added to the target.

use sojourn_units::Time;

/// Bytes of small flows in the queues, and their mean over recent periods.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SmallFlows {
    bytes: u64,
    /// Bytes that have come.
    came: f64,
    /// Time up to which the integrals are known.
    until: Time,
    /// Integral of the bytes, byte s, and its time, s.
    integral: f64,
    elapsed: f64,
}

impl SmallFlows {
    /// A packet of one comes.
    pub(super) fn add(&mut self, now: Time, len: u32) {
        self.integrate(now);
        self.bytes += u64::from(len);
        self.came += f64::from(len);
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

    /// The link has stood still until now.
    pub(super) fn resume(&mut self, now: Time) {
        self.until = now;
    }

    fn integrate(&mut self, now: Time) {
        let elapsed = now.since(std::mem::replace(&mut self.until, now)).seconds();
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
        let mut flows = SmallFlows::default();
        flows.add(at(50), 1000);
        flows.remove(at(100), 1000);
        assert!((flows.mean() - 500.0).abs() < 1e-9);
        assert!((flows.rate() - 1000.0).abs() < 1e-6, "over 1 s at first");
        flows.end_period(at(100));
        // The second period holds none, the first counts half.
        flows.end_period(at(200));
        assert!((flows.mean() - 500.0 / 3.0).abs() < 1e-9);
    }
}
