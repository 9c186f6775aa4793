//! A scenario's link in the form of the linear analysis, and the features that it does not cover.

use super::words;
use crate::linear::equilibrium::{Class, Link, Signal};
use crate::plant::{self, Sender, Window};
use crate::read::parts;
use crate::read::traffic::{self, ModelKind};
use crate::response::Control;
use sojourn_aqm::LinkContext;
use sojourn_params::{ErrorKind, InputError};
use sojourn_scenario::{Datagrams, Flows, Scenario, Source, Traffic};
use std::ops::Range;

/// A link, its traffic, and their names.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Name of the link.
    pub name: String,
    /// The link and its responsive flows.
    pub link: Link,
    /// Names of those classes, and the highest rate of each flow, packets/s of its own.
    pub classes: Vec<(String, f64)>,
    /// Half of the range of the base RTTs in each of them, by their mean.
    pub spreads: Vec<f64>,
    /// Context of a law there.
    pub context: LinkContext,
    /// Datagrams that arrive at random: sum of the squares of their mean sizes, packets^2/s of the link, without the variance
    /// of sizes that are drawn; of those that can be marked, and of others.
    pub random_arrivals: [f64; 2],
    /// Number of the qdisc's link.
    pub(super) number: usize,
    /// True if the scenario changes something during the run.
    pub(super) changes: bool,
}

impl Setting {
    /// Setting of the link called `named`, or else of the only one that may be congested.
    pub fn of(scenario: &Scenario, named: Option<&str>) -> Result<Setting, InputError> {
        let number = chosen(scenario, named)?;
        let at = &scenario.topology.links[number];
        let context = scenario.context(number);
        let mut setting = Setting {
            name: at.name.clone(),
            link: Link {
                capacity: capacity(at, context.packet),
                signal: Signal::Mark,
                unresponsive: [0.0; 2],
                classes: Vec::new(),
            },
            classes: Vec::new(),
            spreads: Vec::new(),
            context,
            random_arrivals: [0.0; 2],
            number,
            changes: !scenario.at.is_empty(),
        };
        for (place, flows) in scenario.flows.iter().enumerate() {
            if flows.route.contains(&number) {
                modelled(scenario, place, flows)?;
                setting.add(scenario, flows, &traffic::class(scenario, flows, &[number]));
            }
        }
        Ok(setting)
    }

    /// N, all responsive flows.
    pub fn flows(&self) -> f64 {
        self.link.classes.iter().map(|class| class.flows).sum()
    }

    /// Mean base RTT, s.
    pub fn base_rtt(&self) -> f64 {
        self.mean(self.link.classes.iter().map(|class| class.base_rtt))
    }

    /// True if it has calibrated windows.
    pub(super) fn is_calibrated(&self) -> bool {
        self.link.classes.iter().any(|class| matches!(class.law, Window::Calibrated(_)))
    }

    /// True if the traffic is the textbook's: one class of Reno, whose windows are halved, over lossless links.
    pub(super) fn is_textbook(&self) -> bool {
        let Link { classes, unresponsive, .. } = &self.link;
        let halves = |law| match law {
            Window::Calibrated(response) => {
                matches!(response.rules().control, Control::Reno { keeps } if keeps <= 0.5)
            }
            Window::Mgt | Window::Full => true,
        };
        classes.len() == 1 && halves(classes[0].law) && classes[0].loss == 0.0 && *unresponsive == [0.0; 2]
    }

    /// Mean over flows of a value of each class.
    pub(super) fn mean(&self, of: impl Iterator<Item = f64>) -> f64 {
        let sum: f64 = self.link.classes.iter().zip(of).map(|(class, value)| class.flows * value).sum();
        sum / self.flows()
    }

    /// The same traffic with `flows` flows at a mean base RTT of `base_rtt`: every class by the same factors.
    pub(super) fn scaled(&self, at: [f64; 2]) -> Link {
        let factors = self.factors(at);
        let mut link = self.link.clone();
        for class in &mut link.classes {
            class.flows *= factors[0];
            class.base_rtt *= factors[1];
        }
        link
    }

    /// Factors of the flows and of the round trips there.
    pub(super) fn factors(&self, [flows, base_rtt]: [f64; 2]) -> [f64; 2] {
        [flows / self.flows(), base_rtt / self.base_rtt()]
    }

    /// Splits calibrated classes whose flows are spread over round trips, where one of the mean would mislead.
    pub(super) fn split_by_rtt(&mut self, scenario: &Scenario) {
        if !self.is_calibrated() {
            return;
        }
        (self.link.unresponsive, self.random_arrivals) = ([0.0; 2], [0.0; 2]);
        self.link.classes.clear();
        self.classes.clear();
        self.spreads.clear();
        let number = self.number;
        for flows in scenario.flows.iter().filter(|flows| flows.route.contains(&number)) {
            let of = traffic::class(scenario, flows, &[self.number]);
            self.add_parts(scenario, flows, &of);
        }
    }

    /// Adds the parts of a class.
    pub(super) fn add_parts(&mut self, scenario: &Scenario, flows: &Flows, of: &plant::Class) {
        for part in parts::flows(scenario, flows, &of.sender) {
            let base_rtt = parts::base_rtt(scenario, flows, part.clone());
            self.add_some(scenario, (flows, part), &plant::Class { base_rtt, ..of.clone() });
        }
    }

    pub(super) fn add(&mut self, scenario: &Scenario, flows: &Flows, of: &plant::Class) {
        self.add_some(scenario, (flows, 0..flows.count), of);
    }

