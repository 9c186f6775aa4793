//! Positions in the text of a file, and the lines that show them.

/// A line and a column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A line of a file with a place in it, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Number of the line, from 1.
    pub line: usize,
    /// The line, or of a long one the part around the place; without control characters.
    pub text: String,
    /// Characters of `text` before the place.
    pub before: usize,
}

/// The text of a file and the starts of its lines.
pub(crate) struct Source<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(crate) fn of(text: &'a str) -> Source<'a> {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Source { text, starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The position of byte `at`.
    pub(crate) fn position(&self, at: usize) -> Position {
        let (line, before, _) = self.line_around(at);
        Position { line, column: before.chars().count() + 1 }
    }

    /// The line of byte `at`.
    pub(crate) fn excerpt(&self, at: usize) -> Excerpt {
        let (line, before, after) = self.line_around(at);
        let (start, shown_before) = last(before, MOST_BEFORE);
        let shown_after: String = after.chars().take(MOST_AFTER).collect();
        let cut = if shown_after.len() < after.len() { "..." } else { "" };
        let lead = if start > 0 { "..." } else { "" };
        let text = format!("{lead}{shown_before}{shown_after}{cut}");
        let before = lead.len() + shown_before.chars().count();
        Excerpt {
            line,
            text: text.chars().map(|letter| if is_unprintable(letter) { ' ' } else { letter }).collect(),
            before,
        }
    }

    /// The number of the line of byte `at`, and the line before and after that byte.
    fn line_around(&self, at: usize) -> (usize, &'a str, &'a str) {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= at);
        let after = self.text[at..].split('\n').next().unwrap_or_default();
        (line, &self.text[self.starts[line - 1]..at], after.trim_end_matches('\r'))
    }
}

/// The last `most` characters of a text, and the byte where they begin.
fn last(text: &str, most: usize) -> (usize, &str) {
    let start = text.char_indices().rev().take(most).last().map_or(text.len(), |(at, _)| at);
    (start, &text[start..])
}

/// Characters that move later ones on a line, or are invisible.
pub(crate) fn is_unprintable(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Characters of a line that an excerpt has before and after its place.
const MOST_BEFORE: usize = 60;
const MOST_AFTER: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_a_line_and_a_column() {
        let source = Source::of("a\nbc\n\nd");
        let positions: Vec<_> = [0, 1, 2, 3, 4, 5, 6, 99].map(|at| source.position(at)).into();
        let expected = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (4, 1), (4, 2)];
        assert_eq!(positions, expected.map(|(line, column)| Position { line, column }));
    }

    #[test]
    fn columns_count_characters() {
        let source = Source::of("é = ü");
        assert_eq!(source.position(5).column, 5);
        // Within a character: its beginning.
        assert_eq!(source.position(1).column, 1);
    }

    #[test]
    fn an_excerpt_is_the_line() {
        let excerpt = Source::of("a\r\n\tbc\u{202e}d\r\n").excerpt(5);
        assert_eq!(excerpt, Excerpt { line: 2, text: " bc d".into(), before: 2 });
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}X{}", "a".repeat(1000), "b".repeat(1000));
        let excerpt = Source::of(&text).excerpt(1000);
        assert_eq!(excerpt.text, format!("...{}X{}...", "a".repeat(60), "b".repeat(39)));
        assert_eq!(excerpt.text.chars().nth(excerpt.before), Some('X'));
    }
}
