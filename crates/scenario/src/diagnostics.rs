//! Errors of a scenario, with their places.

use crate::source::{Excerpt, Position, Source, is_unprintable};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use sojourn_params::{Errors, Expected, InputError, Path};
use std::fmt;

/// Errors of a scenario, in the order of the file; then those of overrides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

/// An error of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its place.
    pub location: Location,
    /// The error.
    pub error: InputError,
    /// Excerpts of the file: the line of its place, and that of an opening bracket.
    pub excerpts: Vec<Excerpt>,
}

/// Place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a file.
    File {
        /// Its name.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
    },
    /// In an override.
    Override {
        /// Its key, as it was written.
        written: String,
        /// The same key as errors name it.
        path: Path,
    },
    /// In an argument that the caller names, or in keys that are no file.
    Argument,
    /// Beyond those that are listed.
    Rest(String),
}

/// Place of a value, while a file is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// At this byte of the file.
    File(usize),
    /// In keys that are no text, by their order.
    Keys(usize),
    /// On the command line, as the `order`-th `--set`.
    Set {
        /// Its rank among the overrides.
        order: usize,
        /// Key as written there.
        written: String,
        /// The same key as errors name it.
        path: Path,
    },
}

/// An error and its place, while a file is read.
pub(crate) type Placed = (Place, InputError);

impl Diagnostics {
    /// The errors, at least one.
    pub fn list(&self) -> &[Diagnostic] {
        &self.0
    }

    /// One line per error: `FILE:LINE:COLUMN: key: problem; expected ...`.
    pub fn lines(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    /// An error of the file, without an excerpt.
    pub(crate) fn of_file(file: &str, position: Position, error: InputError) -> Diagnostics {
        Diagnostics(vec![Diagnostic { location: in_file(file, position), error, excerpts: Vec::new() }])
    }

    /// A syntax error of `text` at this byte, with an excerpt also at another one.
    pub(crate) fn of_syntax(
        file: &str,
        text: &str,
        at: usize,
        other: Option<usize>,
        error: InputError,
    ) -> Diagnostics {
        let source = Source::of(text);
        let excerpts = [Some(at), other].into_iter().flatten().map(|at| source.excerpt(at)).collect();
        Diagnostics(vec![Diagnostic { location: in_file(file, source.position(at)), error, excerpts }])
    }

    /// Errors of an argument: a qdisc, a congestion control, the name of a link.
    pub fn of_argument(errors: impl IntoIterator<Item = InputError>) -> Diagnostics {
        let diagnostic = |error| Diagnostic { location: Location::Argument, error, excerpts: Vec::new() };
        Diagnostics(errors.into_iter().map(diagnostic).collect())
    }

    /// Errors of a SPEC; its name precedes the keys of its parameters.
    pub fn of_spec(spec: &str, errors: Errors) -> Diagnostics {
        let name = spec.split(':').next().unwrap_or_default().trim();
        let at = |error: InputError| if error.key.is_empty() { error } else { error.at(Path::key(name)) };
        Diagnostics::of_argument(errors.into_iter().map(at))
    }

    /// Errors of `text`, the file called `file`, in order of the file, then those of the command line.
    pub(crate) fn of(file: &str, text: &str, errors: Vec<Placed>) -> Diagnostics {
        let source = Source::of(text);
        Diagnostics::collected(errors, Location::Rest(file.into()), |at| {
            (in_file(file, source.position(at)), vec![source.excerpt(at)])
        })
    }

    /// Errors of keys that are no text, in their order, then those of overrides.
    pub(crate) fn of_keys(errors: Vec<Placed>) -> Diagnostics {
        Diagnostics::collected(errors, Location::Argument, |_| (Location::Argument, Vec::new()))
    }

    fn collected(
        mut errors: Vec<Placed>,
        rest: Location,
        in_file: impl Fn(usize) -> (Location, Vec<Excerpt>),
    ) -> Diagnostics {
        errors.sort_by(|(one, _), (other, _)| one.cmp(other));
        let all = errors.len();
        let diagnostic = |(place, error)| {
            let (location, excerpts) = match place {
                Place::File(at) => in_file(at),
                Place::Keys(_) => (Location::Argument, Vec::new()),
                Place::Set { written, path, .. } => (Location::Override { written, path }, Vec::new()),
            };
            Diagnostic { location, error, excerpts }
        };
        let mut list: Vec<Diagnostic> = errors.into_iter().take(MOST_LISTED).map(diagnostic).collect();
        if all > MOST_LISTED {
            let problem = format!("and more; these are the first {MOST_LISTED} errors");
            let error = InputError::new(list[0].error.kind, problem, Expected::Unstated);
            list.push(Diagnostic { location: rest, error, excerpts: Vec::new() });
        }
        Diagnostics(list)
    }
}

fn in_file(file: &str, Position { line, column }: Position) -> Location {
    Location::File { file: file.into(), line, column }
}

impl Diagnostic {
    /// The error as its line has it: inside an override the key begins there.
    fn inside(&self) -> InputError {
        let error = self.error.clone();
        match &self.location {
            Location::Override { path, .. } => match error.key.strip_prefix(path) {
                Some(key) => InputError { key, ..error },
                None => error,
            },
            _ => error,
        }
    }

