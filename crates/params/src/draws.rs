//! Distributions of sizes and times in files: `"3 s"`, `{ exponential = "3 s" }`, `{ pareto = "10 kB", shape = 1.2 }`.

use crate::error::{ErrorKind, Errors, InputError};
use crate::field::{Kind, Quantity};
use crate::value::Value;
use sojourn_random::{Draw, Row, Shape, Stream};
use sojourn_units::text::{self, PACKET_UNITS, SIZE_UNITS};
use sojourn_units::{Bytes, Expected, Span};
use std::fmt;

/// A distribution of times, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeDraw(Draw);

/// A distribution of sizes, in bytes or in packets of the flow's size.
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

impl TimeDraw {
    /// A distribution of seconds.
    pub fn of_seconds(draw: Draw) -> TimeDraw {
        TimeDraw(draw)
    }

    /// The distribution of seconds.
    pub fn seconds(&self) -> &Draw {
        &self.0
    }

    /// Draws a time, to the nearest nanosecond.
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

    /// True if its unit is packets.
    pub fn is_in_packets(&self) -> bool {
        self.unit == SizeUnit::Packets
    }

    /// The distribution of bytes, with packets of `packet` bytes.
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
    fn read(value: &Value) -> Result<TimeDraw, Errors> {
        read(value, &mut |value| Span::read(value).map(Span::seconds)).map(TimeDraw)
    }
    fn write(&self) -> Value {
        write(&self.0, &|seconds| Span::from_seconds(seconds).write())
    }
}

impl Quantity for SizeDraw {
    fn kind() -> Kind {
        Kind::SizeDraw
    }
    fn read(value: &Value) -> Result<SizeDraw, Errors> {
        let mut unit = None;
        let draw = read(value, &mut |value| {
            let (size, this) = size_of(value)?;
            if *unit.get_or_insert(this) == this {
                return Ok(size);
            }
            let problem = "some sizes are in packets and some in bytes";
            Err(InputError::new(ErrorKind::Conflict, problem, "all in one of the two").into())
        })?;
        Ok(SizeDraw { draw, unit: unit.unwrap_or(SizeUnit::Bytes) })
    }
    fn write(&self) -> Value {
        write(&self.draw, &|size| Value::Text(self.write_one(size)))
    }
}

impl fmt::Display for TimeDraw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(&self.0, f, &|seconds| Span::from_seconds(seconds).to_string())
    }
}

impl fmt::Display for SizeDraw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(&self.draw, f, &|size| self.write_one(size))
    }
}

/// Reads a value, or a table that names the distribution; `one` reads each number with a unit.
fn read(value: &Value, one: &mut dyn FnMut(&Value) -> Result<f64, Errors>) -> Result<Draw, Errors> {
    let Value::Table(entries) = value else { return Ok(Draw::constant(one(value)?)?) };
    let Some((word, operand)) = entries.first() else {
        return Err(InputError::new(ErrorKind::Missing, "is empty", forms()).into());
    };
    let named = || FORMS.iter().filter(|form| !form.word.is_empty());
    let Some(Form { second, .. }) = named().find(|form| form.word == word) else {
        let error = InputError::unknown_name(word, "is not a distribution", named().map(|form| form.word));
        return Err(InputError { expected: forms(), ..error }.into());
    };
    let parameter = || match (&entries[1..], second) {
        ([], None) => Ok(0.0),
        ([(key, number)], Some(second)) if key == second => f64::read(number).map_err(|error| error.at(key)),
        ([], Some(second)) => {
            Err(InputError::new(ErrorKind::Missing, format!("\"{word}\" needs its {second}"), forms()).into())
        }
        ([(key, _), ..], _) => {
            let problem = format!("\"{key}\" does not go with \"{word}\"");
            Err(Errors::from(InputError::new(ErrorKind::UnknownKey, problem, forms())))
        }
    };
    Ok(match (*word).as_str() {
        "uniform" => {
            parameter()?;
            let [from, to] =
                pair(operand).ok_or_else(|| InputError::of_type(operand, "is not [FROM, TO]", forms()))?;
            Draw::uniform(one(from)?, one(to)?)
        }
        "exponential" => {
            parameter()?;
            Draw::exponential(one(operand)?)
        }
        "pareto" => Draw::pareto(one(operand)?, parameter()?),
        "lognormal" => Draw::lognormal(one(operand)?, parameter()?),
        _ => {
            parameter()?;
            let Value::List(items) = operand else {
                return Err(InputError::of_type(operand, "is not a list", forms()).into());
            };
            let row = |item| -> Result<(f64, f64), Errors> {
                let [value, share] =
                    pair(item).ok_or_else(|| InputError::of_type(item, "is not [VALUE, SHARE]", forms()))?;
                Ok((one(value)?, f64::read(share)?))
            };
            Draw::table(&items.iter().map(row).collect::<Result<Vec<_>, Errors>>()?)
        }
    }?)
}

