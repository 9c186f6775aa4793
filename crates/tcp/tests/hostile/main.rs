//! Under any network behaviour nothing panics, nothing stalls, and every byte is delivered in the end.
//!
//! [`world`] defines the meaning of an input and the invariants; `fuzz/` searches for inputs that violate them. Inputs
//! that it found are kept there, and replayed here.

mod world;

use proptest::prelude::*;
use sojourn_random::Stream;
use sojourn_tcp::catalogue::CCS;
use sojourn_tcp::cc::{AckSample, Choice, CongestionControl, Custom, Signal};
use sojourn_tcp::{LossDetection, PROFILES, Pipe, Profile, Prr};
use sojourn_units::{Bytes, Span, Time};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use world::input::Input;
use world::journal::Journal;
use world::pair::{self, Outcome};
use world::setup::Setup;
use world::{WORLDS, run_input};

/// Least number of inputs kept for each world.
const LEAST_KEPT: usize = 50;

/// All kept inputs: corpora, and inputs of past failures.
#[test]
fn kept_inputs_pass() {
    let kept = kept();
    for world in WORLDS {
        let number = kept.iter().filter(|(of, _)| *of == world).count();
        assert!(number >= LEAST_KEPT, "{number} inputs are kept for {world}: fuzz/corpus is not all there");
    }
    let failed: Vec<String> = kept.into_iter().filter_map(|(world, path)| failure(world, &path)).collect();
    assert!(failed.is_empty(), "{} inputs:\n{}", failed.len(), failed.join("\n"));
}

/// The meaning of the corpora's bytes is fixed.
#[test]
fn the_meaning_of_bytes_is_stable() {
    // CUBIC with ECN, SACK off, an initial window of two segments; three of them over 10 ms, the second of which is
    // lost.
    let mut bytes = [2 | 1 << 5, 1, 0, 0, 0, 2, 255].to_vec();
    bytes.resize(world::setup::LEN, 0);
    bytes.extend([2, 10, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 0, 2]);
    let mut journal = Journal::on();
    run_input("pair", &bytes, &mut journal);
    assert_eq!(journal.text(), include_str!("meaning.pkt"));
}

