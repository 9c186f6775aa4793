//! A scenario as a fluid: its classes, its links, and what has no model.

use crate::host::Host;
use crate::plant::{Class, Link, Plant, Ramp, Sender};
use sojourn_aqm::{Law, Site};
use sojourn_scenario::{App, Datagrams, Flows, Scenario, Spread, Start};
use sojourn_units::{Fault, Span};

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
    for (place, flows) in scenario.flows.iter().enumerate() {
        faults.extend(faults_of(flows).into_iter().map(|fault| fault.inside(&format!("flows[{place}]"))));
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
    for link in scenario.topology.managed().map(|number| &scenario.topology.links[number]) {
        let medium = &link.medium;
        if medium.deliveries.is_some() {
            faults.push(none(&format!("{}.trace", link.name), "a link that sends now and then", "rate"));
        }
        let impairments = &medium.impairments;
        if impairments.jitter.is_some() || impairments.reorder.is_some() || impairments.duplicate.get() > 0.0
        {
            let legal = "loss, bursts and corrupt";
            faults.push(none(&format!("{}.impairments", link.name), "jitter, reorder and duplicate", legal));
        }
    }
    faults
}

/// The refusal of a law that has no twin.
fn unmodelled(law: &str) -> Fault {
    none("law", &format!("\"{law}\", which judges packets,"), "a law that gives a probability")
}

fn faults_of(flows: &Flows) -> Vec<Fault> {
    let mut faults = Vec::new();
    let app = flows.app.name();
    if matches!(flows.app, App::Session(_)) {
        faults.push(none(
            "app",
            &format!("\"{app}\", whose connections come and go,"),
            "bulk, or what uses UDP",
        ));
    }
    let cc = flows.cc.name();
    if flows.app == App::Bulk && !MODELLED.contains(&cc) {
        faults.push(none("cc", &format!("\"{cc}\""), &MODELLED.join(", ")));
    }
    if flows.arrivals.is_some() {
        faults.push(none("arrivals", "flows that come during the run", "count and start"));
    }
    if flows.lifetime.is_some() {
        faults.push(none("lifetime", "flows that leave at random", "stop"));
    }
    faults
}

fn none(key: &str, what: &str, legal: &str) -> Fault {
    Fault::new(key, format!("{what} has no fluid model; legal: {legal}, or --plant packet"))
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
        let of = |route: &[usize]| -> Vec<usize> {
            route.iter().filter_map(|link| numbers.iter().position(|number| number == link)).collect()
        };
        let classes =
            scenario.flows.iter().map(|flows| class(scenario, flows, [of(&flows.route), of(&flows.back)]));
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
    let of = &scenario.topology.links[number];
    let framed = f64::from(of.medium.framing.on_wire(site.packet.round() as u32));
    Link::new(of.rate.packets_per_second(framed), site.limit, site.packet)
}

fn class(scenario: &Scenario, flows: &Flows, [route, back]: [Vec<usize>; 2]) -> Class {
    let packet = flows.segment.get() as f64;
    let access = flows.access.map_or(f64::INFINITY, |access| access.rate.packets_per_second(packet));
    let read = flows.reads.map_or(f64::INFINITY, |rate| rate.packets_per_second(packet - HEADER));
    let sender = match &flows.app {
        App::Datagrams(sent) => Sender::Constant(mean_rate(sent).min(access)),
        App::Bulk | App::Session(_) => Sender::Tcp(scenario.fluid.window, access.min(read)),
    };
    let passed = flows.route.iter().map(|link| {
        let impairments = &scenario.topology.links[*link].medium.impairments;
        let bursts = impairments.bursts.map_or(0.0, |bursts| bursts.mean_loss());
        (1.0 - impairments.loss.get()) * (1.0 - bursts) * (1.0 - impairments.corrupt.get())
    });
    Class {
        sender,
        flows: Ramp::default(),
        base_rtt: scenario.mean_base_rtt(flows),
        route,
        back,
        packet,
        ecn: flows.ecn,
        loss: 1.0 - passed.product::<f64>(),
    }
}

/// The mean rate of a source of datagrams, packets/s.
pub(crate) fn mean_rate(sent: &Datagrams) -> f64 {
    sent.share_on() * sent.rate().packets_per_second(sent.mean_size())
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

/// Congestion controls whose windows the fluid follows: they open by a packet a round trip and are halved.
pub(crate) const MODELLED: &[&str] = &["reno", "newreno"];
/// Round trips in a run, at most.
const MOST_STEPS: f64 = 2e6;
/// Seconds.
const LONGEST_STEP: f64 = 0.01;
/// Bytes of a segment that carry no data.
pub(crate) const HEADER: f64 = 40.0;
