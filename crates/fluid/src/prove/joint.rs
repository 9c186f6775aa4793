//! Certificate of several links that are congested together: one loop of as many inputs and outputs.
//!
//! Which links are full is an outcome of the rates ([`super::network`]), whose residual is checked. About that
//! equilibrium every link is seen by its law as one link is, the queues and the signals of the others constant; all loops
//! are closed together ([`crate::linear::network`]). The verdict is a count of poles by the determinant of 1 + L that
//! agrees with the poles found and with the loop of each link, broken alone. Margins are those of these loops.

use super::law_equilibrium::{self, Unproven};
use super::network::{Congested, Net, NetClass, State};
use super::setting::Setting;
use super::{Assessed, Certificate, EVALUATIONS, LinkLaw, Part, PlantModel, Request, Verdict};
use super::{assess, assumptions, declared_model, link_law, network, words};
use crate::linear::equilibrium::{Equilibrium, Link, Signal};
use crate::linear::meter::Meter;
use crate::linear::network::{Broken, Determinant, Hop, Network, NetworkLink, Path};
use crate::linear::nyquist::{self, Count};
use crate::linear::poles;
use crate::linear::transfer::Transfer;
use crate::plant::Sender;
use sojourn_aqm::Law;
use sojourn_aqm::linear::Linear;
use sojourn_params::InputError;
use std::sync::Arc;

/// A link of a network that is certified as a whole.
pub struct OfLink {
    /// Label of its law, and its name without parameters.
    pub law: String,
    pub(super) stem: String,
    pub(super) own: Box<dyn Law>,
    /// The link and its traffic.
    pub setting: Setting,
    /// Equilibrium.
    pub equilibrium: Equilibrium,
    /// Number of its loop among the certificate's; none where nothing is judged.
    pub of: Option<usize>,
    /// T of a law that runs every period, s.
    pub(super) period: Option<f64>,
    assumes: Vec<&'static str>,
}

/// Certificate of a network.
pub struct Joint {
    /// Congested links, in the scenario's order.
    pub links: Vec<OfLink>,
    /// Greatest relative difference of a full link's arrivals from its rate, of its p or backlog from its law's, and excess
    /// of arrivals at any other link.
    pub residual: f64,
    /// Nyquist's count by the determinant of 1 + L; none where it cannot be taken.
    pub count: Option<Count>,
}

/// Reason why nothing is proven.
type Reason = String;

/// Certifies the links that are congested together with the certificate's link.
pub(super) fn certify(
    request: &Request<'_>,
    certificate: &mut Certificate,
    found: &Congested,
) -> Result<(), InputError> {
    let outcome = Links { request, net: &certificate.net, found }.judged()?;
    let assessed = match outcome {
        Ok(assessed) => assessed,
        Err(reason) => {
            certificate.verdict = Verdict::NotProven(format!("{}: {reason}", found.words));
            certificate.assumptions = assumptions::of_rates();
            return Ok(());
        }
    };
    let named =
        request.link.and_then(|name| assessed.joint.links.iter().position(|of| of.setting.name == name));
    certificate.take(assessed, named);
    certificate.assumptions = assumptions::of_network(certificate);
    Ok(())
}

/// Certificate of all full links of the network of these ones, each certified without the others; none where they are of
/// several.
pub(super) fn of_all(
    request: &Request<'_>,
    mut found: Vec<Certificate>,
) -> Result<Option<Certificate>, InputError> {
    let mut certificate = found.swap_remove(0);
    let is_of_it = |name: &str| certificate.net.links.iter().any(|link| link.name == name);
    if !found.iter().all(|one| is_of_it(&one.setting.name)) {
        return Ok(None);
    }
    let Ok(congested) = certificate.net.full(&Meter::new(network::EVALUATIONS)) else { return Ok(None) };
    certify(request, &mut certificate, &congested)?;
    Ok(Some(certificate))
}

/// The loops of a network, and the verdict on all.
struct Judged {
    joint: Joint,
    loops: Vec<Assessed>,
    verdict: Verdict,
}

