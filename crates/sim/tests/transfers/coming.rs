//! Coming and going: arrivals, lifetimes, scheduled numbers, slots.

use crate::{Lives, lives};
use sojourn_units::Time;
use std::collections::BTreeSet;

const ARRIVALS: &str = r#"
title = "Arrivals"
duration = "100 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "50 packets"
disc = { law = "tail_drop" }
[[flows]]
name = "visits"
app = "transfer"
size = { exponential = "20 kB" }
arrivals = { poisson = "100 ms" }
"#;

/// When flows of the first class came, those that were turned away too.
fn came(lives: &Lives) -> Vec<Time> {
    let began = lives.began.iter().filter(|(_, class, _)| *class == 0).map(|(at, ..)| *at);
    let away = lives.turned_away.iter().filter(|(_, class)| *class == 0).map(|(at, _)| *at);
    let mut times: Vec<Time> = began.chain(away).collect();
    times.sort();
    times
}

/// Poisson: as many as the mean says, and as many gaps above it as an exponential has.
#[test]
fn arrivals_are_those_of_a_poisson_process() {
    let lives = lives(ARRIVALS, &[("duration", "2000 s")], 1);
    let times = came(&lives);
    let n = times.len() as f64;
    assert!((n - 20_000.0).abs() < 4.0 * 20_000_f64.sqrt(), "{n}");
    let long = times.windows(2).filter(|pair| pair[1].since(pair[0]).seconds() > 0.1).count() as f64 / n;
    assert!((long - sojourn_units::math::exp(-1.0)).abs() < 4.0 * (0.23 / n).sqrt(), "{long}");
    assert!(lives.done.len() as f64 > 0.999 * n);
}

/// Arrivals and their sizes are the same under another law, and beside another class.
#[test]
fn what_is_added_changes_no_draw_of_the_others() {
    let other = "[[flows]]\napp = \"mice\"\ncount = 5\n[[flows]]\napp = \"mice\"\npreset = \"arm_pfc\"\narrivals = { poisson = \"1 s\" }\n";
    let all: Vec<Lives> =
        [ARRIVALS.to_string(), ARRIVALS.replace("tail_drop", "red"), format!("{ARRIVALS}{other}")]
            .iter()
            .map(|text| lives(text, &[], 1))
            .collect();
    // Those that all of them have completed, by when they began.
    let sizes = |lives: &Lives| -> BTreeSet<(u64, u64)> {
        let done = lives.done.iter().filter(|done| done.class == 0);
        done.map(|done| (done.at.nanos() - done.took.nanos(), done.bytes)).collect()
    };
    let first = sizes(&all[0]);
    for lives in &all {
        assert_eq!(came(lives), came(&all[0]));
        assert!(sizes(lives).intersection(&first).count() > 900);
    }
}

/// Long transfers, two at a time: of five that come each second, those that find both slots taken are turned away.
#[test]
fn there_are_no_more_than_there_may_be() {
    let full = [
        ("flows.0.arrivals", "{ every = \"1 s\", batch = 5 }"),
        ("flows.0.count", "2"),
        ("flows.0.size", "100 MB"),
    ];
    let lives = lives(ARRIVALS, &full, 1);
    assert_eq!((lives.began.len(), lives.turned_away.len()), (2, 5 * 100 - 2));
    let short = [full[0], full[1], ("flows.0.size", "1 kB")];
    let lives = crate::lives(ARRIVALS, &short, 1);
    assert_eq!((lives.began.len(), lives.turned_away.len()), (200, 300), "the slots are free again");
    let flows: BTreeSet<u32> = lives.began.iter().map(|(.., flow)| *flow).collect();
    assert_eq!(flows, BTreeSet::from([0, 1]), "and used again");
}

/// The lowest slot that is free: as many as are there at a time, however many come.
#[test]
fn slots_are_as_many_as_flows_at_a_time() {
    let lives = lives(ARRIVALS, &[("duration", "2000 s")], 1);
    let slots = lives.began.iter().map(|(.., flow)| flow + 1).max().unwrap();
    let events =
        lives.began.iter().map(|(at, ..)| (*at, 1)).chain(lives.stopped.iter().map(|(at, _)| (*at, -1)));
    let mut events: Vec<(Time, i32)> = events.collect();
    // At one instant what comes is before what goes.
    events.sort_by_key(|(at, change)| (*at, -change));
    let most = events.iter().scan(0, |there, (_, change)| {
        *there += change;
        Some(*there)
    });
    assert_eq!(slots as i32, most.max().unwrap());
    assert!(slots < 20 && lives.began.len() > 19_000);
}

/// Each stays as long as it draws; the mean is within its doubt.
#[test]
fn flows_leave_after_their_lifetimes() {
    let staying = [
        ("flows.0.app", "bulk"),
        ("flows.0.lifetime", "{ exponential = \"500 ms\" }"),
        ("duration", "1000 s"),
    ];
    let text = ARRIVALS.replace("size = { exponential = \"20 kB\" }\n", "");
    let lives = lives(&text, &[&staying[..], &[("flows.0.count", "10000")]].concat(), 1);
    assert!(lives.turned_away.is_empty());
    let began: f64 = lives.began.iter().map(|(at, ..)| at.seconds()).sum();
    let stopped: f64 = lives.stopped.iter().map(|(at, _)| at.seconds()).sum();
    let n = lives.stopped.len() as f64;
    // Those that are still there count up to the end.
    let open = (lives.began.len() - lives.stopped.len()) as f64 * 1000.0;
    let mean = (stopped + open - began) / n;
    assert!((mean - 0.5).abs() < 4.0 * 0.5 / n.sqrt(), "{mean} s of {n}");
}

/// The last ones go, and come back at once when they are wanted again.
#[test]
fn a_class_changes_its_number() {
    let schedule = r#"
[[flows]]
name = "crowd"
count = 4
start = "0 s"
[[at]]
time = "20 s"
set = { "crowd.count" = 1 }
[[at]]
time = "40 s"
set = { "crowd.count" = 6 }
"#;
    let text = ARRIVALS.split("[[flows]]").next().unwrap().to_string() + schedule;
    let lives = lives(&text, &[], 1);
    let at = |seconds: u64| Time::from_nanos(seconds * 1_000_000_000);
    let began: Vec<(Time, u32)> = lives.began.iter().map(|(at, _, flow)| (*at, *flow)).collect();
    let expected: Vec<(Time, u32)> =
        (0..4).map(|flow| (at(0), flow)).chain((1..6).map(|flow| (at(40), flow))).collect();
    assert_eq!(began, expected);
    let mut stopped = lives.stopped.clone();
    stopped.sort();
    assert_eq!(stopped, [1, 2, 3].map(|flow| (at(20), flow)));
}
