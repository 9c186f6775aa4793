//! Weights, rates and sigmas of the queues, each period anew.
//!
//! At the end of a period the flows that were seen in it have the rates of Algorithm 1, or of another rule, and the weights
//! Q_i = x_i of Algorithm 2, so that equation (5) gives each
//!
//! ```text
//! C_i = C Q_i / sum of Q                                                       (5)
//! ```
//!
//! Between two periods a new flow has the weight that its utility demands at the price of the link,
//!
//! ```text
//! Q_i = (w_i / pi)^(1 / alpha),   pi = (sum of w_j^(1 / alpha) / sum of Q_j)^alpha   over the flows seen        (i)
//! ```
//!
//! With (5) this is the optimum of all flows at once, unless eps binds, without another solution. Where there is no price, for
//! alpha = 0 and max-min fairness, it is the mean of the others.
//!
//! A flow may send less than its share, as its application has no more: one that sent less than half of it in a period is
//! *limited*. The others have what it leaves, so their prices are those of
//!
//! ```text
//! C_i = (C - sum of the rates of limited flows) Q_i / sum of Q of the others   (ii)
//! ```
//!
//! Without a centre several links find the optimum of all by a price pi_l each ([`sojourn_optim::num::prices`]): Q_i =
//! (w_i / Pi_i)^(1 / alpha) with the price Pi_i of the flow's whole path, which its packets carry as those with the newest
//! prices before them have returned it, and pi_l rises where these rates exceed the link. A round takes a period; each
//! link begins at the price of equation (i).

use super::SigmaRule;
use super::flow_count::FlowCount;
use super::rules::{LEAST_DELAY, Learner, Rules};
use crate::flow_shares::{Coordinator, PathPrice};
use crate::law::FlowId;
use crate::qdiscs::shares::LEAST_REST;
use slots::{MOUSE, Slot, Sums};
use sojourn_optim::num::Fairness;
use sojourn_optim::num::prices::{LEAST_PART, Seen, next_price};
use sojourn_optim::num::regret::Regret;
use sojourn_optim::sqm::{Flow, Link};
use sojourn_params::InputError;
use sojourn_units::{Time, math};

mod slots;

/// The weights.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    pub(super) rules: Rules,
    learner: Learner,
    slots: Vec<Slot>,
    /// Sums over the flows with shares, and over the limited ones.
    all: Sums,
    limited: Sums,
    /// Sum of Q over young flows.
    young: f64,
    /// Mean D of the flows that were not young at the end of the last period, s; 0: there were none.
    grown_delay: f64,
    flows: FlowCount,
    /// Q whose weight in the scheduler is 1.
    unit: f64,
    /// pi.
    pub(super) price: f64,
    /// The price of equation (i): pi, where no other link counts.
    own_price: f64,
    /// There has been a round of prices since the first flow came; before, the link has none.
    has_exchanged: bool,
    /// The price that the next packet carries.
    pub(super) announced: PathPrice,
    regret: Regret,
    /// Regret and utility at the end of the last period.
    pub(super) regret_value: f64,
    pub(super) utility: f64,
}

impl Tuning {
    /// Without flows.
    pub(super) fn new(rules: Rules) -> Result<Tuning, InputError> {
        let learner = Learner::new(&rules, vec![0.0; rules.queues])?;
        let regret = Regret::new(&rules.problem(vec![0.0; rules.queues])?);
        let slots = vec![Slot::default(); rules.queues];
        let unit = rules.capacity;
        Ok(Tuning {
            rules,
            learner,
            slots,
            all: Sums::default(),
            limited: Sums::default(),
            young: 0.0,
            grown_delay: 0.0,
            flows: FlowCount::default(),
            unit,
            price: 0.0,
            own_price: 0.0,
            has_exchanged: false,
            announced: PathPrice::default(),
            regret,
            regret_value: 0.0,
            utility: 0.0,
        })
    }

