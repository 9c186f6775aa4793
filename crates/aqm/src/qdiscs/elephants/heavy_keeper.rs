//! HeavyKeeper: the flows with the most packets, in bounded memory.
//!
//! T. Yang, H. Zhang, J. Li, J. Gong, S. Uhlig, S. Chen, X. Li, "HeavyKeeper: An Accurate Algorithm for Finding Top-k
//! Elephant Flows", IEEE/ACM Transactions on Networking 27(5), 2019. In each of two rows a flow has a bucket, with the
//! fingerprint of a flow and a count C. A packet of that flow counts up; one of another flow counts down with the probability
//!
//! ```text
//! b^(-C),   b = 1.08                                                                                          (1)
//! ```
//!
//! so that mice hardly wear off an elephant, and a flow takes a bucket whose count has come to 0. A flow's estimate is the
//! greatest of its counts. A table has the k flows of the greatest estimates; a flow enters it with an estimate of one above
//! the least there, so that a fingerprint which two flows share makes no elephant of a mouse (optimization I), and the
//! buckets of a flow outside do not count beyond (optimization II).
//!
//! Beyond the source: while slots are free, a flow whose buckets are held by others enters by chance, one packet of the least
//! count on average; it would have no slot for as long as those others send.
//!
//! The hash has a key: who does not know it cannot choose flows that wear off the buckets of another one.

use super::slots::{Seen, Slots};
use crate::law::FlowId;
use siphasher::sip::SipHasher13;
use sojourn_random::Stream;
use sojourn_units::math;

/// Counts of flows, and the slots of those with the most packets.
#[derive(Clone)]
pub struct HeavyKeeper {
    hasher: SipHasher13,
    rows: [Vec<Bucket>; 2],
    /// Equation (1) for C = 0, 1, 2, ...; 0 beyond.
    decay: Vec<f64>,
    slots: Slots,
    /// Least estimate of a flow with a slot.
    least: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    fingerprint: u32,
    count: u32,
}

impl HeavyKeeper {
    /// For the `elephants` flows with the most packets, `least` or more, in so many buckets a row; the key is drawn.
    pub fn new(elephants: u32, least: u32, buckets: u32, draws: &mut Stream) -> HeavyKeeper {
        let row = vec![Bucket::default(); buckets as usize];
        let decay = (0..LAST_DECAY).map(|count| math::pow(BASE, -f64::from(count))).collect();
        HeavyKeeper {
            hasher: SipHasher13::new_with_keys(draws.bits(), draws.bits()),
            rows: [row.clone(), row],
            decay,
            slots: Slots::new(elephants),
            least,
        }
    }

    /// The slot of a flow.
    pub fn slot(&self, flow: FlowId) -> Option<u32> {
        self.slots.find(flow, self.hasher.hash(&flow.0.to_le_bytes()))
    }

    /// Another least estimate of a flow that enters, 1 or more.
    pub fn set_least(&mut self, least: u32) {
        self.least = least;
    }

    /// A packet of a flow.
    pub fn packet(&mut self, flow: FlowId, draws: &mut Stream) -> Seen {
        let hash = self.hasher.hash(&flow.0.to_le_bytes());
        let slot = self.slots.find(flow, hash);
        let most = if slot.is_some() { u32::MAX } else { self.slots.least().max(self.least - 1) };
        let estimate = self.count(hash, most, draws);
        match slot {
            Some(slot) => {
                self.slots.set_count(slot, estimate.max(self.slots.count(slot)));
                Seen::Elephant(slot)
            }
            None if estimate == most.saturating_add(1) => {
                self.slots.enter(flow, hash, estimate).map_or(Seen::Mouse, Seen::Entered)
            }
            None if estimate == 0 && self.is_drawn(draws) => {
                self.slots.enter(flow, hash, self.least).map_or(Seen::Mouse, Seen::Entered)
            }
            None => Seen::Mouse,
        }
    }

    /// A packet of a flow whose buckets other flows hold, while slots are free, enters it: one of `least` on average.
    fn is_drawn(&self, draws: &mut Stream) -> bool {
        self.slots.least() == 0 && draws.uniform() * f64::from(self.least) < 1.0
    }

    /// Counts a packet in both rows; counts of its own flow beyond `most` stay. The greatest of them.
    fn count(&mut self, hash: u64, most: u32, draws: &mut Stream) -> u32 {
        let fingerprint = (hash >> 32) as u32;
        let mut estimate = 0;
        for (row, buckets) in self.rows.iter_mut().enumerate() {
            let place = mixed(hash, row) % buckets.len() as u64;
            let bucket = &mut buckets[place as usize];
            if bucket.count > 0 && bucket.fingerprint != fingerprint {
                let decay = self.decay.get(bucket.count as usize).copied().unwrap_or(0.0);
                if decay == 0.0 || draws.uniform() >= decay {
                    continue;
                }
                bucket.count -= 1;
                if bucket.count > 0 {
                    continue;
                }
            }
            bucket.fingerprint = fingerprint;
            if bucket.count <= most {
                bucket.count += 1;
            }
            estimate = estimate.max(bucket.count);
        }
        estimate
    }

    /// Halves all counts, so that the past fades; a flow below the least count leaves its slot.
    pub fn age(&mut self, mut left: impl FnMut(u32, FlowId)) {
        for bucket in self.rows.iter_mut().flatten() {
            bucket.count /= 2;
        }
        for slot in 0..self.slots.len() {
            let Some((flow, count)) = self.slots.get(slot) else { continue };
            if count / 2 < self.least {
                self.slots.leave(slot);
                left(slot, flow);
            } else {
                self.slots.set_count(slot, count / 2);
            }
        }
    }

