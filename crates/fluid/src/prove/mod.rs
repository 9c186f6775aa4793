//! Certificates: verdict, margins and assumptions of the stability of a scenario's link under its law.
//!
//! A [`Setting`] is the link with its traffic. Its equilibrium is at the law's equilibrium backlog (the target, or
//! where the law's other terms cancel), or where the law's curve meets the windows' ([`crate::linear::equilibrium`]).
//! About that equilibrium the loop is closed with the transfer functions that the law declares
//! ([`sojourn_aqm::linear`]) three times:
//!
//! | model | time | purpose |
//! |---|---|---|
//! | textbook | continuous | the model of papers and designs; also without the delay, to show the effect of the delay
//! |
//! | linearised | continuous | the fluid plant itself, to first order |
//! | linearised | sampled-data | the same with the law as it runs: the verdict |
//!
//! A verdict is a count of poles in the right half plane by Nyquist's criterion that agrees with the poles found. If
//! they differ, if one of them is unavailable, or if the declared model is only part of the law's behaviour at
//! equilibrium, nothing is proven.

mod assess;
mod assumptions;
mod cycle;
mod declared_model;
mod disturbance;
mod joint;
mod law_equilibrium;
mod network;
mod noise;
mod optimality;
mod over_box;
mod points;
mod prices;
mod region;
mod setting;
mod shares;
mod step_response;
mod warnings;
mod words;

pub use assess::{AnyLoop, Assessed};
pub use cycle::{Branch, Cycle};
pub use joint::{Joint, OfLink};
pub use noise::Noise;
pub use optimality::Optimality;
pub use over_box::{Claim, Shown, examine};
pub use points::{AtPoint, Points, at_points};
pub use region::{Cell, Extent, Region};
pub use setting::Setting;
pub use shares::OfQueue;
pub use step_response::StepResponse;
pub use warnings::SlopeChange;

use crate::linear::equilibrium::Equilibrium;
use crate::linear::loops::Continuous;
use crate::linear::meter::{Meter, Metered};
use crate::linear::plant::{Exact, Hollot, Seen};
use crate::linear::sampled::Sampled;
use law_equilibrium::{LawEquilibrium, Unproven};
use network::{Loads, Net, Obstacle};
use sojourn_aqm::linear::Linear;
use sojourn_aqm::qdiscs::QueueLaw;
use sojourn_aqm::{Law, LawSpec, Network, catalogue};
use sojourn_params::{ErrorKind, InputError};
use sojourn_scenario::Scenario;
use std::sync::Arc;

/// Arguments of a certificate.
pub struct Request<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Link by name; none: the only link that may be congested, or the one that the rates determine.
    pub link: Option<&'a str>,
    /// Laws that replace the scenario's qdiscs; none: the qdiscs themselves.
    pub own: Option<CustomLaws>,
}

/// Laws supplied by the caller.
pub struct CustomLaws {
    /// Label of the laws.
    pub label: String,
    /// One law for each link whose qdisc may be replaced, in order.
    pub laws: Vec<Box<dyn Law>>,
}

/// Plant model of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantModel {
    /// Hollot's plant of one class.
    Textbook,
    /// Hollot's plant without the delay.
    Undelayed,
    /// The fluid plant, linearised.
    Linearised,
    /// Backlog of a link whose flows are signalled as a prediction of it demands.
    Predicted,
    /// The fluid plant of several links, linearised.
    Network,
}

/// Part of a law's loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// From p to p.
    Whole,
    /// The inner loop of a cascade.
    Inner,
    /// The outer loop of a cascade, the inner one closed.
    Outer,
}

/// Result of a certificate.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Small deviations decay.
    Stable,
    /// Small deviations grow.
    Unstable,
    /// Neither is proven, with the reason.
    NotProven(String),
}

