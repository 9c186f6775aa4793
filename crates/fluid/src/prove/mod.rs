//! Certificates: whether a scenario's link is stable under its law, with what margin, and what that takes for granted.
//!
//! A [`Setting`] is the link with its traffic; there it rests where the law stands still, that is at its target or
//! where what it counts besides is made up for, or where the law's curve meets what the windows answer ([`crate::linear::equilibrium`]). About that rest the loop is closed with what
//! the law declares ([`sojourn_aqm::linear`]) three times:
//!
//! | model | time | what it is for |
//! |---|---|---|
//! | textbook | continuous | what papers and designs speak of; also without the delay, to see what that takes away |
//! | linearised | continuous | the fluid plant itself, to first order |
//! | linearised | samples | the same with the law as it runs: the verdict |
//!
//! A verdict is a count of roots in the right half plane by Nyquist's criterion that agrees with the roots themselves.
//! Where they differ, or where one of them cannot be had, nothing is proven.

mod assess;
mod assumptions;
mod optimality;
mod region;
mod setting;
mod step;
mod words;

pub use assess::{AnyLoop, Assessed};
pub use optimality::Optimality;
pub use region::{Cell, Extent, Region};
pub use setting::Setting;
pub use step::Step;

use crate::linear::equilibrium::{Equilibrium, NoEquilibrium, Signal};
use crate::linear::loops::{Continuous, Sampled};
use crate::linear::plant::{Exact, Hollot};
use sojourn_aqm::linear::{Linear, Rest};
use sojourn_aqm::{Bounds, Law, Network, catalogue};
use sojourn_scenario::Scenario;
use sojourn_units::{Fault, Prob};

/// What is to be proven.
pub struct Asked<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its link; none: the only one that may be congested.
    pub link: Option<&'a str>,
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
    /// The number of the loop of the verdict.
    judged: Option<usize>,
    /// The law as it stands there at first.
    own: Box<dyn Law>,
}

/// The certificate of a scenario's link; a fault where there is nothing to certify.
pub fn certificate(asked: &Asked<'_>) -> Result<Certificate, Fault> {
    let setting = Setting::of(asked.scenario, asked.link)?;
    let disc = asked.scenario.topology.links[setting.number].disc.as_ref();
    let disc = disc.ok_or_else(|| Fault::new(&setting.name, "has no disc; legal: one with a law"))?;
    let law = disc.law_at(&setting.site).map_err(|fault| fault.inside(&format!("{}.disc", setting.name)))?;
    let stem = disc.law.as_str();
    let mut certificate = Certificate {
        law: disc.to_string(),
        rest: None,
        network: None,
        loops: Vec::new(),
        verdict: Verdict::NotProven(String::new()),
        optimality: None,
        assumptions: Vec::new(),
        judged: None,
        setting,
        own: law.clone(),
    };
    certificate.judge(stem, law.as_ref())?;
    certificate.assumptions = assumptions::of(&certificate);
    Ok(certificate)
}

impl Certificate {
    /// The loop of the verdict; none where that loop is not known.
    pub fn judged(&self) -> Option<&Assessed> {
        self.loops.get(self.judged?)
    }

    /// The loop whose margins are told first: in s with the exact delay, the textbook's where it is one; of a cascade
    /// the outer one.
    pub fn told(&self) -> Option<&Assessed> {
        let in_s = || self.loops.iter().filter(|one| !one.sampled && one.model != Model::Undelayed);
        let outer = in_s().find(|one| one.part == Part::Outer);
        outer.or_else(|| in_s().next()).or_else(|| self.loops.last())
    }

    /// For which loads and round trips the same law is stable.
    pub fn region(&self, extent: &Extent) -> Region {
        region::region(&self.setting, self.own.clone(), extent)
    }

    fn judge(&mut self, stem: &str, law: &dyn Law) -> Result<(), Fault> {
        self.setting = signalled(&self.setting, law)?;
        let setting = &self.setting;
        let Some(rest) = at_rest(setting, law)? else {
            self.verdict = Verdict::NotProven(silent(stem, setting, None));
            return Ok(());
        };
        within(setting, &rest, law)?;
        let network = network(setting, &rest);
        let Some(linear) = linear(setting, &rest, law) else {
            self.verdict = Verdict::NotProven(silent(stem, setting, Some((&rest, network))));
            return Ok(());
        };
        slower_than_samples(&linear, &rest)?;
        self.loops = loops(setting, &rest, &linear);
        let in_samples = linear.sampled.is_some();
        self.judged = self.loops.iter().rposition(|one| one.sampled == in_samples);
        self.verdict = match self.judged() {
            Some(_) if !holds(&linear, &rest, law) => Verdict::NotProven(format!(
                "{stem} in this form does not hold its target: its gain at rest is finite, so that it rests elsewhere"
            )),
            Some(judged) => judged.verdict(),
            None if in_samples => {
                Verdict::NotProven("the poles of the plant cannot be told, which the loop in samples needs".into())
            }
            None => Verdict::NotProven(format!("{stem} declares no transfer function from the backlog to p")),
        };
        self.optimality = Optimality::of(stem, law, &rest, network);
        (self.rest, self.network) = (Some(rest), Some(network));
        Ok(())
    }
}

