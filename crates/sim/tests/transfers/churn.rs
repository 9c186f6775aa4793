//! Churn: arrivals, lifetimes, scheduled counts, slots.

use crate::{Connections, connections};
use sojourn_units::Time;
use std::collections::BTreeSet;

const ARRIVALS: &str = r#"
title = "Arrivals"
duration = "100 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "50 packets"
qdisc = { law = "tail_drop" }
[[flows]]
name = "visits"
app = { transfer = { size = { exponential = "20 kB" } } }
arrivals = { poisson = "100 ms" }
"#;

/// Arrival times of the first class, rejected ones too.
fn came(connections: &Connections) -> Vec<Time> {
    let began = connections.began.iter().filter(|(_, class, _)| *class == 0).map(|(at, ..)| *at);
    let away = connections.rejected.iter().filter(|(_, class)| *class == 0).map(|(at, _)| *at);
    let mut times: Vec<Time> = began.chain(away).collect();
    times.sort();
    times
}

/// Poisson: the number of arrivals, and the share of gaps above the mean gap.
#[test]
fn arrivals_are_those_of_a_poisson_process() {
    let connections = connections(ARRIVALS, &[("duration", "2000 s")], 1);
    let times = came(&connections);
    let n = times.len() as f64;
    assert!((n - 20_000.0).abs() < 4.0 * 20_000_f64.sqrt(), "{n}");
    let long = times.windows(2).filter(|pair| pair[1].since(pair[0]).seconds() > 0.1).count() as f64 / n;
    assert!((long - sojourn_units::math::exp(-1.0)).abs() < 4.0 * (0.23 / n).sqrt(), "{long}");
    assert!(connections.done.len() as f64 > 0.999 * n);
}

/// Arrivals and their sizes are the same under another law, and beside another class.
#[test]
fn additions_change_no_draw_of_others() {
    let other = "[[flows]]\napp = \"mice\"\ncount = 5\n[[flows]]\napp = \"mice:preset=arm_pfc\"\narrivals = { poisson = \"1 s\" }\n";
    let all: Vec<Connections> =
        [ARRIVALS.to_string(), ARRIVALS.replace("tail_drop", "red"), format!("{ARRIVALS}{other}")]
            .iter()
            .map(|text| connections(text, &[], 1))
            .collect();
    // Transfers completed in all runs, by start time.
    let sizes = |connections: &Connections| -> BTreeSet<(u64, u64)> {
        let done = connections.done.iter().filter(|done| done.class == 0);
        done.map(|done| (done.at.nanos() - done.took.nanos(), done.bytes)).collect()
    };
    let first = sizes(&all[0]);
    for connections in &all {
        assert_eq!(came(connections), came(&all[0]));
        assert!(sizes(connections).intersection(&first).count() > 900);
    }
}

/// Long transfers, two at a time: of five arrivals each second, those that find both slots taken are rejected.
#[test]
fn arrivals_beyond_the_limit_are_rejected() {
    let full = [
        ("flows.0.arrivals", "{ every = \"1 s\", batch = 5 }"),
        ("flows.0.count", "2"),
        ("flows.0.app.transfer.size", "100 MB"),
    ];
    let connections = connections(ARRIVALS, &full, 1);
    assert_eq!((connections.began.len(), connections.rejected.len()), (2, 5 * 100 - 2));
    let short = [full[0], full[1], ("flows.0.app.transfer.size", "1 kB")];
    let connections = crate::connections(ARRIVALS, &short, 1);
    assert_eq!((connections.began.len(), connections.rejected.len()), (200, 300), "the slots were freed");
    let flows: BTreeSet<u32> = connections.began.iter().map(|(.., flow)| *flow).collect();
    assert_eq!(flows, BTreeSet::from([0, 1]), "and reused");
}

/// Arrivals take the lowest free slot: there are as many slots as concurrent flows.
#[test]
fn slots_are_as_many_as_concurrent_flows() {
    let connections = connections(ARRIVALS, &[("duration", "2000 s")], 1);
    let slots = connections.began.iter().map(|(.., flow)| flow + 1).max().unwrap();
    let events = connections
        .began
        .iter()
        .map(|(at, ..)| (*at, 1))
        .chain(connections.stopped.iter().map(|(at, _)| (*at, -1)));
    let mut events: Vec<(Time, i32)> = events.collect();
    // At one instant arrivals precede departures.
    events.sort_by_key(|(at, change)| (*at, -change));
    let most = events.iter().scan(0, |there, (_, change)| {
        *there += change;
        Some(*there)
    });
    assert_eq!(slots as i32, most.max().unwrap());
    assert!(slots < 20 && connections.began.len() > 19_000);
}

