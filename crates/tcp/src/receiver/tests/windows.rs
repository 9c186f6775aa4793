use super::*;

/// RFC 7323, sections 2.2 and 2.3: the least shift, never on the SYN-ACK itself, and only if both sides offer it.
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

/// Options reduce the payload, for the buffer as for segments.
#[test]
fn the_buffer_is_in_segments() {
    let (_, answer) = Exchange::opened(|config| config.profile.timestamps = true, &syn());
    assert_eq!(answer.window, 10 * (1000 - 12));
}

/// RFC 9293, section 3.8.6: without reading the right edge stays, and data beyond it is dropped.
#[test]
fn a_window_closes_without_reading() {
    let mut exchange = Exchange::new(eager);
    exchange.receiver.stop_reading(exchange.now);
    for number in 0..10 {
        assert_eq!(exchange.answer(data(number)).window as u64, 9000 - number * MSS);
    }
    // Section 3.8.6.1: probes are answered with number and window, and their byte is dropped.
    for probe in [bytes(10_000, 1), data(10)] {
        let answer = exchange.answer(probe);
        assert_eq!((answer.ack, answer.window), (10_000, 0));
    }
    assert_eq!(exchange.receiver.next_timeout(), None);
    // Silly windows (section 3.8.6.2.2): less than a segment is not advertised, in an update or otherwise.
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

/// RFC 9293, section 3.8.6.2.2: half of a small buffer is worth advertising.
#[test]
fn a_buffer_of_one_segment_opens_by_halves() {
    let mut exchange = Exchange::new(|config| config.profile.receive_window = 1);
    exchange.receiver.stop_reading(exchange.now);
    exchange.waits(bytes(0, 1000));
    assert_eq!(exchange.sends_after(40_000).window, 0);
    assert_eq!(exchange.receiver.read(exchange.now, 499), None);
    assert_eq!(exchange.receiver.read(exchange.now, 1).unwrap().window, 500);
}

/// A sender that has filled the buffer only waits for this ACK.
#[test]
fn a_reopened_window_is_advertised_at_once() {
    let mut exchange = Exchange::new(|config| config.profile.receive_window = 1);
    let answer = exchange.answer(data(0));
    assert_eq!((answer.ack, answer.window), (1000, 1000));
}

/// While more than half of the buffer is advertised, reading sends no updates.
#[test]
fn a_wide_window_causes_no_update() {
    let mut exchange = Exchange::new(|_| ());
    exchange.receiver.stop_reading(exchange.now);
    exchange.waits(data(0));
    assert_eq!(exchange.receiver.read(exchange.now, 1000), None);
    let answer = exchange.answer(data(1));
    assert_eq!((answer.ack, answer.window), (2000, 9000), "but advertised with the next one");
}

/// An application that reads 8 Mbit/s: a segment per millisecond.
#[test]
fn a_slow_reader_opens_the_window_by_itself() {
    let mut exchange = Exchange::new(|config| {
        eager(config);
        config.reads = Some(Rate::from_bits_per_second(8e6));
    });
    exchange.passes(5);
    for number in 0..9 {
        assert_eq!(u64::from(exchange.answer(data(number)).window), 9000 - number * MSS, "idle time is lost");
    }
    assert_eq!(exchange.sends_after(1000).window, 2000);
    exchange.now += Span::from_micros(500);
    assert_eq!(exchange.answer(data(9)).window, 1000, "half a segment was read, which is not advertised");
    assert_eq!(exchange.sends_after(500).window, 2000);
    for window in [3000, 4000, 5000] {
        assert_eq!(exchange.sends_after(1000).window, window);
    }
    assert_eq!(exchange.receiver.next_timeout(), None, "wide enough");
    exchange.passes(100);
    assert_eq!(exchange.answer(data(10)).window, 9000);
}
