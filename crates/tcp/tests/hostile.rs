//! Whatever the network does, nothing panics, nothing stalls, and every byte arrives in the end.

use proptest::prelude::*;
use sojourn_tcp::catalogue::CCS;
use sojourn_tcp::{Config, Flags, PROFILES, Profile, Receiver, Segment, Sender, Stamp};
use sojourn_units::{Ecn, Span, Stream, Time};
use std::collections::BTreeMap;

const MSS: u16 = 1000;

/// What a connection is made with.
#[derive(Clone, Copy, Debug)]
struct Setup {
    profile: &'static str,
    cc: &'static str,
    ecn: bool,
    sack: Option<bool>,
    timestamps: bool,
}

impl Setup {
    fn profile(self) -> Profile {
        let named = Profile::named(self.profile).unwrap();
        Profile { sack: self.sack, timestamps: self.timestamps, ..named }
    }

    fn config(self) -> Config {
        Config {
            profile: self.profile(),
            cc: self.cc.into(),
            mss: u32::from(MSS),
            ecn: self.ecn,
            reads: None,
        }
    }

    fn sender(self) -> Sender {
        Sender::new(self.config()).unwrap()
    }
}

fn setups() -> impl Strategy<Value = Setup> {
    let stems: Vec<&str> = CCS.iter().map(|entry| entry.page.stem).collect();
    let sack = prop::sample::select(&[None, Some(false), Some(true)][..]);
    (prop::sample::select(PROFILES), prop::sample::select(stems), any::<bool>(), sack, any::<bool>())
        .prop_map(|(profile, cc, ecn, sack, timestamps)| Setup { profile, cc, ecn, sack, timestamps })
}

/// A path that loses, marks, delays, reorders and doubles, each with its probability.
#[derive(Clone, Copy, Debug)]
struct Path {
    loss: f64,
    mark: f64,
    double: f64,
    jitter_ms: f64,
}

fn paths() -> impl Strategy<Value = Path> {
    (0.0..0.4_f64, 0.0..1.0_f64, 0.0..0.2_f64, 0.0..60.0_f64)
        .prop_map(|(loss, mark, double, jitter_ms)| Path { loss, mark, double, jitter_ms })
}

/// Segments on their way, by time of arrival and running number.
#[derive(Default)]
struct Flying {
    segments: BTreeMap<(Time, u64), (bool, Segment)>,
    launched: u64,
}

impl Flying {
    fn launch(&mut self, now: Time, segment: Segment, forward: bool, path: Path, draws: &mut Stream) {
        let copies = 1 + u64::from(draws.uniform() < path.double);
        for _ in 0..copies {
            if draws.uniform() < path.loss {
                continue;
            }
            let mut segment = segment;
            if segment.ecn.is_capable() && draws.uniform() < path.mark {
                segment.ecn = Ecn::Ce;
            }
            let delay = Span::from_seconds(0.025 + path.jitter_ms * 1e-3 * draws.uniform());
            self.launched += 1;
            self.segments.insert((now + delay, self.launched), (forward, segment));
        }
    }
}

/// How long it takes to deliver `segments` segments over the path; None when nothing is left to happen.
fn transfer(setup: Setup, segments: u64, path: Path, seed: u64) -> Option<Time> {
    let total = segments * u64::from(MSS);
    let mut sender = setup.sender();
    let mut receiver = Receiver::new(&setup.config());
    let mut draws = Stream::named(seed, "path");
    let mut flying = Flying::default();
    let mut now = Time::ZERO;
    sender.supply(total);
    sender.open();
    while sender.acknowledged() < total {
        while let Some(segment) = sender.poll_transmit(now) {
            assert!(segment.seq + u64::from(segment.len) <= total);
            flying.launch(now, segment, true, path, &mut draws);
        }
        assert!(sender.window().get() >= u64::from(sender.mss()));
        let arrival = flying.segments.first_key_value().map(|((time, _), _)| *time);
        now = [arrival, sender.next_timeout(), receiver.next_timeout()].into_iter().flatten().min()?.max(now);
        if arrival.is_some_and(|time| time <= now) {
            let (_, (forward, segment)) = flying.segments.pop_first().unwrap();
            if forward {
                if let Some(ack) = receiver.on_segment(now, &segment) {
                    flying.launch(now, ack, false, path, &mut draws);
                }
            } else {
                sender.on_segment(now, &segment);
            }
        } else if receiver.next_timeout().is_some_and(|time| time <= now) {
            if let Some(ack) = receiver.on_timeout(now) {
                flying.launch(now, ack, false, path, &mut draws);
            }
        } else {
            sender.on_timeout(now);
        }
        assert!(receiver.delivered() <= total && sender.acknowledged() <= receiver.delivered());
        assert!(now < Time::ZERO + Span::from_secs(1_000_000), "goes on for ever");
    }
    Some(now)
}

