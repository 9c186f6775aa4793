//! Distributions of sizes and times.
//!
//! A [`Draw`] is a distribution over numbers that are not negative. Every draw
//! is the distribution's inverse at one uniform number (a constant takes none),
//! so it has the same bits on every machine, and what follows in a stream does
//! not depend on which distribution was asked. [`TimeDraw`] and [`SizeDraw`] are what files
//! write: `"3 s"`, `{ exponential = "3 s" }`, `{ pareto = "10 kB", shape = 1.2 }`.

use crate::math;
use crate::normal;
use crate::param::{Kind, Quantity, Value};
use crate::size::Bytes;
use crate::stream::Stream;
use crate::text::{self, PACKET_UNITS, SIZE_UNITS, did_you_mean};
use crate::time::Span;
use std::fmt;
use std::sync::Arc;

/// A distribution of numbers that are not negative and have a finite mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw(Shape);

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Constant(f64),
    Uniform {
        from: f64,
        to: f64,
    },
    Exponential {
        mean: f64,
    },
    /// P(X > x) = (least / x)^shape.
    Pareto {
        mean: f64,
        shape: f64,
    },
    /// ln X is normal, with this standard deviation.
    Lognormal {
        mean: f64,
        sigma: f64,
    },
    Table(Arc<[Row]>),
}

/// A value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    value: f64,
    /// Its share, as it was given.
    share: f64,
    /// The share of all rows up to this one, of all; the last one's is 1.
    up_to: f64,
}

/// A distribution of times; its numbers are seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeDraw(Draw);

/// A distribution of sizes, in bytes or in packets, which are as large as the flow's are.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeDraw {
    draw: Draw,
    unit: SizeUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeUnit {
    Bytes,
    Packets,
}

impl Draw {
    /// Always this number.
    pub fn constant(value: f64) -> Result<Draw, String> {
        is_legal(value).map(|()| Draw(Shape::Constant(value)))
    }

    /// All numbers between two, alike.
    pub fn uniform(from: f64, to: f64) -> Result<Draw, String> {
        is_legal(from).and(is_legal(to))?;
        if from > to {
            return Err("the first of the two is the greater; legal: from the smaller to the greater".into());
        }
        Ok(Draw(Shape::Uniform { from, to }))
    }

    /// Without memory.
    pub fn exponential(mean: f64) -> Result<Draw, String> {
        is_mean(mean).map(|()| Draw(Shape::Exponential { mean }))
    }

    /// Heavy-tailed: P(X > x) falls as x^-`shape`; the variance is infinite up to a shape of 2.
    pub fn pareto(mean: f64, shape: f64) -> Result<Draw, String> {
        is_mean(mean)?;
        if !(shape > 1.0 && shape <= LARGEST_SHAPE) {
            return Err(format!(
                "shape = {shape}; legal: more than 1, where there is a mean, to {LARGEST_SHAPE}"
            ));
        }
        Ok(Draw(Shape::Pareto { mean, shape }))
    }

    /// The exponential of a normal variable with standard deviation `sigma`.
    pub fn lognormal(mean: f64, sigma: f64) -> Result<Draw, String> {
        is_mean(mean)?;
        if !(sigma > 0.0 && sigma <= LARGEST_SIGMA) {
            return Err(format!("sigma = {sigma}; legal: more than 0, to {LARGEST_SIGMA}"));
        }
        Ok(Draw(Shape::Lognormal { mean, sigma }))
    }

    /// These values, each as often as its share of the sum of all shares.
    pub fn table(rows: &[(f64, f64)]) -> Result<Draw, String> {
        let sum: f64 = rows.iter().map(|(_, share)| share).sum();
        for (value, share) in rows {
            is_legal(*value)?;
            if !(*share > 0.0 && share.is_finite() && sum.is_finite()) {
                return Err(format!("a share of {share}; legal: more than 0, and finite"));
            }
        }
        let mut before = 0.0;
        let mut table: Vec<Row> = Vec::with_capacity(rows.len());
        for (value, share) in rows {
            before += share;
            table.push(Row { value: *value, share: *share, up_to: before / sum });
        }
        let last = table.last_mut().ok_or("the table is empty; legal: one row or more of [VALUE, SHARE]")?;
        last.up_to = 1.0;
        Ok(Draw(Shape::Table(table.into())))
    }