/// Each stays for its drawn lifetime; the mean is within its confidence interval.
#[test]
fn flows_leave_after_their_lifetimes() {
    let staying = [
        ("flows.0.app", "bulk"),
        ("flows.0.lifetime", "{ exponential = \"500 ms\" }"),
        ("duration", "1000 s"),
    ];
    let connections = connections(ARRIVALS, &[&staying[..], &[("flows.0.count", "10000")]].concat(), 1);
    assert!(connections.rejected.is_empty());
    let began: f64 = connections.began.iter().map(|(at, ..)| at.seconds()).sum();
    let stopped: f64 = connections.stopped.iter().map(|(at, _)| at.seconds()).sum();
    let n = connections.stopped.len() as f64;
    // Present flows count up to the end.
    let open = (connections.began.len() - connections.stopped.len()) as f64 * 1000.0;
    let mean = (stopped + open - began) / n;
    assert!((mean - 0.5).abs() < 4.0 * 0.5 / n.sqrt(), "{mean} s of {n}");
}

/// The last ones leave, and restart at once when the count rises again.
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
    let connections = connections(&text, &[], 1);
    let at = |seconds: u64| Time::from_nanos(seconds * 1_000_000_000);
    let began: Vec<(Time, u32)> = connections.began.iter().map(|(at, _, flow)| (*at, *flow)).collect();
    let expected: Vec<(Time, u32)> =
        (0..4).map(|flow| (at(0), flow)).chain((1..6).map(|flow| (at(40), flow))).collect();
    assert_eq!(began, expected);
    let mut stopped = connections.stopped.clone();
    stopped.sort();
    assert_eq!(stopped, [1, 2, 3].map(|flow| (at(20), flow)));
}

/// Requests under late binding on an idle path, each 20 ms, by users that stay for a second.
const LATE: &str = r#"
title = "Late binding"
duration = "100 s"
[bottleneck]
rate = "10 Gbit/s"
delay = "50 ms"
[[flows]]
segment = "1040 B"
access = { rate = "1 Tbit/s" }
app = { http = { size = { exponential = "30 packets" }, late_binding = true } }
arrivals = { every = "20 ms" }
lifetime = "1 s"
"#;

/// Times of the requests that completed, in units of 20 ms.
fn completed(connections: &Connections) -> Vec<u64> {
    let began = connections.done.iter().map(|done| done.at.nanos() - done.took.nanos());
    let mut began: Vec<u64> = began.inspect(|began| assert_eq!(began % 20_000_000, 0)).collect();
    began.sort_unstable();
    began.into_iter().map(|began| began / 20_000_000).collect()
}

/// Requests of four round trips, by users that stay for five and a half. Connections serve others until their own users leave;
/// each request that this cuts completes over another one, and none is lost or completes twice.
#[test]
fn a_request_whose_connection_ends_with_another_user_is_repeated() {
    let stay = [("flows.0.app.http.size", "40 packets"), ("flows.0.lifetime", "550 ms")];
    let late = connections(LATE, &stay, 1);
    let longest = late.times().into_iter().fold(0.0, f64::max);
    println!("{} requests, {longest} s at most", late.done.len());
    assert!(longest > 0.45 && longest < 0.55, "{longest} s: some are repeated");
    let missing = missing(&completed(&late));
    assert!(missing.is_empty(), "{missing:?}");
}

/// A link that carries a part of what is requested: what completes does so during the stay of its own user, and once.
#[test]
fn a_request_ends_with_its_own_user() {
    let slow = [("bottleneck.rate", "4 Mbit/s"), ("bottleneck.buffer", "100 packets")];
    for seed in 1..=3 {
        let late = connections(LATE, &slow, seed);
        let longest = late.times().into_iter().fold(0.0, f64::max);
        let began = completed(&late);
        println!("{} requests, {longest} s at most", began.len());
        assert!(longest > 0.9 && longest < 1.0, "{longest} s");
        assert!(began.windows(2).all(|pair| pair[0] < pair[1]), "one completes twice");
        assert!((200..3000).contains(&began.len()), "{}", began.len());
    }
}

/// Requests of the first 99 s that did not complete exactly once: the users of later ones may be present at the end.
fn missing(completed: &[u64]) -> Vec<u64> {
    let count = |request| completed.iter().filter(|one| **one == request).count();
    (1..=4950).filter(|request| count(*request) != 1).collect()
}
