//! The scripts meant for the kernel, played to our TCP under the profile `linux` in its place.

mod common;

use common::all;
use sojourn_exchange::play::play;
use sojourn_exchange::script::Script;
use sojourn_exchange::setup;
use sojourn_exchange::stand_in::StandIn;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Scripts in which the profile differs from the kernel; `docs/deviations/linux.md` has the reason of each.
const DIFFERENT: &[&str] = &[
    "abc/slow_start_with_l_1",
    "attacks/acks_of_the_past_and_of_the_future",
    "cubic/reduction",
    "ecn/bleached",
    "ecn/cwr_after_a_loss",
    "ecn/probe_is_not_capable",
    "ecn/timeout_is_not_capable",
    "fast_recovery/three_duplicates",
    "frto/everything_acknowledged",
    "frto/sack",
    "hystart/conservative",
    "limited_transmit/receiver_window",
    "limited_transmit/two_segments",
    "newreno/partial_acks",
    "prr/recover_fs",
    "rack/reordering_seen_and_lost",
    "rack/timeout_spares_what_is_young",
    "rto/karn",
    "sack/no_news_no_duplicate",
    "sack/one_loss",
    "sack/reneging",
    "sack/two_losses",
    "teardown/fin_out_of_order",
    "teardown/receiver_acknowledges",
    "teardown/receiver_fin_lost",
    "tlp/repaired_a_loss",
    "tlp/without_a_measurement",
    "undo/eifel_all_acknowledged",
    "undo/eifel_fast_retransmit",
    "undo/eifel_timeout",
    "undo/eifel_with_echo",
    "window/receiver_limits",
    "window/small_buffer",
    "window/zero_window_probes",
    "window/zero_window_probes_without_an_answer",
];

#[test]
fn the_profile_is_the_kernels_but_for_known_scripts() {
    let found = failures("linux");
    let known: BTreeSet<_> = DIFFERENT.iter().map(ToString::to_string).collect();
    let (new, gone): (Vec<_>, Vec<_>) =
        (found.difference(&known).collect(), known.difference(&found).collect());
    assert!(new.is_empty() && gone.is_empty(), "differ: {new:?}; no longer: {gone:?}");
}

/// The default differs in more.
#[test]
fn the_default_is_further_from_the_kernel() {
    assert!(failures("default").len() > DIFFERENT.len());
}

#[test]
fn the_page_names_each_with_the_counts() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/deviations/linux.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.split("## The profile `linux`").nth(1).expect("a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let played = all().iter().filter(|(_, text)| text.contains("\n--kernel=yes")).count();
    let (same, usual) = (played - DIFFERENT.len(), played - failures("default").len());
    let counts = format!("Of the {played} scripts it passes {same}, and the default {usual}.");
    assert!(section.contains(&counts), "{counts}");
    for name in DIFFERENT {
        assert!(section.contains(&format!("`{name}`")), "{name}");
    }
}

/// Names of the scripts for the kernel that a profile does not pass.
fn failures(profile: &str) -> BTreeSet<String> {
    let profile = setup::profile(profile).unwrap();
    let differs = |text: &str| {
        let script = Script::read(text).unwrap();
        let for_it = script.setup.not_for_kernel.is_none();
        for_it && play(&script, &mut StandIn::new(&script.setup, &profile)).is_err()
    };
    all().into_iter().filter(|(_, text)| differs(text)).map(|(name, _)| name).collect()
}