    /// The number that it always is, if it is.
    pub fn as_constant(&self) -> Option<f64> {
        match self.0 {
            Shape::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// A number.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        match &self.0 {
            Shape::Constant(value) => *value,
            _ => self.quantile(stream.uniform()),
        }
    }

    /// The number that a share `u` of all draws, from [0, 1), stays below.
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

    /// How much is left of one at a moment taken at random, where they follow upon each other: it is more than x with
    /// the probability that the integral of P(X > t) from x on has of the mean (D. R. Cox, Renewal Theory, 1962, chapter
    /// 5). Long ones are met in proportion to their length, and of the one that is met a uniform share is left.
    pub fn residual(&self, stream: &mut Stream) -> f64 {
        let (u, share) = (stream.uniform(), stream.uniform());
        let met = match &self.0 {
            // Without memory: what is left is as a whole one.
            Shape::Exponential { .. } => return self.quantile(share),
            Shape::Constant(value) => *value,
            Shape::Uniform { from, to } => (from * from + (to * to - from * from) * u).sqrt(),
            Shape::Pareto { mean, shape } => least(*mean, *shape) * math::pow(1.0 - u, -1.0 / (shape - 1.0)),
            Shape::Lognormal { mean, sigma } => mean * math::exp(sigma * (normal::quantile(u) + sigma / 2.0)),
            Shape::Table(rows) => by_length(rows, u),
        };
        met * share
    }

    /// Its mean.
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Shape::Constant(value) => *value,
            Shape::Uniform { from, to } => f64::midpoint(*from, *to),
            Shape::Exponential { mean } | Shape::Pareto { mean, .. } | Shape::Lognormal { mean, .. } => *mean,
            Shape::Table(rows) => moment(rows, |value| value),
        }
    }

    /// The mean of what is drawn when it is cut to lie from `least` to `most`.
    pub fn mean_within(&self, least: f64, most: f64) -> f64 {
        least + self.mean_up_to(most) - self.mean_up_to(least)
    }

    /// The mean of the smaller of a draw and `x`: the integral of P(X > t) from 0 to x.
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

    /// Its variance; it may be infinite.
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

    /// The same distribution of numbers `factor` times as large.
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

    /// Reads a value, or a table that names the distribution; `one` reads each number that has a unit.
    fn read(value: &Value, one: &mut dyn FnMut(&Value) -> Result<f64, String>) -> Result<Draw, String> {
        let Value::Table(entries) = value else { return Draw::constant(one(value)?) };
        let Some((word, given)) = entries.first() else { return Err(format!("is empty; {}", legal())) };
        let named = || FORMS.iter().filter(|form| !form.word.is_empty());
        let Some(Form { second, .. }) = named().find(|form| form.word == word) else {
            let hint = did_you_mean(word, named().map(|form| form.word));
            return Err(format!("\"{word}\" is no known distribution{hint}; {}", legal()));
        };
        let parameter = || match (&entries[1..], second) {
            ([], None) => Ok(0.0),
            ([(key, number)], Some(second)) if key == second => f64::read(number),
            ([], Some(second)) => Err(format!("\"{word}\" needs its {second}; {}", legal())),
            ([(key, _), ..], _) => Err(format!("\"{key}\" does not go with \"{word}\"; {}", legal())),
        };
        match (*word).as_str() {
            "uniform" => {
                parameter()?;
                let [from, to] =
                    pair(given).ok_or_else(|| format!("{given} is not [FROM, TO]; {}", legal()))?;
                Draw::uniform(one(from)?, one(to)?)
            }
            "exponential" => parameter().and(Draw::exponential(one(given)?)),
            "pareto" => Draw::pareto(one(given)?, parameter()?),
            "lognormal" => Draw::lognormal(one(given)?, parameter()?),
            _ => {
                parameter()?;
                let Value::List(items) = given else {
                    return Err(format!("{given} is not a list; {}", legal()));
                };
                let row = |item| {
                    let [value, share] =
                        pair(item).ok_or_else(|| format!("{item} is not [VALUE, SHARE]; {}", legal()))?;
                    Ok((one(value)?, f64::read(share)?))
                };
                Draw::table(&items.iter().map(row).collect::<Result<Vec<_>, String>>()?)
            }
        }
    }

    /// The value, such that `read` gives it back; `one` writes each number that has a unit.
    fn write(&self, one: &dyn Fn(f64) -> Value) -> Value {
        let table = |word: &str, value, second: Option<(&str, f64)>| {
            let second = second.map(|(key, number)| (key.into(), Value::Number(number)));
            Value::Table(std::iter::once((word.into(), value)).chain(second).collect())
        };
        match &self.0 {
            Shape::Constant(value) => one(*value),
            Shape::Uniform { from, to } => table("uniform", Value::List(vec![one(*from), one(*to)]), None),
            Shape::Exponential { mean } => table("exponential", one(*mean), None),
            Shape::Pareto { mean, shape } => table("pareto", one(*mean), Some(("shape", *shape))),
            Shape::Lognormal { mean, sigma } => table("lognormal", one(*mean), Some(("sigma", *sigma))),
            Shape::Table(rows) => {
                let row = |row: &Row| Value::List(vec![one(row.value), Value::Number(row.share)]);
                table("table", Value::List(rows.iter().map(row).collect()), None)
            }
        }
    }

    /// In words; `one` writes each number that has a unit.
    fn told(&self, f: &mut fmt::Formatter<'_>, one: &dyn Fn(f64) -> String) -> fmt::Result {
        let mean = one(self.mean());
        match &self.0 {
            Shape::Constant(_) => f.write_str(&mean),
            Shape::Uniform { from, to } => write!(f, "uniform from {} to {}", one(*from), one(*to)),
            Shape::Exponential { .. } => write!(f, "exponential of mean {mean}"),
            Shape::Pareto { shape, .. } => write!(f, "Pareto of mean {mean} and shape {shape}"),
            Shape::Lognormal { sigma, .. } => write!(f, "log-normal of mean {mean} and sigma {sigma}"),
            Shape::Table(rows) => write!(f, "from a table of {} with mean {mean}", rows.len()),
        }
    }
}

