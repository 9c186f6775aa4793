//! What changes during the run.

use super::{Entry, FASTEST, Reader, Section, mean_segment};
use crate::scenario::{Change, Setting};
use crate::tree::Node;
use sojourn_units::Span;

impl Reader {
    /// All changes in the order of time; those of one instant in the order of the file.
    pub(super) fn changes(
        &mut self,
        top: &Section<'_>,
        groups: &[Section<'_>],
        duration: Option<Span>,
    ) -> Vec<Change> {
        let packet = mean_segment(groups);
        let mut changes = Vec::new();
        let items = top.node("at").map(|node| self.list("at", node)).unwrap_or_default();
        for item in &items {
            let time = self.within_run(item, "time", duration);
            let Some(set) =
                item.node("set").and_then(|node| self.section("at.set", &item.path_of("set"), node))
            else {
                continue;
            };
            if item.node("set").is_some_and(Node::is_empty) {
                self.refuse(item, "set", SETS_NOTHING);
            }
            for Entry { key, .. } in &set.given {
                let setting = match (key.name, packet) {
                    ("bottleneck.rate", Some(packet)) => {
                        self.rate(&set, key.name, packet, FASTEST).map(Setting::BottleneckRate)
                    }
                    ("bottleneck.delay", _) => set.get(key.name).map(Setting::BottleneckDelay),
                    _ => None,
                };
                changes.extend(time.zip(setting).map(|(time, set)| Change { time, set }));
            }
        }
        changes.sort_by_key(|change| change.time);
        changes
    }
}

/// What is said of a change without a key.
const SETS_NOTHING: &str =
    "sets nothing; legal: at least one key, as in { \"bottleneck.rate\" = \"6 Mbit/s\" }";
