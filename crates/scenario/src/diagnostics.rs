//! Errors of a scenario, one line each.

use crate::source::{Excerpt, Position, Source, is_unprintable};
use sojourn_params::InputError;
use std::fmt;

/// Errors of a scenario: lines of the form
/// `FILE:LINE:COLUMN: key: problem; expected ...`, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    lines: Vec<String>,
    excerpts: Vec<Vec<Excerpt>>,
}

/// Place of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// At this byte of the file.
    File(usize),
    /// On the command line, as the `order`-th `--set`.
    Set {
        /// Its rank among the overrides.
        order: usize,
        /// Key as written there.
        written: String,
        /// The same key as errors name it.
        path: String,
    },
}

/// An error and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    pub(crate) place: Place,
    pub(crate) error: InputError,
}

impl Diagnostics {
    /// One line per error.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Excerpts of the file for each error: the line of its place, and that of an opening bracket.
    pub fn excerpts(&self) -> &[Vec<Excerpt>] {
        &self.excerpts
    }

    /// An error of the file as a whole.
    pub(crate) fn of_file(file: &str, Position { line, column }: Position, message: &str) -> Diagnostics {
        Diagnostics::without_excerpts(vec![one_line(&format!("{file}:{line}:{column}: {message}"))])
    }

    /// A syntax error of `text` at the first of these bytes, with excerpts at all of them.
    pub(crate) fn of_syntax(file: &str, text: &str, places: &[usize], message: &str) -> Diagnostics {
        let source = Source::of(text);
        let position = source.position(places.first().copied().unwrap_or(0));
        let excerpts = vec![places.iter().map(|at| source.excerpt(*at)).collect()];
        Diagnostics { excerpts, ..Diagnostics::of_file(file, position, message) }
    }

    /// Diagnostics of a qdisc or a congestion control given on the command line.
    pub(crate) fn of_spec(errors: &[InputError]) -> Diagnostics {
        Diagnostics::without_excerpts(errors.iter().map(|error| one_line(&text(error))).collect())
    }

    /// Errors of `text`, the file called `file`, in order of the file, then those of the command line.
    pub(crate) fn of(file: &str, text: &str, mut diagnostics: Vec<Diagnostic>) -> Diagnostics {
        diagnostics.sort_by(|one, other| one.place.cmp(&other.place));
        let source = Source::of(text);
        let shown = diagnostics.iter().take(MOST_LINES);
        let (mut lines, mut excerpts): (Vec<_>, Vec<_>) =
            shown.map(|diagnostic| (diagnostic.line(file, &source), diagnostic.excerpt(&source))).unzip();
        if diagnostics.len() > MOST_LINES {
            lines.push(one_line(&format!("{file}: and more; these are the first {MOST_LINES} errors")));
            excerpts.push(Vec::new());
        }
        Diagnostics { lines, excerpts }
    }

    fn without_excerpts(lines: Vec<String>) -> Diagnostics {
        Diagnostics { excerpts: vec![Vec::new(); lines.len()], lines }
    }
}

impl Diagnostic {
    fn line(&self, file: &str, source: &Source<'_>) -> String {
        one_line(&match &self.place {
            Place::File(at) => {
                let Position { line, column } = source.position(*at);
                format!("{file}:{line}:{column}: {}", text(&self.error))
            }
            Place::Set { written, path, .. } if *path == self.error.key => {
                format!("--set {written}: {}", self.error.message)
            }
            Place::Set { written, path, .. } => {
                let InputError { key, message } = &self.error;
                // Keys inside the overridden value are named from there on.
                let inside = key.strip_prefix(path.as_str()).and_then(|rest| rest.strip_prefix('.'));
                format!("--set {written}: {}", text(&InputError::new(inside.unwrap_or(key), message)))
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

fn text(error: &InputError) -> String {
    if error.key.is_empty() { error.message.clone() } else { error.to_string() }
}

/// The text on one line of limited length, whatever the file contains.
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

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

impl std::error::Error for Diagnostics {}

/// Errors that are listed.
pub(crate) const MOST_LINES: usize = 100;
/// Letters of a line.
const LONGEST_LINE: usize = 600;
/// Names in such a list.
const MOST_SHOWN: usize = 20;

/// A list of names, cut after the first ones.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_SHOWN).map(AsRef::as_ref).collect();
    format!("{}{}", shown.join(", "), if names.len() > MOST_SHOWN { ", ..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(at: usize, key: &str) -> Diagnostic {
        Diagnostic { place: Place::File(at), error: InputError::new(key, "is wrong; expected right") }
    }

    #[test]
    fn lines_follow_the_file() {
        let errors =
            Diagnostics::of("a.toml", "a = 1\nx.b = 2\n", vec![diagnostic(8, "b"), diagnostic(0, "a")]);
        assert_eq!(
            errors.to_string(),
            "a.toml:1:1: a: is wrong; expected right\na.toml:2:3: b: is wrong; expected right"
        );
        let shown: Vec<_> =
            errors.excerpts().iter().map(|shown| (shown[0].text.as_str(), shown[0].before)).collect();
        assert_eq!(shown, [("a = 1", 0), ("x.b = 2", 2)]);
    }

    #[test]
    fn a_flood_of_errors_is_cut() {
        let errors =
            Diagnostics::of("a.toml", &"\n".repeat(250), (0..250).map(|at| diagnostic(at, "a")).collect());
        assert_eq!((errors.lines().len(), errors.excerpts().len()), (101, 101));
        assert_eq!(errors.lines()[100], "a.toml: and more; these are the first 100 errors");
    }

    #[test]
    fn an_error_is_one_line() {
        let diagnostic =
            Diagnostic { place: Place::File(0), error: InputError::new("a\nb", "x\u{202e}".repeat(9000)) };
        let errors = Diagnostics::of("a\r.toml", "", vec![diagnostic]);
        assert_eq!(errors.lines().len(), 1);
        assert!(errors.to_string().starts_with("a\\r.toml:1:1: a\\nb: x\\u{202e}x"));
        assert!(errors.to_string().len() < 7000);
    }
}
