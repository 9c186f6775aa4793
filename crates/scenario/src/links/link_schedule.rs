//! Schedules of links without a constant rate: recordings, and models that draw one.
//!
//! A file names a model as an entry of [`LINK_MODELS`]: `trace = { lte = { mean = "12 Mbit/s" } }`; or the file of a
//! recording: `trace = { file = "x.trace" }`.

use super::recording::Recording;
use sojourn_params::{
    Catalogue, Described, ErrorKind, Errors, Expected, InputError, Kind, Page, Quantity, Required, Value,
    params,
};
use sojourn_units::{Rate, Span};

/// Bytes per opportunity: a packet of 1500 B, and the four that a TUN device puts before it.
pub const OPPORTUNITY: u32 = 1504;

/// All models of a link's schedule.
pub static LINK_MODELS: Catalogue = Catalogue {
    a_kind: "a link model",
    kind: "link model",
    example: "{ lte = { mean = \"12 Mbit/s\" } }",
    tag: None,
    pages: || vec![LTE, SATELLITE],
};

/// Link schedule: a recording, or a model that draws one.
#[derive(Clone, Debug, PartialEq)]
pub enum SchedulePlan {
    /// A recording.
    Recorded(Recording),
    /// A rate that wanders, with outages.
    Lte(Lte),
    /// A rate that jumps, with a gap at each jump.
    Satellite(Satellite),
}

/// Link schedule as in a file: the name of a recording, or a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Trace {
    /// The file of a recording.
    File(String),
    /// A rate that wanders, with outages.
    Lte(Lte),
    /// A rate that jumps, with a gap at each jump.
    Satellite(Satellite),
}

params! {
    /// A rate that wanders between zero and a highest one, with an outage whenever it reaches zero.
    #[derive(Copy)]
    pub struct Lte {
        /// mean rate in the long run
        mean: Required<Rate> = Required::ABSENT, "1 kbit/s to 100 Gbit/s" if |mean| is_mean(**mean),
            "links differ in it";
        /// standard deviation of the rate's change in a second, over the highest rate
        volatility: f64 = 0.2, "0.001 to 10" if |volatility| (0.001..=10.0).contains(volatility),
            "200 packets/s in a second, of at most 1000 packets/s, as in Sprout's model",
            "K. Winstein et al., Sprout, NSDI 2013, section 3.1";
        /// mean length of an outage
        outage: Span = Span::from_secs(1), "at most 100 s" if |outage| *outage <= Span::from_secs(100),
            "as in Sprout's model", "K. Winstein et al., Sprout, NSDI 2013, section 3.1";
    }
}

params! {
    /// A rate that is drawn anew in each interval, after a gap.
    #[derive(Copy)]
    pub struct Satellite {
        /// mean rate in the long run, gaps included
        mean: Required<Rate> = Required::ABSENT, "1 kbit/s to 100 Gbit/s" if |mean| is_mean(**mean),
            "links differ in it";
        /// length of an interval
        interval: Span = Span::from_secs(15),
            "100 ms to 1 h" if |time| (Span::from_millis(100)..=Span::from_secs(3600)).contains(time),
            "as measured of Starlink, which is rearranged each 15 s",
            "N. Mohan et al., WWW 2024 (arXiv:2310.09242)";
        /// gap without opportunities at the start of each interval
        gap: Span = Span::from_millis(140), "at most half of interval" if |_| true,
            "as measured of Starlink", "arXiv:2601.08439";
        /// half-width of the rate's uniform distribution, over the mean
        spread: f64 = 0.5, "0 to 1" if |spread| (0.0..=1.0).contains(spread),
            "changes are large, by no known distribution: from half of the mean to one and a half";
        /// a frame: data sent in it arrives at its end
        frame: Span = Span::from_nanos(1_333_333), "100 us to a tenth of interval" if |time| *time >= Span::from_micros(100),
            "750 frames a second, as Starlink has",
            "T. Humphreys et al., IEEE Transactions on Aerospace and Electronic Systems 59, 2023";
    }
}

impl SchedulePlan {
    /// Long-run mean rate, which a law gets as the rate of its link.
    pub fn mean(&self) -> Rate {
        match self {
            SchedulePlan::Recorded(recording) => recording.mean(),
            SchedulePlan::Lte(lte) => *lte.mean,
            SchedulePlan::Satellite(satellite) => *satellite.mean,
        }
    }

