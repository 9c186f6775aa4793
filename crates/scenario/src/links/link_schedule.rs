//! Schedules of links without a constant rate.

use super::recording::Recording;
use super::table::{Entries, within};
use sojourn_params::Value;
use sojourn_params::{Kind, Quantity};
use sojourn_units::{Rate, Span, did_you_mean};

/// Bytes per opportunity: a packet of 1500 B, and the four that a TUN device puts before it.
pub const OPPORTUNITY: u32 = 1504;

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

/// A rate that wanders between zero and a highest one, with an outage whenever it reaches zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lte {
    /// Its mean in the long run.
    pub mean: Rate,
    /// Standard deviation of its change in a second, over the highest rate.
    pub volatility: f64,
    /// The mean length of an outage.
    pub outage: Span,
}

/// A rate that is drawn anew in each interval, after a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Satellite {
    /// Its mean in the long run, gaps included.
    pub mean: Rate,
    /// Length of an interval.
    pub interval: Span,
    /// Gap without opportunities at the start of each interval.
    pub gap: Span,
    /// Half-width of its uniform distribution, over the mean.
    pub spread: f64,
    /// A frame: data sent in it arrives at its end.
    pub frame: Span,
}

/// Link schedule as in a file: the name of a recording, or a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Trace {
    /// The file of a recording.
    File(String),
    /// A model.
    Model(SchedulePlan),
}

impl SchedulePlan {
    /// Long-run mean rate, which a law gets as the rate of its link.
    pub fn mean(&self) -> Rate {
        match self {
            SchedulePlan::Recorded(recording) => recording.mean(),
            SchedulePlan::Lte(lte) => lte.mean,
            SchedulePlan::Satellite(satellite) => satellite.mean,
        }
    }

    /// The form of a file.
    pub fn trace(&self) -> Trace {
        match self {
            SchedulePlan::Recorded(recording) => Trace::File(recording.file.clone()),
            model => Trace::Model(model.clone()),
        }
    }
}

impl Trace {
    /// The link schedule, with a recording from its file, read by `read`.
    pub fn load(&self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<SchedulePlan, String> {
        match self {
            Trace::File(file) => Recording::parse(file, &read(file)?).map(SchedulePlan::Recorded),
            Trace::Model(model) => Ok(model.clone()),
        }
    }
}

impl Lte {
    /// Defaults of Sprout's model at this mean.
    fn at(mean: Rate) -> Lte {
        Lte { mean, volatility: 0.2, outage: Span::from_secs(1) }
    }

    fn read(entries: &[(String, Value)]) -> Result<Lte, String> {
        let entries = Entries::of(entries, &["model", "mean", "volatility", "outage"])?;
        let usual = Lte::at(mean(&entries)?);
        let volatility = entries.get("volatility")?.unwrap_or(usual.volatility);
        within((0.001..=10.0).contains(&volatility), "volatility", &volatility, "0.001 to 10")?;
        let outage = entries.get("outage")?.unwrap_or(usual.outage);
        within(outage <= Span::from_secs(100), "outage", &outage, "at most 100 s")?;
        Ok(Lte { volatility, outage, ..usual })
    }

    fn write(&self) -> Vec<(String, Value)> {
        let usual = Lte::at(self.mean);
        let mut entries = model("lte", self.mean);
        entries.extend(
            (self.volatility != usual.volatility).then(|| ("volatility".into(), self.volatility.write())),
        );
        entries.extend((self.outage != usual.outage).then(|| ("outage".into(), self.outage.write())));
        entries
    }
}

impl Satellite {
    /// Measured values of Starlink at this mean.
    fn at(mean: Rate) -> Satellite {
        Satellite {
            mean,
            interval: Span::from_secs(15),
            gap: Span::from_millis(140),
            spread: 0.5,
            frame: Span::from_nanos(1_333_333),
        }
    }

    fn read(entries: &[(String, Value)]) -> Result<Satellite, String> {
        let entries = Entries::of(entries, &["model", "mean", "interval", "gap", "spread", "frame"])?;
        let usual = Satellite::at(mean(&entries)?);
        let interval = entries.get("interval")?.unwrap_or(usual.interval);
        let (shortest, longest) = (Span::from_millis(100), Span::from_secs(3600));
        within(interval >= shortest && interval <= longest, "interval", &interval, "100 ms to 1 h")?;
        let gap = entries.get("gap")?.unwrap_or(usual.gap);
        within(gap.saturating_mul(2) <= interval, "gap", &gap, "at most half of interval")?;
        let spread = entries.get("spread")?.unwrap_or(usual.spread);
        within((0.0..=1.0).contains(&spread), "spread", &spread, "0 to 1")?;
        let frame = entries.get("frame")?.unwrap_or(usual.frame);
        let fits = frame >= Span::from_micros(100) && frame.saturating_mul(10) <= interval;
        within(fits, "frame", &frame, "100 us to a tenth of interval")?;
        Ok(Satellite { interval, gap, spread, frame, ..usual })
    }

