//! What is wrong with a scenario, one line a fault.

use sojourn_units::Fault;
use std::fmt;

/// All that is wrong with a scenario: lines of the form
/// `FILE:LINE: key: what is wrong; what is legal`, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(Vec<String>);

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// On this line of the file, counted from 1.
    Line(usize),
    /// On the command line, as the `order`-th `--set`.
    Set {
        /// Its rank among the overrides.
        order: usize,
        /// The key as it was written there.
        written: String,
        /// The same key as faults name it.
        path: String,
    },
}

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) place: Place,
    pub(crate) fault: Fault,
}

impl Faults {
    /// One line a fault.
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// A fault of the file as a whole.
    pub(crate) fn of_file(file: &str, line: usize, what: &str) -> Faults {
        Faults(vec![one_line(&format!("{file}:{line}: {what}"))])
    }

    /// Faults of a disc or of a congestion control that was named beside the file.
    pub(crate) fn of_spec(faults: &[Fault]) -> Faults {
        Faults(faults.iter().map(|fault| one_line(&said(fault))).collect())
    }

    /// The faults of the file called `file`, in the order of its lines, and then those of the command line.
    pub(crate) fn of(file: &str, mut flaws: Vec<Flaw>) -> Faults {
        flaws.sort_by(|one, other| one.place.cmp(&other.place));
        let mut lines: Vec<String> = flaws.iter().take(MOST_LINES).map(|flaw| flaw.line(file)).collect();
        if flaws.len() > MOST_LINES {
            lines.push(one_line(&format!("{file}: and more; these are the first {MOST_LINES} faults")));
        }
        Faults(lines)
    }
}

impl Flaw {
    fn line(&self, file: &str) -> String {
        one_line(&match &self.place {
            Place::Line(line) => format!("{file}:{line}: {}", said(&self.fault)),
            Place::Set { written, path, .. } if *path == self.fault.key => {
                format!("--set {written}: {}", self.fault.what)
            }
            Place::Set { written, path, .. } => {
                let Fault { key, what } = &self.fault;
                // What stands inside of what was set is told from there on.
                let inside = key.strip_prefix(path.as_str()).and_then(|rest| rest.strip_prefix('.'));
                format!("--set {written}: {}", said(&Fault::new(inside.unwrap_or(key), what)))
            }
        })
    }
}

fn said(fault: &Fault) -> String {
    if fault.key.is_empty() { fault.what.clone() } else { fault.to_string() }
}

/// The text on one line of bearable length, whatever stood in the file.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for (place, letter) in text.chars().enumerate() {
        if place == LONGEST_LINE {
            return line + " ...";
        }
        if letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Faults {}

/// So many faults are enough to begin with.
pub(crate) const MOST_LINES: usize = 100;
/// Letters of a line.
const LONGEST_LINE: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(line: usize, key: &str) -> Flaw {
        Flaw { place: Place::Line(line), fault: Fault::new(key, "is wrong; legal: right") }
    }

    #[test]
    fn lines_follow_the_file() {
        let faults = Faults::of("a.toml", vec![flaw(9, "b"), flaw(2, "a")]);
        assert_eq!(
            faults.to_string(),
            "a.toml:2: a: is wrong; legal: right\na.toml:9: b: is wrong; legal: right"
        );
    }

    #[test]
    fn a_flood_of_faults_is_cut() {
        let faults = Faults::of("a.toml", (1..=250).map(|line| flaw(line, "a")).collect());
        assert_eq!(faults.lines().len(), 101);
        assert_eq!(faults.lines()[100], "a.toml: and more; these are the first 100 faults");
    }

    #[test]
    fn a_fault_is_one_line_whatever_it_quotes() {
        let flaw = Flaw { place: Place::Line(1), fault: Fault::new("a\nb", "x".repeat(9000)) };
        let faults = Faults::of("a\r.toml", vec![flaw]);
        assert_eq!(faults.lines().len(), 1);
        assert!(faults.to_string().starts_with("a\\r.toml:1: a\\nb: xxx"));
        assert!(faults.to_string().len() < 700);
    }
}
