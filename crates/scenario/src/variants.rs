//! The same scenario under another qdisc or another congestion control.

use crate::diagnostics::{Diagnostics, listed};
use crate::scenario::{Flows, Scenario};
use crate::tcp::{ExplicitKey, Tcp, ecn_with};
use sojourn_aqm::QdiscSpec;
use sojourn_params::InputError;
use sojourn_tcp::cc::Choice;
use sojourn_units::did_you_mean;

impl Scenario {
    /// The same scenario under another qdisc, written as `"red:min=50packets,max=150packets"`, on every link that has one;
    /// a link with a buffer alone keeps its own.
    ///
    /// Its errors name no file or flag.
    pub fn with_qdisc(&self, spec: &str) -> Result<Scenario, Diagnostics> {
        let qdisc = QdiscSpec::parse(spec).map_err(|error| Diagnostics::of_spec(&[error]))?;
        let (mut scenario, contexts) = (self.clone(), self.contexts());
        let several = self.topology.replaceable().nth(1).is_some();
        let refused = |number: usize, errors: Vec<InputError>| {
            let link = &self.topology.links[number].name;
            let placed =
                |error: InputError| if several { InputError::new(link, error.to_string()) } else { error };
            Diagnostics::of_spec(&errors.into_iter().map(placed).collect::<Vec<_>>())
        };
        for number in self.topology.replaceable() {
            let errors = qdisc.errors(&contexts[number]);
            if !errors.is_empty() {
                let named = errors.into_iter().map(|error| error.inside(&qdisc.law));
                return Err(refused(number, named.collect()));
            }
            scenario.topology.links[number].qdisc = Some(qdisc.clone());
        }
        let mut work = 0;
        for number in self.topology.replaceable() {
            if let Some((change, error)) = scenario.refused_change(number, &mut work) {
                let message = format!("does not take the change at {}: {error}", self.at[change].time);
                return Err(refused(number, vec![InputError::new(qdisc.law.as_str(), message)]));
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
            let hint = did_you_mean(whole.unwrap_or(name), names.iter().copied());
            let message = format!("\"{name}\" is no link with a qdisc{hint} (expected {})", listed(&names));
            return Err(Diagnostics::of_spec(&[InputError::new("", message)]));
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
            let text = flows.take(cc).into_iter().map(|error| error.inside(&format!("flows[{place}]")));
            errors.extend(text);
        }
        if errors.is_empty() { Ok(scenario) } else { Err(Diagnostics::of_spec(&errors)) }
    }
}

impl Flows {
    /// Replaces the congestion control; returns contradictions with explicit keys.
    fn take(&mut self, cc: &Choice) -> Vec<InputError> {
        if !self.given.has("ecn") {
            self.ecn = ecn_with(cc);
        }
        if !self.given.has("cc") {
            self.given.0.push(ExplicitKey { table: "flows", name: "cc" });
        }
        self.cc = cc.clone();
        let Flows { cc, profile, ecn, segment, given, .. } = self.clone();
        let clashes = Tcp { cc, profile, ecn, segment, given }.contradictions();
        let path = |key: ExplicitKey| match key.table {
            "flows.tcp" => format!("tcp.{}", key.name),
            _ => key.name.to_string(),
        };
        clashes.into_iter().map(|(key, message)| InputError::new(path(key), message)).collect()
    }
}
