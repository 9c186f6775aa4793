//! What has arrived: all bytes below one number, and blocks above it.

use crate::segment::SackBlocks;

/// The bytes that have arrived.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// Next byte expected: everything below has arrived.
    pub(super) next: u64,
    /// Nothing before the first gap.
    above: Option<Box<Above>>,
}

/// What came before its turn.
#[derive(Clone, Debug, Default)]
struct Above {
    /// In order and apart.
    blocks: Vec<Block>,
    /// Segments that came out of order: numbers the changes of blocks.
    changes: u64,
}

/// Bytes that came before their turn.
#[derive(Clone, Copy, Debug)]
struct Block {
    from: u64,
    to: u64,
    /// When a segment last fell into it.
    touched: u64,
}

impl Reassembly {
    /// Nothing yet.
    pub(super) fn new() -> Reassembly {
        Reassembly { next: 0, above: None }
    }

    /// Whether nothing came before its turn.
    pub(super) fn has_no_gap(&self) -> bool {
        self.blocks().is_empty()
    }

    /// The end of the highest byte that has arrived.
    pub(super) fn highest(&self) -> u64 {
        self.blocks().last().map_or(self.next, |block| block.to)
    }

    /// The first run of bytes of `from..to`, above `next`, that have arrived already (RFC 2883, section 4.2).
    pub(super) fn held(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let first = self.blocks().partition_point(|block| block.to <= from);
        let block = self.blocks().get(first).filter(|block| block.from < to)?;
        Some((from.max(block.from), to.min(block.to)))
    }

    /// Takes in the bytes `from..to`; `from` below `to`. At most `most` blocks are held out of order.
    ///
    /// What would make one more is thrown away, as if there were no room for it (RFC 9293, section 3.10.7.4, says
    /// "SHOULD be held"): full segments never come to that, and small ones cannot make each arrival dear.
    pub(super) fn insert(&mut self, from: u64, to: u64, most: u64) {
        if from > self.next {
            return self.above.get_or_insert_default().insert(from, to, most);
        }
        self.next = self.next.max(to);
        if let Some(above) = &mut self.above {
            self.next = self.next.max(above.take_up_to(self.next));
        }
    }

    /// Nothing more will come: gives up the memory of what came before its turn.
    pub(super) fn close(&mut self) {
        self.above = None;
    }

    /// The blocks that an ACK for everything before `ack` tells of.
    ///
    /// RFC 2883, section 4: first what came twice. RFC 2018, section 4: then the block of the latest segment, then
    /// those reported most recently.
    pub(super) fn report(&self, ack: u64, duplicate: Option<(u64, u64)>) -> SackBlocks {
        let mut report = SackBlocks::default();
        if let Some((from, to)) = duplicate {
            report.push(ack, from, to);
        }
        let mut before = u64::MAX;
        while let Some(block) = self.latest(before)
            && report.push(ack, block.from, block.to)
        {
            before = block.touched;
        }
        report
    }

    /// The block that was touched last before the change of this number.
    fn latest(&self, before: u64) -> Option<&Block> {
        self.blocks().iter().filter(|block| block.touched < before).max_by_key(|block| block.touched)
    }

    fn blocks(&self) -> &[Block] {
        self.above.as_ref().map_or(&[], |above| &above.blocks)
    }
}

impl Above {
    fn insert(&mut self, from: u64, to: u64, most: u64) {
        self.changes += 1;
        let touched = self.changes;
        let first = self.blocks.partition_point(|block| block.to < from);
        let last = self.blocks.partition_point(|block| block.from <= to);
        if first < last {
            let (from, to) = (from.min(self.blocks[first].from), to.max(self.blocks[last - 1].to));
            self.blocks[first] = Block { from, to, touched };
            self.blocks.drain(first + 1..last);
        } else if (self.blocks.len() as u64) < most {
            self.blocks.insert(first, Block { from, to, touched });
        }
    }

    /// Takes out what everything below `next` reaches; gives where that ends, 0 where there is nothing.
    fn take_up_to(&mut self, next: u64) -> u64 {
        let taken = self.blocks.partition_point(|block| block.from <= next);
        let end = self.blocks.drain(..taken).next_back().map_or(0, |last| last.to);
        if self.blocks.is_empty() {
            self.blocks.shrink_to(KEPT);
        }
        end
    }
}

/// For so many blocks memory is kept while there are none.
const KEPT: usize = 3;