    /// The form of a file.
    pub fn trace(&self) -> Trace {
        match self {
            SchedulePlan::Recorded(recording) => Trace::File(recording.file.clone()),
            SchedulePlan::Lte(lte) => Trace::Lte(*lte),
            SchedulePlan::Satellite(satellite) => Trace::Satellite(*satellite),
        }
    }
}

impl Trace {
    /// The link schedule, with a recording from its file, read by `read`.
    pub fn load(
        &self,
        read: &dyn Fn(&str) -> Result<Vec<u8>, InputError>,
    ) -> Result<SchedulePlan, InputError> {
        match self {
            Trace::File(file) => {
                let recording = read(file).and_then(|text| Recording::parse(file, &text));
                recording.map(SchedulePlan::Recorded).map_err(|error| error.at("file"))
            }
            Trace::Lte(lte) => Ok(SchedulePlan::Lte(*lte)),
            Trace::Satellite(satellite) => Ok(SchedulePlan::Satellite(*satellite)),
        }
    }
}

impl Satellite {
    /// Rejects intervals that are too short for their gap or their frames.
    pub fn checked(self) -> Result<Satellite, InputError> {
        let Satellite { interval, gap, frame, .. } = &self;
        if gap.saturating_mul(2) > *interval {
            let problem = format!("is too long for an interval of {interval}");
            return Err(InputError::conflict(gap, problem, "at most half of interval").at("gap"));
        }
        if frame.saturating_mul(10) > *interval {
            let problem = format!("is too long for an interval of {interval}");
            return Err(InputError::conflict(frame, problem, "at most a tenth of interval").at("frame"));
        }
        Ok(self)
    }
}

impl Quantity for Trace {
    fn kind() -> Kind {
        Kind::EntryOrFile(&LINK_MODELS)
    }

    /// Errors in the table of a model begin with its name.
    fn read(value: &Value) -> Result<Trace, Errors> {
        if let Value::Table(entries) = value
            && let [(key, file)] = entries.as_slice()
            && key == "file"
        {
            return read_file(file).map(Trace::File).map_err(|errors| errors.at(key));
        }
        let expected = || Expected::one_of(FORMS.iter().copied());
        if let Value::Table(entries) = value
            && let Some((key, Value::Text(model))) = entries.iter().find(|(key, _)| key == "model")
        {
            let problem = "is no key of a trace";
            let expected =
                format!("trace = {{ {model} = {{ KEY = VALUE }} }}, which `sojourn check --rewrite` writes");
            return Err(InputError::new(ErrorKind::UnknownKey, problem, expected).at(key).into());
        }
        let chosen = LINK_MODELS.choose(value).map_err(|errors| {
            let error = errors.first().clone();
            match error.kind {
                ErrorKind::UnknownKey | ErrorKind::Syntax => errors,
                _ => Errors::from(InputError { expected: expected(), ..error }),
            }
        })?;
        match chosen.place {
            0 => chosen.read(Lte::from_values).map(Trace::Lte),
            _ => chosen.read(|params| Ok(Satellite::from_values(params)?.checked()?)).map(Trace::Satellite),
        }
    }

    fn write(&self) -> Value {
        match self {
            Trace::File(file) => Value::Table(vec![("file".into(), Value::Text(file.clone()))]),
            Trace::Lte(lte) => Catalogue::written(LTE.stem, lte.changed()),
            Trace::Satellite(satellite) => Catalogue::written(SATELLITE.stem, satellite.changed()),
        }
    }
}

/// The name of a recording's file.
fn read_file(value: &Value) -> Result<String, Errors> {
    match String::read(value)? {
        file if file.is_empty() => {
            Err(InputError::new(ErrorKind::Missing, "is empty", "the name of a file").into())
        }
        file => Ok(file),
    }
}

fn is_mean(rate: Rate) -> bool {
    (1e3..=1e11).contains(&rate.bits_per_second())
}

/// Forms of a schedule, as an error lists them.
const FORMS: &[&str] = &[
    "{ file = \"x.trace\" }",
    "{ lte = { mean = \"12 Mbit/s\" } }",
    "{ satellite = { mean = \"100 Mbit/s\" } }",
];

