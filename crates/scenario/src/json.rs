//! A scenario as JSON: the keys of a file, every default filled in.

use crate::links::Medium;
use crate::scenario::{Flows, Scenario};
use crate::topology::{Link, Route};
use serde_json::{Map, Value as Json, json};
use sojourn_aqm::QdiscSpec;
use sojourn_params::{Described, Quantity, Value};

impl Scenario {
    /// All keys with their values as in a file, units included; null where nothing is set. The settings of TCP are
    /// those that differ from the profile, and those of the group itself.
    ///
    /// Without the nulls it reads back as the same scenario.
    pub fn to_json(&self) -> Json {
        let changes = self.at.iter().map(|change| {
            let set: Map<String, Json> =
                change.keys().iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            json!({
                "time": change.time.to_string(),
                "every": change.every.map(|every| every.to_string()),
                "until": change.until.map(|until| until.to_string()),
                "set": set,
            })
        });
        let mut scenario = json!({
            "title": self.title,
            "duration": self.duration.to_string(),
            "warmup": self.warmup.to_string(),
            "sample": self.sample.map(|step| step.to_string()),
            "fluid_window": json!(self.fluid.window.write()),
            "fluid_step": self.fluid.step.map(|step| step.to_string()),
            "flows": self.flows.iter().map(|group| self.class_to_json(group)).collect::<Vec<_>>(),
            "at": changes.collect::<Vec<_>>(),
        });
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
        "rate": link_schedule.is_none().then(|| link.rate.to_string()),
        "trace": link_schedule.as_ref().map(|plan| json!(plan.trace().write())),
        "delay": link.delay.to_string(),
        "buffer": link.buffer.map(|limit| limit.to_string()),
        "qdisc": link.qdisc.as_ref().filter(|_| !link.is_fixed).map(|at| qdisc(at)),
        "framing": json!(framing.write()),
        "impairments": (!impairments.is_none()).then(|| json!(impairments.write())),
    })
}

fn flows(flows: &Flows) -> Json {
    let tcp = |value: Json| if flows.app.is_tcp() { value } else { Json::Null };
    let segment = flows.app.has_segments().then(|| flows.segment.to_string());
    json!({
        "name": flows.name,
        "stream": (flows.stream != flows.name).then_some(&flows.stream),
        "from": null,
        "to": null,
        "route": null,
        "back": null,
        "count": flows.count,
        "app": app(flows),
        "cc": tcp(flows.cc.to_string().into()),
        "profile": tcp(flows.profile_name.into()),
        "tcp": tcp(settings(flows)),
        "ecn": flows.ecn,
        "segment": segment,
        "access": flows.access.map(|access| {
            json!({ "rate": access.rate.to_string(), "delay": json!(access.delay.write()) })
        }),
        "arrivals": flows.arrivals.as_ref().map(|arrivals| json!(arrivals.write())),
        "lifetime": flows.lifetime.as_ref().map(|lifetime| json!(lifetime.write())),
        "start": flows.arrivals.is_none().then(|| json!(flows.start.write())),
        "stop": flows.stop.map(|stop| stop.to_string()),
    })
}

/// The application with its parameters; its name alone where none has a value.
fn app(flows: &Flows) -> Json {
    let values = flows.app.values().into_iter().filter(|(_, value)| *value != Value::Absent);
    let params: Map<String, Json> = values.map(|(key, value)| (key.into(), json!(value))).collect();
    if params.is_empty() { flows.app.name().into() } else { json!({ flows.app.name(): params }) }
}

/// Settings that differ from the profile; null: none.
fn settings(flows: &Flows) -> Json {
    let changed = flows.profile.changes_from(flows.profile_name);
    let table: Map<String, Json> =
        changed.iter().map(|field| (field.key.into(), json!(flows.profile.value(field.key)))).collect();
    if table.is_empty() { Json::Null } else { table.into() }
}

fn qdisc(qdisc: &QdiscSpec) -> Json {
    let mut table = Map::new();
    table.insert("law".into(), qdisc.law().into());
    table.extend(qdisc.values().map(|(key, value)| (key.to_string(), json!(value))));
    Json::Object(table)
}
