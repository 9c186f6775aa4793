//! What classes are called, and what their random streams go by.

use super::links::Draft;
use super::{Reader, Section};
use crate::app::AppName;
use crate::keys::{Name, StreamName};
use std::collections::{BTreeMap, BTreeSet};

/// What a class is called.
#[derive(Clone)]
pub(super) struct Called {
    pub(super) name: String,
    /// What its random streams go by.
    pub(super) stream: String,
}

impl Called {
    /// What a part of what it stands for is called.
    pub(super) fn part(&self, part: &str) -> Called {
        Called { name: format!("{}-{part}", self.name), stream: format!("{}-{part}", self.stream) }
    }
}

impl Reader {
    /// What each group is called; told where two classes, or a class and a link, have one name.
    pub(super) fn called(&mut self, groups: &[Section<'_>], network: Option<&Draft<'_>>) -> Vec<Called> {
        let called: Vec<Called> = names(groups)
            .into_iter()
            .zip(streams(groups))
            .map(|(name, stream)| Called { name, stream })
            .collect();
        let mut names = BTreeSet::new();
        for (group, class) in groups.iter().zip(&called) {
            for Called { name, .. } in classes(group, class) {
                let whose = if network.is_some_and(|network| network.topology.link(&name).is_some()) {
                    "a link"
                } else if !names.insert(name.clone()) {
                    "a class before it"
                } else {
                    continue;
                };
                let said = if name == class.name { "" } else { "makes classes, and " };
                let what = format!("{said}\"{name}\" is the name of {whose}; legal: a name of its own");
                self.refuse(group, "name", &what);
            }
        }
        let mut streams = BTreeMap::new();
        for (group, class) in groups.iter().zip(&called) {
            for Called { name, stream } in classes(group, class) {
                if let Some(other) =
                    streams.insert(stream.clone(), name.clone()).filter(|other| *other != name)
                {
                    let key = if group.given("stream") { "stream" } else { "name" };
                    let what = format!(
                        "\"{stream}\" is what the random streams of \"{other}\" go by; legal: another one"
                    );
                    self.refuse(group, key, &what);
                }
            }
        }
        called
    }
}

/// The classes that a group stands for.
fn classes(group: &Section<'_>, called: &Called) -> Vec<Called> {
    match group.get("app") {
        Some(AppName("rrul")) => super::apps::RRUL_PARTS.iter().map(|part| called.part(part)).collect(),
        _ => vec![called.clone()],
    }
}

/// What each group is called: as it says, or as its application, with a number where that is taken.
fn names(groups: &[Section<'_>]) -> Vec<String> {
    let mut taken: BTreeSet<String> = groups.iter().filter_map(|group| given(group, "name")).collect();
    // How many of each app have been named so far.
    let mut named: BTreeMap<&str, u32> = BTreeMap::new();
    let mut usual = |group: &Section<'_>| {
        let app = app(group);
        let number = named.entry(app).or_default();
        loop {
            *number += 1;
            let name = if *number == 1 { app.to_string() } else { format!("{app}{number}") };
            if taken.insert(name.clone()) {
                return name;
            }
        }
    };
    groups.iter().map(|group| given(group, "name").unwrap_or_else(|| usual(group))).collect()
}

/// What each group's random streams go by: what it says, its name, or else its application and the ends that it gives. So
/// it depends on no class but those that are equal in all this, or have a name that is: then there is a number.
fn streams(groups: &[Section<'_>]) -> Vec<String> {
    let said = |group: &Section<'_>| match group.get("stream") {
        Some(StreamName(stream)) => Some(stream),
        None => given(group, "name"),
    };
    let of_classes = |group: &Section<'_>, stream: &str| {
        let called = Called { name: String::new(), stream: stream.into() };
        classes(group, &called).into_iter().map(|class| class.stream).collect::<Vec<_>>()
    };
    let says = groups.iter().filter_map(|group| Some((group, said(group)?)));
    let mut taken: BTreeSet<String> = says.flat_map(|(group, stream)| of_classes(group, &stream)).collect();
    // How many of each stem have been numbered so far.
    let mut alike: BTreeMap<String, u32> = BTreeMap::new();
    let mut usual = |group: &Section<'_>| {
        let ends = ["from", "to"].map(|key| given(group, key));
        // No application's name ends in a number, but a node's may.
        let (stem, between) = match ends {
            [None, None] => (app(group).to_string(), ""),
            ends => (format!("{} {}", app(group), ends.map(Option::unwrap_or_default).join("-")), " "),
        };
        let number = alike.entry(stem.clone()).or_default();
        loop {
            *number += 1;
            let stream = if *number == 1 { stem.clone() } else { format!("{stem}{between}{number}") };
            let own = of_classes(group, &stream);
            if own.iter().all(|stream| !taken.contains(stream)) {
                taken.extend(own);
                return stream;
            }
        }
    };
    groups.iter().map(|group| said(group).unwrap_or_else(|| usual(group))).collect()
}

fn given(group: &Section<'_>, key: &str) -> Option<String> {
    group.get(key).map(|Name(name)| name)
}

fn app(group: &Section<'_>) -> &'static str {
    group.get("app").map_or("flows", |AppName(app)| app)
}