/// A certificate.
pub struct Certificate {
    /// The qdisc's label.
    pub law: String,
    /// The link and its traffic.
    pub setting: Setting,
    /// Equilibrium; none where the law declares too little.
    pub equilibrium: Option<Equilibrium>,
    /// Network at that equilibrium: all flows, mean round trip.
    pub network: Option<Network>,
    /// Loops: those of the law's design first; the judged one last, where it is known.
    pub loops: Vec<Assessed>,
    /// Result.
    pub verdict: Verdict,
    /// For a law that solves the optimal control of a queue: proof that the equilibrium is its optimum.
    pub optimality: Option<Optimality>,
    /// Assumptions, a sentence each.
    pub assumptions: Vec<String>,
    /// Weaknesses of the certificate, a sentence each.
    pub warnings: Vec<String>,
    /// Noise about the equilibrium; none of a loop that is not stable, or of a network.
    pub noise: Option<Noise>,
    /// The judged loop is of that part of the law which has a transfer function; it proves nothing of the whole law.
    pub of_a_part: bool,
    /// Of queues that share the link: the certificate of each class. The others of this one are those of the worst.
    pub queues: Vec<OfQueue>,
    /// Of links that are congested together: the certificate of the network. The others of this one are those of the
    /// judged link.
    pub joint: Option<Joint>,
    /// Network around the link.
    net: Net,
    /// Other links with a qdisc on these flows' paths, and their loads from their rates.
    others: Loads,
    /// Assumptions of the law's declared model.
    assumed: Vec<&'static str>,
    /// Number of the judged loop.
    judged: Option<usize>,
    /// The law in its initial state, and its name without parameters.
    own: Box<dyn Law>,
    stem: String,
}

/// Certificate of a scenario's link; an error where there is nothing to certify.
pub fn certificate(request: &Request<'_>) -> Result<Certificate, InputError> {
    let mut certificate = unwarned(request)?;
    certificate.look_around();
    Ok(certificate)
}

/// Certificate before the law is evaluated off its equilibrium ([`Certificate::look_around`]), where a custom law may
/// fail.
///
/// Without a named link the bottleneck of all flows is certified, or, where several links are congested, their network.
pub fn unwarned(request: &Request<'_>) -> Result<Certificate, InputError> {
    let several = if request.link.is_none() { setting::crossed(request.scenario) } else { Vec::new() };
    if several.len() < 2 {
        return of_link(request, request.link);
    }
    let (mut found, mut errors): (Vec<Certificate>, Vec<InputError>) = (Vec::new(), Vec::new());
    for name in several {
        // Links of one network have one certificate.
        if found.iter().any(|one| one.joins(name)) {
            continue;
        }
        match of_link(request, Some(name)) {
            Ok(certificate) => found.push(certificate),
            Err(_) if is_idle(request, name) => {}
            Err(error) => errors.push(error),
        }
    }
    let unproven = |one: &Certificate| matches!(one.verdict, Verdict::NotProven(_));
    if !found.is_empty() && found.iter().all(unproven) {
        return Ok(found.swap_remove(0));
    }
    // A link that may be congested and has no certificate leaves nothing proven of the scenario.
    if !found.is_empty() && !errors.is_empty() {
        return Err(errors.swap_remove(0));
    }
    if found.len() == 1 {
        return Ok(found.swap_remove(0));
    }
    match errors.split_first() {
        Some((first, others)) if found.is_empty() && others.iter().all(|error| error == first) => {
            return Err(errors.swap_remove(0));
        }
        _ => {}
    }
    let all = if found.is_empty() { None } else { joint::of_all(request, found)? };
    all.map_or_else(|| of_link(request, None), Ok)
}

