//! Fluid model of a scenario: its classes, its links, and errors for features without a model.

pub(crate) mod traffic;

use crate::law_driver::LawDriver;
use crate::plant::{Link, Plant};
use sojourn_aqm::{Designed, Law, LinkContext};
use sojourn_params::InputError;
use sojourn_scenario::{Flows, Scenario, Spread, Start};
use sojourn_units::Span;
use traffic::ModelKind;

/// Fluid model of a scenario at the start, with the scenario's numbers of its parts.
pub(crate) struct Fluid {
    pub(crate) plant: Plant,
    pub(crate) drivers: Vec<LawDriver>,
    /// Scenario's number of each link of the fluid: the links with a qdisc, those on the path of data first, and of
    /// these the replaceable ones first.
    pub(crate) links: Vec<usize>,
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
        let is_modelled = qdisc.single().is_some_and(Designed::is_for_fluids);
        let error = if qdisc.single().is_some() { unmodelled(qdisc.name()) } else { several(qdisc.name()) };
        (!is_modelled).then(|| error.at(&format!("{}.qdisc", link.name)))
    }));
    errors
}

/// Errors for all features but the laws.
fn errors_of_traffic(scenario: &Scenario) -> Vec<InputError> {
    let mut errors: Vec<InputError> = Vec::new();
    let mut crossed: Vec<usize> = scenario.topology.managed().collect();
    for (place, flows) in scenario.flows.iter().enumerate() {
        crossed.extend(flows.route.iter().chain(&flows.back));
        let of_flows = MODEL.errors_of_flows(flows).into_iter();
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

/// Error of a qdisc of several queues.
fn several(qdisc: &str) -> InputError {
    let problem = "has several queues, and the fluid plant models one";
    InputError::conflict(qdisc, problem, "a law alone, or --plant packet")
}

impl Fluid {
    /// Fluid model of the scenario under its laws; `own` are custom laws, one for each replaceable link in order.
    pub(crate) fn new(scenario: &Scenario, own: Vec<Box<dyn Law>>) -> Result<Fluid, InputError> {
        if let Some(error) = errors_of_traffic(scenario).into_iter().next() {
            return Err(error);
        }
        let numbers = watched(scenario);
        let contexts = scenario.contexts();
        let links = numbers.iter().map(|number| link(scenario, *number, &contexts[*number]));
        let links: Vec<Link> = links.collect();
        let classes = scenario.flows.iter().map(|flows| traffic::class(scenario, flows, &numbers));
        let plant = Plant::new(classes.collect(), links);
        let drivers = drivers(scenario, &numbers, &contexts, own)?;
        let step = scenario.fluid.step.map_or_else(|| usual_step(scenario), Span::seconds);
        Ok(Fluid { plant, drivers, links: numbers, step })
    }
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

fn link(scenario: &Scenario, number: usize, context: &LinkContext) -> Link {
    let capacity = traffic::capacity(&scenario.topology.links[number], context.packet);
    Link::new(capacity, context.limit, context.packet)
}

/// Interval in which the flows of a class start, s.
pub(crate) fn start_interval(flows: &Flows) -> (f64, f64) {
    let (Start::Random(Spread { from, to }) | Start::Even(Spread { from, to })) = flows.start;
    (from.min(to).seconds(), from.max(to).seconds())
}

fn drivers(
    scenario: &Scenario,
    numbers: &[usize],
    contexts: &[LinkContext],
    own: Vec<Box<dyn Law>>,
) -> Result<Vec<LawDriver>, InputError> {
    // Custom laws are in the order of the scenario's links.
    let mut replaced: Vec<usize> = scenario.topology.replaceable().collect();
    replaced.truncate(own.len());
    let mut own: Vec<Option<Box<dyn Law>>> = own.into_iter().map(Some).collect();
    let driver = |(place, number): (usize, &usize)| {
        let link = &scenario.topology.links[*number];
        let qdisc = link.qdisc.as_ref().expect("a managed link has a qdisc");
        let theirs = replaced.iter().position(|replaced| replaced == number);
        let context = contexts[*number];
        let driver = match theirs.and_then(|place| own[place].take()) {
            Some(law) if law.probability().is_some() => Ok(LawDriver::new(place, law, context)),
            Some(_) => Err(unmodelled("a custom law")),
            None => LawDriver::designed(place, qdisc, context).ok_or_else(|| unmodelled(qdisc.name())),
        };
        driver.map_err(|error| error.at(&format!("{}.qdisc", link.name)))
    };
    numbers.iter().enumerate().map(driver).collect()
}

/// Default step: a twentieth of the shortest base RTT, s.
fn usual_step(scenario: &Scenario) -> f64 {
    let tcp = scenario.flows.iter().filter(|flows| flows.app.is_tcp());
    let shortest = tcp.map(|flows| scenario.mean_base_rtt(flows)).fold(f64::INFINITY, f64::min);
    (shortest / 20.0).min(LONGEST_STEP)
}

const MODEL: ModelKind = ModelKind::Fluid;
/// Greatest number of round trips in a run.
const MOST_STEPS: f64 = 2e6;
/// Default of the longest step, s.
const LONGEST_STEP: f64 = 0.01;
