//! Groups of the queues of a qdisc, for measurements: a few, so that memory does not grow with hashed queues.

use super::classifiers::By;
use super::tags::Tags;
use crate::law::FlowId;
use crate::qdisc::{FlowTag, Packet};
use sojourn_units::Ecn;
use std::sync::Arc;

/// Groups of queues, each with a name; of fewer than two there is nothing to distinguish, and there are none.
#[derive(Clone, Default)]
pub(super) struct Groups {
    names: Arc<[String]>,
    of: Option<Arc<GroupOf>>,
    tags: Tags,
}

/// Number of the group of a packet, by the tag of its flow and its ECN bits.
type GroupOf = dyn Fn(FlowTag, Ecn) -> usize + Send + Sync;

impl Groups {
    /// Groups of these names.
    pub(super) fn new(
        names: impl IntoIterator<Item = String>,
        of: impl Fn(FlowTag, Ecn) -> usize + Send + Sync + 'static,
    ) -> Groups {
        let names = apart(names);
        if names.len() < 2 || names.len() > MOST_GROUPS {
            return Groups::default();
        }
        Groups { names, of: Some(Arc::new(of)), tags: Tags::default() }
    }

    /// Of queues by flow, host, class or DSCP: those of each class of flows. Of queues by ECN codepoint: each of the four. The
    /// flows of `reserved` classes are in a group of their own, the first one.
    pub(super) fn by(by: By, classes: &[String], reserved: Option<&[bool]>) -> Groups {
        let own = usize::from(reserved.is_some());
        let members = reserved.map(<[bool]>::to_vec).unwrap_or_default();
        let is_member = move |class: u32| members.get(class as usize).copied().unwrap_or(false);
        let first = (own > 0).then(|| "reserved".to_string());
        if by == By::Ecn {
            let names = first.into_iter().chain(CODEPOINTS.map(String::from));
            return Groups::new(
                names,
                move |tag, ecn| if is_member(tag.class) { 0 } else { own + ecn as usize },
            );
        }
        let others: Vec<u32> = (0..classes.len() as u32).filter(|class| !is_member(*class)).collect();
        let names = others.iter().map(|class| classes[*class as usize].clone());
        let names: Vec<String> = first.into_iter().chain(names).collect();
        Groups::new(names, move |tag, _| others.binary_search(&tag.class).map_or(0, |place| own + place))
    }

    /// A flow has packets from now on.
    pub(super) fn flow_joined(&mut self, flow: FlowId, tag: FlowTag) {
        if self.of.is_some() {
            self.tags.keep(flow, tag);
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.to_vec()
    }

    /// Number of the group that an arriving packet belongs to.
    pub(super) fn of(&self, packet: &impl Packet) -> u8 {
        self.of.as_ref().map_or(0, |of| of(self.tags.of(packet.flow()), packet.ecn()) as u8)
    }
}

/// The names, of which a repeated one, such as that of a class called `reserved`, has its number added.
pub fn apart(names: impl IntoIterator<Item = String>) -> Arc<[String]> {
    let mut apart: Vec<String> = Vec::new();
    for name in names {
        let number = apart.len();
        apart.push(if apart.contains(&name) { format!("{name}_{number}") } else { name });
    }
    apart.into()
}

/// Names of the ECN codepoints, in the order of [`Ecn`].
const CODEPOINTS: [&str; 4] = ["not_ect", "ect0", "ect1", "ce"];
/// A packet has a byte for its group.
const MOST_GROUPS: usize = 256;