/// Certificate of the link called `link`, or of the only one.
fn of_link(request: &Request<'_>, link: Option<&str>) -> Result<Certificate, InputError> {
    let setting = Setting::of(request.scenario, link)?;
    if shares_its_link(request, &setting) {
        return shares::certificate(request, &setting);
    }
    let mut setting = setting;
    setting.split_by_rtt(request.scenario);
    let LinkLaw { label, stem, law, is_custom } = link_law(request, &setting)?;
    let net = Net::about(request.scenario, &setting, request.own.as_ref());
    let mut certificate = Certificate::new((label, stem.clone()), net, setting, law.clone());
    // A law without a declared equilibrium is not proven, whatever the rates are.
    if certificate.net.is_known()
        && let Some(obstacle) = certificate.obstacle(None)?
    {
        certificate.refuse(request, &obstacle)?;
        return Ok(certificate);
    }
    certificate.judge(law.as_ref(), is_custom)?;
    if is_custom {
        certificate.check().map_err(|error| error.at(&stem))?;
    }
    let equilibrium = certificate.equilibrium.clone();
    match equilibrium.map_or(Ok(None), |found| certificate.obstacle(Some(&found)))? {
        Some(obstacle) => certificate.refuse(request, &obstacle)?,
        None => certificate.assumptions = assumptions::of(&certificate),
    }
    Ok(certificate)
}

/// True if the rates of all flows are known, and leave the link called `name` without a queue.
fn is_idle(request: &Request<'_>, name: &str) -> bool {
    Setting::of(request.scenario, Some(name)).is_ok_and(|setting| {
        let net = Net::about(request.scenario, &setting, request.own.as_ref());
        net.is_idle(&Meter::new(network::EVALUATIONS))
    })
}

/// True if the queues of a qdisc share the setting's link.
fn shares_its_link(request: &Request<'_>, setting: &Setting) -> bool {
    let own = request.own.as_ref().and_then(|own| own.at(request.scenario, setting.number));
    let qdisc = request.scenario.topology.links[setting.number].qdisc.as_ref();
    own.is_none() && qdisc.is_some_and(|qdisc| qdisc.unshaped().shares().is_some())
}

/// A law at its link.
struct LinkLaw {
    label: String,
    stem: String,
    law: Box<dyn Law>,
    is_custom: bool,
}

/// Law at the setting's link: the custom one, or that of the qdisc.
fn link_law(request: &Request<'_>, setting: &Setting) -> Result<LinkLaw, InputError> {
    if let Some((own, law)) =
        request.own.as_ref().and_then(|own| Some((own, own.at(request.scenario, setting.number)?)))
    {
        return Ok(LinkLaw { label: own.label.clone(), stem: own.label.clone(), law, is_custom: true });
    }
    let qdisc = request.scenario.topology.links[setting.number].qdisc.as_ref();
    let qdisc = qdisc.ok_or_else(|| {
        InputError::new(ErrorKind::Missing, "has no qdisc", "one with a law").at(&setting.name)
    })?;
    let inner = qdisc.unshaped();
    let Some(law) = inner.single() else {
        let problem = "has no linear model: its queues have no shares of the link";
        let error = InputError::conflict(inner.name(), problem, "drr, wfq or a law alone");
        return Err(error.at("qdisc").at(&setting.name));
    };
    let law = law.law();
    Ok(LinkLaw { label: qdisc.to_string(), stem: inner.name().into(), law, is_custom: false })
}

impl CustomLaws {
    /// Custom law at a link, if there is one.
    fn at(&self, scenario: &Scenario, link: usize) -> Option<Box<dyn Law>> {
        let place = scenario.topology.replaceable().position(|number| number == link)?;
        self.laws.get(place).cloned()
    }
}

impl Certificate {
    /// A certificate that proves nothing yet; `named` are the label of the law and its name.
    fn new(named: (String, String), net: Net, setting: Setting, own: Box<dyn Law>) -> Certificate {
        Certificate {
            law: named.0,
            equilibrium: None,
            network: None,
            loops: Vec::new(),
            verdict: Verdict::NotProven(String::new()),
            optimality: None,
            assumptions: Vec::new(),
            warnings: Vec::new(),
            noise: None,
            of_a_part: false,
            queues: Vec::new(),
            joint: None,
            net,
            others: Vec::new(),
            assumed: Vec::new(),
            judged: None,
            setting,
            own,
            stem: named.1,
        }
    }

