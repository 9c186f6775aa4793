//! Parts of qdiscs of several queues: weights, a reserved queue, and their construction.

use super::Built;
use super::classifiers::{By, ByTag, Classifier, FlowHash};
use super::groups::Groups;
use super::scheduled::{Bounds, Change, QueueKind, Scheduled, Scheduler};
use super::schedulers::{GroupWeights, Reserved};
use super::shares::{LEAST_REST, Share};
use crate::entry::Designed;
use crate::law::Law;
use crate::law_spec::LawSpec;
use crate::link_context::LinkContext;
use crate::qdisc::Packet;
use crate::qdisc_spec::Place;
use sojourn_params::{Collected, Errors, Given, InputError, Kind, Path, Quantity, Value, params, table_of};
use sojourn_random::Stream;
use sojourn_units::Rate;
use std::sync::Arc;

params! {
    /// A queue for the flows of some classes, with a rate of its own.
    pub struct ReservedQueue {
        /// classes whose flows use the queue
        classes: Option<Vec<String>> = None, where "names of classes", "none: they must be given";
        /// rate while other queues have packets, too; the others use what it leaves
        rate: Option<Rate> = None, above "0 bit/s", where "below the rate of the link", "none: it must be given";
        /// law of the queue
        law: LawSpec = LawSpec::parse("tail_drop").expect("a law of the catalogue"), "it is short";
    }
}

/// A reserved queue, or none; a change of it keeps what it does not give.
#[derive(Clone, Debug, Default)]
pub struct Reservation(Option<Given>);

impl Reservation {
    fn queue(&self) -> Option<&ReservedQueue> {
        self.0.as_ref().and_then(|given| given.params.of().ok())
    }
}

impl PartialEq for Reservation {
    fn eq(&self, other: &Reservation) -> bool {
        self.queue() == other.queue()
    }
}

impl Quantity for Reservation {
    fn kind() -> Kind {
        ReservedQueue::kind()
    }
    fn read(value: &Value) -> Result<Reservation, Errors> {
        Given::read::<ReservedQueue>(table_of(value)?).map(|given| Reservation(Some(given)))
    }
    fn write(&self) -> Value {
        let table = |given: &Given| given.values().map(|(key, value)| (key.to_string(), value)).collect();
        self.0.as_ref().map_or(Value::Absent, |given| Value::Table(table(given)))
    }
    fn after(&self, change: &Reservation) -> Reservation {
        let merged =
            self.0.as_ref().zip(change.0.as_ref()).and_then(|(given, change)| given.with(change).ok());
        merged.map_or_else(|| change.clone(), |given| Reservation(Some(given)))
    }
}

/// Weights of classes by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights(Vec<(String, f64)>);

impl Quantity for Weights {
    fn kind() -> Kind {
        Kind::Form("{ bulk = 1, call = 4 }")
    }
    fn read(value: &Value) -> Result<Weights, Errors> {
        let mut errors = Collected::default();
        let mut weights = Vec::new();
        for (name, value) in table_of(value)? {
            let weight = f64::read(value).and_then(|weight| {
                let is_valid = (LEAST_WEIGHT..=MOST_WEIGHT).contains(&weight);
                let refused = || InputError::out_of_range(value, format!("{LEAST_WEIGHT} to {MOST_WEIGHT}"));
                if is_valid { Ok(weight) } else { Err(refused().into()) }
            });
            let weight = weight.map_err(|errors| errors.at(Path::key(name)));
            weights.extend(errors.take(weight).map(|weight| (name.clone(), weight)));
        }
        errors.end(Some(Weights(weights)))
    }
    fn write(&self) -> Value {
        Value::Table(self.0.iter().map(|(name, weight)| (name.clone(), weight.write())).collect())
    }
    fn after(&self, change: &Weights) -> Weights {
        let is_kept = |(name, _): &&(String, f64)| change.0.iter().all(|(other, _)| other != name);
        Weights(self.0.iter().filter(is_kept).chain(&change.0).cloned().collect())
    }
}

const LEAST_WEIGHT: f64 = 0.001;
const MOST_WEIGHT: f64 = 1000.0;

/// The parts of a qdisc in front of a link: laws, weights and the reserved queue, designed.
#[derive(Clone)]
pub(crate) struct Parts {
    /// Law of the queues, and of the reserved one.
    pub(super) kinds: Vec<(Designed, LinkContext, Share)>,
    /// The same with their parameters.
    pub(super) specs: Vec<LawSpec>,
    /// Names of all classes.
    pub(super) classes: Arc<[String]>,
    /// Weights of the classes.
    pub(super) weights: GroupWeights,
    /// Rate of the reserved queue, and the classes that go to it.
    pub(super) reserved: Option<(Rate, Vec<bool>)>,
    /// Highest rate of the link so far, which that of a reserved queue is below.
    link: Rate,
}