    /// Other rules, from the present rates on.
    pub(super) fn set_rules(&mut self, rules: Rules) -> Result<(), InputError> {
        let is_same_unit = rules.has_unit_of(&self.rules);
        let is_same_problem = rules.step == self.rules.step
            && rules.fairness == self.rules.fairness
            && rules.floor.to_bits() == self.rules.floor.to_bits()
            && rules.capacity.to_bits() == self.rules.capacity.to_bits();
        let weight = |slot: &Slot| if slot.quantum > 0.0 { slot.weight_by(&rules) } else { 0.0 };
        let learner = if is_same_problem && is_same_unit {
            None
        } else {
            Some(Learner::new(&rules, self.slots.iter().map(weight).collect())?)
        };
        if !is_same_problem {
            self.regret = Regret::new(&rules.problem(vec![0.0; rules.queues])?);
            self.regret_value = 0.0;
        }
        self.rules = rules;
        for slot in &mut self.slots {
            slot.weight = slot.weight_by(&self.rules);
            slot.scaled_for = 0.0;
        }
        self.set_price_of_shares();
        if let Some(learner) = learner {
            self.learner = learner;
            self.start_learner();
        }
        // Prices are in units of utility: until the next round they are those of this link alone.
        if !is_same_unit && self.rules.coordinator != Coordinator::Local {
            (self.price, self.has_exchanged) = (0.0, false);
            self.announced = PathPrice::default();
            self.slots.iter_mut().for_each(|slot| slot.path = PathPrice::default());
        }
        Ok(())
    }

    /// The learner begins at the present rates, as they are beside eps of absent flows.
    fn start_learner(&mut self) {
        if self.all.quanta > 0.0 {
            let Rules { queues, capacity, floor, .. } = self.rules;
            let present = capacity - (queues - self.all.count as usize) as f64 * floor;
            self.learner.start(&self.rates(present, floor), self.price_of_rates(present));
        }
    }

    /// A flow has a queue from now on.
    pub(super) fn enter(&mut self, number: u32, (delay, class): (Option<f64>, u32)) {
        self.leave(number);
        let delay = delay.unwrap_or(self.rules.usual_delay).max(LEAST_DELAY);
        let bytes = self.rules.elephant;
        self.slots[number as usize] = Slot { delay, class, bytes, ..Slot::default() };
    }

    /// A flow has no queue any more.
    pub(super) fn leave(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        if slot.quantum > 0.0 {
            self.all.remove(slot);
        }
        if slot.limited.is_some() {
            self.limited.remove(slot);
        }
        self.young -= slot.young();
        *slot = Slot { delay: self.rules.usual_delay, bytes: self.rules.elephant, ..Slot::default() };
    }

    /// Shares are so many times what they were: what a flow with more to send has sent is the same part of its own.
    pub(super) fn scale_sent(&mut self, factor: f64) {
        let others = self.slots.iter_mut().filter(|slot| slot.limited.is_none());
        others.for_each(|slot| slot.came *= factor);
    }

    /// A packet of `len` bytes comes to a queue, where the elephants have so much, packets/s; true: its flow has a share from
    /// now on.
    pub(super) fn packet(&mut self, now: Time, number: u32, len: u32, capacity: f64) -> bool {
        let slot = &mut self.slots[number as usize];
        let is_new = slot.quantum == 0.0;
        slot.bytes = if is_new { self.rules.elephant } else { slot.bytes } + f64::from(len);
        slot.came += f64::from(len);
        slot.is_seen = true;
        slot.path = std::mem::take(&mut self.announced);
        if is_new {
            slot.since = now;
            self.give_initial_share(number, capacity);
        } else if slot.is_young && slot.bytes > self.most_of_young(number, capacity) {
            let slot = &mut self.slots[number as usize];
            self.young -= slot.young();
            slot.is_young = false;
            self.unlimit(number);
        }
        is_new
    }

    /// The packet is not lost as it comes: it counts in the number of flows. Otherwise one flood, of which most is lost, has most of
    /// the bytes.
    pub(super) fn kept(&mut self, number: u32, len: u32) {
        let slot = &mut self.slots[number as usize];
        self.flows.add(slot.kept, f64::from(len));
        slot.kept += f64::from(len);
    }

