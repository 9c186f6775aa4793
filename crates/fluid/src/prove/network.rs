//! Congested links of a network: which queues the flows of the certified link fill besides its own.
//!
//! Every link l has a price p_l that is 0 unless the link is full, every class i the window of all the signals on its
//! way, and the rates add up ([`crate::linear::equilibrium`] has W):
//!
//! ```text
//! x_i = n_i W_i(pi_i) / R_i,  1 - pi_i = (1 - loss_i) product over its links of (1 - p_l)    (1)
//! p_l >= 0,  y_l = sum of x_i over what crosses l <= C_l,  p_l (C_l - y_l) = 0            (2)
//! ```
//!
//! That is the optimum of a concave problem and its dual (S. H. Low and D. E. Lapsley, "Optimization flow control, I",
//! IEEE/ACM ToN 7(6), 1999), so that raising one price at a time until its link is just full leads there. The links that
//! are raised begin with the fullest; one whose price falls to 0 leaves them. Queues of full links count in R_i, at the
//! targets of their laws; those without a target count as empty.

use super::{Own, Setting, words};
use crate::linear::equilibrium::Class;
use crate::plant::Sender;
use crate::read::traffic;
use sojourn_scenario::{Flows, Scenario};
use sojourn_units::Fault;

/// Load of the links about the certified one, and which of them are full with it.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// The links that are full together with the certified one, that one among them, by name.
    pub(super) together: Vec<String>,
    /// Every other link with a disc: its name, and what data bring of its rate.
    pub(super) others: Vec<(String, f64)>,
    /// The link that the ACKs of these flows fill, data on it included: its name, and what comes of its rate.
    pub(super) acks: Option<(String, f64)>,
}

/// Loads of the links that the certified one's flows reach; a fault where another link holds them back. None where the
/// rates take too many evaluations.
pub(super) fn loads(
    scenario: &Scenario,
    setting: &Setting,
    own: Option<&Own>,
) -> Result<Option<Loads>, Fault> {
    let mut net = Net::about(scenario, setting, own);
    let Some(prices) = net.prices() else { return Ok(None) };
    let here = net.place(setting.number);
    let name = |place: usize| scenario.topology.links[net.links[place].number].name.clone();
    let full: Vec<usize> = (0..net.links.len()).filter(|place| prices[*place] > 0.0).collect();
    // A link that no data cross has no queue whoever is full.
    if !full.contains(&here) && !net.links[here].data.is_empty() {
        let neighbours = net.together(here, &full);
        if let Some(&fullest) = neighbours.iter().find(|place| **place != here) {
            let what = format!(
                "{} holds these flows back: they load it to {}, so that it has no queue; expected: a link that is full",
                name(fullest),
                words::percent(net.load(here, &prices)),
            );
            return Err(Fault::new(&setting.name, what));
        }
    }
    let mut together = net.together(here, &full);
    together.sort_unstable_by_key(|place| net.links[*place].number);
    let others = (0..net.links.len()).filter(|place| {
        let number = net.links[*place].number;
        *place != here && scenario.topology.links[number].disc.is_some() && net.is_crossed(*place)
    });
    let acks = (0..net.links.len()).map(|place| (place, net.load_with_acks(place, &prices)));
    let acks = acks.filter(|(place, load)| *load > FULL && !full.contains(place) && *place != here);
    Ok(Some(Loads {
        together: together.into_iter().map(name).collect(),
        others: others.map(|place| (name(place), net.load(place, &prices))).collect(),
        acks: acks.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(place, load)| (name(place), load)),
    }))
}

/// Links and classes that are joined by ways.
struct Net {
    links: Vec<At>,
    classes: Vec<Way>,
    evaluations: u64,
}

/// A link.
struct At {
    /// Its number in the scenario.
    number: usize,
    /// Its queueing delay while it is full, s.
    delay: f64,
    /// The classes whose data cross it, those whose ACKs do.
    data: Vec<usize>,
    back: Vec<usize>,
}

/// A class on its way.
struct Way {
    class: Class,
    /// Packets/s of each flow: of TCP at most, of others always.
    sends: Sender,
    /// By link of its way: what a packet/s takes of the link's rate; and an ACK of the way back.
    data: Vec<(usize, f64)>,
    back: Vec<(usize, f64)>,
}

