//! Certificates: whether a scenario's link is stable under its law, with what margin, and what that takes for granted.
//!
//! A [`Setting`] is the link with its traffic. There it rests where the law stands still, that is at its target or where
//! what it counts besides is made up for, or where the law's curve meets what the windows answer
//! ([`crate::linear::equilibrium`]). About that rest the loop is closed with what the law declares
//! ([`sojourn_aqm::linear`]) three times:
//!
//! | model | time | what it is for |
//! |---|---|---|
//! | textbook | continuous | what papers and designs speak of; also without the delay, to see what that takes away |
//! | linearised | continuous | the fluid plant itself, to first order |
//! | linearised | samples | the same with the law as it runs: the verdict |
//!
//! A verdict is a count of roots in the right half plane by Nyquist's criterion that agrees with the roots themselves.
//! Where they differ, where one of them cannot be had, or where what the law declares is not all that it does at rest,
//! nothing is proven.

mod assess;
mod assumptions;
mod checked;
mod network;
mod optimality;
mod region;
mod setting;
mod standing;
mod step;
mod warnings;
mod words;

pub use assess::{AnyLoop, Assessed};
pub use optimality::Optimality;
pub use region::{Cell, Extent, Region};
pub use setting::Setting;
pub use step::Step;

use crate::linear::equilibrium::Equilibrium;
use crate::linear::loops::Continuous;
use crate::linear::meter::{Meter, Metered};
use crate::linear::plant::{Exact, Hollot};
use crate::linear::sampled::Sampled;
use network::{Loads, Net, Obstacle};
use sojourn_aqm::linear::Linear;
use sojourn_aqm::{Law, Network, catalogue};
use sojourn_scenario::Scenario;
use sojourn_units::Fault;
use standing::{Reserve, Standing};
use std::sync::Arc;

/// What is to be proven.
pub struct Asked<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its link; none: the only one that may be congested, or that the rates leave.
    pub link: Option<&'a str>,
    /// What stands in the place of the scenario's discs; none: they themselves.
    pub own: Option<Own>,
}

/// Laws of the caller's own.
pub struct Own {
    /// What they are called.
    pub label: String,
    /// One for each link whose disc may be replaced, in order.
    pub laws: Vec<Box<dyn Law>>,
}

/// Of which plant a loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Hollot's, of one class.
    Textbook,
    /// The same without the delay.
    Undelayed,
    /// The fluid plant to first order.
    Linearised,
}

/// Which loop of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// From p to p.
    Whole,
    /// The inner one of a cascade.
    Inner,
    /// The outer one, the inner one closed.
    Outer,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Small deviations die out.
    Stable,
    /// They grow.
    Unstable,
    /// Neither is certain, and why.
    NotProven(String),
}

/// A certificate.
pub struct Certificate {
    /// The disc's label.
    pub law: String,
    /// The link and its traffic.
    pub setting: Setting,
    /// Where it rests; none where the law says too little of itself.
    pub rest: Option<Equilibrium>,
    /// The network of that rest: all flows, and the mean round trip.
    pub network: Option<Network>,
    /// The loops, those by which the law was designed first, the one that is judged last, where it is known.
    pub loops: Vec<Assessed>,
    /// What follows.
    pub verdict: Verdict,
    /// For a law that solves the optimal control of a queue: that this is where it rests.
    pub optimality: Option<Optimality>,
    /// What it takes for granted, a sentence each.
    pub assumptions: Vec<String>,
    /// What makes it weak, a sentence each.
    pub warnings: Vec<String>,
    /// The network about the link.
    net: Net,
    /// The other links with a disc that these flows reach, and their loads by their rates.
    others: Loads,
    /// What the law itself takes for granted in what it declares.
    assumed: Vec<&'static str>,
    /// The number of the loop of the verdict.
    judged: Option<usize>,
    /// The law as it stands there at first, and what it is called without its parameters.
    own: Box<dyn Law>,
    stem: String,
}

