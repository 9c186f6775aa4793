//! A scenario as JSON: the keys of a file, every default filled in.

use crate::app::{App, is_of_an_app};
use crate::disc::DiscSpec;
use crate::keys::{SHORT, keys_of};
use crate::links::Medium;
use crate::scenario::{Flows, Scenario};
use crate::sessions::Session;
use crate::topology::{Link, Route};
use crate::udp::Datagrams;
use serde_json::{Map, Value as Json, json};
use sojourn_tcp::knobs::knob;
use sojourn_units::Value;
use sojourn_units::param::Quantity;

impl Scenario {
    /// All keys with their values as a file would have them, units included; null where nothing is set. Of the knobs
    /// of TCP there are those that stand otherwise than in the profile, and those of the group itself.
    ///
    /// Without the nulls it reads back as the same scenario.
    pub fn to_json(&self) -> Json {
        let changes = self.at.iter().map(|change| {
            let set: Map<String, Json> =
                change.keys().iter().map(|(key, value)| (key.clone(), of_value(value))).collect();
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
            "fluid_window": of_value(&self.fluid.window.write()),
            "fluid_step": self.fluid.step.map(|step| step.to_string()),
            "flows": self.flows.iter().map(|group| self.class(group)).collect::<Vec<_>>(),
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

    /// The links, each with its other direction.
    fn links(&self) -> Vec<Json> {
        let mut links: Vec<Json> = Vec::new();
        for link in &self.topology.links {
            let mut line = line(link);
            if let Some(of) = links.last_mut().filter(|_| link.is_back) {
                let usual = ["rate", "delay", "framing"].iter().all(|key| of[key] == line[key])
                    && ["trace", "buffer", "disc", "impairments"].iter().all(|key| line[key].is_null());
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

    /// A class with its way, where the network is no dumbbell or it does not go the usual one.
    pub(crate) fn class(&self, group: &Flows) -> Json {
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

/// One direction of a link.
fn line(link: &Link) -> Json {
    let Medium { framing, deliveries, impairments } = &link.medium;
    json!({
        "rate": deliveries.is_none().then(|| link.rate.to_string()),
        "trace": deliveries.as_ref().map(|plan| of_value(&plan.trace().write())),
        "delay": link.delay.to_string(),
        "buffer": link.buffer.map(|limit| limit.to_string()),
        "disc": link.disc.as_ref().filter(|_| !link.is_fixed).map(disc),
        "framing": of_value(&framing.write()),
        "impairments": (!impairments.is_none()).then(|| of_value(&impairments.write())),
    })
}

fn flows(flows: &Flows) -> Json {
    let tcp = |value: Json| if flows.app.is_tcp() { value } else { Json::Null };
    let mut group = json!({
        "name": flows.name,
        "stream": (flows.stream != flows.name).then_some(&flows.stream),
        "from": null,
        "to": null,
        "route": null,
        "back": null,
        "count": flows.count,
        "app": flows.app.name(),
        "cc": tcp(flows.cc.to_string().into()),
        "profile": tcp(flows.profile.name.into()),
        "tcp": tcp(knobs(flows)),
        "reads": flows.reads.map(|rate| rate.to_string()),
        "ecn": flows.ecn,
        "segment": tcp(flows.segment.to_string().into()),
        "access": flows.access.map(|access| {
            json!({ "rate": access.rate.to_string(), "delay": of_value(&access.delay.write()) })
        }),
        "arrivals": flows.arrivals.as_ref().map(|arrivals| of_value(&arrivals.write())),
        "lifetime": flows.lifetime.as_ref().map(|lifetime| of_value(&lifetime.write())),
        "start": flows.arrivals.is_none().then(|| of_value(&flows.start.write())),
        "stop": flows.stop.map(|stop| stop.to_string()),
    });
    for knob in SHORT.iter().filter_map(|name| knob(name)) {
        group[knob.name] = tcp(of_value(&(knob.get)(&flows.profile)));
    }
    for key in keys_of("flows").map(|key| key.name).filter(|key| is_of_an_app(key)) {
        // What stands there already is not only the application's.
        if group.get(key).is_none() {
            group[key] = Json::Null;
        }
    }
    let own = match &flows.app {
        App::Bulk => Vec::new(),
        App::Session(session) => Session::to_json(session),
        App::Datagrams(datagrams) => Datagrams::to_json(datagrams),
    };
    for (key, value) in own {
        group[key] = value;
    }
    group
}

/// What is set otherwise than in the profile, beside the keys of the group itself; null where nothing is.
fn knobs(flows: &Flows) -> Json {
    let set = flows.profile.knobs_set().filter(|knob| !SHORT.contains(&knob.name));
    let table: Map<String, Json> =
        set.map(|knob| (knob.name.into(), of_value(&(knob.get)(&flows.profile)))).collect();
    if table.is_empty() { Json::Null } else { table.into() }
}

fn disc(disc: &DiscSpec) -> Json {
    let mut table = Map::new();
    table.insert("law".into(), disc.law.clone().into());
    table.extend(disc.params.iter().map(|(key, value)| (key.clone(), of_value(value))));
    Json::Object(table)
}

/// A value as JSON; null where none is given.
pub fn of_value(value: &Value) -> Json {
    match value {
        Value::Absent => Json::Null,
        Value::Text(text) => text.clone().into(),
        Value::Number(number) => (*number).into(),
        Value::Whole(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(items) => items.iter().map(of_value).collect(),
        Value::Table(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), of_value(value))).collect())
        }
    }
}
