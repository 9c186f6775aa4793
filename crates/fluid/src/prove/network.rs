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

use super::{CustomLaws, Setting, law_equilibrium, setting, words};
use crate::linear::equilibrium::{Class, Equilibrium, NoEquilibrium, Signal};
use crate::linear::meter::Meter;
use crate::plant::{Sender, Window};
use crate::read::traffic::{self, ModelKind};
use sojourn_aqm::Law;
use sojourn_params::{ErrorKind, InputError};
use sojourn_scenario::{Flows, Scenario};
use sojourn_units::Prob;

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

    /// Solves equations (3) and (4); the certified link's state may be given.
    fn solved(&self, here: Option<State>, meter: &Meter) -> Result<Vec<State>, Obstacle> {
        let mut states: Vec<State> = self.links.iter().map(|at| at.empty).collect();
        if let Some(here) = here {
            states[self.here] = here;
        }
        let mut full: Vec<usize> = Vec::new();
        for _ in 0..=2 * self.links.len() {
            let open = (0..self.links.len())
                .filter(|place| !full.contains(place) && (here.is_none() || *place != self.here));
            let loads: Vec<(usize, f64)> = open.map(|place| (place, self.load(place, &states))).collect();
            // Of equally full links the first: the others are downstream.
            let most = loads.iter().map(|(_, load)| *load).fold(FULL, f64::max);
            let Some((fullest, _)) =
                loads.iter().find(|(_, load)| *load > FULL && *load >= most * (1.0 - ALIKE))
            else {
                return self.known(&full, states);
            };
            full.push(*fullest);
            self.settle(&full, &mut states, meter)?;
            full.retain(|place| self.is_full(*place, &states));
        }
        Err(Obstacle::Unproven("the rates of the network's links do not settle".into()))
    }

    /// The states, where every full link's law declares its equilibrium.
    fn known(&self, full: &[usize], states: Vec<State>) -> Result<Vec<State>, Obstacle> {
        for &place in full.iter().filter(|place| **place != self.here) {
            let NetLink { name, .. } = &self.links[place];
            if self.links[place].form == EquilibriumForm::Unknown {
                return Err(Obstacle::Unproven(format!(
                    "{name} is full, and declares no equilibrium, so that the rates are unknown"
                )));
            }
        }
        // Where no other link is full the certified link's own analysis says which of its limits is in the way.
        let alone = full.iter().all(|place| *place == self.here);
        match full.iter().copied().filter(|place| states[*place].carries < 1.0).min() {
            Some(place) if !alone => Err(self.saturated(place, &states)),
            _ => Ok(states),
        }
    }

    /// A link to which more comes than it carries even at p = 1.
    fn saturated(&self, place: usize, states: &[State]) -> Obstacle {
        let NetLink { name, capacity, .. } = &self.links[place];
        let least = self.load(place, states) * capacity;
        let error = NoEquilibrium::Overload { least, capacity: *capacity }.error();
        let short = if place == self.here {
            "no equilibrium: saturated at p = 1".into()
        } else {
            format!("{name} is saturated at p = 1")
        };
        Obstacle::NoEquilibrium(short, error.at(name))
    }

    /// Raises or lowers the full links, one after another, until none moves.
    fn settle(&self, full: &[usize], states: &mut [State], meter: &Meter) -> Result<(), Obstacle> {
        loop {
            let mut moved = 0.0_f64;
            for &place in full {
                let before = states[place];
                self.raise(place, states, meter)?;
                let after = states[place];
                let by = |one: f64, other: f64, least: f64| (one - other).abs() / one.max(other).max(least);
                let changes = [
                    by(before.p, after.p, f64::MIN_POSITIVE),
                    by(before.backlog, after.backlog, 1.0),
                    by(before.carries, after.carries, f64::MIN_POSITIVE),
                ];
                moved = changes.into_iter().fold(moved, f64::max);
            }
            if moved < SETTLED {
                return Ok(());
            }
        }
    }

    /// Brings a link to where it is just full, given the others' states; empties it where it never is.
    fn raise(&self, place: usize, states: &mut [State], meter: &Meter) -> Result<(), Obstacle> {
        let at = &self.links[place];
        let crossed: usize = at.data.iter().map(|class| self.classes[*class].data.len()).sum();
        if !meter.spend(crossed as u64 * 2 * u64::from(HALVINGS)) {
            return Err(Obstacle::Spent);
        }
        if !self.exceeds(place, at.empty, states) {
            return Ok(());
        }
        // The queue grows first, until that is enough; then p does.
        let top = match at.form {
            EquilibriumForm::Curve => at.doubled(|backlog| self.exceeds(place, at.grown(backlog), states)),
            EquilibriumForm::Target => self.at_target(place, at.state(0.0, 0.0), states).backlog,
            EquilibriumForm::Unknown => 0.0,
        };
        if self.exceeds(place, at.grown(top), states) {
            self.signal(place, [at.on_curve(top), 1.0], top, states);
            return Ok(());
        }
        let (mut low, mut high) = (0.0, top);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.exceeds(place, at.grown(middle), states) { low = middle } else { high = middle }
        }
        states[place] = at.grown(high);
        let jump = [low, high].map(|backlog| at.on_curve(backlog));
        if jump[1] > jump[0] && self.load(place, states) < 1.0 - JUMP {
            self.signal(place, jump, high, states);
        }
        Ok(())
    }

    /// Brings p to where the link is just full, within these bounds, at a backlog of `top` or at the law's target.
    fn signal(&self, place: usize, [from, to]: [f64; 2], top: f64, states: &mut [State]) {
        let at = &self.links[place];
        let held = |p: f64, states: &[State]| {
            let state = at.state(p, top);
            if at.form == EquilibriumForm::Target { self.at_target(place, state, states) } else { state }
        };
        // Bisects the logarithm: p may be small.
        let (mut low, mut high) = (from.max(LEAST_P), to);
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            if self.exceeds(place, held(middle, states), states) { low = middle } else { high = middle }
        }
        let found = held(high, states);
        states[place] = found;
        let load = self.load(place, states);
        if high == 1.0 && load > FULL {
            states[place].carries = 1.0 / load;
        }
    }

    /// Sets a link's state; whether its load then exceeds its rate.
    fn exceeds(&self, place: usize, state: State, states: &mut [State]) -> bool {
        states[place] = state;
        self.load(place, states) > 1.0
    }

    /// A state of a law with a target at its equilibrium backlog for this p and signal.
    fn at_target(&self, place: usize, state: State, states: &[State]) -> State {
        let at = &self.links[place];
        let State { p, marks, .. } = state;
        let (mut comes, mut passes) = (0.0, 0.0);
        for class in at.data.iter().map(|number| &self.classes[*number]) {
            let rate = class.rate(states, &self.links);
            comes += rate;
            passes += rate * if class.class.ecn && marks { 1.0 } else { 1.0 - p };
        }
        let signal = match marks {
            false => Signal::Drop,
            true if p == 0.0 => Signal::Mark,
            true => Signal::Both { passes: passes / comes },
        };
        let stands =
            at.law.as_ref().and_then(|law| law.analysis().equilibrium_backlog(Prob::clamped(p), signal));
        State { backlog: stands.unwrap_or(0.0).clamp(0.0, at.limit), ..state }
    }

    /// A full link whose law marks at the p that dropped packets need and drops at the p that marked ones need, the other
    /// links as they are: it has no constant p.
    pub(super) fn alternation(&self, full: &[usize], states: &[State]) -> Option<String> {
        full.iter().find_map(|&place| {
            let NetLink { name, law, .. } = &self.links[place];
            let law = law.as_ref()?;
            let needed = [true, false].map(|marks| self.needed(place, marks, states));
            let marks = needed.map(|p| law.analysis().marks_at(Prob::clamped(p)));
            (marks == [false, true])
                .then(|| format!("{name}: {}", law_equilibrium::mark_drop_limit_cycle(law.as_ref(), needed)))
        })
    }

    /// p at which a link would be just full under this signal, the other links as they are.
    fn needed(&self, place: usize, marks: bool, states: &[State]) -> f64 {
        let (at, mut states) = (&self.links[place], states.to_vec());
        let is_curve = at.form == EquilibriumForm::Curve;
        let (mut low, mut high) = if is_curve { (0.0, at.limit.min(LARGEST)) } else { (LEAST_P, 1.0) };
        let state = |middle: f64, states: &[State]| {
            if is_curve {
                return State { marks, ..at.grown(middle) };
            }
            let state = State { marks, ..at.state(middle, 0.0) };
            if at.form == EquilibriumForm::Target { self.at_target(place, state, states) } else { state }
        };
        for _ in 0..HALVINGS {
            let middle = if is_curve { f64::midpoint(low, high) } else { (low * high).sqrt() };
            let exceeds = self.exceeds(place, state(middle, &states), &mut states);
            if exceeds { low = middle } else { high = middle }
        }
        state(high, &states).p
    }

    /// Load of a link, relative to its rate, with the ACKs that share it with data.
    pub(super) fn load(&self, place: usize, states: &[State]) -> f64 {
        let classes = self.links[place].data.iter().map(|class| &self.classes[*class]);
        let data: f64 = classes.map(|class| class.brings(place, states, &self.links)).sum();
        if self.links[place].data.is_empty() { data } else { data + self.ack_load(place, states) }
    }

    /// Load of a link by the ACKs that cross it.
    fn ack_load(&self, place: usize, states: &[State]) -> f64 {
        let classes = self.links[place].back.iter().map(|class| &self.classes[*class]);
        classes.map(|class| class.brings_acks(place, states, &self.links)).sum()
    }

    /// Greatest violation of equations (3) and (4): of full links at `full` the difference of the load from 1, and of the
    /// backlog or p from the law's; of others what exceeds their rate. Relative.
    pub(super) fn residual(&self, full: &[usize], states: &[State]) -> f64 {
        let of_link = |place: usize| {
            let (at, load) = (&self.links[place], self.load(place, states));
            if !full.contains(&place) {
                return if at.law.is_some() { load - 1.0 } else { 0.0 };
            }
            let State { p, backlog, .. } = states[place];
            let of_law = match at.form {
                EquilibriumForm::Curve => (at.on_curve(backlog) - p).abs() / p.max(LEAST_P),
                EquilibriumForm::Target if p > 0.0 => {
                    let target = self.at_target(place, states[place], states).backlog;
                    (target - backlog).abs() / target.max(1.0)
                }
                EquilibriumForm::Target => 0.0,
                EquilibriumForm::Unknown => 1.0,
            };
            (load - 1.0).abs().max(of_law)
        };
        (0..self.links.len()).map(of_link).fold(0.0, f64::max)
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

impl NetLink {
    fn new(scenario: &Scenario, number: usize, own: Option<&CustomLaws>) -> NetLink {
        let link = &scenario.topology.links[number];
        let context = scenario.context(number);
        let own = own.and_then(|own| own.at(scenario, number));
        let is_custom = own.is_some();
        let law =
            own.or_else(|| link.qdisc.as_ref().and_then(|qdisc| Some(qdisc.unshaped().single()?.law())));
        let capacity = setting::capacity(link, context.packet);
        let form = match &law {
            Some(law) if law.analysis().steady_state_p(0.0).is_some() => EquilibriumForm::Curve,
            // A custom law is verified against its target where it is certified, and evaluated at its equilibrium
            // alone.
            Some(law) if is_custom || law_equilibrium::holds_target(law.as_ref(), &context, capacity) => {
                EquilibriumForm::Target
            }
            _ => EquilibriumForm::Unknown,
        };
        let mut at = NetLink {
            number,
            name: link.name.clone(),
            capacity,
            packet: context.packet,
            limit: context.limit,
            law,
            form,
            empty: State { p: 0.0, backlog: 0.0, marks: true, carries: 1.0 },
            data: Vec::new(),
            back: Vec::new(),
        };
        at.empty = at.grown(0.0);
        at
    }

    fn state(&self, p: f64, backlog: f64) -> State {
        let marks = self.law.as_ref().is_none_or(|law| law.analysis().marks_at(Prob::clamped(p)));
        State { p, backlog, marks, carries: 1.0 }
    }

    /// State at a backlog of a curve, or below a target.
    fn grown(&self, backlog: f64) -> State {
        self.state(self.on_curve(backlog), backlog)
    }

    /// p of a curve; below a target 0.
    fn on_curve(&self, backlog: f64) -> f64 {
        self.law.as_ref().and_then(|law| law.analysis().steady_state_p(backlog)).map_or(0.0, Prob::get)
    }

    /// First power of two at which `exceeds` is false, at most the buffer's limit, packets.
    fn doubled(&self, mut exceeds: impl FnMut(f64) -> bool) -> f64 {
        let mut backlog = 1.0_f64;
        while backlog < self.limit.min(LARGEST) && exceeds(backlog) {
            backlog *= 2.0;
        }
        backlog.min(self.limit)
    }
}

impl NetClass {
    /// True if it responds to signals.
    pub(super) fn is_responsive(&self) -> bool {
        matches!(self.sends, Sender::Tcp(..))
    }

    /// Rate of all its flows, packets/s, equations (1) and (2).
    pub(super) fn rate(&self, states: &[State], links: &[NetLink]) -> f64 {
        let each = match self.sends {
            Sender::Constant(rate) => rate,
            Sender::Tcp(_, most) => {
                let rtt = self.rtt(states, links);
                (self.class.window(self.lost(states), rtt).max(1.0) / rtt).min(most)
            }
        };
        self.class.flows * each
    }

    /// W at equilibrium, packets.
    pub(super) fn window(&self, states: &[State], links: &[NetLink]) -> f64 {
        self.class.window(self.lost(states), self.rtt(states, links))
    }

    /// R, s.
    pub(super) fn rtt(&self, states: &[State], links: &[NetLink]) -> f64 {
        let waits = self.data.iter().chain(&self.back);
        let waits = waits.map(|(place, _)| states[*place].backlog / links[*place].capacity);
        self.class.base_rtt + waits.sum::<f64>()
    }

    /// s: the share of its packets with a signal.
    pub(super) fn signals(&self, states: &[State]) -> f64 {
        self.class.signal_share(self.lost(states))
    }

    /// Share of its packets with a signal of a law.
    fn lost(&self, states: &[State]) -> f64 {
        1.0 - self.data.iter().map(|(place, _)| 1.0 - states[*place].p).product::<f64>()
    }

    /// Links of its data, then those of its ACKs, each with its share of the link: true if of data.
    pub(super) fn hops(&self) -> impl Iterator<Item = (bool, (usize, f64))> + '_ {
        let data = self.data.iter().map(|hop| (true, *hop));
        data.chain(self.back.iter().map(|hop| (false, *hop)))
    }

    /// Load that it puts on a link, without the packets that earlier links drop or do not carry.
    fn brings(&self, place: usize, states: &[State], links: &[NetLink]) -> f64 {
        let mut comes = self.rate(states, links);
        let mut share = 0.0;
        for (at, one) in &self.data {
            comes *= self.passes(states[*at]);
            if *at == place {
                share += comes * one;
            }
            comes *= states[*at].carries;
        }
        share
    }

    /// Load by its ACKs, without those of data that do not arrive and those that links on the way back drop or do not
    /// carry.
    fn brings_acks(&self, place: usize, states: &[State], links: &[NetLink]) -> f64 {
        if !self.is_responsive() {
            return 0.0;
        }
        let carried = |at: &usize| self.passes(states[*at]) * states[*at].carries;
        let received: f64 = self.data.iter().map(|(at, _)| carried(at)).product();
        let mut comes = self.rate(states, links) * received * (1.0 - self.class.loss);
        let mut share = 0.0;
        for (at, one) in &self.back {
            comes *= 1.0 - states[*at].p;
            if *at == place {
                share += comes * one;
            }
            comes *= states[*at].carries;
        }
        share
    }

    /// theta of a link.
    pub(super) fn passes(&self, at: State) -> f64 {
        if self.class.ecn && at.marks { 1.0 } else { 1.0 - at.p }
    }
}

/// Load from which on a link is full.
const FULL: f64 = 1.0 + 1e-6;
/// Relative difference below which loads are equal.
const ALIKE: f64 = 1e-9;
/// Tolerance of a bisection's load; past a jump of its law's curve a link is farther from full.
const JUMP: f64 = 1e-6;
/// Least p of a bisection, largest backlog, packets, and bisections.
const LEAST_P: f64 = 1e-18;
const LARGEST: f64 = (1u32 << 31) as f64;
const HALVINGS: u32 = 60;
/// Relative change of p or of the backlog that ends the iteration.
const SETTLED: f64 = 1e-9;
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