impl Net {
    /// The links and classes that the certified link's flows reach, over links that other flows share.
    fn about(scenario: &Scenario, setting: &Setting, own: Option<&Own>) -> Net {
        let ways = |flows: &Flows| -> Vec<usize> { flows.route.iter().chain(&flows.back).copied().collect() };
        let sends = |flows: &&Flows| flows.is_long_lived() || !flows.app.is_tcp();
        let all: Vec<&Flows> = scenario.flows.iter().filter(sends).collect();
        let mut numbers = vec![setting.number];
        let mut joined = vec![false; all.len()];
        let mut looked_at = 0;
        while let Some(&number) = numbers.get(looked_at) {
            looked_at += 1;
            for (place, flows) in all.iter().enumerate() {
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
        let delay = |number: usize| queueing(scenario, number, own);
        let links =
            numbers.iter().map(|&number| At { number, delay: delay(number), data: vec![], back: vec![] });
        let mut net = Net { links: links.collect(), classes: Vec::new(), evaluations: 0 };
        for flows in all.iter().zip(joined).filter_map(|(flows, joined)| joined.then_some(flows)) {
            net.add(scenario, flows);
        }
        net
    }

    fn add(&mut self, scenario: &Scenario, flows: &Flows) {
        let of = traffic::class(scenario, flows, &[]);
        let law = match of.sender {
            Sender::Tcp(law, _) => law,
            Sender::Constant(_) => scenario.fluid.window,
        };
        let count = f64::from(flows.count);
        let class = Class { flows: count, base_rtt: of.base_rtt, size: 1.0, ecn: of.ecn, law, loss: of.loss };
        let share = |net: &Net, number: usize, bytes: f64| {
            let capacity = traffic::capacity(&scenario.topology.links[number], bytes);
            (net.place(number), 1.0 / capacity)
        };
        let data = flows.route.iter().map(|number| share(self, *number, of.packet)).collect();
        let back = flows.back.iter().map(|number| share(self, *number, traffic::HEADER));
        let each = f64::from(if flows.profile.delayed_ack { flows.profile.ack_every.max(1) } else { 1 });
        let back = back.map(|(place, share)| (place, share / each)).collect();
        let way = Way { class, sends: of.sender, data, back };
        let number = self.classes.len();
        way.data.iter().for_each(|(place, _)| self.links[*place].data.push(number));
        way.back.iter().for_each(|(place, _)| self.links[*place].back.push(number));
        self.classes.push(way);
    }

    /// The place of a link of the scenario.
    fn place(&self, number: usize) -> usize {
        self.links.partition_point(|link| link.number < number)
    }

    /// Whether data or ACKs cross it.
    fn is_crossed(&self, place: usize) -> bool {
        !self.links[place].data.is_empty() || !self.links[place].back.is_empty()
    }

    /// Equation (2); none where it takes too many evaluations.
    fn prices(&mut self) -> Option<Vec<f64>> {
        let mut prices = vec![0.0; self.links.len()];
        let mut full: Vec<usize> = Vec::new();
        for _ in 0..=2 * self.links.len() {
            let open = (0..self.links.len()).filter(|place| !full.contains(place));
            let loads: Vec<(usize, f64)> = open.map(|place| (place, self.load(place, &prices))).collect();
            // Of links that are as full the first, which the others are behind.
            let most = loads.iter().map(|(_, load)| *load).fold(FULL, f64::max);
            let Some((fullest, _)) =
                loads.iter().find(|(_, load)| *load > FULL && *load >= most * (1.0 - ALIKE))
            else {
                return Some(prices);
            };
            full.push(*fullest);
            self.settle(&full, &mut prices)?;
            full.retain(|place| prices[*place] > 0.0);
        }
        Some(prices)
    }

    /// Raises or lowers the prices of the full links, one after another, until none moves.
    fn settle(&mut self, full: &[usize], prices: &mut [f64]) -> Option<()> {
        for _ in 0..SWEEPS {
            let mut moved = 0.0_f64;
            for &place in full {
                let before = prices[place];
                prices[place] = self.price(place, prices);
                moved = moved
                    .max((prices[place] - before).abs() / before.max(prices[place]).max(f64::MIN_POSITIVE));
                if self.evaluations > EVALUATIONS {
                    return None;
                }
            }
            if moved < SETTLED {
                break;
            }
        }
        Some(())
    }

    /// The price at which a link is just full, the others' given; 0 where it never is.
    fn price(&mut self, place: usize, prices: &mut [f64]) -> f64 {
        prices[place] = 0.0;
        let crossed: usize = self.links[place].data.iter().map(|class| self.classes[*class].data.len()).sum();
        self.evaluations += crossed as u64 * u64::from(BISECTIONS);
        if self.load(place, prices) <= 1.0 {
            return 0.0;
        }
        // By the logarithm: prices are small.
        let (mut low, mut high) = (LEAST_PRICE, 1.0_f64);
        for _ in 0..BISECTIONS {
            let middle = (low * high).sqrt();
            prices[place] = middle;
            if self.load(place, prices) > 1.0 { low = middle } else { high = middle }
        }
        high
    }

    /// What data bring of a link's rate.
    fn load(&self, place: usize, prices: &[f64]) -> f64 {
        self.links[place]
            .data
            .iter()
            .map(|class| self.classes[*class].brings(place, prices, &self.links))
            .sum()
    }

    /// The same with the ACKs that cross it.
    fn load_with_acks(&self, place: usize, prices: &[f64]) -> f64 {
        let acks = self.links[place].back.iter().map(|class| {
            let way = &self.classes[*class];
            let share: f64 = way.back.iter().filter(|(at, _)| *at == place).map(|(_, share)| share).sum();
            let let_in: f64 = way.data.iter().map(|(at, _)| way.passes(prices[*at])).product();
            way.rate(prices, &self.links) * let_in * share
        });
        self.load(place, prices) + acks.sum::<f64>()
    }

    /// The full links whose queues move one another: neighbours are crossed by a class of TCP, its ACKs included.
    fn together(&self, here: usize, full: &[usize]) -> Vec<usize> {
        let mut found = vec![here];
        let mut looked_at = 0;
        while let Some(&place) = found.get(looked_at) {
            looked_at += 1;
            for class in self.links[place].data.iter().chain(&self.links[place].back) {
                let way = &self.classes[*class];
                if !matches!(way.sends, Sender::Tcp(..)) {
                    continue;
                }
                for (other, _) in way.data.iter().chain(&way.back) {
                    if full.contains(other) && !found.contains(other) {
                        found.push(*other);
                    }
                }
            }
        }
        found
    }
}

impl Way {
    /// Packets/s of all its flows, equation (1).
    fn rate(&self, prices: &[f64], links: &[At]) -> f64 {
        let each = match self.sends {
            Sender::Constant(rate) => rate,
            Sender::Tcp(_, most) => {
                let passed: f64 = self.data.iter().map(|(place, _)| 1.0 - prices[*place]).product();
                let waits = self.data.iter().chain(&self.back);
                let waits =
                    waits.filter(|(place, _)| prices[*place] > 0.0).map(|(place, _)| links[*place].delay);
                let rtt = self.class.base_rtt + waits.sum::<f64>();
                (self.class.window(1.0 - passed).max(1.0) / rtt).min(most)
            }
        };
        self.class.flows * each
    }

    /// What it brings of a link's rate: what links before it drop does not come.
    fn brings(&self, place: usize, prices: &[f64], links: &[At]) -> f64 {
        let mut comes = self.rate(prices, links);
        let mut share = 0.0;
        for (at, one) in &self.data {
            comes *= self.passes(prices[*at]);
            if *at == place {
                share += comes * one;
            }
        }
        share
    }

    /// theta at a price.
    fn passes(&self, price: f64) -> f64 {
        if self.class.ecn { 1.0 } else { 1.0 - price }
    }
}

/// The queueing delay of a link while it is full, at its law's target; 0 where it has none.
fn queueing(scenario: &Scenario, number: usize, own: Option<&Own>) -> f64 {
    let link = &scenario.topology.links[number];
    let site = scenario.site(number);
    let own = own.and_then(|own| own.at(scenario, number));
    let law = own.or_else(|| link.disc.as_ref().and_then(|disc| disc.law_at(&site).ok()));
    let target = law.and_then(|law| law.target_packets()).unwrap_or(0.0);
    target / traffic::capacity(link, site.packet)
}

/// The load from which on a link is full.
const FULL: f64 = 1.0 + 1e-6;
/// Loads that differ by less are one.
const ALIKE: f64 = 1e-9;
/// The least price that is looked for, and the halvings of its logarithm.
const LEAST_PRICE: f64 = 1e-18;
const BISECTIONS: u32 = 60;
/// Rounds of raising prices, and what is no move, by the price.
const SWEEPS: usize = 500;
const SETTLED: f64 = 1e-9;
/// Evaluations of a class at a link that the rates may take.
pub(super) const EVALUATIONS: u64 = 20_000_000;
