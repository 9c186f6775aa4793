use super::*;

/// RFC 5681, section 4.2.
#[test]
fn every_second_segment_is_acknowledged_or_the_timer_runs_out() {
    let mut exchange = Exchange::new(|_| ());
    exchange.waits(data(0));
    assert_eq!(exchange.answer(data(1)).ack, 2000);
    assert_eq!(exchange.receiver.next_timeout(), None);
    exchange.waits(data(2));
    assert_eq!(exchange.sends_after(40_000).ack, 3000);
}

/// RFC 5681, section 4.2: the delay counts from the first unacknowledged segment.
#[test]
fn a_later_segment_does_not_put_the_ack_off() {
    let mut exchange = Exchange::new(|config| config.profile.ack_every = 8);
    exchange.waits(data(0));
    exchange.passes(30);
    exchange.waits(data(1));
    assert_eq!(exchange.sends_after(10_000).ack, 2000);
}

/// RFC 5681, section 4.2: full-sized is the size of the sender's segments.
#[test]
fn small_segments_share_an_ack() {
    let mut exchange = Exchange::new(|_| ());
    exchange.waits(bytes(0, 500));
    assert_eq!(exchange.answer(bytes(500, 500)).ack, 1000, "500 bytes are full-sized as far as is known");
    exchange.waits(bytes(1000, 1000));
    assert_eq!(exchange.answer(bytes(2000, 10)).ack, 2010, "the end of a flight follows a full segment");
    for number in 0..100 {
        exchange.waits(bytes(2010 + 10 * number, 10));
    }
    assert_eq!(exchange.answer(bytes(3010, 10)).ack, 3020);
}

/// Stretch ACKs, which RFC 5681, section 4.2, allows after careful consideration.
#[test]
fn one_ack_may_be_for_more_segments() {
    let mut exchange = Exchange::new(|config| config.profile.ack_every = 4);
    (0..3).for_each(|number| exchange.waits(data(number)));
    assert_eq!(exchange.answer(data(3)).ack, 4000);
    // A gap suspends the thinning until it is filled.
    exchange.waits(data(4));
    assert_eq!(exchange.answer(data(6)).ack, 5000);
    assert_eq!(exchange.answer(data(5)).ack, 7000);
    exchange.waits(data(7));
}

#[test]
fn a_gap_and_its_filling_are_acknowledged_at_once() {
    let mut exchange = Exchange::new(|_| ());
    exchange.waits(data(0));
    assert_eq!(exchange.answer(data(1)).ack, 2000);
    assert_eq!(exchange.answer(data(3)).ack, 2000);
    assert_eq!(exchange.answer(data(5)).ack, 2000);
    assert_eq!(exchange.answer(data(2)).ack, 4000);
    assert_eq!(exchange.answer(data(4)).ack, 6000);
}

/// RFC 9293, section 3.10.7.4, first.
#[test]
fn an_unacceptable_segment_is_acknowledged_at_once() {
    let mut exchange = Exchange::new(|_| ());
    exchange.waits(data(0));
    assert_eq!(exchange.answer(data(0)).ack, 1000, "it came before");
    assert_eq!(exchange.answer(data(11)).ack, 1000, "there is no room");
    assert_eq!(exchange.answer(bytes(999, 0)).ack, 1000, "a bare segment before its place");
    exchange.waits(bytes(1000, 0));
}

/// RFC 9293, section 3.10.7.4, fourth: an old SYN is acknowledged, and changes nothing.
#[test]
fn a_syn_is_answered_again_until_data_come() {
    let mut exchange = Exchange::new(|_| ());
    let again = exchange.answer(syn());
    assert!(again.flags.has(Flags::SYN | Flags::ACK | Flags::ECE | Flags::SACK | Flags::SCALE));
    exchange.waits(data(0));
    let challenge = exchange.answer(Segment { flags: Flags::SYN, ..Segment::default() });
    assert_eq!((challenge.ack, challenge.flags), (1000, Flags::ACK));
    assert_eq!(blocks(&exchange.answer(data(2))), [(2000, 3000)], "SACK is still agreed on");
}

#[test]
fn nothing_is_answered_before_the_syn() {
    let mut receiver = Receiver::new(config(|_| ()));
    assert_eq!(receiver.on_segment(Time::ZERO, &data(0)), None);
    assert_eq!(receiver.next_timeout(), None);
}
