//! When flows come that are not there from the start.

use crate::links::table::{Entries, within};
use sojourn_units::param::{Kind, Quantity};
use sojourn_units::{Bytes, Span, Value};
use std::fmt;
use std::sync::Arc;

/// When flows come.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// At random, so far from one another on average.
    Poisson(Span),
    /// In even steps, at each as many as are drawn from the first number to the second.
    Every(Span, [u32; 2]),
    /// As a file lists them.
    Listed(Listed),
}

/// Times, and how much each has to transfer where that is told. Copies share them.
#[derive(Clone, PartialEq)]
pub struct Listed {
    /// The file's name, as the scenario has it.
    pub file: String,
    /// In order.
    pub times: Arc<[(Span, Option<Bytes>)]>,
}

/// What a file says of arrivals: how they come, or where they are listed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Coming {
    Drawn(Arrivals),
    File(String),
}

impl Coming {
    /// The arrivals, with a list as `read` hands over its file.
    pub(crate) fn load(&self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<Arrivals, String> {
        match self {
            Coming::Drawn(arrivals) => Ok(arrivals.clone()),
            Coming::File(file) => Listed::parse(file, &read(file)?).map(Arrivals::Listed),
        }
    }
}

impl Arrivals {
    /// As a file says it.
    pub(crate) fn coming(&self) -> Coming {
        match self {
            Arrivals::Listed(listed) => Coming::File(listed.file.clone()),
            drawn => Coming::Drawn(drawn.clone()),
        }
    }
}

impl Listed {
    /// Reads the text of `file`: lines of TIME, or of TIME, SIZE. A refusal says the line, what is wrong, and what is
    /// legal.
    pub fn parse(file: &str, text: &[u8]) -> Result<Listed, String> {
        let text = std::str::from_utf8(text)
            .map_err(|_| format!("{file} is not text; legal: lines of TIME, or of TIME, SIZE"))?;
        let mut times: Vec<(Span, Option<Bytes>)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let fault = |what: &str| format!("{file}, line {number}: {what}");
            let (time, size) = line.split_once(',').map_or((line, None), |(time, size)| (time, Some(size)));
            let time = Span::parse(time.trim()).map_err(|what| fault(&what))?;
            let size = size.map(|size| Bytes::parse(size.trim())).transpose().map_err(|what| fault(&what))?;
            if let Some((last, _)) = times.last().filter(|(last, _)| *last > time) {
                return Err(fault(&format!("{time} after {last}: time runs back; legal: {last} or later")));
            }
            if size.is_some_and(|size| !(1..=MOST_BYTES).contains(&size.get())) {
                return Err(fault("a size that cannot be transferred; legal: 1 B to 1000 GB"));
            }
            if times.len() == MOST_LISTED {
                return Err(fault(&format!("is one too many; legal: {MOST_LISTED} arrivals at most")));
            }
            times.push((time, size));
        }
        if times.is_empty() {
            return Err(format!("{file} lists no arrival; legal: lines of TIME, or of TIME, SIZE"));
        }
        Ok(Listed { file: file.into(), times: times.into() })
    }
}

impl Quantity for Coming {
    fn kind() -> Kind {
        Kind::Form("{ poisson = \"50 ms\" }")
    }

    fn read(value: &Value) -> Result<Coming, String> {
        let Value::Table(entries) = value else { return Err(format!("{value} is no table; {LEGAL}")) };
        let has = |name: &str| entries.iter().any(|(key, _)| key == name);
        let shortest = |name: &str, time: Span| {
            within((SHORTEST..=LONGEST).contains(&time), name, &time, "1 us to 24 h").map(|()| time)
        };
        match ["poisson", "every", "file"].map(has) {
            [true, false, false] => {
                let mean = Entries::of(entries, &["poisson"])?.required("poisson", "\"50 ms\"")?;
                shortest("poisson", mean).map(|mean| Coming::Drawn(Arrivals::Poisson(mean)))
            }
            [false, true, false] => {
                let entries = Entries::of(entries, &["every", "batch"])?;
                let step = shortest("every", entries.required("every", "\"1 s\"")?)?;
                let batch = entries.get::<Vec<u64>>("batch")?.unwrap_or_else(|| vec![1]);
                let legal = "a number up to 100000, or [LEAST, MOST]";
                let [least, most] = match batch[..] {
                    [number] => [number, number],
                    [least, most] => [least, most],
                    _ => return Err(format!("batch: {} numbers; legal: {legal}", batch.len())),
                };
                let shown = format!("[{least}, {most}]");
                within(least <= most && (1..=MOST_BATCH).contains(&most), "batch", &shown, legal)?;
                Ok(Coming::Drawn(Arrivals::Every(step, [least as u32, most as u32])))
            }
            [false, false, true] => {
                let file: String = Entries::of(entries, &["file"])?.required("file", "\"arrivals.csv\"")?;
                within(!file.is_empty(), "file", &"\"\"", "the name of a file")?;
                Ok(Coming::File(file))
            }
            _ => Err(format!("{value} is not one way to arrive; {LEGAL}")),
        }
    }

