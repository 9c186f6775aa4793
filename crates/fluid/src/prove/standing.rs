//! A law at rest in its traffic: what a certificate begins with, and every point of a map.

use super::{Setting, checked, warnings, words};
use crate::linear::equilibrium::{Equilibrium, NoEquilibrium, Signal};
use sojourn_aqm::linear::{Linear, Rest};
use sojourn_aqm::{Bounds, Law, Network, Site};
use sojourn_units::{Fault, Prob, Span};

/// Where a law rests, and what it is there.
pub(super) struct Standing {
    /// The link with the signal that the law gives.
    pub(super) setting: Setting,
    /// The rest; none where the law neither has a target nor a curve.
    pub(super) rest: Option<Equilibrium>,
    /// The law's transfer functions there; none where it declares none.
    pub(super) linear: Option<Linear>,
    holds: bool,
}

/// Why the loop of a law that rests says nothing of the law.
#[derive(Clone, Copy)]
pub(super) enum Reserve {
    /// The law declares no transfer function.
    Silent,
    /// It does not rest where it says.
    Adrift,
    /// What it declares is not all that it does there, for this reason.
    Partial(&'static str),
}

impl Standing {
    /// Of `law` in `setting`; the inequality that fails where nothing rests.
    pub(super) fn of(setting: &Setting, law: &dyn Law) -> Result<Standing, Limit> {
        let setting = signalled(setting, law)?;
        let mut standing = Standing { rest: at_rest(&setting, law)?, setting, linear: None, holds: true };
        let Some(rest) = &standing.rest else { return Ok(standing) };
        within(&standing.setting, rest, law)?;
        standing.linear = linear(&standing.setting, rest, law);
        if let Some(linear) = &standing.linear {
            slower_than_samples(linear, rest)?;
            standing.holds = holds(linear, rest, law);
        }
        Ok(standing)
    }

    /// Why the loop there would say nothing of the law; none where it does.
    pub(super) fn reserve(&self) -> Option<Reserve> {
        match &self.linear {
            Some(linear) if linear.continuous.is_some() || linear.sampled.is_some() => {
                let partial = linear.partial.map(Reserve::Partial);
                if self.holds { partial } else { Some(Reserve::Adrift) }
            }
            _ => Some(Reserve::Silent),
        }
    }
}

impl Reserve {
    /// In a few words, for a map.
    pub(super) fn short(self) -> &'static str {
        match self {
            Reserve::Silent => "the law declares no slope there",
            Reserve::Adrift => "the law does not hold its target",
            Reserve::Partial(reason) => reason,
        }
    }
}

/// All flows of a setting at rest, and the mean round trip.
pub(super) fn network(setting: &Setting, rest: &Equilibrium) -> Network {
    let rtt = setting.mean(rest.rtts.iter().copied());
    Network { flows: setting.flows(), capacity: setting.link.capacity, rtt }
}

/// Where `law` and the traffic rest; none where the law neither has a target nor a curve.
fn at_rest(setting: &Setting, law: &dyn Law) -> Result<Option<Equilibrium>, Limit> {
    let refused = |fault: NoEquilibrium| Limit::of(setting, fault);
    if law.settled(0.0).is_some() {
        let curve = |backlog: f64| law.settled(backlog).map_or(0.0, Prob::get);
        return setting.link.on_curve(&curve).map(Some).map_err(refused);
    }
    let Some(target) = law.target_packets() else { return Ok(None) };
    let stands = |p: f64, signal: Signal| law.stands_at(Prob::clamped(p), signal).unwrap_or(target);
    setting.link.below(target, &stands).map(Some).map_err(refused)
}

/// The setting with the signal that the law gives where it rests: it may drop what could be marked.
fn signalled(setting: &Setting, law: &dyn Law) -> Result<Setting, Limit> {
    let marks = |rest: &Equilibrium| law.marks_at(Prob::clamped(rest.p));
    let mut own = setting.clone();
    own.link.signal = if own.link.can_mark() { Signal::Mark } else { Signal::Drop };
    if !own.link.can_mark() {
        return Ok(own);
    }
    let Some(marked) = at_rest(&own, law)?.filter(|rest| !marks(rest)) else { return Ok(own) };
    own.link.signal = Signal::Drop;
    let Some(dropped) = at_rest(&own, law)?.filter(marks) else { return Ok(own) };
    let what = warnings::to_and_fro(law, [marked.p, dropped.p]);
    let limit = Limit::new("the law neither marks nor drops for good", &setting.name, what);
    Err(Limit { is_unproven: true, ..limit })
}

/// What a law is told of this rest.
pub(super) fn resting(setting: &Setting, rest: &Equilibrium) -> Rest {
    let Equilibrium { p, backlog, .. } = *rest;
    let signal = setting.link.signal_at(p, backlog);
    Rest { p, signal, backlog, network: network(setting, rest) }
}

/// The law's transfer functions at this rest.
fn linear(setting: &Setting, rest: &Equilibrium, law: &dyn Law) -> Option<Linear> {
    law.linear(&resting(setting, rest))
}

/// A law in samples that rests at its target holds it only if a lasting error moves p without end.
fn holds(linear: &Linear, rest: &Equilibrium, law: &dyn Law) -> bool {
    let at_target = law.settled(0.0).is_none() && law.target_packets() == Some(rest.backlog);
    let Some(sampled) = linear.sampled.as_ref().filter(|_| at_target) else { return true };
    checked::integrates(&sampled.transfer)
}

/// Whether a law has a target and holds it, as far as it declares what it does.
pub(super) fn holds_target(law: &dyn Law, site: &Site, capacity: f64) -> bool {
    let Some(target) = law.target_packets() else { return false };
    let rtt = site.base_rtt.map_or(0.0, Span::seconds) + target / capacity;
    let network = Network { flows: site.flows.unwrap_or(1.0), capacity, rtt };
    // Whether a lasting error moves p without end is so at every p.
    let rest = Rest { p: NOMINAL_P, signal: Signal::Mark, backlog: target, network };
    let sampled = law.linear(&rest).and_then(|linear| linear.sampled);
    sampled.is_some_and(|sampled| checked::integrates(&sampled.transfer))
}

/// Refuses a law that samples less than once a round trip.
fn slower_than_samples(linear: &Linear, rest: &Equilibrium) -> Result<(), Limit> {
    let shortest = rest.rtts.iter().copied().fold(f64::INFINITY, f64::min);
    let Some(period) = linear.sampled.as_ref().map(|sampled| sampled.period.seconds()) else { return Ok(()) };
    // A period is in whole nanoseconds.
    if shortest >= period - 1e-9 {
        return Ok(());
    }
    let what = format!(
        "the round trip of {} is shorter than the law's period of {}; legal: at least one period",
        words::time(shortest),
        words::time(period)
    );
    Err(Limit::new("the round trip is shorter than the law's period", "flows", what))
}

/// An inequality that fails.
pub(super) struct Limit {
    /// In a few words, for a map.
    pub(super) short: &'static str,
    /// Whether something moves there all the same, of which nothing is proven.
    pub(super) is_unproven: bool,
    /// With its numbers.
    pub(super) fault: Fault,
}

impl Limit {
    fn new(short: &'static str, key: &str, what: String) -> Limit {
        Limit { short, is_unproven: false, fault: Fault::new(key, what) }
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
            NoEquilibrium::Lossy { .. } => {
                ("wires lose so much that the link is not full", setting.name.as_str())
            }
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

/// A p at which a law is looked at.
const NOMINAL_P: f64 = 0.01;
