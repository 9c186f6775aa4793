//! Names of classes and of their random streams.

use super::links::Draft;
use super::reader::{Reader, Section};
use crate::app::RRUL_PARTS;
use crate::keys::{AppName, Name, StreamName};
use std::collections::{BTreeMap, BTreeSet};

/// Names of a class.
#[derive(Clone)]
pub(super) struct ClassName {
    pub(super) name: String,
    /// Name of its random streams.
    pub(super) stream: String,
}

impl ClassName {
    /// Names of one of the classes that a group expands into.
    pub(super) fn part(&self, part: &str) -> ClassName {
        ClassName { name: format!("{}-{part}", self.name), stream: format!("{}-{part}", self.stream) }
    }
}

impl Reader {
    /// Names of the groups; reports names that two classes, or a class and a link, share.
    pub(super) fn class_name(
        &mut self,
        groups: &[Section<'_>],
        network: Option<&Draft<'_>>,
    ) -> Vec<ClassName> {
        let class_name: Vec<ClassName> = names(groups)
            .into_iter()
            .zip(streams(groups))
            .map(|(name, stream)| ClassName { name, stream })
            .collect();
        let mut names = BTreeSet::new();
        for (group, class) in groups.iter().zip(&class_name) {
            for ClassName { name, .. } in classes(group, class) {
                let whose = if network.is_some_and(|network| network.topology.link(&name).is_some()) {
                    "a link"
                } else if !names.insert(name.clone()) {
                    "a class before it"
                } else {
                    continue;
                };
                let text = if name == class.name { "" } else { "makes classes, and " };
                let message = format!("{text}\"{name}\" is the name of {whose}; expected a name of its own");
                self.refuse(group, "name", &message);
            }
        }
        let mut streams = BTreeMap::new();
        for (group, class) in groups.iter().zip(&class_name) {
            for ClassName { name, stream } in classes(group, class) {
                if let Some(other) =
                    streams.insert(stream.clone(), name.clone()).filter(|other| *other != name)
                {
                    let key = if group.given("stream") { "stream" } else { "name" };
                    let message = format!(
                        "\"{stream}\" is what the random streams of \"{other}\" go by; expected another one"
                    );
                    self.refuse(group, key, &message);
                }
            }
        }
        class_name
    }
}

/// The classes of a group.
fn classes(group: &Section<'_>, class_name: &ClassName) -> Vec<ClassName> {
    match group.get("app") {
        Some(AppName("rrul")) => RRUL_PARTS.iter().map(|part| class_name.part(part)).collect(),
        _ => vec![class_name.clone()],
    }
}

/// Names of groups: the given one, or that of the application, numbered where it is taken.
fn names(groups: &[Section<'_>]) -> Vec<String> {
    let mut taken: BTreeSet<String> = groups.iter().filter_map(|group| given(group, "name")).collect();
    // Names given so far, by app.
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

/// Stream names of groups: the given one, the name, or else the application and the ends that the file gives, with a
/// number where several classes share that. So a name depends on no other class.
fn streams(groups: &[Section<'_>]) -> Vec<String> {
    let text = |group: &Section<'_>| match group.get("stream") {
        Some(StreamName(stream)) => Some(stream),
        None => given(group, "name"),
    };
    let of_classes = |group: &Section<'_>, stream: &str| {
        let class_name = ClassName { name: String::new(), stream: stream.into() };
        classes(group, &class_name).into_iter().map(|class| class.stream).collect::<Vec<_>>()
    };
    let texts = groups.iter().filter_map(|group| Some((group, text(group)?)));
    let mut taken: BTreeSet<String> = texts.flat_map(|(group, stream)| of_classes(group, &stream)).collect();
    // Numbers given so far, by stem.
    let mut alike: BTreeMap<String, u32> = BTreeMap::new();
    let mut usual = |group: &Section<'_>| {
        let ends = ["from", "to"].map(|key| given(group, key));
        // Names of nodes may end in a number, those of applications do not.
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
    groups.iter().map(|group| text(group).unwrap_or_else(|| usual(group))).collect()
}

fn given(group: &Section<'_>, key: &str) -> Option<String> {
    group.get(key).map(|Name(name)| name)
}

fn app(group: &Section<'_>) -> &'static str {
    group.get("app").map_or("flows", |AppName(app)| app)
}
