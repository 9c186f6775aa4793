//! Statistics of flows from end to end, by classes.

use crate::class_stats::{Completions, TimeStats};
use crate::queue_stats::in_seconds;
use crate::responsiveness::{ProbeTimes, per_minute};
use crate::{ClassStats, Histogram, Metrics, Reading, Recorder, Summary, e_model, finite_ratio};
use sojourn_units::Span;

/// The kind of the flows of a class, which decides the metrics that apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKind {
    /// Long-lived TCP, subject of Jain's index.
    Greedy,
    /// TCP that ends by itself, or arrives and leaves.
    Session,
    /// Datagrams at a rate of the application.
    Stream,
    /// Datagrams of a voice call.
    Call {
        /// Length of a frame, sent once it has been spoken.
        frame: Span,
    },
    /// Datagrams that are answered.
    Echo {
        /// Round-trip time without queues; None: it varies.
        idle: Option<Span>,
    },
}

impl FlowKind {
    /// Round-trip time of echoes without queues.
    fn idle(self) -> Option<Span> {
        match self {
            FlowKind::Echo { idle } => idle,
            _ => None,
        }
    }
}

/// Goodput, fairness and round-trip times of some flows, in either plant.
pub fn path_metrics(goodput_bps: f64, jain: Option<f64>, rtt: &Summary) -> Metrics {
    vec![
        ("rtt_mean_s", rtt.mean.into()),
        ("rtt_p50_s", rtt.p50.into()),
        ("rtt_p95_s", rtt.p95.into()),
        ("rtt_p99_s", rtt.p99.into()),
        ("rtt_p999_s", rtt.p999.into()),
        ("rtt_max_s", rtt.max.into()),
        ("goodput_bps", Reading::Number(goodput_bps)),
        ("jain_index", jain.into()),
    ]
}

/// Jain's index of fairness: (sum x)^2 / (n sum x^2); None where nothing was received.
pub fn jain_index(flows: f64, sum: f64, squares: f64) -> Option<f64> {
    finite_ratio(sum * sum, flows * squares)
}

/// Metrics of the flows of a run, by classes: the same at every link.
pub struct FlowStats<'a> {
    classes: &'a [ClassStats],
    kinds: &'a [FlowKind],
    /// The time that is measured.
    span: Span,
    goodputs: Vec<Goodput>,
    /// Of each class, where classes are recorded one by one.
    each: Vec<Metrics>,
    /// The last classes together: neighbouring links often carry the same ones.
    last: (Vec<u32>, Metrics),
}

/// Bytes received by the applications of some flows.
#[derive(Clone, Copy, Debug, Default)]
struct Goodput {
    flows: f64,
    sum: u64,
    /// The sum of the squares.
    squares: f64,
}

