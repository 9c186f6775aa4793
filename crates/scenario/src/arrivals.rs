//! Arrivals of flows during a run.

use sojourn_params::{At, Described, ErrorKind, Errors, Expected, InputError, Kind, Quantity, Value, params};
use sojourn_units::Span;
use std::fmt;
use std::sync::Arc;

/// Flows that arrive during the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// At random, with this mean time between them, also before the first.
    Poisson(Span),
    /// In even steps, in batches: sizes uniform between the two numbers.
    Every(Span, [u32; 2]),
    /// At the times of a list.
    Listed(Listed),
}

/// A list of arrivals in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The file's name, as the scenario has it.
    pub file: String,
    /// Time of each arrival, ascending, and the bytes to transfer where the file has them.
    pub times: Arc<[(Span, Option<u64>)]>,
}

params! {
    /// Arrivals as in a file.
    pub struct Table {
        /// mean time between arrivals at random
        poisson: Option<Span> = None, above "0 s", "none: one of the three is given";
        /// time between arrivals in even steps
        every: Option<Span> = None, above "0 s", "none: one of the three is given";
        /// flows that arrive at each step: [LEAST, MOST], drawn uniformly, or a number; with every
        batch: Option<Batch> = None, "one at each step";
        /// file with SECONDS or SECONDS,BYTES a line, in order of time
        file: Option<String> = None, "none: one of the three is given";
    }
}

/// Bounds of the number of flows in a batch, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Batch([u32; 2]);

impl Arrivals {
    /// The same with the list of its file, read by `read`.
    pub(crate) fn load(
        self,
        read: &dyn Fn(&str) -> Result<Vec<u8>, InputError>,
    ) -> Result<Arrivals, InputError> {
        match self {
            Arrivals::Listed(Listed { file, .. }) => {
                let times = read(&file).and_then(|text| listed(&file, &text)).at("file")?;
                Ok(Arrivals::Listed(Listed { file, times: times.into() }))
            }
            other => Ok(other),
        }
    }

    /// Mean number of arrivals until `end`.
    pub(crate) fn by(&self, end: Span) -> f64 {
        match self {
            Arrivals::Poisson(gap) => end.seconds() / gap.seconds(),
            Arrivals::Every(step, [least, most]) => {
                end.seconds() / step.seconds() * (f64::from(*least) + f64::from(*most)) / 2.0
            }
            Arrivals::Listed(listed) => listed.times.len() as f64,
        }
    }
}

/// One arrival per line: seconds, and optionally the bytes that it transfers.
fn listed(file: &str, text: &[u8]) -> Result<Vec<(Span, Option<u64>)>, InputError> {
    let error = |number: usize, problem: &str, expected: &str| {
        InputError::new(ErrorKind::File, format!("{file}, line {number}: {problem}"), expected)
    };
    let text = std::str::from_utf8(text).map_err(|_| error(1, "is not text", LINE))?;
    let mut times: Vec<(Span, Option<u64>)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |problem: &str| error(number, problem, LINE_IN_ORDER);
        let (time, bytes) = line.split_once(',').map_or((line, None), |(time, bytes)| (time, Some(bytes)));
        let seconds: f64 =
            time.trim().parse().map_err(|_| wrong(&format!("{:?} is not a number", cut(time))))?;
        if !(0.0..=LATEST).contains(&seconds) {
            return Err(wrong(&format!("{} is not a time", cut(time))));
        }
        let bytes = match bytes.map(|bytes| bytes.trim().parse::<u64>()) {
            None => None,
            Some(Ok(bytes)) if (1..=LARGEST).contains(&bytes) => Some(bytes),
            Some(_) => return Err(wrong(&format!("{:?} is not a number of bytes", cut(line)))),
        };
        let time = Span::from_seconds(seconds);
        if times.last().is_some_and(|(last, _)| *last > time) {
            return Err(wrong("time runs back"));
        }
        if times.len() == MOST {
            return Err(wrong("is one too many"));
        }
        times.push((time, bytes));
    }
    if times.is_empty() { Err(error(1, "holds no arrival", LINE)) } else { Ok(times) }
}

fn cut(text: &str) -> String {
    text.chars().take(20).collect()
}

impl Table {
    /// The arrivals that it defines, of a file without its list.
    fn arrivals(self) -> Result<Arrivals, InputError> {
        let Table { poisson, every, batch, file } = self;
        match (poisson, every, file) {
            (None, Some(step), None) => Ok(Arrivals::Every(step, batch.unwrap_or(Batch([1, 1])).0)),
            (Some(_), None, None) | (None, None, Some(_)) if batch.is_some() => {
                Err(InputError::clash("stands without every", forms()).at("batch"))
            }
            (Some(mean), None, None) => Ok(Arrivals::Poisson(mean)),
            (None, None, Some(file)) => Ok(Arrivals::Listed(Listed { file, times: Arc::new([]) })),
            (None, None, None) => Err(InputError::new(ErrorKind::Missing, "has no arrival times", forms())),
            _ => {
                let problem = "has more than one of poisson, every and file";
                Err(InputError::clash(problem, forms()))
            }
        }
    }
}

