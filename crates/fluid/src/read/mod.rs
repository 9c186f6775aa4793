//! Fluid model of a scenario: its classes, its links, and errors for features without a model.

pub(crate) mod parts;
pub(crate) mod ports;
pub(crate) mod traffic;
pub(crate) mod utilities;

use crate::law_driver::LawDriver;
use crate::plant::{self, Plant};
use parts::Part;
use ports::Ports;
pub(crate) use ports::{Port, Reset};
use sojourn_aqm::Law;
use sojourn_aqm::qdiscs::classifiers::By;
use sojourn_params::InputError;
use sojourn_scenario::{Flows, Scenario, Spread, Start};
use sojourn_units::Span;
use traffic::ModelKind;

/// Fluid model of a scenario at the start, with the scenario's numbers of its parts.
pub(crate) struct Fluid {
    pub(crate) plant: Plant,
    pub(crate) drivers: Vec<LawDriver>,
    /// The links with a qdisc, those on the path of data first, and of these the replaceable ones first.
    pub(crate) ports: Vec<Port>,
    /// The plant's classes of each of the scenario's.
    pub(crate) parts: Vec<Vec<Part>>,
    /// Longest step, s.
    pub(crate) step: f64,
}

/// Errors for all features of the scenario without a fluid model; for replaceable qdiscs none where custom laws
/// replace them.
pub fn errors(scenario: &Scenario, own_laws: bool) -> Vec<InputError> {
    let mut errors = errors_of_traffic(scenario);
    errors.extend(scenario.topology.managed().filter_map(|number| {
        let link = &scenario.topology.links[number];
        let qdisc = link.qdisc.as_ref().filter(|_| link.is_fixed || !own_laws)?;
        let error = ports::error_of_qdisc(qdisc);
        let error = error.or_else(|| ports::error_of_few_queues(scenario, number, MODEL))?;
        Some(error.at(&format!("{}.qdisc", link.name)))
    }));
    errors
}

/// Errors for all features but the laws.
fn errors_of_traffic(scenario: &Scenario) -> Vec<InputError> {
    let mut errors: Vec<InputError> = Vec::new();
    let mut crossed: Vec<usize> = scenario.topology.managed().collect();
    for (place, flows) in scenario.flows.iter().enumerate() {
        crossed.extend(flows.route.iter().chain(&flows.back));
        let of_flows = MODEL.errors_of_flows(flows, scenario.fluid.window).into_iter();
        errors.extend(of_flows.map(|error| error.at(&format!("flows[{place}]"))));
        let shortest = scenario.base_rtts_of(flows).0;
        if flows.app.is_tcp() && shortest.seconds() * MOST_STEPS < scenario.duration.seconds() {
            let problem = format!("makes more steps in {} than the fluid plant takes", scenario.duration);
            let expected = format!("more than a {MOST_STEPS:.0}th of the duration, or --plant packet");
            let error = InputError::conflict(format!("a base RTT of {shortest}"), problem, expected);
            errors.push(error.at(&format!("flows[{place}].access.delay")));
        }
    }
    crossed.sort_unstable();
    crossed.dedup();
    errors.extend(crossed.iter().flat_map(|number| MODEL.errors_of_link(&scenario.topology.links[*number])));
    errors
}

/// Error of a law without a fluid counterpart.
fn unmodelled(law: &str) -> InputError {
    MODEL.has_no("law", &format!("\"{law}\", which judges packets,"), "a law that gives a probability")
}

/// Error of a qdisc whose queues have no shares of the link.
fn several(qdisc: &str) -> InputError {
    let problem = "has no fluid model: its queues have no shares of the link";
    InputError::conflict(qdisc, problem, "drr, wfq, a law alone, or --plant packet")
}

