//! Links of a scenario with their queues: one under its law, or several that share the link.

use super::parts::{self, Part};
use super::traffic::ModelKind;
use super::utilities::PricedLink;
use super::{several, traffic, unmodelled};
use crate::law_driver::LawDriver;
use crate::plant::{Link, QueueShare, SharedLink};
use sojourn_aqm::qdiscs::classifiers::By;
use sojourn_aqm::qdiscs::sqm::fluid::Priced;
use sojourn_aqm::qdiscs::{QueueLaw, Shares, apart};
use sojourn_aqm::{DesignedQdisc, Law, LinkContext, Place};
use sojourn_params::{Given, InputError};
use sojourn_scenario::{Scenario, Setting, Window as Model};
use sojourn_units::{Rate, Span};

/// A scenario's link in the fluid.
#[derive(Clone)]
pub(crate) struct Port {
    /// The scenario's number of the link.
    pub(crate) number: usize,
    /// Its queues: links of the plant.
    pub(crate) queues: Vec<usize>,
    /// Number of the shared link that they are before; None: the one queue is that of a link.
    pub(crate) shared: Option<usize>,
    /// Queue of each class; None: its data do not cross the link.
    of_class: Vec<Option<usize>>,
    /// Its qdisc with its present parameters; None: a custom law.
    qdisc: Option<DesignedQdisc>,
    /// Link and traffic at the start.
    context: LinkContext,
    /// Last rate of the link above 0.
    last_rate: Rate,
    /// Packets/s at the start, and now.
    nominal: f64,
    capacity: f64,
    /// Packets that the link could have sent until its rate last changed, and that time, s.
    could: (f64, f64),
}

/// Links of the plant as they are built, each with the driver of its law.
pub(crate) struct Ports<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) contexts: &'a [LinkContext],
    pub(crate) parts: &'a [Vec<Part>],
    pub(crate) links: Vec<Link>,
    pub(crate) shared: Vec<SharedLink>,
    pub(crate) drivers: Vec<LawDriver>,
}

/// Change of a port during a run.
pub(crate) struct Reset {
    /// Packets/s.
    pub(crate) capacity: f64,
    /// Most packets of all queues that share it, and the rate of the reserved one, packets/s.
    pub(crate) bounds: Option<(f64, f64)>,
    /// Weights by queue.
    pub(crate) weights: Vec<(usize, f64)>,
    /// Parameters of the laws, by queue.
    pub(crate) laws: Vec<(usize, Given)>,
}

impl Ports<'_> {
    /// Adds a link under its qdisc, or under a custom law.
    pub(crate) fn add(&mut self, number: usize, own: Option<Box<dyn Law>>) -> Result<Port, InputError> {
        let context = self.contexts[number];
        let link = &self.scenario.topology.links[number];
        let nominal = traffic::capacity(link, context.packet);
        let qdisc = link.qdisc.as_ref().expect("a managed link has a qdisc").clone();
        let is_custom = own.is_some();
        let port = |queues, shared, of_class| Port {
            number,
            queues,
            shared,
            of_class,
            qdisc: (!is_custom).then(|| qdisc.clone()),
            context,
            last_rate: context.rate,
            nominal,
            capacity: nominal,
            could: (0.0, 0.0),
        };
        let shaped = if is_custom { f64::INFINITY } else { qdisc.shaped_capacity(context.packet) };
        let capacity = nominal.min(shaped);
        let inner = qdisc.unshaped();
        if let (Some(shares), false) = (inner.shares(), is_custom) {
            let (queues, of_class) = self.add_shares(number, &shares, capacity)?;
            return Ok(port(queues, Some(self.shared.len() - 1), of_class));
        }
        let queue = self.links.len();
        let mut driver = match own {
            Some(law) if law.probability().is_some() => LawDriver::new(queue, law, context),
            Some(_) => return Err(unmodelled("a custom law")),
            None if inner.single().is_none() => return Err(several(inner.name())),
            None => {
                let rate = qdisc.unshaped_rate(context.rate);
                let context = LinkContext { rate, ..context };
                LawDriver::designed(queue, inner, context).ok_or_else(|| unmodelled(inner.name()))?
            }
        };
        self.links.push(Link::new(capacity, context.limit, context.packet));
        driver.sees_departures = self.scenario.fluid.window == Model::Calibrated;
        self.drivers.push(driver);
        let crossing = self.crossing(number);
        Ok(port(vec![queue], None, crossing.map(|crosses| crosses.then_some(queue)).collect()))
    }

    /// For each class whether its data cross a link.
    fn crossing(&self, number: usize) -> impl Iterator<Item = bool> + '_ {
        self.scenario.flows.iter().map(move |flows| flows.route.contains(&number))
    }

    /// Adds the queues of a scheduler: one for each class, and the reserved one.
    fn add_shares(
        &mut self,
        number: usize,
        shares: &Shares,
        capacity: f64,
    ) -> Result<(Vec<usize>, Vec<Option<usize>>), InputError> {
        if let Some(error) = error_of(shares) {
            return Err(error);
        }
        let context = self.contexts[number];
        let crossing: Vec<bool> = self.crossing(number).collect();
        let is_reserved = |class: usize| shares.reserved.as_ref().is_some_and(|(_, classes)| classes[class]);
        let (mut members, mut of_class) = (Vec::new(), vec![None; crossing.len()]);
        let mut reserved = None;
        for class in (0..crossing.len()).filter(|class| crossing[*class]) {
            if let (true, Some(queue)) = (is_reserved(class), reserved) {
                of_class[class] = Some(queue);
                continue;
            }
            let queue = self.links.len();
            let share = if is_reserved(class) {
                reserved = Some(queue);
                QueueShare { queue, flows_of: None, weight: 1.0, is_reserved: true }
            } else {
                let flows_of = (shares.by == By::Flow).then(|| parts::classes(&self.parts[class]));
                QueueShare { queue, flows_of, weight: shares.weights[class], is_reserved: false }
            };
            let law = &shares.laws[usize::from(share.is_reserved)];
            self.drivers.push(LawDriver::of_a_queue(queue, law).ok_or_else(|| unmodelled(law.name))?);
            self.links.push(Link::new(0.0, f64::INFINITY, context.packet));
            members.push(share);
            of_class[class] = Some(queue);
        }
        let queues = members.iter().map(|member| member.queue).collect();
        let mut link = SharedLink::new(capacity, most_packets(shares, &context), members);
        link.set_reserved(reserved_rate(shares, &context));
        self.shared.push(link);
        Ok((queues, of_class))
    }
}

