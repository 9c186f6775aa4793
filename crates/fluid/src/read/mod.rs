//! A scenario as a fluid: its classes, its links, and what has no model.

pub(crate) mod traffic;

use crate::host::Host;
use crate::plant::{Link, Plant};
use sojourn_aqm::{Law, Site};
use sojourn_scenario::{Flows, Scenario, Spread, Start};
use sojourn_units::{Fault, Span};
use traffic::Model;

/// A scenario's fluid at the start, and where its parts stand in the scenario.
pub(crate) struct Fluid {
    pub(crate) plant: Plant,
    pub(crate) hosts: Vec<Host>,
    /// The scenario's number of each link of the fluid: those that have a disc, first those that data cross, and of them
    /// those first whose disc another one may take the place of.
    pub(crate) links: Vec<usize>,
    /// What the law of each link was built with.
    pub(crate) given: Vec<Vec<(String, sojourn_units::Value)>>,
    /// The longest step, s.
    pub(crate) step: f64,
}

/// All that the scenario asks for and a fluid does not have, a fault each; of discs that may be replaced none where the
/// caller's own laws stand in their places.
pub fn faults(scenario: &Scenario, own_laws: bool) -> Vec<Fault> {
    let mut faults = faults_of_traffic(scenario);
    faults.extend(scenario.topology.managed().filter_map(|number| {
        let link = &scenario.topology.links[number];
        let disc = link.disc.as_ref().filter(|_| link.is_fixed || !own_laws)?;
        let host = Host::built(0, disc, scenario.site(number));
        host.is_none().then(|| unmodelled(&disc.law).inside(&format!("{}.disc", link.name)))
    }));
    faults
}

/// The same of all but the laws.
fn faults_of_traffic(scenario: &Scenario) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    let mut crossed: Vec<usize> = scenario.topology.managed().collect();
    for (place, flows) in scenario.flows.iter().enumerate() {
        crossed.extend(flows.route.iter().chain(&flows.back));
        let of_flows = MODEL.faults_of_flows(flows).into_iter();
        faults.extend(of_flows.map(|fault| fault.inside(&format!("flows[{place}]"))));
        let shortest = scenario.base_rtts_of(flows).0;
        if flows.app.is_tcp() && shortest.seconds() * MOST_STEPS < scenario.duration.seconds() {
            let what = format!(
                "a round trip of {shortest} without queueing makes more steps in {} than the fluid plant takes; legal: \
                 more than a {MOST_STEPS:.0}th of the duration, or --plant packet",
                scenario.duration
            );
            faults.push(Fault::new(format!("flows[{place}].access.delay"), what));
        }
    }
    crossed.sort_unstable();
    crossed.dedup();
    faults.extend(crossed.iter().flat_map(|number| MODEL.faults_of_link(&scenario.topology.links[*number])));
    faults
}

/// The refusal of a law that has no twin.
fn unmodelled(law: &str) -> Fault {
    MODEL.has_no("law", &format!("\"{law}\", which judges packets,"), "a law that gives a probability")
}

impl Fluid {
    /// The scenario's fluid under its laws; `own` are the caller's, one for each replaceable link in order.
    pub(crate) fn new(scenario: &Scenario, own: Vec<Box<dyn Law>>) -> Result<Fluid, Fault> {
        if let Some(fault) = faults_of_traffic(scenario).into_iter().next() {
            return Err(fault);
        }
        let numbers = watched(scenario);
        let sites = scenario.sites();
        let links = numbers.iter().map(|number| link(scenario, *number, &sites[*number]));
        let links: Vec<Link> = links.collect();
        let classes = scenario.flows.iter().map(|flows| traffic::class(scenario, flows, &numbers));
        let plant = Plant::new(classes.collect(), links);
        let (hosts, given) = hosts(scenario, &numbers, &sites, own)?;
        let step = scenario.fluid.step.map_or_else(|| usual_step(scenario), Span::seconds);
        Ok(Fluid { plant, hosts, links: numbers, given, step })
    }
}

/// The links that have a disc, those first that data cross, and of them those first whose disc may be replaced.
fn watched(scenario: &Scenario) -> Vec<usize> {
    let topology = &scenario.topology;
    let fixed = topology.managed().filter(|link| topology.links[*link].is_fixed);
    let crossing = scenario.crossing();
    let all = topology.replaceable().chain(fixed);
    let (mut crossed, idle): (Vec<usize>, Vec<usize>) = all.partition(|link| !crossing[*link].is_empty());
    crossed.extend(idle);
    crossed
}

fn link(scenario: &Scenario, number: usize, site: &Site) -> Link {
    let capacity = traffic::capacity(&scenario.topology.links[number], site.packet);
    Link::new(capacity, site.limit, site.packet)
}

/// When the flows of a class start: from, until, and how many then.
pub(crate) fn coming(flows: &Flows) -> (f64, f64) {
    let (Start::Random(Spread { from, to }) | Start::Even(Spread { from, to })) = flows.start;
    (from.min(to).seconds(), from.max(to).seconds())
}

type Hosts = (Vec<Host>, Vec<Vec<(String, sojourn_units::Value)>>);

fn hosts(
    scenario: &Scenario,
    numbers: &[usize],
    sites: &[Site],
    own: Vec<Box<dyn Law>>,
) -> Result<Hosts, Fault> {
    // The caller's laws come in the order of the scenario's links.
    let mut replaced: Vec<usize> = scenario.topology.replaceable().collect();
    replaced.truncate(own.len());
    let mut own: Vec<Option<Box<dyn Law>>> = own.into_iter().map(Some).collect();
    let (mut hosts, mut given) = (Vec::new(), Vec::new());
    for (place, number) in numbers.iter().enumerate() {
        let link = &scenario.topology.links[*number];
        let disc = link.disc.as_ref().ok_or_else(|| Fault::new("disc", "is missing"))?;
        let inside = |fault: Fault| fault.inside(&format!("{}.disc", link.name));
        let theirs = replaced.iter().position(|replaced| replaced == number);
        let site = sites[*number];
        let (host, params) = match theirs.and_then(|place| own[place].take()) {
            Some(law) if law.probability().is_some() => (Host::new(place, law, site), Vec::new()),
            Some(_) => return Err(inside(unmodelled("a law of one's own"))),
            None => {
                let built = Host::built(place, disc, site).unwrap_or_else(|| Err(unmodelled(&disc.law)));
                (built.map_err(inside)?, disc.params.clone())
            }
        };
        hosts.push(host);
        given.push(params);
    }
    Ok((hosts, given))
}

/// A twentieth of the shortest round trip without queueing, s.
fn usual_step(scenario: &Scenario) -> f64 {
    let tcp = scenario.flows.iter().filter(|flows| flows.app.is_tcp());
    let shortest = tcp.map(|flows| scenario.mean_base_rtt(flows)).fold(f64::INFINITY, f64::min);
    (shortest / 20.0).min(LONGEST_STEP)
}

const MODEL: Model = Model::Fluid;
/// Round trips in a run, at most.
const MOST_STEPS: f64 = 2e6;
/// Seconds.
const LONGEST_STEP: f64 = 0.01;