    /// Bytes up to which a flow is young: a window of its share over the round trip of the others, or those of a mouse. What lasts less
    /// than the answer to a signal is noise to those that answer.
    fn most_of_young(&self, number: u32, capacity: f64) -> f64 {
        let delay = self.grown_delay.max(self.slots[number as usize].delay);
        MOUSE.max(self.rate(number, capacity) * delay * self.rules.packet)
    }

    /// The flow is young, if it has sent so little.
    fn begin_if_young(&mut self, number: u32, capacity: f64) {
        if self.slots[number as usize].bytes <= self.most_of_young(number, capacity) {
            self.begin(number);
        }
    }

    /// The flow is young, and counts as limited.
    fn begin(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        self.young += slot.quantum - slot.young();
        slot.is_young = true;
        if slot.limited.is_none() {
            self.limit(number, 0.0);
        }
    }

    /// The flow counts as limited, with this rate, packets/s.
    fn limit(&mut self, number: u32, rate: f64) {
        let slot = &mut self.slots[number as usize];
        slot.limited = Some(rate);
        self.limited.add(slot);
    }

    /// The flow does not count as limited.
    fn unlimit(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        if slot.limited.is_some() {
            self.limited.remove(slot);
            slot.limited = None;
        }
    }

    /// A flow begins again, where the elephants have so much, packets/s; true: its weight is another.
    pub(super) fn restart(&mut self, now: Time, number: u32, capacity: f64) -> bool {
        let slot = &mut self.slots[number as usize];
        slot.bytes = self.rules.elephant;
        (slot.came, slot.kept, slot.since) = (0.0, 0.0, now);
        if slot.quantum == 0.0 {
            return false;
        }
        let weight = slot.weight_by(&self.rules);
        let is_other = weight != slot.weight;
        if is_other {
            let quantum = self.initial_quantum(number, capacity);
            self.unlimit(number);
            let slot = &mut self.slots[number as usize];
            self.all.remove(slot);
            self.young -= slot.young();
            (slot.weight, slot.quantum, slot.is_young) = (weight, quantum, false);
            self.all.add(slot);
        }
        self.begin_if_young(number, capacity);
        is_other
    }

    /// The rate that a flow begins with where the elephants have so much, packets/s: that of (ii), for a flow without a share with
    /// the one that equation (i) is to give.
    pub(super) fn initial_rate(&self, number: u32, capacity: f64) -> f64 {
        if self.slots[number as usize].quantum > 0.0 {
            return self.rate(number, capacity);
        }
        let quantum = self.initial_quantum(number, capacity);
        let others = self.all.quanta - self.limited.quanta;
        rest(capacity, self.limited.rates) * (quantum / (others + quantum)).min(1.0)
    }

    /// Q of equation (i).
    fn initial_quantum(&self, number: u32, capacity: f64) -> f64 {
        let slot = &self.slots[number as usize];
        let quantum =
            self.rules.demand(slot.weight_by(&self.rules)) * self.rate_of_demand(self.price_of(slot.path));
        quantum.min(self.most_quantum(capacity)).max(self.rules.floor)
    }

    /// Q of a link alone are rates at the capacity of the rules, others at the present one.
    fn most_quantum(&self, capacity: f64) -> f64 {
        match self.rules.coordinator {
            Coordinator::Local => self.rules.capacity,
            Coordinator::Centralised | Coordinator::Decentralised => capacity,
        }
    }

    /// A flow without a share has the one of equation (i), where the elephants have so much, packets/s.
    fn give_initial_share(&mut self, number: u32, capacity: f64) {
        let weight = self.slots[number as usize].weight_by(&self.rules);
        if self.all.count == 0 {
            let most = self.most_quantum(capacity);
            (self.all, self.limited, self.young, self.unit) = (Sums::default(), Sums::default(), 0.0, most);
            self.own_price = weight * self.rules.fairness.marginal(most);
            match self.rules.coordinator {
                Coordinator::Local => self.price = self.own_price,
                Coordinator::Centralised => {}
                Coordinator::Decentralised => (self.price, self.has_exchanged) = (0.0, false),
            }
        }
        let quantum = self.initial_quantum(number, capacity);
        let slot = &mut self.slots[number as usize];
        (slot.weight, slot.quantum, slot.is_young) = (weight, quantum, false);
        self.all.add(slot);
        self.begin_if_young(number, capacity);
    }

