//! What is wrong with a scenario, one line a fault.

use crate::source::{Excerpt, Position, Source, is_unprintable};
use sojourn_units::Fault;
use std::fmt;

/// All that is wrong with a scenario: lines of the form
/// `FILE:LINE:COLUMN: key: what is wrong; expected ...`, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    lines: Vec<String>,
    excerpts: Vec<Vec<Excerpt>>,
}

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// At this byte of the file.
    File(usize),
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
        &self.lines
    }

    /// Lines of the file that show each fault: that of its place, and of an open bracket that where it opened.
    pub fn excerpts(&self) -> &[Vec<Excerpt>] {
        &self.excerpts
    }

    /// A fault of the file as a whole.
    pub(crate) fn of_file(file: &str, Position { line, column }: Position, what: &str) -> Faults {
        Faults::without_excerpts(vec![one_line(&format!("{file}:{line}:{column}: {what}"))])
    }

    /// A fault of the syntax of `text`, at the first of these bytes and to be seen at all of them.
    pub(crate) fn of_syntax(file: &str, text: &str, places: &[usize], what: &str) -> Faults {
        let source = Source::of(text);
        let position = source.position(places.first().copied().unwrap_or(0));
        let excerpts = vec![places.iter().map(|at| source.excerpt(*at)).collect()];
        Faults { excerpts, ..Faults::of_file(file, position, what) }
    }

    /// Faults of a disc or of a congestion control that was named beside the file.
    pub(crate) fn of_spec(faults: &[Fault]) -> Faults {
        Faults::without_excerpts(faults.iter().map(|fault| one_line(&said(fault))).collect())
    }

    /// The faults of `text`, which is the file called `file`, in its order, and then those of the command line.
    pub(crate) fn of(file: &str, text: &str, mut flaws: Vec<Flaw>) -> Faults {
        flaws.sort_by(|one, other| one.place.cmp(&other.place));
        let source = Source::of(text);
        let shown = flaws.iter().take(MOST_LINES);
        let (mut lines, mut excerpts): (Vec<_>, Vec<_>) =
            shown.map(|flaw| (flaw.line(file, &source), flaw.excerpt(&source))).unzip();
        if flaws.len() > MOST_LINES {
            lines.push(one_line(&format!("{file}: and more; these are the first {MOST_LINES} faults")));
            excerpts.push(Vec::new());
        }
        Faults { lines, excerpts }
    }

    fn without_excerpts(lines: Vec<String>) -> Faults {
        Faults { excerpts: vec![Vec::new(); lines.len()], lines }
    }
}

impl Flaw {
    fn line(&self, file: &str, source: &Source<'_>) -> String {
        one_line(&match &self.place {
            Place::File(at) => {
                let Position { line, column } = source.position(*at);
                format!("{file}:{line}:{column}: {}", said(&self.fault))
            }
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

    fn excerpt(&self, source: &Source<'_>) -> Vec<Excerpt> {
        match self.place {
            Place::File(at) => vec![source.excerpt(at)],
            Place::Set { .. } => Vec::new(),
        }
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
        if is_unprintable(letter) {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
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

    fn flaw(at: usize, key: &str) -> Flaw {
        Flaw { place: Place::File(at), fault: Fault::new(key, "is wrong; legal: right") }
    }

    #[test]
    fn lines_follow_the_file() {
        let faults = Faults::of("a.toml", "a = 1\nx.b = 2\n", vec![flaw(8, "b"), flaw(0, "a")]);
        assert_eq!(
            faults.to_string(),
            "a.toml:1:1: a: is wrong; legal: right\na.toml:2:3: b: is wrong; legal: right"
        );
        let shown: Vec<_> =
            faults.excerpts().iter().map(|shown| (shown[0].text.as_str(), shown[0].before)).collect();
        assert_eq!(shown, [("a = 1", 0), ("x.b = 2", 2)]);
    }

    #[test]
    fn a_flood_of_faults_is_cut() {
        let faults = Faults::of("a.toml", &"\n".repeat(250), (0..250).map(|at| flaw(at, "a")).collect());
        assert_eq!((faults.lines().len(), faults.excerpts().len()), (101, 101));
        assert_eq!(faults.lines()[100], "a.toml: and more; these are the first 100 faults");
    }

    #[test]
    fn a_fault_is_one_line_whatever_it_quotes() {
        let flaw = Flaw { place: Place::File(0), fault: Fault::new("a\nb", "x\u{202e}".repeat(9000)) };
        let faults = Faults::of("a\r.toml", "", vec![flaw]);
        assert_eq!(faults.lines().len(), 1);
        assert!(faults.to_string().starts_with("a\\r.toml:1:1: a\\nb: x\\u{202e}x"));
        assert!(faults.to_string().len() < 7000);
    }
}