    /// The same of queues under this law.
    fn of_share(request: &Request<'_>, setting: Setting, law: &QueueLaw) -> Certificate {
        let net = Net::about(request.scenario, &setting, None);
        let name = law.name.to_string();
        Certificate::new((name.clone(), name), net, setting, law.law.law())
    }

    /// Obstacle to the analysis of this link alone, at `equilibrium` or else by the rates of all; an error where it is not
    /// full.
    fn obstacle(&mut self, equilibrium: Option<&Equilibrium>) -> Result<Option<Obstacle>, InputError> {
        let meter = Meter::new(network::EVALUATIONS);
        let loads = match equilibrium {
            None => self.net.loads(&meter),
            Some(equilibrium) => self.net.loads_at(equilibrium, self.setting.link.signal, &meter),
        };
        match loads {
            Ok(loads) => {
                self.others = loads;
                Ok(None)
            }
            Err(Obstacle::NoEquilibrium(_, error)) => Err(error),
            Err(obstacle) => Ok(Some(obstacle)),
        }
    }

    /// Gives up the analysis of this link alone: the certificate is that of its network, or keeps nothing but the reason.
    fn refuse(&mut self, request: &Request<'_>, obstacle: &Obstacle) -> Result<(), InputError> {
        (self.equilibrium, self.network, self.judged, self.optimality) = (None, None, None, None);
        self.loops.clear();
        let reason = match obstacle {
            Obstacle::Together(congested) => return joint::certify(request, self, congested),
            Obstacle::NoEquilibrium(reason, _) | Obstacle::Unproven(reason) => reason.clone(),
            Obstacle::Spent => {
                format!("{} evaluations spent at the rates of the network's links", network::EVALUATIONS)
            }
        };
        self.verdict = Verdict::NotProven(reason);
        self.assumptions = assumptions::of_rates();
        Ok(())
    }

    /// True if this is the certificate of a network with this link.
    fn joins(&self, name: &str) -> bool {
        self.joint.as_ref().is_some_and(|joint| joint.links.iter().any(|link| link.setting.name == name))
    }

    /// Finds the certificate's weaknesses ([`Certificate::warnings`]), evaluating the law off its equilibrium. A
    /// custom law that fails there counts as declaring no model.
    pub fn look_around(&mut self) {
        self.noise = self.noise_of_loop();
        self.warnings = warnings::of(self, &self.stem);
    }

    /// Checks the declared model of a custom law against its behaviour; tests check those of the catalogue.
    fn check(&self) -> Result<(), InputError> {
        let Some(equilibrium) = &self.equilibrium else { return Ok(()) };
        let at = law_equilibrium::operating_point(&self.setting, equilibrium);
        let Some(declared) = self.own.analysis().linear(&at).and_then(|linear| linear.sampled) else {
            return Ok(());
        };
        let place = declared_model::At { point: &at, context: &self.setting.context };
        declared_model::verify_declared_model(self.own.clone(), &declared, place)
    }

    /// Judged loop; none where that loop is not known.
    pub fn judged(&self) -> Option<&Assessed> {
        self.loops.get(self.judged?)
    }

    /// Loop of papers and designs: the textbook's, of a cascade the outer one; none where the traffic is not the
    /// textbook's, or the law has no form in s.
    pub fn textbook(&self) -> Option<&Assessed> {
        let all = || self.loops.iter().filter(|one| one.model == PlantModel::Textbook);
        all().find(|one| one.part == Part::Outer).or_else(|| all().next())
    }

    /// Loads and round trips at which the same law is stable.
    pub fn region(&self, extent: &Extent) -> Region {
        self.mapping()(extent)
    }