/// Links to be certified together.
struct Links<'a> {
    request: &'a Request<'a>,
    net: &'a Net,
    found: &'a Congested,
}

impl Links<'_> {
    fn judged(&self) -> Result<Result<Judged, Reason>, InputError> {
        let states = &self.found.states;
        let residual = self.net.residual(&self.found.places, states);
        if residual > RESIDUAL {
            if let Some(reason) = self.net.alternation(&self.found.places, states) {
                return Ok(Err(reason));
            }
            return Ok(Err(format!(
                "their rates do not settle, with a residual of {}",
                words::short(residual)
            )));
        }
        if let Some(reason) = self.too_small() {
            return Ok(Err(reason));
        }
        let (mut links, mut loops) = (Vec::new(), Vec::new());
        for place in &self.found.places {
            match self.link(*place)? {
                Ok((link, of)) => {
                    links.push(link);
                    loops.push(of);
                }
                Err(reason) => return Ok(Err(format!("{}: {reason}", self.net.links[*place].name))),
            }
        }
        let meter = Meter::new(EVALUATIONS);
        let paths = self.net.classes.iter().map(|class| self.path(class)).collect();
        let network = Arc::new(Network::new(loops, paths, Arc::clone(&meter)));
        Ok(Ok(assessed(Joint { links, residual, count: None }, &network, &meter)))
    }

    /// Reason of a class with windows of under one packet, or with more signals than its window model has.
    fn too_small(&self) -> Option<Reason> {
        let responsive = self.net.classes.iter().filter(|class| class.is_responsive());
        let shares = responsive.clone().map(|class| (class.signals(&self.found.states), class));
        let beyond = shares.into_iter().find(|(share, class)| *share > class.class.most_signals());
        if let Some((share, class)) = beyond {
            return Some(law_equilibrium::too_many_signals(&class.name, share, class.class.most_signals()));
        }
        let windows = responsive.map(|class| (class, class.window(&self.found.states, &self.net.links)));
        let (class, window) = windows.into_iter().find(|(_, window)| *window < 1.0)?;
        Some(format!("the equilibrium window of {} would be {} packets", class.name, words::short(window)))
    }

    /// A link under its law, and its place in the loop.
    fn link(&self, place: usize) -> Result<Result<(OfLink, NetworkLink), Reason>, InputError> {
        let name = &self.net.links[place].name;
        let mut setting = Setting::of(self.request.scenario, Some(name))?;
        setting.split_by_rtt(self.request.scenario);
        let LinkLaw { label, stem, law, is_custom } = link_law(self.request, &setting)?;
        let (seen, equilibrium) = self.seen(place, setting.clone());
        let setting = Setting { link: Link { signal: seen.link.signal, ..setting.link }, ..setting };
        let capacity = setting.link.capacity;
        let own = |law: Transfer| NetworkLink { capacity, backlog: equilibrium.backlog, law };
        if equilibrium.p == 0.0 && law.analysis().steady_state_p(0.0).is_none() {
            let own = own(Transfer::none());
            let assumes = vec![STAYS_AT_0];
            let link =
                OfLink { law: label, stem, own: law, setting, equilibrium, of: None, period: None, assumes };
            return Ok(Ok((link, own)));
        }
        if let Err(limit) = law_equilibrium::within_law(&seen, &equilibrium, law.as_ref()) {
            return Ok(Err(InputError::from(limit).message()));
        }
        let Some(linear) = law_equilibrium::linear(&seen, &equilibrium, law.as_ref()) else {
            return Ok(Err(unproven(Unproven::NoModel, &stem)));
        };
        if let Err(limit) = law_equilibrium::slower_than_samples(&linear, &equilibrium) {
            return Ok(Err(InputError::from(limit).message()));
        }
        let holds = law_equilibrium::holds(&linear, &equilibrium, law.as_ref());
        if let Some(reason) = law_equilibrium::reason(&linear, holds) {
            return Ok(Err(unproven(reason, &stem)));
        }
        if let (true, Some(declared)) = (is_custom, &linear.sampled) {
            let point = law_equilibrium::operating_point(&seen, &equilibrium);
            let at = declared_model::At { point: &point, context: &seen.context };
            declared_model::verify_declared_model(law.clone(), declared, at)
                .map_err(|error| error.at(&stem))?;
        }
        let wait = super::wait_seen(&setting, &equilibrium, &linear);
        let own = own(transfer(&linear, wait));
        let period = own.law.period();
        let link = OfLink {
            law: label,
            stem,
            own: law,
            setting,
            equilibrium,
            of: None,
            assumes: linear.assumes,
            period,
        };
        Ok(Ok((link, own)))
    }

    /// A link as its law sees it: the queues of the others are part of the base RTTs, their signals losses. And its
    /// equilibrium.
    fn seen(&self, place: usize, mut setting: Setting) -> (Setting, Equilibrium) {
        let State { p, backlog, marks, .. } = self.found.states[place];
        let can_mark = setting.link.can_mark();
        setting.link.signal = if marks && can_mark { Signal::Mark } else { Signal::Drop };
        let classes = self.net.links[place].data.iter().map(|class| &self.net.classes[*class]);
        let classes: Vec<&NetClass> = classes.filter(|class| class.is_responsive()).collect();
        let (states, links) = (&self.found.states, &self.net.links);
        let (mut windows, mut rtts) = (Vec::new(), Vec::new());
        for (own, class) in setting.link.classes.iter_mut().zip(classes) {
            let rtt = class.rtt(states, links);
            own.base_rtt = rtt - backlog / setting.link.capacity;
            own.loss = 1.0 - (1.0 - class.signals(states)) / (1.0 - p);
            windows.push(class.window(states, links));
            rtts.push(rtt);
        }
        (setting, Equilibrium { p, backlog, windows, rtts })
    }

    /// A class on its path through the congested links.
    fn path(&self, class: &NetClass) -> Path {
        let (states, links) = (&self.found.states, &self.net.links);
        let number = |place: usize| self.found.places.iter().position(|own| *own == place);
        let each = class.rate(states, links) / class.class.flows;
        let (window, rtt) = (class.window(states, links), class.rtt(states, links));
        let is_constant = match class.sends {
            Sender::Constant(_) => true,
            Sender::Tcp(_, most) => window / rtt > most,
        };
        let signals = class.signals(states);
        // Data packets/s, and the share of them that links without a queue have let pass since the last one with a queue.
        let (mut offered, mut comes) = (class.class.flows * each, 1.0);
        let mut hops = Vec::new();
        for (is_data, (place, share)) in class.hops() {
            let State { p, .. } = states[place];
            let drops = !is_data || class.passes(states[place]) < 1.0;
            let passes = if drops { 1.0 - p } else { 1.0 };
            if let Some(link) = number(place) {
                let signals = if is_data { (1.0 - signals) / (1.0 - p) } else { 0.0 };
                let received = if is_data { 1.0 } else { 1.0 - class.class.loss };
                let size = share * links[place].capacity * received;
                hops.push(Hop { link, comes, size, passes, offered, drops, signals });
                comes = 1.0;
            } else {
                comes *= passes;
            }
            offered *= passes;
        }
        Path { class: class.class, window, rtt, signals, is_constant, hops }
    }
}

