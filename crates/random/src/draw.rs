//! Distributions.
//!
//! A [`Draw`] is a distribution of nonnegative numbers. Every draw evaluates the distribution's inverse at one uniform
//! number (a constant consumes none), so it has the same bits on every machine, and later draws of a stream do not
//! depend on the distribution.

use crate::normal;
use crate::stream::Stream;
use sojourn_units::math;
use sojourn_units::{QuantityError, QuantityErrorKind};
use std::sync::Arc;

/// A distribution of nonnegative numbers with a finite mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw(Shape);

/// Form of a [`Draw`].
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Always this.
    Constant(f64),
    /// Evenly between two numbers.
    Uniform {
        /// The smaller.
        from: f64,
        /// The greater.
        to: f64,
    },
    /// P(X > x) = e^(-x / mean).
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// P(X > x) = (least / x)^shape.
    Pareto {
        /// Mean.
        mean: f64,
        /// Tail index.
        shape: f64,
    },
    /// ln X is normal.
    Lognormal {
        /// Mean of X.
        mean: f64,
        /// Standard deviation of ln X.
        sigma: f64,
    },
    /// Values with their shares.
    Table(Arc<[Row]>),
}

/// A value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Value.
    pub value: f64,
    /// Share, as written.
    pub share: f64,
    /// Cumulative share up to this row; the last one's is 1.
    up_to: f64,
}

impl Draw {
    /// The constant distribution; an error of a value that is not within 0 and 1e18.
    pub fn constant(value: f64) -> Result<Draw, QuantityError> {
        check_value(value).map(|()| Draw(Shape::Constant(value)))
    }

    /// The uniform distribution between two numbers; an error of one that is not within 0 and 1e18, and of a greater one
    /// before a smaller.
    pub fn uniform(from: f64, to: f64) -> Result<Draw, QuantityError> {
        check_value(from).and(check_value(to))?;
        if from > to {
            return Err(out_of_range(
                None,
                "the first of the two is the greater",
                "from the smaller to the greater",
            ));
        }
        Ok(Draw(Shape::Uniform { from, to }))
    }

    /// The exponential distribution; an error of a mean that is 0 or not within 0 and 1e18.
    pub fn exponential(mean: f64) -> Result<Draw, QuantityError> {
        is_mean(mean).map(|()| Draw(Shape::Exponential { mean }))
    }

    /// The Pareto distribution: P(X > x) falls as x^-`shape`; the variance is infinite up to a shape of 2.
    ///
    /// An error of a mean that is 0 or not within 0 and 1e18, and of a shape up to 1, which has no mean, or too large.
    pub fn pareto(mean: f64, shape: f64) -> Result<Draw, QuantityError> {
        is_mean(mean)?;
        if !(shape > 1.0 && shape <= LARGEST_SHAPE) {
            let expected = format!("more than 1, where there is a mean, to {LARGEST_SHAPE}");
            return Err(out_of_range(Some(format!("shape = {shape}")), "is out of range", &expected));
        }
        Ok(Draw(Shape::Pareto { mean, shape }))
    }

    /// The log-normal distribution: the exponential of a normal variable with standard deviation `sigma`.
    ///
    /// An error of a mean that is 0 or not within 0 and 1e18, and of a `sigma` that is not positive, or too large.
    pub fn lognormal(mean: f64, sigma: f64) -> Result<Draw, QuantityError> {
        is_mean(mean)?;
        if !(sigma > 0.0 && sigma <= LARGEST_SIGMA) {
            let expected = format!("more than 0, to {LARGEST_SIGMA}");
            return Err(out_of_range(Some(format!("sigma = {sigma}")), "is out of range", &expected));
        }
        Ok(Draw(Shape::Lognormal { mean, sigma }))
    }

    /// A discrete distribution: values with their shares of the sum of all shares.
    ///
    /// An error of a value that is not within 0 and 1e18, of a share that is not positive and finite, and of an empty table.
    pub fn table(rows: &[(f64, f64)]) -> Result<Draw, QuantityError> {
        let sum: f64 = rows.iter().map(|(_, share)| share).sum();
        for (value, share) in rows {
            check_value(*value)?;
            if !(*share > 0.0 && share.is_finite() && sum.is_finite()) {
                let found = Some(format!("a share of {share}"));
                return Err(out_of_range(found, "is out of range", "more than 0, and finite"));
            }
        }
        let mut before = 0.0;
        let mut table: Vec<Row> = Vec::with_capacity(rows.len());
        for (value, share) in rows {
            before += share;
            table.push(Row { value: *value, share: *share, up_to: before / sum });
        }
        let empty = || out_of_range(None, "the table is empty", "one row or more of [VALUE, SHARE]");
        table.last_mut().ok_or_else(empty)?.up_to = 1.0;
        Ok(Draw(Shape::Table(table.into())))
    }