impl Port {
    /// Queue of a class there; None: its data do not cross the link.
    pub(crate) fn queue_of(&self, class: usize) -> Option<usize> {
        self.of_class[class]
    }

    /// Its queues and flows, where their weights follow from utilities and it has a rate.
    pub(crate) fn priced(&self) -> Option<PricedLink> {
        let (capacity, packet) = (self.served(), self.context.packet);
        let priced = self.shares()?.priced.filter(|_| capacity > 0.0)?;
        let crossing = self.of_class.iter().map(Option::is_some).collect();
        Some(PricedLink { priced, capacity, packet, crossing })
    }

    /// Time between two solutions of such weights.
    pub(crate) fn period(&self) -> Option<Span> {
        Some(self.shares()?.priced?.period())
    }

    /// Names of its queues, as the packet plant has them: that of the class, or "reserved"; none of fewer than two.
    pub(crate) fn named_queues(&self, scenario: &Scenario) -> Vec<(String, usize)> {
        let Some(shares) = self.shares() else { return Vec::new() };
        let is_reserved = |class: usize| shares.reserved.as_ref().is_some_and(|(_, classes)| classes[class]);
        let others = (0..scenario.flows.len()).filter(|class| !is_reserved(*class));
        let mut own = (0..scenario.flows.len()).filter(|class| is_reserved(*class));
        let own = own.find_map(|class| self.of_class[class]);
        let reserved = shares.reserved.as_ref().map(|_| ("reserved".to_string(), own));
        let named = |class: usize| (scenario.flows[class].name.clone(), self.of_class[class]);
        let (names, queues): (Vec<_>, Vec<_>) = reserved.into_iter().chain(others.map(named)).unzip();
        if names.len() < 2 {
            return Vec::new();
        }
        let names = apart(names);
        names.iter().zip(queues).filter_map(|(name, queue)| Some((name.clone(), queue?))).collect()
    }

    /// Queue of a class there, if no other class is in it.
    pub(crate) fn own_queue_of(&self, class: usize) -> Option<usize> {
        let queue = self.of_class[class]?;
        let here = self.of_class.iter().filter(|of| **of == Some(queue)).count();
        (here == 1).then_some(queue)
    }

    /// The link's rate changes; gives its rate behind the shaper, packets/s.
    pub(crate) fn set_rate(&mut self, rate: Rate, now: f64) -> f64 {
        self.could = (self.could_until(now), now);
        self.capacity = rate.bits_per_second() / self.context.rate.bits_per_second() * self.nominal;
        if rate > Rate::ZERO {
            self.last_rate = rate;
        }
        self.served()
    }

    fn could_until(&self, now: f64) -> f64 {
        self.could.0 + self.capacity * (now - self.could.1)
    }

    /// Packets that the link could have sent by itself where a shaper is in front of it.
    pub(crate) fn unshaped_capacity(&self, now: f64) -> Option<f64> {
        let is_shaped = self.qdisc.as_ref()?.shaped_capacity(self.context.packet).is_finite();
        is_shaped.then(|| self.could_until(now))
    }

    fn served(&self) -> f64 {
        let shaped =
            self.qdisc.as_ref().map_or(f64::INFINITY, |qdisc| qdisc.shaped_capacity(self.context.packet));
        self.capacity.min(shaped)
    }

    /// Last rate of the link above 0.
    pub(crate) fn last_rate(&self) -> Rate {
        self.last_rate
    }

    /// True where the link has no rate now.
    pub(crate) fn is_stalled(&self) -> bool {
        self.capacity == 0.0
    }

