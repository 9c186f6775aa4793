use super::*;
use crate::cc::{Choice, Feedback, Guest, Recovery};
use crate::profile::Profile;
use crate::segment::Stamp;
use sojourn_units::{Ecn, Rate, Span};
use std::sync::Arc;

const MSS: u64 = 1000;

/// A receiver at work: what comes, and when.
struct Exchange {
    receiver: Receiver,
    now: Time,
}

fn config(change: impl Fn(&mut Config)) -> Config {
    let profile = Profile { receive_window: 10, ..Profile::default() };
    let mut config = Config { profile, cc: "newreno".into(), mss: MSS as u32, ecn: true, reads: None };
    change(&mut config);
    config
}

fn eager(config: &mut Config) {
    config.profile.delayed_ack = false;
}

/// The congestion control wants to know which segments were marked.
fn dctcp(config: &mut Config) {
    config.cc = Choice::Guest(Guest {
        name: "guest".into(),
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

    /// What goes out by itself, so many microseconds from now.
    #[track_caller]
    fn sends_after(&mut self, micros: u64) -> Segment {
        let due = self.receiver.next_timeout().expect("a running timer");
        assert_eq!(due.since(self.now), Span::from_micros(micros));
        self.now = due;
        self.receiver.on_timeout(due).expect("a segment")
    }
}

/// A flow at rest is to be small: the receiver has less than a quarter of its kibibyte.
#[test]
fn a_receiver_is_small() {
    assert!(size_of::<Receiver>() <= 240, "{}", size_of::<Receiver>());
}

mod acknowledgments {
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

    /// RFC 5681, section 4.2: the time runs from the first segment that is not acknowledged.
    #[test]
    fn a_later_segment_does_not_put_the_ack_off() {
        let mut exchange = Exchange::new(|config| config.profile.ack_every = 8);
        exchange.waits(data(0));
        exchange.passes(30);
        exchange.waits(data(1));
        assert_eq!(exchange.sends_after(10_000).ack, 2000);
    }

    /// RFC 5681, section 4.2: full-sized is what the sender's segments are, here and beyond.
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

    /// Stretch ACKs: RFC 5681, section 4.2, allows them after careful thought.
    #[test]
    fn one_ack_may_be_for_more_segments() {
        let mut exchange = Exchange::new(|config| config.profile.ack_every = 4);
        (0..3).for_each(|number| exchange.waits(data(number)));
        assert_eq!(exchange.answer(data(3)).ack, 4000);
        // A gap ends the thinning, and so does its end.
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
    fn what_is_out_of_place_is_acknowledged_at_once() {
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
}

mod selective {
    use super::*;

    /// RFC 2018, section 7, case 3: segments of 500 from 5000 (here 0) on, every second one lost.
    #[test]
    fn blocks_are_reported_latest_first() {
        let mut exchange = Exchange::new(eager);
        let mut answer = |seq: u64| {
            let ack = exchange.answer(bytes(seq - 5000, 500));
            (
                ack.ack + 5000,
                blocks(&ack).iter().map(|(from, to)| (from + 5000, to + 5000)).collect::<Vec<_>>(),
            )
        };
        assert_eq!(answer(5000), (5500, vec![]));
        assert_eq!(answer(6000), (5500, vec![(6000, 6500)]));
        assert_eq!(answer(7000), (5500, vec![(7000, 7500), (6000, 6500)]));
        assert_eq!(answer(8000), (5500, vec![(8000, 8500), (7000, 7500), (6000, 6500)]));
        // The fourth comes out of order, then the second.
        assert_eq!(answer(6500), (5500, vec![(6000, 7500), (8000, 8500)]));
        assert_eq!(answer(5500), (7500, vec![(8000, 8500)]));
    }

    /// RFC 2018, section 4: of more than three blocks, those that changed last.
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

    /// What a sender without a bound could do to the receiver's memory, it cannot.
    #[test]
    fn blocks_are_bounded_by_the_window() {
        let mut exchange = Exchange::new(|config| config.profile.dsack = false);
        let mut held = 0;
        for byte in (1..20_000).step_by(2) {
            held += usize::from(blocks(&exchange.answer(bytes(byte, 1))).contains(&(byte, byte + 1)));
        }
        assert_eq!(held, 10, "as many as segments in the window");
        // Full segments never come to the bound, and what is in order is always taken in.
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
}

mod windows {
    use super::*;

    /// RFC 7323, sections 2.2 and 2.3: the least shift, never on the SYN-ACK itself, and only if both sides have it.
    #[test]
    fn the_shift_brings_the_buffer_into_the_field() {
        let plain = Segment { flags: Flags::SYN, ..Segment::default() };
        let first = |segments: u64, scaling: bool, syn: &Segment| {
            let profile = Profile { receive_window: segments, window_scaling: scaling, ..Profile::default() };
            let (mut exchange, answer) = Exchange::opened(|config| config.profile = profile.clone(), syn);
            assert_eq!(answer.flags.has(Flags::SCALE), scaling && syn.flags.has(Flags::SCALE));
            let ack = exchange.answer(data(1));
            (answer.window, answer.scale, ack.window)
        };
        assert_eq!(first(10, true, &syn()), (10_000, 0, 10_000));
        assert_eq!(first(65, true, &syn()), (65_000, 0, 65_000));
        assert_eq!(first(66, true, &syn()), (65_535, 1, 66_000));
        assert_eq!(first(4096, true, &syn()), (65_535, 6, 4_096_000));
        assert_eq!(first(4097, true, &syn()), (65_535, 6, 4_096_960), "rounded down to 64 bytes");
        assert_eq!(first(u64::MAX, true, &syn()), (65_535, 14, 65_535 << 14), "a gibibyte at most");
        assert_eq!(first(4096, true, &plain), (65_535, 0, 65_535));
        assert_eq!(first(4096, false, &syn()), (65_535, 0, 65_535));
    }

    /// Options take their room from the payload, for the buffer as for segments.
    #[test]
    fn the_buffer_is_in_segments() {
        let (_, answer) = Exchange::opened(|config| config.profile.timestamps = true, &syn());
        assert_eq!(answer.window, 10 * (1000 - 12));
    }

    /// RFC 9293, section 3.8.6: the right edge stays where nobody reads, and data beyond it are not taken.
    #[test]
    fn a_window_closes_while_nobody_reads() {
        let mut exchange = Exchange::new(eager);
        exchange.receiver.stop_reading(exchange.now);
        for number in 0..10 {
            assert_eq!(exchange.answer(data(number)).window as u64, 9000 - number * MSS);
        }
        // Section 3.8.6.1: probes are answered, with number and window, and their byte is thrown away.
        for probe in [bytes(10_000, 1), data(10)] {
            let answer = exchange.answer(probe);
            assert_eq!((answer.ack, answer.window), (10_000, 0));
        }
        assert_eq!(exchange.receiver.next_timeout(), None);
        // Silly windows (section 3.8.6.2.2): less than a segment is not told, in an update or otherwise.
        assert_eq!(exchange.receiver.read(exchange.now, 999), None);
        assert_eq!(exchange.answer(bytes(10_000, 1)).window, 0);
        let update = exchange.receiver.read(exchange.now, 1).unwrap();
        assert_eq!((update.ack, update.window, update.len), (10_000, 1000, 0));
        assert_eq!(exchange.answer(data(10)).window, 0);
        assert_eq!(exchange.receiver.read(exchange.now, u64::MAX).unwrap().window, 10_000);
    }

    #[test]
    fn data_are_trimmed_to_the_window() {
        let mut exchange = Exchange::new(eager);
        exchange.receiver.stop_reading(exchange.now);
        for number in 0..9 {
            exchange.answer(data(number));
        }
        let answer = exchange.answer(bytes(9000, 1500));
        assert_eq!((answer.ack, answer.window), (10_000, 0));
        let mut exchange = Exchange::new(eager);
        assert_eq!(blocks(&exchange.answer(bytes(9500, 1000))), [(9500, 10_000)]);
    }

    /// RFC 9293, section 3.8.6.2.2: half of a small buffer is worth telling.
    #[test]
    fn a_buffer_of_one_segment_opens_by_halves() {
        let mut exchange = Exchange::new(|config| config.profile.receive_window = 1);
        exchange.receiver.stop_reading(exchange.now);
        exchange.waits(bytes(0, 1000));
        assert_eq!(exchange.sends_after(40_000).window, 0);
        assert_eq!(exchange.receiver.read(exchange.now, 499), None);
        assert_eq!(exchange.receiver.read(exchange.now, 1).unwrap().window, 500);
    }

    /// A sender that has filled the buffer waits for nothing but this ACK.
    #[test]
    fn a_window_that_is_open_again_is_told_at_once() {
        let mut exchange = Exchange::new(|config| config.profile.receive_window = 1);
        let answer = exchange.answer(data(0));
        assert_eq!((answer.ack, answer.window), (1000, 1000));
    }

    /// While more than half of the buffer is advertised, reading causes no ACKs of its own.
    #[test]
    fn a_wide_window_is_not_told_for_its_own_sake() {
        let mut exchange = Exchange::new(|_| ());
        exchange.receiver.stop_reading(exchange.now);
        exchange.waits(data(0));
        assert_eq!(exchange.receiver.read(exchange.now, 1000), None);
        let answer = exchange.answer(data(1));
        assert_eq!((answer.ack, answer.window), (2000, 9000), "but told with the next one");
    }

    /// An application that reads 8 Mbit/s: a segment in a millisecond.
    #[test]
    fn a_slow_reader_opens_the_window_by_itself() {
        let mut exchange = Exchange::new(|config| {
            eager(config);
            config.reads = Some(Rate::from_bits_per_second(8e6));
        });
        exchange.passes(5);
        for number in 0..9 {
            assert_eq!(
                u64::from(exchange.answer(data(number)).window),
                9000 - number * MSS,
                "idle time is lost"
            );
        }
        assert_eq!(exchange.sends_after(1000).window, 2000);
        exchange.now += Span::from_micros(500);
        assert_eq!(exchange.answer(data(9)).window, 1000, "half a segment was read, which is not told");
        assert_eq!(exchange.sends_after(500).window, 2000);
        for window in [3000, 4000, 5000] {
            assert_eq!(exchange.sends_after(1000).window, window);
        }
        assert_eq!(exchange.receiver.next_timeout(), None, "wide enough");
        exchange.passes(100);
        assert_eq!(exchange.answer(data(10)).window, 9000);
    }
}

mod congestion {
    use super::*;

    fn echoes(exchange: &mut Exchange, segment: Segment) -> bool {
        exchange.answer(segment).flags.has(Flags::ECE)
    }

    /// RFC 3168, section 6.1.3.
    #[test]
    fn it_is_echoed_until_the_sender_has_reacted() {
        let (mut exchange, answer) = Exchange::opened(eager, &syn());
        assert!(answer.flags.has(Flags::SYN | Flags::ACK | Flags::ECE) && answer.ecn == Ecn::NotEct);
        assert!(!echoes(&mut exchange, data(0)));
        assert!(echoes(&mut exchange, marked(data(1))));
        assert!(echoes(&mut exchange, data(2)));
        assert!(!echoes(&mut exchange, with(Flags::CWR, data(3))));
        // A CWR packet that is itself marked starts a new echo.
        assert!(echoes(&mut exchange, with(Flags::CWR, marked(data(4)))));
        // That CWR packet's reaction is lost: the echo goes on.
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
        // Where retransmissions are capable, their marks count, too.
        let mut exchange = Exchange::new(|config| {
            eager(config);
            config.profile.ect_on_retransmit = true;
        });
        exchange.answer(data(0));
        assert!(echoes(&mut exchange, marked(data(0))));
    }

    /// RFC 8257, section 3.2: with every change two ACKs, each with the state of what it is for.
    #[test]
    fn feedback_tells_which_packets_were_marked() {
        let mut exchange = Exchange::new(dctcp);
        exchange.waits(data(0));
        let earlier = exchange.answer(marked(data(1)));
        assert_eq!((earlier.ack, earlier.flags.has(Flags::ECE)), (1000, false));
        let later = exchange.sends_after(0);
        assert_eq!((later.ack, later.flags.has(Flags::ECE)), (2000, true));
        // Within a state, one ACK for two packets.
        exchange.waits(marked(data(2)));
        assert!(echoes(&mut exchange, marked(data(3))));
        // A change where nothing is owed.
        let answer = exchange.answer(data(4));
        assert_eq!((answer.ack, answer.flags.has(Flags::ECE)), (5000, false));
        exchange.waits(data(5));
        assert_eq!(exchange.sends_after(40_000).flags, Flags::ACK);
    }

    /// RFC 8257, section 3.2: ECE is set if and only if the state is: CWR ends nothing by itself.
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
}

mod stamps {
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

    /// RFC 7323, section 4.3: what delayed ACKs echo, and what those around a hole do.
    #[test]
    fn they_are_echoed_as_the_rfcs_examples_do() {
        let mut delaying = opened(|config| config.profile.ack_every = 3);
        delaying.waits(stamped(0, 1));
        delaying.waits(stamped(1, 2));
        assert_eq!(delaying.answer(stamped(2, 3)).stamp, stamp(1));

        let mut exchange = opened(eager);
        // A, C, B, E, D.
        for (number, tick, ack, echo) in
            [(0, 1, 1, 1), (2, 3, 1, 1), (1, 2, 3, 2), (4, 5, 3, 2), (3, 4, 5, 4)]
        {
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
        // Section 5.3, R2 before R3: what came before is acknowledged, and not timed.
        assert_eq!(exchange.answer(stamped(0, 9)).stamp, stamp(2));
        // Section 3.2: without a stamp, not at all.
        exchange.waits(data(4));
    }

    /// RFC 7323, section 5.5: an idle time that turns the clock by half.
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

    /// RFC 8257, section 3.2, and RFC 7323, section 4.3: each of the two ACKs echoes its own.
    #[test]
    fn two_acks_echo_two_stamps() {
        let mut exchange = opened(dctcp);
        exchange.waits(stamped(0, 1));
        assert_eq!(exchange.answer(marked(stamped(1, 2))).stamp, stamp(1));
        assert_eq!(exchange.sends_after(0).stamp, stamp(2));
    }
}

mod teardown {
    use super::*;

    /// RFC 9293, figure 12: peer B, whose FIN goes with its ACK.
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

    /// Figure 12: the FIN may come by itself, before its turn, or twice.
    #[test]
    fn a_fin_waits_for_the_data_before_it() {
        let mut exchange = Exchange::new(|_| ());
        assert_eq!(exchange.answer(fin(2000, 0)).ack, 0);
        assert_eq!(exchange.answer(data(1)).ack, 0);
        let answer = exchange.answer(data(0));
        assert_eq!((answer.ack, answer.flags.has(Flags::FIN)), (2001, true));
        // Once more: an ACK with the number behind our FIN; RFC 2883 speaks of sequence numbers, and FIN has one.
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
        // Nor is a FIN within what has come.
        let mut exchange = Exchange::new(eager);
        exchange.answer(data(1));
        exchange.answer(fin(0, 500));
        assert_eq!(exchange.answer(data(0)).ack, 2000);
    }

    /// RFC 9293, section 3.8.1: our FIN is sent until it is acknowledged, with doubled waits up to a cap.
    #[test]
    fn our_fin_is_sent_again() {
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

    /// The application closes when it has read the end, at its own pace.
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

    /// RFC 9293, section 3.10.7.4, table 6: a FIN has a number, and that must lie in the window.
    #[test]
    fn a_fin_beyond_the_window_is_not_taken() {
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
}

/// Whatever comes, against a slow model that keeps a flag for each byte.
mod model {
    use super::*;
    use proptest::prelude::*;

    /// What happens next. Numbers and lengths are in units of half a segment.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Segment { seq: u64, len: u16 },
        Pass { millis: u64 },
        Read { bytes: u64 },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let segment = || (0..60_u64, 1..6_u16).prop_map(|(seq, len)| Step::Segment { seq, len });
        let pass = (0..60_u64).prop_map(|millis| Step::Pass { millis });
        let read = (0..40_u64).prop_map(|bytes| Step::Read { bytes });
        prop::collection::vec(prop_oneof![segment(), segment(), segment(), pass, read], 1..120)
    }

    #[derive(Clone, Copy, Debug)]
    enum Reader {
        AtOnce,
        Steady(f64),
        WhenTold,
    }

    fn readers() -> impl Strategy<Value = Reader> {
        let steady = (100.0..100_000.0_f64).prop_map(Reader::Steady);
        prop_oneof![Just(Reader::AtOnce), steady, Just(Reader::WhenTold)]
    }

    struct Model {
        exchange: Exchange,
        reader: Reader,
        buffer: u64,
        arrived: Vec<bool>,
        /// Where the sender may send to, as the ACKs said.
        edge: u64,
        read: u64,
        acknowledged: u64,
        /// When the first segment came that is not acknowledged.
        owed_since: Option<Time>,
    }

    impl Model {
        fn next(&self) -> u64 {
            self.arrived.iter().position(|byte| !byte).unwrap_or(self.arrived.len()) as u64
        }

        /// An ACK goes out; `duplicate`: what of the segment that it answers came before.
        fn sees(&mut self, ack: &Segment, duplicate: &[u64]) {
            assert_eq!(ack.ack, self.next());
            let edge = ack.ack + u64::from(ack.window);
            assert!(edge >= self.edge, "the right edge moves left");
            let read = if matches!(self.reader, Reader::WhenTold) { self.read } else { ack.ack };
            assert!(edge <= read + self.buffer, "more is promised than there is");
            match ack.sack.duplicate(ack.ack) {
                Some((from, to)) => {
                    let run = duplicate.iter().skip_while(|byte| **byte < from).zip(from..to);
                    assert!(run.clone().count() as u64 == to - from && run.clone().all(|(a, b)| *a == b));
                    assert_eq!(Some(&from), duplicate.first(), "the first run is told");
                    assert!(!duplicate.contains(&to), "and the whole of it");
                }
                None => assert!(duplicate.is_empty(), "{duplicate:?} is not told of"),
            }
            let told = ack.sack.iter(ack.ack).skip(usize::from(!duplicate.is_empty()));
            for (from, to) in told {
                assert!((from..to).all(|byte| self.arrived[byte as usize]) && from > ack.ack);
            }
            (self.edge, self.acknowledged, self.owed_since) = (edge, ack.ack, None);
        }

        fn comes(&mut self, seq: u64, len: u16) {
            let end = seq + u64::from(len);
            let duplicate: Vec<u64> = (seq..end).filter(|byte| self.arrived[*byte as usize]).collect();
            (seq..end.min(self.edge)).for_each(|byte| self.arrived[byte as usize] = true);
            let now = self.exchange.now;
            let answer = self.exchange.receiver.on_segment(now, &bytes(seq, len));
            assert_eq!(self.exchange.receiver.delivered(), self.next());
            if let Some(ack) = answer {
                self.sees(&ack, &duplicate);
            } else {
                assert!(duplicate.is_empty());
                self.owed_since.get_or_insert(now);
            }
        }

        fn passes(&mut self, millis: u64) {
            let end = self.exchange.now + Span::from_millis(millis);
            let due = |exchange: &Exchange| exchange.receiver.next_timeout().filter(|due| *due <= end);
            while let Some(due) = due(&self.exchange) {
                let ack = self.exchange.receiver.on_timeout(due).expect("what is due is sent");
                self.sees(&ack, &[]);
            }
            self.exchange.now = end;
        }

        fn reads(&mut self, bytes: u64) {
            if matches!(self.reader, Reader::WhenTold) {
                self.read = (self.read + bytes).min(self.next());
                if let Some(ack) = self.exchange.receiver.read(self.exchange.now, bytes) {
                    self.sees(&ack, &[]);
                }
            }
        }

        fn check(&self) {
            if let Some(since) = self.owed_since {
                let due = self.exchange.receiver.next_timeout().expect("an ACK is owed");
                assert!(due <= since + Span::from_millis(40), "later than the ACK delay");
            }
            assert_eq!(self.owed_since.is_some(), self.acknowledged < self.next());
        }
    }

    proptest! {
        #[test]
        fn bytes_acks_and_windows_agree_with_it(
            (half, segments, every) in (1..5_u16, 1..40_u64, 1..5_u32),
            reader in readers(),
            steps in steps(),
        ) {
            let mut exchange = Exchange::new(|config| {
                config.mss = 2 * u32::from(half);
                config.profile.receive_window = segments;
                config.profile.ack_every = every;
                if let Reader::Steady(rate) = reader {
                    config.reads = Some(Rate::from_bits_per_second(rate));
                }
            });
            if matches!(reader, Reader::WhenTold) {
                exchange.receiver.stop_reading(exchange.now);
            }
            let half = u64::from(half);
            let (buffer, arrived) = (2 * half * segments, vec![false; 1000]);
            let (edge, read, acknowledged, owed_since) = (buffer, 0, 0, None);
            let mut model = Model { exchange, reader, buffer, arrived, edge, read, acknowledged, owed_since };
            for step in steps {
                match step {
                    Step::Segment { seq, len } => model.comes(half * seq, half as u16 * len),
                    Step::Pass { millis } => model.passes(millis),
                    Step::Read { bytes } => model.reads(bytes),
                }
                model.check();
            }
        }

        /// Numbers from anywhere: what was promised is kept, and nothing else is taken.
        #[test]
        fn no_number_upsets_it(
            storm in prop::collection::vec((any::<u64>(), any::<u16>(), any::<u8>(), any::<u32>()), 1..100),
        ) {
            let mut exchange = Exchange::new(|config| config.profile.timestamps = true);
            let mut before = 0;
            for (seq, len, bits, micros) in storm {
                exchange.now += Span::from_micros(u64::from(micros));
                let seq = if bits & 1 == 0 { seq } else { before + seq % 12_000 };
                let flags = [Flags::FIN, Flags::SYN, Flags::TIMESTAMP, Flags::CWR];
                let flags = flags.into_iter().zip([2, 12, 16, 32]);
                let flags = flags.fold(Flags::ACK, |all, (flag, set)| all.with(flag, bits & set == set));
                let ecn = if bits & 64 == 0 { Ecn::Ce } else { Ecn::Ect0 };
                let (ack, stamp) = (u64::from(bits & 128), Stamp::at(exchange.now));
                let segment = Segment { seq, ack, stamp, len, flags, ecn, ..Segment::default() };
                let answer = exchange.receiver.on_segment(exchange.now, &segment);
                let delivered = exchange.receiver.delivered();
                prop_assert!(delivered >= before && delivered - before <= 10_000);
                prop_assert!(answer.is_none_or(|ack| ack.len == 0 && ack.ack - delivered <= 1));
                before = delivered;
                if exchange.receiver.next_timeout().is_some_and(|due| due <= exchange.now) {
                    exchange.receiver.on_timeout(exchange.now);
                }
            }
        }

        /// With shifted windows, what an ACK says is less than what was promised by less than the shift's unit, and
        /// never more than there is.
        #[test]
        fn rounding_costs_less_than_a_unit(
            segments in 66..1_000_000_u64,
            lens in prop::collection::vec((1..1460_u16, 0..3000_u64), 1..200),
        ) {
            let mut exchange = Exchange::new(|config| {
                config.profile.receive_window = segments;
                eager(config);
            });
            exchange.receiver.stop_reading(exchange.now);
            let unit = 1 << exchange.answer(syn()).scale;
            let buffer = (MSS * segments).min(65_535 << 14);
            let (mut edge, mut next, mut read) = (buffer, 0, 0);
            for (len, more) in lens {
                if next + u64::from(len) > edge {
                    break;
                }
                let ack = exchange.answer(bytes(next, len));
                next += u64::from(len);
                let told = ack.ack + u64::from(ack.window);
                if read + buffer >= edge + MSS {
                    edge = read + buffer;
                }
                prop_assert_eq!(ack.ack, next);
                prop_assert!(u64::from(ack.window) % unit == 0 && told <= edge && told + unit > edge);
                read = next.min(read + more);
                if exchange.receiver.read(exchange.now, more).is_some() {
                    edge = read + buffer;
                }
            }
        }

        /// A stream that ends, in any order and with anything twice, is delivered whole, and the connection closes.
        #[test]
        fn a_stream_ends_whole(
            segments in 1..30_u64,
            order in prop::collection::vec(0..31_u64, 0..60),
            reader in prop_oneof![Just(None), (1e5..1e8).prop_map(|rate| Some(Rate::from_bits_per_second(rate)))],
        ) {
            let mut exchange = Exchange::new(|config| {
                config.profile.receive_window = 40;
                config.reads = reader;
            });
            let segment = |number| if number < segments { data(number) } else { fin(segments * MSS, 0) };
            for number in order.into_iter().chain(0..=segments) {
                exchange.receiver.on_segment(exchange.now, &segment(number.min(segments)));
            }
            prop_assert_eq!(exchange.receiver.delivered(), segments * MSS);
            while let Some(due) = exchange.receiver.next_timeout() {
                let sent = exchange.receiver.on_timeout(due);
                exchange.now = due;
                if exchange.receiver.closed() {
                    break;
                }
                let sent = sent.expect("what is due is sent");
                prop_assert_eq!(sent.ack, segments * MSS + 1);
                if sent.flags.has(Flags::FIN) && due.nanos() % 2 == 0 {
                    exchange.waits(Segment { ack: 1, ..bytes(sent.ack, 0) });
                    prop_assert!(exchange.receiver.closed());
                }
            }
            prop_assert!(exchange.receiver.closed());
        }
    }
}