    /// Its form.
    pub fn shape(&self) -> &Shape {
        &self.0
    }

    /// The constant, if the distribution is one.
    pub fn as_constant(&self) -> Option<f64> {
        match self.0 {
            Shape::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Draws a number.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        match &self.0 {
            Shape::Constant(value) => *value,
            _ => self.quantile(stream.uniform()),
        }
    }

    /// Quantile of a share `u` from [0, 1).
    pub fn quantile(&self, u: f64) -> f64 {
        match &self.0 {
            Shape::Constant(value) => *value,
            Shape::Uniform { from, to } => from + (to - from) * u,
            Shape::Exponential { mean } => -mean * math::ln(1.0 - u),
            Shape::Pareto { mean, shape } => least(*mean, *shape) * math::pow(1.0 - u, -1.0 / shape),
            Shape::Lognormal { mean, sigma } => mean * math::exp(sigma * (normal::quantile(u) - sigma / 2.0)),
            Shape::Table(rows) => rows[rows.partition_point(|row| row.up_to <= u)].value,
        }
    }

    /// Draws the residual of a renewal process at a random time: it exceeds x with the probability that the integral
    /// of P(X > t) from x on is of the mean (D. R. Cox, Renewal Theory, 1962, chapter 5). A random time falls into
    /// an interval in proportion to its length, and a uniform share of it remains.
    pub fn residual(&self, stream: &mut Stream) -> f64 {
        let (u, share) = (stream.uniform(), stream.uniform());
        let met = match &self.0 {
            // Memoryless: the residual is distributed as the whole.
            Shape::Exponential { .. } => return self.quantile(share),
            Shape::Constant(value) => *value,
            Shape::Uniform { from, to } => (from * from + (to * to - from * from) * u).sqrt(),
            Shape::Pareto { mean, shape } => least(*mean, *shape) * math::pow(1.0 - u, -1.0 / (shape - 1.0)),
            Shape::Lognormal { mean, sigma } => mean * math::exp(sigma * (normal::quantile(u) + sigma / 2.0)),
            Shape::Table(rows) => by_length(rows, u),
        };
        met * share
    }

    /// Mean.
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Shape::Constant(value) => *value,
            Shape::Uniform { from, to } => f64::midpoint(*from, *to),
            Shape::Exponential { mean } | Shape::Pareto { mean, .. } | Shape::Lognormal { mean, .. } => *mean,
            Shape::Table(rows) => moment(rows, |value| value),
        }
    }

    /// Mean of draws clamped to [`least`, `most`].
    pub fn mean_within(&self, least: f64, most: f64) -> f64 {
        least + self.mean_up_to(most) - self.mean_up_to(least)
    }

    /// Mean of the smaller of a draw and `x`: the integral of P(X > t) from 0 to x.
    fn mean_up_to(&self, x: f64) -> f64 {
        match &self.0 {
            Shape::Constant(value) => value.min(x),
            Shape::Uniform { from, .. } if x <= *from => x,
            Shape::Uniform { to, .. } if x >= *to => self.mean(),
            Shape::Uniform { from, to } => x - (x - from) * (x - from) / (2.0 * (to - from)),
            Shape::Exponential { mean } => mean * (1.0 - math::exp(-x / mean)),
            Shape::Pareto { mean, shape } => {
                let least = least(*mean, *shape);
                let tail = |x: f64| least / (shape - 1.0) * math::pow(least / x, shape - 1.0);
                if x <= least { x } else { mean - tail(x) }
            }
            Shape::Lognormal { mean, sigma } => {
                let beyond = (math::ln(x / mean) + sigma * sigma / 2.0) / sigma;
                mean * normal::below(beyond - sigma) + x * normal::below(-beyond)
            }
            Shape::Table(rows) => moment(rows, |value| value.min(x)),
        }
    }

    /// Variance; it may be infinite.
    pub fn variance(&self) -> f64 {
        match &self.0 {
            Shape::Constant(_) => 0.0,
            Shape::Uniform { from, to } => (to - from) * (to - from) / 12.0,
            Shape::Exponential { mean } => mean * mean,
            Shape::Pareto { shape, .. } if *shape <= 2.0 => f64::INFINITY,
            Shape::Pareto { mean, shape } => mean * mean / (shape * (shape - 2.0)),
            Shape::Lognormal { mean, sigma } => mean * mean * (math::exp(sigma * sigma) - 1.0),
            Shape::Table(rows) => {
                let mean = self.mean();
                moment(rows, |value| (value - mean) * (value - mean))
            }
        }
    }

    /// The distribution scaled by `factor`.
    pub fn scaled(&self, factor: f64) -> Draw {
        Draw(match &self.0 {
            Shape::Constant(value) => Shape::Constant(value * factor),
            Shape::Uniform { from, to } => Shape::Uniform { from: from * factor, to: to * factor },
            Shape::Exponential { mean } => Shape::Exponential { mean: mean * factor },
            Shape::Pareto { mean, shape } => Shape::Pareto { mean: mean * factor, shape: *shape },
            Shape::Lognormal { mean, sigma } => Shape::Lognormal { mean: mean * factor, sigma: *sigma },
            Shape::Table(rows) => {
                Shape::Table(rows.iter().map(|row| Row { value: row.value * factor, ..*row }).collect())
            }
        })
    }
}

