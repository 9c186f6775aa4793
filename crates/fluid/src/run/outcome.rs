//! Outcome of a run: metrics and series of its links and classes.

use super::{Run, Snapshot, bits};
use crate::read::parts::Part;
use sojourn_measure::{
    Elsewhere, LinkOutcome, LinkStats, Metrics, Moments, PacketStats, Packets, Quantiles, QueueOutcome,
    Received, Row, Sample, Series, Stretch, Totals, class_metrics, finite_ratio, jain_index, path_metrics,
};

impl Run {
    pub(super) fn outcome(&mut self, place: usize) -> LinkOutcome {
        let crossing = self.crossing(place);
        let several = self.scenario.flows.len() > 1;
        let mut series = std::mem::take(&mut self.views[place].series);
        let all = Row { metrics: self.link_metrics(place, &crossing, &series), balance: None };
        let row = |class: &usize| self.named_row(*class, Some(place));
        let classes = crossing.iter().filter(|_| several).map(row).collect();
        if several {
            series.goodput_bps = crossing.iter().map(|class| self.goodput(*class)).collect();
        }
        let sojourns = self.samples(place)[1];
        LinkOutcome {
            link: self.scenario.topology.links[self.ports[place].number].name.clone(),
            qdisc: self.views[place].qdisc.clone(),
            all,
            classes,
            series,
            queues: self.queue_outcomes(place),
            sojourn_distribution: sojourns.cumulative(STEPS_OF_DISTRIBUTION),
        }
    }

    pub(super) fn elsewhere(&self) -> Elsewhere {
        let nowhere = |class: &usize| self.world.plant().passed(self.parts[*class][0].class).next().is_none();
        let classes: Vec<usize> = (0..self.scenario.flows.len()).filter(nowhere).collect();
        if classes.is_empty() {
            return Elsewhere::default();
        }
        let goodput_bps = classes.iter().map(|class| self.goodput(*class)).collect();
        Elsewhere {
            classes: classes.iter().map(|class| self.named_row(*class, None)).collect(),
            series: Series { time_s: self.time_s.clone(), goodput_bps, ..Series::default() },
        }
    }

    fn crossing(&self, place: usize) -> Vec<usize> {
        let crosses = |class: &usize| self.ports[place].queue_of(*class).is_some();
        (0..self.scenario.flows.len()).filter(crosses).collect()
    }

    fn goodput(&self, class: usize) -> (String, Vec<f64>) {
        (self.scenario.flows[class].name.clone(), self.goodputs[class].clone())
    }

    fn link_metrics(&self, place: usize, classes: &[usize], series: &Series) -> Metrics {
        let now = Snapshot::of(self.world.plant(), &self.ports);
        let measured = now.links[place] - self.warm().links[place];
        let [backlogs, sojourns] = self.samples(place);
        let goodput: f64 = classes.iter().map(|class| self.goodput_of(*class)).sum();
        let stats = LinkStats {
            moments: Moments::of(&measured),
            backlog: Quantiles::of(|q| backlogs.quantile(q)),
            empty_ratio: None,
            utilization: finite_ratio(measured.delivered.min(measured.capacity), measured.capacity),
            packets: PacketStats {
                packets: measured.packets(),
                sojourn_mean: measured.mean_sojourn(),
                sojourn: Quantiles::of(|q| sojourns.quantile(q)),
                wire_lost: None,
                filters_acks: false,
            },
            stretches: &self.stretches(place),
            series,
            central: false,
        };
        stats.metrics(&self.of_flows(goodput, classes))
    }

    /// Metrics of a class at a link; None: of a class that crosses no link of the fluid.
    fn named_row(&self, class: usize, place: Option<usize>) -> (String, Row) {
        let queue = place.and_then(|place| self.ports[place].queue_of(class));
        let here = |part: &Part| {
            let before = self.warm().passed[part.class].iter().copied();
            at(self.world.plant().passed(part.class), queue) - at(before, queue)
        };
        let since: Packets = self.parts[class].iter().map(here).sum();
        let own = place.and_then(|place| self.own_queue(place, class));
        let packets = place.map(|_| PacketStats {
            packets: since,
            sojourn_mean: own.as_ref().and_then(|(totals, _)| totals.mean_sojourn()),
            sojourn: own
                .as_ref()
                .map_or_else(Quantiles::default, |(_, sojourns)| Quantiles::of(|q| sojourns.quantile(q))),
            wire_lost: None,
            filters_acks: false,
        });
        let backlog = own.and_then(|(totals, _)| finite_ratio(totals.backlog, totals.time));
        let flows = self.of_flows(self.goodput_of(class), &[class]);
        let metrics = class_metrics(&flows, packets.as_ref(), backlog);
        (self.scenario.flows[class].name.clone(), Row { metrics, balance: None })
    }

