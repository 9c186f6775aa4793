//! A scenario as JSON: the keys of a file, every default filled in.

use crate::app::{App, is_of_an_app};
use crate::keys::{SHORT, keys_of};
use crate::links::Medium;
use crate::scenario::{Flows, Scenario};
use crate::sessions::Session;
use crate::topology::{Link, Route};
use crate::udp::{Datagrams, SEGMENT, Source};
use serde_json::{Map, Value as Json, json};
use sojourn_aqm::QdiscSpec;
use sojourn_params::Quantity;
use sojourn_params::SizeDraw;
use sojourn_tcp::settings::setting;
use sojourn_units::Rate;

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

/// The text of a scenario file with these keys, as JSON; nulls are left out. Errors: what JSON or TOML cannot express.
pub fn toml_of(json: &str) -> Result<String, String> {
    let keys: Json = serde_json::from_str(json).map_err(|error| error.to_string())?;
    toml::to_string(&without_nulls(keys)).map_err(|error| error.to_string())
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
        "qdisc": link.qdisc.as_ref().filter(|_| !link.is_fixed).map(qdisc),
        "framing": json!(framing.write()),
        "impairments": (!impairments.is_none()).then(|| json!(impairments.write())),
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
        "tcp": tcp(settings(flows)),
        "reads": flows.reads.map(|rate| rate.to_string()),
        "ecn": flows.ecn,
        "segment": tcp(flows.segment.to_string().into()),
        "access": flows.access.map(|access| {
            json!({ "rate": access.rate.to_string(), "delay": json!(access.delay.write()) })
        }),
        "arrivals": flows.arrivals.as_ref().map(|arrivals| json!(arrivals.write())),
        "lifetime": flows.lifetime.as_ref().map(|lifetime| json!(lifetime.write())),
        "start": flows.arrivals.is_none().then(|| json!(flows.start.write())),
        "stop": flows.stop.map(|stop| stop.to_string()),
    });
    for setting in SHORT.iter().filter_map(|name| setting(name)) {
        group[setting.name] = tcp(json!((setting.get)(&flows.profile)));
    }
    for key in keys_of("flows").map(|key| key.name).filter(|key| is_of_an_app(key)) {
        // Keys set above are not those of the application alone.
        if group.get(key).is_none() {
            group[key] = Json::Null;
        }
    }
    let own = match &flows.app {
        App::Bulk => Vec::new(),
        App::Session(session) => of_session(session),
        App::Datagrams(datagrams) => of_datagrams(datagrams),
    };
    for (key, value) in own {
        group[key] = value;
    }
    group
}

/// Settings that differ from the profile, without the keys of the group itself; null: none.
fn settings(flows: &Flows) -> Json {
    let set = flows.profile.settings_changed().filter(|setting| !SHORT.contains(&setting.name));
    let table: Map<String, Json> =
        set.map(|setting| (setting.name.into(), json!((setting.get)(&flows.profile)))).collect();
    if table.is_empty() { Json::Null } else { table.into() }
}

fn qdisc(qdisc: &QdiscSpec) -> Json {
    let mut table = Map::new();
    table.insert("law".into(), qdisc.law.clone().into());
    table.extend(qdisc.params.iter().map(|(key, value)| (key.clone(), json!(value))));
    Json::Object(table)
}

/// Its keys beside `app`, with their values as in a file.
fn of_session(session: &Session) -> Vec<(&'static str, Json)> {
    let size = |size: &SizeDraw| ("size", json!(size.write()));
    match session {
        Session::Transfer(volume) => vec![size(volume)],
        Session::Mice(mice) => vec![size(&mice.size), ("idle", json!(mice.idle.write()))],
        Session::Web(web) => vec![
            ("objects", web.objects.into()),
            size(&web.size),
            ("connections", web.connections.into()),
            ("idle", json!(web.idle.write())),
            ("request", web.request.to_string().into()),
        ],
        Session::Video(video) => vec![
            ("ladder", json!(video.ladder.write())),
            ("chunk", video.chunk.to_string().into()),
            ("reservoir", video.reservoir.to_string().into()),
            ("cushion", video.cushion.to_string().into()),
            ("request", video.request.to_string().into()),
        ],
        Session::Game(game) => vec![
            ("every", game.every.to_string().into()),
            size(&game.size),
            ("request", game.request.to_string().into()),
        ],
    }
}

/// The same of datagrams.
fn of_datagrams(datagrams: &Datagrams) -> Vec<(&'static str, Json)> {
    let rate = |rate: &Rate| ("rate", rate.to_string().into());
    let mut keys = match &datagrams.source {
        Source::Cbr(per_second) | Source::Poisson(per_second) => vec![rate(per_second)],
        Source::OnOff(of) => {
            vec![rate(&of.rate), ("on", json!(of.on.write())), ("off", json!(of.off.write()))]
        }
        Source::Lrd(of) => vec![
            rate(&of.rate),
            ("hurst", of.hurst.into()),
            ("sources", of.sources.into()),
            ("on", of.on.to_string().into()),
            ("off", of.off.to_string().into()),
        ],
        Source::Voip { spurts } => return vec![("spurts", json!(spurts))],
        Source::Ping(every) => vec![("every", every.to_string().into())],
    };
    let is_segment = |size: &f64| SEGMENT.contains(&(*size as u64)) && size.fract() == 0.0;
    let whole = datagrams.size.bytes(1.0).as_constant().is_some_and(|size| is_segment(&size));
    let is_ping = matches!(datagrams.source, Source::Ping(_));
    keys.push((if whole && !is_ping { "segment" } else { "size" }, json!(datagrams.size.write())));
    keys
}
