//! Effects of a receiver's window and reading on a connection, with both ends.

use sojourn_tcp::{Config, Profile, Receiver, Segment, Sender};
use sojourn_units::{Rate, Span, Time};
use std::collections::VecDeque;

const MSS: u64 = 1000;
const ONE_WAY: Span = Span::from_millis(50);

/// A connection over a path of fixed delay.
struct Connection {
    sender: Sender,
    receiver: Receiver,
    now: Time,
    data: VecDeque<(Time, Segment)>,
    acks: VecDeque<(Time, Segment)>,
    /// Lost ACKs, by number.
    loses: fn(&Segment) -> bool,
}

impl Connection {
    fn new(supply: u64, change: impl Fn(&mut Config)) -> Connection {
        let profile = Profile { receive_window: 20, ..Profile::default() };
        let mut config =
            Config { profile, cc: "newreno".into(), mss: MSS as u32, ecn: false, ect1: false, reads: None };
        change(&mut config);
        let receiver = Receiver::new(&config);
        let mut sender = Sender::new(config);
        sender.supply(supply);
        sender.close();
        sender.open();
        let (data, acks) = (VecDeque::new(), VecDeque::new());
        Connection { sender, receiver, now: Time::ZERO, data, acks, loses: |_| false }
    }

    /// Processes the next event, returning whether there was one.
    fn step(&mut self) -> bool {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            self.data.push_back((self.now + ONE_WAY, segment));
        }
        let due = [
            self.data.front().map(|(time, _)| *time),
            self.acks.front().map(|(time, _)| *time),
            self.receiver.next_timeout(),
            self.sender.next_timeout(),
        ];
        let Some(now) = due.into_iter().flatten().min() else { return false };
        self.now = now;
        let place = due.iter().position(|time| *time == Some(now));
        let answer = match place {
            Some(0) => self.data.pop_front().and_then(|(_, segment)| self.receiver.on_segment(now, &segment)),
            Some(1) => {
                let ack = self.acks.pop_front();
                ack.map(|(_, ack)| self.sender.on_segment(now, &ack));
                None
            }
            Some(2) => self.receiver.on_timeout(now),
            _ => {
                self.sender.on_timeout(now);
                None
            }
        };
        self.acks.extend(answer.filter(|ack| !(self.loses)(ack)).map(|ack| (now + ONE_WAY, ack)));
        true
    }

    /// Time when this many segments have been delivered.
    fn delivers(&mut self, segments: u64) -> f64 {
        while self.receiver.delivered() < segments * MSS {
            assert!(self.step(), "it stalls after {} bytes", self.receiver.delivered());
        }
        self.now.seconds()
    }

    fn ends(&mut self) {
        while self.step() {
            assert!(self.now < Time::ZERO + Span::from_secs(10_000), "it does not end");
        }
        assert!(self.sender.is_closed() && self.receiver.closed());
    }
}

/// RFC 9293, section 3.8.6: one window per round trip.
#[test]
fn a_window_bounds_the_rate() {
    let mut connection = Connection::new(u64::MAX / 2, |_| ());
    let start = connection.delivers(1000);
    let rate = 2000.0 / (connection.delivers(3000) - start);
    // The sender waits for the ACK of the window's last segment at most.
    assert!((rate / 200.0 - 1.0).abs() < 0.01, "{rate} segments a second, 20 a round trip of 100 ms");
}

/// A slow application limits the rate, whatever the buffer.
#[test]
fn an_application_that_reads_slowly_bounds_the_rate() {
    for (segments, window) in [(20, 20), (50, 100)] {
        let mut connection = Connection::new(u64::MAX / 2, |config| {
            config.profile.receive_window = window;
            config.reads = Some(Rate::from_bits_per_second(segments as f64 * 8e3));
        });
        let start = connection.delivers(1000);
        let rate = 2000.0 / (connection.delivers(3000) - start);
        assert!((rate / segments as f64 - 1.0).abs() < 0.01, "{rate} segments a second of {segments}");
    }
}

/// RFC 9293, section 3.8.6.1: a probe recovers a lost window update.
#[test]
fn a_probe_recovers_a_lost_window_update() {
    let mut connection = Connection::new(100 * MSS, |_| ());
    connection.receiver.stop_reading(Time::ZERO);
    while connection.now < Time::ZERO + Span::from_secs(30) {
        assert!(connection.step(), "no probe is sent");
    }
    assert_eq!(connection.receiver.delivered(), 20 * MSS, "probes are answered, and not taken");
    // The update is lost.
    assert!(connection.receiver.read(connection.now, 20 * MSS).is_some());
    connection.delivers(21);
    while !connection.receiver.closed() {
        let update = connection.receiver.read(connection.now, u64::MAX);
        connection.acks.extend(update.map(|ack| (connection.now + ONE_WAY, ack)));
        assert!(connection.step());
    }
    connection.ends();
}

/// RFC 9293, section 3.6: data is delivered whole, and both ends close, for any window, reader and number of bytes.
#[test]
fn every_connection_ends() {
    for (window, reads) in
        [(1, None), (2, None), (3, Some(1e5)), (1, Some(1e5)), (100, Some(1e6)), (4096, None)]
    {
        for bytes in [0, 1, 999, 1000, 1001, 50 * MSS + 1, 200 * MSS] {
            for timestamps in [false, true] {
                let mut connection = Connection::new(bytes, |config| {
                    config.profile.receive_window = window;
                    config.profile.timestamps = timestamps;
                    config.reads = reads.map(Rate::from_bits_per_second);
                });
                connection.ends();
                assert_eq!(connection.receiver.delivered(), bytes);
            }
        }
    }
}

/// Our FIN and the ACK of the sender's may be lost: both are retransmitted.
#[test]
fn a_lost_fin_is_retransmitted() {
    let mut connection = Connection::new(10 * MSS, |_| ());
    connection.loses = |ack| ack.ack > 10 * MSS;
    while connection.now < Time::ZERO + Span::from_secs(5) {
        assert!(connection.step());
    }
    assert!(!connection.receiver.closed() && !connection.sender.is_closed());
    connection.loses = |_| false;
    connection.ends();
}
