//! Impairments of packets on the wire.
//!
//! The packet plant documents each.

use super::table::{Entries, within};
use sojourn_params::{Kind, Quantity};
use sojourn_params::{TimeDraw, Value};
use sojourn_random::Draw;
use sojourn_units::Prob;

/// Impairments of a wire; none by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Probability of loss, independent for each packet.
    pub loss: Prob,
    /// Bursts of losses.
    pub bursts: Option<Bursts>,
    /// Probability of damage: the receiver discards the packet.
    pub corrupt: Prob,
    /// Probability that an ECN-capable packet loses its ECN bits.
    pub bleach: Prob,
    /// Extra delay of a packet; order is kept.
    pub jitter: Option<TimeDraw>,
    /// Packets held back, so that others overtake them.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice.
    pub duplicate: Prob,
}

/// Bursts of losses: the Gilbert-Elliott chain, one step per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Probability of the transition from good to bad.
    pub enter: Prob,
    /// Probability of the transition from bad to good.
    pub leave: Prob,
    /// Probability of loss in the good state.
    pub good: Prob,
    /// Probability of loss in the bad state.
    pub bad: Prob,
}

/// Packets held back.
#[derive(Clone, Debug, PartialEq)]
pub struct Reorder {
    /// Probability of holding back a packet.
    pub probability: Prob,
    /// Delay of a packet held back.
    pub late: TimeDraw,
}

impl Impairments {
    /// True without impairments.
    pub fn is_none(&self) -> bool {
        *self == Impairments::default()
    }
}

/// A single time is the longest: the draw is uniform up to it.
fn up_to(draw: TimeDraw) -> TimeDraw {
    let longest = draw.seconds().as_constant();
    let uniform = longest.and_then(|longest| Draw::uniform(0.0, longest).ok());
    uniform.map_or(draw, TimeDraw::of_seconds)
}

impl Bursts {
    /// Long-run share of packets in the bad state.
    pub fn share_bad(&self) -> f64 {
        self.enter.get() / (self.enter.get() + self.leave.get())
    }

    /// Long-run share of lost packets.
    pub fn mean_loss(&self) -> f64 {
        let bad = self.share_bad();
        (1.0 - bad) * self.good.get() + bad * self.bad.get()
    }
}

/// Keys of impairments, in the order in which they apply.
pub const KEYS: &[&str] = &["loss", "bursts", "corrupt", "bleach", "jitter", "reorder", "duplicate"];

impl Quantity for Impairments {
    fn kind() -> Kind {
        Kind::Form("{ loss = 0.01 }")
    }

    fn read(value: &Value) -> Result<Impairments, String> {
        let Value::Table(entries) = value else {
            return Err(format!(
                "{value} is no table; expected {{ loss = 0.01 }}, with any of {}",
                KEYS.join(", ")
            ));
        };
        let entries = Entries::of(entries, KEYS)?;
        Ok(Impairments {
            loss: entries.get("loss")?.unwrap_or_default(),
            bursts: entries.inner("bursts")?,
            corrupt: entries.get("corrupt")?.unwrap_or_default(),
            bleach: entries.get("bleach")?.unwrap_or_default(),
            jitter: entries.get("jitter")?.map(up_to),
            reorder: entries.inner("reorder")?,
            duplicate: entries.get("duplicate")?.unwrap_or_default(),
        })
    }

    fn write(&self) -> Value {
        let mut entries = Vec::new();
        let mut add = |name: &str, given: bool, value: Value| {
            if given {
                entries.push((name.into(), value));
            }
        };
        let is_given = |probability: Prob| probability > Prob::ZERO;
        add("loss", is_given(self.loss), self.loss.write());
        add("bursts", self.bursts.is_some(), self.bursts.map_or(Value::Absent, |bursts| bursts.write()));
        add("corrupt", is_given(self.corrupt), self.corrupt.write());
        add("bleach", is_given(self.bleach), self.bleach.write());
        add("jitter", self.jitter.is_some(), self.jitter.as_ref().map_or(Value::Absent, TimeDraw::write));
        add("reorder", self.reorder.is_some(), self.reorder.as_ref().map_or(Value::Absent, Reorder::write));
        add("duplicate", is_given(self.duplicate), self.duplicate.write());
        Value::Table(entries)
    }
}

impl Quantity for Bursts {
    fn kind() -> Kind {
        Kind::Table
    }

    fn read(value: &Value) -> Result<Bursts, String> {
        let Value::Table(entries) = value else {
            return Err(format!("{value} is no table; expected {{ enter = 0.002, leave = 0.2 }}"));
        };
        let entries = Entries::of(entries, &["enter", "leave", "good", "bad"])?;
        let bursts = Bursts {
            enter: entries.required("enter", "the probability of a burst's start, a packet: 0.002")?,
            leave: entries.required("leave", "the probability of a burst's end, a packet: 0.2")?,
            good: entries.get("good")?.unwrap_or(Prob::ZERO),
            bad: entries.get("bad")?.unwrap_or(Prob::ONE),
        };
        within(bursts.leave > Prob::ZERO, "leave", &bursts.leave, "more than 0, or no burst ends")?;
        Ok(bursts)
    }