impl<'a> FlowStats<'a> {
    /// The flows of a recorder, by the kinds of their classes, in `span` after the warm-up.
    pub fn new(recorder: &'a Recorder, kinds: &'a [FlowKind], span: Span) -> FlowStats<'a> {
        let received = recorder.received_bytes.iter().copied();
        let flows = recorder.class_of.iter().copied().zip(received);
        FlowStats::of_stretch(&recorder.classes, flows, kinds, span, recorder.is_by_class())
    }

    /// The flows in a stretch of so much time: their classes and the bytes that they received. With `by_class` each class
    /// by itself, too.
    pub(crate) fn of_stretch(
        classes: &'a [ClassStats],
        flows: impl Iterator<Item = (u32, u64)>,
        kinds: &'a [FlowKind],
        span: Span,
        by_class: bool,
    ) -> FlowStats<'a> {
        let mut goodputs = vec![Goodput::default(); classes.len()];
        for (class, bytes) in flows {
            goodputs[class as usize].add(Goodput::of(bytes));
        }
        let last = (Vec::new(), Vec::new());
        let mut stats = FlowStats { classes, kinds, span, goodputs, each: Vec::new(), last };
        if by_class {
            stats.each = (0..classes.len() as u32).map(|class| stats.sum(&[class])).collect();
        }
        stats
    }

    /// Metrics of the flows of a class, where classes are recorded one by one.
    pub fn of_class(&self, class: u32) -> &Metrics {
        &self.each[class as usize]
    }

    /// Metrics of the flows of these classes together; one at least.
    pub fn of(&mut self, classes: &[u32]) -> &Metrics {
        if self.last.0 != classes {
            self.last = (classes.to_vec(), self.sum(classes));
        }
        &self.last.1
    }

    fn sum(&self, classes: &[u32]) -> Metrics {
        let (mut rtts, mut srtts) = (TimeStats::default(), TimeStats::default());
        let (mut completions, mut probes) = (Completions::default(), ProbeTimes::default());
        let mut echoes = TimeStats::default();
        let idle = match classes {
            [one] => self.class(*one).2.idle(),
            _ => None,
        };
        let mut delays = Histogram::<6>::default();
        let (mut rejected, mut sent, mut came) = (0, 0, 0);
        let (mut played, mut stalled) = (Span::ZERO, Span::ZERO);
        let (mut all, mut greedy) = (Goodput::default(), Goodput::default());
        for (place, class, kind) in classes.iter().map(|class| self.class(*class)) {
            all.add(self.goodputs[place]);
            if kind == FlowKind::Greedy {
                greedy.add(self.goodputs[place]);
            }
            sent += class.sent;
            came += if matches!(kind, FlowKind::Echo { .. }) { class.came_back } else { class.came };
            rtts.merge(&class.rtts);
            srtts.merge(&class.srtts);
            delays.merge(&class.delays);
            completions.merge(&class.completions);
            probes.merge(&class.probes);
            if matches!(kind, FlowKind::Echo { .. }) {
                echoes.merge(&class.rtts);
            }
            rejected += class.rejected;
            (played, stalled) = (played + class.played, stalled + class.stalled);
        }
        let counted = |count: u64| Reading::from((count > 0).then_some(count as f64));
        let delay = |q| Reading::from(delays.quantile(q).map(in_seconds));
        let (srtt, fct) = (srtts.summary(), completions.times.summary());
        let goodput = all.sum as f64 * 8.0 / self.span.seconds();
        let mut metrics = path_metrics(goodput, greedy.jain_index(), &rtts.summary());
        metrics.extend([
            ("srtt_mean_s", srtt.mean.into()),
            ("srtt_p50_s", srtt.p50.into()),
            ("srtt_p95_s", srtt.p95.into()),
            ("srtt_max_s", srtt.max.into()),
            ("fct_mean_s", fct.mean.into()),
            ("fct_geomean_s", completions.geometric_mean().into()),
            ("fct_p50_s", fct.p50.into()),
            ("fct_p95_s", fct.p95.into()),
            ("completed_flows", counted(completions.times.count())),
            ("rejected_flows", counted(rejected)),
            ("one_way_p50_s", delay(0.5)),
            ("one_way_p95_s", delay(0.95)),
            ("one_way_p99_s", delay(0.99)),
            ("one_way_p999_s", delay(0.999)),
            ("datagram_loss_ratio", finite_ratio(sent.saturating_sub(came) as f64, sent as f64).into()),
            ("r_factor", self.r_factor(classes).into()),
            ("stall_ratio", finite_ratio(stalled.seconds(), (played + stalled).seconds()).into()),
            ("ping_rpm", echoes.summary().mean.map(per_minute).into()),
            ("rtt_idle_s", idle.map(Span::seconds).into()),
        ]);
        metrics.extend(probes.metrics());
        metrics
    }

    /// R-factor of the calls among some classes; None if they sent nothing.
    fn r_factor(&self, classes: &[u32]) -> Option<f64> {
        let mut delays = Histogram::<6>::default();
        let (mut sent, mut came, mut spoken) = (0, 0, Span::ZERO);
        for (_, class, kind) in classes.iter().map(|class| self.class(*class)) {
            if let FlowKind::Call { frame } = kind {
                delays.merge(&class.delays);
                sent += class.sent;
                came += class.came;
                spoken = frame;
            }
        }
        // Wires may duplicate datagrams.
        let came = finite_ratio(came as f64, sent as f64)?.min(1.0);
        Some(e_model::of_calls(&delays, came, spoken))
    }

    fn class(&self, class: u32) -> (usize, &'a ClassStats, FlowKind) {
        let place = class as usize;
        (place, &self.classes[place], self.kinds[place])
    }
}

impl Goodput {
    /// Of one flow.
    fn of(bytes: u64) -> Goodput {
        Goodput { flows: 1.0, sum: bytes, squares: bytes as f64 * bytes as f64 }
    }

    fn add(&mut self, other: Goodput) {
        self.flows += other.flows;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    fn jain_index(&self) -> Option<f64> {
        jain_index(self.flows, self.sum as f64, self.squares)
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
