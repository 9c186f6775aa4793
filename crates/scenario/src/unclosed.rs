//! The first bracket or quote of a TOML text that is never closed.
//!
//! A parser detects it far below, where the next value does not fit, and does not report where it opened.

/// An unclosed bracket or quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unclosed {
    /// The byte where it opened.
    pub(crate) at: usize,
    /// The byte at which it proves to be unclosed.
    pub(crate) noticed: usize,
    /// Opening token.
    pub(crate) opener: &'static str,
    /// Closing token.
    pub(crate) closer: &'static str,
}

/// The first unclosed one in `text`; None where all are closed, or too many are.
pub(crate) fn unclosed(text: &str) -> Option<Unclosed> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, line: 0, open: Vec::new() };
    let mut starts_line = true;
    while let Some(byte) = scanner.peek() {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let found = match byte {
            b'#' => {
                scanner.at = scanner.line_end();
                continue;
            }
            b'[' if starts_line && scanner.open.is_empty() => scanner.header(),
            _ => scanner.step(byte, starts_line),
        };
        match found {
            Step::On => {}
            Step::Unclosed(found) => return Some(found),
            Step::Stray => return None,
        }
        starts_line = byte == b'\n' || (starts_line && is_blank);
    }
    scanner.open.pop().map(|open| open.unclosed(text.trim_ascii_end().len()))
}

/// Scans the text once, even if it is a single line.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Start of the line of `at`.
    line: usize,
    /// Brackets around `at`, the innermost one last.
    open: Vec<Open>,
}

/// A bracket that is open.
struct Open {
    at: usize,
    bracket: Bracket,
}

#[derive(Clone, Copy, PartialEq)]
enum Bracket {
    /// An array.
    Array,
    /// An inline table; `expects_value`: after the `=` of a key.
    Table { expects_value: bool },
}

/// Result of a token.
enum Step {
    On,
    Unclosed(Unclosed),
    /// A closing bracket that none opened.
    Stray,
}

