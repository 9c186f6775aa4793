//! On an empty, fast path the actions of applications take whole round trips.

use crate::connections;

/// A round trip of 100 ms; a packet takes a microsecond.
const PATH: &str = r#"
title = "An idle path"
duration = "100 s"
[bottleneck]
rate = "10 Gbit/s"
delay = "50 ms"
[[flows]]
segment = "1040 B"
tcp = { delayed_ack = false }
start = "1 s"
access = { rate = "1 Tbit/s" }
"#;

/// Completion times, in round trips.
fn rounds(overrides: &[(&str, &str)]) -> Vec<f64> {
    connections(PATH, overrides, 1).times().into_iter().map(|took| took / 0.1).collect()
}

fn near(seen: f64, expected: f64) -> bool {
    (seen - expected).abs() < 0.01
}

/// One round trip for the handshake, then slow start with 10, 20, 40 ... packets, and half a round trip for the last
/// ones (RFC 5681, section 3.1; RFC 6928).
#[test]
fn a_transfer_takes_its_rounds_of_slow_start() {
    for (packets, expected) in [(1, 1.5), (10, 1.5), (11, 2.5), (30, 2.5), (31, 3.5), (70, 3.5), (71, 4.5)] {
        let size = format!("{packets} packets");
        let took = rounds(&[("flows.0.app.transfer.size", &size)]);
        assert!(took.len() == 1 && near(took[0], expected), "{packets}: {took:?}");
    }
}

/// A mouse of ten packets has all acknowledged after two round trips, and the next one begins then, or a pause later.
#[test]
fn mice_follow_each_other() {
    for (idle, each) in [("0 s", 0.2), ("300 ms", 0.5)] {
        let mice = [("flows.0.app.mice.size", "10 packets"), ("flows.0.app.mice.idle", idle)];
        let connections = connections(PATH, &mice, 1);
        assert!(connections.times().iter().all(|took| near(took / 0.1, 1.5)), "its state is fresh");
        let starts: Vec<f64> = connections.began.iter().map(|(at, ..)| at.seconds()).collect();
        assert!(starts.windows(2).all(|pair| near((pair[1] - pair[0]) / 0.1, each / 0.1)), "{idle}");
        assert_eq!(starts.len(), (99.0_f64 / each).round() as usize, "{idle}");
    }
}

/// A first object takes two round trips, as with HTTP: one for the handshake, one for request and answer; each later
/// one over the same connection takes one. Fifty over six connections are nine in turn.
#[test]
fn a_page_takes_the_rounds_of_its_longest_connection() {
    for (objects, connections, expected) in
        [(1, 6, 2.0), (6, 6, 2.0), (7, 6, 3.0), (50, 6, 10.0), (5, 1, 6.0)]
    {
        let (objects, connections) = (objects.to_string(), connections.to_string());
        let web = [
            ("flows.0.app.web.objects", &*objects),
            ("flows.0.app.web.connections", &*connections),
            ("flows.0.app.web.size", "1 kB"),
        ];
        let took = rounds(&web);
        assert!(took.len() > 90, "{}", took.len());
        assert!(took.iter().all(|took| near(*took, expected)), "{web:?}: {:?}", &took[..3]);
    }
}

/// An answer takes a round trip for the handshake, one for the request, and slow start; the user leaves, and arrivals take
/// its place.
#[test]
fn a_request_takes_a_round_trip_more_than_the_handshake() {
    for (packets, expected) in [(1, 2.0), (10, 2.0), (11, 3.0), (30, 3.0), (31, 4.0)] {
        let size = format!("{packets} packets");
        let took = rounds(&[("flows.0.app.http.size", &size)]);
        assert!(took.len() == 1 && near(took[0], expected), "{packets}: {took:?}");
    }
    let http = [("flows.0.app.http.size", "10 packets"), ("flows.0.arrivals.every", "300 ms")];
    let connections = connections(&PATH.replace("start = \"1 s\"", ""), &http, 1);
    let counts = (connections.began.len(), connections.done.len());
    assert_eq!(counts, (333, 332), "arrivals until 99.9 s, and the last answer is on its way");
    assert!(connections.times().iter().all(|took| near(took / 0.1, 2.0)), "its state is fresh");
}