impl Quantity for Arrivals {
    fn kind() -> Kind {
        Kind::Keys(Table::fields)
    }
    fn read(value: &Value) -> Result<Arrivals, Errors> {
        let Value::Table(entries) = value else {
            return Err(InputError::of_type(value, "is not a table", forms()).into());
        };
        Ok(Table::from_values(entries)?.arrivals()?)
    }
    fn write(&self) -> Value {
        let none = Table::default();
        match self {
            Arrivals::Poisson(mean) => Table { poisson: Some(*mean), ..none },
            Arrivals::Every(step, batch) => {
                let batch = (*batch != [1, 1]).then_some(Batch(*batch));
                Table { every: Some(*step), batch, ..none }
            }
            Arrivals::Listed(Listed { file, .. }) => Table { file: Some(file.clone()), ..none },
        }
        .write()
    }
}

impl Quantity for Batch {
    const RULE: &'static str = "LEAST <= MOST, MOST from 1 to 100000";

    fn kind() -> Kind {
        Kind::Wholes
    }
    fn read(value: &Value) -> Result<Batch, Errors> {
        let [least, most] = match Vec::<u64>::read(value)?.as_slice() {
            [number] => [*number; 2],
            [least, most] => [*least, *most],
            _ => return Err(InputError::of_type(value, "is not a batch", BATCH).into()),
        };
        if least <= most && (1..=LARGEST_BATCH).contains(&most) {
            return Ok(Batch([least as u32, most as u32]));
        }
        Err(InputError::out_of_range(value, BATCH).into())
    }
    fn write(&self) -> Value {
        Value::List(self.0.iter().map(Quantity::write).collect())
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrivals::Poisson(mean) => write!(f, "at random each {mean}"),
            Arrivals::Every(step, [1, 1]) => write!(f, "each {step}"),
            Arrivals::Every(step, [least, most]) => write!(f, "{least} to {most} each {step}"),
            Arrivals::Listed(Listed { file, times }) => write!(f, "{} as {file} has them", times.len()),
        }
    }
}

/// Forms of arrivals, as an error lists them.
fn forms() -> Expected {
    Expected::one_of([
        "{ poisson = TIME }",
        "{ every = TIME }",
        "{ every = TIME, batch = [LEAST, MOST] }",
        "{ file = NAME }",
    ])
}

/// A line of a file.
const LINE: &str = "SECONDS or SECONDS,BYTES";
const LINE_IN_ORDER: &str = "SECONDS or SECONDS,BYTES, in order of time";
/// A batch in words.
const BATCH: &str = "N or [LEAST, MOST], 100000 at most";
/// Lines of a file.
const MOST: usize = 1_000_000;
/// Seconds.
const LATEST: f64 = 1e9;
/// Bytes of a transfer.
const LARGEST: u64 = 1 << 50;
/// Flows at a time.
const LARGEST_BATCH: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::value;

    fn read(text: &str) -> Result<Arrivals, Errors> {
        Arrivals::read(&value(text))
    }

    #[test]
    fn arrivals_are_read_as_they_are_written() {
        for text in [
            "{ poisson = '50 ms' }",
            "{ every = '1 s' }",
            "{ every = '5 s', batch = [0, 5] }",
            "{ file = 'a.csv' }",
        ] {
            let arrivals = read(text).unwrap();
            assert_eq!(Arrivals::read(&arrivals.write()), Ok(arrivals));
        }
        assert_eq!(read("{ every = '1 s', batch = 3 }"), Ok(Arrivals::Every(Span::from_secs(1), [3, 3])));
    }

    #[test]
    fn an_error_names_the_expected_form() {
        for (text, message) in [
            ("'50 ms'", "\"50 ms\" is not a table (expected { poisson = TIME }, "),
            ("{ poison = '1 s' }", "poison: unknown key; did you mean \"poisson\"? (expected poisson, every"),
            ("{ poisson = '0 s' }", "poisson: \"0 s\" is out of range; expected more than 0"),
            (
                "{ every = '1 s', batch = [5, 0] }",
                "batch: [5, 0] is out of range; expected N or [LEAST, MOST]",
            ),
            ("{ every = '1 s', batch = [1, 2, 3] }", "batch: [1, 2, 3] is not a batch; expected N or"),
            ("{ every = '1 s', batch = 'all' }", "batch: \"all\" is not a list of whole numbers"),
            ("{ poisson = '1 s', batch = 3 }", "batch: stands without every (expected "),
            ("{ poisson = '1 s', every = '1 s' }", "has more than one of poisson, every and file (expected "),
            ("{ batch = 3 }", "has no arrival times (expected "),
            ("{}", "has no arrival times (expected "),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }

    #[test]
    fn a_list_is_of_times_in_order_with_bytes_or_without() {
        let seconds = Span::from_seconds;
        assert_eq!(
            listed("x", b"0.5\n\n0.5,1000\n2e0\n"),
            Ok(vec![(seconds(0.5), None), (seconds(0.5), Some(1000)), (seconds(2.0), None)])
        );
        for (text, message) in [
            (&b""[..], "x, line 1: holds no arrival"),
            (b"1\n0.5\n", "x, line 2: time runs back"),
            (b"x\n", "x, line 1: \"x\" is not a number"),
            (b"-1\n", "is not a time"),
            (b"nan\n", "is not a time"),
            (b"1,0\n", "is not a number of bytes"),
            (b"\xff", "is not text"),
        ] {
            let error = listed("x", text).unwrap_err().to_string();
            assert!(
                error.contains(message) && error.contains("; expected SECONDS or SECONDS,BYTES"),
                "{error}"
            );
        }
    }
}
