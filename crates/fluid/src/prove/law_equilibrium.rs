//! Equilibrium of a law with its traffic: the basis of a certificate, and of every point of a map.

use super::{Setting, declared_model, words};
use crate::linear::equilibrium::{Equilibrium, NoEquilibrium, Signal};
use sojourn_aqm::linear::{Linear, OperatingPoint};
use sojourn_aqm::{Bounds, Law, LinkContext, Network};
use sojourn_params::{ErrorKind, Expected, InputError};
use sojourn_units::{Prob, Span};

/// Equilibrium of a law and its link, with the law's model there.
pub(super) struct LawEquilibrium {
    /// The link with the signal that the law gives.
    pub(super) setting: Setting,
    /// The link's equilibrium; none where the law has neither a target nor a curve.
    pub(super) equilibrium: Option<Equilibrium>,
    /// Transfer functions that the law declares there; none where it declares none.
    pub(super) linear: Option<Linear>,
    holds: bool,
}

/// Reason why the loop of a law with an equilibrium proves nothing of the law.
#[derive(Clone, Copy)]
pub(super) enum Unproven {
    /// The law declares no transfer function.
    NoModel,
    /// It does not hold its declared equilibrium: the gain at frequency 0 is finite.
    NoIntegralAction,
    /// The declared model is only part of its behaviour there, for this reason.
    Partial(&'static str),
}

impl LawEquilibrium {
    /// Equilibrium of `law` in `setting`; the violated inequality where there is none.
    pub(super) fn of(setting: &Setting, law: &dyn Law) -> Result<LawEquilibrium, Limit> {
        let (setting, equilibrium) = signalled(setting, law)?;
        let mut found = LawEquilibrium { setting, equilibrium, linear: None, holds: true };
        let Some(equilibrium) = &found.equilibrium else { return Ok(found) };
        within(&found.setting, equilibrium, law)?;
        found.linear = linear(&found.setting, equilibrium, law);
        if let Some(linear) = &found.linear {
            slower_than_samples(linear, equilibrium)?;
            found.holds = holds(linear, equilibrium, law);
        }
        Ok(found)
    }

    /// Reason why the loop there proves nothing of the law; None: it proves something.
    pub(super) fn unproven(&self) -> Option<Unproven> {
        self.linear.as_ref().map_or(Some(Unproven::NoModel), |linear| reason(linear, self.holds))
    }
}

/// Reason why the loop of a law with this model proves nothing of it; `holds`: it holds its equilibrium.
pub(super) fn reason(linear: &Linear, holds: bool) -> Option<Unproven> {
    if linear.continuous.is_none() && linear.sampled.is_none() {
        return Some(Unproven::NoModel);
    }
    if holds { linear.partial.map(Unproven::Partial) } else { Some(Unproven::NoIntegralAction) }
}

impl Unproven {
    /// Short form, for a map.
    pub(super) fn short(self) -> &'static str {
        match self {
            Unproven::NoModel => "the law declares no transfer function there",
            Unproven::NoIntegralAction => "the law does not hold its target",
            Unproven::Partial(reason) => reason,
        }
    }
}

/// All flows of a setting at equilibrium, and the mean round trip.
pub(super) fn network(setting: &Setting, equilibrium: &Equilibrium) -> Network {
    let rtt = setting.mean(equilibrium.rtts.iter().copied());
    Network { flows: setting.flows(), capacity: setting.link.capacity, rtt }
}

/// Equilibrium of `law` and the traffic; none where the law has neither a target nor a curve.
fn equilibrium_of(setting: &Setting, law: &dyn Law) -> Result<Option<Equilibrium>, Limit> {
    let refused = |error: NoEquilibrium| Limit::of(setting, error);
    if law.analysis().steady_state_p(0.0).is_some() {
        let curve = |backlog: f64| law.analysis().steady_state_p(backlog).map_or(0.0, Prob::get);
        return setting.link.on_curve(&curve).map(Some).map_err(refused);
    }
    let Some(target) = law.analysis().target_packets() else { return Ok(None) };
    let stands = |p: f64, signal: Signal| {
        law.analysis().equilibrium_backlog(Prob::clamped(p), signal).unwrap_or(target)
    };
    setting.link.below(target, &stands).map(Some).map_err(refused)
}