/// The value that `read` reads back; `one` writes each number with a unit.
fn write(draw: &Draw, one: &dyn Fn(f64) -> Value) -> Value {
    let table = |word: &str, value, second: Option<(&str, f64)>| {
        let second = second.map(|(key, number)| (key.into(), Value::Number(number)));
        Value::Table(std::iter::once((word.into(), value)).chain(second).collect())
    };
    match draw.shape() {
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

/// Writes a description; `one` writes each number with a unit.
fn describe(draw: &Draw, f: &mut fmt::Formatter<'_>, one: &dyn Fn(f64) -> String) -> fmt::Result {
    let mean = one(draw.mean());
    match draw.shape() {
        Shape::Constant(_) => f.write_str(&mean),
        Shape::Uniform { from, to } => write!(f, "uniform from {} to {}", one(*from), one(*to)),
        Shape::Exponential { .. } => write!(f, "exponential of mean {mean}"),
        Shape::Pareto { shape, .. } => write!(f, "Pareto of mean {mean} and shape {shape}"),
        Shape::Lognormal { sigma, .. } => write!(f, "log-normal of mean {mean} and sigma {sigma}"),
        Shape::Table(rows) => write!(f, "from a table of {} with mean {mean}", rows.len()),
    }
}

/// The table in the text of a file, `VALUE, SHARE` on each line, in the form of a scenario; empty lines and comments
/// after `#` are skipped. The values are not validated.
pub fn table_of(text: &[u8]) -> Result<Value, InputError> {
    let wrong = |problem: String, expected: &str| InputError::new(ErrorKind::File, problem, expected);
    let text = std::str::from_utf8(text)
        .map_err(|_| wrong("is not text".into(), "lines of VALUE, SHARE, as in 10 kB, 0.5"))?;
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
            wrong(
                format!("line {number}: \"{shown}\" is not VALUE, SHARE"),
                "a value and its share, as in 10 kB, 0.5",
            )
        })?);
        if rows.len() > MOST_ROWS {
            let expected = format!("at most {MOST_ROWS} rows");
            return Err(wrong(format!("line {number}: too long a table"), &expected));
        }
    }
    Ok(Value::Table(vec![("table".into(), Value::List(rows))]))
}

/// `"10 kB"` or `"12 packets"`.
fn size_of(value: &Value) -> Result<(f64, SizeUnit), Errors> {
    let units = [PACKET_UNITS, SIZE_UNITS].concat();
    let written = match value {
        Value::Text(text) => text.clone(),
        Value::Number(_) | Value::Whole(_) => value.to_string(),
        other => {
            let expected = Expected::Like("\"10 kB\"".into());
            return Err(InputError::of_type(other, "is not text with a unit", expected).into());
        }
    };
    let size = text::parse_float(&written, &units, "a size")?;
    let (_, unit) = text::split(&written);
    if PACKET_UNITS.iter().any(|(name, _)| *name == unit) {
        return Ok((size, SizeUnit::Packets));
    }
    Ok(Bytes::parse(&written).map(|bytes| (bytes.get() as f64, SizeUnit::Bytes))?)
}

fn pair(value: &Value) -> Option<[&Value; 2]> {
    let Value::List(items) = value else { return None };
    let [one, two] = items.as_slice() else { return None };
    Some([one, two])
}

/// A form of a distribution in a file.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Syntax.
    pub form: &'static str,
    /// Meaning.
    pub about: &'static str,
    /// Its keyword, and that of its second parameter; none where it is no table, or one defined elsewhere.
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

/// Forms of a distribution.
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
        "such a table in a file beside the scenario, VALUE, SHARE a line, as in 10 kB, 0.5; empty lines and comments after # are \
         skipped; for keys of [[flows]]",
    ),
];

/// All forms, as an error lists them.
fn forms() -> Expected {
    Expected::one_of(FORMS.iter().map(|form| form.form))
}

/// Rows of a table in a file.
const MOST_ROWS: usize = 100_000;
#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn of(word: &str, value: Value, second: &[(&str, f64)]) -> Value {
        let second = second.iter().map(|(key, number)| ((*key).into(), Value::Number(*number)));
        Value::Table(std::iter::once((word.into(), value)).chain(second).collect())
    }

    #[test]
    fn a_read_value_is_written_back() {
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
    fn a_table_may_be_in_a_file() {
        let table = table_of(b"# sizes\n1 kB, 3\n\n 10 kB ,1 # rare\n").unwrap();
        assert_eq!(SizeDraw::read(&table).unwrap().bytes(1500.0).mean(), 3250.0);
        for (text, message) in [
            (&b"1 kB, 3\n10 kB 1"[..], "line 2: \"10 kB 1\" is not VALUE, SHARE"),
            (b"1 kB, many", "line 1: \"1 kB, many\" is not"),
            (b"\xff", "is not text"),
        ] {
            assert!(table_of(text).unwrap_err().to_string().contains(message), "{text:?}");
        }
        assert!(
            SizeDraw::read(&table_of(b"").unwrap()).unwrap_err().to_string().contains("the table is empty")
        );
    }

    #[test]
    fn errors_name_the_expected_form() {
        let refused = |value: &Value, message: &str| {
            let error = SizeDraw::read(value).unwrap_err().to_string();
            assert!(error.contains(message), "{value}: {error}");
        };
        refused(&Value::Whole(12), "needs a unit");
        refused(&Value::Flag(true), "write it like \"10 kB\"");
        refused(&Value::Table(Vec::new()), "is empty");
        refused(&of("expnential", text("1 kB"), &[]), "did you mean \"exponential\"?");
        refused(&of("pareto", text("1 kB"), &[]), "needs its shape");
        refused(&of("pareto", text("1 kB"), &[("shape", 1.0)]), "more than 1");
        refused(&of("exponential", text("1 kB"), &[("shape", 2.0)]), "does not go with");
        refused(&of("exponential", text("0 B"), &[]), "more than 0");
        refused(&text("1e300 packets"), "1e300 cannot be drawn; expected 0 to 1e18");
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