    /// The demand of a flow, by which rates are in proportion where eps does not bind.
    pub(super) fn demand(&self, delay: Option<f64>, class: u32) -> f64 {
        let delay = delay.unwrap_or(self.rules.usual_delay).max(LEAST_DELAY);
        self.rules.demand(self.rules.weight(class, delay, self.rules.elephant))
    }

    /// Part of the link that flows without a queue have by their demands together.
    pub(super) fn part(&self, demands: f64) -> f64 {
        let own = self.rate_of_demands(demands);
        if own > 0.0 { own / (own + self.all.quanta) } else { 0.0 }
    }

    /// Q of the demands of flows without a queue.
    pub(super) fn rate_of_demands(&self, demands: f64) -> f64 {
        demands * self.rate_of_demand(self.price_of(PathPrice::default()))
    }

    /// The inverse: under other rules they have the same rates until they are counted again.
    pub(super) fn demands_of_rate(&self, rate: f64) -> f64 {
        let of_one = self.rate_of_demands(1.0);
        if of_one > 0.0 { rate / of_one } else { 0.0 }
    }

    /// Rate, before (5), of a demand of 1 at a price.
    fn rate_of_demand(&self, price: f64) -> f64 {
        match self.rules.fairness {
            Fairness::Alpha(alpha) if alpha > 0.0 && price > 0.0 => math::pow(price, -1.0 / alpha),
            _ if self.all.count > 0 => self.all.quanta / f64::from(self.all.count),
            _ => self.rules.capacity,
        }
    }

    /// The price at which a flow over this path demands its rate.
    fn price_of(&self, path: PathPrice) -> f64 {
        match self.rules.coordinator {
            // A path is no less than the link; without acknowledgments nothing else is known of it.
            Coordinator::Decentralised if self.has_exchanged => path.price.max(self.price),
            // Its flows pay at other links.
            Coordinator::Centralised if self.price >= LEAST_OWN * self.own_price => self.price,
            _ => self.own_price,
        }
    }

    /// Equation (5), where the elephants have so much, packets/s.
    pub(super) fn share(&self, number: u32, capacity: f64) -> f64 {
        capacity * self.slots[number as usize].quantum / self.all.quanta
    }

    /// Equation (5) among the flows that are not young, and this one, where they have so much, packets/s.
    pub(super) fn share_of_grown(&self, number: u32, capacity: f64) -> f64 {
        let slot = &self.slots[number as usize];
        let others = self.all.quanta - self.young + slot.young();
        capacity * (slot.quantum / others).min(1.0)
    }

    /// Equation (ii), where the elephants have so much, packets/s, for a limited flow as if it had more to send; eps for a flow
    /// without a share.
    pub(super) fn rate(&self, number: u32, capacity: f64) -> f64 {
        let slot = &self.slots[number as usize];
        if slot.quantum == 0.0 {
            return self.rules.floor;
        }
        let mut limited = self.limited;
        if slot.limited.is_some() {
            limited.remove(slot);
        }
        let Sums { quanta, rates, .. } = limited;
        rest(capacity, rates) * (slot.quantum / (self.all.quanta - quanta)).min(1.0)
    }

    /// Weight of a queue in the scheduler.
    pub(super) fn weight(&self, number: u32) -> f64 {
        self.slots[number as usize].quantum / self.unit
    }

    /// Slots whose flows have shares.
    pub(super) fn active(&self) -> impl Iterator<Item = u32> {
        self.demands().map(|(number, _)| number)
    }

    /// Effective number of flows.
    pub(super) fn flows(&self) -> f64 {
        self.flows.value()
    }

    /// Mean of D, s, over flows that are not young, or [`Tuning::mean_delay`] if that is more: the round trip of their windows. Those
    /// that others have slowed down count as limited, and their windows are still long.
    pub(super) fn window_delay(&self) -> f64 {
        self.grown_delay.max(self.mean_delay())
    }