/// Sets new parameters, in place of those before, in the scheduler, which is not the one in use; an error of those that stay as
/// they are in a run.
pub(super) type SetParams<S> = fn([&Given; 2], (&Bounds, &Parts), &mut S) -> Result<Change, InputError>;

impl Parts {
    /// Of a qdisc whose queues have this law and these weights.
    pub(super) fn design(
        (law, by): (&LawSpec, By),
        weights: &Weights,
        reserved: &Reservation,
        place: &Place<'_>,
    ) -> Result<Parts, InputError> {
        let reserved = reserved.queue();
        let classes: Arc<[String]> = place.classes.iter().map(|class| class.name.to_string()).collect();
        let whole = place.context;
        let (rest, members) = match reserved {
            Some(reserved) => {
                let part = reserved.rate()?.bits_per_second() / whole.rate.bits_per_second();
                ((1.0 - part).max(LEAST_REST), reserved.members(&classes)?)
            }
            None => (1.0, Vec::new()),
        };
        let context = context_of_a_queue(by, rest, &members, place);
        let part = context.rate.bits_per_second() / whole.rate.bits_per_second();
        let share = match reserved {
            Some(reserved) => Share::Rest { reserved: reserved.rate()?, part: part / rest },
            None => Share::Part(part),
        };
        let mut kinds = vec![(of_one_queue(law, &context)?, context, share)];
        let mut specs = vec![law.clone()];
        if let Some(reserved) = reserved {
            let share = Share::Own(reserved.rate()?);
            let context = LinkContext { rate: share.of(whole.rate), flows: None, base_rtt: None, ..whole };
            let law = of_one_queue(&reserved.law, &context).map_err(|error| error.at("reserved"))?;
            kinds.push((law, context, share));
            specs.push(reserved.law.clone());
        }
        let reserved = match reserved {
            Some(reserved) => Some((reserved.rate()?, members)),
            None => None,
        };
        let weights = weights.of(&classes, reserved.as_ref().map_or(&[][..], |(_, members)| members))?;
        Ok(Parts { kinds, specs, classes, weights, reserved, link: whole.rate })
    }

    /// Law of a queue.
    pub(crate) fn law(&self) -> &Designed {
        &self.kinds[0].0
    }

    /// Puts another law into the queues; the reserved one keeps its own.
    pub(super) fn set_law(&mut self, law: Designed) {
        self.kinds[0].0 = law;
    }

    /// Link and traffic of a queue.
    pub(crate) fn context(&self) -> &LinkContext {
        &self.kinds[0].1
    }

    /// The weights of the classes.
    pub(super) fn weights_of(&self, weights: &Weights) -> Result<GroupWeights, InputError> {
        weights.of(&self.classes, self.reserved.as_ref().map_or(&[][..], |(_, members)| members))
    }

    /// Refuses a reserved queue that is not below the link.
    pub(super) fn fit_link(&self) -> Result<(), InputError> {
        self.reserved.as_ref().map_or(Ok(()), |(rate, _)| is_below(*rate, self.link))
    }

    /// The same where this is the highest rate of the link so far.
    fn at_highest(&self, link: Rate) -> Parts {
        Parts { link, ..self.clone() }
    }

    /// The parameters of the laws, which stay the same ones, and the shares beside the reserved queue.
    pub(super) fn change(
        &self,
        bounds: Bounds,
        [before, law]: [&LawSpec; 2],
        reserved: [&Reservation; 2],
    ) -> Result<Change, InputError> {
        is_fixed("law", before.law() == law.law())?;
        let mut laws = vec![(Path::from("law"), law.given().clone())];
        let shares = self.kinds.iter().map(|(_, _, share)| *share);
        let shares = match reserved.map(Reservation::queue) {
            [Some(before), Some(now)] => {
                is_fixed("reserved.classes", before.classes == now.classes)?;
                is_fixed("reserved.law", before.law.law() == now.law.law())?;
                let rate = now.rate()?;
                if now.rate != before.rate {
                    is_below(rate, self.link)?;
                }
                laws.push((Path::from("reserved.law"), now.law.given().clone()));
                shares.map(|share| share.with_reserved(rate)).collect()
            }
            [None, None] => shares.collect(),
            [None, Some(_)] => return Err(no_reserved_queue()),
            [Some(_), None] => return Err(needs_reserved_queue()),
        };
        Ok(Change { bounds, laws, shares })
    }