    fn write(&self) -> Vec<(String, Value)> {
        let usual = Satellite::at(self.mean);
        let mut entries = model("satellite", self.mean);
        entries.extend((self.interval != usual.interval).then(|| ("interval".into(), self.interval.write())));
        entries.extend((self.gap != usual.gap).then(|| ("gap".into(), self.gap.write())));
        entries.extend((self.spread != usual.spread).then(|| ("spread".into(), self.spread.write())));
        entries.extend((self.frame != usual.frame).then(|| ("frame".into(), self.frame.write())));
        entries
    }
}

fn mean(entries: &Entries<'_>) -> Result<Rate, String> {
    let mean: Rate = entries.required("mean", "the mean rate: \"12 Mbit/s\"")?;
    let in_range = (1e3..=1e11).contains(&mean.bits_per_second());
    within(in_range, "mean", &mean, "1 kbit/s to 100 Gbit/s").map(|()| mean)
}

fn model(name: &str, mean: Rate) -> Vec<(String, Value)> {
    vec![("model".into(), Value::Text(name.into())), ("mean".into(), mean.write())]
}

impl Quantity for Trace {
    fn kind() -> Kind {
        Kind::Form("{ file = \"x.trace\" }")
    }

    fn read(value: &Value) -> Result<Trace, String> {
        let Value::Table(entries) = value else {
            return Err(format!("{value} is no table; {EXPECTED}"));
        };
        let text = |name: &str| {
            let found = entries.iter().find(|(key, _)| key == name);
            found
                .map(|(_, value)| String::read(value).map_err(|message| format!("{name}: {message}")))
                .transpose()
        };
        match (text("file")?, text("model")?.as_deref()) {
            (Some(_), Some(_)) => Err(format!("has a file and a model; {EXPECTED}")),
            (Some(file), None) => {
                Entries::of(entries, &["file"])?;
                within(!file.is_empty(), "file", &"\"\"", "the name of a file")?;
                Ok(Trace::File(file))
            }
            (None, Some("lte")) => Lte::read(entries).map(|lte| Trace::Model(SchedulePlan::Lte(lte))),
            (None, Some("satellite")) => {
                Satellite::read(entries).map(|satellite| Trace::Model(SchedulePlan::Satellite(satellite)))
            }
            (None, Some(other)) => {
                let hint = did_you_mean(other, MODELS.iter().copied());
                Err(format!("model: \"{other}\" is no known model{hint} (expected {})", MODELS.join(", ")))
            }
            (None, None) => Err(format!("has no file and no model; {EXPECTED}")),
        }
    }

    fn write(&self) -> Value {
        Value::Table(match self {
            Trace::File(file) => vec![("file".into(), Value::Text(file.clone()))],
            Trace::Model(SchedulePlan::Recorded(recording)) => {
                vec![("file".into(), Value::Text(recording.file.clone()))]
            }
            Trace::Model(SchedulePlan::Lte(lte)) => lte.write(),
            Trace::Model(SchedulePlan::Satellite(satellite)) => satellite.write(),
        })
    }
}

const MODELS: &[&str] = &["lte", "satellite"];
const EXPECTED: &str = "expected { file = \"x.trace\" }, { model = \"lte\", mean = \"12 Mbit/s\" }, \
                     { model = \"satellite\", mean = \"100 Mbit/s\" }";

#[cfg(test)]
mod tests {
    use super::*;

    fn table<const N: usize>(entries: [(&str, &str); N]) -> Value {
        Value::Table(entries.map(|(key, value)| (key.into(), Value::Text(value.into()))).into())
    }

    #[test]
    fn traces_are_read_as_they_are_written() {
        let mean = Rate::parse("12 Mbit/s").unwrap();
        let (lte, satellite) = (Lte::at(mean), Satellite::at(mean));
        let other = Lte { volatility: 0.5, outage: Span::ZERO, ..lte };
        let slow = Satellite {
            interval: Span::from_secs(5),
            gap: Span::ZERO,
            spread: 1.0,
            frame: Span::from_millis(2),
            ..satellite
        };
        let models = [lte, other].map(SchedulePlan::Lte).into_iter();
        let models = models.chain([satellite, slow].map(SchedulePlan::Satellite)).map(Trace::Model);
        for trace in models.chain([Trace::File("x.trace".into())]) {
            assert_eq!(Trace::read(&trace.write()), Ok(trace));
        }
    }

    #[test]
    fn the_file_of_a_recording_is_read() {
        let trace = Trace::read(&table([("file", "a/x.trace")])).unwrap();
        let loaded = trace.load(&|file| Ok(format!("{}\n", file.len()).into())).unwrap();
        assert_eq!(loaded.mean().bits_per_second(), 1504.0 * 8.0 / 0.009);
        assert_eq!(loaded.trace(), trace);
        assert_eq!(
            trace.load(&|file| Err(format!("{file} is not there"))),
            Err("a/x.trace is not there".into())
        );
    }

    #[test]
    fn an_error_names_the_expected_form() {
        for (value, hint) in [
            (Value::Text("x.trace".into()), "\"x.trace\" is no table; expected { file = \"x.trace\" }"),
            (Value::Table(Vec::new()), "has no file and no model; expected "),
            (table([("file", "x"), ("model", "lte")]), "has a file and a model"),
            (table([("file", "")]), "file: \"\" is out of range"),
            (
                table([("model", "let"), ("mean", "1 Mbit/s")]),
                "\"let\" is no known model; did you mean \"lte\"?",
            ),
            (table([("model", "lte")]), "mean is missing"),
            (table([("model", "lte"), ("mean", "0 Mbit/s")]), "mean: 0 bit/s is out of range"),
            (table([("model", "lte"), ("mean", "1 Mbit/s"), ("gap", "1 s")]), "\"gap\" is unknown"),
            (
                table([("model", "satellite"), ("mean", "1 Mbit/s"), ("gap", "8 s")]),
                "at most half of interval",
            ),
            (table([("model", "satellite"), ("mean", "1 Mbit/s"), ("frame", "2 s")]), "a tenth of interval"),
        ] {
            let text = Trace::read(&value).unwrap_err();
            assert!(text.contains(hint), "{text}");
        }
    }
}
