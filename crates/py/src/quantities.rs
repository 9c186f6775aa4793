//! Quantities as scenarios have them, for options and arguments.

use crate::errors::invalid;
use pyo3::prelude::*;
use sojourn_params::InputError;
use sojourn_units::{Amount, Bytes, Frequency, LinkRate, QuantityError, Span};

/// A quantity as a scenario has it, of "rate", "queue", "size", "frequency" or "time": its value, and the unit of that: bit/s,
/// packets/s, packets, B, Hz or s.
#[pyfunction]
pub(crate) fn quantity(kind: &str, text: &str) -> PyResult<(f64, &'static str)> {
    let found = match kind {
        "rate" => LinkRate::parse(text).map(|found| match found {
            LinkRate::Bits(rate) => (rate.bits_per_second(), "bit/s"),
            LinkRate::Packets(count) => (count, "packets/s"),
        }),
        "queue" => Amount::parse(text).map(|found| match found {
            Amount::Packets(count) => (count, "packets"),
            Amount::Bytes(size) => (size.get() as f64, "B"),
            Amount::Delay(span) => (span.seconds(), "s"),
        }),
        "size" => Bytes::parse(text).map(|size| (size.get() as f64, "B")),
        "frequency" => Frequency::parse(text).map(|found| (found.hertz(), "Hz")),
        "time" => Span::parse(text).map(|span| (span.seconds(), "s")),
        _ => return Err(invalid([InputError::out_of_range(kind, "rate, queue, size, frequency or time")])),
    };
    found.map_err(|error: QuantityError| invalid([error.into()]))
}
