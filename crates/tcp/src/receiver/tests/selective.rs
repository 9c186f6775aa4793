use super::*;

/// RFC 2018, section 7, case 3: segments of 500 from 5000 (here 0) on, every second one lost.
#[test]
fn blocks_are_reported_latest_first() {
    let mut exchange = Exchange::new(eager);
    let mut answer = |seq: u64| {
        let ack = exchange.answer(bytes(seq - 5000, 500));
        (ack.ack + 5000, blocks(&ack).iter().map(|(from, to)| (from + 5000, to + 5000)).collect::<Vec<_>>())
    };
    assert_eq!(answer(5000), (5500, vec![]));
    assert_eq!(answer(6000), (5500, vec![(6000, 6500)]));
    assert_eq!(answer(7000), (5500, vec![(7000, 7500), (6000, 6500)]));
    assert_eq!(answer(8000), (5500, vec![(8000, 8500), (7000, 7500), (6000, 6500)]));
    // The fourth comes out of order, then the second.
    assert_eq!(answer(6500), (5500, vec![(6000, 7500), (8000, 8500)]));
    assert_eq!(answer(5500), (7500, vec![(8000, 8500)]));
}

/// RFC 2018, section 4: of more than three blocks, those changed last.
#[test]
fn the_oldest_block_is_left_out() {
    let mut exchange = Exchange::new(|config| config.profile.dsack = false);
    let mut ack = Segment::default();
    for number in [2, 4, 6, 8, 2] {
        ack = exchange.answer(data(number));
    }
    let starts: Vec<_> = blocks(&ack).iter().map(|(from, _)| from / MSS).collect();
    assert_eq!(starts, [2, 8, 6]);
    assert_eq!(ack.wire_len(), 40 + 28);
}

/// The receiver's memory has a bound, whatever a sender does.
#[test]
fn blocks_are_bounded_by_the_window() {
    let mut exchange = Exchange::new(|config| config.profile.dsack = false);
    let mut held = 0;
    for byte in (1..20_000).step_by(2) {
        held += usize::from(blocks(&exchange.answer(bytes(byte, 1))).contains(&(byte, byte + 1)));
    }
    assert_eq!(held, 10, "as many as segments in the window");
    // Full-sized segments never reach the bound, and data in order is always accepted.
    let mut exchange = Exchange::new(|_| ());
    for number in (1..10).step_by(2) {
        assert_eq!(blocks(&exchange.answer(data(number)))[0].0, number * MSS);
    }
    assert_eq!(exchange.answer(data(0)).ack, 2000);
}

/// A line of RFC 2883's figures: a segment from, to; its ACK, the blocks in that.
type Line = (u64, u64, u64, &'static [(u64, u64)]);

fn figure(rows: &[Line]) {
    let mut exchange = Exchange::new(eager);
    let first = rows[0].0;
    for from in (0..first).step_by(500) {
        exchange.answer(bytes(from, 500));
    }
    for &(from, to, ack, expected) in rows {
        let answer = exchange.answer(bytes(from, (to - from) as u16));
        assert_eq!((answer.ack, blocks(&answer)), (ack, expected.to_vec()), "{from}-{to}");
    }
}

#[test]
fn rfc_2883_section_4_1_1_a_duplicate_segment() {
    figure(&[(3000, 3500, 3500, &[]), (3500, 4000, 4000, &[]), (3000, 3500, 4000, &[(3000, 3500)])]);
}

#[test]
fn rfc_2883_section_4_1_2_an_out_of_order_segment_and_a_duplicate() {
    figure(&[
        (3000, 3500, 3500, &[]),
        (3500, 4000, 4000, &[]),
        (4500, 5000, 4000, &[(4500, 5000)]),
        (3000, 3500, 4000, &[(3000, 3500), (4500, 5000)]),
    ]);
}

#[test]
fn rfc_2883_section_4_1_3_a_duplicate_of_an_out_of_order_segment() {
    figure(&[
        (3500, 4000, 4000, &[]),
        (4500, 5000, 4000, &[(4500, 5000)]),
        (5000, 5500, 4000, &[(4500, 5500)]),
        (5000, 5500, 4000, &[(5000, 5500), (4500, 5500)]),
    ]);
}

#[test]
fn rfc_2883_section_4_2_1_a_single_duplicate_subsegment() {
    figure(&[
        (500, 1000, 1000, &[]),
        (2000, 2500, 1000, &[(2000, 2500)]),
        (1000, 1500, 1500, &[(2000, 2500)]),
        (1000, 2000, 2500, &[(1000, 1500)]),
    ]);
}

#[test]
fn rfc_2883_section_4_2_2_two_duplicate_subsegments_covered_by_the_ack() {
    figure(&[
        (500, 1000, 1000, &[]),
        (3000, 3500, 1000, &[(3000, 3500)]),
        (1000, 1500, 1500, &[(3000, 3500)]),
        (2000, 2500, 1500, &[(2000, 2500), (3000, 3500)]),
        (1000, 2500, 2500, &[(1000, 1500), (3000, 3500)]),
    ]);
}

#[test]
fn rfc_2883_section_4_2_3_two_duplicate_subsegments_above_the_ack() {
    figure(&[
        (500, 1000, 1000, &[]),
        (3500, 4000, 1000, &[(3500, 4000)]),
        (1500, 2000, 1000, &[(1500, 2000), (3500, 4000)]),
        (2500, 3000, 1000, &[(2500, 3000), (1500, 2000), (3500, 4000)]),
        (1500, 3000, 1000, &[(1500, 2000), (1500, 3000), (3500, 4000)]),
    ]);
}

#[test]
fn rfc_2883_section_5_1_replication_by_the_network() {
    figure(&[(500, 1000, 1000, &[]), (1000, 1500, 1500, &[]), (1000, 1500, 1500, &[(1000, 1500)])]);
}

#[test]
fn rfc_2883_section_5_2_false_retransmit_due_to_reordering() {
    figure(&[
        (500, 1000, 1000, &[]),
        (1500, 2000, 1000, &[(1500, 2000)]),
        (2000, 2500, 1000, &[(1500, 2500)]),
        (2500, 3000, 1000, &[(1500, 3000)]),
        (1000, 1500, 3000, &[]),
        (1000, 1500, 3000, &[(1000, 1500)]),
    ]);
}

#[test]
fn rfc_2883_section_5_4_early_retransmit_timeout() {
    figure(&[
        (500, 1000, 1000, &[]),
        (1000, 1500, 1500, &[]),
        (1500, 2000, 2000, &[]),
        (2000, 2500, 2500, &[]),
        (500, 1000, 2500, &[(500, 1000)]),
        (1000, 1500, 2500, &[(1000, 1500)]),
    ]);
}

/// RFC 2883, section 4, (2): one duplicate, one report.
#[test]
fn a_duplicate_is_reported_once_and_only_where_sack_is_agreed_on() {
    let mut exchange = Exchange::new(eager);
    exchange.answer(data(0));
    assert_eq!(exchange.answer(data(0)).sack.duplicate(1000), Some((0, 1000)));
    assert_eq!(blocks(&exchange.answer(data(1))), []);
    let without = Segment { flags: Flags::SYN, ..Segment::default() };
    let (mut exchange, _) = Exchange::opened(eager, &without);
    exchange.answer(data(0));
    assert_eq!(blocks(&exchange.answer(data(0))), []);
    let mut exchange = Exchange::new(|config| config.profile.dsack = false);
    exchange.waits(data(0));
    assert_eq!(blocks(&exchange.answer(data(0))), []);
}
