//! Growth of windows without losses.
//!
//! In slow start the window grows by the data acknowledged: it doubles in a round trip. An ACK for b segments that
//! counts for at most L of them multiplies the window by 1 + L/b (RFC 3465, sections 2.2 and 2.3; with ACKs counted, L
//! = 1, RFC 5681, equation 2). In congestion avoidance the window grows by a segment per round trip, by 1/b of one if
//! ACKs are counted (RFC 5681, equation 3).

use crate::path::{Connection, profile};
use sojourn_tcp::Profile;
use sojourn_units::{Span, Time};

const RTT: Span = Span::from_millis(100);
/// The SYN-ACK arrives, and the first window is sent.
const START: Time = Time::from_nanos(RTT.nanos());

fn flow(byte_counting: u32, delayed_ack: bool, ack_delay: u64, lost: u64) -> Connection {
    let profile = Profile {
        initial_window: 16,
        byte_counting,
        delayed_ack,
        ack_delay: Span::from_millis(ack_delay),
        ..profile()
    };
    Connection::new("newreno", profile, RTT, Box::new(move |_, number| number == lost))
}

/// Middle of round trip `round`, between the ACKs of one flight and those of the next.
fn within(round: u64) -> Time {
    START + RTT * round + Span::from_millis(50)
}

/// Compares ten round trips of slow start with a factor.
#[track_caller]
fn slow_start(byte_counting: u32, delayed_ack: bool, factor: f64) {
    // The odd segment of a flight is acknowledged at once.
    let mut connection = flow(byte_counting, delayed_ack, 1, u64::MAX);
    connection.run_before(within(0));
    let mut before = connection.window();
    for round in 1..=10 {
        connection.run_before(within(round));
        let window = connection.window();
        assert!(
            (window - factor * before).abs() <= 1.0,
            "round {round}: {window} is not {factor} x {before}"
        );
        before = window;
    }
    println!(
        "slow start, L = {byte_counting}, delayed ACKs {delayed_ack}: 16 to {before} segments in 10 round trips"
    );
}

/// Compares 200 round trips of congestion avoidance with a mean growth, segments per round trip.
#[track_caller]
fn avoidance(byte_counting: u32, delayed_ack: bool, growth: f64) {
    // The first segment of the third flight is lost: half of 64. The odd segment of a flight waits for the next.
    let mut connection = flow(byte_counting, delayed_ack, 500, 16 + 32 + 1);
    connection.run_before(within(10));
    let before = connection.window();
    connection.run_before(within(210));
    let mean = (connection.window() - before) / 200.0;
    println!("avoidance, L = {byte_counting}, delayed ACKs {delayed_ack}: {mean:.3} segments a round trip");
    assert!((mean - growth).abs() < 0.03 * growth, "{mean} is not {growth}");
}

#[test]
fn an_ack_a_segment_doubles_the_window_and_then_adds_one() {
    for byte_counting in 0..=2 {
        slow_start(byte_counting, false, 2.0);
        avoidance(byte_counting, false, 1.0);
    }
}

#[test]
fn counted_acks_for_two_segments_halve_the_growth() {
    slow_start(0, true, 1.5);
    avoidance(0, true, 0.5);
}

#[test]
fn counted_bytes_grow_as_the_limit_allows() {
    slow_start(1, true, 1.5);
    slow_start(2, true, 2.0);
    avoidance(1, true, 1.0);
    avoidance(2, true, 1.0);
}
