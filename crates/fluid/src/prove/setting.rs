//! A scenario's link as the linear analysis has it, and what keeps it from being one.

use super::words;
use crate::linear::equilibrium::{Class, Link, Signal};
use crate::plant::{self, Sender};
use crate::read::traffic::{self, Model};
use sojourn_aqm::Site;
use sojourn_scenario::{Flows, Scenario};
use sojourn_units::Fault;

/// A link, its traffic, and their names.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What the link is called.
    pub name: String,
    /// The link and the flows that answer.
    pub link: Link,
    /// The names of those classes, and what each flow can send at most, packets/s of its own.
    pub classes: Vec<(String, f64)>,
    /// What a law may know there.
    pub site: Site,
    /// The disc's number among the links.
    pub(super) number: usize,
    /// Whether the scenario changes something during the run.
    pub(super) changes: bool,
}

impl Setting {
    /// The link called `named`, or else the only one that may be congested.
    pub fn of(scenario: &Scenario, named: Option<&str>) -> Result<Setting, Fault> {
        let number = chosen(scenario, named)?;
        let at = &scenario.topology.links[number];
        let site = scenario.site(number);
        let mut setting = Setting {
            name: at.name.clone(),
            link: Link {
                capacity: traffic::capacity(at, site.packet),
                signal: Signal::Mark,
                unresponsive: [0.0; 2],
                classes: Vec::new(),
            },
            classes: Vec::new(),
            site,
            number,
            changes: !scenario.at.is_empty(),
        };
        for (place, flows) in scenario.flows.iter().enumerate() {
            if flows.route.contains(&number) {
                modelled(scenario, place, flows)?;
                setting.add(flows, &traffic::class(scenario, flows, &[number]));
            }
        }
        Ok(setting)
    }

    /// N, all flows that answer.
    pub fn flows(&self) -> f64 {
        self.link.classes.iter().map(|class| class.flows).sum()
    }

    /// Their mean round-trip time without queueing, s.
    pub fn base_rtt(&self) -> f64 {
        self.mean(self.link.classes.iter().map(|class| class.base_rtt))
    }

    /// Whether the textbook's plant is of this traffic: one class, over wires that lose nothing.
    pub(super) fn is_textbook(&self) -> bool {
        let Link { classes, unresponsive, .. } = &self.link;
        classes.len() == 1 && classes[0].loss == 0.0 && *unresponsive == [0.0; 2]
    }

    /// The mean over flows of what each class has.
    pub(super) fn mean(&self, of: impl Iterator<Item = f64>) -> f64 {
        let sum: f64 = self.link.classes.iter().zip(of).map(|(class, value)| class.flows * value).sum();
        sum / self.flows()
    }

    /// The same traffic with `flows` flows at a mean round trip of `base_rtt`: every class by the same factors.
    pub(super) fn scaled(&self, at: [f64; 2]) -> Link {
        let factors = self.factors(at);
        let mut link = self.link.clone();
        for class in &mut link.classes {
            class.flows *= factors[0];
            class.base_rtt *= factors[1];
        }
        link
    }

    /// What the flows and the round trips are multiplied by there.
    pub(super) fn factors(&self, [flows, base_rtt]: [f64; 2]) -> [f64; 2] {
        [flows / self.flows(), base_rtt / self.base_rtt()]
    }

    fn add(&mut self, flows: &Flows, of: &plant::Class) {
        let (size, count) = (of.packet / self.site.packet, f64::from(flows.count));
        match of.sender {
            Sender::Constant(each) => {
                self.link.unresponsive[usize::from(!of.ecn)] += count * size * each;
            }
            Sender::Tcp(law, most) => {
                let (base_rtt, ecn, loss) = (of.base_rtt, of.ecn, of.loss);
                self.link.classes.push(Class { flows: count, base_rtt, size, ecn, law, loss });
                self.classes.push((flows.name.clone(), most));
            }
        }
    }
}

/// Refuses flows that have no linear model, or cross a link that has none.
fn modelled(scenario: &Scenario, place: usize, flows: &Flows) -> Result<(), Fault> {
    let of_flows = Model::Linear.faults_of_flows(flows).into_iter();
    let of_flows = of_flows.map(|fault| fault.inside(&format!("flows[{place}]")));
    let links = flows.route.iter().chain(&flows.back).map(|number| &scenario.topology.links[*number]);
    let of_links = links.flat_map(|link| Model::Linear.faults_of_link(link));
    of_flows.chain(of_links).next().map_or(Ok(()), Err)
}

/// The links that may be congested, by name: those with a law that flows which answer cross, and whose law is not
/// fixed, where there are such.
pub(super) fn crossed(scenario: &Scenario) -> Vec<&str> {
    let (crossed, free) = crossed_and_free(scenario);
    let numbers = if free.len() == 1 { free } else { crossed };
    numbers.into_iter().map(|number| scenario.topology.links[number].name.as_str()).collect()
}

/// The numbers of the links with a law that flows which answer cross, and of those among them whose law may be replaced.
fn crossed_and_free(scenario: &Scenario) -> (Vec<usize>, Vec<usize>) {
    let crossing = scenario.crossing();
    let answers = |class: &u32| scenario.flows[*class as usize].app.is_tcp();
    let topology = &scenario.topology;
    let crossed: Vec<usize> =
        topology.managed().filter(|number| crossing[*number].iter().any(answers)).collect();
    let free = crossed.iter().copied().filter(|number| !topology.links[*number].is_fixed).collect();
    (crossed, free)
}

/// The link that is asked about.
fn chosen(scenario: &Scenario, named: Option<&str>) -> Result<usize, Fault> {
    let topology = &scenario.topology;
    let name = |number: &usize| topology.links[*number].name.as_str();
    if let Some(named) = named {
        let all: Vec<&str> = topology.managed().map(|number| topology.links[number].name.as_str()).collect();
        return topology.managed().find(|number| name(number) == named).ok_or_else(|| {
            let hint = sojourn_units::did_you_mean(named, all.iter().copied());
            let what = format!("\"{named}\" is no link with a disc{hint} (legal: {})", all.join(", "));
            Fault::new("", what)
        });
    }
    let (crossed, free) = crossed_and_free(scenario);
    match (crossed.as_slice(), free.as_slice()) {
        ([only], _) | (_, [only]) => Ok(*only),
        ([], _) => {
            Err(Fault::new("flows", "no flow that answers crosses a link with a disc; legal: one or more"))
        }
        (several, _) => {
            let names: Vec<&str> = several.iter().map(name).collect();
            let what = format!(
                "{} links may be congested, and a certificate is of one; legal: --link with one of {}",
                names.len(),
                names.join(", ")
            );
            Err(Fault::new("links", what))
        }
    }
}

impl Setting {
    /// What a class is called.
    pub fn class(&self, place: usize) -> &str {
        &self.classes[place].0
    }

    /// What wires lose, in words; none where they lose nothing.
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
