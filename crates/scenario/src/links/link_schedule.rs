//! Schedules of links without a constant rate: recordings, and models that draw one.
//!
//! A scenario names a model as an entry of [`LINK_MODELS`]: `trace = { lte = { mean = "12 Mbit/s" } }`; or the file of a
//! recording: `trace = { file = "x.trace" }`.

use super::lte::Lte;
use super::recording::Recording;
use super::satellite::Satellite;
use sojourn_params::{
    At, Bounds, Catalogue, Edge, EntryOf, ErrorKind, Errors, Expected, InputError, Kind, Quantity, Value,
    entries,
};
use sojourn_units::Rate;

/// Bytes per opportunity: a packet of 1500 B, and the four that a TUN device puts before it.
pub const OPPORTUNITY: u32 = 1504;

/// All models of a link's schedule.
pub static LINK_MODELS: Catalogue = Catalogue {
    a_kind: "a link model",
    kind: "link model",
    example: "{ lte = { mean = \"12 Mbit/s\" } }",
    tag: None,
    pages: || Model::ENTRIES.iter().map(|entry| entry.page).collect(),
    problem: |_| None,
    elsewhere: &[],
};

entries! {
    /// A model that draws the schedule of a link.
    pub enum Model {
        /// A rate that wanders, with outages.
        Lte,
        /// A rate that jumps, with a gap at each jump.
        Satellite,
    }
}

/// Link schedule: a recording, or a model that draws one.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule<R> {
    /// A recording.
    Recorded(R),
    /// A model.
    Drawn(Model),
}

/// Schedule of a link, as a plant runs it.
pub type SchedulePlan = Schedule<Recording>;
/// Schedule of a link as in a file, which has the name of a recording's file.
pub type Trace = Schedule<String>;

impl Model {
    /// Long-run mean rate.
    pub fn mean(&self) -> Rate {
        match self {
            Model::Lte(lte) => lte.mean,
            Model::Satellite(satellite) => satellite.mean,
        }
    }
}

impl SchedulePlan {
    /// Long-run mean rate, which a law gets as the rate of its link.
    pub fn mean(&self) -> Rate {
        match self {
            SchedulePlan::Recorded(recording) => recording.mean(),
            SchedulePlan::Drawn(model) => model.mean(),
        }
    }

    /// The form of a file.
    pub fn trace(&self) -> Trace {
        match self {
            SchedulePlan::Recorded(recording) => Trace::Recorded(recording.file.clone()),
            SchedulePlan::Drawn(model) => Trace::Drawn(model.clone()),
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
            Trace::Recorded(file) => {
                let recording = read(file).and_then(|text| Recording::parse(file, &text));
                recording.map(SchedulePlan::Recorded).at("file")
            }
            Trace::Drawn(model) => Ok(SchedulePlan::Drawn(model.clone())),
        }
    }
}

impl Quantity for Trace {
    fn kind() -> Kind {
        Kind::EntryOrFile(&LINK_MODELS)
    }

    /// Errors in the table of a model begin with its name.
    fn read(value: &Value) -> Result<Trace, Errors> {
        let entries = if let Value::Table(entries) = value { entries.as_slice() } else { &[] };
        if let [(key, file)] = entries
            && key == "file"
        {
            return read_file(file).map(Trace::Recorded).at(key);
        }
        if let Some((key, Value::Text(model))) = entries.iter().find(|(key, _)| key == "model") {
            let problem = "is no key of a trace";
            let expected =
                format!("trace = {{ {model} = {{ KEY = VALUE }} }}, which `sojourn check --rewrite` writes");
            return Err(InputError::new(ErrorKind::UnknownKey, problem, expected).at(key).into());
        }
        let chosen = LINK_MODELS.choose(value).map_err(|errors| {
            let error = errors.first().clone();
            match error.kind {
                ErrorKind::UnknownKey | ErrorKind::Syntax => errors,
                _ => InputError { expected: Expected::one_of(forms()), ..error }.into(),
            }
        })?;
        Model::read_chosen(chosen).map(Trace::Drawn)
    }

    fn write(&self) -> Value {
        match self {
            Trace::Recorded(file) => Value::Table(vec![("file".into(), Value::Text(file.clone()))]),
            Trace::Drawn(model) => model.written(),
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

/// Mean rates of models.
pub(super) const MEAN: Bounds = Bounds::at_least(Edge::Text("1 kbit/s")).to(Edge::Text("100 Gbit/s"));

/// Forms of a schedule, as an error lists them.
fn forms() -> Vec<String> {
    let required = |entry: &EntryOf<Model>| {
        let fields = (entry.page.fields)().into_iter().filter(|field| field.is_required);
        fields.map(|field| format!("{} = {}", field.key, field.kind.example())).collect::<Vec<_>>().join(", ")
    };
    let models =
        Model::ENTRIES.iter().map(|entry| format!("{{ {} = {{ {} }} }}", entry.page.stem, required(entry)));
    std::iter::once("{ file = \"x.trace\" }".into()).chain(models).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::value;

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
