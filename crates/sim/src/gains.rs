//! What the flows of classes got, wherever their data went.

use crate::class::{ClassTally, Times};
use crate::histogram::Histogram;
use crate::recorder::Recorder;
use crate::results::{Metric, Metrics, finite, in_seconds, ratio};
use crate::speech;
use sojourn_units::Span;

/// What the flows of a class live for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// They take what they can get, for ever: Jain's index is about them.
    Greedy,
    /// They end by themselves, or come and go.
    Session,
    /// They send as their application has it, whatever the network does.
    Stream,
    /// So do they, and somebody listens.
    Call,
    /// So do they, and wait for what comes back.
    Echo,
}

/// The classes of a run, each summed up once: what flows got is the same at every link.
pub(crate) struct Gains<'a> {
    classes: &'a [ClassTally],
    lives: &'a [Life],
    /// The time that is measured.
    span: Span,
    goodputs: Vec<Goodput>,
    /// What is measured of each, where they are told apart.
    each: Vec<Metrics>,
    /// The last classes that were asked for together: neighbouring links often carry the same ones.
    last: (Vec<u32>, Metrics),
}

/// Bytes that the applications of some flows got.
#[derive(Clone, Copy, Debug, Default)]
struct Goodput {
    flows: f64,
    sum: u64,
    /// The sum of the squares.
    squares: f64,
}

impl<'a> Gains<'a> {
    pub(crate) fn new(recorder: &'a Recorder, lives: &'a [Life], span: Span) -> Gains<'a> {
        let mut goodputs = vec![Goodput::default(); recorder.classes.len()];
        for (class, bytes) in recorder.class_of.iter().zip(&recorder.received_bytes) {
            goodputs[*class as usize].add(Goodput::of(*bytes));
        }
        let (classes, last) = (&recorder.classes[..], (Vec::new(), Vec::new()));
        let mut gains = Gains { classes, lives, span, goodputs, each: Vec::new(), last };
        if recorder.tells_classes_apart {
            gains.each = (0..classes.len() as u32).map(|class| gains.sum(&[class])).collect();
        }
        gains
    }

    /// What is measured of the flows of a class, where classes are told apart.
    pub(crate) fn of_class(&self, class: u32) -> &Metrics {
        &self.each[class as usize]
    }

    /// What is measured of the flows of these classes together; one at least.
    pub(crate) fn of(&mut self, classes: &[u32]) -> &Metrics {
        if self.last.0 != classes {
            self.last = (classes.to_vec(), self.sum(classes));
        }
        &self.last.1
    }

    fn sum(&self, classes: &[u32]) -> Metrics {
        let (mut rtts, mut srtts, mut completions) = (Times::default(), Times::default(), Times::default());
        let mut delays = Histogram::<6>::default();
        let (mut turned_away, mut sent, mut came) = (0, 0, 0);
        let (mut played, mut stood) = (Span::ZERO, Span::ZERO);
        let (mut all, mut greedy) = (Goodput::default(), Goodput::default());
        for (place, class, life) in classes.iter().map(|class| self.class(*class)) {
            all.add(self.goodputs[place]);
            if life == Life::Greedy {
                greedy.add(self.goodputs[place]);
            }
            sent += class.sent;
            came += if life == Life::Echo { class.came_back } else { class.came };
            rtts.merge(&class.rtts);
            srtts.merge(&class.srtts);
            delays.merge(&class.delays);
            completions.merge(&class.completions);
            turned_away += class.turned_away;
            (played, stood) = (played + class.played, stood + class.stood);
        }
        let counted = |count: u64| Metric::from((count > 0).then_some(count as f64));
        let seconds = |nanos: Option<f64>| Metric::from(nanos.map(in_seconds));
        vec![
            ("rtt_mean_s", seconds(rtts.mean())),
            ("rtt_p50_s", seconds(rtts.quantile(0.5))),
            ("rtt_p95_s", seconds(rtts.quantile(0.95))),
            ("rtt_max_s", seconds(rtts.longest())),
            ("srtt_mean_s", seconds(srtts.mean())),
            ("srtt_p50_s", seconds(srtts.quantile(0.5))),
            ("srtt_p95_s", seconds(srtts.quantile(0.95))),
            ("srtt_max_s", seconds(srtts.longest())),
            ("goodput_bps", Metric::Number(all.sum as f64 * 8.0 / self.span.seconds())),
            ("jain_index", Metric::from(greedy.jain_index())),
            ("fct_mean_s", seconds(completions.mean())),
            ("fct_p50_s", seconds(completions.quantile(0.5))),
            ("fct_p95_s", seconds(completions.quantile(0.95))),
            ("completed_flows", counted(completions.count())),
            ("turned_away_flows", counted(turned_away)),
            ("one_way_p50_s", seconds(delays.quantile(0.5))),
            ("one_way_p95_s", seconds(delays.quantile(0.95))),
            ("datagram_loss_ratio", Metric::from(finite(ratio(sent.saturating_sub(came) as f64, sent)))),
            ("voice_rating", Metric::from(self.voice_rating(classes))),
            ("stall_ratio", Metric::from(finite(stood.seconds() / (played + stood).seconds()))),
        ]
    }

    /// The rating of the calls among some classes.
    fn voice_rating(&self, classes: &[u32]) -> Option<f64> {
        let mut delays = Histogram::<6>::default();
        let (mut sent, mut came) = (0, 0);
        let told = classes.iter().map(|class| self.class(*class));
        for (_, class, _) in told.filter(|(_, _, life)| *life == Life::Call) {
            delays.merge(&class.delays);
            sent += class.sent;
            came += class.came;
        }
        // Wires may double what is sent.
        let came = finite(ratio(came as f64, sent))?.min(1.0);
        speech::of_calls(&delays, came)
    }

    fn class(&self, class: u32) -> (usize, &'a ClassTally, Life) {
        let place = class as usize;
        (place, &self.classes[place], self.lives[place])
    }
}

impl Goodput {
    /// What one flow got.
    fn of(bytes: u64) -> Goodput {
        Goodput { flows: 1.0, sum: bytes, squares: bytes as f64 * bytes as f64 }
    }

    fn add(&mut self, other: Goodput) {
        self.flows += other.flows;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Jain's index of fairness: (sum x)^2 / (n sum x^2); None where nobody got anything.
    fn jain_index(&self) -> Option<f64> {
        let sum = self.sum as f64;
        (self.squares > 0.0).then(|| sum * sum / (self.flows * self.squares))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_of_equals_is_one_and_of_one_in_n_is_a_share() {
        let jain = |shares: &[u64]| {
            let mut all = Goodput::default();
            for bytes in shares {
                all.add(Goodput::of(*bytes));
            }
            all.jain_index()
        };
        assert_eq!(jain(&[5, 5, 5, 5]), Some(1.0));
        assert_eq!(jain(&[9, 0, 0, 0]), Some(0.25));
        assert_eq!(jain(&[0, 0]), None);
    }
}
