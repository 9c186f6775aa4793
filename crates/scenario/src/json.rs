//! A scenario as JSON: the keys of a file, every default filled in.

use crate::dscp::Dscp;
use crate::links::{Medium, SchedulePlan};
use crate::scenario::{Access, Flows, Scenario};
use crate::topology::{Link, Route};
use serde_json::{Value as Json, json};
use sojourn_aqm::QdiscSpec;
use sojourn_params::{Catalogue, Described, Quantity, Value};

impl Scenario {
    /// All keys with their values as in a file, units included; null where nothing is set. The settings of TCP are
    /// those that differ from the profile, and those of the group itself.
    ///
    /// Without the nulls it reads back as the same scenario.
    pub fn to_json(&self) -> Json {
        let changes = self.at.iter().map(|change| {
            json!({
                "time": change.time.write(),
                "every": change.every.write(),
                "until": change.until.write(),
                "set": Value::Table(change.keys()),
            })
        });
        let mut scenario = json!({
            "title": self.title,
            "duration": self.duration.write(),
            "warmup": self.warmup.write(),
            "sample": self.sample.write(),
            "fluid_window": self.fluid.window.write(),
            // The same as fluid_window, which an override would otherwise not change.
            "plant": null,
            "fluid_step": self.fluid.step.write(),
            "flows": self.flows.iter().map(|group| self.class_to_json(group)).collect::<Vec<_>>(),
            "at": changes.collect::<Vec<_>>(),
        });
        // Files without windows stay as they were.
        if !self.windows.is_empty() {
            scenario["windows"] = self.windows.iter().map(ToString::to_string).collect::<Vec<_>>().into();
        }
        let mut links = self.links();
        if self.topology.dumbbell {
            scenario["bottleneck"] = links.remove(0);
        } else {
            scenario["links"] = links.into();
        }
        scenario
    }

    /// A scenario file with every default filled in. It reads back as the same scenario beside the same files.
    pub fn to_toml(&self) -> String {
        toml::to_string(&without_nulls(self.to_json())).expect("a scenario has no value that TOML lacks")
    }

    /// The links, each with its other direction.
    fn links(&self) -> Vec<Json> {
        let mut links: Vec<Json> = Vec::new();
        for link in &self.topology.links {
            let mut line = line(link);
            if let Some(of) = links.last_mut().filter(|_| link.is_back) {
                let usual = ["rate", "delay", "framing"].iter().all(|key| of[key] == line[key])
                    && ["trace", "buffer", "qdisc", "impairments"].iter().all(|key| line[key].is_null());
                of["back"] = if usual { Json::Null } else { line };
                of["one_way"] = Json::Null;
                continue;
            }
            if !self.topology.dumbbell {
                line["name"] = link.name.clone().into();
                line["from"] = self.topology.nodes[link.from].clone().into();
                line["to"] = self.topology.nodes[link.to].clone().into();
                line["one_way"] = true.into();
            }
            links.push(line);
        }
        links
    }

    /// A class with its route, where the network is no dumbbell or the route is not the default one.
    pub fn class_to_json(&self, group: &Flows) -> Json {
        let mut class = flows(group);
        if !(self.topology.dumbbell && group.route == [0]) {
            let nodes = |route: &Route| self.topology.nodes_of(route).map(String::from).collect::<Vec<_>>();
            let (there, back) = (nodes(&group.route), nodes(&group.back));
            class["from"] = there.first().cloned().into();
            class["to"] = there.last().cloned().into();
            class["route"] = there.into();
            class["back"] = (!back.is_empty()).then_some(back).into();
        }
        class
    }
}

/// The same without keys that are not set, which TOML cannot express.
fn without_nulls(value: Json) -> Json {
    match value {
        Json::Object(entries) => entries
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Json::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// One direction of a link.
fn line(link: &Link) -> Json {
    let Medium { framing, link_schedule, impairments } = &link.medium;
    json!({
        "rate": link_schedule.is_none().then_some(link.rate).write(),
        "trace": link_schedule.as_ref().map(SchedulePlan::trace).write(),
        "delay": link.delay.write(),
        "buffer": link.buffer.map(|limit| limit.to_string()),
        "qdisc": link.qdisc.as_ref().filter(|_| !link.is_fixed).map(|at| qdisc(at)),
        "framing": json!(framing.write()),
        "impairments": (!impairments.is_none()).then(|| json!(impairments.write())),
    })
}

fn flows(flows: &Flows) -> Json {
    let is_tcp = flows.app.is_tcp();
    json!({
        "name": flows.name,
        "stream": (flows.stream != flows.name).then_some(&flows.stream),
        "from": null,
        "to": null,
        "route": null,
        "back": null,
        "count": flows.count,
        "app": app(flows),
        "cc": is_tcp.then(|| flows.cc.to_string()),
        "profile": is_tcp.then_some(flows.profile_name),
        "tcp": settings(flows).filter(|_| is_tcp),
        "ecn": flows.ecn,
        "ect1": flows.ect1.then_some(true),
        "segment": flows.app.has_segments().then_some(flows.segment).write(),
        "from_host": flows.hosts[0],
        "to_host": flows.hosts[1],
        "dscp": (flows.dscp != Dscp::default()).then_some(flows.dscp).write(),
        "access": flows.access.map(|Access { rate, delay }| json!({ "rate": rate.write(), "delay": delay.write() })),
        "arrivals": flows.arrivals.write(),
        "lifetime": flows.lifetime.write(),
        "start": flows.arrivals.is_none().then_some(flows.start).write(),
        "stop": flows.stop.write(),
    })
}

/// The application with its parameters; its name alone where none has a value.
fn app(flows: &Flows) -> Value {
    let values = flows.app.values().into_iter().filter(|(_, value)| *value != Value::Absent);
    Catalogue::written(flows.app.name(), values.map(|(key, value)| (key.into(), value)).collect())
}

/// Settings that differ from the profile; None where none do.
fn settings(flows: &Flows) -> Option<Value> {
    let changed = flows.profile.changes_from(flows.profile_name);
    let table = changed.iter().map(|field| (field.key.into(), flows.profile.value(field.key))).collect();
    (!changed.is_empty()).then_some(Value::Table(table))
}

fn qdisc(qdisc: &QdiscSpec) -> Value {
    let params = qdisc.values().map(|(key, value)| (key.to_string(), value));
    match qdisc.single_law() {
        Some(law) => {
            let law = ("law".into(), Value::Text(law.law().into()));
            Value::Table(std::iter::once(law).chain(params).collect())
        }
        None => Catalogue::written(qdisc.name(), params.collect()),
    }
}
