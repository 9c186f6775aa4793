//! Weights by utility during a run: at the end of each period, and when flows or links change.

use crate::law_driver::World;
use crate::read::Port;
use crate::read::parts::Part;
use crate::read::utilities::{self, PricedLink, Utilities};
use sojourn_aqm::qdiscs::sqm::fluid::FlowsOfClass;
use sojourn_scenario::Scenario;
use sojourn_units::{Span, Time};

/// Links of a run whose queues have weights by utility.
#[derive(Clone)]
pub(super) struct Tuning {
    utilities: Utilities,
    /// Numbers of flows at the last solution.
    counts: Vec<f64>,
    /// End of the present period.
    ends: Time,
}

impl Tuning {
    /// At the start of a run; None: there are no such links.
    pub(super) fn new(ports: &[Port]) -> Option<Tuning> {
        let ends = Time::ZERO + period(ports)?;
        Some(Tuning { utilities: Utilities::default(), counts: Vec::new(), ends })
    }

    /// End of the present period.
    pub(super) fn ends(&self) -> Time {
        self.ends
    }

    /// Solves anew where the period ends, where the numbers of flows have changed, and where `is_changed`.
    pub(super) fn update(
        &mut self,
        world: &mut World,
        (ports, parts, scenario): (&[Port], &[Vec<Part>], &Scenario),
        is_changed: bool,
    ) {
        let now = world.now();
        let at_once = |part: &Part| world.plant().flows_at(part.class, now.seconds() + AT_ONCE);
        let counts: Vec<f64> = parts.iter().map(|parts| parts.iter().map(at_once).sum()).collect();
        let ends_period = now >= self.ends;
        if !ends_period && !is_changed && counts == self.counts {
            return;
        }
        let (places, links): (Vec<usize>, Vec<PricedLink>) =
            ports.iter().enumerate().filter_map(|(place, port)| Some((place, port.priced()?))).unzip();
        if ends_period {
            self.ends = now + period(ports).expect("links with periods");
        }
        let sent = |parts: &Vec<Part>| -> f64 {
            parts.iter().map(|part| world.plant().received()[part.class].delivered).sum()
        };
        let flows = (0..).zip(&counts).zip(parts);
        let flows = flows.map(|((class, count), parts)| flows_of(scenario, class, (*count, sent(parts))));
        let flows: Vec<FlowsOfClass> = flows.collect();
        let found = self.utilities.solve(&links, &flows, ends_period);
        for (place, weighted) in places.into_iter().zip(found) {
            let port = &ports[place];
            let Some(number) = port.shared else { continue };
            for (class, share) in weighted.shares.iter().enumerate().filter(|(_, share)| share.rate > 0.0) {
                let Some(queue) = port.queue_of(class) else { continue };
                let quantum = weighted.quanta[class];
                world.change(|plant, _| plant.shared_mut()[number].set_weight(queue, quantum));
                world.drivers()[queue].set_share(share);
            }
        }
        self.counts = counts;
    }
}

/// Shortest time between two solutions.
fn period(ports: &[Port]) -> Option<Span> {
    ports.iter().filter_map(Port::period).min()
}

/// Flows of a class, so many of them, of which so many packets were received.
fn flows_of(scenario: &Scenario, class: u32, (count, received): (f64, f64)) -> FlowsOfClass {
    let sent = received * scenario.flows[class as usize].segment.get() as f64;
    let bytes = if count > 0.0 { sent / count } else { 0.0 };
    FlowsOfClass { count: count.max(0.0), bytes, ..utilities::flows(scenario, class) }
}

/// Time after which flows that begin to come are there, s.
const AT_ONCE: f64 = 1e-6;
