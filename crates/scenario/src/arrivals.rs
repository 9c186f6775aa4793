//! Arrivals of flows during a run.

use sojourn_params::Value;
use sojourn_params::{Kind, Quantity};
use sojourn_units::{Span, did_you_mean};
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

impl Arrivals {
    /// The same with the list of its file, read by `read`.
    pub(crate) fn load(self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<Arrivals, String> {
        match self {
            Arrivals::Listed(Listed { file, .. }) => {
                let times = listed(&read(&file)?).map_err(|message| format!("{file}, {message}"))?;
                Ok(Arrivals::Listed(Listed { file, times: times.into() }))
            }
            other => Ok(other),
        }
    }
}

impl Arrivals {
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
fn listed(text: &[u8]) -> Result<Vec<(Span, Option<u64>)>, String> {
    let text = std::str::from_utf8(text)
        .map_err(|_| "line 1: is not text; expected SECONDS or SECONDS,BYTES".to_string())?;
    let mut times: Vec<(Span, Option<u64>)> = Vec::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |message: &str| {
            format!("line {}: {message}; expected SECONDS or SECONDS,BYTES, in order of time", place + 1)
        };
        let (time, bytes) = line.split_once(',').map_or((line, None), |(time, bytes)| (time, Some(bytes)));
        let seconds: f64 =
            time.trim().parse().map_err(|_| wrong(&format!("{:?} is no number", cut(time))))?;
        if !(0.0..=LATEST).contains(&seconds) {
            return Err(wrong(&format!("{} is no time", cut(time))));
        }
        let bytes = match bytes.map(|bytes| bytes.trim().parse::<u64>()) {
            None => None,
            Some(Ok(bytes)) if (1..=LARGEST).contains(&bytes) => Some(bytes),
            Some(_) => return Err(wrong(&format!("{:?} is no number of bytes", cut(line)))),
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
    if times.is_empty() {
        Err("line 1: holds no arrival; expected SECONDS or SECONDS,BYTES".into())
    } else {
        Ok(times)
    }
}

fn cut(text: &str) -> String {
    text.chars().take(20).collect()
}

impl Quantity for Arrivals {
    fn kind() -> Kind {
        Kind::Form(EXAMPLE)
    }
    fn read(value: &Value) -> Result<Arrivals, String> {
        let Value::Table(entries) = value else { return Err(format!("{value} is no table; {EXPECTED}")) };
        let known = ["poisson", "every", "batch", "file"];
        if let Some((key, _)) = entries.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            return Err(format!("\"{key}\" is unknown{} ({EXPECTED})", did_you_mean(key, known.into_iter())));
        }
        let step = |value: &Value| match Span::read(value)? {
            Span::ZERO => Err(format!("{value} is no time between arrivals; expected more than 0")),
            step => Ok(step),
        };
        match entries.as_slice() {
            [(key, mean)] if key == "poisson" => step(mean).map(Arrivals::Poisson),
            [(key, Value::Text(file))] if key == "file" => {
                Ok(Arrivals::Listed(Listed { file: file.clone(), times: Arc::new([]) }))
            }
            [(key, every)] if key == "every" => Ok(Arrivals::Every(step(every)?, [1, 1])),
            [(a, every), (b, batch)] if a == "every" && b == "batch" => {
                Ok(Arrivals::Every(step(every)?, bounds(batch)?))
            }
            [(b, batch), (a, every)] if a == "every" && b == "batch" => {
                Ok(Arrivals::Every(step(every)?, bounds(batch)?))
            }
            _ => Err(format!("{value} has no arrival times; {EXPECTED}")),
        }
    }
    fn write(&self) -> Value {
        let entry = |key: &str, value: Value| (key.to_string(), value);
        Value::Table(match self {
            Arrivals::Poisson(mean) => vec![entry("poisson", mean.write())],
            Arrivals::Every(step, [1, 1]) => vec![entry("every", step.write())],
            Arrivals::Every(step, batch) => {
                let bounds = batch.iter().map(|bound| Value::Whole(i64::from(*bound))).collect();
                vec![entry("every", step.write()), entry("batch", Value::List(bounds))]
            }
            Arrivals::Listed(Listed { file, .. }) => vec![entry("file", Value::Text(file.clone()))],
        })
    }
}

/// The fewest and the most of a batch.
fn bounds(value: &Value) -> Result<[u32; 2], String> {
    let bound = |value: &Value| match value {
        Value::Whole(bound) => u32::try_from(*bound).ok().filter(|bound| *bound <= LARGEST_BATCH),
        _ => None,
    };
    let read = match value {
        Value::Whole(_) => bound(value).map(|both| [both, both]),
        Value::List(ends) => match ends.as_slice() {
            [least, most] => bound(least).zip(bound(most)).map(|(least, most)| [least, most]),
            _ => None,
        },
        _ => None,
    };
    let message = || format!("{value} is no batch; expected N or [LEAST, MOST], at most {LARGEST_BATCH}");
    read.filter(|[least, most]| least <= most && *most > 0).ok_or_else(message)
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

const EXAMPLE: &str = "{ poisson = \"50 ms\" }";
const EXPECTED: &str = "expected { poisson = TIME }, the mean time between flows; { every = TIME }, with batch = [LEAST, MOST] \
                     for batches; { file = NAME } with SECONDS or SECONDS,BYTES a line";
/// Lines of a file.
const MOST: usize = 1_000_000;
/// Seconds.
const LATEST: f64 = 1e9;
/// Bytes of a transfer.
const LARGEST: u64 = 1 << 50;
/// Flows at a time.
const LARGEST_BATCH: u32 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn value(from: &toml::Value) -> Value {
        match from {
            toml::Value::String(text) => Value::Text(text.clone()),
            toml::Value::Integer(whole) => Value::Whole(*whole),
            toml::Value::Array(items) => Value::List(items.iter().map(value).collect()),
            toml::Value::Table(table) => {
                Value::Table(table.iter().map(|(key, of)| (key.clone(), value(of))).collect())
            }
            other => panic!("{other}"),
        }
    }

    fn read(text: &str) -> Result<Arrivals, String> {
        let file = toml::from_str::<toml::Table>(&format!("x = {text}")).unwrap();
        Arrivals::read(&value(&file["x"]))
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
        for text in [
            "'50 ms'",
            "{ poison = '1 s' }",
            "{ poisson = '0 s' }",
            "{ every = '1 s', batch = [5, 0] }",
            "{ batch = 3 }",
            "{}",
        ] {
            let text = read(text).unwrap_err();
            assert!(text.contains("expected"), "{text}: {text}");
        }
    }

    #[test]
    fn a_list_is_of_times_in_order_with_bytes_or_without() {
        let seconds = Span::from_seconds;
        assert_eq!(
            listed(b"0.5\n\n0.5,1000\n2e0\n"),
            Ok(vec![(seconds(0.5), None), (seconds(0.5), Some(1000)), (seconds(2.0), None)])
        );
        for (text, message) in [
            (&b""[..], "line 1: holds no arrival"),
            (b"1\n0.5\n", "line 2: time runs back"),
            (b"x\n", "line 1: \"x\" is no number"),
            (b"-1\n", "is no time"),
            (b"nan\n", "is no time"),
            (b"1,0\n", "no number of bytes"),
            (b"\xff", "is not text"),
        ] {
            let text = listed(text).unwrap_err();
            assert!(text.contains(message) && text.contains("expected"), "{text}");
        }
    }
}