    /// Harmonic mean of D, s, over flows that are not limited; over all if every flow is. Rates grow as 1 / D^2, so short round
    /// trips dominate.
    pub(super) fn mean_delay(&self) -> f64 {
        let count = self.all.count - self.limited.count;
        if count > 0 {
            f64::from(count) / (self.all.frequencies - self.limited.frequencies)
        } else if self.all.count > 0 {
            f64::from(self.all.count) / self.all.frequencies
        } else {
            self.rules.usual_delay
        }
    }

    /// Bytes that the flow has sent in its present connection, with those before its queue.
    pub(super) fn sent(&self, number: u32) -> f64 {
        self.slots[number as usize].bytes
    }

    /// The flow has sent no more than a mouse does.
    pub(super) fn is_mouse(&self, number: u32) -> bool {
        self.slots[number as usize].is_mouse()
    }

    /// The flow has not sent a window of its share yet.
    pub(super) fn is_young(&self, number: u32) -> bool {
        self.slots[number as usize].is_young
    }

    /// Mean rate in this period, packets/s, and its time, s; None: the flow is limited.
    pub(super) fn rate_of_period(&self, now: Time, number: u32) -> Option<(f64, f64)> {
        let slot = &self.slots[number as usize];
        slot.limited.is_none().then(|| (slot.rate(now, self.rules.packet), slot.elapsed(now)))
    }

    /// D of a flow, s.
    pub(super) fn delay(&self, number: u32) -> f64 {
        self.slots[number as usize].delay
    }

    /// sigma of a queue whose share is `rate`, within the change of the rate by a part of it.
    pub(super) fn scale(&mut self, number: u32, rate: f64) -> f64 {
        let slot = self.slots[number as usize];
        if (rate - slot.scaled_for).abs() <= SAME_RATE * rate {
            return slot.scale;
        }
        let reno =
            |delay: f64, quantum: f64| Flow { weight: 2.0 / (delay * delay), ..Flow::reno(delay, quantum) };
        let alone = Link { capacity: rate, alpha: 2.0, flows: vec![reno(slot.delay, 1.0)] };
        let scale = match self.rules.sigma {
            SigmaRule::Margin => alone.scales_of_margin(MARGIN)[0],
            SigmaRule::PerFlow => alone.scales_by_flow(RHO)[0],
            SigmaRule::Theorem => {
                let shares = || self.slots.iter().filter(|slot| slot.quantum > 0.0);
                let flows = shares().map(|slot| reno(slot.delay, slot.quantum)).collect();
                let capacity = if slot.quantum > 0.0 { rate * self.all.quanta / slot.quantum } else { rate };
                let link = Link { capacity, alpha: 2.0, flows };
                let before = self.slots[..number as usize].iter().filter(|slot| slot.quantum > 0.0).count();
                link.scales_of_the_sum(RHO).get(before).copied().unwrap_or(f64::MAX)
            }
        };
        let slot = &mut self.slots[number as usize];
        (slot.scale, slot.scaled_for) = (scale, rate);
        scale
    }

    /// The period ends, in which the elephants had this capacity: Algorithms 1 and 2.
    pub(super) fn end_period(&mut self, now: Time, capacity: f64) {
        for slot in &mut self.slots {
            slot.weight = if slot.is_seen { slot.weight_by(&self.rules) } else { 0.0 };
        }
        let weights: Vec<f64> = self.slots.iter().map(|slot| slot.weight).collect();
        self.observe(&weights);
        match self.rules.coordinator {
            Coordinator::Local => self.solve(&weights),
            Coordinator::Centralised => {}
            Coordinator::Decentralised => self.exchange(capacity),
        }
        for slot in &mut self.slots {
            if !std::mem::take(&mut slot.is_seen) {
                slot.quantum = 0.0;
            }
            slot.scaled_for = 0.0;
        }
        self.flows.end_period();
        self.sum_up();
        self.find_limited(now, capacity);
    }

