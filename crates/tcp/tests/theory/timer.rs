//! The retransmission timer on a path that fails: RFC 6298.

use crate::path::{Connection, profile};
use sojourn_tcp::Profile;
use sojourn_units::{Span, Time};

const RTT: Span = Span::from_millis(100);

/// Times of all transmissions after the path has failed, up to an hour.
fn retransmissions(profile: Profile) -> Vec<Time> {
    let dies = Time::ZERO + Span::from_secs(5);
    let mut connection = Connection::new("newreno", profile, RTT, Box::new(move |now, _| now >= dies));
    connection.run_before(dies + RTT * 2);
    let mut sent = connection.sent;
    let mut times = Vec::new();
    while connection.next() < Time::ZERO + Span::from_secs(3600) {
        let now = connection.step();
        if connection.sent > sent {
            sent = connection.sent;
            times.push(now);
        }
    }
    times
}

/// Section 5, (5.5): each timeout doubles, up to a bound.
#[track_caller]
fn doubles(min_rto: Span, max_rto: Span) {
    let profile = Profile { min_rto, max_rto, tail_loss_probe: false, receive_window: 100, ..profile() };
    let times = retransmissions(profile);
    let gaps: Vec<Span> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    let seconds: Vec<f64> = gaps.iter().take(10).map(|gap| gap.seconds()).collect();
    println!("from {min_rto} to {max_rto}: after {seconds:?} s");
    for pair in gaps.windows(2) {
        assert_eq!(pair[1], (pair[0] * 2).min(max_rto), "after {:?}", pair[0]);
    }
    assert_eq!(gaps[0], min_rto * 2);
    assert_eq!(gaps.last(), Some(&max_rto));
}

#[test]
fn the_timeout_doubles_up_to_its_bound() {
    doubles(Span::from_secs(1), Span::from_secs(60));
    doubles(Span::from_secs(2), Span::from_secs(120));
}

/// (2.5): the bound is at least 60 s, for any initial timeout.
#[test]
fn short_timeouts_double_up_to_the_same_bound() {
    doubles(Span::from_millis(200), Span::from_secs(60));
    doubles(Span::from_millis(200), Span::from_secs(120));
}