/// Worlds and the files kept for each.
fn kept() -> Vec<(&'static str, PathBuf)> {
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let folders = WORLDS
        .iter()
        .flat_map(|world| ["corpus", "regressions"].map(|kind| (*world, fuzz.join(kind).join(world))));
    let files = folders.flat_map(|(world, folder)| {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.map(move |entry| (world, entry.path()))
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

/// Failure on the input of a file, if any.
fn failure(world: &str, path: &FilePath) -> Option<String> {
    let bytes = fs::read(path).expect("a file that was listed");
    let outcome = catch_unwind(AssertUnwindSafe(|| run_input(world, &bytes, &mut Journal::off())));
    outcome.is_err().then(|| format!("{world}: {}", path.display()))
}

/// Path that loses, marks, duplicates and delays with given probabilities.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    loss: f64,
    mark: f64,
    double: f64,
    late: f64,
    /// Largest extra delay, ms.
    most_ms: u8,
}

impl Path {
    /// Outcome of a transfer of three thousand segments.
    fn fates(self, seed: u64) -> Vec<u8> {
        let mut draws = Stream::named(seed, "path");
        let mut fate = || {
            let late = 1 + (draws.uniform() * f64::from(self.most_ms)) as u8;
            let mut draw = draws.uniform();
            for (probability, fate) in
                [(self.loss, 2), (self.mark, 4), (self.double, 3 | late << 3), (self.late, 1 | late << 3)]
            {
                if draw < probability {
                    return fate;
                }
                draw -= probability;
            }
            0
        };
        (0..3000).map(|_| fate()).collect()
    }
}

/// Transfer of so many segments over a path of 25 ms each way, at one segment per millisecond.
fn transfer(setup: &Setup, segments: u8, fates: &[u8]) -> Outcome {
    let bytes: Vec<u8> = [segments - 1, 25, 10, 0, 0, 0, 0, 0].iter().chain(fates).copied().collect();
    pair::run_input(setup, Input::new(&bytes), &mut Journal::off())
}

/// Every congestion control with every profile, with and without SACK, timestamps and ECN.
fn setups() -> Vec<Setup> {
    let mut all = Vec::new();
    for (entry, base, choices) in CCS.iter().flat_map(|entry| {
        PROFILES.iter().flat_map(move |profile| (0..12).map(move |choices| (entry, *profile, choices)))
    }) {
        let sack = [None, Some(false), Some(true)][choices / 4];
        let timestamps = choices & 1 != 0;
        let named = Profile::named(base).expect("a profile that is listed");
        let ecn = choices & 2 != 0;
        let profile = Profile { sack, timestamps, ..named };
        let cc = entry.page.stem.into();
        all.push(Setup { base, profile, cc, mss: 1000, requests_ecn: ecn, agrees_ecn: ecn, reads: None });
    }
    all
}

#[test]
fn the_fuzz_targets_have_every_congestion_control_and_profile() {
    assert!(CCS.iter().all(|entry| world::setup::CCS.contains(&entry.page.stem)));
    assert!(PROFILES.iter().all(|name| world::setup::PROFILES.contains(name)));
}

/// Slow start from two segments: at most eight rounds of 51 ms with delayed ACKs of 40 ms, and 200 segments of 1 ms.
#[test]
fn a_clean_path_needs_no_retransmission() {
    for setup in setups() {
        for segments in [1, 2, 3, 20, 200] {
            let Outcome { end, retransmissions } = transfer(&setup, segments, &[]);
            assert!(
                retransmissions == 0 && end < Time::ZERO + Span::from_millis(1200),
                "{retransmissions} {end} {setup:?}"
            );
        }
    }
}

/// Each loss costs at most a timeout, with back-off.
#[test]
fn a_loss_in_a_hundred_ends_no_transfer() {
    for (seed, setup) in setups().into_iter().enumerate() {
        let path = Path { loss: 0.01, ..Path::default() };
        let Outcome { end, .. } = transfer(&setup, 200, &path.fates(seed as u64));
        assert!(end < Time::ZERO + Span::from_secs(20), "{end} {setup:?}");
    }
}

/// RFC 8985, section 6.2: after reordering was seen, a segment may be a quarter of a round trip late.
#[test]
fn reordering_by_three_segments_is_hardly_ever_a_loss() {
    for (seed, mut setup) in setups().into_iter().enumerate() {
        setup.profile.loss_detection = LossDetection::Rack;
        setup.profile.pipe = Pipe::Scoreboard;
        setup.profile.sack = Some(true);
        let path = Path { late: 0.1, most_ms: 3, ..Path::default() };
        let Outcome { retransmissions, .. } = transfer(&setup, 200, &path.fates(seed as u64));
        assert!(retransmissions <= 4, "{retransmissions} retransmissions: {setup:?}");
    }
}

/// Control of the catalogue under check: congestion never raises its window, unless it is below a segment, and a loss
/// reduces it, down to two segments.
///
/// A loss leaves half of FlightSize (RFC 5681, section 3.1, equation 4; RFC 6675, section 5, step 4.2), or 0.7 of it
/// (RFC 9438, section 4.6). FlightSize includes SACKed data, and may exceed the window.
#[derive(Clone)]
struct Watched {
    control: Box<dyn CongestionControl>,
    mss: u64,
}

impl Watched {
    fn of(cc: Choice) -> Choice {
        Choice::Custom(Custom {
            name: format!("watched {}", cc.name()),
            recovery: cc.recovery(None),
            feedback: cc.feedback(),
            build: Arc::new(move |profile, mss| {
                Box::new(Watched { control: Box::new(cc.build(profile, mss)), mss: mss.into() })
            }),
        })
    }
}

impl CongestionControl for Watched {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.control.on_ack(ack);
    }
    fn on_feedback(&mut self, ack: &AckSample<'_>) {
        self.control.on_feedback(ack);
    }
    fn on_unused(&mut self, ack: &AckSample<'_>) {
        self.control.on_unused(ack);
    }
    fn on_signal(&mut self, signal: &Signal) {
        let before = self.window().get();
        self.control.on_signal(signal);
        let after = self.window().get();
        assert!(after <= before.max(self.mss), "{signal:?}: a window of {before} B becomes {after} B");
        let lost = matches!(signal, Signal::Loss { .. }) && before > 2 * self.mss;
        assert!(after < before || !lost, "{signal:?}: the window stays at {before} B");
    }
    fn window(&self) -> Bytes {
        self.control.window()
    }
    fn ssthresh(&self) -> Bytes {
        self.control.ssthresh()
    }
    fn set_window(&mut self, window: Bytes) {
        self.control.set_window(window);
    }
    fn set_ssthresh(&mut self, ssthresh: Bytes) {
        self.control.set_ssthresh(ssthresh);
    }
}

/// Every configuration with each scheme of loss detection, with PRR and without.
fn schemes() -> impl Iterator<Item = Setup> {
    let board = [
        (Pipe::Scoreboard, LossDetection::Dupacks),
        (Pipe::Scoreboard, LossDetection::Rack),
        (Pipe::Counted, LossDetection::Dupacks),
    ];
    setups().into_iter().flat_map(move |setup| {
        board.into_iter().flat_map(move |(pipe, loss_detection)| {
            let setup = setup.clone();
            [Prr::Rfc9937, Prr::Rfc6937, Prr::Off].map(move |prr| {
                let profile = Profile { pipe, loss_detection, prr, ..setup.profile.clone() };
                Setup { profile, ..setup.clone() }
            })
        })
    })
}

/// Built-in controls, where the sender asserts it, and each as a custom one, whose reductions are checked as well.
#[test]
fn neither_losses_nor_marks_raise_a_window() {
    let path = Path { loss: 0.06, mark: 0.04, late: 0.04, most_ms: 20, ..Path::default() };
    for (seed, mut setup) in schemes().enumerate() {
        setup.profile.initial_window = 40;
        let fates = path.fates(seed as u64);
        transfer(&setup, 250, &fates);
        setup.cc = Watched::of(setup.cc);
        transfer(&setup, 250, &fates);
    }
}

proptest! {
    #[test]
    fn every_byte_arrives_over_any_path(
        setup in prop::sample::select(setups()),
        segments in 1..200_u8,
        (loss, mark, double, late) in (0.0..0.4_f64, 0.0..0.3_f64, 0.0..0.1_f64, 0.0..0.2_f64),
        (most_ms, seed) in (0..30_u8, any::<u64>()),
    ) {
        transfer(&setup, segments, &Path { loss, mark, double, late, most_ms }.fates(seed));
    }

    #[test]
    fn invariants_hold_for_a_sender(bytes in prop::collection::vec(any::<u8>(), 16..400)) {
        run_input("sender", &bytes, &mut Journal::off());
    }

    #[test]
    fn invariants_hold_for_a_receiver(bytes in prop::collection::vec(any::<u8>(), 16..400)) {
        run_input("receiver", &bytes, &mut Journal::off());
    }

    #[test]
    fn every_byte_arrives_over_any_network(bytes in prop::collection::vec(any::<u8>(), 24..600)) {
        run_input("pair", &bytes, &mut Journal::off());
    }
}
