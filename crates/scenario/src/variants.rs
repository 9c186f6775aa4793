//! The same scenario under another qdisc or another congestion control.

use crate::changes::Setting;
use crate::diagnostics::{Diagnostics, unknown_name};
use crate::scenario::{Flows, Scenario};
use sojourn_aqm::{Place, QdiscSpec};
use sojourn_params::{InputError, Path};
use sojourn_tcp::cc::Choice;

impl Scenario {
    /// The same scenario under another qdisc, written as `"red:min=50packets,max=150packets"`, on every link that has one;
    /// a link with a buffer alone keeps its own.
    ///
    /// Its errors name no file or flag.
    pub fn with_qdisc(&self, spec: &str) -> Result<Scenario, Diagnostics> {
        let qdisc = QdiscSpec::parse(spec).map_err(|errors| Diagnostics::of_spec(spec, errors))?;
        let (mut scenario, contexts) = (self.clone(), self.contexts());
        let several = self.topology.replaceable().nth(1).is_some();
        // Where several links have one, the error names the link.
        let refused = |number: usize, error: InputError| {
            let link = &self.topology.links[number].name;
            Diagnostics::of_argument([if several { error.at(link) } else { error }])
        };
        for number in self.topology.replaceable() {
            let classes = self.classes_at(number);
            let designed = qdisc.clone().at(&Place { context: contexts[number], classes: &classes });
            let designed = designed.map_err(|error| refused(number, error.at(qdisc.name())))?;
            scenario.topology.links[number].qdisc = Some(designed);
        }
        let not_taken = |number: usize, change: usize, error: InputError| {
            let named = if error.key.is_empty() { String::new() } else { format!(": {}", error.key) };
            let error = error.after(&format!("does not take the change at {}{named}", self.at[change].time));
            refused(number, InputError { key: Path::default(), ..error }.at(qdisc.name()))
        };
        for (place, change) in self.at.iter().enumerate() {
            let Setting::Law(number, given) = &change.set else { continue };
            if !self.topology.links[*number].is_fixed {
                let taken = qdisc
                    .taking(given)
                    .map_err(|errors| not_taken(*number, place, errors.first().clone()))?;
                scenario.at[place].set = Setting::Law(*number, taken);
            }
        }
        let mut work = 0;
        for number in self.topology.replaceable() {
            if let Some((change, error)) = scenario.refused_change(number, &mut work) {
                return Err(not_taken(number, change, error));
            }
        }
        Ok(scenario)
    }

    /// The same scenario, in which only the qdisc of this link is replaceable, even one that exists for its buffer
    /// alone.
    ///
    /// Its error names no file or flag.
    pub fn at_link(&self, name: &str) -> Result<Scenario, Diagnostics> {
        let Some(meant) = self.topology.managed().find(|number| self.topology.links[*number].name == name)
        else {
            let managed = self.topology.managed();
            let names: Vec<&str> = managed.map(|number| self.topology.links[number].name.as_str()).collect();
            // `back` alone is the key of the other direction in the file.
            let back = names.iter().filter(|known| known.ends_with(&format!(".{name}")));
            let whole = if back.clone().count() == 1 { back.copied().next() } else { None };
            let error = unknown_name(whole.unwrap_or(name), "is no link with a qdisc", &names);
            return Err(Diagnostics::of_argument([error.found(format!("\"{name}\""))]));
        };
        let mut scenario = self.clone();
        for number in self.topology.managed() {
            scenario.topology.links[number].is_fixed = number != meant;
        }
        Ok(scenario)
    }

    /// The same scenario with another congestion control in these groups of flows, as if the file had it.
    ///
    /// Keys that the file leaves open follow the new one; keys that contradict it are errors, which name no
    /// file or flag.
    pub fn with_cc(&self, groups: &[usize], cc: &Choice) -> Result<Scenario, Diagnostics> {
        let mut scenario = self.clone();
        let mut errors = Vec::new();
        for place in groups {
            let Some(flows) = scenario.flows.get_mut(*place) else { continue };
            errors.extend(flows.take(cc).into_iter().map(|error| error.at(&format!("flows[{place}]"))));
        }
        if errors.is_empty() { Ok(scenario) } else { Err(Diagnostics::of_argument(errors)) }
    }
}

impl Flows {
    /// Replaces the congestion control; returns contradictions with explicit keys.
    fn take(&mut self, cc: &Choice) -> Vec<InputError> {
        if !self.given.has("ecn") {
            self.ecn = cc.needs_marks();
        }
        if !self.given.has("cc") {
            self.given.0.push("cc");
        }
        self.cc = cc.clone();
        self.contradictions()
    }
}