fn check_value(value: f64) -> Result<(), QuantityError> {
    if (0.0..=LARGEST).contains(&value) {
        return Ok(());
    }
    Err(out_of_range(Some(format!("{value:e}")), "cannot be drawn", &format!("0 to {LARGEST:e}")))
}

fn is_mean(mean: f64) -> Result<(), QuantityError> {
    if mean == 0.0 { Err(out_of_range(None, "the mean is 0", "more than 0")) } else { check_value(mean) }
}

fn out_of_range(found: Option<String>, problem: &str, expected: &str) -> QuantityError {
    let kind = QuantityErrorKind::Range;
    QuantityError { kind, found, problem: problem.into(), hint: None, expected: expected.into() }
}

/// Least value of a Pareto distribution.
fn least(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

/// Mean of `of` over a table.
fn moment(rows: &[Row], of: impl Fn(f64) -> f64) -> f64 {
    let sum: f64 = rows.iter().map(|row| row.share).sum();
    rows.iter().map(|row| row.share * of(row.value)).sum::<f64>() / sum
}

/// Quantile of a table weighted by its values.
fn by_length(rows: &[Row], u: f64) -> f64 {
    let mut left = u * rows.iter().map(|row| row.share * row.value).sum::<f64>();
    let met = rows.iter().find(|row| {
        left -= row.share * row.value;
        left < 0.0
    });
    met.unwrap_or(&rows[rows.len() - 1]).value
}

/// Largest number whose sums stay finite.
const LARGEST: f64 = 1e18;
/// Largest shape: beyond it a Pareto distribution is nearly constant.
const LARGEST_SHAPE: f64 = 1e6;
/// Largest sigma: beyond it a log-normal distribution is nearly zero, and its mean is never observed.
const LARGEST_SIGMA: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A million draws, in order.
    fn sorted(draw: &Draw) -> Vec<f64> {
        let mut stream = Stream::named(7, "draws");
        let mut values: Vec<f64> = (0..1_000_000).map(|_| draw.sample(&mut stream)).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn all() -> Vec<Draw> {
        vec![
            Draw::uniform(1.0, 3.0).unwrap(),
            Draw::exponential(3.0).unwrap(),
            Draw::pareto(3.0, 6.0).unwrap(),
            Draw::lognormal(3.0, 0.5).unwrap(),
            Draw::table(&[(1.0, 1.0), (10.0, 3.0)]).unwrap(),
        ]
    }

    /// Compared with the mean of the same draws, each clamped, for any bounds.
    #[test]
    fn the_mean_of_clamped_draws_is_that_of_samples() {
        for draw in all().into_iter().chain(Draw::pareto(3.0, 1.2).ok()).chain(Draw::constant(7.0).ok()) {
            let values = sorted(&draw);
            let n = values.len() as f64;
            for (least, most) in [(0.1, 0.5), (0.1, 2.0), (1.5, 2.5), (2.5, 40.0), (20.0, 30.0), (0.0, 1e3)] {
                let cut = || values.iter().map(|x| x.clamp(least, most));
                let mean = cut().sum::<f64>() / n;
                let deviation = (cut().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
                let (expected, doubt) = (draw.mean_within(least, most), 4.0 * deviation / n.sqrt() + 1e-9);
                assert!(
                    (mean - expected).abs() < doubt,
                    "{draw:?} from {least} to {most}: {mean}, {expected}"
                );
            }
        }
    }

    #[test]
    fn moments_are_those_of_theory() {
        for draw in all() {
            let values = sorted(&draw);
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let deviation = |power| values.iter().map(|x| math::pow_int(x - mean, power)).sum::<f64>() / n;
            let (variance, fourth) = (deviation(2), deviation(4));
            assert!((mean - draw.mean()).abs() < 4.0 * (draw.variance() / n).sqrt(), "{draw:?}: {mean}");
            let doubt = ((fourth - variance * variance) / n).sqrt();
            assert!((variance - draw.variance()).abs() < 4.0 * doubt + 1e-9, "{draw:?}: {variance}");
        }
        let constant = Draw::constant(7.0).unwrap();
        assert_eq!((constant.mean(), constant.variance()), (7.0, 0.0));
        assert_eq!(Draw::pareto(1.0, 2.0).unwrap().variance(), f64::INFINITY);
    }

    /// Known values of the distribution functions; sample quantiles within the error of a share.
    #[test]
    fn quantiles_are_those_of_theory() {
        let median = |draw: &Draw| draw.quantile(0.5);
        let [uniform, exponential, pareto, lognormal, table] = &all()[..] else { unreachable!() };
        assert_eq!(median(uniform), 2.0);
        assert!((median(exponential) - 3.0 * std::f64::consts::LN_2).abs() < 1e-15);
        // The least value is 2.5, and half of all are below 2.5 x 2^(1/6).
        assert!((pareto.quantile(0.0) - 2.5).abs() < 1e-15 && (median(pareto) - 2.806_155_1).abs() < 1e-7);
        // exp(mu) with mu = ln 3 - sigma^2 / 2.
        assert!((median(lognormal) - 3.0 * math::exp(-0.125)).abs() < 1e-15);
        assert_eq!([0.0, 0.249, 0.25, 0.999].map(|u| table.quantile(u)), [1.0, 1.0, 10.0, 10.0]);
        for draw in [uniform, exponential, pareto, lognormal] {
            let values = sorted(draw);
            for share in [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
                let doubt = 4.0 * (share * (1.0 - share) / values.len() as f64).sqrt();
                let at = draw.quantile(share);
                let below = values.partition_point(|value| *value < at) as f64 / values.len() as f64;
                assert!((below - share).abs() < doubt, "{draw:?}: {below} below the quantile of {share}");
            }
        }
    }

    /// The tail index by Hill's estimator (B. M. Hill 1975): its standard error is a / sqrt(k), and the Pareto
    /// distribution is exact, so there is no bias.
    #[test]
    fn the_tail_index_is_the_shape() {
        for shape in [1.2, 1.4, 1.9, 3.0] {
            let values = sorted(&Draw::pareto(10_000.0, shape).unwrap());
            let k = 10_000;
            let (border, tail) = (values[values.len() - k - 1], &values[values.len() - k..]);
            let hill = k as f64 / tail.iter().map(|value| math::ln(value / border)).sum::<f64>();
            assert!((hill - shape).abs() < 4.0 * shape / (k as f64).sqrt(), "{shape}: {hill}");
        }
    }

    #[test]
    fn one_draw_takes_one_number_and_a_constant_none() {
        let next = |draw: &Draw| {
            let mut stream = Stream::named(1, "count");
            draw.sample(&mut stream);
            stream.uniform()
        };
        let after = all().iter().map(next).collect::<Vec<_>>();
        assert!(after.iter().all(|value| *value == after[0]));
        assert_ne!(next(&Draw::constant(1.0).unwrap()), after[0]);
    }

    /// The mean residual is E[X^2] / 2 E[X]; that of a Pareto interval exceeds x with probability (x / least)^(1 - a)
    /// / a.
    #[test]
    fn the_residual_is_that_of_renewal_theory() {
        let mut stream = Stream::named(11, "left");
        let n = 400_000;
        let mut left = |draw: &Draw| (0..n).map(|_| draw.residual(&mut stream)).collect::<Vec<f64>>();
        for draw in all().iter().chain(&[Draw::constant(3.0).unwrap()]) {
            let values = left(draw);
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let squares = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
            let expected = (draw.variance() + draw.mean() * draw.mean()) / (2.0 * draw.mean());
            assert!((mean - expected).abs() < 4.0 * (squares / f64::from(n)).sqrt(), "{draw:?}: {mean}");
        }
        let values = left(&Draw::pareto(3.5, 1.4).unwrap());
        for x in [1.0, 2.0, 10.0, 1000.0] {
            let expected = math::pow(x, -0.4) / 1.4;
            let share = values.iter().filter(|value| **value > x).count() as f64 / f64::from(n);
            assert!((share - expected).abs() < 4.0 * (expected / f64::from(n)).sqrt(), "{x}: {share}");
        }
    }
}