impl TimeDraw {
    /// A distribution of seconds.
    pub fn of_seconds(draw: Draw) -> TimeDraw {
        TimeDraw(draw)
    }

    /// Of seconds.
    pub fn seconds(&self) -> &Draw {
        &self.0
    }

    /// A time, to the nearest nanosecond.
    pub fn sample(&self, stream: &mut Stream) -> Span {
        Span::from_seconds(self.0.sample(stream))
    }
}

impl SizeDraw {
    /// A distribution of bytes.
    pub fn of_bytes(draw: Draw) -> SizeDraw {
        SizeDraw { draw, unit: SizeUnit::Bytes }
    }

    /// A distribution of numbers of packets.
    pub fn of_packets(draw: Draw) -> SizeDraw {
        SizeDraw { draw, unit: SizeUnit::Packets }
    }

    /// Whether it is of packets.
    pub fn is_in_packets(&self) -> bool {
        self.unit == SizeUnit::Packets
    }

    /// Of bytes, where packets are of `packet` bytes.
    pub fn bytes(&self, packet: f64) -> Draw {
        match self.unit {
            SizeUnit::Bytes => self.draw.clone(),
            SizeUnit::Packets => self.draw.scaled(packet),
        }
    }

    fn write_one(&self, size: f64) -> String {
        match self.unit {
            SizeUnit::Bytes => Bytes::new(size.round() as u64).to_string(),
            SizeUnit::Packets => format!("{size} packets"),
        }
    }
}

impl Quantity for TimeDraw {
    fn kind() -> Kind {
        Kind::TimeDraw
    }
    fn read(value: &Value) -> Result<TimeDraw, String> {
        Draw::read(value, &mut |value| Span::read(value).map(Span::seconds)).map(TimeDraw)
    }
    fn write(&self) -> Value {
        self.0.write(&|seconds| Span::from_seconds(seconds).write())
    }
}

