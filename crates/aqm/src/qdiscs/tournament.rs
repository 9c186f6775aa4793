//! The queue that comes first: a tournament tree over the keys of numbered queues.

/// Queues with a key each; the winner has the smallest key, of equal ones the lowest number.
#[derive(Clone, Debug)]
pub(super) struct Tournament<K> {
    /// A perfect binary tree: the winner of node `i` is that of `2 i` or `2 i + 1`; leaves begin at `leaves`.
    winners: Vec<(K, u32)>,
    leaves: usize,
    /// Key of a queue that takes no part; no key is larger.
    out: K,
}

impl<K: Copy + PartialEq + PartialOrd> Tournament<K> {
    /// No queues yet; `out` is the key of one that takes no part.
    pub(super) fn new(out: K) -> Tournament<K> {
        Tournament { winners: Vec::new(), leaves: 0, out }
    }

    /// Room for one more queue, which takes no part yet.
    pub(super) fn add(&mut self, queue: u32) {
        if queue as usize >= self.leaves {
            self.grow();
        }
    }

    /// Sets the key of a queue.
    pub(super) fn set(&mut self, queue: u32, key: K) {
        let mut place = self.leaves + queue as usize;
        self.winners[place] = (key, queue);
        while place > 1 {
            place /= 2;
            let winner = better(self.winners[2 * place], self.winners[2 * place + 1]);
            if self.winners[place] == winner {
                return;
            }
            self.winners[place] = winner;
        }
    }

    /// The winner with its key; None: no queue takes part.
    pub(super) fn winner(&self) -> Option<(K, u32)> {
        self.winners.get(1).copied().filter(|(key, _)| *key != self.out)
    }

    /// Keys of queues in place of all others; memory that it has is used again.
    pub(super) fn set_all(&mut self, keys: impl ExactSizeIterator<Item = K>) {
        // As many more.
        self.leaves = (2 * keys.len()).next_power_of_two().max(2);
        self.winners.clear();
        self.winners.resize(self.leaves, (self.out, 0));
        let queues = keys.len()..self.leaves;
        self.winners.extend(keys.zip(0..));
        self.winners.extend(queues.map(|queue| (self.out, queue as u32)));
        for place in (1..self.leaves).rev() {
            self.winners[place] = better(self.winners[2 * place], self.winners[2 * place + 1]);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let before = self.winners.split_off(self.leaves);
        self.set_all(before.into_iter().map(|(key, _)| key));
    }
}

fn better<K: PartialOrd>(left: (K, u32), right: (K, u32)) -> (K, u32) {
    if right.0 < left.0 { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;

    #[test]
    fn the_winner_is_the_first_of_the_smallest() {
        let (mut fattest, mut bytes, mut state) = (Tournament::new(Reverse(0)), Vec::new(), 1_u64);
        assert_eq!(fattest.winner(), None);
        for step in 0..20_000_u64 {
            if step % 40 == 0 {
                fattest.add(bytes.len() as u32);
                bytes.push(0);
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let queue = (state >> 33) as usize % bytes.len();
            bytes[queue] = (state >> 20) % 5;
            fattest.set(queue as u32, Reverse(bytes[queue]));
            let most = *bytes.iter().max().unwrap();
            let first = bytes.iter().position(|bytes| *bytes == most).unwrap() as u32;
            assert_eq!(fattest.winner(), (most > 0).then_some((Reverse(most), first)));
            if step % 1000 == 0 {
                fattest.set_all(bytes.iter().map(|bytes| Reverse(*bytes)));
                assert_eq!(fattest.winner(), (most > 0).then_some((Reverse(most), first)));
            }
        }
    }
}
