//! Certificates of queues that share a link: each is judged at its share, as the one queue of a link of that rate.
//!
//! While every queue is backlogged its rate is the constant w_i C / sum of w_j: nothing that another queue does changes
//! it, so that the loops are separate, and the link is stable if each is. A class whose flows have a queue each is
//! so many equal loops of one flow. A class whose senders cannot fill their share has no queue and no loop.

use super::prices::{self, PricedQueues};
use super::{Certificate, Request, Setting, Verdict, assumptions};
use crate::linear::max_min::{self, Demand};
use crate::plant::Sender;
use crate::read::ports::{self, most_packets};
use crate::read::traffic;
use crate::read::traffic::ModelKind;
use sojourn_aqm::qdiscs::classifiers::By;
use sojourn_aqm::qdiscs::sqm::fluid::Sigmas;
use sojourn_aqm::qdiscs::{QueueLaw, Shares};
use sojourn_params::{ErrorKind, InputError};
use sojourn_scenario::{Flows, Scenario};

/// Certificate of the queues of one class.
pub struct OfQueue {
    /// The class; of a reserved queue all of its classes.
    pub class: String,
    /// Number of equal queues.
    pub queues: f64,
    /// Share of each, packets/s.
    pub capacity: f64,
    /// sigma of a price in proportion to the backlog beside those of the theory; None: the law has none.
    pub sigmas: Option<Sigmas>,
    /// The certificate at that share.
    pub certificate: Certificate,
}

/// Queues of a link at equilibrium.
pub(super) struct Split {
    /// The scheduler's name.
    scheduler: &'static str,
    /// Most packets in all queues.
    most: f64,
    /// Sum of the rates of flows without a loop, packets/s.
    unjudged: Vec<(String, f64)>,
    backlogged: Vec<Backlogged>,
    /// Rate of each class of the scenario there, its own packets/s.
    rates: Vec<Option<f64>>,
    /// Laws of the queues where they are prices of their shares.
    priced: Option<PricedQueues>,
}

/// Equal queues with a backlog.
struct Backlogged {
    class: String,
    queues: f64,
    setting: Setting,
    law: QueueLaw,
    sigmas: Option<Sigmas>,
}

/// Queues that have a share together: those of a class, or the reserved one.
struct Group {
    classes: Vec<usize>,
    /// Number of equal queues.
    queues: f64,
    demand: Demand,
    is_reserved: bool,
}

/// Certificate of the queues of a link; the worst of them stands for all.
pub(super) fn certificate(request: &Request<'_>, setting: &Setting) -> Result<Certificate, InputError> {
    let split = Split::of(request.scenario, setting)?;
    let law = request.scenario.topology.links[setting.number].qdisc.as_ref().map(ToString::to_string);
    let law = law.unwrap_or_default();
    let model = ModelKind::Linear;
    if let Some(error) = ports::error_of_few_queues(request.scenario, setting.number, model) {
        return Err(error.at(&format!("{}.qdisc", request.scenario.topology.links[setting.number].name)));
    }
    let unproven = split.priced.as_ref().and_then(PricedQueues::unproven);
    let others = unproven.map_or_else(|| split.others(request.scenario, setting), |why| Err(why.into()));
    let others = match others {
        Ok(others) => others,
        Err(reason) => {
            let law_of_one = &split.backlogged[0].law;
            let mut certificate = Certificate::of_share(request, setting.clone(), law_of_one);
            certificate.verdict = Verdict::NotProven(reason);
            certificate.law = law;
            return Ok(certificate);
        }
    };
    if let Some((queues, of)) = split.priced.as_ref().and_then(|priced| Some((priced, priced.link_loop()?))) {
        let mut certificate = Certificate::of_share(request, setting.clone(), &split.backlogged[0].law);
        (certificate.law, certificate.others) = (law, others);
        return prices::of_link(certificate, queues, of, split.most);
    }
    let judged = |one: &Backlogged| {
        let mut certificate = Certificate::of_share(request, one.setting.clone(), &one.law);
        certificate.judge(one.law.law.as_law(), false)?;
        certificate.others.clone_from(&others);
        Ok::<Certificate, InputError>(certificate)
    };
    let of_queue = |one: &Backlogged| {
        let Backlogged { class, queues, setting, sigmas, .. } = one;
        let (class, capacity) = (class.clone(), setting.link.capacity);
        Ok(OfQueue { class, queues: *queues, capacity, sigmas: *sigmas, certificate: judged(one)? })
    };
    let queues = split.backlogged.iter().map(of_queue).collect::<Result<Vec<OfQueue>, InputError>>()?;
    split.fit(&queues, setting)?;
    let worst = worst(&queues);
    let mut certificate = judged(&split.backlogged[worst])?;
    if let (Verdict::NotProven(reason), true) = (&mut certificate.verdict, queues.len() > 1) {
        *reason = format!("queues of {}: {reason}", queues[worst].class);
    }
    certificate.law = law;
    certificate.queues = queues;
    certificate.setting.name.clone_from(&setting.name);
    certificate.assumptions = assumptions::of_queues(&certificate, split.scheduler, &split.unjudged);
    Ok(certificate)
}