    /// The flows with their slots and estimates.
    pub fn elephants(&self) -> impl Iterator<Item = (u32, FlowId, u32)> {
        self.slots.iter()
    }
}

/// Places in the rows are independent of the fingerprint, the upper half of the hash.
fn mixed(hash: u64, row: usize) -> u64 {
    let low = hash & u64::from(u32::MAX);
    // SplitMix64's finalizer (S. Vigna, public domain).
    let mut bits = low.wrapping_add((row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

const BASE: f64 = 1.08;
/// Count from which on (1) is below 1e-9: no packet wears it off.
const LAST_DECAY: u32 = 270;

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of flows by Zipf's law of exponent 1: the number of each.
    fn zipf(flows: usize, packets: f64) -> Vec<f64> {
        let harmonic: f64 = (1..=flows).map(|rank| 1.0 / rank as f64).sum();
        (1..=flows).map(|rank| packets / harmonic / rank as f64).collect()
    }

    /// Draws a flow by its share.
    struct Zipf {
        sums: Vec<f64>,
        draws: Stream,
    }

    impl Zipf {
        fn new(flows: usize, seed: u64) -> Zipf {
            let mut sum = 0.0;
            let sums = zipf(flows, 1.0).into_iter().map(|share| {
                sum += share;
                sum
            });
            Zipf { sums: sums.collect(), draws: Stream::named(seed, "zipf") }
        }

        fn next(&mut self) -> FlowId {
            let u = self.draws.uniform();
            FlowId(self.sums.partition_point(|sum| *sum < u) as u32)
        }
    }

    /// Bytes of a sketch of so many buckets a row.
    fn memory(keeper: &HeavyKeeper) -> usize {
        let rows = keeper.rows.iter().map(|row| size_of_val(&row[..])).sum::<usize>();
        rows + size_of_val(&keeper.decay[..]) + keeper.slots.memory()
    }

    /// Of 100 000 flows by Zipf's law the first 32, in 64 KiB (the paper's figures 5 to 8 have precisions above 95 %).
    #[test]
    fn the_heaviest_of_many_flows_are_found() {
        let mut found = 0;
        for seed in 0..5 {
            let mut draws = Stream::named(seed, "keeper");
            let mut keeper = HeavyKeeper::new(32, 2, 3500, &mut draws);
            assert!(memory(&keeper) <= 64 << 10, "{}", memory(&keeper));
            let mut packets = Zipf::new(100_000, seed);
            for _ in 0..1_000_000 {
                keeper.packet(packets.next(), &mut draws);
            }
            found += keeper.elephants().filter(|(_, flow, _)| flow.0 < 32).count();
        }
        assert!(found >= 152, "{found} of 160");
    }

    /// An estimate never exceeds the number of packets, but for shared fingerprints (the paper's theorem 1).
    #[test]
    fn estimates_do_not_exceed_the_counts() {
        let mut draws = Stream::named(1, "keeper");
        let mut keeper = HeavyKeeper::new(32, 2, 500, &mut draws);
        let (mut packets, mut counts) = (Zipf::new(10_000, 2), vec![0; 10_000]);
        for _ in 0..300_000 {
            let flow = packets.next();
            counts[flow.0 as usize] += 1;
            keeper.packet(flow, &mut draws);
        }
        for (_, flow, estimate) in keeper.elephants() {
            let count = counts[flow.0 as usize];
            assert!(estimate <= count && estimate * 10 >= count * 9, "{flow:?}: {estimate} of {count}");
        }
    }

    /// Without the key nobody knows which flows share buckets with a victim: 50 000 flows of one packet each, chosen
    /// because they share its buckets under another key, leave an elephant where it is.
    #[test]
    fn chosen_flows_do_not_wear_off_a_victim() {
        let victim = FlowId(7);
        let known = HeavyKeeper::new(8, 2, 256, &mut Stream::named(1, "guess"));
        let bucket = |flow: u32, row: usize| mixed(known.hasher.hash(&flow.to_le_bytes()), row) % 256;
        let attackers: Vec<u32> = (8..)
            .filter(|flow| (0..2).any(|row| bucket(*flow, row) == bucket(7, row)))
            .take(50_000)
            .collect();
        let mut draws = Stream::named(2, "key");
        let mut keeper = HeavyKeeper::new(8, 2, 256, &mut draws);
        let mut sent = 0;
        for (number, attacker) in attackers.into_iter().enumerate() {
            keeper.packet(FlowId(attacker), &mut draws);
            if number % 50 == 0 {
                sent += 1;
                keeper.packet(victim, &mut draws);
            }
        }
        let held = keeper.elephants().find(|(_, flow, _)| *flow == victim);
        let (_, _, estimate) = held.expect("it is an elephant");
        assert!(estimate * 10 >= sent * 8, "{estimate} of {sent}");
    }

    #[test]
    fn the_past_fades() {
        let mut draws = Stream::named(1, "keeper");
        let mut keeper = HeavyKeeper::new(1, 10, 64, &mut draws);
        for _ in 0..100 {
            keeper.packet(FlowId(1), &mut draws);
        }
        // Half as fast a flow is not seen as one, until the first one's packets are long ago.
        let mut left = Vec::new();
        for _ in 0..5 {
            for _ in 0..50 {
                keeper.packet(FlowId(2), &mut draws);
            }
            keeper.age(|slot, flow| left.push((slot, flow)));
        }
        assert_eq!(keeper.elephants().map(|(_, flow, _)| flow).collect::<Vec<_>>(), [FlowId(2)]);
        for _ in 0..5 {
            keeper.age(|slot, flow| left.push((slot, flow)));
        }
        assert_eq!(left, [(0, FlowId(2))]);
    }
}
