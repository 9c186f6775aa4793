//! Effective number of the flows with queues, of which mice are hardly a part.
//!
//! With b_i bytes of flow i that its queue accepts in a period, each connection a flow, it is
//!
//! ```text
//! n = (sum of b_i)^2 / sum of b_i^2                                            (i)
//! ```
//!
//! the number of equal flows with the same inequality (the inverse of the index of E. H. Simpson, Nature 163, 1949). n is the
//! number itself where all flows send alike, and that of the elephants where these have nearly all.

/// The sums of the present period, and n of the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowCount {
    bytes: f64,
    squares: f64,
    last: f64,
}

impl FlowCount {
    /// A packet of `len` bytes of a flow that has sent so many before in this period.
    pub(super) fn add(&mut self, before: f64, len: f64) {
        self.bytes += len;
        self.squares += len * (2.0 * before + len);
    }

    /// The period ends.
    pub(super) fn end_period(&mut self) {
        *self = FlowCount { last: self.present(), ..FlowCount::default() };
    }

    /// The greater n of the last period and the present one: flows may come after a silence. 1 at least.
    pub(super) fn value(&self) -> f64 {
        self.last.max(self.present())
    }

    fn present(&self) -> f64 {
        if self.squares > 0.0 { (self.bytes * self.bytes / self.squares).max(1.0) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n where the flows send so many packets of 100 bytes.
    fn of(packets: &[u32]) -> f64 {
        let mut count = FlowCount::default();
        for flow in packets {
            (0..*flow).for_each(|before| count.add(100.0 * f64::from(before), 100.0));
        }
        count.end_period();
        count.value()
    }

    #[test]
    fn equal_flows_count_as_many_and_mice_hardly() {
        assert_eq!(of(&[]), 1.0);
        assert_eq!(of(&[7]), 1.0);
        assert!((of(&[50; 40]) - 40.0).abs() < 1e-9);
        // Two elephants and 100 mice with a tenth of the bytes: 2000^2 / (2 900^2 + 100 2^2).
        let mut packets = vec![900, 900];
        packets.extend([2; 100]);
        assert!((of(&packets) - 4e6 / (2.0 * 810_000.0 + 400.0)).abs() < 1e-9);
    }

    #[test]
    fn flows_that_come_after_a_silence_count_at_once() {
        let mut count = FlowCount::default();
        count.end_period();
        (0..100).for_each(|_| count.add(0.0, 1500.0));
        assert_eq!(count.value(), 100.0);
    }
}
