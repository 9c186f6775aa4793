//! Roots of functions of one number within a bracket.

/// Sign change of `f` in [low, high]; one of the ends where there is none.
///
/// False position in the Illinois variant (M. Dowell, P. Jarratt, "A modified regula falsi method for computing the
/// root of an equation", BIT 11, 1971). If that does not halve the bracket in three steps, the next step bisects it.
pub fn between(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (End { at: low, value: f(low) }, End { at: high, value: f(high) });
    if low.value == 0.0 || low.value * high.value > 0.0 {
        return if high.value.abs() < low.value.abs() { high.at } else { low.at };
    }
    let mut width = high.at - low.at;
    for step in 1..=STEPS {
        let halve = step % 4 == 0 && high.at - low.at > width / 2.0;
        if step % 4 == 0 {
            width = high.at - low.at;
        }
        let middle = low.at + (high.at - low.at) / 2.0;
        let chord = high.at - high.value * (high.at - low.at) / (high.value - low.value);
        let at = if !halve && low.at < chord && chord < high.at { chord } else { middle };
        if at <= low.at || at >= high.at {
            break;
        }
        let new = End { at, value: f(at) };
        if new.value == 0.0 {
            return at;
        }
        // The value of the end that stays is halved, so that it moves at last.
        if (new.value > 0.0) == (high.value > 0.0) {
            (high, low.value) = (new, low.value / 2.0);
        } else {
            (low, high.value) = (new, high.value / 2.0);
        }
    }
    low.at + (high.at - low.at) / 2.0
}

/// Point in [low, high] where `f`, which rises, is `target`. `f` gives its value and its slope.
///
/// Newton's method, kept inside the bracket.
pub fn of_rising(target: f64, mut low: f64, mut high: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut at = high;
    for _ in 0..STEPS {
        let (value, slope) = f(at);
        if value < target {
            low = at;
        } else {
            high = at;
        }
        let newton = at - (value - target) / slope;
        // Beyond the largest number there is no tangent.
        let next = if slope.is_finite() && low <= newton && newton <= high {
            newton
        } else {
            low + (high - low) / 2.0
        };
        if (next - at).abs() <= 4.0 * f64::EPSILON * at.abs() {
            return next;
        }
        at = next;
    }
    at
}

/// One end of a bracket.
#[derive(Clone, Copy)]
struct End {
    at: f64,
    value: f64,
}

/// Bisections from the largest number to its last digit.
const STEPS: u32 = 2200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_change_is_found_to_the_last_digits() {
        let root = between(0.0, 2.0, |x| x * x - 2.0);
        assert!((root - 2.0_f64.sqrt()).abs() < 1e-15, "{root}");
        // Flat at the root, where chords converge slowly.
        let root = between(-1.0, 3.0, |x| (x - 1.0) * (x - 1.0) * (x - 1.0));
        assert!((root - 1.0).abs() < 1e-5, "{root}");
        assert_eq!(between(0.0, 1.0, |x| x), 0.0);
        assert_eq!(between(1.0, 2.0, |x| x), 1.0, "no change: the end that is nearer to one");
        let step = between(0.0, 1.0, |x| if x < 0.3 { -1.0 } else { 5.0 });
        assert!((step - 0.3).abs() < 1e-15, "{step}");
    }

    #[test]
    fn a_rising_function_is_inverted_also_from_where_it_overflows() {
        let root = of_rising(2.0, 0.0, 10.0, |x| (x * x, 2.0 * x));
        assert!((root - 2.0_f64.sqrt()).abs() < 1e-15, "{root}");
        let exp = sojourn_units::math::exp;
        let root = of_rising(1e9, 0.0, 1e6, |x| (exp(x), exp(x)));
        assert!((root - sojourn_units::math::ln(1e9)).abs() < 1e-14, "{root}");
    }
}