impl Scanner<'_> {
    /// Passes one token that begins with `byte`.
    fn step(&mut self, byte: u8, starts_line: bool) -> Step {
        let here = self.at;
        let expects_value = match self.open.last_mut() {
            Some(Open { bracket: Bracket::Table { expects_value }, .. }) => {
                let before = *expects_value;
                *expects_value = byte == b'=' || (before && byte.is_ascii_whitespace());
                before
            }
            _ => true,
        };
        match byte {
            b'"' | b'\'' => return self.string(byte),
            // Where no value is expected, a bracket begins the header of the next table.
            b'[' if starts_line && !expects_value => return self.give_up(here),
            b'[' => self.open.push(Open { at: here, bracket: Bracket::Array }),
            b'{' => self.open.push(Open { at: here, bracket: Bracket::Table { expects_value: false } }),
            b']' | b'}' => match self.open.pop() {
                Some(open) if open.closer().as_bytes() == [byte] => {}
                Some(open) => return Step::Unclosed(open.unclosed(here)),
                None => return Step::Stray,
            },
            b'=' => {
                if let Some(next_line) = self.line_after_array() {
                    return self.give_up(next_line);
                }
            }
            _ => {}
        }
        self.pass(byte);
        Step::On
    }

    /// Start of the line of this `=` inside an array opened before it, which cannot hold keys.
    fn line_after_array(&self) -> Option<usize> {
        let array = self.open.last().filter(|open| open.bracket == Bracket::Array)?;
        let indent =
            || self.bytes[self.line..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        (self.line > array.at).then(|| self.line + indent())
    }

    /// The header of a table, `[a.b]` or `[[a.b]]`, which ends with its line.
    fn header(&mut self) -> Step {
        let start = self.at;
        let double = self.bytes[start..].starts_with(b"[[");
        let (opener, closer) = if double { ("[[", "]]") } else { ("[", "]") };
        self.at += opener.len();
        while let Some(byte) = self.peek().filter(|byte| !matches!(byte, b'\n' | b'#')) {
            if self.bytes[self.at..].starts_with(closer.as_bytes()) {
                self.at += closer.len();
                return Step::On;
            }
            match byte {
                b'"' | b'\'' => match self.string(byte) {
                    Step::On => {}
                    other => return other,
                },
                _ => self.at += 1,
            }
        }
        let noticed = start + self.bytes[start..self.at].trim_ascii_end().len();
        Step::Unclosed(Unclosed { at: start, noticed, opener, closer })
    }

    /// A text in quotes.
    fn string(&mut self, quote: u8) -> Step {
        let start = self.at;
        let (single, triple) = if quote == b'"' { ("\"", "\"\"\"") } else { ("'", "'''") };
        let is_long = self.bytes[start..].starts_with(triple.as_bytes());
        let closer = if is_long { triple } else { single };
        self.at += closer.len();
        let mut is_escaped = false;
        // A short text ends with its line at the latest.
        while let Some(byte) = self.peek().filter(|byte| is_long || *byte != b'\n') {
            if !is_escaped && self.bytes[self.at..].starts_with(closer.as_bytes()) {
                self.at += closer.len();
                // A long text may end in quotes of its own.
                while is_long && self.peek() == Some(quote) {
                    self.at += 1;
                }
                return Step::On;
            }
            is_escaped = !is_escaped && byte == b'\\' && quote == b'"';
            self.pass(byte);
        }
        let noticed = start + self.bytes[start..self.at].trim_ascii_end().len();
        Step::Unclosed(Unclosed { at: start, noticed, opener: closer, closer })
    }

    /// Reports the innermost bracket.
    fn give_up(&mut self, noticed: usize) -> Step {
        self.open.pop().map_or(Step::Stray, |open| Step::Unclosed(open.unclosed(noticed)))
    }

    /// Skips to after the byte `byte`.
    fn pass(&mut self, byte: u8) {
        self.at += 1;
        if byte == b'\n' {
            self.line = self.at;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The end of the line, its line feed left out.
    fn line_end(&self) -> usize {
        let rest = &self.bytes[self.at..];
        self.at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
    }
}

impl Open {
    fn closer(&self) -> &'static str {
        match self.bracket {
            Bracket::Array => "]",
            Bracket::Table { .. } => "}",
        }
    }

    fn unclosed(&self, noticed: usize) -> Unclosed {
        let opener = if self.bracket == Bracket::Array { "[" } else { "{" };
        Unclosed { at: self.at, noticed, opener, closer: self.closer() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `<` precedes the unclosed token, and `>` the place where it proves to be unclosed.
    #[track_caller]
    fn found(marked: &str, opener: &str) {
        let at = marked.find('<').unwrap();
        let noticed = marked.find('>').unwrap() - 1;
        let text = marked.replace(['<', '>'], "");
        let found = unclosed(&text).unwrap_or_else(|| panic!("{marked}: nothing"));
        assert_eq!((found.at, found.noticed, found.opener), (at, noticed, opener), "{marked}");
    }

    #[test]
    fn arrays() {
        found("x = <[1, 2\n>y = 3\n", "[");
        found("x = <[1, 2\n  >\"a b\".c = 3\n", "[");
        found("x = <[1,\n  2,\n\n# the end>\n", "[");
        found("x = <[[1], [2]\n>y = 1\n", "[");
        found("x = { a = <[1, 2 >} \ny = 3", "[");
    }

    #[test]
    fn inline_tables() {
        found("x = <{ a = 1, b = 2\n>[flows]\ny = 1\n", "{");
        found("x = <{ a = 1,\nb = [2]>\n", "{");
        found("x = [<{ a = 1 >]\n", "{");
        found("x = <{\n>[[flows]]\n", "{");
    }

    #[test]
    fn headers_end_with_their_line() {
        found("<[flows>\nx = 1\n", "[");
        found("<[flows> # ]\nx = 1\n", "[");
        found("  <[[flows]> \nx = [1]\n", "[[");
        found("[<\"a]>\nx = 1\n", "\"");
    }

    #[test]
    fn quotes() {
        found("x = <\"a>\ny = 1\n", "\"");
        found("x = <\"a\\\" # no]>\r\ny = 1\n", "\"");
        found("x = ['a', <'b]>\ny = 1\n", "'");
        found("x = <\"\"\"a\ny = \"1\"\n# the end>\n", "\"\"\"");
        found("x = <'''a\\'>", "'''");
    }

    #[test]
    fn closed_brackets_are_skipped() {
        for text in [
            "",
            "x = \"[{\" # [ {\n[a.\"]\"]\n[[b]]\nc = ['''[''', \"\"\"\n{ \\\"\"\"\" , { d = [\n1, # ]\n2] } ]\n",
            "x = \"\"\"a\"\"\"\"\"\ny = ''''b'''''\n",
            "x = { a = 1,\n# }\nb = { c = [] },\n}\n",
            "x = [{ a = [[1]] }, [2]]",
            "x = [a = 5]\n",
            "  # [\n",
            "x = \"\\\\\"\n",
        ] {
            assert_eq!(unclosed(text), None, "{text}");
        }
    }

    #[test]
    fn too_many_closing_brackets_are_another_error() {
        assert_eq!(unclosed("x = 1 ]\ny = [\n"), None);
        assert_eq!(unclosed("}"), None);
    }

    /// A file has 4 MB, and may be one line: searching for the line at each token would take minutes.
    #[test]
    fn long_lines_are_scanned_once() {
        for (start, piece) in [
            ("x = ", "\"=\" "),
            ("x = ", "'a'"),
            ("x = [", "=a"),
            ("x = [\n", "[a = 1], "),
            ("x = ", "\"\"\"a\n= \"\"\" = "),
            ("x = {", "a=[],"),
        ] {
            let text = start.to_string() + &piece.repeat((4 << 20) / piece.len());
            let found = unclosed(&text).map(|open| open.at);
            assert_eq!(found, start.find(['[', '{']), "{start}{piece}");
        }
        let indented = format!("{}x = [{}", " ".repeat(2 << 20), "=a".repeat(1 << 20));
        assert_eq!(unclosed(&indented).map(|open| open.at), Some((2 << 20) + 4));
    }

    #[test]
    fn any_text_is_scanned_to_its_end() {
        let pieces = ["[", "]", "{", "}", "\"", "'", "=", ",", "\n", "\\", "#", "é", "a"];
        for seed in 0..20_000_u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let text: String = (0..seed % 24)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    pieces[(state >> 33) as usize % pieces.len()]
                })
                .collect();
            if let Some(found) = unclosed(&text) {
                assert!(found.at <= found.noticed && found.noticed <= text.len(), "{text:?}: {found:?}");
                assert!(text[found.at..].starts_with(found.opener), "{text:?}: {found:?}");
            }
        }
        let deep = "[".repeat(1_000_000);
        assert_eq!(unclosed(&format!("x = {deep}")).unwrap().at, 4 + 999_999);
    }
}