impl Quantity for SizeDraw {
    fn kind() -> Kind {
        Kind::SizeDraw
    }
    fn read(value: &Value) -> Result<SizeDraw, String> {
        let mut unit = None;
        let draw = Draw::read(value, &mut |value| {
            let (size, this) = size_of(value)?;
            if *unit.get_or_insert(this) == this {
                return Ok(size);
            }
            Err("some sizes are in packets and some in bytes; legal: all in one of the two".into())
        })?;
        Ok(SizeDraw { draw, unit: unit.unwrap_or(SizeUnit::Bytes) })
    }
    fn write(&self) -> Value {
        self.draw.write(&|size| Value::Text(self.write_one(size)))
    }
}

impl fmt::Display for TimeDraw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.told(f, &|seconds| Span::from_seconds(seconds).to_string())
    }
}

impl fmt::Display for SizeDraw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.draw.told(f, &|size| self.write_one(size))
    }
}

/// The table in the text of a file, `VALUE, SHARE` on each line, as a scenario would have it; empty lines and what is
/// behind a `#` say nothing. Whether its values can be drawn is not looked at.
pub fn table_of(text: &[u8]) -> Result<Value, String> {
    let text =
        std::str::from_utf8(text).map_err(|_| "is not text; legal: lines of VALUE, SHARE".to_string())?;
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let row = line.split_once(',').and_then(|(value, share)| {
            let share = share.trim().parse().ok().map(Value::Number)?;
            Some(Value::List(vec![Value::Text(value.trim().into()), share]))
        });
        rows.push(row.ok_or_else(|| {
            let shown: String = line.chars().take(40).collect();
            format!("line {number}: \"{shown}\" is not VALUE, SHARE; write it like 10 kB, 0.5")
        })?);
        if rows.len() > MOST_ROWS {
            return Err(format!("line {number}: too long a table; legal: at most {MOST_ROWS} rows"));
        }
    }
    Ok(Value::Table(vec![("table".into(), Value::List(rows))]))
}

/// `"10 kB"` or `"12 packets"`.
fn size_of(value: &Value) -> Result<(f64, SizeUnit), String> {
    let units = [PACKET_UNITS, SIZE_UNITS].concat();
    let written = match value {
        Value::Text(text) => text.clone(),
        Value::Number(_) | Value::Whole(_) => value.to_string(),
        other => return Err(format!("{other} is not text with a unit; write it like \"10 kB\"")),
    };
    let size = text::parse_float(&written, &units, "a size")?;
    let (_, unit) = text::split(&written);
    if PACKET_UNITS.iter().any(|(name, _)| *name == unit) {
        return Ok((size, SizeUnit::Packets));
    }
    Bytes::parse(&written).map(|bytes| (bytes.get() as f64, SizeUnit::Bytes))
}

fn pair(value: &Value) -> Option<[&Value; 2]> {
    let Value::List(items) = value else { return None };
    let [one, two] = items.as_slice() else { return None };
    Some([one, two])
}

fn is_legal(value: f64) -> Result<(), String> {
    if (0.0..=LARGEST).contains(&value) {
        return Ok(());
    }
    Err(format!("{value:e} cannot be drawn; legal: 0 to {LARGEST:e}"))
}

fn is_mean(mean: f64) -> Result<(), String> {
    if mean == 0.0 { Err("the mean is 0; legal: more than 0".into()) } else { is_legal(mean) }
}

/// The least value of a Pareto distribution.
fn least(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

/// The mean of `of` over a table.
fn moment(rows: &[Row], of: impl Fn(f64) -> f64) -> f64 {
    let sum: f64 = rows.iter().map(|row| row.share).sum();
    rows.iter().map(|row| row.share * of(row.value)).sum::<f64>() / sum
}

/// The value of a table that a share `u` stays below where each is as often again as it is large.
fn by_length(rows: &[Row], u: f64) -> f64 {
    let mut left = u * rows.iter().map(|row| row.share * row.value).sum::<f64>();
    let met = rows.iter().find(|row| {
        left -= row.share * row.value;
        left < 0.0
    });
    met.unwrap_or(&rows[rows.len() - 1]).value
}

/// A form that a distribution may have in a file.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// How it is written.
    pub form: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Its word, and that of its second parameter; none where it is no table, or one that lies elsewhere.
    word: &'static str,
    second: Option<&'static str>,
}