/// Where `law` and the traffic rest; none where the law neither has a target nor a curve.
fn at_rest(setting: &Setting, law: &dyn Law) -> Result<Option<Equilibrium>, Limit> {
    let refused = |fault: NoEquilibrium| Limit::of(setting, fault);
    if law.settled(0.0).is_some() {
        let curve = |backlog: f64| law.settled(backlog).map_or(0.0, Prob::get);
        return setting.link.on_curve(&curve).map(Some).map_err(refused);
    }
    let Some(target) = law.target_packets() else { return Ok(None) };
    let stands = |p: f64| law.stands_at(Prob::clamped(p), setting.link.signal).unwrap_or(target);
    setting.link.below(target, &stands).map(Some).map_err(refused)
}

/// The setting with the signal that the law gives where it rests: it may drop what could be marked.
fn signalled(setting: &Setting, law: &dyn Law) -> Result<Setting, Limit> {
    let marks = |rest: &Equilibrium| law.marks_at(Prob::clamped(rest.p));
    let mut own = setting.clone();
    own.link.signal = if own.ecn { Signal::Mark } else { Signal::Drop };
    if own.ecn && at_rest(&own, law)?.is_some_and(|rest| !marks(&rest)) {
        own.link.signal = Signal::Drop;
        if at_rest(&own, law)?.is_some_and(|rest| marks(&rest)) {
            let what = "the law would mark where it drops and drop where it marks; legal: a load that it only marks or only drops";
            return Err(Limit::new("the law neither marks nor drops for good", &setting.name, what.into()));
        }
    }
    Ok(own)
}

/// An inequality that fails.
struct Limit {
    /// In a few words, for a map.
    short: &'static str,
    /// With its numbers.
    fault: Fault,
}

impl Limit {
    fn new(short: &'static str, key: &str, what: String) -> Limit {
        Limit { short, fault: Fault::new(key, what) }
    }

    /// That of a link that does not rest.
    fn of(setting: &Setting, fault: NoEquilibrium) -> Limit {
        let (short, key) = match fault {
            NoEquilibrium::NoFlows => ("no flow answers", "flows"),
            NoEquilibrium::NoRoundTrip => ("the round trip takes no time", "flows"),
            NoEquilibrium::Unresponsive { .. } => {
                ("what answers nothing fills the link", setting.name.as_str())
            }
            NoEquilibrium::Overload { .. } => {
                ("p = 1 lets in more than the link takes", setting.name.as_str())
            }
            NoEquilibrium::Underload { .. } => ("the link is not full", setting.name.as_str()),
            NoEquilibrium::Restless { .. } => ("the law stands still at no backlog", "disc"),
            NoEquilibrium::Jump { .. } => ("p jumps past what the flows need", setting.name.as_str()),
            NoEquilibrium::Window { window, class } => {
                let name = setting.class(class);
                let what = format!("{name} would rest at a window of {window:.4} packets; legal: at least 1");
                return Limit::new("the window is under one packet", "flows", what);
            }
        };
        Limit::new(short, key, fault.to_string())
    }

    /// That of a law whose gain at rest is finite.
    fn adrift() -> Limit {
        Limit::new("the law does not hold its target", "disc", "its gain at rest is finite".into())
    }

    /// That of a law that says nothing of itself there.
    fn silent() -> Limit {
        Limit::new("the law declares no slope there", "disc", "declares no transfer function".into())
    }
}

impl From<Limit> for Fault {
    fn from(limit: Limit) -> Fault {
        limit.fault
    }
}

/// Refuses a rest that the buffer, the law's bounds or the access links do not allow.
fn within(setting: &Setting, rest: &Equilibrium, law: &dyn Law) -> Result<(), Limit> {
    let (at, p, limit) = (rest.backlog, rest.p, setting.site.limit);
    if at >= limit {
        let what =
            format!("it would rest at {at:.4} packets; legal: less than the buffer of {limit} packets");
        return Err(Limit::new("the buffer is too small", &setting.name, what));
    }
    let Bounds { most_p, spared } = law.bounds();
    if p >= most_p {
        let what =
            format!("the flows need p = {p:.4}; legal: less than {most_p:.4}, the most that the law gives");
        return Err(Limit::new("the law does not give enough", &setting.name, what));
    }
    if at <= spared {
        let what = format!(
            "it would rest at {at:.4} packets; legal: more than {spared:.4} packets, up to which the law spares all"
        );
        return Err(Limit::new("the law spares so short a queue", &setting.name, what));
    }
    let states = rest.windows.iter().zip(&rest.rtts).zip(&setting.classes);
    for ((window, rtt), (name, most)) in states {
        let rate = window / rtt;
        if rate > *most {
            let what = format!(
                "{name} would send {rate:.4} packets/s by its window, and its own links take {most:.4}; legal: at \
                 most that, so that the window decides"
            );
            return Err(Limit::new("the flows' own links hold them back", "flows.access", what));
        }
    }
    Ok(())
}

