//! Model parameters of a scenario's traffic and links, and errors for features without a model.

use crate::plant::{Class, Ramp, Sender, Window};
use crate::response::{self, Control, Growth, Reaction, Response, Rules};
use sojourn_params::InputError;
use sojourn_scenario::{Datagrams, Flows, Link, Scenario, Traffic, Window as Model, WindowRules};

/// Model that errors refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelKind {
    /// The fluid plant.
    Fluid,
    /// Certificates.
    Linear,
}

impl ModelKind {
    /// Error of a feature that this model does not have.
    pub(crate) fn has_no(self, key: &str, subject: &str, expected: &str) -> InputError {
        let (problem, expected) = match self {
            ModelKind::Fluid => ("has no fluid model", format!("{expected}, or --plant packet")),
            ModelKind::Linear => ("has no linear model", expected.into()),
        };
        InputError::conflict(subject, problem, expected).at(key)
    }

    /// Errors for features of flows without a model.
    pub(crate) fn errors_of_flows(self, flows: &Flows, model: Model) -> Vec<InputError> {
        let mut errors = Vec::new();
        let (app, cc) = (flows.app.name(), flows.cc.name());
        if flows.traffic() == Traffic::Session {
            let subject = format!("\"{app}\", whose connections come and go,");
            errors.push(self.has_no("app", &subject, "bulk, or what uses UDP"));
        }
        if let Err(error) = flows.cc.refuse_kernel() {
            errors.push(error.at("cc"));
        } else if flows.traffic() == Traffic::Bulk && !is_modelled(flows, model) {
            errors.push(self.has_no("cc", &format!("\"{cc}\""), &expected_controls(flows, model)));
        }
        let control = flows.window_rules().filter(|_| model == Model::Calibrated).map(|of| of.control);
        if let Some([found, expected]) = control.and_then(|control| response::unmodelled(&control)) {
            errors.push(self.has_no("cc", &format!("\"{cc}\" with {found}"), &expected));
        }
        if flows.arrivals.is_some() {
            errors.push(self.has_no("arrivals", "flows that arrive during the run", "count and start"));
        }
        if flows.lifetime.is_some() {
            errors.push(self.has_no("lifetime", "flows that leave at random", "stop"));
        }
        errors
    }

    /// Errors for features of a link without a model.
    pub(crate) fn errors_of_link(self, link: &Link) -> Vec<InputError> {
        let mut errors = Vec::new();
        if link.medium.link_schedule.is_some() {
            let key = format!("{}.trace", link.name);
            errors.push(self.has_no(&key, "a link with a trace", "rate"));
        }
        let wire = &link.medium.impairments;
        let shaken = [
            ("jitter", wire.jitter.is_some(), "a delay that varies by packet"),
            ("reorder", wire.reorder.is_some(), "a link that reorders packets"),
            ("duplicate", wire.duplicate.get() > 0.0, "a link that duplicates packets"),
            ("bleach", wire.bleach.get() > 0.0, "a link that erases marks"),
        ];
        for (key, _, subject) in shaken.into_iter().filter(|(_, is_given, _)| *is_given) {
            let key = format!("{}.impairments.{key}", link.name);
            errors.push(self.has_no(&key, subject, "loss, bursts and corrupt"));
        }
        errors
    }
}

/// A class without its flows, which the schedule adds; `links` are the scenario's numbers of the model's links.
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
        acks: HEADER / data_per_ack(flows),
        packet: flows.segment.get() as f64,
        ecn: flows.ecn,
        loss: loss(scenario, flows),
    }
}

/// C of a link, packets/s of this size.
pub(crate) fn capacity(link: &Link, packet: f64) -> f64 {
    let framed = f64::from(link.medium.framing.on_wire(packet.round() as u32));
    link.rate.packets_per_second(framed)
}

/// Data packets of flows for each of their acknowledgments.
pub(crate) fn data_per_ack(flows: &Flows) -> f64 {
    f64::from(if flows.profile.delayed_ack { flows.profile.ack_every.max(1) } else { 1 })
}

/// Sender of each of its flows.
pub(crate) fn sender(scenario: &Scenario, flows: &Flows) -> Sender {
    let packet = flows.segment.get() as f64;
    let access = flows.access.map_or(f64::INFINITY, |access| access.rate.packets_per_second(packet));
    let read = flows.reads.map_or(f64::INFINITY, |rate| rate.packets_per_second(packet - HEADER));
    match &flows.traffic() {
        Traffic::Datagrams(sent) => Sender::Constant(mean_rate(sent).min(access)),
        Traffic::Bulk | Traffic::Session => Sender::Tcp(window(scenario, flows), access.min(read)),
    }
}

/// Model of its windows. A class with ECN responds as to marks, even where a law drops.
fn window(scenario: &Scenario, flows: &Flows) -> Window {
    match scenario.fluid.window {
        Model::Mgt => Window::Mgt,
        Model::Full => Window::Full,
        Model::Calibrated => {
            // Flows without a model are errors before they are built.
            let rules = flows.window_rules().map_or_else(Rules::default, |of| rules(flows, of));
            Window::Calibrated(Response::of(rules))
        }
    }
}

fn rules(flows: &Flows, of: WindowRules) -> Rules {
    let WindowRules { control, counts_bytes, per_ack, least_at_echo, halves_flight, repair } = of;
    let growth = if counts_bytes { Growth::Bytes } else { Growth::Acks };
    let (reaction, least) = if flows.ecn {
        (Reaction::Mark, least_at_echo.max(1.0))
    } else {
        let is_least_two = halves_flight || !matches!(control, Control::Reno { .. });
        (Reaction::Loss(repair), if is_least_two { 2.0 } else { 1.0 })
    };
    Rules { control, growth, per_ack, reaction, least, halves_flight }
}

/// True if the model has the congestion control of these flows.
fn is_modelled(flows: &Flows, model: Model) -> bool {
    match model {
        Model::Mgt | Model::Full => PUBLISHED.contains(&flows.cc.name()),
        Model::Calibrated => flows.window_rules().is_some(),
    }
}

/// Congestion controls that the model has, in words.
fn expected_controls(flows: &Flows, model: Model) -> String {
    let published = PUBLISHED.join(", ");
    match (model, flows.window_rules()) {
        (Model::Calibrated, _) => format!("{published}, cubic, scalable, dctcp with ecn"),
        (_, Some(_)) => format!("{published}, plant.fluid.model = \"calibrated\""),
        (_, None) => published,
    }
}

/// Share of packets that links lose on the path of the data.
fn loss(scenario: &Scenario, flows: &Flows) -> f64 {
    let passed = flows.route.iter().map(|link| {
        let wire = &scenario.topology.links[*link].medium.impairments;
        let bursts = wire.bursts.map_or(0.0, |bursts| bursts.mean_loss());
        (1.0 - wire.loss.get()) * (1.0 - bursts) * (1.0 - wire.corrupt.get())
    });
    1.0 - passed.product::<f64>()
}

/// Mean rate of a source of datagrams, packets/s.
fn mean_rate(sent: &Datagrams) -> f64 {
    sent.share_on() * sent.rate().packets_per_second(sent.mean_size())
}

/// Congestion controls of the published models: windows open by a packet a round trip and are halved.
const PUBLISHED: &[&str] = &["reno", "newreno"];
/// Header bytes of a segment.
pub(crate) const HEADER: f64 = 40.0;
