//! Wave: a probability that rises and falls in time, independent of the queue.
//!
//! A toy: the form of a law file, and the response of flows to periodic marks.
//! Over each length L of time
//!
//! ```text
//! p(t) = p_max (1 - |1 - 2 t / L|),  t in [0, L)                       (1)
//! ```
//!
//! Source: none; a triangle.

use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::link_context::LinkContext;
use crate::periodic::Periodic;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Frequency, Prob, Span};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "wave",
        summary: "a probability that rises and falls in time, whatever the queue does",
        idea: "An example: the probability depends on time alone, so the response of flows to periodic marks shows.",
        equation: "p(t) = p_max (1 - |1 - 2 t / L|),  t in [0, L)",
        source: "none; a triangle",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Wave::law(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of the wave.
    pub struct Params {
        /// probability at the crest
        max_p "p_max": Prob = Prob::clamped(0.1), above 0.0, "as RED's";
        /// time from one trough to the next
        length "L": Span = Span::from_millis(10_000), at least "1 s", "many round trips, so that flows can follow";
        /// sampling frequency
        rate "f_s": Frequency = Frequency::new(100.0).expect("positive"), in "0.1 Hz" to "1 MHz",
            "a hundredth of the shortest wave";
    }
}

/// The wave.
#[derive(Clone, Debug)]
pub struct Wave {
    max_p: f64,
    length: f64,
    period: Span,

    /// Time since the last trough, s.
    phase: f64,
}

impl Wave {
    /// The wave, from a trough.
    pub fn new(params: &Params, _context: &LinkContext) -> Result<Wave, InputError> {
        let period = params.rate.period();
        if 2.0 * period.seconds() > params.length.seconds() {
            let problem = format!("is too slow for a wave of {}", params.length);
            let expected = "two samples a wave, or more";
            return Err(InputError::conflict(params.rate, problem, expected).at("rate"));
        }
        Ok(Wave { max_p: params.max_p.get(), length: params.length.seconds(), period, phase: 0.0 })
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<Wave>, InputError> {
        Wave::new(params, context).map(Periodic::new)
    }
}

impl Controller for Wave {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, seen: &Observation) -> Prob {
        self.phase = (self.phase + seen.elapsed) % self.length;
        Prob::clamped(self.max_p * triangle(self.phase / self.length))
    }

    fn reset(&mut self) {
        self.phase = 0.0;
    }

    fn set_params(&mut self, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Wave::new(given.params.of()?, context)?;
        *self = Wave { phase: self.phase % fresh.length, ..fresh };
        Ok(())
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("phase", "s", self.phase);
    }
}

/// Equation (1) for p_max = 1 and L = 1.
fn triangle(t: f64) -> f64 {
    1.0 - (1.0 - 2.0 * t).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Rate;

    fn context() -> LinkContext {
        let rate = Rate::from_bits_per_second(10e6);
        LinkContext { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None }
    }

    #[test]
    fn it_is_equation_1() {
        let mut wave = Wave::new(&Params::default(), &context()).unwrap();
        let mut after = |elapsed| wave.update(&Observation { elapsed, ..Observation::default() }).get();
        // A quarter, a half and three quarters of the wave, then a quarter of the next.
        let seen = [after(2.5), after(2.5), after(2.5), after(5.0)];
        assert_eq!(seen, [0.05, 0.1, 0.05, 0.05]);
    }

    #[test]
    fn samples_that_miss_the_wave_are_refused() {
        let params = Params {
            length: Span::from_millis(1000),
            rate: Frequency::new(1.0).unwrap(),
            ..Params::default()
        };
        assert_eq!(Wave::new(&params, &context()).unwrap_err().key, "rate");
    }
}