/// The certificate of a scenario's link; a fault where there is nothing to certify.
pub fn certificate(asked: &Asked<'_>) -> Result<Certificate, Fault> {
    let mut certificate = unwarned(asked)?;
    certificate.look_around();
    Ok(certificate)
}

/// The same before the law is looked at off its rest ([`Certificate::look_around`]), where one of the caller's own may fail.
///
/// Where several links may be congested and none is named, the rates decide: there may be one that the others do not hold
/// back, or nothing is proven of any.
pub fn unwarned(asked: &Asked<'_>) -> Result<Certificate, Fault> {
    let several = if asked.link.is_none() { setting::crossed(asked.scenario) } else { Vec::new() };
    if several.len() < 2 {
        return of_link(asked, asked.link);
    }
    let tried = several.iter().map(|name| of_link(asked, Some(name)));
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for one in tried {
        match one {
            Ok(certificate) => found.push(certificate),
            Err(fault) => faults.push(fault),
        }
    }
    let unproven = |one: &Certificate| matches!(one.verdict, Verdict::NotProven(_));
    if found.len() == 1 || (!found.is_empty() && found.iter().all(unproven)) {
        return Ok(found.swap_remove(0));
    }
    match faults.split_first() {
        Some((first, others)) if found.is_empty() && others.iter().all(|fault| fault == first) => {
            Err(faults.swap_remove(0))
        }
        _ => of_link(asked, None),
    }
}

/// The certificate of the link called `link`, or of the only one.
fn of_link(asked: &Asked<'_>, link: Option<&str>) -> Result<Certificate, Fault> {
    let setting = Setting::of(asked.scenario, link)?;
    let Seated { label, stem, law, is_own } = seated(asked, &setting)?;
    let net = Net::about(asked.scenario, &setting, asked.own.as_ref());
    let mut certificate = Certificate {
        law: label,
        rest: None,
        network: None,
        loops: Vec::new(),
        verdict: Verdict::NotProven(String::new()),
        optimality: None,
        assumptions: Vec::new(),
        warnings: Vec::new(),
        net,
        others: Vec::new(),
        assumed: Vec::new(),
        judged: None,
        setting,
        own: law.clone(),
        stem: stem.clone(),
    };
    // Of a law that declares no rest nothing is proven, whatever the rates are.
    if !certificate.net.is_known() || certificate.is_alone(None)? {
        certificate.judge(law.as_ref(), is_own)?;
        if is_own {
            certificate.check().map_err(|fault| fault.inside(&stem))?;
        }
        let rest = certificate.rest.clone();
        if rest.is_none() || certificate.is_alone(rest.as_ref())? {
            certificate.assumptions = assumptions::of(&certificate);
        }
    }
    Ok(certificate)
}

/// A law at its link.
struct Seated {
    label: String,
    stem: String,
    law: Box<dyn Law>,
    is_own: bool,
}

/// The law at the setting's link: the caller's own, or that of the disc.
fn seated(asked: &Asked<'_>, setting: &Setting) -> Result<Seated, Fault> {
    if let Some((own, law)) =
        asked.own.as_ref().and_then(|own| Some((own, own.at(asked.scenario, setting.number)?)))
    {
        return Ok(Seated { label: own.label.clone(), stem: own.label.clone(), law, is_own: true });
    }
    let disc = asked.scenario.topology.links[setting.number].disc.as_ref();
    let disc = disc.ok_or_else(|| Fault::new(&setting.name, "has no disc; legal: one with a law"))?;
    let law = disc.law_at(&setting.site).map_err(|fault| fault.inside(&format!("{}.disc", setting.name)))?;
    Ok(Seated { label: disc.to_string(), stem: disc.law.clone(), law, is_own: false })
}

impl Own {
    /// The law that stands at a link, if one does.
    fn at(&self, scenario: &Scenario, link: usize) -> Option<Box<dyn Law>> {
        let place = scenario.topology.replaceable().position(|number| number == link)?;
        self.laws.get(place).cloned()
    }
}