    fn write(&self) -> Value {
        let number = |number: u32| Value::Whole(i64::from(number));
        let entries: Vec<(&str, Value)> = match self {
            Coming::Drawn(Arrivals::Poisson(mean)) => vec![("poisson", mean.write())],
            Coming::Drawn(Arrivals::Every(step, [1, 1])) => vec![("every", step.write())],
            Coming::Drawn(Arrivals::Every(step, batch)) => {
                vec![("every", step.write()), ("batch", Value::List(batch.map(number).to_vec()))]
            }
            Coming::Drawn(Arrivals::Listed(Listed { file, .. })) | Coming::File(file) => {
                vec![("file", Value::Text(file.clone()))]
            }
        };
        Value::Table(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrivals::Poisson(mean) => write!(f, "at random, one each {mean} on average"),
            Arrivals::Every(step, [least, most]) if least == most => write!(f, "{least} each {step}"),
            Arrivals::Every(step, [least, most]) => write!(f, "{least} to {most} each {step}"),
            Arrivals::Listed(Listed { file, times }) => write!(f, "{} listed in {file}", times.len()),
        }
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} arrivals of {}", self.times.len(), self.file)
    }
}

const LEGAL: &str =
    "legal: { poisson = MEAN }, { every = TIME, batch = [LEAST, MOST] }, { file = \"arrivals.csv\" }";
/// The shortest step from one arrival to the next, and the longest.
const SHORTEST: Span = Span::from_micros(1);
const LONGEST: Span = Span::from_secs(86_400);
/// Arrivals at once.
const MOST_BATCH: u64 = 100_000;
/// Arrivals of a list.
const MOST_LISTED: usize = 1_000_000;
/// Bytes of a transfer.
pub(crate) const MOST_BYTES: u64 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[(&str, Value)]) -> Value {
        Value::Table(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn arrivals_are_read_as_they_are_written() {
        let batch = Value::List(vec![Value::Whole(0), Value::Whole(5)]);
        for value in [
            table(&[("poisson", text("50 ms"))]),
            table(&[("every", text("1 s"))]),
            table(&[("every", text("1 s")), ("batch", batch)]),
            table(&[("file", text("a.csv"))]),
        ] {
            assert_eq!(Coming::read(&value).unwrap().write(), value);
        }
        let three = table(&[("every", text("1 s")), ("batch", Value::Whole(3))]);
        assert_eq!(Coming::read(&three), Ok(Coming::Drawn(Arrivals::Every(Span::from_secs(1), [3, 3]))));
    }

    #[test]
    fn refusals_say_what_is_legal() {
        for (value, said) in [
            (text("soon"), "no table"),
            (table(&[]), "not one way"),
            (table(&[("poisson", text("1 s")), ("every", text("1 s"))]), "not one way"),
            (table(&[("poisson", text("0 s"))]), "1 us to 24 h"),
            (table(&[("poisson", text("1 s")), ("batch", Value::Whole(2))]), "\"batch\" is unknown"),
            (table(&[("every", text("1 s")), ("batch", Value::Whole(0))]), "[LEAST, MOST]"),
            (table(&[("every", text("1 s")), ("batch", Value::List(Vec::new()))]), "0 numbers"),
            (table(&[("file", text(""))]), "the name of a file"),
        ] {
            let told = Coming::read(&value).unwrap_err();
            assert!(told.contains(said) && told.contains("legal: "), "{value}: {told}");
        }
    }

    #[test]
    fn a_list_has_a_line_for_each() {
        let listed =
            Listed::parse("a.csv", b"# trace\n0 s, 10 kB\n 1.5 s\n\n1.5 s, 1 B # two at once\n").unwrap();
        let (early, late) = (Span::ZERO, Span::from_millis(1500));
        let sizes = [Some(Bytes::new(10_000)), None, Some(Bytes::new(1))];
        assert_eq!(listed.times[..], [(early, sizes[0]), (late, sizes[1]), (late, sizes[2])]);
        for (text, said) in [
            ("", "lists no arrival"),
            ("1 s\n0 s\n", "line 2: 0 s after 1 s: time runs back"),
            ("soon", "line 1"),
            ("1 s, much", "line 1"),
            ("1 s, 0 B", "1 B to 1000 GB"),
        ] {
            let told = Listed::parse("a.csv", text.as_bytes()).unwrap_err();
            assert!(told.starts_with("a.csv") && told.contains(said), "{text}: {told}");
        }
        assert!(Listed::parse("a.csv", b"\xff").unwrap_err().contains("not text"));
    }
}
