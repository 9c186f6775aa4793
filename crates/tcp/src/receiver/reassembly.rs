//! What has arrived: all bytes below one number, and blocks above it.

use crate::segment::SackBlocks;

/// The bytes that have arrived.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// Next byte expected: everything below has arrived.
    pub(super) next: u64,
    /// Blocks above `next`, in order and apart.
    blocks: Vec<Block>,
    /// Most blocks that are held.
    most: usize,
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
    /// Nothing yet; at most `most` blocks are held out of order.
    ///
    /// What would make one more is thrown away, as if there were no room for it (RFC 9293, section 3.10.7.4, says
    /// "SHOULD be held"): full segments never come to that, and small ones cannot make each arrival dear.
    pub(super) fn new(most: usize) -> Reassembly {
        Reassembly { next: 0, blocks: Vec::new(), most, changes: 0 }
    }

    /// Whether nothing came before its turn.
    pub(super) fn has_no_gap(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The end of the highest byte that has arrived.
    pub(super) fn highest(&self) -> u64 {
        self.blocks.last().map_or(self.next, |block| block.to)
    }

    /// The first run of bytes of `from..to`, above `next`, that have arrived already (RFC 2883, section 4.2).
    pub(super) fn held(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let first = self.blocks.partition_point(|block| block.to <= from);
        let block = self.blocks.get(first).filter(|block| block.from < to)?;
        Some((from.max(block.from), to.min(block.to)))
    }

    /// Takes in the bytes `from..to`; `from` below `to`.
    pub(super) fn insert(&mut self, from: u64, to: u64) {
        if from <= self.next {
            self.next = self.next.max(to);
            let taken = self.blocks.partition_point(|block| block.from <= self.next);
            if let Some(last) = self.blocks.drain(..taken).next_back() {
                self.next = self.next.max(last.to);
            }
            if self.blocks.is_empty() {
                self.blocks.shrink_to(KEPT);
            }
            return;
        }
        self.changes += 1;
        let touched = self.changes;
        let first = self.blocks.partition_point(|block| block.to < from);
        let last = self.blocks.partition_point(|block| block.from <= to);
        if first < last {
            let (from, to) = (from.min(self.blocks[first].from), to.max(self.blocks[last - 1].to));
            self.blocks[first] = Block { from, to, touched };
            self.blocks.drain(first + 1..last);
        } else if self.blocks.len() < self.most {
            self.blocks.insert(first, Block { from, to, touched });
        }
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
        self.blocks.iter().filter(|block| block.touched < before).max_by_key(|block| block.touched)
    }
}

/// For so many blocks memory is kept while there are none.
const KEPT: usize = 4;