    /// The qdisc at its start: its queues are those of `by`, in the order of a scheduler.
    pub(super) fn build<P: Packet + Send + 'static, S: Scheduler + 'static>(
        &self,
        bounds: Bounds,
        (by, buckets): (By, u32),
        scheduler: S,
        (given, set): (Given, SetParams<S>),
        mut draws: Stream,
    ) -> Built<P> {
        let hash = FlowHash::new(buckets, &mut draws);
        let reserved = self.reserved.as_ref().map(|(_, members)| &members[..]);
        let groups = Groups::by(by, &self.classes, reserved);
        match &self.reserved {
            None if by == By::Flow && self.weights.is_empty() => {
                self.build_with(bounds, (hash, scheduler, groups), (given, set), draws)
            }
            None => {
                let classifier = ByTag::new(by, hash, Vec::new());
                self.build_with(bounds, (classifier, scheduler, groups), (given, set), draws)
            }
            Some((rate, members)) => {
                let parts = self.clone();
                let set =
                    move |given: [&Given; 2], (bounds, link): (&Bounds, Rate), own: &mut Reserved<S>| {
                        let change = set(given, (bounds, &parts.at_highest(link)), own.others())?;
                        if let Some(Share::Own(rate)) = change.shares.last() {
                            own.set_rate(*rate);
                        }
                        Ok(change)
                    };
                let classifier = ByTag::new(by, hash, members.clone());
                let scheduler = Reserved::new(scheduler, *rate, self.link);
                let scheduled = self.scheduled(bounds, (classifier, scheduler, groups), draws);
                Box::new(scheduled.with_params(given, Arc::new(set)))
            }
        }
    }

    /// The same with any classifier, and with groups of queues that measurements distinguish.
    pub(super) fn build_with<P, C, S>(
        &self,
        bounds: Bounds,
        parts: (C, S, Groups),
        (given, set): (Given, SetParams<S>),
        draws: Stream,
    ) -> Built<P>
    where
        P: Packet + Send + 'static,
        C: Classifier<P> + 'static,
        S: Scheduler + 'static,
    {
        let own = self.clone();
        let set = move |given: [&Given; 2], (bounds, link): (&Bounds, Rate), scheduler: &mut S| {
            set(given, (bounds, &own.at_highest(link)), scheduler)
        };
        Box::new(self.scheduled(bounds, parts, draws).with_params(given, Arc::new(set)))
    }

    fn scheduled<P: Packet, C: Classifier<P>, S: Scheduler>(
        &self,
        bounds: Bounds,
        (classifier, scheduler, groups): (C, S, Groups),
        draws: Stream,
    ) -> Scheduled<P, Box<dyn Law>, C, S> {
        let kind = |(law, context, share): &(Designed, LinkContext, Share)| QueueKind {
            law: law.law(),
            context: *context,
            share: *share,
        };
        let kinds = self.kinds.iter().map(kind);
        let scheduled = Scheduled::new(bounds, (classifier, scheduler), kinds, draws);
        scheduled.with_groups(groups).with_link(self.link)
    }
}

impl ReservedQueue {
    fn rate(&self) -> Result<Rate, InputError> {
        let missing = || InputError::missing("a rate such as \"8 Mbit/s\"").at("rate").at("reserved");
        self.rate.ok_or_else(missing)
    }