    /// Adds some flows of a class.
    fn add_some(&mut self, scenario: &Scenario, (flows, part): (&Flows, Range<u32>), of: &plant::Class) {
        let (size, count) = (of.packet / self.context.packet, f64::from(part.end - part.start));
        match of.sender {
            Sender::Constant(each) => {
                self.link.unresponsive[usize::from(!of.ecn)] += count * size * each;
                if is_poisson(flows) {
                    self.random_arrivals[usize::from(!of.ecn)] += count * size * size * each;
                }
            }
            Sender::Tcp(law, most) => {
                let (base_rtt, ecn, loss) = (of.base_rtt, of.ecn, of.loss);
                self.link.classes.push(Class { flows: count, base_rtt, size, ecn, law, loss });
                self.classes.push((flows.name.clone(), most));
                self.spreads.push(spread(scenario, flows, part));
            }
        }
    }
}

/// Half of the range of the base RTTs of some flows of a class, by their mean.
fn spread(scenario: &Scenario, flows: &Flows, part: Range<u32>) -> f64 {
    if part.is_empty() {
        return 0.0;
    }
    let of = |flow| scenario.mean_base_rtt_of(flows, flow..flow + 1);
    let [first, last] = [part.start, part.end - 1].map(of);
    (last - first).abs() / (first + last)
}

/// Flows and mean base RTT, s, of the parts of a class.
pub(super) fn parts(scenario: &Scenario, flows: &Flows, of: &plant::Class) -> Vec<(u32, f64)> {
    let part = |part: Range<u32>| (part.end - part.start, parts::base_rtt(scenario, flows, part));
    parts::flows(scenario, flows, &of.sender).into_iter().map(part).collect()
}

/// True of datagrams at independent times.
fn is_poisson(flows: &Flows) -> bool {
    matches!(flows.traffic(), Traffic::Datagrams(Datagrams { source: Source::Poisson(_), .. }))
}

/// C of a link behind its shaper, packets/s of this size.
pub(super) fn capacity(link: &sojourn_scenario::Link, packet: f64) -> f64 {
    let shaped = link.qdisc.as_ref().map_or(f64::INFINITY, |qdisc| qdisc.shaped_capacity(packet));
    traffic::capacity(link, packet).min(shaped)
}

/// Error of flows without a linear model, or across a link without one.
fn modelled(scenario: &Scenario, place: usize, flows: &Flows) -> Result<(), InputError> {
    let of_flows = ModelKind::Linear.errors_of_flows(flows, scenario.fluid.window).into_iter();
    let of_flows = of_flows.map(|error| error.at(&format!("flows[{place}]")));
    let links = flows.route.iter().chain(&flows.back).map(|number| &scenario.topology.links[*number]);
    let of_links = links.flat_map(|link| ModelKind::Linear.errors_of_link(link));
    of_flows.chain(of_links).next().map_or(Ok(()), Err)
}

/// Links that may be congested, by name: those with a law that responsive flows cross; of these the replaceable one,
/// if it is the only one.
pub(super) fn crossed(scenario: &Scenario) -> Vec<&str> {
    let (crossed, free) = crossed_and_free(scenario);
    let numbers = if free.len() == 1 { free } else { crossed };
    numbers.into_iter().map(|number| scenario.topology.links[number].name.as_str()).collect()
}

/// Numbers of the links with a law that responsive flows cross, and of those among them whose law may be replaced.
fn crossed_and_free(scenario: &Scenario) -> (Vec<usize>, Vec<usize>) {
    let crossing = scenario.crossing();
    let answers = |class: &u32| scenario.flows[*class as usize].app.is_tcp();
    let topology = &scenario.topology;
    let crossed: Vec<usize> =
        topology.managed().filter(|number| crossing[*number].iter().any(answers)).collect();
    let free = crossed.iter().copied().filter(|number| !topology.links[*number].is_fixed).collect();
    (crossed, free)
}

/// Number of the requested link.
fn chosen(scenario: &Scenario, named: Option<&str>) -> Result<usize, InputError> {
    let topology = &scenario.topology;
    let name = |number: &usize| topology.links[*number].name.as_str();
    if let Some(named) = named {
        let all: Vec<&str> = topology.managed().map(|number| topology.links[number].name.as_str()).collect();
        return topology
            .managed()
            .find(|number| name(number) == named)
            .ok_or_else(|| InputError::unknown_name(named, "is no link with a qdisc", all));
    }
    let (crossed, free) = crossed_and_free(scenario);
    match (crossed.as_slice(), free.as_slice()) {
        ([only], _) | (_, [only]) => Ok(*only),
        ([], _) => {
            let problem = "no responsive flow crosses a link with a qdisc";
            Err(InputError::new(ErrorKind::Missing, problem, "one or more").at("flows"))
        }
        (several, _) => {
            let names: Vec<&str> = several.iter().map(name).collect();
            let problem = format!("{} links may be congested, and a certificate is of one", names.len());
            let expected = format!("--link with one of {}", names.join(", "));
            Err(InputError::new(ErrorKind::Conflict, problem, expected).at("links"))
        }
    }
}

impl Setting {
    /// Name of a class.
    pub fn class(&self, place: usize) -> &str {
        &self.classes[place].0
    }

    /// Loss of links, in words; none where they lose nothing.
    pub(super) fn lost(&self) -> Option<String> {
        let lossy = self.link.classes.iter().zip(&self.classes).filter(|(class, _)| class.loss > 0.0);
        let each = lossy.map(|(class, (name, _))| {
            format!("{} % of the packets of {name}", words::short(100.0 * class.loss))
        });
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| words::listed(&each))
    }

    /// The traffic in words.
    pub(super) fn traffic(&self) -> String {
        let each = self.link.classes.iter().zip(&self.classes).map(|(class, (name, _))| {
            format!("{} of {name} over {}", words::count(class.flows, "flow"), words::time(class.base_rtt))
        });
        words::listed(&each.collect::<Vec<_>>())
    }
}
