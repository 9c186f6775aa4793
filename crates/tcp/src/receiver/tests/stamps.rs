use super::*;

fn stamp(tick: u64) -> Stamp {
    Stamp::at(Time::from_nanos(tick * 1000))
}

fn stamped(number: u64, tick: u64) -> Segment {
    Segment { stamp: stamp(tick), ..with(Flags::TIMESTAMP, data(number)) }
}

fn opened(change: impl Fn(&mut Config)) -> Exchange {
    let change = |config: &mut Config| {
        change(config);
        config.profile.timestamps = true;
        config.mss += 12;
    };
    Exchange::opened(change, &with(Flags::TIMESTAMP, syn())).0
}

/// RFC 7323, section 4.3: echoes of delayed ACKs, and of those around a hole.
#[test]
fn they_are_echoed_as_the_rfcs_examples_do() {
    let mut delaying = opened(|config| config.profile.ack_every = 3);
    delaying.waits(stamped(0, 1));
    delaying.waits(stamped(1, 2));
    assert_eq!(delaying.answer(stamped(2, 3)).stamp, stamp(1));

    let mut exchange = opened(eager);
    // A, C, B, E, D.
    for (number, tick, ack, echo) in [(0, 1, 1, 1), (2, 3, 1, 1), (1, 2, 3, 2), (4, 5, 3, 2), (3, 4, 5, 4)] {
        let answer = exchange.answer(stamped(number, tick));
        assert_eq!((answer.ack, answer.stamp), (ack * 1000, stamp(echo)));
    }
}

/// RFC 7323, section 5.3: the example with A.1 to Z.1 where B.1 is lost, and the one where C.1 comes after B.2.
#[test]
fn an_old_segment_is_refused() {
    let mut exchange = opened(eager);
    exchange.answer(stamped(0, 1));
    exchange.answer(stamped(3, 1));
    let answer = exchange.answer(stamped(1, 2));
    assert_eq!((answer.ack, answer.stamp), (2000, stamp(2)));
    let refused = exchange.answer(stamped(2, 1));
    assert_eq!((refused.ack, refused.stamp), (2000, stamp(2)));
    assert_eq!(exchange.answer(stamped(2, 2)).ack, 4000);
    // Section 5.3, R2 before R3: duplicate data is acknowledged, and not timed.
    assert_eq!(exchange.answer(stamped(0, 9)).stamp, stamp(2));
    // Section 3.2: a segment without a stamp is dropped.
    exchange.waits(data(4));
}

/// RFC 7323, section 5.5: an idle time in which the clock advances by half its range.
#[test]
fn a_stamp_that_is_out_of_date_refuses_nothing() {
    let mut exchange = opened(eager);
    exchange.answer(stamped(0, 1));
    let idle = (1 << 31) + 1000;
    exchange.now += Span::from_micros(idle);
    let answer = exchange.answer(stamped(1, idle));
    assert_eq!((answer.ack, answer.stamp), (2000, stamp(idle)));
    assert_eq!(exchange.answer(stamped(2, idle - 1)).ack, 2000, "the new one is up to date");
}

/// RFC 8257, section 3.2, and RFC 7323, section 4.3: each of the two ACKs echoes its own stamp.
#[test]
fn two_acks_echo_two_stamps() {
    let mut exchange = opened(dctcp);
    exchange.waits(stamped(0, 1));
    assert_eq!(exchange.answer(marked(stamped(1, 2))).stamp, stamp(1));
    assert_eq!(exchange.sends_after(0).stamp, stamp(2));
}