/// SACK blocks that need not make sense: distances from the acknowledgment, and lengths.
fn blocks() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..40_000_u64, 0..10_000_u64), 0..4)
}

proptest! {
    #[test]
    fn every_byte_arrives_over_any_path(setup in setups(), segments in 1..200_u64, path in paths(), seed: u64) {
        prop_assert!(transfer(setup, segments, path, seed).is_some(), "it stalled: no timer, nothing on its way");
    }

    #[test]
    fn a_clean_path_costs_round_trips_and_no_timeouts(setup in setups(), segments in 1..200_u64, seed: u64) {
        let clean = Path { loss: 0.0, mark: 0.0, double: 0.0, jitter_ms: 0.0 };
        let end = transfer(setup, segments, clean, seed).unwrap();
        // Slow start from two segments: at most eight rounds of 50 ms and delayed ACKs of 40 ms.
        prop_assert!(end < Time::ZERO + Span::from_millis(1 + 10 * 90), "{end}");
    }

    #[test]
    fn no_segment_from_anywhere_upsets_a_sender(
        setup in setups(),
        storm in prop::collection::vec((any::<u8>(), 0..40_u64, 0..500_u64, blocks()), 1..200),
    ) {
        let mut sender = setup.sender();
        sender.supply(1 << 40);
        sender.open();
        let mut now = Time::ZERO;
        for (bits, ack, millis, blocks) in storm {
            now += Span::from_millis(millis);
            sender.on_timeout(now);
            let kinds = [Flags::SYN, Flags::ACK, Flags::ECE, Flags::CWR, Flags::SACK, Flags::TIMESTAMP];
            let flags = kinds.into_iter().enumerate();
            let flags = flags.fold(Flags::NONE, |all, (bit, flag)| all.with(flag, bits >> bit & 1 != 0));
            let ack = if bits & 64 == 0 { ack * u64::from(MSS) } else { sender.acknowledged() + ack * 100 };
            let mut segment = Segment { ack, flags, stamp: Stamp::at(now), ..Segment::default() };
            for (from, len) in blocks {
                segment.sack.push(ack, ack + from, ack + from + len);
            }
            sender.on_segment(now, &segment);
            let sent = std::iter::from_fn(|| sender.poll_transmit(now)).take(10_000).count();
            prop_assert!(sent < 10_000, "sends without end");
            prop_assert!(sender.window().get() >= u64::from(sender.mss()));
            let waits = sender.flight() == 0 || sender.next_timeout().is_some();
            prop_assert!(waits, "data is outstanding and no timer runs");
        }
    }

    #[test]
    fn no_segment_upsets_a_receiver(
        storm in prop::collection::vec((0..1_000_000_u64, 0..3000_u16, any::<u8>(), 0..100_u64), 1..200),
    ) {
        let setup = Setup { profile: "default", cc: "newreno", ecn: true, sack: None, timestamps: false };
        let mut receiver = Receiver::new(&setup.config());
        let (mut now, mut before) = (Time::ZERO, 0);
        for (seq, len, bits, millis) in storm {
            now += Span::from_millis(millis);
            let kinds = [Flags::CWR, Flags::SYN, Flags::SACK, Flags::TIMESTAMP];
            let flags = kinds.into_iter().enumerate();
            let flags = flags.fold(Flags::ACK, |all, (bit, flag)| all.with(flag, bits >> bit & 1 != 0));
            let ecn = if bits & 16 == 0 { Ecn::Ce } else { Ecn::Ect0 };
            let stamp = Stamp::at(Time::from_nanos(seq * 1_000_000));
            let answer = receiver.on_segment(now, &Segment { seq, len, flags, ecn, stamp, ..Segment::default() });
            prop_assert!(receiver.delivered() >= before);
            before = receiver.delivered();
            prop_assert!(answer.is_none_or(|ack| ack.ack == before && ack.len == 0));
            receiver.on_timeout(now);
        }
    }
}