    /// Flows that sent less than a part of their share; without them the shares of the others are greater.
    fn find_limited(&mut self, now: Time, capacity: f64) {
        self.limited = Sums::default();
        self.slots.iter_mut().for_each(|slot| slot.limited = None);
        loop {
            let Sums { count, quanta, rates, .. } = self.limited;
            let share = (capacity - rates).max(0.0) / (self.all.quanta - quanta).max(f64::MIN_POSITIVE);
            let others = self.slots.iter_mut().filter(|slot| slot.quantum > 0.0 && slot.limited.is_none());
            for slot in others {
                let rate = slot.rate(now, self.rules.packet);
                if rate < LIMITED * share * slot.quantum || slot.is_young {
                    slot.limited = Some(rate);
                    self.limited.add(slot);
                }
            }
            if self.limited.count == count {
                break;
            }
        }
        let grown = || self.slots.iter().filter(|slot| slot.quantum > 0.0 && !slot.is_young);
        self.grown_delay = grown().map(|slot| slot.delay).sum::<f64>() / grown().count().max(1) as f64;
        self.slots.iter_mut().for_each(|slot| (slot.came, slot.kept, slot.since) = (0.0, 0.0, now));
    }

    /// Utility and regret of the period.
    fn observe(&mut self, weights: &[f64]) {
        if self.all.quanta == 0.0 {
            return;
        }
        let rates = self.rates(self.rules.capacity, self.rules.floor);
        let fairness = self.rules.fairness;
        let present = weights.iter().zip(&rates).filter(|(weight, _)| **weight > 0.0);
        let utility: f64 = present.map(|(weight, rate)| weight * fairness.utility(*rate)).sum();
        self.utility = if utility.is_finite() { utility } else { 0.0 };
        self.regret.add(weights, &rates);
        self.regret_value = self.regret.value().filter(|value| value.is_finite()).unwrap_or(0.0);
    }

    /// Q of the flows seen.
    fn solve(&mut self, weights: &[f64]) {
        let seen: Vec<usize> = (0..weights.len()).filter(|slot| weights[*slot] > 0.0).collect();
        if seen.is_empty() {
            return;
        }
        let rates: Vec<f64> = match &mut self.learner {
            Learner::Optimum => {
                let own = seen.iter().map(|slot| weights[*slot]).collect();
                let Ok(problem) = self.rules.problem(own) else { return };
                problem.optimum().rates
            }
            Learner::Online(online) => {
                online.end_period(weights);
                seen.iter().map(|slot| online.rates()[*slot]).collect()
            }
            Learner::PrimalDual(dual) => {
                dual.end_period(weights);
                seen.iter().map(|slot| dual.rates()[*slot]).collect()
            }
        };
        for (slot, rate) in seen.into_iter().zip(rates) {
            self.slots[slot].quantum = rate;
        }
    }

    /// A round of prices: the next one of the link, and Q of the flows seen.
    fn exchange(&mut self, capacity: f64) {
        let Fairness::Alpha(alpha) = self.rules.fairness else { return };
        let flows = self.slots.iter().filter(|slot| slot.weight > 0.0).count();
        if flows == 0 {
            return;
        }
        // A link that has become slower has less than eps for each.
        let floor = self.rules.floor.min(MOST_FLOOR_OF_SLOWER * capacity / flows as f64);
        let before = self.price;
        self.price = self.price_of_round(alpha, (capacity, floor));
        self.has_exchanged = true;
        for number in 0..self.slots.len() {
            let slot = self.slots[number];
            if slot.weight > 0.0 {
                let price = (slot.path.price + self.price - before).max(self.price);
                let rate = math::pow(slot.weight / price, 1.0 / alpha);
                self.slots[number].quantum = rate.clamp(floor, capacity);
            }
        }
    }

    /// The next price of the link, by what its flows demand at the present prices; the first is that of the link alone.
    fn price_of_round(&self, alpha: f64, (capacity, floor): (f64, f64)) -> f64 {
        let flows = || self.slots.iter().filter(|slot| slot.weight > 0.0);
        if !self.has_exchanged {
            let demand: f64 = flows().map(|slot| self.rules.demand(slot.weight)).sum();
            return math::pow(demand / capacity, alpha);
        }
        let mut seen = Seen::default();
        for slot in flows() {
            let price = self.price_of(slot.path);
            let rate = math::pow(slot.weight / price, 1.0 / alpha);
            if rate > floor {
                seen.add(alpha, rate, f64::from(slot.path.links.max(1)), price);
            } else {
                seen.load += floor;
            }
        }
        let least = flows().map(|slot| slot.weight).fold(f64::INFINITY, f64::min);
        let least = LEAST_PART * least * self.rules.fairness.marginal(capacity);
        next_price(self.price, capacity, &seen).max(least)
    }

