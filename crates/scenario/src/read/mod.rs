//! Parses the text of a file into a checked scenario.

mod apps;
mod changes;
mod flows;
mod links;
mod names;
mod packets;
mod reader;
mod routes;
mod strays;
mod udp;

pub use reader::Files;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::fluid::Fluid;
use crate::keys::Title;
use crate::scenario::Scenario;
use crate::series::MOST_CROSSINGS;
use crate::tree::{self, Node};
use reader::{Reader, Section};
use sojourn_units::Span;
use std::rc::Rc;

impl Scenario {
    /// Reads and checks a scenario file; errors call the file `name`.
    ///
    /// `overrides` are dotted keys with TOML values, `("bottleneck.rate", "\"6 Mbit/s\"")`;
    /// a bare word that is not a TOML value is a string.
    pub fn parse(text: &[u8], name: &str, overrides: &[(String, String)]) -> Result<Scenario, Diagnostics> {
        let none = |_: &str| Err("is not there: this text has no files beside it".to_string());
        Scenario::parse_beside(text, name, overrides, &(Rc::new(none) as Files))
    }

    /// The same for a scenario that names other files, read by `files`.
    pub fn parse_beside(
        text: &[u8],
        name: &str,
        overrides: &[(String, String)],
        files: &Files,
    ) -> Result<Scenario, Diagnostics> {
        let (tree, diagnostics) = tree::parse(text, name, overrides)?;
        let shown = tree::readable(text).unwrap_or_default();
        checked(&tree, diagnostics, files).map_err(|diagnostics| Diagnostics::of(name, shown, diagnostics))
    }
}

/// The scenario, or all errors, `diagnostics` included.
fn checked(root: &Node, diagnostics: Vec<Diagnostic>, files: &Files) -> Result<Scenario, Vec<Diagnostic>> {
    let mut reader =
        Reader { diagnostics, files: Rc::clone(files), end: None, lost: strays::lost_table(root) };
    match reader.scenario(root) {
        Some(scenario) if reader.diagnostics.is_empty() => Ok(scenario),
        _ => Err(reader.diagnostics),
    }
}

impl Reader {
    fn scenario(&mut self, root: &Node) -> Option<Scenario> {
        let top = self.section("", "", root)?;
        let duration = top.get::<Span>("duration");
        self.end = duration;
        let groups = self.groups(&top);
        let network = self.network(&top, &groups);
        let class_name = self.class_name(&groups, network.as_ref());
        let (mut flows, mut read, mut number) = (Vec::new(), 0, 0);
        for (group, class_name) in groups.iter().zip(class_name) {
            let classes = self.classes(group, class_name, network.as_ref(), duration);
            read += usize::from(classes.is_some());
            for class in classes.into_iter().flatten() {
                self.check_number(group, &class, &mut number);
                flows.push(class);
            }
        }
        let warmup = self.within_run(&top, "warmup", duration);
        let sample = self.sample(&top, duration);
        let whole = network.as_ref().filter(|_| !groups.is_empty() && read == groups.len());
        let mut scenario = whole.and_then(|network| {
            let Title(title) = top.get("title")?;
            let topology = network.topology.clone();
            let (duration, at) = (duration?, Vec::new());
            let fluid = Fluid { window: top.get("fluid_window")?, step: top.get("fluid_step") };
            Some(Scenario { title, duration, warmup: warmup?, sample, fluid, topology, flows, at })
        });
        self.qdiscs(network, &mut scenario);
        if let Some(scenario) = &scenario {
            self.check_size(&top, scenario);
        }
        self.changes(&top, &groups, duration, &mut scenario);
        scenario
    }

    fn sample(&mut self, top: &Section<'_>, duration: Option<Span>) -> Option<Span> {
        let (sample, duration) = (top.get::<Span>("sample")?, duration?);
        let shortest = Span::from_nanos(duration.nanos().div_ceil(MOST_SAMPLES));
        if sample < shortest || sample > duration {
            let message =
                format!("{sample} is out of range; expected {shortest} to the duration of {duration}");
            self.refuse(top, "sample", &message);
            return None;
        }
        Some(sample)
    }

    /// Bounds the size of results: a class has a row at each link that it crosses, and a link its series.
    fn check_size(&mut self, top: &Section<'_>, scenario: &Scenario) {
        let crossings = scenario.crossings();
        if crossings > MOST_CROSSINGS {
            let message = format!(
                "the data of {} classes cross links with qdiscs {crossings} times in all, and each time has a row; \
                 expected {MOST_CROSSINGS} times at most: one class of count = N instead of many alike",
                scenario.flows.len()
            );
            self.refuse(top, "flows", &message);
        }
        let shortest = scenario.shortest_step();
        if let Some(sample) = scenario.sample.filter(|sample| *sample < shortest) {
            let message = format!(
                "{sample} is too short for the series of so many links; expected {shortest} to the duration of {}",
                scenario.duration
            );
            self.refuse(top, "sample", &message);
        }
    }
}

/// Steps of the series.
const MOST_SAMPLES: u64 = 1_000_000;
