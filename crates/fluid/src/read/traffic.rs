//! A scenario's traffic and links as models have them, and what of them no model has.

use crate::plant::{Class, Ramp, Sender};
use sojourn_scenario::{App, Datagrams, Flows, Link, Scenario};
use sojourn_units::Fault;

/// Who asks, as refusals name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// The fluid plant.
    Fluid,
    /// Certificates.
    Linear,
}

impl Model {
    /// The refusal of what this model does not have.
    pub(crate) fn has_no(self, key: &str, what: &str, legal: &str) -> Fault {
        let told = match self {
            Model::Fluid => format!("{what} has no fluid model; legal: {legal}, or --plant packet"),
            Model::Linear => format!("{what} has no linear model; legal: {legal}"),
        };
        Fault::new(key, told)
    }

    /// What of flows it does not have, a fault each.
    pub(crate) fn faults_of_flows(self, flows: &Flows) -> Vec<Fault> {
        let mut faults = Vec::new();
        let (app, cc) = (flows.app.name(), flows.cc.name());
        if matches!(flows.app, App::Session(_)) {
            let what = format!("\"{app}\", whose connections come and go,");
            faults.push(self.has_no("app", &what, "bulk, or what uses UDP"));
        }
        if flows.app == App::Bulk && !MODELLED.contains(&cc) {
            faults.push(self.has_no("cc", &format!("\"{cc}\""), &MODELLED.join(", ")));
        }
        if flows.arrivals.is_some() {
            faults.push(self.has_no("arrivals", "flows that come during the run", "count and start"));
        }
        if flows.lifetime.is_some() {
            faults.push(self.has_no("lifetime", "flows that leave at random", "stop"));
        }
        faults
    }

    /// What of a link it does not have, a fault each.
    pub(crate) fn faults_of_link(self, link: &Link) -> Vec<Fault> {
        let mut faults = Vec::new();
        if link.medium.deliveries.is_some() {
            let key = format!("{}.trace", link.name);
            faults.push(self.has_no(&key, "a link that sends now and then", "rate"));
        }
        let wire = &link.medium.impairments;
        let shaken = [
            ("jitter", wire.jitter.is_some(), "a delay that is another one for each packet"),
            ("reorder", wire.reorder.is_some(), "a wire on which packets overtake others"),
            ("duplicate", wire.duplicate.get() > 0.0, "a wire that brings packets twice"),
            ("bleach", wire.bleach.get() > 0.0, "a wire that erases marks"),
        ];
        for (key, _, what) in shaken.into_iter().filter(|(_, is_given, _)| *is_given) {
            let key = format!("{}.impairments.{key}", link.name);
            faults.push(self.has_no(&key, what, "loss, bursts and corrupt"));
        }
        faults
    }
}

/// A class without its flows, which come by the schedule; `links` are the scenario's numbers of the model's links.
pub(crate) fn class(scenario: &Scenario, flows: &Flows, links: &[usize]) -> Class {
    let of = |route: &[usize]| -> Vec<usize> {
        route.iter().filter_map(|link| links.iter().position(|number| number == link)).collect()
    };
    Class {
        sender: sender(scenario, flows),
        flows: Ramp::default(),
        base_rtt: scenario.mean_base_rtt(flows),
        route: of(&flows.route),
        back: of(&flows.back),
        packet: flows.segment.get() as f64,
        ecn: flows.ecn,
        loss: loss(scenario, flows),
    }
}

/// C of a link, in its packets/s.
pub(crate) fn capacity(link: &Link, packet: f64) -> f64 {
    let framed = f64::from(link.medium.framing.on_wire(packet.round() as u32));
    link.rate.packets_per_second(framed)
}

fn sender(scenario: &Scenario, flows: &Flows) -> Sender {
    let packet = flows.segment.get() as f64;
    let access = flows.access.map_or(f64::INFINITY, |access| access.rate.packets_per_second(packet));
    let read = flows.reads.map_or(f64::INFINITY, |rate| rate.packets_per_second(packet - HEADER));
    match &flows.app {
        App::Datagrams(sent) => Sender::Constant(mean_rate(sent).min(access)),
        App::Bulk | App::Session(_) => Sender::Tcp(scenario.fluid.window, access.min(read)),
    }
}

/// The share of packets that wires lose on the way of the data.
fn loss(scenario: &Scenario, flows: &Flows) -> f64 {
    let passed = flows.route.iter().map(|link| {
        let wire = &scenario.topology.links[*link].medium.impairments;
        let bursts = wire.bursts.map_or(0.0, |bursts| bursts.mean_loss());
        (1.0 - wire.loss.get()) * (1.0 - bursts) * (1.0 - wire.corrupt.get())
    });
    1.0 - passed.product::<f64>()
}

/// The mean rate of a source of datagrams, packets/s.
fn mean_rate(sent: &Datagrams) -> f64 {
    sent.share_on() * sent.rate().packets_per_second(sent.mean_size())
}

/// Congestion controls whose windows the models follow: they open by a packet a round trip and are halved.
const MODELLED: &[&str] = &["reno", "newreno"];
/// Bytes of a segment that carry no data.
pub(crate) const HEADER: f64 = 40.0;
