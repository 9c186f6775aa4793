//! Reassembly: all bytes below a number, and blocks above it.

use crate::segment::SackBlocks;

/// Bytes that have arrived.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// RCV.NXT without FIN: everything below has arrived.
    pub(super) next: u64,
    /// Out-of-order blocks; None before the first.
    above: Option<Box<Above>>,
}

/// Out-of-order blocks.
#[derive(Clone, Debug, Default)]
struct Above {
    /// Ordered, disjoint.
    blocks: Vec<Block>,
    /// Number of out-of-order segments, which numbers the changes of blocks.
    changes: u64,
}

/// Out-of-order bytes.
#[derive(Clone, Copy, Debug)]
struct Block {
    from: u64,
    to: u64,
    /// Number of the last change.
    touched: u64,
}

impl Reassembly {
    /// Nothing received.
    pub(super) fn new() -> Reassembly {
        Reassembly { next: 0, above: None }
    }

    /// Returns whether there is no gap.
    pub(super) fn is_in_order(&self) -> bool {
        self.blocks().is_empty()
    }

    /// End of the highest byte received.
    pub(super) fn highest(&self) -> u64 {
        self.blocks().last().map_or(self.next, |block| block.to)
    }

    /// First run of bytes within `from..to`, above `next`, that was received before (RFC 2883, section 4.2).
    pub(super) fn held(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let first = self.blocks().partition_point(|block| block.to <= from);
        let block = self.blocks().get(first).filter(|block| block.from < to)?;
        Some((from.max(block.from), to.min(block.to)))
    }

    /// Adds the bytes `from..to`, with `from` below `to`. At most `most` out-of-order blocks are held.
    ///
    /// Data that would exceed that is dropped as if there were no room (RFC 9293, section 3.10.7.4, has "SHOULD be
    /// held"): full-sized segments never do, and small ones cannot make each arrival expensive.
    pub(super) fn insert(&mut self, from: u64, to: u64, most: u64) {
        if from > self.next {
            return self.above.get_or_insert_default().insert(from, to, most);
        }
        self.next = self.next.max(to);
        if let Some(above) = &mut self.above {
            self.next = self.next.max(above.take_up_to(self.next));
        }
    }

    /// Frees the memory of out-of-order blocks at the end of the stream.
    pub(super) fn close(&mut self) {
        self.above = None;
    }

    /// Blocks to report in an ACK with number `ack`.
    ///
    /// First a D-SACK (RFC 2883, section 4), then the block of the latest segment, then those reported most recently
    /// (RFC 2018, section 4).
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

    /// Block last changed before change number `before`.
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

    /// Removes the blocks reached by the bytes below `next`, returning their end, or 0 if there are none.
    fn take_up_to(&mut self, next: u64) -> u64 {
        let taken = self.blocks.partition_point(|block| block.from <= next);
        let end = self.blocks.drain(..taken).next_back().map_or(0, |last| last.to);
        if self.blocks.is_empty() {
            self.blocks.shrink_to(KEPT);
        }
        end
    }
}

/// Blocks for which memory is kept while there are none.
const KEPT: usize = 3;