/// The queue whose verdict is that of all: an unstable one, else one that is not proven, else the one nearest to -1.
fn worst(queues: &[OfQueue]) -> usize {
    let rank = |one: &OfQueue| match one.certificate.verdict {
        Verdict::Unstable => 0,
        Verdict::NotProven(_) => 1,
        Verdict::Stable => 2,
    };
    let distance = |one: &OfQueue| {
        let margins = one.certificate.judged().and_then(|judged| judged.margins.as_ref());
        margins.map_or(f64::INFINITY, |margins| margins.modulus.distance)
    };
    let before = |one: &&OfQueue, other: &&OfQueue| {
        rank(one).cmp(&rank(other)).then(distance(one).total_cmp(&distance(other)))
    };
    let worst = queues.iter().enumerate().min_by(|(_, one), (_, other)| before(one, other));
    worst.map_or(0, |(place, _)| place)
}

impl Split {
    /// Max-min rates of the flows across a link.
    fn of(scenario: &Scenario, setting: &Setting) -> Result<Split, InputError> {
        let qdisc = scenario.topology.links[setting.number].qdisc.as_ref().expect("a scheduler");
        let inner = qdisc.unshaped();
        let mut shares = inner.shares().expect("a scheduler of shares");
        let priced = PricedQueues::of(scenario, setting);
        if let Some(priced) = &priced {
            shares.weights.clone_from(&priced.quanta);
        }
        if !matches!(shares.by, By::Flow | By::Class) {
            let problem =
                "has queues whose flows are in several classes, and a certificate is of the flows of a class";
            let error = InputError::conflict(inner.name(), problem, "by = \"flow\" or \"class\"");
            return Err(error.at("qdisc").at(&setting.name));
        }
        let groups = groups(scenario, setting, &shares);
        let rates = allocated(setting, &shares, &groups);
        let mut split = Split {
            scheduler: inner.name(),
            most: most_packets(&shares, &setting.context),
            unjudged: Vec::new(),
            backlogged: Vec::new(),
            rates: vec![None; scenario.flows.len()],
            priced,
        };
        for (group, rate) in groups.iter().zip(rates) {
            split.add(scenario, setting, &shares, (group, rate));
        }
        if split.backlogged.is_empty() {
            let problem = "no flow fills its share of the link, so that all queues are empty";
            let error = InputError::new(ErrorKind::Conflict, problem, "flows that their windows limit");
            return Err(error.at(&setting.name));
        }
        Ok(split)
    }

    fn add(&mut self, scenario: &Scenario, setting: &Setting, shares: &Shares, (group, rate): (&Group, f64)) {
        let names: Vec<&str> =
            group.classes.iter().map(|class| scenario.flows[*class].name.as_str()).collect();
        let class = names.join(", ");
        let mut own = setting.clone();
        (own.link.classes, own.link.unresponsive) = (Vec::new(), [0.0; 2]);
        (own.classes, own.spreads) = (Vec::new(), Vec::new());
        for class in &group.classes {
            let flows = &scenario.flows[*class];
            let of = traffic::class(scenario, flows, &[setting.number]);
            // Flows with a queue each have one rate, whatever their round trips.
            if group.queues == 1.0 {
                own.add_parts(scenario, flows, &of);
            } else {
                own.add(scenario, flows, &of);
            }
        }
        let is_backlogged = group.demand.rate > rate;
        if let [only] = group.classes[..] {
            let size = scenario.flows[only].segment.get() as f64 / setting.context.packet;
            self.rates[only] = Some(rate / size);
        }
        if !is_backlogged || own.link.classes.is_empty() {
            return self.unjudged.push((class, rate));
        }
        let mut law = shares.laws[usize::from(group.is_reserved)].clone();
        let mut sigmas = None;
        if let (Some(priced), [only]) = (&self.priced, &group.classes[..]) {
            law.law = priced.law(*only);
            sigmas = priced.sigmas(*only);
        }
        own.link.capacity = rate / group.queues;
        if group.queues != 1.0 {
            own.link.classes.iter_mut().for_each(|class| class.flows = 1.0);
        }
        own.context = law.context;
        self.backlogged.push(Backlogged { class, queues: group.queues, setting: own, law, sigmas });
    }

    /// Refuses an equilibrium at which all queues together exceed the buffer that they share.
    fn fit(&self, queues: &[OfQueue], setting: &Setting) -> Result<(), InputError> {
        let held = |of: &OfQueue| Some(of.queues * of.certificate.equilibrium.as_ref()?.backlog);
        fits(queues.iter().filter_map(held).sum(), self.most, setting)
    }