    /// Rate that the law of each queue is designed for where the link has this one.
    pub(crate) fn rates_of_laws(&self, rate: Rate) -> Vec<(usize, Rate)> {
        let rate = self.qdisc.as_ref().map_or(rate, |qdisc| qdisc.unshaped_rate(rate));
        let shares = self.shares();
        let law = |queue: &usize| shares.as_ref().map(|shares| self.law_of(shares, *queue));
        self.queues.iter().map(|queue| (*queue, law(queue).map_or(rate, |law| law.rate_of(rate)))).collect()
    }

    /// Changes parameters of its qdisc, whose laws are designed for the last rate above 0.
    pub(crate) fn set_params(&mut self, change: &Given, scenario: &Scenario) -> Result<Reset, InputError> {
        let classes = scenario.classes_at(self.number);
        let mut reset = Reset { capacity: 0.0, bounds: None, weights: Vec::new(), laws: Vec::new() };
        let Some(qdisc) = &self.qdisc else {
            reset.laws = self.queues.iter().map(|queue| (*queue, change.clone())).collect();
            reset.capacity = self.served();
            return Ok(reset);
        };
        let is_plain = qdisc.single().is_some();
        let context = LinkContext { rate: self.last_rate, ..self.context };
        let qdisc = qdisc.changed(change, &Place { context, classes: &classes })?;
        let given = if is_plain { change } else { qdisc.unshaped().given() }.clone();
        self.qdisc = Some(qdisc);
        reset.capacity = self.served();
        let Some(shares) = self.shares() else {
            reset.laws = self.queues.iter().map(|queue| (*queue, given.clone())).collect();
            return Ok(reset);
        };
        reset.bounds = Some((most_packets(&shares, &self.context), reserved_rate(&shares, &self.context)));
        reset.laws =
            self.queues.iter().map(|queue| (*queue, self.law_of(&shares, *queue).given.clone())).collect();
        let weight = |(class, queue): (usize, &Option<usize>)| Some(((*queue)?, shares.weights[class]));
        reset.weights = self.of_class.iter().enumerate().filter_map(weight).collect();
        Ok(reset)
    }

    fn shares(&self) -> Option<Shares> {
        self.qdisc.as_ref()?.unshaped().shares()
    }

    fn law_of<'a>(&self, shares: &'a Shares, queue: usize) -> &'a QueueLaw {
        let class = self.of_class.iter().position(|of| *of == Some(queue));
        let reserved = shares.reserved.as_ref().zip(class);
        &shares.laws[usize::from(reserved.is_some_and(|((_, classes), class)| classes[class]))]
    }
}

/// Error of a qdisc without a fluid model.
pub(super) fn error_of_qdisc(qdisc: &DesignedQdisc) -> Option<InputError> {
    let inner = qdisc.unshaped();
    match (inner.single(), inner.shares()) {
        (Some(law), _) => (!law.is_for_fluids()).then(|| unmodelled(inner.name())),
        (None, Some(shares)) => error_of(&shares),
        (None, None) => Some(several(inner.name())),
    }
}

/// Error of queues without a fluid model.
fn error_of(shares: &Shares) -> Option<InputError> {
    if !matches!(shares.by, By::Flow | By::Class) {
        let by = match shares.by {
            By::FromHost => "from_host",
            By::ToHost => "to_host",
            By::Dscp => "dscp",
            _ => "ecn",
        };
        let subject = format!("a queue for each {by}");
        return Some(super::MODEL.has_no("by", &subject, "flow or class"));
    }
    if let Some((key, subject, expected)) = shares.priced.as_ref().and_then(Priced::unmodelled) {
        return Some(super::MODEL.has_no(key, subject, expected));
    }
    if shares.has_threshold {
        return Some(super::MODEL.has_no("ce_threshold", "a mark above a sojourn time", "none"));
    }
    shares.laws.iter().find(|law| !law.law.is_for_fluids()).map(|law| unmodelled(law.name))
}

/// Error of flows on a link for whom there is no queue of their own.
pub(crate) fn error_of_few_queues(
    scenario: &Scenario,
    number: usize,
    model: ModelKind,
) -> Option<InputError> {
    let queues = scenario.topology.links[number].qdisc.as_ref()?.unshaped().shares()?.priced?.queues();
    let most = |class: usize| {
        let changes = scenario.happenings().filter_map(|(_, change)| match &change.set {
            Setting::Count(of, count) if *of == class => Some(*count),
            _ => None,
        });
        changes.fold(scenario.flows[class].count, u32::max)
    };
    let crossing = (0..scenario.flows.len()).filter(|class| scenario.flows[*class].route.contains(&number));
    let all: u32 = crossing.map(most).sum();
    let expected = format!("{all} or more");
    (all > queues).then(|| model.has_no("queues", "a flow without a queue of its own", &expected))
}

/// Most packets of all queues, of the link's mean size.
pub(crate) fn most_packets(shares: &Shares, context: &LinkContext) -> f64 {
    context.limit.min(shares.most_packets).min(shares.most_bytes / context.packet)
}

/// Rate of the reserved queue, packets/s.
fn reserved_rate(shares: &Shares, context: &LinkContext) -> f64 {
    shares.reserved.as_ref().map_or(0.0, |(rate, _)| rate.packets_per_second(context.packet))
}
