//! Flows that stay without a queue of their own: seen in the last period and in this one.

use crate::law::FlowId;
use crate::qdiscs::classifiers::FlowHash;
use sojourn_random::Stream;

/// A tag of each flow of two periods, in the sets of a keyed hash. Flows of the same set and tag are one; a flow whose set is full
/// does not count, as under a flood of many names, but one that stays replaces one that is new.
pub(super) struct Settled {
    hash: FlowHash,
    last: Sets,
    present: Sets,
}

/// Sets of tags; 0: free.
type Sets = Vec<[u16; WAYS]>;

impl Settled {
    /// Nothing is seen yet; the key is drawn.
    pub(super) fn new(draws: &mut Stream) -> Settled {
        let sets = || vec![[0; WAYS]; SETS as usize];
        Settled { hash: FlowHash::new(SETS * TAGS, draws), last: sets(), present: sets() }
    }

    /// A packet of a flow; true: it is the first in this period of one that was seen in the last.
    pub(super) fn packet(&mut self, flow: FlowId) -> bool {
        let hash = self.hash.bucket(flow.0);
        let (set, tag) = ((hash / TAGS) as usize, (hash % TAGS) as u16 + 1);
        let tags = &mut self.present[set];
        if tags.contains(&tag) {
            return false;
        }
        let last = &self.last[set];
        let is_settled = last.contains(&tag);
        // New names give way to those that stay.
        let room = |of: &u16| *of == 0 || (is_settled && !last.contains(of));
        match tags.iter_mut().find(|of| room(of)) {
            Some(place) => *place = tag,
            None => return false,
        }
        is_settled
    }

    /// The period ends.
    pub(super) fn end_period(&mut self) {
        std::mem::swap(&mut self.last, &mut self.present);
        self.present.fill([0; WAYS]);
    }
}

/// Sets, flows that each holds, and tags.
const SETS: u32 = 1 << 13;
const WAYS: usize = 4;
const TAGS: u32 = (1 << 16) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_stay_count_once_a_period_and_a_flood_of_names_does_not() {
        let mut settled = Settled::new(&mut Stream::named(1, "settled"));
        let mut names = 1000..;
        for period in 0..5 {
            let [mut stay, mut flood] = [0, 0];
            // Names that come first fill the sets.
            for packets in [if period == 0 { 0 } else { 60_000 }, 8000] {
                let new = names.by_ref().take(packets);
                new.for_each(|name| flood += u32::from(settled.packet(FlowId(name))));
                (0..20).for_each(|flow| stay += u32::from(settled.packet(FlowId(flow))));
            }
            assert_eq!(stay, if period == 0 { 0 } else { 20 });
            assert!(flood <= 12, "{flood}");
            settled.end_period();
        }
    }
}