    /// Loads of the other links with a qdisc that these flows cross; the reason where one of them may be full.
    fn others(&self, scenario: &Scenario, setting: &Setting) -> Result<Vec<(String, f64)>, String> {
        let here = |flows: &Flows| flows.route.contains(&setting.number);
        let ways = scenario.flows.iter().filter(|flows| here(flows));
        let mut places: Vec<usize> =
            ways.flat_map(|flows| flows.route.iter().chain(&flows.back)).copied().collect();
        places.sort_unstable();
        places.dedup();
        let mut loads = Vec::new();
        for place in places.into_iter().filter(|place| *place != setting.number) {
            let link = &scenario.topology.links[place];
            let Some(load) = self.load(scenario, place) else {
                return Err(format!(
                    "{} has flows that do not cross {}, and the rates of several links with queues of several classes \
                     are not found",
                    link.name, setting.name
                ));
            };
            if load > FULL {
                return Err(format!("{} would be full, too; a certificate is of one link", link.name));
            }
            if link.qdisc.is_some() {
                loads.push((link.name.clone(), load));
            }
        }
        Ok(loads)
    }

    /// Load of another link; None: it has flows of unknown rates.
    fn load(&self, scenario: &Scenario, place: usize) -> Option<f64> {
        let link = &scenario.topology.links[place];
        let mut load = 0.0;
        for (flows, rate) in scenario.flows.iter().zip(&self.rates) {
            let of = traffic::class(scenario, flows, &[]);
            let known = match of.sender {
                Sender::Constant(each) => Some(f64::from(flows.count) * each),
                Sender::Tcp(..) => *rate,
            };
            if flows.route.contains(&place) {
                load += known? / traffic::capacity(link, of.packet);
            }
            if flows.back.contains(&place) && flows.app.is_tcp() {
                load += known? / traffic::data_per_ack(flows) / traffic::capacity(link, traffic::HEADER);
            }
        }
        Some(load)
    }
}

/// Queues with a share each, and their demands.
fn groups(scenario: &Scenario, setting: &Setting, shares: &Shares) -> Vec<Group> {
    let is_reserved = |class: usize| shares.reserved.as_ref().is_some_and(|(_, classes)| classes[class]);
    let mut groups: Vec<Group> = Vec::new();
    for (class, flows) in scenario.flows.iter().enumerate() {
        if !flows.route.contains(&setting.number) || flows.count == 0 {
            continue;
        }
        let of = traffic::class(scenario, flows, &[setting.number]);
        let (Sender::Constant(each) | Sender::Tcp(_, each)) = of.sender;
        let count = f64::from(flows.count);
        let rate = count * each * of.packet / setting.context.packet;
        let known = groups.iter_mut().find(|group| group.is_reserved);
        if let (Some(group), true) = (known, is_reserved(class)) {
            group.classes.push(class);
            group.demand.rate += rate;
            continue;
        }
        let queues = if shares.by == By::Flow && !is_reserved(class) { count } else { 1.0 };
        let demand = Demand { weight: queues * shares.weights[class], rate };
        groups.push(Group { classes: vec![class], queues, demand, is_reserved: is_reserved(class) });
    }
    groups
}

/// Rates of the groups. The reserved queue has its rate as weight beside that of all others together, which divide
/// theirs among them.
fn allocated(setting: &Setting, shares: &Shares, groups: &[Group]) -> Vec<f64> {
    let capacity = setting.link.capacity;
    let others: Vec<Demand> =
        groups.iter().filter(|group| !group.is_reserved).map(|group| group.demand).collect();
    let own = groups.iter().find(|group| group.is_reserved).zip(shares.reserved.as_ref());
    let Some((own, (rate, _))) = own else { return max_min::rates(capacity, &others) };
    let reserved = rate.packets_per_second(setting.context.packet).min(capacity);
    let together = others.iter().map(|demand| demand.rate).sum();
    let sides = [
        Demand { weight: reserved, rate: own.demand.rate },
        Demand { weight: capacity - reserved, rate: together },
    ];
    let sides = max_min::rates(capacity, &sides);
    let mut others = max_min::rates(sides[1], &others).into_iter();
    let rate = |group: &Group| if group.is_reserved { sides[0] } else { others.next().unwrap_or(0.0) };
    groups.iter().map(rate).collect()
}

/// Refuses an equilibrium at which all queues hold more together than they may.
pub(super) fn fits(held: f64, most: f64, setting: &Setting) -> Result<(), InputError> {
    if held < most {
        return Ok(());
    }
    let problem = format!("the equilibrium backlog of all queues together would be {held:.4} packets");
    let expected = format!("less than the buffer of {most} packets");
    Err(InputError::new(ErrorKind::Conflict, problem, expected).at(&setting.name))
}

/// Load from which on a link may be full.
const FULL: f64 = 0.9995;