    /// For each class whether it goes to it.
    fn members(&self, classes: &[String]) -> Result<Vec<bool>, InputError> {
        let missing =
            || InputError::missing(r#"names of classes, such as ["call"]"#).at("classes").at("reserved");
        let mut members = vec![false; classes.len()];
        for name in self.classes.as_ref().ok_or_else(missing)? {
            let place = place_of(name, classes).map_err(|error| error.at("classes").at("reserved"))?;
            members[place] = true;
        }
        Ok(members)
    }
}

impl Weights {
    /// The weight of each class, of which `reserved` ones have none.
    pub(super) fn of(&self, classes: &[String], reserved: &[bool]) -> Result<GroupWeights, InputError> {
        let mut weights = vec![1.0; if self.0.is_empty() { 0 } else { classes.len() }];
        for (name, weight) in &self.0 {
            let at = |error: InputError| error.at(Path::key(name)).at("weights");
            let class = place_of(name, classes).map_err(at)?;
            if reserved.get(class) == Some(&true) {
                let problem = "is of a class in the reserved queue, which has a rate instead";
                return Err(at(InputError::clash(problem, "weights of the other classes")));
            }
            weights[class] = *weight;
        }
        Ok(GroupWeights::new(weights))
    }
}

/// Number of a class.
fn place_of(name: &str, classes: &[String]) -> Result<usize, InputError> {
    let names = classes.iter().map(String::as_str);
    classes
        .iter()
        .position(|class| class == name)
        .ok_or_else(|| InputError::unknown_name(name, "is no class of flows", names))
}

/// Link and traffic of one of the queues that share this part of the link: those of the flows that are not in the reserved queue.
fn context_of_a_queue(by: By, part: f64, reserved: &[bool], place: &Place<'_>) -> LinkContext {
    let whole = place.context;
    let is_reserved = |class: usize| reserved.get(class).copied().unwrap_or(false);
    let classes = || place.classes.iter().enumerate().filter(|(_, class)| class.crosses);
    let elsewhere: f64 =
        classes().filter(|(class, _)| is_reserved(*class)).map(|(_, class)| class.flows).sum();
    let flows = whole.flows.map(|all| (all - elsewhere).max(1.0));
    let queues = match by {
        By::Flow | By::FromHost | By::ToHost => flows.unwrap_or(1.0).max(1.0),
        By::Class => (classes().filter(|(class, _)| !is_reserved(*class)).count() as f64).max(1.0),
        By::Dscp | By::Ecn => 1.0,
    };
    let rate = Rate::from_bits_per_second(whole.rate.bits_per_second() * part / queues);
    LinkContext { rate, flows: flows.map(|flows| (flows / queues).max(1.0)), ..whole }
}

/// The law of one of several queues.
pub(super) fn of_one_queue(law: &LawSpec, context: &LinkContext) -> Result<Designed, InputError> {
    let designed = law.design(context).map_err(|error| error.at("law"))?;
    if designed.as_law().properties().wants_victim {
        let problem = "draws its victims from the queue of all flows, and so cannot be the law of one flow's";
        let error = InputError::conflict(law.law(), problem, "a law that judges each packet alone");
        return Err(error.at("law"));
    }
    Ok(designed)
}

/// Refuses a change of a parameter that stays in the whole run.
pub(super) fn is_fixed(key: &str, is_same: bool) -> Result<(), InputError> {
    if is_same {
        return Ok(());
    }
    let problem = "is fixed: packets wait in the queues that the run began with";
    Err(InputError::clash(problem, "the same in the whole run").at(key))
}

/// Refuses a rate of the reserved queue that is not below that of the link.
pub(super) fn is_below(rate: Rate, link: Rate) -> Result<(), InputError> {
    if rate < link {
        return Ok(());
    }
    let problem = format!("is not below the rate of the link, {link}");
    Err(InputError::conflict(rate, problem, "a lower rate").at("rate").at("reserved"))
}

/// Error of a change that removes the reserved queue.
fn needs_reserved_queue() -> InputError {
    let problem = "is without the queue that packets wait in";
    InputError::clash(problem, "the reserved queue that the run began with").at("reserved")
}

/// Error of a change of a reserved queue that the qdisc does not have.
fn no_reserved_queue() -> InputError {
    let problem = "changes a queue that the qdisc does not have";
    InputError::clash(problem, "a qdisc with reserved.classes and reserved.rate").at("reserved")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::Limit;
    use crate::qdisc_spec::FlowClass;

    /// A change within a reserved queue is one of a queue that is there, and none removes it.
    #[test]
    fn a_reserved_queue_neither_comes_nor_goes() {
        let place = Place { classes: &[FlowClass::of_one_flow("call")], ..LinkContext::example().into() };
        let own: [(String, Value); 2] = [
            ("classes".into(), Value::List(vec![Value::Text("call".into())])),
            ("rate".into(), Value::Text("1 Mbit/s".into())),
        ];
        let own = Reservation::read(&Value::Table(own.into())).unwrap();
        let none = Reservation::default();
        let law = LawSpec::parse("codel").unwrap();
        let bounds = Bounds {
            buffer: Limit::Unlimited,
            most_packets: 100,
            most_bytes: 1_000_000,
            batch: 64,
            ce_threshold: None,
        };
        for (reserved, is_taken) in
            [([&none, &none], true), ([&own, &own], true), ([&none, &own], false), ([&own, &none], false)]
        {
            let parts = Parts::design((&law, By::Flow), &Weights::default(), reserved[0], &place).unwrap();
            let change = parts.change(bounds, [&law, &law], reserved);
            assert_eq!(change.is_ok(), is_taken, "{reserved:?}");
        }
    }
}