impl Certificate {
    /// Whether the link is the only full one that its flows cross, at `rest` or else by the rates of all; where it is not,
    /// nothing else is said of it.
    fn is_alone(&mut self, rest: Option<&Equilibrium>) -> Result<bool, Fault> {
        let meter = Meter::new(network::EVALUATIONS);
        let loads = match rest {
            None => self.net.loads(&meter),
            Some(rest) => self.net.loads_at(rest, self.setting.link.signal, &meter),
        };
        let reason = match loads {
            Ok(loads) => {
                self.others = loads;
                return Ok(true);
            }
            Err(Obstacle::Held(_, fault)) => return Err(fault),
            Err(Obstacle::Together(links)) => format!("{links}; a certificate is of one"),
            Err(Obstacle::Unproven(reason)) => reason,
            Err(Obstacle::Spent) => assess::spent(&meter, "the rates of the network's links"),
        };
        (self.rest, self.network, self.judged, self.optimality) = (None, None, None, None);
        self.loops.clear();
        self.verdict = Verdict::NotProven(reason);
        self.assumptions = assumptions::of_rates();
        Ok(false)
    }

    /// Finds what makes it weak ([`Certificate::warnings`]), with the law at places off its rest. What one of the caller's
    /// own cannot answer there counts as nothing that it declares.
    pub fn look_around(&mut self) {
        self.warnings = warnings::of(self, &self.stem);
    }

    /// Refuses a law that declares something else than it does. Those of the catalogue are held to it by tests.
    fn check(&self) -> Result<(), Fault> {
        let Some(rest) = &self.rest else { return Ok(()) };
        let at = standing::resting(&self.setting, rest);
        let Some(declared) = self.own.linear(&at).and_then(|linear| linear.sampled) else { return Ok(()) };
        let place = checked::Place { rest: &at, site: &self.setting.site };
        checked::refuse_another(self.own.clone(), &declared, place)
    }

    /// The loop of the verdict; none where that loop is not known.
    pub fn judged(&self) -> Option<&Assessed> {
        self.loops.get(self.judged?)
    }

    /// The loop of papers and designs: the textbook's, of a cascade the outer one; none where the traffic is not the
    /// textbook's, or the law has no form in s.
    pub fn textbook(&self) -> Option<&Assessed> {
        let all = || self.loops.iter().filter(|one| one.model == Model::Textbook);
        all().find(|one| one.part == Part::Outer).or_else(|| all().next())
    }

    /// For which loads and round trips the same law is stable.
    pub fn region(&self, extent: &Extent) -> Region {
        self.mapping()(extent)
    }

    /// What draws that map, without the certificate.
    pub fn mapping(&self) -> impl FnOnce(&Extent) -> Region + Send + use<> {
        let (setting, own, net) = (self.setting.clone(), self.own.clone(), self.net.clone());
        move |extent| region::region(&setting, own, net, extent)
    }

    fn judge(&mut self, law: &dyn Law, is_own: bool) -> Result<(), Fault> {
        let standing = match Standing::of(&self.setting, law) {
            Err(limit) if limit.is_unproven => {
                self.verdict = Verdict::NotProven(limit.fault.what);
                return Ok(());
            }
            standing => standing?,
        };
        let reserve = standing.reserve();
        let mut unknown = None;
        if let (Some(rest), Some(linear)) = (&standing.rest, &standing.linear) {
            (self.loops, unknown) = loops(&standing.setting, rest, linear);
            let in_samples = linear.sampled.is_some();
            self.judged = self.loops.iter().rposition(|one| one.sampled == in_samples);
            let network = standing::network(&standing.setting, rest);
            self.optimality = Optimality::of(&self.stem, law, rest, network);
            self.network = Some(network);
            self.assumed.clone_from(&linear.assumes);
        }
        self.verdict = match (reserve, self.judged()) {
            (Some(reserve), _) => Verdict::NotProven(told(reserve, &self.stem, &standing, is_own)),
            (None, Some(judged)) => judged.verdict(),
            (None, None) => Verdict::NotProven(unknown.unwrap_or_default()),
        };
        let Standing { setting, rest, linear, .. } = standing;
        (self.setting, self.rest) = (setting, rest.filter(|_| linear.is_some()));
        Ok(())
    }
}