impl Fluid {
    /// Fluid model of the scenario under its laws; `own` are custom laws, one for each replaceable link in order.
    pub(crate) fn new(scenario: &Scenario, own: Vec<Box<dyn Law>>) -> Result<Fluid, InputError> {
        if let Some(error) = errors_of_traffic(scenario).into_iter().next() {
            return Err(error);
        }
        let numbers = watched(scenario);
        let contexts = scenario.contexts();
        let mut own = owned(scenario, own);
        let has_queue_each = |number: usize| {
            let qdisc = scenario.topology.links[number].qdisc.as_ref().filter(|_| own[number].is_none());
            let shares = qdisc.and_then(|qdisc| qdisc.unshaped().shares());
            shares.is_some_and(|shares| shares.by == By::Flow)
        };
        let parts = parts::all(scenario, |flows| slowest(scenario, flows).any(has_queue_each));
        let (links, shared, drivers) = (Vec::new(), Vec::new(), Vec::new());
        let mut built = Ports { scenario, contexts: &contexts, parts: &parts, links, shared, drivers };
        let ports = numbers.iter().map(|number| {
            let name = &scenario.topology.links[*number].name;
            if own[*number].is_none()
                && let Some(error) = ports::error_of_few_queues(scenario, *number, MODEL)
            {
                return Err(error.at(&format!("{name}.qdisc")));
            }
            built.add(*number, own[*number].take()).map_err(|error| error.at(&format!("{name}.qdisc")))
        });
        let ports = ports.collect::<Result<Vec<Port>, InputError>>()?;
        let Ports { links, shared, drivers, .. } = built;
        let classes = parts.iter().enumerate().flat_map(|(class, parts)| {
            let of = class_of(scenario, class, (&numbers, &ports));
            let own = &scenario.flows[class];
            parts
                .iter()
                .map(move |part| plant::Class { base_rtt: part.base_rtt(scenario, own), ..of.clone() })
        });
        let classes: Vec<plant::Class> = classes.collect();
        let step = scenario.fluid.step.map_or_else(|| usual_step(&classes), Span::seconds);
        let plant = Plant::with_shared(classes, links, shared);
        Ok(Fluid { plant, drivers, ports, parts, step })
    }
}

/// The slowest links on the way of flows, by number. Where their scheduler gives each flow its share of such a link, the flows
/// have one rate whatever their round trips.
fn slowest<'a>(scenario: &'a Scenario, flows: &'a Flows) -> impl Iterator<Item = usize> + 'a {
    let rate = |number: &usize| scenario.topology.links[*number].rate.bits_per_second();
    let least = flows.route.iter().map(rate).fold(f64::INFINITY, f64::min);
    flows.route.iter().copied().filter(move |number| rate(number) <= least)
}

/// A class with its queues. Where queues share a link its acknowledgments have one of their own, which is empty.
fn class_of(scenario: &Scenario, class: usize, (numbers, ports): (&[usize], &[Port])) -> plant::Class {
    let of = traffic::class(scenario, &scenario.flows[class], numbers);
    let route = of.route.iter().filter_map(|place| ports[*place].queue_of(class)).collect();
    let single = of.back.iter().filter(|place| ports[**place].shared.is_none());
    let back = single.map(|place| ports[*place].queues[0]).collect();
    plant::Class { route, back, ..of }
}

/// Links with a qdisc, those on the path of data first, and of these the replaceable ones first.
fn watched(scenario: &Scenario) -> Vec<usize> {
    let topology = &scenario.topology;
    let fixed = topology.managed().filter(|link| topology.links[*link].is_fixed);
    let crossing = scenario.crossing();
    let all = topology.replaceable().chain(fixed);
    let (mut crossed, idle): (Vec<usize>, Vec<usize>) = all.partition(|link| !crossing[*link].is_empty());
    crossed.extend(idle);
    crossed
}

/// Interval in which the flows of a part of a class start, s.
pub(crate) fn start_interval(flows: &Flows, part: &Part) -> (f64, f64) {
    let (from, to) = match flows.start {
        Start::Random(Spread { from, to }) => (from.seconds(), to.seconds()),
        Start::Even(Spread { from, to }) => part.starts(flows, [from.seconds(), to.seconds()]).into(),
    };
    (from.min(to), from.max(to))
}

/// Custom law of each of these links; they are given in the order of the scenario's links.
fn owned(scenario: &Scenario, own: Vec<Box<dyn Law>>) -> Vec<Option<Box<dyn Law>>> {
    let mut laws: Vec<Option<Box<dyn Law>>> = vec![None; scenario.topology.links.len()];
    for (number, law) in scenario.topology.replaceable().zip(own) {
        laws[number] = Some(law);
    }
    laws
}

/// Default step: a twentieth of the shortest base RTT, s.
fn usual_step(classes: &[plant::Class]) -> f64 {
    let tcp = classes.iter().filter(|of| matches!(of.sender, plant::Sender::Tcp(..)));
    let shortest = tcp.map(|of| of.base_rtt).fold(f64::INFINITY, f64::min);
    (shortest / 20.0).min(LONGEST_STEP)
}

const MODEL: ModelKind = ModelKind::Fluid;
/// Greatest number of round trips in a run.
const MOST_STEPS: f64 = 2e6;
/// Default of the longest step, s.
const LONGEST_STEP: f64 = 0.01;