/// Setting with the signal that the law gives at its equilibrium, and that equilibrium: it may drop packets that could
/// be marked.
fn signalled(setting: &Setting, law: &dyn Law) -> Result<(Setting, Option<Equilibrium>), Limit> {
    let marks = |equilibrium: &Equilibrium| law.analysis().marks_at(Prob::clamped(equilibrium.p));
    let mut own = setting.clone();
    own.link.signal = if own.link.can_mark() { Signal::Mark } else { Signal::Drop };
    let first = equilibrium_of(&own, law)?;
    let marked = match first {
        Some(marked) if own.link.can_mark() && !marks(&marked) => marked,
        first => return Ok((own, first)),
    };
    own.link.signal = Signal::Drop;
    let dropped = match equilibrium_of(&own, law)? {
        Some(dropped) if marks(&dropped) => dropped,
        dropped => return Ok((own, dropped)),
    };
    let problem = mark_drop_limit_cycle(law, [marked.p, dropped.p]);
    let short = "no equilibrium: the law alternates between marks and drops";
    let limit = Limit::new(short, &setting.name, problem, Expected::Unstated);
    Err(Limit { is_unproven: true, ..limit })
}

/// Operating point handed to the law at this equilibrium.
pub(super) fn operating_point(setting: &Setting, equilibrium: &Equilibrium) -> OperatingPoint {
    let Equilibrium { p, backlog, .. } = *equilibrium;
    let signal = setting.link.signal_at(p, backlog);
    OperatingPoint { p, signal, backlog, network: network(setting, equilibrium) }
}

/// Transfer functions of the law at this equilibrium.
pub(super) fn linear(setting: &Setting, equilibrium: &Equilibrium, law: &dyn Law) -> Option<Linear> {
    law.analysis().linear(&operating_point(setting, equilibrium))
}

/// True if a sampled law holds its target as its equilibrium: only if its transfer function integrates.
pub(super) fn holds(linear: &Linear, equilibrium: &Equilibrium, law: &dyn Law) -> bool {
    let at_target = law.analysis().steady_state_p(0.0).is_none()
        && law.analysis().target_packets() == Some(equilibrium.backlog);
    let Some(sampled) = linear.sampled.as_ref().filter(|_| at_target) else { return true };
    declared_model::integrates(&sampled.transfer)
}

/// True if a law has a target and holds it, according to its declared model.
pub(super) fn holds_target(law: &dyn Law, context: &LinkContext, capacity: f64) -> bool {
    let Some(target) = law.analysis().target_packets() else { return false };
    let rtt = context.base_rtt.map_or(0.0, Span::seconds) + target / capacity;
    let network = Network { flows: context.flows.unwrap_or(1.0), capacity, rtt };
    // A transfer function integrates at every p or at none.
    let equilibrium = OperatingPoint { p: NOMINAL_P, signal: Signal::Mark, backlog: target, network };
    let sampled = law.analysis().linear(&equilibrium).and_then(|linear| linear.sampled);
    sampled.is_some_and(|sampled| declared_model::integrates(&sampled.transfer))
}

/// Error of a law that samples less than once a round trip.
pub(super) fn slower_than_samples(linear: &Linear, equilibrium: &Equilibrium) -> Result<(), Limit> {
    let shortest = equilibrium.rtts.iter().copied().fold(f64::INFINITY, f64::min);
    let Some(period) = linear.sampled.as_ref().map(|sampled| sampled.period.seconds()) else { return Ok(()) };
    // A period is in whole nanoseconds.
    if shortest >= period - 1e-9 {
        return Ok(());
    }
    let (trip, period) = (words::time(shortest), words::time(period));
    let problem = format!("the round trip of {trip} is shorter than the law's period of {period}");
    Err(Limit::new(
        "the round trip is shorter than the law's period",
        "flows",
        problem,
        "at least one period",
    ))
}

/// Violated inequality.
pub(super) struct Limit {
    /// Short form, for a map.
    pub(super) short: &'static str,
    /// True if p has no constant value there: nothing is proven.
    pub(super) is_unproven: bool,
    /// Message with its numbers.
    pub(super) error: InputError,
}

impl Limit {
    fn new(short: &'static str, key: &str, problem: String, expected: impl Into<Expected>) -> Limit {
        let error = InputError::new(ErrorKind::Conflict, problem, expected).at(key);
        Limit { short, is_unproven: false, error }
    }

