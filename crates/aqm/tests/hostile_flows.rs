//! Chosen flow ids: who does not know the key of the hash cannot choose flows that meet in a queue (RFC 8290, section 8).

mod common;

use common::{Parcel, meeting};
use sojourn_aqm::qdiscs::Classifier;
use sojourn_aqm::qdiscs::classifiers::FlowHash;
use sojourn_random::Stream;
use sojourn_units::Ecn;

const BUCKETS: u32 = 1024;
const KEYS: u64 = 4000;

fn buckets(key: u64, flows: &[u32]) -> Vec<u32> {
    let mut hash = FlowHash::new(BUCKETS, &mut Stream::named(key, "drr"));
    let parcel = |flow: u32| Parcel { number: 0, len: 1000, ecn: Ecn::NotEct, flow };
    flows.iter().map(|flow| hash.classify(&parcel(*flow))).collect()
}

/// Over the keys, each of these flows shares the bucket of the victim as often as under a uniform hash: the victim is one of
/// them, so that without a key all would share it.
#[test]
fn chosen_flows_meet_the_victim_by_chance_alone() {
    let multiples: Vec<u32> = (0..64).map(|number| number * BUCKETS + 7).collect();
    let neighbours: Vec<u32> = (0..64).collect();
    for flows in [meeting(), multiples, neighbours] {
        assert_eq!(flows.len(), 64);
        let (mut met, mut most) = (0, 0);
        for key in 0..KEYS {
            let buckets = buckets(key, &flows);
            let shared = buckets[1..].iter().filter(|bucket| **bucket == buckets[0]).count();
            met += shared;
            most = most.max(shared);
        }
        // A binomial number of 63 * 4000 trials, within four standard deviations.
        let mean = 63.0 * KEYS as f64 / f64::from(BUCKETS);
        assert!((met as f64 - mean).abs() < 4.0 * mean.sqrt(), "{met} of {mean}");
        // For none of the keys did they do better than one in a million would by chance: P(more than 4 of 63) = 7e-9.
        assert!(most <= 4, "{most} flows met the victim");
    }
}

/// Keys are of the run: another seed is another key.
#[test]
fn another_key_is_another_arrangement() {
    let flows: Vec<u32> = (0..200).collect();
    let [one, again, other] = [1, 1, 2].map(|key| buckets(key, &flows));
    assert_eq!(one, again);
    let same = one.iter().zip(&other).filter(|(one, other)| one == other).count();
    assert!(same < 5, "{same} of 200");
}
