//! Whatever the network does, nothing panics, nothing stalls, and every byte arrives in the end.
//!
//! [`world`] says what an input means and what must be true; `fuzz/` looks for inputs of which it is not. What it
//! found on its way is kept there, and lived through here again.

mod world;

use proptest::prelude::*;
use sojourn_tcp::catalogue::CCS;
use sojourn_tcp::cc::{AckSample, Choice, CongestionControl, Guest, Signal};
use sojourn_tcp::{LossDetection, PROFILES, Pipe, Profile, Prr};
use sojourn_units::{Bytes, Span, Stream, Time};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use world::input::Input;
use world::journal::Journal;
use world::pair::{self, Story};
use world::setup::Setup;
use world::{WORLDS, live};

/// Inputs that are kept for each world, at least.
const LEAST_KEPT: usize = 200;

/// Every input that is kept: corpora, and what once went wrong.
#[test]
fn nothing_that_was_found_before_goes_wrong() {
    let kept = kept();
    for world in WORLDS {
        let number = kept.iter().filter(|(of, _)| *of == world).count();
        assert!(number >= LEAST_KEPT, "{number} inputs are kept for {world}: fuzz/corpus is not all there");
    }
    let failed: Vec<String> = kept.into_iter().filter_map(|(world, path)| failure(world, &path)).collect();
    assert!(failed.is_empty(), "{} inputs:\n{}", failed.len(), failed.join("\n"));
}

/// The corpora are worth what their bytes mean.
#[test]
fn bytes_mean_what_they_meant() {
    // CUBIC with ECN, SACK off, two segments at first; three of them over 10 ms, of which the second is lost.
    let mut bytes = [2 | 1 << 5, 1, 0, 0, 0, 2, 255].to_vec();
    bytes.resize(world::setup::LEN, 0);
    bytes.extend([2, 10, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 0, 2]);
    let mut journal = Journal::on();
    live("pair", &bytes, &mut journal);
    assert_eq!(journal.text(), include_str!("meaning.pkt"));
}

/// The worlds and the files kept for each.
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

/// What goes wrong with the input of a file.
fn failure(world: &str, path: &FilePath) -> Option<String> {
    let bytes = fs::read(path).expect("a file that was listed");
    let lived = catch_unwind(AssertUnwindSafe(|| live(world, &bytes, &mut Journal::off())));
    lived.is_err().then(|| format!("{world}: {}", path.display()))
}

/// A path that loses, marks, doubles and delays, each with its probability.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    loss: f64,
    mark: f64,
    double: f64,
    late: f64,
    /// How late at most, ms.
    most_ms: u8,
}

impl Path {
    /// What becomes of three thousand segments.
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

/// So many segments over a path of 25 ms each way, at one segment a millisecond.
fn transfer(setup: &Setup, segments: u8, fates: &[u8]) -> Story {
    let bytes: Vec<u8> = [segments - 1, 25, 10, 0, 0, 0, 0, 0].iter().chain(fates).copied().collect();
    pair::live(setup, Input::new(&bytes), &mut Journal::off())
}

/// Every congestion control with every profile, with and without SACK, timestamps and ECN.
fn setups() -> Vec<Setup> {
    let mut all = Vec::new();
    for (entry, profile, choices) in CCS.iter().flat_map(|entry| {
        PROFILES.iter().flat_map(move |profile| (0..12).map(move |choices| (entry, *profile, choices)))
    }) {
        let sack = [None, Some(false), Some(true)][choices / 4];
        let timestamps = choices & 1 != 0;
        let named = Profile::named(profile).expect("a profile that is listed");
        let ecn = choices & 2 != 0;
        let profile = Profile { sack, timestamps, ..named };
        let cc = entry.page.stem.into();
        all.push(Setup { profile, cc, mss: 1000, asks_ecn: ecn, agrees_ecn: ecn, reads: None });
    }
    all
}

#[test]
fn the_fuzz_targets_know_every_congestion_control_and_profile() {
    assert!(CCS.iter().all(|entry| world::setup::CCS.contains(&entry.page.stem)));
    assert!(PROFILES.iter().all(|name| world::setup::PROFILES.contains(name)));
}

/// Slow start from two segments: at most eight rounds of 51 ms and delayed ACKs of 40 ms, and 200 segments of 1 ms.
#[test]
fn a_clean_path_costs_round_trips_and_nothing_is_sent_again() {
    for setup in setups() {
        for segments in [1, 2, 3, 20, 200] {
            let Story { end, again } = transfer(&setup, segments, &[]);
            assert!(again == 0 && end < Time::ZERO + Span::from_millis(1200), "{again} {end} {setup:?}");
        }
    }
}

/// Each loss costs at most a timeout, and what it is doubled to.
#[test]
fn a_loss_in_a_hundred_ends_no_transfer() {
    for (seed, setup) in setups().into_iter().enumerate() {
        let path = Path { loss: 0.01, ..Path::default() };
        let Story { end, .. } = transfer(&setup, 200, &path.fates(seed as u64));
        assert!(end < Time::ZERO + Span::from_secs(20), "{end} {setup:?}");
    }
}

/// RFC 8985, section 6.2: once reordering was seen, a segment has a quarter of a round trip to come.
#[test]
fn reordering_by_three_segments_is_hardly_ever_taken_for_loss() {
    for (seed, mut setup) in setups().into_iter().enumerate() {
        setup.profile.loss_detection = LossDetection::Rack;
        setup.profile.pipe = Pipe::Scoreboard;
        setup.profile.sack = Some(true);
        let path = Path { late: 0.1, most_ms: 3, ..Path::default() };
        let Story { again, .. } = transfer(&setup, 200, &path.fates(seed as u64));
        assert!(again <= 4, "{again} sent again: {setup:?}");
    }
}

/// A control of the catalogue that is watched: congestion never raises its window, but for one below a segment, and a
/// loss reduces it, down to two segments.
///
/// A loss leaves half of FlightSize (RFC 5681, section 3.1, equation 4; RFC 6675, section 5, step 4.2), or 0.7 of it (RFC
/// 9438, section 4.6). FlightSize counts what was SACKed as well, and may be more than the window.
#[derive(Clone)]
struct Watched {
    control: Box<dyn CongestionControl>,
    mss: u64,
}

impl Watched {
    fn of(cc: Choice) -> Choice {
        Choice::Guest(Guest {
            name: format!("watched {}", cc.name()),
            recovery: cc.recovery(None).expect("a control of the catalogue"),
            feedback: cc.feedback(),
            build: Arc::new(move |profile, mss| {
                let control = Box::new(cc.build(profile, mss).expect("its own parameters"));
                Box::new(Watched { control, mss: mss.into() })
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

/// Every set-up with each way to find losses, and with PRR and without.
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

/// With the controls as they are, where the sender asserts it, and with each as a guest, whose losses are watched too.
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
    fn nothing_goes_wrong_for_a_sender(bytes in prop::collection::vec(any::<u8>(), 16..400)) {
        live("sender", &bytes, &mut Journal::off());
    }

    #[test]
    fn nothing_goes_wrong_for_a_receiver(bytes in prop::collection::vec(any::<u8>(), 16..400)) {
        live("receiver", &bytes, &mut Journal::off());
    }

    #[test]
    fn every_byte_arrives_over_any_network(bytes in prop::collection::vec(any::<u8>(), 24..600)) {
        live("pair", &bytes, &mut Journal::off());
    }
}