/// One row of [`FORMS`].
const fn form(
    word: &'static str,
    second: Option<&'static str>,
    form: &'static str,
    about: &'static str,
) -> Form {
    Form { form, about, word, second }
}

/// How a distribution is written.
pub const FORMS: &[Form] = &[
    form("", None, "VALUE", "always this: \"3 s\", \"10 kB\", \"12 packets\""),
    form("exponential", None, "{ exponential = MEAN }", "exponential, with this mean"),
    form("uniform", None, "{ uniform = [FROM, TO] }", "evenly between the two"),
    form(
        "pareto",
        Some("shape"),
        "{ pareto = MEAN, shape = NUMBER }",
        "P(X > x) = (least / x)^shape from a least value on, such that this is the mean; shape, the tail index, is more than 1, \
         and the variance has no bound up to 2",
    ),
    form(
        "lognormal",
        Some("sigma"),
        "{ lognormal = MEAN, sigma = NUMBER }",
        "ln X is normal with the standard deviation sigma; MEAN is that of X itself",
    ),
    form(
        "table",
        None,
        "{ table = [[VALUE, SHARE], ...] }",
        "each value as often as its share of the sum of all shares: weights, which are not cumulative and need not sum to 1",
    ),
    form(
        "",
        None,
        "{ file = NAME }",
        "such a table in a file beside the scenario, VALUE, SHARE a line, as in 10 kB, 0.5; empty lines and what is behind a # \
         say nothing; for keys of [[flows]]",
    ),
];

/// What a fault says of all forms.
fn legal() -> String {
    let forms: Vec<&str> = FORMS.iter().map(|form| form.form).collect();
    format!("legal: {}", forms.join(", "))
}