    /// Rate of every slot as equation (5) gives it of a capacity; `floor` where there is no flow.
    fn rates(&self, capacity: f64, floor: f64) -> Vec<f64> {
        let rate =
            |slot: &Slot| if slot.quantum > 0.0 { capacity * slot.quantum / self.all.quanta } else { floor };
        self.slots.iter().map(rate).collect()
    }

    /// Sum, unit and price of the present weights.
    fn sum_up(&mut self) {
        self.slots.iter_mut().filter(|slot| slot.quantum == 0.0).for_each(|slot| slot.limited = None);
        let present = || self.slots.iter().filter(|slot| slot.quantum > 0.0);
        self.all = Sums::of(present());
        self.limited = Sums::of(present().filter(|slot| slot.limited.is_some()));
        self.young = present().map(Slot::young).sum();
        self.unit = if self.all.count > 0 {
            self.all.quanta / f64::from(self.all.count)
        } else {
            self.rules.capacity
        };
        self.set_price_of_shares();
    }

    /// pi of equation (i), where there is one.
    fn set_price_of_shares(&mut self) {
        self.own_price = self.price_of_rates(self.all.quanta);
        if self.rules.coordinator == Coordinator::Local {
            self.price = self.own_price;
        }
    }

    /// pi at which the flows with shares have so much together, packets/s; 0: there is none.
    fn price_of_rates(&self, total: f64) -> f64 {
        match self.rules.fairness {
            Fairness::Alpha(alpha) if alpha > 0.0 && total > 0.0 => {
                let shares = self.slots.iter().filter(|slot| slot.quantum > 0.0);
                let demand: f64 = shares.map(|slot| self.rules.demand(slot.weight)).sum();
                math::pow(demand / total, alpha)
            }
            _ => 0.0,
        }
    }

    /// Slots with a share, and their w.
    pub(super) fn demands(&self) -> impl Iterator<Item = (u32, f64)> {
        (0..)
            .zip(&self.slots)
            .filter(|(_, slot)| slot.quantum > 0.0)
            .map(|(number, slot)| (number, slot.weight))
    }

    /// Sets Q of flows, whose rates these are in the order of flows; `flow_of` a slot.
    pub(super) fn set_rates(&mut self, rates: &[(FlowId, f64)], flow_of: impl Fn(u32) -> Option<FlowId>) {
        for (number, slot) in (0..).zip(&mut self.slots).filter(|(_, slot)| slot.quantum > 0.0) {
            let place = flow_of(number).map(|flow| rates.binary_search_by_key(&flow, |(flow, _)| *flow));
            if let Some(Ok(place)) = place {
                slot.quantum = rates[place].1;
                slot.scaled_for = 0.0;
            }
        }
        self.sum_up();
    }
}

/// Rate left of a capacity by limited flows of these rates, packets/s.
fn rest(capacity: f64, rates: f64) -> f64 {
    (capacity - rates).max(LEAST_REST * capacity)
}

/// Part of its share below which a flow is limited.
pub(super) const LIMITED: f64 = 0.5;
/// Least part of the price that its flows pay which a new flow takes for the price of the link.
const LEAST_OWN: f64 = 0.01;
/// Part of a slower link that eps of all flows fills at most.
pub(super) const MOST_FLOOR_OF_SLOWER: f64 = 0.5;
/// Phase margin of sigma, degrees.
pub(super) const MARGIN: f64 = 45.0;
/// rho of (23).
pub(super) const RHO: f64 = 1.01;
/// Part of a rate by which it may change under the same sigma.
const SAME_RATE: f64 = 0.05;

#[cfg(test)]
mod tests;
