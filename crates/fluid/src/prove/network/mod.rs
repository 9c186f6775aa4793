//! Congested links of a network: the queues that the flows of the certified link fill besides its own.
//!
//! Every link l has a backlog q_l and a probability p_l, both of its law: its queue is empty unless the link is full.
//! Every class i has the window of all the signals on its path ([`crate::linear::equilibrium`] has W), its round trip
//! includes all the queues, and the rates add up:
//!
//! ```text
//! x_i = n_i W_i(pi_i) / R_i,  1 - pi_i = (1 - loss_i) product over its links of (1 - p_l)    (1)
//! R_i = T_i + sum of q_l / C_l over its way and the way back                               (2)
//! y_l = sum of x_i over what crosses l <= C_l,  q_l (C_l - y_l) = 0                        (3)
//! p_l = f_l(q_l) on a law's curve;  p_l = 0 below its target, any p_l there                (4)
//! ```
//!
//! For given round trips this is the optimum of a concave problem and its dual (S. H. Low and D. E. Lapsley,
//! "Optimization flow control, I", IEEE/ACM ToN 7(6), 1999), so that raising one link's queue and price at a time
//! until it is just full converges. The set of raised links starts with the fullest; a link that is empty again leaves
//! it. Both p_l and q_l grow along (4), so that each is found by bisection; where a curve jumps, and at the buffer's
//! limit, p_l is in between.

mod class;
mod link;
mod solution;

use super::{CustomLaws, Setting, setting, words};
use crate::linear::equilibrium::{Class, Equilibrium, Signal};
use crate::linear::meter::Meter;
use crate::plant::{Sender, Window};
use crate::read::traffic::{self, ModelKind};
use sojourn_aqm::Law;
use sojourn_params::{ErrorKind, InputError};
use sojourn_scenario::{Flows, Scenario};

/// Links and classes connected to the certified link's flows by shared links.
#[derive(Clone)]
pub(super) struct Net {
    pub(super) links: Vec<NetLink>,
    pub(super) classes: Vec<NetClass>,
    /// Index of the certified link.
    here: usize,
    /// First feature without a linear model; none where all have one.
    unmodelled: Option<String>,
}

/// Loads of the other links with a qdisc, by name, relative to the rate: data packets, and the ACKs among them.
pub(super) type Loads = Vec<(String, f64)>;

/// Reason why an analysis of one link does not apply to the flows that cross it.
#[derive(Clone, Debug)]
pub(super) enum Obstacle {
    /// The evaluations ran out.
    Spent,
    /// The certified link, or one of its network, has no equilibrium: a short form, and the error.
    NoEquilibrium(String, InputError),
    /// Several links are congested together.
    Together(Congested),
    /// Nothing is proven, for this reason.
    Unproven(String),
}

/// Links whose queues act on each other, and the equilibrium of the network.
#[derive(Clone, Debug)]
pub(super) struct Congested {
    /// Their places, in order.
    pub(super) places: Vec<usize>,
    /// States of all links.
    pub(super) states: Vec<State>,
    /// Their number and names, in words.
    pub(super) words: String,
}

/// A link.
#[derive(Clone)]
pub(super) struct NetLink {
    /// Its number in the scenario.
    number: usize,
    pub(super) name: String,
    /// C, packets/s, and the mean packet, bytes.
    pub(super) capacity: f64,
    packet: f64,
    /// The buffer's limit, packets.
    limit: f64,
    pub(super) law: Option<Box<dyn Law>>,
    form: EquilibriumForm,
    /// State without a queue.
    empty: State,
    /// Classes whose data cross it, and those whose ACKs do.
    pub(super) data: Vec<usize>,
    back: Vec<usize>,
}

/// Equilibrium of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    pub(super) p: f64,
    /// Packets.
    pub(super) backlog: f64,
    /// True if its law marks what can be marked.
    pub(super) marks: bool,
    /// Share of what its law admits that the link carries: 1 unless it is saturated at p = 1.
    pub(super) carries: f64,
}

/// Form in which a law declares (4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EquilibriumForm {
    Curve,
    Target,
    /// Neither, or a target that it does not hold.
    Unknown,
}

