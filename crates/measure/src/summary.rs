//! Summary of a distribution, of either plant.

/// A distribution of times, s.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95 % quantile.
    pub p95: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// 99.9 % quantile.
    pub p999: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
}
