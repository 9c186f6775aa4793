//! Paths of keys: where in a file, a SPEC or a call a value stands.

use std::fmt;

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// To the value of a key.
    Key(String),
    /// To an item of a list, counted from 0.
    Place(usize),
}

/// The steps from the outermost table to a value; none: the value itself.
///
/// [`Display`](fmt::Display) is its notation in errors, `flows[0].app.web.objects`. A text that converts into a path is
/// in this notation; a key of a user's, which may hold dots and brackets itself, is a [`Path::key`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<Step>);

impl Path {
    /// The path of one key, whatever its letters.
    pub fn key(key: impl Into<String>) -> Path {
        Path(vec![Step::Key(key.into())])
    }

    /// Reads the notation; None for a text that is not in it.
    pub fn parse(text: &str) -> Option<Path> {
        let mut steps = Vec::new();
        for (part, name) in text.split('.').enumerate() {
            let mut pieces = name.split('[');
            match pieces.next()?.trim() {
                // A path may begin with a place.
                "" if part == 0 && name.starts_with('[') => {}
                "" => return None,
                key => steps.push(Step::Key(key.into())),
            }
            for piece in pieces {
                steps.push(Step::Place(piece.trim_end().strip_suffix(']')?.parse().ok()?));
            }
        }
        Some(Path(steps))
    }

    /// Its steps, from the outermost.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// True without steps.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of `inner` inside this one's value.
    #[must_use]
    pub fn join(mut self, inner: impl Into<Path>) -> Path {
        self.0.extend(inner.into().0);
        self
    }

    /// The path of the table or list around the value, and the last step.
    pub fn split_last(&self) -> Option<(Path, &Step)> {
        let (last, above) = self.0.split_last()?;
        Some((Path(above.to_vec()), last))
    }

    /// The key that it ends in.
    pub fn last_key(&self) -> Option<&str> {
        match self.0.last()? {
            Step::Key(key) => Some(key),
            Step::Place(_) => None,
        }
    }

    /// The rest behind `outer`, if it begins with that.
    pub fn strip_prefix(&self, outer: &Path) -> Option<Path> {
        self.0.strip_prefix(outer.steps()).map(Path::from)
    }

    /// True if `inner` is its end.
    pub fn ends_with(&self, inner: &Path) -> bool {
        self.0.ends_with(inner.steps())
    }

    /// Its keys joined by dots, without places: `flows.app` for `flows[0].app`.
    pub fn without_places(&self) -> String {
        let keys = self.0.iter().filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Place(_) => None,
        });
        keys.collect::<Vec<_>>().join(".")
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Place(place) => write!(f, "[{place}]")?,
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

/// A text in the notation; any other is one key, and an empty one no step.
impl From<&str> for Path {
    fn from(text: &str) -> Path {
        match text {
            "" => Path::default(),
            _ => Path::parse(text).unwrap_or_else(|| Path::key(text)),
        }
    }
}

impl From<&&str> for Path {
    fn from(text: &&str) -> Path {
        (*text).into()
    }
}

impl From<&String> for Path {
    fn from(text: &String) -> Path {
        text.as_str().into()
    }
}

impl From<&Path> for Path {
    fn from(path: &Path) -> Path {
        path.clone()
    }
}

impl From<usize> for Path {
    fn from(place: usize) -> Path {
        Path(vec![Step::Place(place)])
    }
}

impl From<&[Step]> for Path {
    fn from(steps: &[Step]) -> Path {
        Path(steps.to_vec())
    }
}

impl PartialEq<&str> for Path {
    fn eq(&self, text: &&str) -> bool {
        self.0 == Path::from(*text).0
    }
}

impl PartialEq<Path> for &str {
    fn eq(&self, path: &Path) -> bool {
        path == self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_reads_back() {
        for text in ["flows", "flows[0].app.web.objects", "[2].rate", "a[1][2].b", "at[0].set.up.back.rate"] {
            let path = Path::parse(text).unwrap();
            assert_eq!(path.to_string(), text);
        }
        for bad in ["", ".", "a..b", "flows[", "flows[x]", "flows[0]x", "a.[0]"] {
            assert_eq!(Path::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_with_dots_is_one_step() {
        let path = Path::from("at[3].set").join(Path::key("up.rate"));
        assert_eq!(path.to_string(), "at[3].set.up.rate");
        assert_eq!(path.last_key(), Some("up.rate"));
        assert_ne!(path, "at[3].set.up.rate");
    }

    #[test]
    fn parts_are_whole_steps() {
        let path = Path::from("flows[0].counter");
        assert_eq!(path.strip_prefix(&"flows[0]".into()).unwrap(), "counter");
        assert_eq!(path.strip_prefix(&"flows[0].count".into()), None);
        assert!(path.ends_with(&"counter".into()) && !path.ends_with(&"ter".into()));
        assert_eq!(path.without_places(), "flows.counter");
        assert_eq!(path.split_last(), Some(("flows[0]".into(), &Step::Key("counter".into()))));
    }
}
