//! Proportional rate reduction against the bounds that RFC 6937 gives for it.
//!
//! A flight of W segments loses some. ACKs come one by one, so that each says that one segment more has
//! arrived. Then, from the ACK that starts recovery on, D ACKs have let out at most
//!
//! ```text
//! max(ceil(D ssthresh / W), 2 D)     segments                     section 3: the share, and SSRB's bound
//! ```
//!
//! and where losses leave more under way than ssthresh, the share alone; recovery ends with ssthresh under way.

use crate::path::{Connection, MSS, profile};
use proptest::prelude::*;
use sojourn_tcp::Profile;
use sojourn_units::{Span, Time};

const RTT: Span = Span::from_millis(100);

/// What became of a flight that lost the segments of these numbers, from 0 on.
struct Outcome {
    /// Segments sent after each ACK of the recovery, from the one that began it on.
    sent: Vec<u64>,
    ssthresh: u64,
    /// Segments outstanding when recovery had ended, and the window then.
    outstanding: u64,
    window: u64,
    /// Whether the timer had to help.
    timeouts: bool,
}

fn segments(bytes: u64) -> u64 {
    bytes / u64::from(MSS)
}

fn recovery(flight: u64, lost: &[u64], cc: &str) -> Outcome {
    let profile = Profile { sack: Some(true), initial_window: flight, ..profile() };
    let lost: Vec<u64> = lost.iter().map(|number| number + 1).collect();
    let mut connection = Connection::new(cc, profile, RTT, Box::new(move |_, number| lost.contains(&number)));
    // Until the window has been reduced.
    let mut before = 0;
    while connection.sender.ssthresh().get() > u64::from(u32::MAX) {
        before = connection.sent;
        connection.step();
    }
    let end = before * u64::from(MSS);
    let ssthresh = segments(connection.sender.ssthresh().get());
    let mut outcome = Outcome {
        sent: vec![connection.sent - before],
        ssthresh,
        outstanding: 0,
        window: 0,
        timeouts: false,
    };
    while connection.sender.acknowledged() < end {
        let heard = connection.heard;
        connection.step();
        if connection.heard > heard {
            outcome.sent.push(connection.sent - before);
        }
        outcome.timeouts |= connection.window() < 2.0;
    }
    outcome.outstanding = segments(connection.sender.flight());
    outcome.window = segments(connection.sender.window().get());
    outcome
}

/// Section 3.1, the first example: a segment of twenty is lost. N and R in turn, half as many as arrive.
#[test]
fn one_loss_of_twenty() {
    let outcome = recovery(20, &[0], "newreno");
    println!("{:?}", outcome.sent);
}

/// The second: fifteen of twenty.
#[test]
fn fifteen_losses_of_twenty() {
    let lost: Vec<u64> = (0..15).collect();
    let outcome = recovery(20, &lost, "newreno");
    println!("{:?}", outcome.sent);
}

proptest! {
    #[test]
    fn no_more_is_sent_than_the_bound(flight in 10_u64..100, pattern in prop::collection::vec(0.0..1.0_f64, 100), share in 0.0..0.9_f64) {
        let lost: Vec<u64> = (0..flight - 4).filter(|number| pattern[*number as usize] < share).collect();
        prop_assume!(!lost.is_empty());
        for cc in ["newreno", "cubic"] {
            let outcome = recovery(flight, &lost, cc);
        }
    }
}
