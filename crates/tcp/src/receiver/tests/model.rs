//! Arbitrary segments, against a slow model with a flag per byte.

use super::*;
use proptest::prelude::*;

/// Events. Numbers and lengths are in units of half a segment.
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
    /// Right edge of the window advertised by the ACKs.
    edge: u64,
    read: u64,
    acknowledged: u64,
    /// Arrival of the first unacknowledged segment.
    owed_since: Option<Time>,
}

impl Model {
    fn next(&self) -> u64 {
        self.arrived.iter().position(|byte| !byte).unwrap_or(self.arrived.len()) as u64
    }

    /// Checks an ACK; `duplicate`: duplicate data of the segment that it answers.
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
                assert_eq!(Some(&from), duplicate.first(), "the first run is reported");
                assert!(!duplicate.contains(&to), "and the whole of it");
            }
            None => assert!(duplicate.is_empty(), "{duplicate:?} is not reported"),
        }
        let blocks = ack.sack.iter(ack.ack).skip(usize::from(!duplicate.is_empty()));
        for (from, to) in blocks {
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

    /// Arbitrary numbers: data within the promised window is taken, and nothing else.
    #[test]
    fn arbitrary_numbers_are_handled(
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

    /// With shifted windows an ACK advertises less than was promised by less than the shift's unit, and never more
    /// than there is.
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
            let advertised = ack.ack + u64::from(ack.window);
            if read + buffer >= edge + MSS {
                edge = read + buffer;
            }
            prop_assert_eq!(ack.ack, next);
            prop_assert!(u64::from(ack.window) % unit == 0 && advertised <= edge && advertised + unit > edge);
            read = next.min(read + more);
            if exchange.receiver.read(exchange.now, more).is_some() {
                edge = read + buffer;
            }
        }
    }

    /// A stream that ends, in any order and with duplicates, is delivered whole, and the connection closes.
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
