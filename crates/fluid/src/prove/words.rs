//! Formatting of numbers for sentences.

/// Such as `12 flows`, `1 flow`.
pub(super) fn count(number: f64, noun: &str) -> String {
    let many = if number == 1.0 { "" } else { "s" };
    format!("{} {noun}{many}", short(number))
}

/// Such as `1.5 s`, `20 ms`.
pub(super) fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{} ms", short(1e3 * seconds)) } else { format!("{} s", short(seconds)) }
}

/// Such as `63 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", short((1e3 * share).round() / 10.0 + 0.0))
}

/// Number to four significant digits.
pub(super) fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let rounded: f64 = format!("{number:.3e}").parse().unwrap_or(number);
    rounded.to_string()
}

/// Such as `a, b and c`.
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(short(0.245_999_9), "0.246");
        assert_eq!(short(3750.0), "3750");
        assert_eq!(short(1.234_56e-7), "0.0000001235");
        assert_eq!(time(0.246), "246 ms");
        assert_eq!(count(1.0, "flow"), "1 flow");
        assert_eq!(listed(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
