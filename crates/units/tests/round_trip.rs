//! Every printed quantity reads back as itself, and no text makes a reader panic.

use proptest::prelude::*;
use sojourn_units::{Amount, Bytes, Frequency, LinkRate, Rate, Span};

proptest! {
    #[test]
    fn spans(nanos: u64) {
        let span = Span::from_nanos(nanos);
        prop_assert_eq!(Span::parse(&span.to_string()), Ok(span));
    }

    #[test]
    fn sizes(count: u64) {
        let size = Bytes::new(count);
        prop_assert_eq!(Bytes::parse(&size.to_string()), Ok(size));
    }

    #[test]
    fn rates(bits in 0.0..1e15_f64) {
        let rate = Rate::from_bits_per_second(bits);
        prop_assert_eq!(Rate::parse(&rate.to_string()), Ok(rate));
        prop_assert_eq!(LinkRate::parse(&rate.to_string()), Ok(LinkRate::Bits(rate)));
    }

    #[test]
    fn whole_rates_keep_their_scale(count in 1..1_000_u64, unit in prop::sample::select(vec!["kbit/s", "Mbit/s", "Gbit/s"])) {
        let text = format!("{count} {unit}");
        prop_assert_eq!(Rate::parse(&text).unwrap().to_string(), text);
    }

    #[test]
    fn packets(count in 0.0..1e9_f64) {
        for amount in [Amount::Packets(count), Amount::Packets(count.round())] {
            prop_assert_eq!(Amount::parse(&amount.to_string()), Ok(amount));
        }
        let rate = LinkRate::Packets(count);
        prop_assert_eq!(LinkRate::parse(&rate.to_string()), Ok(rate));
    }

    #[test]
    fn frequencies(hertz in 1e-6..1e9_f64) {
        let frequency = Frequency::new(hertz).unwrap();
        prop_assert_eq!(Frequency::parse(&frequency.to_string()), Ok(frequency));
    }

    #[test]
    fn a_space_before_the_unit_is_free(count in 0..100_000_u64, space in " {0,3}") {
        prop_assert_eq!(Span::parse(&format!("{count}{space}ms")), Ok(Span::from_millis(count)));
    }

    #[test]
    fn any_text_is_read_or_refused_in_one_line(text in "\\PC{0,24}") {
        let errors = [
            Span::parse(&text).err(), Bytes::parse(&text).err(), Rate::parse(&text).err(),
            Amount::parse(&text).err(), LinkRate::parse(&text).err(), Frequency::parse(&text).err(),
        ];
        for error in errors.into_iter().flatten().map(|error| error.to_string()) {
            prop_assert!(!error.is_empty() && !error.contains('\n'));
        }
    }

    #[test]
    fn hostile_numbers_are_read_or_refused(
        sign in "[+-]?", digits in "[0-9._]{0,40}", exponent in "([eE][+-]?[0-9]{1,12})?", unit in "(ms|Mbit/s|packets|MB|Hz|s)?"
    ) {
        let text = format!("{sign}{digits}{exponent} {unit}");
        let _ = (Span::parse(&text), Bytes::parse(&text), Rate::parse(&text));
        let _ = (Amount::parse(&text), LinkRate::parse(&text), Frequency::parse(&text));
    }
}
