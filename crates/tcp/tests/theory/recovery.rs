//! Proportional rate reduction: RFC 6937's examples under it and under RFC 9937, and the bounds of both under any
//! losses.
//!
//! A flight of segments loses some; its ACKs arrive one by one, each for one more segment delivered. `RecoverFS` is
//! the data outstanding when recovery starts, including the two segments of limited transmit (RFC 6937, section 3), by
//! RFC 9937, section 6.1 without the data SACKed before. The figures of RFC 6937, section 3.1 leave out limited
//! transmit: there a segment is sent up to two ACKs sooner.

use crate::path::{Connection, MSS, profile};
use proptest::prelude::*;
use sojourn_tcp::{Profile, Prr};
use sojourn_units::Span;

const RTT: Span = Span::from_millis(100);

/// Record of a recovery, from the ACK that begins it to the one that ends it.
struct Recovery {
    /// Bytes.
    ssthresh: u64,
    /// `RecoverFS`, segments.
    flight: u64,
    /// After each ACK but the last: segments sent in recovery, and those actually in flight.
    acks: Vec<(u64, u64)>,
    /// Segments sent on the last ACK.
    burst: u64,
    /// Window after the last ACK, bytes.
    window: u64,
}

/// Runs a recovery in which the segments of these numbers, from 0, are lost once, of a first flight of at most 65, as
/// the window on a SYN is not scaled.
fn recovery(prr: Prr, cc: &str, flight: u64, lost: &[u64]) -> Recovery {
    let profile = Profile { sack: Some(true), initial_window: flight, prr, ..profile() };
    let numbers: Vec<u64> = lost.iter().map(|number| number + 1).collect();
    let mut connection =
        Connection::new(cc, profile, RTT, Box::new(move |_, number| numbers.contains(&number)));
    let mut before = connection.sent;
    while connection.sender.ssthresh().get() > u64::from(u32::MAX) {
        before = connection.sent;
        connection.step();
    }
    let ssthresh = connection.sender.ssthresh().get();
    let acknowledged = connection.sender.acknowledged() / u64::from(MSS);
    let sacked_before = if prr == Prr::Rfc9937 { connection.acks_received - 1 - acknowledged } else { 0 };
    let flight = before - acknowledged - sacked_before;
    let (mut acks, mut burst) = (Vec::new(), 0);
    while connection.sender.acknowledged() < before * u64::from(MSS) {
        let (received, sent) = (connection.acks_received, connection.sent);
        acks.push((sent - before, sent - lost.len() as u64 - received));
        while connection.acks_received == received {
            connection.step();
        }
        burst = connection.sent - sent;
    }
    Recovery { ssthresh, flight, acks, burst, window: connection.sender.window().get() }
}

fn sent(recovery: &Recovery) -> Vec<u64> {
    recovery.acks.iter().map(|(sent, _)| *sent).collect()
}

/// RFC 6937, section 3.1: one segment of twenty is lost. R, then a new segment for every second one delivered until
/// half as many are in flight, then one for each.
#[test]
fn one_loss_of_twenty_is_repaired_in_proportion() {
    for (prr, flight, in_proportion, after) in
        [(Prr::Rfc6937, 22, 15, &[7, 8, 9, 10][..]), (Prr::Rfc9937, 20, 16, &[8, 9, 10])]
    {
        let recovery = recovery(prr, "newreno", 20, &[0]);
        assert_eq!(recovery.flight, flight);
        let share = (1..=in_proportion).map(|delivered: u64| (delivered * 10).div_ceil(flight));
        assert_eq!(sent(&recovery), share.chain(after.iter().copied()).collect::<Vec<_>>());
        assert_eq!((recovery.window, recovery.burst), (10_000, 1));
    }
}

/// RFC 6937, section 3.1: fifteen of twenty are lost. Each of the five ACKs allows two (PRR-SSRB); by RFC 9937 one,
/// until a retransmission advances SND.UNA.
#[test]
fn fifteen_losses_of_twenty_are_repaired_as_in_slow_start() {
    let lost: Vec<u64> = (0..15).collect();
    let old = recovery(Prr::Rfc6937, "newreno", 20, &lost);
    assert_eq!(sent(&old)[..6], [2, 4, 6, 8, 10, 11]);
    assert_eq!(old.acks[2], (6, 8), "pipe is 6 and then two more leave");
    let new = recovery(Prr::Rfc9937, "newreno", 20, &lost);
    assert_eq!(sent(&new)[..7], [1, 2, 3, 4, 5, 7, 9]);
    assert_eq!(new.acks[2], (3, 5), "pipe is 4 and then one more leaves");
    for recovery in [old, new] {
        assert_eq!((recovery.window, recovery.burst), (10_000, 1));
    }
}

proptest! {
    /// The share of the data delivered, or with less than `ssthresh` in flight, up to that and two per segment
    /// delivered; by RFC 9937 the second one for ACKs that advance SND.UNA only.
    #[test]
    fn no_more_is_sent_than_the_share_or_the_bound(
        flight in 10_u64..=65,
        lot in prop::collection::vec(0.0..1.0_f64, 65),
        share in 0.0..0.9_f64,
    ) {
        let mut lost: Vec<u64> = (0..flight - 4).filter(|number| lot[*number as usize] < share).collect();
        if lost.is_empty() {
            lost.push(0);
        }
        for (cc, prr) in ["newreno", "cubic"].iter().flat_map(|cc| [(cc, Prr::Rfc9937), (cc, Prr::Rfc6937)]) {
            let recovery = recovery(prr, cc, flight, &lost);
            let whole = u64::from(MSS);
            for (delivered, (sent, on_their_way)) in (1..).zip(&recovery.acks) {
                let share = (delivered * recovery.ssthresh).div_ceil(recovery.flight * whole);
                let catching_up = on_their_way * whole <= recovery.ssthresh && *sent <= 2 * delivered;
                prop_assert!(*sent <= share || catching_up, "{}: {:?} after {} ACKs", cc, recovery.acks, delivered);
            }
            prop_assert_eq!(recovery.window, recovery.ssthresh);
            // With few losses the reduction is the sender's alone, and in the end the flight equals the window.
            let few = (recovery.flight - lost.len() as u64) * whole > recovery.ssthresh + 3 * whole;
            prop_assert!(!few || recovery.burst <= 2, "{}: {} at once in the end", cc, recovery.burst);
        }
    }
}