    /// Function that computes that map without borrowing the certificate.
    pub fn mapping(&self) -> impl FnOnce(&Extent) -> Region + Send + use<> {
        let (setting, own, net) = (self.setting.clone(), self.own.clone(), self.net.clone());
        move |extent| region::region(&setting, own, net, extent)
    }

    fn judge(&mut self, law: &dyn Law, is_custom: bool) -> Result<(), InputError> {
        let found = match LawEquilibrium::of(&self.setting, law) {
            Err(limit) if limit.is_unproven => {
                self.verdict = Verdict::NotProven(limit.error.message());
                return Ok(());
            }
            found => found?,
        };
        let reason = found.unproven();
        let mut unknown = None;
        if let (Some(equilibrium), Some(linear)) = (&found.equilibrium, &found.linear) {
            (self.loops, unknown) = loops(&found.setting, equilibrium, linear);
            let in_samples = linear.sampled.is_some();
            self.judged = self.loops.iter().rposition(|one| one.sampled == in_samples);
            let network = law_equilibrium::network(&found.setting, equilibrium);
            self.optimality = Optimality::of(&self.stem, law, equilibrium, network);
            self.network = Some(network);
            self.assumed.clone_from(&linear.assumes);
            if wait_seen(&found.setting, equilibrium, linear).is_some() {
                self.assumed.push(SEES_SOJOURN);
            }
        }
        self.of_a_part = matches!(reason, Some(Unproven::Partial(_)));
        self.verdict = match (reason, self.judged()) {
            (Some(reason), _) => Verdict::NotProven(unproven_reason(reason, &self.stem, &found, is_custom)),
            (None, Some(judged)) => judged.verdict(),
            (None, None) => Verdict::NotProven(unknown.unwrap_or_default()),
        };
        let LawEquilibrium { setting, equilibrium, linear, .. } = found;
        (self.setting, self.equilibrium) = (setting, equilibrium.filter(|_| linear.is_some()));
        Ok(())
    }
}

/// Reason why nothing is proven of a law with an equilibrium.
fn unproven_reason(reason: Unproven, stem: &str, found: &LawEquilibrium, is_custom: bool) -> String {
    match reason {
        Unproven::NoModel if is_custom && found.equilibrium.is_none() => format!(
            "no model: {stem} declares no `target_packets`, nor `steady_state_p` in its place, so that its equilibrium is unknown"
        ),
        Unproven::NoModel if is_custom => {
            format!("no model: {stem} declares no transfer function: its `linear` gives none")
        }
        Unproven::NoModel => no_model(stem, found),
        Unproven::NoIntegralAction => format!(
            "{stem} in this form does not hold its target: its gain at frequency 0 is finite, so that its equilibrium is not the target"
        ),
        Unproven::Partial(reason) => reason.into(),
    }
}

/// Reason of a law that declares no model: its own, or the laws of the catalogue that declare one there.
fn no_model(stem: &str, found: &LawEquilibrium) -> String {
    if let Some(reason) = found.linear.as_ref().and_then(|linear| linear.partial) {
        return format!("no model: {stem} {reason}");
    }
    let at = found.equilibrium.as_ref().map_or(String::new(), |equilibrium| {
        format!(
            " at {} packets and p = {}, its equilibrium",
            words::short(equilibrium.backlog),
            words::short(equilibrium.p)
        )
    });
    let declares = |stem: &&str| {
        let design = LawSpec::new(stem, &[]).ok().and_then(|qdisc| qdisc.design(&found.setting.context).ok());
        let own = design.and_then(|design| LawEquilibrium::of(&found.setting, design.as_law()).ok());
        own.is_some_and(|own| own.linear.is_some())
    };
    let stems = catalogue::LAWS.iter().map(|entry| entry.page.stem);
    let names: Vec<&str> = stems.filter(declares).collect();
    let which =
        if names.is_empty() { "no law does here".to_string() } else { format!("{} do", names.join(", ")) };
    format!("no model: {stem} declares no transfer function from the backlog to p{at}; {which}")
}

