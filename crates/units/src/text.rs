//! Numbers with a unit, read and written without rounding where possible.

use crate::quantity_error::{Expected, QuantityError, QuantityErrorKind};

/// Name of a unit, and its size in base units.
pub type Unit = (&'static str, u64);

/// Times, in nanoseconds. The first spelling of each size is the preferred one.
pub const TIME_UNITS: &[Unit] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("µs", 1_000),
];

/// Sizes, in bytes.
pub const SIZE_UNITS: &[Unit] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Rates, in bit/s.
pub const RATE_UNITS: &[Unit] = &[
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Tbit/s", 1_000_000_000_000),
    ("B/s", 8),
    ("kB/s", 8_000),
    ("MB/s", 8_000_000),
    ("GB/s", 8_000_000_000),
];

/// Other spellings of rates, as providers write them. A `b` is a bit; `MBps` is not among them, since it is ambiguous.
pub const RATE_SPELLINGS: &[Unit] = &[
    ("bps", 1),
    ("b/s", 1),
    ("kbps", 1_000),
    ("Kbps", 1_000),
    ("kb/s", 1_000),
    ("Kb/s", 1_000),
    ("Kbit/s", 1_000),
    ("Mbps", 1_000_000),
    ("mbps", 1_000_000),
    ("Mb/s", 1_000_000),
    ("mbit/s", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("gbps", 1_000_000_000),
    ("Gb/s", 1_000_000_000),
    ("gbit/s", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
    ("tbps", 1_000_000_000_000),
    ("Tb/s", 1_000_000_000_000),
    ("tbit/s", 1_000_000_000_000),
];

/// Counts of packets.
pub const PACKET_UNITS: &[Unit] = &[("packets", 1), ("packet", 1)];

/// Packets per second.
pub const PACKET_RATE_UNITS: &[Unit] = &[("packets/s", 1), ("packet/s", 1)];

/// Events per second.
pub const FREQUENCY_UNITS: &[Unit] = &[("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000)];

/// A decimal number as written: `digits` x 10^`exponent`.
struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

/// `"8 Mbit/s"` -> (`"8"`, `"Mbit/s"`).
pub fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let mut end = 0;
    let bytes = text.as_bytes();
    while end < bytes.len() {
        let byte = bytes[end];
        let exponent_sign = end > 0 && matches!(bytes[end - 1], b'e' | b'E');
        let exponent = matches!(byte, b'e' | b'E')
            && end > 0
            && bytes.get(end + 1).is_some_and(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-'));
        let sign = matches!(byte, b'+' | b'-') && (end == 0 || exponent_sign);
        if byte.is_ascii_digit() || matches!(byte, b'.' | b'_') || exponent || sign {
            end += 1;
        } else {
            break;
        }
    }
    (&text[..end], text[end..].trim())
}

/// A quantity as an integer number of base units, rounded half up.
pub(crate) fn parse_exact(text: &str, units: &[Unit], quantity: &str) -> Result<u128, QuantityError> {
    let (number, scale) = number_and_scale(text, units, quantity)?;
    let scaled = number
        .digits
        .checked_mul(u128::from(scale))
        .ok_or_else(|| out_of_range(text, "has more digits than can be read exactly", "fewer digits"))?;
    let whole = match number.exponent {
        0.. => 10u128
            .checked_pow(number.exponent as u32)
            .and_then(|ten| scaled.checked_mul(ten))
            .filter(|value| *value < 1 << 100),
        _ => Some(match 10u128.checked_pow(number.exponent.unsigned_abs()) {
            Some(ten) => scaled / ten + u128::from(scaled % ten >= ten.div_ceil(2)),
            None => 0,
        }),
    };
    whole.ok_or_else(|| out_of_range(text, "is too large", "less"))
}

/// A quantity as the nearest double, in base units.
pub fn parse_float(text: &str, units: &[Unit], quantity: &str) -> Result<f64, QuantityError> {
    let (_, scale) = number_and_scale(text, units, quantity)?;
    let number: f64 = split(text).0.replace('_', "").parse().map_err(|_| not_a_number(text, units))?;
    let value = number * scale as f64;
    if value.is_finite() { Ok(value) } else { Err(out_of_range(text, "is too large", "less")) }
}

fn number_and_scale(text: &str, units: &[Unit], quantity: &str) -> Result<(Decimal, u64), QuantityError> {
    let (number, unit) = split(text);
    if text.trim().is_empty() {
        let expected = Expected::Text(format!("{quantity} such as {}", example(units)));
        return Err(QuantityError { found: None, ..misformed(text, "is empty".into(), expected) });
    }
    if number.is_empty() {
        return Err(not_a_number(text, units));
    }
    let number = decimal_of(number).ok_or_else(|| not_a_number(text, units))?;
    if unit.is_empty() {
        return Err(misformed(text, "needs a unit".into(), Expected::OneOf(names(units))));
    }
    let scale = units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
    let scale = scale.ok_or_else(|| {
        // A non-ASCII letter that looks like another is not a typing error.
        let problem = format!("is not a unit of {quantity}{}", odd_letter(unit));
        let hint = if unit.is_ascii() { unit_meant(unit, units) } else { None };
        QuantityError { hint, ..misformed(unit, problem, Expected::OneOf(names(units))) }
    })?;
    if number.negative && number.digits > 0 {
        return Err(out_of_range(text.trim(), "is negative", &format!("{quantity} of at least 0")));
    }
    Ok((number, scale))
}

fn misformed(text: &str, problem: String, expected: Expected) -> QuantityError {
    let found = Some(format!("\"{}\"", text.trim()));
    QuantityError { kind: QuantityErrorKind::Form, found, problem, hint: None, expected }
}

pub(crate) fn out_of_range(text: &str, problem: &str, expected: &str) -> QuantityError {
    let expected = Expected::from(expected);
    QuantityError { kind: QuantityErrorKind::Range, ..misformed(text, problem.into(), expected) }
}

fn not_a_number(text: &str, units: &[Unit]) -> QuantityError {
    let problem = format!("is not a number with a unit{}", odd_letter(text));
    misformed(text, problem, Expected::Like(example(units)))
}

/// Hint at the first non-ASCII letter.
fn odd_letter(text: &str) -> String {
    let odd = text.chars().find(|letter| !letter.is_ascii());
    odd.map_or(String::new(), |letter| format!(" (it holds '{letter}', U+{:04X})", u32::from(letter)))
}

/// An example in quotes.
fn example(units: &[Unit]) -> String {
    match units[0].0 {
        "bit/s" => "\"8 Mbit/s\"".into(),
        "ns" => "\"20 ms\"".into(),
        "B" => "\"1500 B\"".into(),
        "packets" => "\"300 packets\"".into(),
        "Hz" => "\"160 Hz\"".into(),
        other => format!("\"100 {other}\""),
    }
}

/// Units that an error lists.
fn names(units: &[Unit]) -> Vec<String> {
    let is_taught = |name: &&str| name.is_ascii() && !RATE_SPELLINGS.iter().any(|(other, _)| other == name);
    units.iter().map(|(name, _)| *name).filter(is_taught).map(String::from).collect()
}

/// A similar unit. A rate in bytes is never proposed without the one in bits: they differ by a factor of eight.
fn unit_meant(unit: &str, units: &[Unit]) -> Option<String> {
    let near = nearest(unit, units.iter().map(|(name, _)| *name))?;
    let rates = || RATE_UNITS.iter().chain(RATE_SPELLINGS);
    let called = |scale: u64| RATE_UNITS.iter().find(|(_, worth)| *worth == scale).map(|(name, _)| *name);
    let Some((_, scale)) = rates().find(|(name, _)| *name == near) else {
        return Some(format!("\"{near}\""));
    };
    let is_bytes = near.ends_with("B/s");
    let bits = called(if is_bytes { scale / 8 } else { *scale }).unwrap_or(near);
    Some(match called(if is_bytes { *scale } else { scale * 8 }) {
        Some(bytes) if unit.contains('B') && !unit.to_lowercase().contains("bit") => {
            format!("\"{bits}\" or, in bytes, \"{bytes}\"")
        }
        _ => format!("\"{bits}\""),
    })
}

fn decimal_of(number: &str) -> Option<Decimal> {
    let number = number.replace('_', "");
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(&number)),
    };
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits: String = format!("{whole}{fraction}");
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Digits beyond the 30th cannot change a value of 64 bits.
    let kept = digits.len().min(30);
    let dropped = (digits.len() - kept) as i32;
    let exponent = exponent.checked_sub(fraction.len() as i32)?.checked_add(dropped)?;
    Some(Decimal { negative, digits: digits[..kept].parse().ok()?, exponent })
}

/// `value / scale` as an exact decimal; `scale` is a power of ten.
pub(crate) fn decimal(value: u64, scale: u64) -> String {
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let width = scale.ilog10() as usize;
    let digits = format!("{rest:0width$}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

/// The name among `names` most similar to `word`, if any is.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = word.to_lowercase();
    let is_alike = |name: &&str| name.len() <= 4 * wanted.len() + 4 && wanted.len() <= 4 * name.len() + 4;
    names
        .into_iter()
        // The distance of the others is larger, and would take long to find.
        .filter(is_alike)
        .map(|name| (distance(&wanted, &name.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        // The distance of a typing error: something of the word must be left.
        .filter(|(distance, name)| {
            *distance <= 1 + name.chars().count() / 3 && *distance < wanted.chars().count()
        })
        .map(|(_, name)| name)
}

/// Edit distance of Damerau and Levenshtein (a swap of neighbours counts once).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_where_its_unit_begins() {
        assert_eq!(split("8 Mbit/s"), ("8", "Mbit/s"));
        assert_eq!(split("50packets"), ("50", "packets"));
        assert_eq!(split("1e-3s"), ("1e-3", "s"));
        assert_eq!(split("2 eggs"), ("2", "eggs"));
        assert_eq!(split("fast"), ("", "fast"));
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        assert_eq!(nearest("bufer", ["rate", "buffer", "delay"]), Some("buffer"));
        assert_eq!(nearest("mbit/s", ["bit/s", "Mbit/s"]), Some("Mbit/s"));
        assert_eq!(nearest("zebra", ["rate", "buffer", "delay"]), None);
    }
}
