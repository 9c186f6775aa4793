//! Names of classes and of their random streams.

use crate::apps::App;
use crate::tables::{self, Group, numbered};
use crate::topology::Topology;
use sojourn_params::{Collected, Errors, InputError};
use std::collections::{BTreeMap, BTreeSet};

/// Names of a class.
#[derive(Clone, Default)]
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

/// Names of the groups; refuses names that two classes, or a class and a link, share.
pub(super) fn class_names(groups: &[Group], topology: &Topology) -> Result<Vec<ClassName>, Errors> {
    let named: Vec<_> = groups.iter().map(|group| (group.name.as_deref(), group.app.name())).collect();
    let class_names: Vec<ClassName> = tables::class_names(&named)
        .into_iter()
        .zip(streams(groups))
        .map(|(name, stream)| ClassName { name, stream })
        .collect();
    let links: BTreeSet<&str> = topology.links.iter().map(|link| link.name.as_str()).collect();
    let (mut names, mut streams, mut errors) = (BTreeSet::new(), BTreeMap::new(), Collected::default());
    let mut refuse = |place: usize, key: &str, problem: String, expected: &str| {
        let error = InputError::clash(problem, expected);
        errors.add(error.at(&format!("flows[{place}].{key}")));
    };
    for (place, (group, class)) in groups.iter().zip(&class_names).enumerate() {
        for ClassName { name, stream } in classes(group, class) {
            let own = if name == class.name { "" } else { "makes classes, and " };
            if links.contains(name.as_str()) {
                refuse(place, "name", format!("{own}\"{name}\" is the name of a link"), "a name of its own");
            } else if !names.insert(name.clone()) {
                let problem = format!("{own}\"{name}\" is the name of a class before it");
                refuse(place, "name", problem, "a name of its own");
            }
            if let Some(other) = streams.insert(stream.clone(), name.clone()).filter(|other| *other != name) {
                let key = if group.stream.is_some() { "stream" } else { "name" };
                let problem = format!("\"{stream}\" is what the random streams of \"{other}\" go by");
                refuse(place, key, problem, "another one");
            }
        }
    }
    errors.end(Some(class_names))
}

/// The classes of a group.
fn classes(group: &Group, class_name: &ClassName) -> Vec<ClassName> {
    match &group.app {
        App::Rrul(rrul) => rrul.parts().iter().map(|(part, _)| class_name.part(part)).collect(),
        _ => vec![class_name.clone()],
    }
}

/// Stream names of groups: the given one, the name, or else the application and the ends that the file gives, with a
/// number where several classes share that. So a name depends on no other class.
fn streams(groups: &[Group]) -> Vec<String> {
    let text = |group: &Group| group.stream.clone().or_else(|| group.name.clone());
    let of_classes = |group: &Group, stream: &str| {
        let class_name = ClassName { name: String::new(), stream: stream.into() };
        classes(group, &class_name).into_iter().map(|class| class.stream).collect::<Vec<_>>()
    };
    let texts = groups.iter().filter_map(|group| Some((group, text(group)?)));
    let mut taken: BTreeSet<String> = texts.flat_map(|(group, stream)| of_classes(group, &stream)).collect();
    let mut numbers = BTreeMap::new();
    let mut usual = |group: &Group| {
        let app = group.app.name();
        // Names of nodes may end in a number, those of applications do not.
        let (stem, between) = match (&group.from, &group.to) {
            (None, None) => (app.to_string(), ""),
            (from, to) => {
                let end = |name: &Option<String>| name.clone().unwrap_or_default();
                (format!("{app} {}-{}", end(from), end(to)), " ")
            }
        };
        numbered(&stem, between, &mut numbers, |stream| {
            let own = of_classes(group, stream);
            let is_free = own.iter().all(|stream| !taken.contains(stream));
            taken.extend(own.into_iter().filter(|_| is_free));
            is_free
        })
    };
    groups.iter().map(|group| text(group).unwrap_or_else(|| usual(group))).collect()
}