/// The law in the loop: as it runs, or else in s.
fn transfer(linear: &Linear, wait: Option<f64>) -> Transfer {
    let wait = wait.unwrap_or(0.0);
    match (&linear.sampled, &linear.continuous) {
        (Some(law), _) => Transfer::held(law, wait),
        (None, Some(law)) => Transfer::continuous(law, wait),
        (None, None) => unreachable!("a law without a transfer function is not judged"),
    }
}

/// Reason of a law that proves nothing.
fn unproven(reason: Unproven, stem: &str) -> Reason {
    match reason {
        Unproven::NoModel => format!("no model: {stem} declares no transfer function there"),
        reason => format!("{stem}: {}", reason.short()),
    }
}

/// Analyses the loop of all links, and that of each broken alone.
fn assessed(mut joint: Joint, network: &Arc<Network>, meter: &Arc<Meter>) -> Judged {
    let whole = Determinant(Arc::clone(network));
    joint.count = nyquist::count(&whole);
    let found = poles::rightmost(&whole, assess::POLES);
    let loops: Vec<Assessed> = (0..network.size())
        .map(|link| {
            let of = Box::new(Broken { network: Arc::clone(network), link });
            let named = (PlantModel::Network, Part::Whole, joint.links[link].period.is_some());
            let place = joint.links[link].setting.name.clone();
            Assessed::of_link(named, place, of, (found.clone(), meter))
        })
        .collect();
    let verdict = verdict(&joint, &whole, &loops, meter);
    Judged { joint, loops, verdict }
}