const LTE: Page = Page {
    stem: "lte",
    summary: "a rate that wanders between zero and a highest one, as of a cellular link",
    idea: "The rate is a Brownian motion with a standard deviation of `volatility` times the highest rate in a second; at \
           zero it stays for `outage` on average. The highest rate follows from the `mean`.",
    equation: "",
    source: "K. Winstein, A. Sivaraman, H. Balakrishnan, Sprout, NSDI 2013",
    fields: <Lte as Described>::fields,
};

const SATELLITE: Page = Page {
    stem: "satellite",
    summary: "a rate drawn anew in each interval after a gap, as of a link through low satellites",
    idea: "A new rate every `interval`, uniform within `spread` of the `mean`, after a `gap` in which nothing is sent; data \
           sent in a `frame` arrives at its end.",
    equation: "",
    source: "N. Mohan et al., WWW 2024 (arXiv:2310.09242); arXiv:2601.08439; T. Humphreys et al., IEEE TAES 59, 2023",
    fields: <Satellite as Described>::fields,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literal::value;

    fn read(text: &str) -> Result<Trace, Errors> {
        Trace::read(&value(text))
    }

    #[test]
    fn traces_are_read_as_they_are_written() {
        for text in [
            "{ lte = { mean = '12 Mbit/s' } }",
            "{ lte = { mean = '12 Mbit/s', volatility = 0.5, outage = '0 s' } }",
            "{ satellite = { mean = '100 Mbit/s' } }",
            "{ satellite = { mean = '100 Mbit/s', interval = '5 s', gap = '0 s', spread = 1.0, frame = '2 ms' } }",
            "{ file = 'x.trace' }",
        ] {
            let trace = read(text).unwrap();
            assert_eq!(Trace::read(&trace.write()), Ok(trace));
        }
        assert_eq!(read("'lte:mean=12 Mbit/s'"), read("{ lte = { mean = '12 Mbit/s' } }"));
    }

    #[test]
    fn the_file_of_a_recording_is_read() {
        let trace = read("{ file = 'a/x.trace' }").unwrap();
        let loaded = trace.load(&|file| Ok(format!("{}\n", file.len()).into())).unwrap();
        assert_eq!(loaded.mean().bits_per_second(), 1504.0 * 8.0 / 0.009);
        assert_eq!(loaded.trace(), trace);
        let absent = trace.load(&|file| {
            Err(InputError::new(ErrorKind::File, format!("{file} is not there"), Expected::Unstated))
        });
        assert_eq!(absent.unwrap_err().to_string(), "file: a/x.trace is not there");
        let empty = trace.load(&|_| Ok(Vec::new())).unwrap_err();
        assert_eq!(
            empty.to_string(),
            "file: a/x.trace, line 1: holds no delivery; expected one number of milliseconds a line"
        );
    }

    #[test]
    fn an_error_names_the_expected_form() {
        for (text, message) in [
            ("'x.trace'", "\"x.trace\" is not a link model (expected { file = \"x.trace\" }, { lte = "),
            ("{}", "is empty (expected { file = "),
            (
                "{ file = 'x', lte = { mean = '1 Mbit/s' } }",
                "stands beside another name; a link model has one",
            ),
            ("{ file = '' }", "file: is empty; expected the name of a file"),
            ("{ file = 7 }", "file: 7 is not text"),
            ("{ let = { mean = '1 Mbit/s' } }", "\"let\" is not a link model; did you mean \"lte\"?"),
            (
                "{ lte = {} }",
                "lte.mean: is missing; expected a rate such as \"8 Mbit/s\" (1 kbit/s to 100 Gbit/s)",
            ),
            ("{ lte = { mean = '0 Mbit/s' } }", "lte.mean: \"0 Mbit/s\" is out of range; expected 1 kbit/s"),
            ("{ lte = { mean = '1 Mbit/s', gap = '1 s' } }", "lte.gap: unknown key"),
            (
                "{ satellite = { mean = '1 Mbit/s', gap = '8 s' } }",
                "satellite.gap: 8 s is too long for an interval of 15 s; expected at most half of interval",
            ),
            ("'satellite:mean=1 Mbit/s,frame=2 s'", "frame: 2 s is too long for an interval of 15 s"),
            ("'satellite:mean=1 Mbit/s,interval=1 ms'", "interval: \"1 ms\" is out of range"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