/// Why nothing is proven of a law that rests.
fn told(reserve: Reserve, stem: &str, standing: &Standing, is_own: bool) -> String {
    match reserve {
        Reserve::Silent if is_own && standing.rest.is_none() => format!(
            "no model: {stem} declares no `target_packets`, nor `settled` in its place, so that its rest is unknown"
        ),
        Reserve::Silent if is_own => {
            format!("no model: {stem} declares no transfer function: its `linear` gives none")
        }
        Reserve::Silent => silent(stem, standing),
        Reserve::Adrift => format!(
            "{stem} in this form does not hold its target: its gain at rest is finite, so that it rests elsewhere"
        ),
        Reserve::Partial(reason) => reason.into(),
    }
}

/// That a law declares nothing, and its reason, or which ones of the catalogue do there.
fn silent(stem: &str, standing: &Standing) -> String {
    if let Some(reason) = standing.linear.as_ref().and_then(|linear| linear.partial) {
        return format!("no model: {stem} {reason}");
    }
    let at = standing.rest.as_ref().map_or(String::new(), |rest| {
        format!(" at {} packets and p = {}, where it rests", words::short(rest.backlog), words::short(rest.p))
    });
    let declares = |stem: &&str| {
        let law = catalogue::law(stem).and_then(|entry| (entry.build)(&[], &standing.setting.site).ok());
        let own = law.and_then(|law| Standing::of(&standing.setting, law.as_ref()).ok());
        own.is_some_and(|own| own.linear.is_some())
    };
    let stems = catalogue::LAWS.iter().map(|entry| entry.page.stem);
    let names: Vec<&str> = stems.filter(declares).collect();
    let which =
        if names.is_empty() { "no law does here".to_string() } else { format!("{} do", names.join(", ")) };
    format!("no model: {stem} declares no transfer function from the backlog to p{at}; {which}")
}

/// All loops, those in s first; and why there is none in samples of a law that runs in samples.
fn loops(setting: &Setting, rest: &Equilibrium, linear: &Linear) -> (Vec<Assessed>, Option<String>) {
    let mut found = Vec::new();
    let exact = Exact::new(&setting.link, rest);
    if setting.is_textbook() {
        let textbook = Hollot::new(standing::network(setting, rest));
        let undelayed = Hollot { delay: 0.0, ..textbook };
        for (model, plant) in [(Model::Textbook, textbook), (Model::Undelayed, undelayed)] {
            found.extend(in_s(linear, |part| (model, part), &plant));
        }
    }
    found.extend(in_s(linear, |part| (Model::Linearised, part), &exact));
    let Some(law) = &linear.sampled else { return (found, None) };
    let meter = Meter::new(EVALUATIONS);
    let Some(of) = Sampled::new(Metered::new(exact, Arc::clone(&meter)), law) else {
        let stage = "the poles of the plant, which the loop in samples needs";
        let why =
            if meter.is_used_up() { assess::spent(&meter, stage) } else { format!("{stage}, are unknown") };
        return (found, Some(why));
    };
    found.push(Assessed::new((Model::Linearised, Part::Whole, true), Box::new(of), &meter));
    (found, None)
}

/// The loops of a plant with a law in s: those of its cascade, then the whole.
fn in_s<P: crate::linear::plant::Plant + Clone + Send + 'static>(
    linear: &Linear,
    named: impl Fn(Part) -> (Model, Part),
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

/// Evaluations that the analysis of the loop of the verdict may take, and that of any other one.
const EVALUATIONS: u64 = 40_000_000;
const BESIDES: u64 = 4_000_000;
