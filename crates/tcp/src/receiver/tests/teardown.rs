use super::*;

/// RFC 9293, figure 12: peer B, whose FIN is sent with its ACK.
#[test]
fn a_fin_is_answered_with_a_fin() {
    let mut exchange = Exchange::new(|_| ());
    exchange.waits(data(0));
    let answer = exchange.answer(fin(1000, 500));
    assert_eq!((answer.seq, answer.ack, answer.len), (0, 1501, 0));
    assert!(answer.flags.has(Flags::ACK | Flags::FIN));
    assert_eq!(exchange.receiver.delivered(), 1500);
    assert!(!exchange.receiver.closed());
    exchange.waits(Segment { ack: 1, ..bytes(1501, 0) });
    assert!(exchange.receiver.closed());
    assert_eq!(exchange.receiver.next_timeout(), None);
}

/// Figure 12: the FIN may arrive by itself, early, or twice.
#[test]
fn a_fin_waits_for_the_data_before_it() {
    let mut exchange = Exchange::new(|_| ());
    assert_eq!(exchange.answer(fin(2000, 0)).ack, 0);
    assert_eq!(exchange.answer(data(1)).ack, 0);
    let answer = exchange.answer(data(0));
    assert_eq!((answer.ack, answer.flags.has(Flags::FIN)), (2001, true));
    // Once more: an ACK with the number behind our FIN; D-SACK applies to sequence numbers, and FIN has one.
    let again = exchange.answer(fin(2000, 0));
    assert_eq!((again.seq, again.ack, again.flags.has(Flags::FIN)), (1, 2001, false));
    assert_eq!(blocks(&again), [(2000, 2001)]);
    assert_eq!(blocks(&exchange.answer(fin(1000, 1000))), [(1000, 2001)]);
}

#[test]
fn data_behind_the_fin_are_none() {
    let mut exchange = Exchange::new(eager);
    assert_eq!(exchange.answer(fin(1500, 0)).ack, 0);
    exchange.answer(data(1));
    assert_eq!(exchange.answer(data(0)).ack, 1501);
    assert_eq!(exchange.answer(data(2)).ack, 1501);
    assert_eq!(exchange.receiver.delivered(), 1500);
    // Nor is a FIN within received data.
    let mut exchange = Exchange::new(eager);
    exchange.answer(data(1));
    exchange.answer(fin(0, 500));
    assert_eq!(exchange.answer(data(0)).ack, 2000);
}

/// RFC 9293, section 3.8.1: our FIN is retransmitted until acknowledged, at doubled intervals up to a cap.
#[test]
fn our_fin_is_retransmitted() {
    let mut exchange = Exchange::new(|config| config.profile.max_rto = Span::from_secs(10));
    assert!(exchange.answer(fin(0, 0)).flags.has(Flags::FIN));
    for seconds in [1, 2, 4, 8, 10, 10, 10, 10] {
        let again = exchange.sends_after(seconds * 1_000_000);
        assert_eq!((again.seq, again.ack, again.flags.has(Flags::FIN)), (0, 1, true));
    }
    let due = exchange.receiver.next_timeout().unwrap();
    assert_eq!((exchange.receiver.on_timeout(due), exchange.receiver.closed()), (None, true));
    assert_eq!(exchange.receiver.next_timeout(), None);
    assert_eq!(exchange.answer(fin(0, 0)).ack, 1, "the sender shall end, too");
}

/// The application closes once it has read everything, at its own pace.
#[test]
fn a_slow_reader_closes_late() {
    let mut exchange = Exchange::new(|config| config.reads = Some(Rate::from_bits_per_second(8e6)));
    let answer = exchange.answer(fin(0, 1000));
    assert_eq!((answer.ack, answer.flags.has(Flags::FIN)), (1001, false));
    let closing = exchange.sends_after(1000);
    assert_eq!((closing.seq, closing.ack, closing.flags.has(Flags::FIN)), (0, 1001, true));
    let mut exchange = Exchange::new(|_| ());
    exchange.receiver.stop_reading(exchange.now);
    exchange.answer(fin(0, 1000));
    assert_eq!(exchange.receiver.next_timeout(), None);
    assert_eq!(exchange.receiver.read(exchange.now, 999), None);
    assert!(exchange.receiver.read(exchange.now, 1).unwrap().flags.has(Flags::FIN));
}

/// RFC 9293, section 3.10.7.4, table 6: a FIN has a sequence number, which must lie in the window.
#[test]
fn a_fin_beyond_the_window_is_not_accepted() {
    let mut exchange = Exchange::new(eager);
    exchange.receiver.stop_reading(exchange.now);
    for number in 0..9 {
        exchange.answer(data(number));
    }
    let answer = exchange.answer(fin(9000, 1000));
    assert_eq!((answer.ack, answer.window, answer.flags.has(Flags::FIN)), (10_000, 0, false));
    assert!(exchange.receiver.read(exchange.now, 10_000).is_some());
    assert!(exchange.answer(fin(9000, 1000)).flags.has(Flags::FIN));
}