/// All loops, those in s first; and the reason where a sampled law has no sampled-data loop.
fn loops(setting: &Setting, equilibrium: &Equilibrium, linear: &Linear) -> (Vec<Assessed>, Option<String>) {
    let mut found = Vec::new();
    let exact = Exact::new(&setting.link, equilibrium);
    if setting.is_textbook() {
        let textbook = Hollot::new(law_equilibrium::network(setting, equilibrium));
        let undelayed = Hollot { delay: 0.0, ..textbook };
        for (model, plant) in [(PlantModel::Textbook, textbook), (PlantModel::Undelayed, undelayed)] {
            found.extend(in_s(linear, |part| (model, part), &plant));
        }
    }
    let unknown = match wait_seen(setting, equilibrium, linear) {
        Some(wait) => linearised(&mut found, linear, &Seen { plant: exact, wait }),
        None => linearised(&mut found, linear, &exact),
    };
    (found, unknown)
}

/// Delay with which the law sees the backlog, s; none where it sees the backlog itself, or under the published windows,
/// which are those of designs.
fn wait_seen(setting: &Setting, equilibrium: &Equilibrium, linear: &Linear) -> Option<f64> {
    let is_seen = linear.sees_sojourn && setting.is_calibrated();
    is_seen.then(|| equilibrium.backlog / setting.link.capacity)
}

/// Adds the loops of the linearised plant; the reason where a sampled law has no sampled-data loop.
fn linearised<P: crate::linear::plant::LinearPlant + Clone + Send + 'static>(
    found: &mut Vec<Assessed>,
    linear: &Linear,
    plant: &P,
) -> Option<String> {
    found.extend(in_s(linear, |part| (PlantModel::Linearised, part), plant));
    let law = linear.sampled.as_ref()?;
    let meter = Meter::new(EVALUATIONS);
    let Some(of) = Sampled::new(Metered::new(plant.clone(), Arc::clone(&meter)), law) else {
        let stage = "the poles of the plant, which the sampled-data loop needs";
        let why =
            if meter.is_used_up() { assess::spent(&meter, stage) } else { format!("{stage}, are unknown") };
        return Some(why);
    };
    found.push(Assessed::new((PlantModel::Linearised, Part::Whole, true), Box::new(of), &meter));
    None
}

/// Loops of a plant with a law in s: those of its cascade, then the whole.
fn in_s<P: crate::linear::plant::LinearPlant + Clone + Send + 'static>(
    linear: &Linear,
    named: impl Fn(Part) -> (PlantModel, Part),
    plant: &P,
) -> Vec<Assessed> {
    let assessed = |part, of: &dyn Fn(Metered<P>) -> Continuous<Metered<P>>| {
        let meter = Meter::new(if linear.sampled.is_some() { BESIDES } else { EVALUATIONS });
        let of = of(Metered::new(plant.clone(), Arc::clone(&meter)));
        let (model, part) = named(part);
        Assessed::new((model, part, false), Box::new(of), &meter)
    };
    if let Some(cascade) = &linear.cascade {
        return vec![
            assessed(Part::Inner, &|plant| Continuous::inner(plant, cascade.clone())),
            assessed(Part::Outer, &|plant| Continuous::outer(plant, cascade.clone())),
            assessed(Part::Whole, &|plant| Continuous::whole(plant, cascade.clone())),
        ];
    }
    let law = linear.continuous.iter();
    law.map(|law| assessed(Part::Whole, &|plant| Continuous::new(plant, law.clone()))).collect()
}

/// Assumption on a law that sees a sojourn.
const SEES_SOJOURN: &str = "The law sees the sojourn of the packet that leaves: the backlog as it was when that packet arrived, q / C ago.";
/// Evaluations that the analysis of the judged loop may take, and that of any other loop.
const EVALUATIONS: u64 = 40_000_000;
const BESIDES: u64 = 4_000_000;
