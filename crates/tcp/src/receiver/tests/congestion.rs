use super::*;

fn echoes(exchange: &mut Exchange, segment: Segment) -> bool {
    exchange.answer(segment).flags.has(Flags::ECE)
}

/// RFC 3168, section 6.1.3.
#[test]
fn a_mark_is_echoed_until_cwr() {
    let (mut exchange, answer) = Exchange::opened(eager, &syn());
    assert!(answer.flags.has(Flags::SYN | Flags::ACK | Flags::ECE) && answer.ecn == Ecn::NotEct);
    assert!(!echoes(&mut exchange, data(0)));
    assert!(echoes(&mut exchange, marked(data(1))));
    assert!(echoes(&mut exchange, data(2)));
    assert!(!echoes(&mut exchange, with(Flags::CWR, data(3))));
    // A marked CWR packet starts a new echo.
    assert!(echoes(&mut exchange, with(Flags::CWR, marked(data(4)))));
    // The reaction to the mark on that CWR packet is lost: the echo continues.
    (5..50).for_each(|number| assert!(echoes(&mut exchange, data(number))));
    assert!(!echoes(&mut exchange, with(Flags::CWR, data(50))));
    assert_eq!(exchange.answer(data(51)).ecn, Ecn::NotEct, "section 6.1.4: bare ACKs are not capable");
}

#[test]
fn a_mark_outlives_the_cwr_that_shares_its_ack() {
    let mut exchange = Exchange::new(|_| ());
    exchange.waits(marked(data(0)));
    assert!(echoes(&mut exchange, with(Flags::CWR, data(1))), "RFC 3168, 6.1.3: any of the packets");
    exchange.waits(data(2));
    assert!(!echoes(&mut exchange, data(3)));
}

#[test]
fn without_agreement_there_is_no_echo() {
    let (mut exchange, _) = Exchange::opened(eager, &Segment { flags: Flags::SYN, ..Segment::default() });
    assert!(!echoes(&mut exchange, marked(data(0))));
    let (mut exchange, answer) = Exchange::opened(|config| config.ecn = false, &syn());
    assert!(!answer.flags.has(Flags::ECE));
    exchange.waits(data(0));
    assert!(!echoes(&mut exchange, marked(data(1))));
}

/// RFC 3168, sections 6.1.5 and 6.1.6.
#[test]
fn marks_outside_the_window_count_on_probes_alone() {
    let mut exchange = Exchange::new(eager);
    exchange.answer(data(0));
    assert!(!echoes(&mut exchange, marked(data(0))), "it came before");
    assert!(!echoes(&mut exchange, marked(data(11))), "it lies beyond the window");
    exchange.receiver.stop_reading(exchange.now);
    (1..11).for_each(|number| assert!(!echoes(&mut exchange, data(number))));
    assert!(echoes(&mut exchange, marked(bytes(11_000, 1))), "a window probe");
    // If retransmissions are ECN-capable, their marks count.
    let mut exchange = Exchange::new(|config| {
        eager(config);
        config.profile.ect_on_retransmit = true;
    });
    exchange.answer(data(0));
    assert!(echoes(&mut exchange, marked(data(0))));
}

/// RFC 8257, section 3.2: two ACKs at every change, each with the state of the data it covers.
#[test]
fn feedback_per_segment_identifies_marked_packets() {
    let mut exchange = Exchange::new(dctcp);
    exchange.waits(data(0));
    let earlier = exchange.answer(marked(data(1)));
    assert_eq!((earlier.ack, earlier.flags.has(Flags::ECE)), (1000, false));
    let later = exchange.sends_after(0);
    assert_eq!((later.ack, later.flags.has(Flags::ECE)), (2000, true));
    // Within a state, one ACK for two packets.
    exchange.waits(marked(data(2)));
    assert!(echoes(&mut exchange, marked(data(3))));
    // A change with no ACK due.
    let answer = exchange.answer(data(4));
    assert_eq!((answer.ack, answer.flags.has(Flags::ECE)), (5000, false));
    exchange.waits(data(5));
    assert_eq!(exchange.sends_after(40_000).flags, Flags::ACK);
}

/// RFC 8257, section 3.2: ECE is set if and only if the state is: CWR has no effect.
#[test]
fn feedback_does_not_wait_for_cwr() {
    let mut exchange = Exchange::new(dctcp);
    assert!(echoes(&mut exchange, marked(data(0))));
    exchange.waits(with(Flags::CWR, marked(data(1))));
    assert!(echoes(&mut exchange, marked(data(2))));
    assert!(!echoes(&mut exchange, data(3)));
}

/// Out of order there is one ACK, in the new state.
#[test]
fn feedback_of_a_gap_is_one_ack() {
    let mut exchange = Exchange::new(dctcp);
    exchange.waits(data(0));
    assert!(echoes(&mut exchange, marked(data(2))));
    assert_eq!(exchange.receiver.next_timeout(), None);
}