/// A class on its path.
#[derive(Clone)]
pub(super) struct NetClass {
    pub(super) name: String,
    pub(super) class: Class,
    /// Flows and base RTT, s, in the scenario.
    own: [f64; 2],
    /// Rate of each flow, packets/s: of TCP the highest, of others the constant one.
    pub(super) sends: Sender,
    /// By link of its path: the share of the link's rate that 1 packet/s takes; and that of an ACK on the way back, per
    /// data packet.
    pub(super) data: Vec<(usize, f64)>,
    pub(super) back: Vec<(usize, f64)>,
}

impl Net {
    /// Network of a setting's link.
    pub(super) fn about(scenario: &Scenario, setting: &Setting, own: Option<&CustomLaws>) -> Net {
        let ways = |flows: &Flows| -> Vec<usize> { flows.route.iter().chain(&flows.back).copied().collect() };
        let mut numbers = vec![setting.number];
        let mut joined = vec![false; scenario.flows.len()];
        let mut looked_at = 0;
        while let Some(&number) = numbers.get(looked_at) {
            looked_at += 1;
            for (place, flows) in scenario.flows.iter().enumerate() {
                if !joined[place] && ways(flows).contains(&number) {
                    joined[place] = true;
                    let new: Vec<usize> =
                        ways(flows).into_iter().filter(|link| !numbers.contains(link)).collect();
                    numbers.extend(new);
                }
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let here = numbers.partition_point(|number| *number < setting.number);
        let links = numbers.iter().map(|number| NetLink::new(scenario, *number, own)).collect();
        let mut net = Net { links, classes: Vec::new(), here, unmodelled: None };
        for flows in scenario.flows.iter().zip(joined).filter_map(|(flows, joined)| joined.then_some(flows)) {
            net.add(scenario, flows);
        }
        let of_links = numbers.iter().flat_map(|number| {
            ModelKind::Linear.errors_of_link(&scenario.topology.links[*number]).into_iter()
        });
        net.unmodelled = net.unmodelled.or_else(|| of_links.map(|error| error.to_string()).next());
        net
    }

    fn add(&mut self, scenario: &Scenario, flows: &Flows) {
        if let Some(error) = ModelKind::Linear.errors_of_flows(flows, scenario.fluid.window).first() {
            let at = flows.route.first().map_or("", |number| &scenario.topology.links[*number].name);
            self.unmodelled.get_or_insert_with(|| {
                format!("traffic of {at} ({}) has no linear model, by its {}", flows.name, error.key)
            });
            return;
        }
        let of = traffic::class(scenario, flows, &[]);
        let law = match of.sender {
            Sender::Tcp(law, _) => law,
            Sender::Constant(_) => Window::Mgt,
        };
        let class = Class { flows: 0.0, base_rtt: of.base_rtt, size: 1.0, ecn: of.ecn, law, loss: of.loss };
        let place = |number: usize| self.links.partition_point(|link| link.number < number);
        // Backlogs are counted in packets of the mean size.
        let data = flows.route.iter().map(|number| {
            let at = &self.links[place(*number)];
            (place(*number), of.packet / at.packet / at.capacity)
        });
        let back = flows.back.iter().map(|number| {
            let (at, link) = (&self.links[place(*number)], &scenario.topology.links[*number]);
            let has_data = scenario.flows.iter().any(|flows| flows.route.contains(number));
            let share = if has_data {
                traffic::HEADER / at.packet / at.capacity
            } else {
                1.0 / setting::capacity(link, traffic::HEADER)
            };
            (place(*number), share / traffic::data_per_ack(flows))
        });
        let (data, back) = (data.collect(), back.collect());
        let whole = NetClass { name: flows.name.clone(), class, own: [0.0; 2], sends: of.sender, data, back };
        for (count, base_rtt) in setting::parts(scenario, flows, &of) {
            let flows = f64::from(count);
            let class = Class { flows, base_rtt, ..class };
            self.push(NetClass { class, own: [flows, base_rtt], ..whole.clone() });
        }
    }

    fn push(&mut self, class: NetClass) {
        let number = self.classes.len();
        class.data.iter().for_each(|(place, _)| self.links[*place].data.push(number));
        class.back.iter().for_each(|(place, _)| self.links[*place].back.push(number));
        self.classes.push(class);
    }

    /// True if the certified link's law declares its equilibrium.
    pub(super) fn is_known(&self) -> bool {
        self.links[self.here].form != EquilibriumForm::Unknown
    }

    /// True if there are other links.
    pub(super) fn has_others(&self) -> bool {
        self.links.len() > 1
    }

    /// True if acknowledgments cross a link.
    pub(super) fn carries_acknowledgments(&self, name: &str) -> bool {
        self.links.iter().any(|link| link.name == name && !link.back.is_empty())
    }

    /// Multiplies the scenario's responsive flows, and its round trips.
    pub(super) fn scale(&mut self, [flows, base_rtt]: [f64; 2]) {
        for class in self.classes.iter_mut().filter(|class| class.is_responsive()) {
            (class.class.flows, class.class.base_rtt) = (flows * class.own[0], base_rtt * class.own[1]);
        }
    }

    /// Loads with all links at equilibrium; the reason where one link is not enough.
    pub(super) fn loads(&self, meter: &Meter) -> Result<Loads, Obstacle> {
        if let Some(reason) = &self.unmodelled {
            return Err(Obstacle::Unproven(reason.clone()));
        }
        let states = self.solved(None, meter)?;
        if let Some(obstacle) = self.holds_back(&states) {
            return Err(obstacle);
        }
        self.judged(&states, self.is_full(self.here, &states))
    }

    /// True if all rates are known, and the certified link has neither a queue nor a price.
    pub(super) fn is_idle(&self, meter: &Meter) -> bool {
        let is_idle = |states: Vec<State>| !self.is_full(self.here, &states);
        self.unmodelled.is_none() && self.solved(None, meter).is_ok_and(is_idle)
    }

    /// Loads with the certified link at this equilibrium and every other one at the resulting one; the reason where
    /// one link is not enough.
    pub(super) fn loads_at(
        &self,
        equilibrium: &Equilibrium,
        signal: Signal,
        meter: &Meter,
    ) -> Result<Loads, Obstacle> {
        let Equilibrium { p, backlog, .. } = *equilibrium;
        let here = State { p, backlog, marks: signal == Signal::Mark, carries: 1.0 };
        let states = self.solved(Some(here), meter)?;
        self.judged(&states, true)
    }

    /// Loads; an error if another link is full together with the certified one (`is_full`), or if ACKs fill one.
    fn judged(&self, states: &[State], is_full: bool) -> Result<Loads, Obstacle> {
        let others = || (0..self.links.len()).filter(|place| *place != self.here);
        let acks = others().filter(|place| self.links[*place].data.is_empty());
        let acks = acks.map(|place| (place, self.ack_load(place, states)));
        let fullest = acks.filter(|(_, load)| *load > FULL).max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((place, load)) = fullest {
            return Err(Obstacle::Unproven(format!(
                "what comes to {} is {} of its rate, ACKs counted: the queue of the ACKs is in no model",
                self.links[place].name,
                words::percent(load)
            )));
        }
        let together = self.together(states);
        if is_full && together.len() > 1 {
            return Err(Obstacle::Together(self.congested(together, states.to_vec())));
        }
        let shown = others().filter(|place| self.links[*place].law.is_some() && self.is_crossed(*place));
        Ok(shown.map(|place| (self.links[place].name.clone(), self.load(place, states))).collect())
    }

    /// All full links, at the equilibrium of the network.
    pub(super) fn full(&self, meter: &Meter) -> Result<Congested, Obstacle> {
        let states = self.solved(None, meter)?;
        let full = (0..self.links.len()).filter(|place| self.is_full(*place, &states)).collect();
        Ok(self.congested(full, states))
    }

    /// Those of `places` that are full; another one may have a constant p without a queue.
    fn congested(&self, mut places: Vec<usize>, states: Vec<State>) -> Congested {
        places.retain(|place| self.is_full(*place, &states));
        places.sort_unstable();
        let names: Vec<String> = places.iter().map(|place| self.links[*place].name.clone()).collect();
        let words = format!("{} links are congested together: {}", names.len(), words::listed(&names));
        Congested { places, states, words }
    }

    /// Bottleneck of the certified flows that keeps their link from being full: of several that with the largest p.
    fn holds_back(&self, states: &[State]) -> Option<Obstacle> {
        let here = &self.links[self.here];
        if self.is_full(self.here, states) {
            return None;
        }
        let classes =
            here.data.iter().map(|number| &self.classes[*number]).filter(|class| class.is_responsive());
        let places = classes.flat_map(|class| class.data.iter().map(|(place, _)| *place));
        let full = places.filter(|place| *place != self.here && self.is_full(*place, states));
        let size = |place: &usize| (states[*place].p, states[*place].backlog);
        let fullest = full.max_by(|one, other| {
            let ((p, backlog), (other_p, other_backlog)) = (size(one), size(other));
            p.total_cmp(&other_p).then(backlog.total_cmp(&other_backlog)).then(other.cmp(one))
        })?;
        let name = &self.links[fullest].name;
        let load = words::percent(self.load(self.here, states));
        let short = format!("{name} holds these flows back");
        let problem = format!("{short}: they load it to {load}, so that it has no queue");
        let error = InputError::new(ErrorKind::Conflict, problem, "a link that is full");
        Some(Obstacle::NoEquilibrium(short, error.at(&here.name)))
    }

    /// True if a link has a queue, or a price without one.
    fn is_full(&self, place: usize, states: &[State]) -> bool {
        states[place] != self.links[place].empty
    }

    /// True if data or ACKs cross it.
    fn is_crossed(&self, place: usize) -> bool {
        !self.links[place].data.is_empty() || !self.links[place].back.is_empty()
    }

    /// The certified link and the full ones coupled to its queue: two links are neighbours if a class of TCP crosses
    /// both, its ACKs included.
    fn together(&self, states: &[State]) -> Vec<usize> {
        let mut found = vec![self.here];
        let mut looked_at = 0;
        while let Some(&place) = found.get(looked_at) {
            looked_at += 1;
            for class in self.links[place].data.iter().chain(&self.links[place].back) {
                let class = &self.classes[*class];
                if !class.is_responsive() {
                    continue;
                }
                for (other, _) in class.data.iter().chain(&class.back) {
                    let acts = self.is_full(*other, states) || states[*other].p > 0.0;
                    if acts && !found.contains(other) {
                        found.push(*other);
                    }
                }
            }
        }
        found
    }
}

/// Load from which on a link is full.
const FULL: f64 = 1.0 + 1e-6;
/// Limit of evaluations of a class at a link.
pub(super) const EVALUATIONS: u64 = 20_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Two links of 10 Mbit/s under PI, 20 flows over both and 5 over each.
    fn chain() -> (Scenario, Setting) {
        let link = |name: &str, from: &str, to: &str| {
            format!(
                "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbit/s\"\n\
                 delay = \"20 ms\"\nbuffer = \"900 packets\"\nqdisc = {{ law = \"pi\", target = \"50 packets\" }}\n"
            )
        };
        let flows = |name: &str, from: &str, to: &str, count: u32| {
            format!(
                "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\ncc = \"newreno\"\n\
                 ecn = true\nsegment = \"1000 B\"\n"
            )
        };
        let text = [
            "title = \"t\"\nduration = \"10 s\"\n".into(),
            link("a", "r1", "r2"),
            link("b", "r2", "r3"),
            flows("both", "r1", "r3", 20),
            flows("first", "r1", "r2", 5),
            flows("second", "r2", "r3", 5),
        ];
        let scenario = Scenario::parse(text.concat().as_bytes(), "test", &[]).unwrap();
        let setting = Setting::of(&scenario, Some("a")).unwrap();
        (scenario, setting)
    }

    /// Rates that have not converged are rejected.
    #[test]
    fn evaluations_that_run_out_leave_no_rates() {
        let (scenario, setting) = chain();
        let net = Net::about(&scenario, &setting, None);
        let meter = Meter::new(EVALUATIONS);
        assert!(matches!(net.loads(&meter), Err(Obstacle::Together(_))));
        assert!(!meter.is_used_up());
        for few in [0, 1000, meter.spent() - 1] {
            assert!(
                matches!(net.loads(&Meter::new(few)), Err(Obstacle::Spent)),
                "{few} of {}",
                meter.spent()
            );
        }
    }

    /// Equations (1) to (4) at a solution.
    #[test]
    fn full_links_are_just_full_at_their_targets() {
        let (scenario, setting) = chain();
        let net = Net::about(&scenario, &setting, None);
        let Ok(states) = net.solved(None, &Meter::new(EVALUATIONS)) else { panic!("it settles") };
        let full: Vec<usize> = (0..states.len()).filter(|place| net.is_full(*place, &states)).collect();
        assert_eq!(full.len(), 2, "the ways back carry ACKs alone: {states:?}");
        for place in full {
            assert!((net.load(place, &states) - 1.0).abs() < 1e-7, "{states:?}");
            assert!((states[place].backlog - 50.0).abs() < 1e-9 && states[place].p > 0.0, "{states:?}");
        }
    }
}
