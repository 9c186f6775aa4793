//! A receiver under test, and its answers.

mod acknowledgments;
mod congestion;
mod model;
mod selective;
mod stamps;
mod teardown;
mod windows;

use super::*;
use crate::cc::{Choice, Custom, Feedback, Recovery};
use crate::profile::Profile;
use crate::segment::Stamp;
use sojourn_units::{Ecn, Rate, Span};
use std::sync::Arc;

const MSS: u64 = 1000;

/// Receiver with a clock.
struct Exchange {
    receiver: Receiver,
    now: Time,
}

fn config(change: impl Fn(&mut Config)) -> Config {
    let profile = Profile { receive_window: 10, ..Profile::default() };
    let mut config =
        Config { profile, cc: "newreno".into(), mss: MSS as u32, ecn: true, ect1: false, reads: None };
    change(&mut config);
    config
}

fn eager(config: &mut Config) {
    config.profile.delayed_ack = false;
}

/// Congestion control with feedback per segment.
fn dctcp(config: &mut Config) {
    config.cc = Choice::Custom(Custom {
        name: "custom".into(),
        recovery: Recovery::NewReno,
        feedback: Feedback::PerSegment,
        build: Arc::new(|_, _| unreachable!("a receiver has none")),
    });
}

fn syn() -> Segment {
    let flags = Flags::SYN | Flags::ECE | Flags::CWR | Flags::SACK | Flags::SCALE;
    Segment { flags, ..Segment::default() }
}

/// Segment `number`, from 0.
fn data(number: u64) -> Segment {
    bytes(number * MSS, MSS as u16)
}

fn bytes(seq: u64, len: u16) -> Segment {
    Segment { seq, len, flags: Flags::ACK, ..Segment::default() }
}

fn fin(seq: u64, len: u16) -> Segment {
    Segment { flags: Flags::ACK | Flags::FIN, ..bytes(seq, len) }
}

fn marked(segment: Segment) -> Segment {
    Segment { ecn: Ecn::Ce, ..segment }
}

fn with(flag: Flags, segment: Segment) -> Segment {
    Segment { flags: segment.flags | flag, ..segment }
}

fn blocks(ack: &Segment) -> Vec<(u64, u64)> {
    ack.sack.iter(ack.ack).collect()
}

impl Exchange {
    /// An established connection with SACK, ECN and scaled windows.
    fn new(change: impl Fn(&mut Config)) -> Exchange {
        Exchange::opened(change, &syn()).0
    }

    fn opened(change: impl Fn(&mut Config), syn: &Segment) -> (Exchange, Segment) {
        let mut receiver = Receiver::new(config(change));
        let answer = receiver.on_segment(Time::ZERO, syn).unwrap();
        (Exchange { receiver, now: Time::ZERO }, answer)
    }

    fn passes(&mut self, millis: u64) {
        self.now += Span::from_millis(millis);
    }

    #[track_caller]
    fn answer(&mut self, segment: Segment) -> Segment {
        self.receiver.on_segment(self.now, &segment).expect("an ACK at once")
    }

    #[track_caller]
    fn waits(&mut self, segment: Segment) {
        assert_eq!(self.receiver.on_segment(self.now, &segment), None);
    }

    /// Segment sent without an arrival, so many microseconds from now.
    #[track_caller]
    fn sends_after(&mut self, micros: u64) -> Segment {
        let due = self.receiver.next_timeout().expect("a running timer");
        assert_eq!(due.since(self.now), Span::from_micros(micros));
        self.now = due;
        self.receiver.on_timeout(due).expect("a segment")
    }
}

/// Size without heap: the receiver has less than a quarter of the flow's kibibyte.
#[test]
fn a_receiver_is_small() {
    assert!(size_of::<Receiver>() <= 240, "{}", size_of::<Receiver>());
}
