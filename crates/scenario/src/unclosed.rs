//! The first bracket or quote of a TOML text that is never closed.
//!
//! A parser detects it far below, where the next value does not fit, and does not report where it opened. The tokens are
//! those of the parser.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

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
    // Brackets around the token, the innermost one last, and the start of its line, blanks left out.
    let (mut open, mut line): (Vec<Open>, Option<usize>) = (Vec::new(), None);
    for token in Source::new(text).lex() {
        let (kind, at) = (token.kind(), token.span().start());
        let header = open.first().filter(|outermost| outermost.bracket == Bracket::Header);
        match (kind, header) {
            (TokenKind::Newline | TokenKind::Comment | TokenKind::Eof, Some(header)) => {
                return Some(header.unclosed(text[..at].trim_ascii_end().len()));
            }
            (TokenKind::Newline, None) => line = None,
            _ => {}
        }
        if matches!(kind, TokenKind::Whitespace | TokenKind::Newline | TokenKind::Comment) {
            continue;
        }
        let starts_line = line.is_none();
        let line = *line.get_or_insert(at);
        let expects_value = match open.last_mut() {
            Some(Open { bracket: Bracket::Table { expects_value }, .. }) => {
                std::mem::replace(expects_value, kind == TokenKind::Equals)
            }
            _ => true,
        };
        match (kind, open.last()) {
            (TokenKind::LeftSquareBracket, None) if starts_line => {
                open.push(Open {
                    at,
                    opener: if text[at..].starts_with("[[") { "[[" } else { "[" },
                    bracket: Bracket::Header,
                });
            }
            // Where no value is expected, a bracket begins the header of the next table.
            (TokenKind::LeftSquareBracket, Some(table)) if starts_line && !expects_value => {
                return Some(table.unclosed(at));
            }
            (TokenKind::LeftSquareBracket, _) => open.push(Open { at, opener: "[", bracket: Bracket::Array }),
            (TokenKind::LeftCurlyBracket, _) => {
                open.push(Open { at, opener: "{", bracket: Bracket::Table { expects_value: false } });
            }
            (TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket, _) => {
                let innermost = open.pop()?;
                if !innermost.closer().ends_with(&text[at..=at]) {
                    return Some(innermost.unclosed(at));
                }
            }
            // An array cannot hold keys.
            (TokenKind::Equals, Some(array)) if array.bracket == Bracket::Array && line > array.at => {
                return Some(array.unclosed(line));
            }
            _ => {
                let token = &text[at..token.span().end()];
                if let Some(quotes) = unclosed_quotes(kind, token) {
                    let noticed = at + token.trim_ascii_end().len();
                    return Some(Unclosed { at, noticed, opener: quotes, closer: quotes });
                }
            }
        }
    }
    open.pop().map(|innermost| innermost.unclosed(text.trim_ascii_end().len()))
}

/// A bracket that is open.
struct Open {
    at: usize,
    opener: &'static str,
    bracket: Bracket,
}

#[derive(PartialEq)]
enum Bracket {
    /// The header of a table, `[a.b]` or `[[a.b]]`, which ends with its line.
    Header,
    /// An array.
    Array,
    /// An inline table; `expects_value`: after the `=` of a key.
    Table { expects_value: bool },
}

impl Open {
    fn closer(&self) -> &'static str {
        match self.opener {
            "[[" => "]]",
            "[" => "]",
            _ => "}",
        }
    }

    fn unclosed(&self, noticed: usize) -> Unclosed {
        Unclosed { at: self.at, noticed, opener: self.opener, closer: self.closer() }
    }
}

/// The quotes of a text that does not end in them.
fn unclosed_quotes(kind: TokenKind, token: &str) -> Option<&'static str> {
    let (quotes, escapes) = match kind {
        TokenKind::BasicString => ("\"", true),
        TokenKind::MlBasicString => ("\"\"\"", true),
        TokenKind::LiteralString => ("'", false),
        TokenKind::MlLiteralString => ("'''", false),
        _ => return None,
    };
    let inside = token[quotes.len()..].strip_suffix(quotes);
    let backslashes = |inside: &str| inside.len() - inside.trim_end_matches('\\').len();
    let is_closed = inside.is_some_and(|inside| !(escapes && backslashes(inside) % 2 == 1));
    (!is_closed).then_some(quotes)
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
