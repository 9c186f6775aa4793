//! Weighted samples: quantiles of quantities that vary continuously.

use crate::Summary;
use sojourn_units::math;

/// Values with weights; of a long run every second, fourth ... one is kept.
#[derive(Clone, Debug)]
pub struct Sample {
    kept: Vec<(f64, f64)>,
    every: u64,
    count: u64,
    /// Weight of the values left out since the last one that was kept.
    weight: f64,
}

impl Default for Sample {
    /// No values.
    fn default() -> Sample {
        Sample { kept: Vec::new(), every: 1, count: 0, weight: 0.0 }
    }
}

impl Sample {
    /// Adds a value.
    pub fn take(&mut self, value: f64, weight: f64) {
        self.weight += weight;
        self.count += 1;
        if !self.count.is_multiple_of(self.every) {
            return;
        }
        self.kept.push((value, self.weight));
        self.weight = 0.0;
        if self.kept.len() == MOST_KEPT {
            self.halve();
        }
    }

    /// Keeps every second one, with the weight of both.
    fn halve(&mut self) {
        let pairs = self.kept.chunks_exact(2).map(|pair| (pair[1].0, pair[0].1 + pair[1].1));
        self.kept = pairs.collect();
        self.every *= 2;
    }

    /// The value not exceeded by this share of the weight; None without weight.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        Sample::quantile_of(&[self], share)
    }

    /// Quantile of several together.
    pub fn quantile_of(samples: &[&Sample], share: f64) -> Option<f64> {
        let mut sorted: Vec<(f64, f64)> = samples.iter().flat_map(|sample| sample.sorted()).collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
        let mut below = 0.0;
        let reached = |(_, weight): &&(f64, f64)| {
            below += weight;
            below >= share * total
        };
        sorted.iter().find(reached).filter(|_| total > 0.0).map(|(value, _)| *value)
    }

    /// Summary of several together.
    pub fn summary_of(samples: &[&Sample]) -> Summary {
        let quantile = |share| Sample::quantile_of(samples, share);
        Summary {
            mean: Sample::mean_of(samples),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: quantile(1.0),
        }
    }

    /// Mean of several together; None where there is no weight.
    fn mean_of(samples: &[&Sample]) -> Option<f64> {
        let kept = || samples.iter().flat_map(|sample| &sample.kept);
        let total: f64 = kept().map(|(_, weight)| weight).sum();
        let sum: f64 = kept().map(|(value, weight)| value * weight).sum();
        (total > 0.0).then(|| sum / total)
    }

    /// Geometric mean of several together; None where there is no weight.
    pub fn geometric_mean_of(samples: &[&Sample]) -> Option<f64> {
        let kept = || samples.iter().flat_map(|sample| &sample.kept);
        let total: f64 = kept().map(|(_, weight)| weight).sum();
        let sum: f64 = kept().map(|(value, weight)| math::ln(*value) * weight).sum();
        (total > 0.0).then(|| math::exp(sum / total))
    }

    /// At most `most` values in order, each with the share of the weight at or below.
    pub fn cumulative(&self, most: usize) -> Vec<(f64, f64)> {
        let sorted = self.sorted();
        let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
        let (mut below, mut steps) = (0.0, Vec::new());
        for (place, (value, weight)) in sorted.iter().enumerate() {
            below += weight;
            let is_last = place + 1 == sorted.len();
            let is_next = below * most as f64 >= total * (steps.len() + 1) as f64;
            if total > 0.0 && (is_last || is_next) {
                steps.push((*value, if is_last { 1.0 } else { below / total }));
            }
        }
        steps
    }

    fn sorted(&self) -> Vec<(f64, f64)> {
        let mut sorted: Vec<(f64, f64)> =
            self.kept.iter().copied().filter(|(_, weight)| *weight > 0.0).collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        sorted
    }
}

/// Values kept for quantiles; even.
const MOST_KEPT: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_by_weight_for_any_number_of_values() {
        let mut sample = Sample::default();
        for number in 0..1_000_000 {
            sample.take(f64::from(number % 1000), if number % 2 == 0 { 1.0 } else { 3.0 });
        }
        assert!((sample.quantile(0.5).unwrap() - 500.0).abs() < 10.0);
        assert!((sample.quantile(0.99).unwrap() - 990.0).abs() < 5.0);
        let steps = sample.cumulative(100);
        assert!(steps.len() <= 101 && steps.last().unwrap().1 == 1.0);
        assert!((Sample::mean_of(&[&sample]).unwrap() - 500.0).abs() < 5.0);
        assert_eq!((Sample::default().quantile(0.5), Sample::mean_of(&[&Sample::default()])), (None, None));
    }
}
