//! Tags of the flows at a qdisc.

use crate::law::FlowId;
use crate::qdisc::FlowTag;

/// Tags of flows, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Tags(Vec<FlowTag>);

impl Tags {
    /// Keeps the tag of a flow, in place of an earlier one.
    pub fn keep(&mut self, flow: FlowId, tag: FlowTag) {
        let place = flow.0 as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, FlowTag::default());
        }
        self.0[place] = tag;
    }

    /// The tag of a flow; the default one where none is known.
    pub fn of(&self, flow: FlowId) -> FlowTag {
        self.0.get(flow.0 as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_its_last_tag_or_the_default_one() {
        let tag = |class| FlowTag { class, ..FlowTag::default() };
        let mut tags = Tags::default();
        tags.keep(FlowId(3), tag(1));
        tags.keep(FlowId(3), tag(2));
        assert_eq!([0, 3, 4].map(|flow| tags.of(FlowId(flow))), [tag(0), tag(2), tag(0)]);
    }
}