    /// Backlogs and sojourn times of a link.
    fn samples(&self, place: usize) -> [&Sample; 2] {
        let (port, watched) = (&self.ports[place], self.world.plant().watched());
        match port.shared {
            Some(number) => watched.shared[number].each_ref(),
            None => [&watched.backlogs[port.queues[0]], &watched.sojourns[port.queues[0]]],
        }
    }

    /// Totals since the warm-up and sojourn times of the queue that a class has to itself on a shared link.
    fn own_queue(&self, place: usize, class: usize) -> Option<(Totals, &Sample)> {
        let port = &self.ports[place];
        let queue = port.own_queue_of(class).filter(|_| port.shared.is_some())?;
        let totals = self.world.plant().links()[queue].totals() - self.warm().queues[queue];
        Some((totals, &self.world.plant().watched().sojourns[queue]))
    }

    /// The named queues of a link that had packets.
    fn queue_outcomes(&self, place: usize) -> Vec<QueueOutcome> {
        let plant = self.world.plant();
        let found =
            self.views[place].queues.iter().filter(|(_, queue)| plant.links()[*queue].totals().offered > 0.0);
        let outcome = |(name, queue): &(String, usize)| {
            let totals = plant.links()[*queue].totals() - self.warm().queues[*queue];
            let sojourns = &plant.watched().sojourns[*queue];
            let packets = PacketStats {
                packets: totals.packets(),
                sojourn_mean: totals.mean_sojourn(),
                sojourn: Quantiles::of(|q| sojourns.quantile(q)),
                wire_lost: None,
                filters_acks: false,
            };
            let backlog = finite_ratio(totals.backlog, totals.time);
            QueueOutcome {
                name: name.clone(),
                row: Row { metrics: class_metrics(&[], Some(&packets), backlog), balance: None },
                sojourn_distribution: sojourns.cumulative(STEPS_OF_DISTRIBUTION),
            }
        };
        found.map(outcome).collect()
    }

    /// End-to-end metrics of classes; round-trip times are those of TCP packets.
    fn of_flows(&self, goodput_bps: f64, classes: &[usize]) -> Metrics {
        let tcp = classes.iter().filter(|class| self.scenario.flows[**class].app.is_tcp());
        let parts = tcp.flat_map(|class| &self.parts[*class]);
        let rtts: Vec<_> = parts.map(|part| &self.world.plant().watched().rtts[part.class]).collect();
        path_metrics(goodput_bps, self.jain_index(classes), &Sample::summary_of(&rtts))
    }

    /// Payload bits per second after the warm-up.
    fn goodput_of(&self, class: usize) -> f64 {
        let packets = self.parts[class].iter().map(|part| self.received(part).delivered).sum();
        let seconds = (self.scenario.duration - self.scenario.warmup).seconds();
        bits(&self.scenario.flows[class], packets) / seconds
    }

    /// Received totals after the warm-up.
    fn received(&self, part: &Part) -> Received {
        self.world.plant().received()[part.class] - self.warm().received[part.class]
    }

    /// Jain's index of the long-lived flows; those of a part of a class are identical.
    fn jain_index(&self, classes: &[usize]) -> Option<f64> {
        let (mut flows, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for class in classes.iter().copied().filter(|class| self.scenario.flows[*class].is_long_lived()) {
            let seconds = (self.scenario.duration - self.scenario.warmup).seconds();
            for part in &self.parts[class] {
                let Received { flows: of_flows, delivered } = self.received(part);
                let (count, got) = (of_flows / seconds, bits(&self.scenario.flows[class], delivered));
                flows += count;
                sum += got;
                squares += if count > 0.0 { got * got / count } else { 0.0 };
            }
        }
        jain_index(flows, sum, squares)
    }

    fn stretches(&self, place: usize) -> Vec<Stretch> {
        let warm = self.warm().links[place];
        let now = Snapshot::of(self.world.plant(), &self.ports);
        let end = (self.scenario.duration.seconds(), now.links[place]);
        Stretch::all(&self.views[place].stretches, end, |start, (_, end)| {
            let from = if start.sums.time < warm.time { warm } else { start.sums };
            if end.time > from.time { Moments::of(&(end - from)) } else { Moments::default() }
        })
    }

    fn warm(&self) -> &Snapshot {
        self.warm.as_ref().unwrap_or(&self.last)
    }
}

/// Totals at a link of the plant, of those at each.
fn at(mut passed: impl Iterator<Item = (usize, Packets)>, link: Option<usize>) -> Packets {
    passed.find(|of| Some(of.0) == link).map(|of| of.1).unwrap_or_default()
}

/// Points of a distribution.
const STEPS_OF_DISTRIBUTION: usize = 1000;