    /// Limit of a link without an equilibrium.
    fn of(setting: &Setting, error: NoEquilibrium) -> Limit {
        let (short, key) = match error {
            NoEquilibrium::NoFlows => ("there are no responsive flows", "flows"),
            NoEquilibrium::NoRoundTrip => ("the round trip is 0 s", "flows"),
            NoEquilibrium::Unresponsive { .. } => {
                ("unresponsive traffic fills the link", setting.name.as_str())
            }
            NoEquilibrium::Overload { .. } => ("no equilibrium: saturated at p = 1", setting.name.as_str()),
            NoEquilibrium::Underload { .. } => ("the link is not full", setting.name.as_str()),
            NoEquilibrium::Lossy { .. } => ("losses keep the link below its rate", setting.name.as_str()),
            NoEquilibrium::NegativeBacklog { .. } => ("the law's equilibrium backlog is negative", "qdisc"),
            NoEquilibrium::Jump { .. } => ("p jumps past what the flows need", setting.name.as_str()),
            NoEquilibrium::Signals { share, most, class } => {
                let short = "more signals than the windows are known for";
                let problem = too_many_signals(setting.class(class), share, most);
                let limit = Limit::new(short, "flows", problem, Expected::Unstated);
                return Limit { is_unproven: true, ..limit };
            }
            NoEquilibrium::Window { window, class } => {
                let name = setting.class(class);
                let problem = format!("the equilibrium window of {name} would be {window:.4} packets");
                return Limit::new("the window is under one packet", "flows", problem, "at least 1");
            }
        };
        Limit { short, is_unproven: false, error: error.error().at(key) }
    }
}

/// Reason of a class with more signals than its window model has.
pub(super) fn too_many_signals(class: &str, share: f64, most: f64) -> String {
    let [share, most] = [share, most].map(words::short);
    format!(
        "the equilibrium needs signals on {share} of the packets of {class}, and its windows are known up to {most}"
    )
}

impl From<Limit> for InputError {
    fn from(limit: Limit) -> InputError {
        limit.error
    }
}

/// Error of an equilibrium that the buffer or the law's bounds exclude.
pub(super) fn within_law(setting: &Setting, equilibrium: &Equilibrium, law: &dyn Law) -> Result<(), Limit> {
    let (at, p, limit) = (equilibrium.backlog, equilibrium.p, setting.context.limit);
    if at >= limit {
        let problem = format!("the equilibrium backlog would be {at:.4} packets");
        let expected = format!("less than the buffer of {limit} packets");
        return Err(Limit::new("the buffer is too small", &setting.name, problem, expected));
    }
    let Bounds { most_p, spared } = law.analysis().bounds();
    if p >= most_p {
        let short = "the highest p of the law is too small";
        let expected = format!("less than {most_p:.4}, the highest p of the law");
        return Err(Limit::new(short, &setting.name, format!("the flows need p = {p:.4}"), expected));
    }
    if at <= spared {
        let short = "the law neither marks nor drops in so short a queue";
        let problem = format!("the equilibrium backlog would be {at:.4} packets");
        let expected = format!("more than {spared:.4} packets, up to which the law neither marks nor drops");
        return Err(Limit::new(short, &setting.name, problem, expected));
    }
    Ok(())
}

/// The same, or that the access links exclude.
fn within(setting: &Setting, equilibrium: &Equilibrium, law: &dyn Law) -> Result<(), Limit> {
    within_law(setting, equilibrium, law)?;
    let states = equilibrium.windows.iter().zip(&equilibrium.rtts).zip(&setting.classes);
    for ((window, rtt), (name, most)) in states {
        let rate = window / rtt;
        if rate > *most {
            let short = "the access links limit the flows";
            let problem = format!(
                "the window of {name} would send {rate:.4} packets/s, and its access links carry {most:.4}"
            );
            let expected = "at most that, so that the window limits the rate";
            return Err(Limit::new(short, "flows.access", problem, expected));
        }
    }
    Ok(())
}

/// Error of a law that marks at the p that dropped packets need, and drops at the p that marked packets need.
pub(super) fn mark_drop_limit_cycle(law: &dyn Law, [marked, dropped]: [f64; 2]) -> String {
    let (mut low, mut high) = (dropped, marked);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if law.analysis().marks_at(Prob::clamped(middle)) { low = middle } else { high = middle }
    }
    format!(
        "the law marks below p = {} and drops from there on; the flows need p = {} of marked packets and p = {} of \
         dropped ones, so that p alternates between the two",
        words::short(high),
        words::short(marked),
        words::short(dropped)
    )
}

/// The p at which a law's model is evaluated.
const NOMINAL_P: f64 = 0.01;
/// Bisections of the p at which a law changes from marking to dropping.
const HALVINGS: u32 = 50;