    fn write(&self) -> Value {
        let entry = |name: &str, value: Prob| (name.to_string(), value.write());
        let mut entries = vec![entry("enter", self.enter), entry("leave", self.leave)];
        entries.extend((self.good != Prob::ZERO).then(|| entry("good", self.good)));
        entries.extend((self.bad != Prob::ONE).then(|| entry("bad", self.bad)));
        Value::Table(entries)
    }
}

impl Quantity for Reorder {
    fn kind() -> Kind {
        Kind::Table
    }

    fn read(value: &Value) -> Result<Reorder, String> {
        let Value::Table(entries) = value else {
            return Err(format!("{value} is no table; expected {{ probability = 0.01, late = \"5 ms\" }}"));
        };
        let entries = Entries::of(entries, &["probability", "late"])?;
        let probability = entries.required("probability", "0 to 1")?;
        let late: TimeDraw =
            entries.required("late", "how much later a packet arrives that is held back: \"5 ms\"")?;
        within(late.seconds().mean() > 0.0, "late", &late, "more than 0")?;
        Ok(Reorder { probability, late })
    }

    fn write(&self) -> Value {
        let (probability, late) = (self.probability.write(), self.late.write());
        Value::Table(vec![("probability".into(), probability), ("late".into(), late)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Table(entries.map(|(key, value)| (key.into(), value)).into())
    }

    #[test]
    fn impairments_are_read_as_they_are_written() {
        let all = Impairments {
            loss: Prob::clamped(0.01),
            bursts: Some(Bursts {
                enter: Prob::clamped(0.002),
                leave: Prob::clamped(0.2),
                good: Prob::clamped(0.001),
                bad: Prob::clamped(0.7),
            }),
            corrupt: Prob::clamped(0.02),
            bleach: Prob::ONE,
            jitter: Some(TimeDraw::of_seconds(Draw::exponential(0.002).unwrap())),
            reorder: Some(Reorder {
                probability: Prob::clamped(0.1),
                late: TimeDraw::of_seconds(Draw::constant(0.005).unwrap()),
            }),
            duplicate: Prob::clamped(0.003),
        };
        let fewer = Impairments { jitter: None, bursts: None, ..all.clone() };
        assert!(Impairments::default().is_none() && !all.is_none());
        for impairments in [all, Impairments::default(), fewer] {
            assert_eq!(Impairments::read(&impairments.write()), Ok(impairments));
        }
    }

    #[test]
    fn a_jitter_of_one_time_is_uniform_up_to_it() {
        let read = |value: Value| Impairments::read(&table([("jitter", value)])).unwrap();
        let ends = ["0 s", "2 ms"].map(|end| Value::Text(end.into()));
        assert_eq!(read(Value::Text("2 ms".into())), read(table([("uniform", Value::List(ends.into()))])));
    }

    #[test]
    fn a_burst_loses_everything_and_between_two_nothing_is_lost() {
        let bursts = table([("enter", Value::Number(0.01)), ("leave", Value::Number(0.24))]);
        let bursts = Bursts::read(&bursts).unwrap();
        assert_eq!((bursts.good, bursts.bad), (Prob::ZERO, Prob::ONE));
        assert!((bursts.mean_loss() - 0.04).abs() < 1e-15);
    }

    #[test]
    fn an_error_names_the_expected_form() {
        for (value, hint) in [
            (Value::Number(0.1), "0.1 is no table; expected { loss = 0.01 }"),
            (table([("los", Value::Number(0.1))]), "\"los\" is unknown; did you mean \"loss\"?"),
            (table([("loss", Value::Number(1.1))]), "loss: "),
            (table([("jitter", Value::Whole(2))]), "jitter: \"2\" needs a unit"),
            (table([("bursts", table([("enter", Value::Number(0.1))]))]), "bursts.leave is missing"),
            (
                table([("bursts", table([("enter", Value::Number(0.1)), ("leave", Value::Number(0.0))]))]),
                "bursts.leave: 0 is out of range; expected more than 0",
            ),
            (
                table([("reorder", Value::Number(0.1))]),
                "reorder: 0.1 is no table; expected { probability = 0.01",
            ),
            (
                table([("reorder", table([("late", Value::Text("1 ms".into()))]))]),
                "reorder.probability is missing",
            ),
        ] {
            let text = Impairments::read(&value).unwrap_err();
            assert!(text.contains(hint), "{text}");
        }
    }
}