/// Verdict on all links, where the determinant, the poles and the loop of each agree.
fn verdict(joint: &Joint, whole: &Determinant, loops: &[Assessed], meter: &Meter) -> Verdict {
    if meter.is_used_up() {
        return Verdict::NotProven(assess::spent(meter, "the loop of all links"));
    }
    let Some(count) = joint.count else {
        return Verdict::NotProven(format!("the loop of all links: {}", nyquist::uncounted(whole)));
    };
    let mut all = Verdict::Stable;
    for (of, link) in loops.iter().zip(&joint.links) {
        match of.verdict() {
            Verdict::NotProven(reason) => {
                return Verdict::NotProven(format!("{}: {reason}", link.setting.name));
            }
            Verdict::Unstable => all = Verdict::Unstable,
            Verdict::Stable => {}
        }
        if of.count.is_some_and(|own| own.closed != count.closed) {
            return Verdict::NotProven(format!(
                "the determinant counts {} poles in the right half plane, and the loop of {} another number",
                count.closed, link.setting.name
            ));
        }
    }
    all
}

impl OfLink {
    /// Network at its equilibrium: all flows that cross it, mean round trip.
    pub fn network(&self) -> Option<sojourn_aqm::Network> {
        Some(law_equilibrium::network(&self.setting, &self.equilibrium))
    }
}

impl Certificate {
    /// Takes the loops of a network; that of `named`, or else the nearest to -1, is the judged one.
    fn take(&mut self, judged: Judged, named: Option<usize>) {
        let Judged { mut joint, mut loops, verdict } = judged;
        let distance = |of: &Assessed| of.margins.as_ref().map_or(0.0, |margins| margins.modulus.distance);
        let nearest =
            (0..loops.len()).min_by(|one, other| distance(&loops[*one]).total_cmp(&distance(&loops[*other])));
        let worst = named.or(nearest).unwrap_or(0);
        let own = loops.remove(worst);
        loops.push(own);
        let last = loops.len() - 1;
        for (place, link) in joint.links.iter_mut().enumerate() {
            link.of = Some(if place == worst { last } else { place - usize::from(place > worst) });
        }
        let link = &joint.links[worst];
        (self.law, self.stem, self.own) = (link.law.clone(), link.stem.clone(), link.own.clone());
        self.setting = link.setting.clone();
        self.network = Some(law_equilibrium::network(&link.setting, &link.equilibrium));
        self.equilibrium = Some(link.equilibrium.clone());
        self.assumed = joint.links.iter().flat_map(|link| link.assumes.iter().copied()).collect();
        self.assumed.sort_unstable();
        self.assumed.dedup();
        (self.loops, self.judged, self.verdict) = (loops, Some(last), verdict);
        self.joint = Some(joint);
    }
}

/// Assumption on a link that a queue without a signal keeps at its rate.
const STAYS_AT_0: &str = "A law whose queue is below its target keeps p at 0.";
/// Greatest residual of an equilibrium.
const RESIDUAL: f64 = 1e-6;
