//! A congestion control outside the catalogue, run in a sender.

use sojourn_tcp::cc::{AckSample, Choice, CongestionControl, Custom, Feedback, Recovery, Signal};
use sojourn_tcp::{Config, Flags, Profile, Segment, Sender};
use sojourn_units::{Bytes, Span, Time};
use std::sync::Arc;

/// Window that grows by a segment per segment acknowledged, and keeps three quarters at a loss.
#[derive(Clone)]
struct Eager {
    window: u64,
    ssthresh: u64,
}

impl CongestionControl for Eager {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.window += ack.acked;
    }
    fn on_signal(&mut self, _signal: &Signal) {
        self.ssthresh = (self.window * 3 / 4).max(2000);
        self.window = self.ssthresh;
    }
    fn window(&self) -> Bytes {
        Bytes::new(self.window)
    }
    fn ssthresh(&self) -> Bytes {
        Bytes::new(self.ssthresh)
    }
    fn set_window(&mut self, window: Bytes) {
        self.window = window.get();
    }
    fn set_ssthresh(&mut self, ssthresh: Bytes) {
        self.ssthresh = ssthresh.get();
    }
}

fn eager() -> Choice {
    Choice::Custom(Custom {
        name: "eager".into(),
        recovery: Recovery::NewReno,
        feedback: Feedback::Classic,
        build: Arc::new(|profile, mss| {
            Box::new(Eager { window: profile.initial_window * u64::from(mss), ssthresh: u64::MAX })
        }),
    })
}

const MSS: u64 = 1000;

fn connected() -> Sender {
    let config = Config {
        profile: Profile::default(),
        cc: eager(),
        mss: MSS as u32,
        ecn: false,
        ect1: false,
        reads: None,
    };
    let mut sender = Sender::new(config);
    sender.supply(u64::MAX);
    sender.open();
    sender.poll_transmit(Time::ZERO).expect("a SYN");
    let flags = Flags::SYN | Flags::ACK;
    sender.on_segment(at(100), &Segment { flags, window: u16::MAX.into(), ..Segment::default() });
    sender
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Number of segments that may be sent at once.
fn sent(sender: &mut Sender, now: Time) -> usize {
    std::iter::from_fn(|| sender.poll_transmit(now)).count()
}

fn ack(sender: &mut Sender, now: Time, segments: u64) {
    let ack =
        Segment { flags: Flags::ACK, ack: segments * MSS, window: u16::MAX.into(), ..Segment::default() };
    sender.on_segment(now, &ack);
}

#[test]
fn a_custom_control_drives_a_sender() {
    let mut sender = connected();
    assert_eq!(sent(&mut sender, at(100)), 10);
    ack(&mut sender, at(200), 4);
    assert_eq!(sender.window(), Bytes::new(14 * MSS));
    assert_eq!(sent(&mut sender, at(200)), 8);
    // After three duplicates the window is the control's, three quarters.
    (1..=3).for_each(|n| ack(&mut sender, at(200 + n), 4));
    assert_eq!((sender.window(), sender.ssthresh()), (Bytes::new(10_500), Bytes::new(10_500)));
}

/// A copy of a sender includes the control's state.
#[test]
fn a_copy_is_independent() {
    let mut sender = connected();
    sent(&mut sender, at(100));
    let copy = sender.clone();
    ack(&mut sender, at(200), 4);
    assert_eq!((copy.window(), sender.window()), (Bytes::new(10 * MSS), Bytes::new(14 * MSS)));
}

#[test]
fn a_custom_control_has_its_name_and_equals_itself_alone() {
    let (one, other) = (eager(), eager());
    assert_eq!(one.to_string(), "eager");
    assert_eq!(one, one.clone());
    assert_ne!(one, other);
}