fn network(setting: &Setting, rest: &Equilibrium) -> Network {
    let rtt = setting.mean(rest.rtts.iter().copied());
    Network { flows: setting.flows(), capacity: setting.link.capacity, rtt }
}

fn linear(setting: &Setting, rest: &Equilibrium, law: &dyn Law) -> Option<Linear> {
    let Equilibrium { p, backlog, .. } = *rest;
    law.linear(&Rest { p, signal: setting.link.signal, backlog, network: network(setting, rest) })
}

/// Why a law has no certificate, and which ones of the catalogue have one there.
fn silent(stem: &str, setting: &Setting, rest: Option<(&Equilibrium, Network)>) -> String {
    let at = rest.map_or(String::new(), |(rest, _)| {
        format!(" at {} packets and p = {}, where it rests", words::short(rest.backlog), words::short(rest.p))
    });
    let proven = |stem: &&str| {
        let law = catalogue::law(stem).and_then(|entry| (entry.build)(&[], &setting.site).ok());
        law.is_some_and(|law| {
            let rest = at_rest(setting, law.as_ref()).ok().flatten();
            rest.is_some_and(|rest| linear(setting, &rest, law.as_ref()).is_some())
        })
    };
    let stems = catalogue::LAWS.iter().map(|entry| entry.page.stem);
    let names: Vec<&str> = stems.filter(proven).collect();
    let which =
        if names.is_empty() { "no law does here".to_string() } else { format!("{} do", names.join(", ")) };
    format!("{stem} declares no transfer function from the backlog to p{at}; {which}")
}

/// A law in samples that rests at its target holds it only if a lasting error moves p without end.
fn holds(linear: &Linear, rest: &Equilibrium, law: &dyn Law) -> bool {
    let at_target = law.settled(0.0).is_none() && law.target_packets() == Some(rest.backlog);
    let Some(sampled) = linear.sampled.as_ref().filter(|_| at_target) else { return true };
    let below: f64 = sampled.transfer.denominator.iter().sum();
    let scale: f64 = sampled.transfer.denominator.iter().map(|x| x.abs()).sum();
    below.abs() <= INTEGRAL * scale
}

/// Refuses a law that samples less than once a round trip.
fn slower_than_samples(linear: &Linear, rest: &Equilibrium) -> Result<(), Limit> {
    let shortest = rest.rtts.iter().copied().fold(f64::INFINITY, f64::min);
    let Some(period) = linear.sampled.as_ref().map(|sampled| sampled.period.seconds()) else { return Ok(()) };
    if shortest >= period {
        return Ok(());
    }
    let what = format!(
        "the round trip of {} is shorter than the law's period of {}; legal: at least one period",
        words::time(shortest),
        words::time(period)
    );
    Err(Limit::new("the round trip is shorter than the law's period", "flows", what))
}

/// All loops, those in s first.
fn loops(setting: &Setting, rest: &Equilibrium, linear: &Linear) -> Vec<Assessed> {
    let mut found = Vec::new();
    let exact = Exact::new(&setting.link, rest);
    if setting.link.classes.len() == 1 && setting.link.unresponsive == 0.0 {
        let textbook = Hollot::new(network(setting, rest));
        let undelayed = Hollot { delay: 0.0, ..textbook };
        for (model, plant) in [(Model::Textbook, textbook), (Model::Undelayed, undelayed)] {
            found.extend(in_s(linear, |part| (model, part), &plant));
        }
    }
    found.extend(in_s(linear, |part| (Model::Linearised, part), &exact));
    let sampled = linear.sampled.clone().and_then(|law| Sampled::new(exact, law));
    found.extend(sampled.map(|of| Assessed::new(Model::Linearised, Part::Whole, true, Box::new(of))));
    found
}

/// The loops of a plant with a law in s: those of its cascade, then the whole.
fn in_s<P: crate::linear::plant::Plant + Clone + Send + 'static>(
    linear: &Linear,
    named: impl Fn(Part) -> (Model, Part),
    plant: &P,
) -> Vec<Assessed> {
    let assessed = |part, of: Continuous<P>| {
        let (model, part) = named(part);
        Assessed::new(model, part, false, Box::new(of))
    };
    let mut found = Vec::new();
    if let Some(cascade) = &linear.cascade {
        found.push(assessed(Part::Inner, Continuous::inner(plant.clone(), cascade.clone())));
        found.push(assessed(Part::Outer, Continuous::outer(plant.clone(), cascade.clone())));
        found.push(assessed(Part::Whole, Continuous::whole(plant.clone(), cascade.clone())));
    } else if let Some(law) = &linear.continuous {
        found.push(assessed(Part::Whole, Continuous::new(plant.clone(), law.clone())));
    }
    found
}

/// What counts as no pole at z = 1.
const INTEGRAL: f64 = 1e-9;