/// Late binding on an idle path, worked by hand: round trips of 100 ms, requests each 60 ms, answers of one window. The first
/// two wait for connections of their own, 0 to 100 and 60 to 160 ms, and have their answers a round trip later. The third, of
/// 120 ms, takes the first connection at 200 ms, the fourth the third one at 220 ms, the fifth the second one at 260 ms.
#[test]
fn late_binding_serves_a_request_over_the_first_free_connection() {
    let path = PATH.replace("start = \"1 s\"", "");
    let http = |every| {
        let http = [
            ("flows.0.app.http.size", "10 packets"),
            ("flows.0.app.http.late_binding", "true"),
            ("flows.0.arrivals.every", every),
        ];
        connections(&path, &http, 1)
    };
    let apart = http("300 ms");
    assert!(
        apart.times().iter().all(|took| near(took / 0.1, 2.0)),
        "each opens a connection and waits for it"
    );
    let times = http("60 ms").times();
    for (took, expected) in times.iter().zip([2.0, 2.0, 1.8, 1.4, 1.2]) {
        assert!(near(took / 0.1, expected), "{:?}", &times[..5]);
    }
}

/// The first answer waits for the handshake. Where an answer takes longer than a tick, the next request waits for the
/// tick after it.
#[test]
fn an_answer_takes_a_round_trip() {
    let took = rounds(&[("flows.0.app.game.every", "200 ms")]);
    assert!(near(took[0], 2.0) && took[1..].iter().all(|took| near(*took, 1.0)));
    assert!(
        (494..=495).contains(&took.len()),
        "99 s of ticks, and the last one is not answered: {}",
        took.len()
    );
    let took = rounds(&[("flows.0.app.game.every", "70 ms")]);
    assert!((706..=707).contains(&took.len()), "every other tick: {}", took.len());
}

/// A lost request is repeated after 1 s, 2 s, 4 s and so on; the sender answers each once.
#[test]
fn lost_requests_are_repeated() {
    let lossy = PATH.replace("[[flows]]", "back = { impairments = { loss = 0.3 } }\n[[flows]]");
    let game = [("flows.0.app.game.every", "20 s"), ("duration", "100000 s"), ("flows.0.start", "0 s")];
    let connections = connections(&lossy, &game, 1);
    let (times, n) = (connections.times(), 5000.0);
    assert!(
        times.len() as f64 > n * 0.98
            && connections.done.last().unwrap().bytes as f64 == 200.0 * times.len() as f64
    );
    // The answer arrives a round trip after the first request that gets through, whatever happens to its ACK.
    for (lost, took) in [(0, 0.1), (1, 1.1), (2, 3.1), (3, 7.1)] {
        let share =
            times.iter().filter(|time| near(**time / 0.1, took / 0.1)).count() as f64 / times.len() as f64;
        let expected = 0.7 * sojourn_units::math::pow(0.3, f64::from(lost));
        let doubt = 4.0 * (expected * (1.0 - expected) / n).sqrt();
        assert!((share - expected).abs() < doubt, "{lost} lost: {share} of them, not {expected}");
    }
}

/// A video whose lowest rate is twice the capacity stalls half of the time, one whose lowest rate is half of it never;
/// between, the rate is chosen so that the buffer neither fills nor empties.
#[test]
fn a_video_plays_at_the_rate_of_the_link() {
    let film = |rate: &str, ladder: &str| {
        let more = [
            ("bottleneck.rate", rate),
            ("duration", "2000 s"),
            ("flows.0.app.video.ladder", ladder),
            ("flows.0.app.video.chunk", "2 s"),
            ("flows.0.app.video.reservoir", "8 s"),
            ("flows.0.app.video.cushion", "20 s"),
        ];
        let connections = connections(PATH, &more, 1);
        let (played, stalled) = (connections.played.seconds(), connections.stalled.seconds());
        let bytes: u64 = *connections.bytes.values().next().unwrap();
        (stalled / (played + stalled), bytes as f64 * 8.0 / 1999.0)
    };
    let (stands, rate) = film("1 Mbit/s", "[\"2 Mbit/s\"]");
    assert!(
        (stands - 0.5).abs() < 0.08 && rate > 0.85e6,
        "{stands}, {rate}: one request a chunk leaves the link idle"
    );
    let (stands, _) = film("4 Mbit/s", "[\"2 Mbit/s\"]");
    assert_eq!(stands, 0.0);
    let (stands, rate) = film("2 Mbit/s", "[\"500 kbit/s\", \"1 Mbit/s\", \"4 Mbit/s\"]");
    assert!(stands == 0.0 && rate > 1.3e6 && rate < 2e6, "{stands}, {rate}");
}