/// Rows of a table in a file.
const MOST_ROWS: usize = 100_000;
/// Numbers that are drawn, and their sums, stay finite.
const LARGEST: f64 = 1e18;
/// Beyond this a Pareto distribution is all but a constant.
const LARGEST_SHAPE: f64 = 1e6;
/// Beyond this a log-normal distribution is all but zero, and its mean never seen.
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

    /// Against the mean of the same draws, cut one by one; wherever the bounds lie.
    #[test]
    fn the_mean_of_what_is_cut_is_that_of_the_draws() {
        for draw in all().into_iter().chain(Draw::pareto(3.0, 1.2).ok()).chain(Draw::constant(7.0).ok()) {
            let values = sorted(&draw);
            let n = values.len() as f64;
            for (least, most) in [(0.1, 0.5), (0.1, 2.0), (1.5, 2.5), (2.5, 40.0), (20.0, 30.0), (0.0, 1e3)] {
                let cut = || values.iter().map(|x| x.clamp(least, most));
                let mean = cut().sum::<f64>() / n;
                let deviation = (cut().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
                let (told, doubt) = (draw.mean_within(least, most), 4.0 * deviation / n.sqrt() + 1e-9);
                assert!((mean - told).abs() < doubt, "{draw:?} from {least} to {most}: {mean}, {told}");
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

    /// Known values of the distribution functions; the draws' own quantiles within the error of a share.
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

    /// The tail index as Hill's estimator sees it (B. M. Hill 1975): its standard error is a / sqrt(k), and the Pareto
    /// law is exact, so there is no bias.
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

    /// E[X^2] / 2 E[X] is left on average; of a Pareto period more than x with probability (x / least)^(1 - a) / a.
    #[test]
    fn what_is_left_of_one_is_that_of_renewal_theory() {
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

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn of(word: &str, value: Value, second: &[(&str, f64)]) -> Value {
        let second = second.iter().map(|(key, number)| ((*key).into(), Value::Number(*number)));
        Value::Table(std::iter::once((word.into(), value)).chain(second).collect())
    }

    #[test]
    fn what_is_read_is_written() {
        let rows = [["1 kB", "10 kB"].map(text), ["2 packets", "3 packets"].map(text)];
        let table = |values: &[Value]| {
            let rows = values.iter().map(|value| Value::List(vec![value.clone(), Value::Number(0.5)]));
            of("table", Value::List(rows.collect()), &[])
        };
        for value in [
            text("12 packets"),
            text("10 kB"),
            of("exponential", text("12 packets"), &[]),
            of("uniform", Value::List(vec![text("1 MB"), text("2 MB")]), &[]),
            of("pareto", text("10 kB"), &[("shape", 1.2)]),
            of("lognormal", text("10 kB"), &[("sigma", 1.5)]),
            table(&rows[1]),
        ] {
            assert_eq!(SizeDraw::read(&value).unwrap().write(), value);
        }
        for value in [text("3 s"), of("exponential", text("500 ms"), &[])] {
            assert_eq!(TimeDraw::read(&value).unwrap().write(), value);
        }
        let sizes = SizeDraw::read(&table(&rows[0])).unwrap();
        assert_eq!(SizeDraw::read(&sizes.write()), Ok(sizes.clone()));
        assert_eq!(sizes.bytes(1500.0).mean(), 5500.0);
        assert_eq!(SizeDraw::read(&text("12 packets")).unwrap().bytes(1500.0).mean(), 18_000.0);
        assert_eq!(sizes.to_string(), "from a table of 2 with mean 5500 B");
    }

    #[test]
    fn a_table_may_stand_in_a_file() {
        let table = table_of(b"# sizes\n1 kB, 3\n\n 10 kB ,1 # rare\n").unwrap();
        assert_eq!(SizeDraw::read(&table).unwrap().bytes(1500.0).mean(), 3250.0);
        for (text, said) in [
            (&b"1 kB, 3\n10 kB 1"[..], "line 2: \"10 kB 1\" is not VALUE, SHARE"),
            (b"1 kB, many", "line 1: \"1 kB, many\" is not"),
            (b"\xff", "is not text"),
        ] {
            assert!(table_of(text).unwrap_err().contains(said), "{text:?}");
        }
        assert!(SizeDraw::read(&table_of(b"").unwrap()).unwrap_err().contains("the table is empty"));
    }

    #[test]
    fn refusals_say_what_is_legal() {
        let refused = |value: &Value, said: &str| {
            let told = SizeDraw::read(value).unwrap_err();
            assert!(told.contains(said), "{value}: {told}");
        };
        refused(&Value::Whole(12), "needs a unit");
        refused(&Value::Flag(true), "write it like \"10 kB\"");
        refused(&Value::Table(Vec::new()), "is empty");
        refused(&of("expnential", text("1 kB"), &[]), "did you mean \"exponential\"?");
        refused(&of("pareto", text("1 kB"), &[]), "needs its shape");
        refused(&of("pareto", text("1 kB"), &[("shape", 1.0)]), "more than 1");
        refused(&of("exponential", text("1 kB"), &[("shape", 2.0)]), "does not go with");
        refused(&of("exponential", text("0 B"), &[]), "more than 0");
        refused(&text("1e300 packets"), "1e300 cannot be drawn; legal: 0 to 1e18");
        refused(&of("uniform", Value::List(vec![text("2 kB"), text("1 kB")]), &[]), "first of the two");
        refused(&of("uniform", Value::List(vec![text("2 kB"), text("3 packets")]), &[]), "all in one");
        refused(&of("uniform", text("2 kB"), &[]), "[FROM, TO]");
        refused(&of("table", Value::List(Vec::new()), &[]), "empty");
        refused(&of("lognormal", text("1 kB"), &[("sigma", f64::NAN)]), "not a finite number");
        refused(
            &of("table", Value::List(vec![Value::List(vec![text("1 kB"), Value::Number(0.0)])]), &[]),
            "more than 0",
        );
    }
}
