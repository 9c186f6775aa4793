//! Outcome of a run: metrics and series of its links and classes.

use super::{Measured, Run, bits};
use crate::read::parts::Part;
use sojourn_measure::{
    Elsewhere, LinkOutcome, LinkStats, Metrics, Moments, PacketStats, Packets, Quantiles, QueueOutcome,
    Received, Row, Sample, Series, Stretch, Totals, class_metrics, finite_ratio, jain_index, path_metrics,
};

impl Run {
    pub(super) fn outcome(&mut self, place: usize, measured: &Measured) -> LinkOutcome {
        let crossing = self.crossing(place);
        let several = self.scenario.flows.len() > 1;
        let mut series = std::mem::take(&mut self.views[place].series);
        let stretches = self.stretches(place, measured);
        let stats = self.link_stats(place, measured, &series, &stretches);
        let all = Row { metrics: stats.metrics(&self.flows_at(place, measured)), balance: None };
        let row = |class: &usize| self.named_row(*class, Some(place), measured);
        let classes = crossing.iter().filter(|_| several).map(row).collect();
        if several {
            series.goodput_bps = crossing.iter().map(|class| self.goodput(*class)).collect();
        }
        let sojourns = self.samples(place, measured)[1];
        LinkOutcome {
            link: self.link_name(place),
            qdisc: self.views[place].qdisc.clone(),
            all,
            classes,
            series,
            queues: self.queue_outcomes(place, measured),
            sojourn_distribution: sojourns.cumulative(STEPS_OF_DISTRIBUTION),
        }
    }

    pub(super) fn elsewhere(&self, measured: &Measured) -> Elsewhere {
        let classes = self.nowhere();
        if classes.is_empty() {
            return Elsewhere::default();
        }
        let goodput_bps = classes.iter().map(|class| self.goodput(*class)).collect();
        Elsewhere {
            classes: classes.iter().map(|class| self.named_row(*class, None, measured)).collect(),
            series: Series { time_s: self.time_s.clone(), goodput_bps, ..Series::default() },
        }
    }

    /// Classes whose data cross a link.
    pub(super) fn crossing(&self, place: usize) -> Vec<usize> {
        let crosses = |class: &usize| self.ports[place].queue_of(*class).is_some();
        (0..self.scenario.flows.len()).filter(crosses).collect()
    }

    /// Classes that cross no link of the fluid.
    pub(super) fn nowhere(&self) -> Vec<usize> {
        let nowhere = |class: &usize| self.world.plant().passed(self.parts[*class][0].class).next().is_none();
        (0..self.scenario.flows.len()).filter(nowhere).collect()
    }

    pub(super) fn link_name(&self, place: usize) -> String {
        self.scenario.topology.links[self.ports[place].number].name.clone()
    }

    fn goodput(&self, class: usize) -> (String, Vec<f64>) {
        (self.scenario.flows[class].name.clone(), self.goodputs[class].clone())
    }

