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
        // Those that do not say come first: what they go by is not theirs to change.
        let (says, silent): (Vec<_>, Vec<_>) =
            groups.iter().zip(&called).partition(|(group, _)| group.given("name") || group.given("stream"));
        let mut streams = BTreeMap::new();
        for (group, class) in silent.into_iter().chain(says) {
            for Called { name, stream } in classes(group, class) {
                match streams.insert(stream.clone(), name.clone()) {
                    Some(other) if other != name => {
                        let key = if group.given("stream") { "stream" } else { "name" };
                        let what = format!(
                            "\"{stream}\" is what the random streams of \"{other}\" go by; legal: another one"
                        );
                        self.refuse(group, key, &what);
                    }
                    _ => {}
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
/// it depends on no class but those that are equal in all this, which have a number.
fn streams(groups: &[Section<'_>]) -> Vec<String> {
    let mut alike: BTreeMap<String, u32> = BTreeMap::new();
    let mut usual = |group: &Section<'_>| {
        let ends = ["from", "to"].map(|key| given(group, key));
        let stream = match ends {
            [None, None] => app(group).to_string(),
            ends => format!("{} {}", app(group), ends.map(Option::unwrap_or_default).join("-")),
        };
        let number = alike.entry(stream.clone()).or_default();
        *number += 1;
        if *number == 1 { stream } else { format!("{stream} {number}") }
    };
    let said = |group: &Section<'_>| match group.get("stream") {
        Some(StreamName(stream)) => Some(stream),
        None => given(group, "name"),
    };
    groups.iter().map(|group| said(group).unwrap_or_else(|| usual(group))).collect()
}

fn given(group: &Section<'_>, key: &str) -> Option<String> {
    group.get(key).map(|Name(name)| name)
}

fn app(group: &Section<'_>) -> &'static str {
    group.get("app").map_or("flows", |AppName(app)| app)
}
