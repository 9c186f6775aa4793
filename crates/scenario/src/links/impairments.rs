//! Impairments of packets on the wire.
//!
//! The packet plant documents each.

use sojourn_params::{Errors, Kind, Quantity, TimeDraw, Value, params};
use sojourn_random::Draw;
use sojourn_units::Prob;

params! {
    /// Impairments of a wire, in the order in which they apply; none by default.
    pub struct Impairments {
        /// probability of loss, independent for each packet
        loss: Prob = Prob::ZERO, "a wire without errors";
        /// bursts of losses: a packet is lost with the probability good or bad of the wire's state, which changes with
        /// the probabilities enter and leave after each packet
        bursts: Option<Bursts> = None,
            "none: a wire without errors", "E. N. Gilbert, BSTJ 39, 1960; E. O. Elliott, BSTJ 42, 1963";
        /// probability of damage: the packet is carried on, and its receiver discards it
        corrupt: Prob = Prob::ZERO, "a wire without errors";
        /// probability that an ECN-capable packet loses its ECN bits
        bleach: Prob = Prob::ZERO, "routers leave the bits alone", "RFC 3168, section 18.1";
        /// extra delay, uniform from 0 to the time, or drawn from the given distribution; never out of order
        jitter: Option<Jitter> = None, "none: a wire of one length";
        /// packets held back, so that others overtake them
        reorder: Option<Reorder> = None, "none: a wire keeps the order";
        /// probability that a packet arrives twice
        duplicate: Prob = Prob::ZERO, "a wire without errors";
    }
}

params! {
    /// Bursts of losses: the Gilbert-Elliott chain, one step per packet.
    #[derive(Copy)]
    pub struct Bursts {
        /// probability of the transition from good to bad
        enter: Prob;
        /// probability of the transition from bad to good, without which no burst ends
        leave: Prob, above 0.0;
        /// probability of loss in the good state
        good: Prob = Prob::ZERO, "nothing is lost between bursts", "E. N. Gilbert, BSTJ 39, 1960";
        /// probability of loss in the bad state
        bad: Prob = Prob::ONE, "a burst loses all packets: enter and leave suffice to define it";
    }
}

params! {
    /// Packets held back.
    pub struct Reorder {
        /// probability of holding back a packet
        probability: Prob;
        /// delay of a packet held back, or a distribution of it
        late: TimeDraw, where "more than 0 on average" if |late| late.seconds().mean() > 0.0;
    }
}

/// Extra delays of packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter(pub TimeDraw);

impl Quantity for Jitter {
    fn kind() -> Kind {
        Kind::TimeDraw
    }
    /// A single time is the longest: the draw is uniform up to it.
    fn read(value: &Value) -> Result<Jitter, Errors> {
        let delays = TimeDraw::read(value)?;
        Ok(Jitter(match delays.seconds().as_constant() {
            Some(longest) => TimeDraw::of_seconds(Draw::uniform(0.0, longest)?),
            None => delays,
        }))
    }
    fn write(&self) -> Value {
        self.0.write()
    }
}

impl Impairments {
    /// True without impairments.
    pub fn is_none(&self) -> bool {
        *self == Impairments::default()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::value;

    #[test]
    fn impairments_are_read_as_they_are_written() {
        for text in [
            "{ loss = 0.01, bursts = { enter = 0.002, leave = 0.2, good = 0.001, bad = 0.7 }, corrupt = 0.02, \
             bleach = 1.0, jitter = { exponential = '2 ms' }, \
             reorder = { probability = 0.1, late = '5 ms' }, duplicate = 0.003 }",
            "{ loss = 0.01 }",
            "{}",
        ] {
            let impairments = Impairments::read(&value(text)).unwrap();
            assert_eq!(impairments.is_none(), text == "{}");
            assert_eq!(Impairments::read(&impairments.write()), Ok(impairments));
        }
    }

    #[test]
    fn a_jitter_of_one_time_is_uniform_up_to_it() {
        let read = |text: &str| Impairments::read(&value(text)).unwrap();
        assert_eq!(read("{ jitter = '2 ms' }"), read("{ jitter = { uniform = ['0 s', '2 ms'] } }"));
    }

    #[test]
    fn a_burst_loses_everything_and_between_two_nothing_is_lost() {
        let bursts = Bursts::read(&value("{ enter = 0.01, leave = 0.24 }")).unwrap();
        assert_eq!((bursts.good, bursts.bad), (Prob::ZERO, Prob::ONE));
        assert!((bursts.mean_loss() - 0.04).abs() < 1e-15);
    }

    #[test]
    fn an_error_names_the_expected_form() {
        for (text, message) in [
            ("0.1", "0.1 is not a table; expected { KEY = VALUE }"),
            ("{ los = 0.1 }", "los: unknown key; did you mean \"loss\"? (expected loss, bursts"),
            ("{ loss = 1.1 }", "loss: 1.1 is not a probability; expected 0 to 1"),
            ("{ jitter = 2 }", "jitter: \"2\" needs a unit"),
            (
                "{ bursts = { enter = 0.1 } }",
                "bursts.leave: is missing; expected a number such as 0.1 (more than 0",
            ),
            (
                "{ bursts = { enter = 0.1, leave = 0.0 } }",
                "bursts.leave: 0.0 is out of range; expected more than 0, at most 1",
            ),
            ("{ reorder = 0.1 }", "reorder: 0.1 is not a table"),
            ("{ reorder = { late = '1 ms' } }", "reorder.probability: is missing"),
            ("{ reorder = { probability = 0.1, late = '0 s' } }", "reorder.late: \"0 s\" is out of range"),
        ] {
            let error = Impairments::read(&value(text)).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