    /// The parts of its line, each printable: the place, the key, both of which may be empty, and the sentence.
    pub fn parts(&self) -> [String; 3] {
        let place = match &self.location {
            Location::File { file, line, column } => format!("{file}:{line}:{column}"),
            Location::Override { written, .. } => written.clone(),
            Location::Argument => String::new(),
            Location::Rest(file) => file.clone(),
        };
        let error = self.inside();
        let key = error.key.to_string();
        // The place in an overridden list follows its key: `flows[0].count`.
        let (place, key) = if key.starts_with('[') { (place + &key, String::new()) } else { (place, key) };
        [place, key, error.message()].map(|part| one_line(&part))
    }

    /// The lines of the file that show it, each with a caret under its place; empty outside of files.
    ///
    /// annotate-snippets draws them: it is what rustc's messages are drawn with, knows the widths of characters, and
    /// depends on nothing that a terminal would need.
    pub fn drawing(&self) -> String {
        if self.excerpts.is_empty() {
            return String::new();
        }
        let mut excerpts: Vec<&Excerpt> = self.excerpts.iter().collect();
        excerpts.sort_by_key(|excerpt| excerpt.line);
        // Lines that follow one another are one part.
        let parts = excerpts.chunk_by(|one, next| one.line + 1 == next.line).map(|lines| {
            let (mut text, mut places) = (String::new(), Vec::new());
            for excerpt in lines {
                let before: usize = excerpt.text.chars().take(excerpt.before).map(char::len_utf8).sum();
                places.push(text.len() + before);
                text = text + &excerpt.text + "\n";
            }
            let marks = places.into_iter().map(|at| AnnotationKind::Primary.span(at..at));
            Snippet::source(text).line_start(lines[0].line).annotations(marks)
        });
        Renderer::plain().render(&[Group::with_level(Level::ERROR).elements(parts)])
    }
}

/// The error in one line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = if let Location::Override { .. } = self.location { "--set " } else { "" };
        let parts = self.parts().into_iter().filter(|part| !part.is_empty());
        f.write_str(&one_line(&format!("{flag}{}", parts.collect::<Vec<_>>().join(": "))))
    }
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
        f.write_str(&self.lines().join("\n"))
    }
}

impl std::error::Error for Diagnostics {}

/// Errors that are listed.
pub(crate) const MOST_LISTED: usize = 100;
/// Letters of a line.
const LONGEST_LINE: usize = 600;
/// Names in such a list.
const MOST_SHOWN: usize = 20;

/// A list of names, cut after the first ones.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_SHOWN).map(AsRef::as_ref).collect();
    format!("{}{}", shown.join(", "), if names.len() > MOST_SHOWN { ", ..." } else { "" })
}

/// Error of a name that a file does not have; `known` are those that it has.
pub(crate) fn unknown_name<T: AsRef<str>>(name: &str, problem: &str, known: &[T]) -> InputError {
    let error = InputError::unknown_name(name, problem, known.iter().map(AsRef::as_ref));
    InputError { expected: Expected::one_of([listed(known)]), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_params::ErrorKind;

    fn placed(at: usize, key: &str) -> Placed {
        (Place::File(at), InputError::new(ErrorKind::Type, "is wrong", "right").at(key))
    }

    #[test]
    fn lines_follow_the_file() {
        let errors = Diagnostics::of("a.toml", "a = 1\nx.b = 2\n", vec![placed(8, "b"), placed(0, "a")]);
        assert_eq!(
            errors.to_string(),
            "a.toml:1:1: a: is wrong; expected right\na.toml:2:3: b: is wrong; expected right"
        );
        let shown: Vec<_> =
            errors.list().iter().map(|one| (one.excerpts[0].text.as_str(), one.excerpts[0].before)).collect();
        assert_eq!(shown, [("a = 1", 0), ("x.b = 2", 2)]);
    }

    #[test]
    fn a_flood_of_errors_is_cut() {
        let errors =
            Diagnostics::of("a.toml", &"\n".repeat(250), (0..250).map(|at| placed(at, "a")).collect());
        assert_eq!(errors.lines().len(), 101);
        assert_eq!(errors.lines()[100], "a.toml: and more; these are the first 100 errors");
    }

    #[test]
    fn an_error_is_one_line() {
        let error = InputError::new(ErrorKind::Type, "x\u{202e}".repeat(9000), "right").at("a\nb");
        let errors = Diagnostics::of("a\r.toml", "", vec![(Place::File(0), error)]);
        assert_eq!(errors.lines().len(), 1);
        assert!(errors.to_string().starts_with("a\\r.toml:1:1: a\\nb: x\\u{202e}x"));
        assert!(errors.to_string().len() < 7000);
    }
}