    /// The queue of a link over a span of time, with its parts between changes and the series up to its end.
    pub(super) fn link_stats<'a>(
        &self,
        place: usize,
        measured: &Measured,
        series: &'a Series,
        stretches: &'a [Stretch],
    ) -> LinkStats<'a> {
        let totals = measured.until.links[place] - measured.from.links[place];
        let [backlogs, sojourns] = self.samples(place, measured);
        LinkStats {
            moments: Moments::of(&totals),
            backlog: Quantiles::of(|q| backlogs.quantile(q)),
            empty_ratio: None,
            utilization: finite_ratio(totals.delivered.min(totals.capacity), totals.capacity),
            packets: packet_stats(&totals, sojourns),
            stretches,
            series,
            central: false,
        }
    }

    /// End-to-end metrics of the classes whose data cross a link.
    pub(super) fn flows_at(&self, place: usize, measured: &Measured) -> Metrics {
        let classes = self.crossing(place);
        let goodput = classes.iter().map(|class| self.goodput_of(*class, measured)).sum();
        self.of_flows(goodput, &classes, measured)
    }

    fn named_row(&self, class: usize, place: Option<usize>, measured: &Measured) -> (String, Row) {
        let metrics = self.class_metrics(class, place, measured);
        (self.scenario.flows[class].name.clone(), Row { metrics, balance: None })
    }

    /// Metrics of a class at a link; None: of a class that crosses no link of the fluid.
    pub(super) fn class_metrics(&self, class: usize, place: Option<usize>, measured: &Measured) -> Metrics {
        let own = place.and_then(|place| self.own_queue(place, class, measured));
        let packets = place.map(|place| PacketStats {
            packets: self.packets_of(class, place, measured),
            sojourn_mean: own.as_ref().and_then(|(totals, _)| totals.mean_sojourn()),
            sojourn: own
                .as_ref()
                .map_or_else(Quantiles::default, |(_, sojourns)| Quantiles::of(|q| sojourns.quantile(q))),
            wire_lost: None,
            filters_acks: false,
        });
        let backlog = own.and_then(|(totals, _)| finite_ratio(totals.backlog, totals.time));
        let flows = self.of_flows(self.goodput_of(class, measured), &[class], measured);
        class_metrics(&flows, packets.as_ref(), backlog)
    }

    /// Packets of a class at a link.
    pub(super) fn packets_of(&self, class: usize, place: usize, measured: &Measured) -> Packets {
        let queue = self.ports[place].queue_of(class);
        let here = |part: &Part| {
            at(&measured.until.passed[part.class], queue) - at(&measured.from.passed[part.class], queue)
        };
        self.parts[class].iter().map(here).sum()
    }

    /// Backlogs and sojourn times of a link.
    pub(super) fn samples<'a>(&self, place: usize, measured: &'a Measured) -> [&'a Sample; 2] {
        let (port, watch) = (&self.ports[place], &measured.watch);
        match port.shared {
            Some(number) => watch.shared[number].each_ref(),
            None => [&watch.backlogs[port.queues[0]], &watch.sojourns[port.queues[0]]],
        }
    }

    /// Totals and sojourn times of the queue that a class has to itself on a shared link.
    pub(super) fn own_queue<'a>(
        &self,
        place: usize,
        class: usize,
        measured: &'a Measured,
    ) -> Option<(Totals, &'a Sample)> {
        let port = &self.ports[place];
        let queue = port.own_queue_of(class).filter(|_| port.shared.is_some())?;
        Some(of_queue(queue, measured))
    }

    /// The named queues of a link that had packets in the run.
    pub(super) fn named_queues(&self, place: usize) -> impl Iterator<Item = &(String, usize)> {
        let links = self.world.plant().links();
        self.views[place].queues.iter().filter(|(_, queue)| links[*queue].totals().offered > 0.0)
    }

    fn queue_outcomes(&self, place: usize, measured: &Measured) -> Vec<QueueOutcome> {
        let outcome = |(name, queue): &(String, usize)| {
            let (totals, sojourns) = of_queue(*queue, measured);
            QueueOutcome {
                name: name.clone(),
                row: Row { metrics: queue_metrics(&totals, sojourns), balance: None },
                sojourn_distribution: sojourns.cumulative(STEPS_OF_DISTRIBUTION),
            }
        };
        self.named_queues(place).map(outcome).collect()
    }

    /// End-to-end metrics of classes; round-trip times are those of TCP packets.
    fn of_flows(&self, goodput_bps: f64, classes: &[usize], measured: &Measured) -> Metrics {
        let rtts = Sample::summary_of(&self.rtts(classes, measured));
        path_metrics(goodput_bps, self.jain_index(classes, measured), &rtts)
    }

    /// Round-trip times of the TCP packets of classes.
    pub(super) fn rtts<'a>(&self, classes: &[usize], measured: &'a Measured) -> Vec<&'a Sample> {
        let tcp = classes.iter().filter(|class| self.scenario.flows[**class].app.is_tcp());
        tcp.flat_map(|class| &self.parts[*class]).map(|part| &measured.watch.rtts[part.class]).collect()
    }

    /// Payload bits per second.
    fn goodput_of(&self, class: usize, measured: &Measured) -> f64 {
        let packets = self.parts[class].iter().map(|part| measured.received(part).delivered).sum();
        bits(&self.scenario.flows[class], packets) / measured.seconds()
    }

    /// Jain's index of the long-lived flows; those of a part of a class are identical.
    fn jain_index(&self, classes: &[usize], measured: &Measured) -> Option<f64> {
        let (mut flows, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for class in classes.iter().copied().filter(|class| self.scenario.flows[*class].is_long_lived()) {
            let seconds = measured.seconds();
            for part in &self.parts[class] {
                let Received { flows: of_flows, delivered } = measured.received(part);
                let (count, got) = (of_flows / seconds, bits(&self.scenario.flows[class], delivered));
                flows += count;
                sum += got;
                squares += if count > 0.0 { got * got / count } else { 0.0 };
            }
        }
        jain_index(flows, sum, squares)
    }

    fn stretches(&self, place: usize, measured: &Measured) -> Vec<Stretch> {
        let warm = measured.from.links[place];
        let end = (self.scenario.duration.seconds(), measured.until.links[place]);
        Stretch::all(&self.views[place].stretches, end, |start, (_, end)| {
            let from = if start.sums.time < warm.time { warm } else { start.sums };
            if end.time > from.time { Moments::of(&(end - from)) } else { Moments::default() }
        })
    }
}

impl Measured {
    fn seconds(&self) -> f64 {
        self.until.time.since(self.from.time).seconds()
    }

    fn received(&self, part: &Part) -> Received {
        self.until.received[part.class] - self.from.received[part.class]
    }
}

/// Totals and sojourn times of a queue of the plant.
pub(super) fn of_queue(queue: usize, measured: &Measured) -> (Totals, &Sample) {
    (measured.until.queues[queue] - measured.from.queues[queue], &measured.watch.sojourns[queue])
}

/// Metrics of a queue that has a name.
pub(super) fn queue_metrics(totals: &Totals, sojourns: &Sample) -> Metrics {
    let backlog = finite_ratio(totals.backlog, totals.time);
    class_metrics(&[], Some(&packet_stats(totals, sojourns)), backlog)
}

fn packet_stats(totals: &Totals, sojourns: &Sample) -> PacketStats {
    PacketStats {
        packets: totals.packets(),
        sojourn_mean: totals.mean_sojourn(),
        sojourn: Quantiles::of(|q| sojourns.quantile(q)),
        wire_lost: None,
        filters_acks: false,
    }
}

/// Totals at a queue of the plant, of those at each.
fn at(passed: &[(usize, Packets)], queue: Option<usize>) -> Packets {
    passed.iter().find(|of| Some(of.0) == queue).map(|of| of.1).unwrap_or_default()
}

/// Points of a distribution.
const STEPS_OF_DISTRIBUTION: usize = 1000;
