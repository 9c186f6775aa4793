//! An edge in a row: its line, its disc, and what stands above and below.

use super::canvas::Canvas;

/// One direction of an edge.
pub(super) struct Strand {
    /// The end that has an arrow: the right one?
    pub(super) arrow: Option<bool>,
    /// The disc, if any.
    pub(super) disc: String,
    pub(super) label: String,
}

/// An edge between two nodes in a row.
pub(super) struct Cell {
    pub(super) main: Strand,
    /// The other direction, where it differs.
    pub(super) other: Option<Strand>,
    pub(super) width: usize,
}

impl Strand {
    /// The letters that its line needs.
    pub(super) fn least(&self) -> usize {
        if self.disc.is_empty() { LINE } else { self.disc.len() + LINE + usize::from(self.arrow.is_some()) }
    }

    /// The letters that it needs with what stands beside it.
    pub(super) fn width(&self) -> usize {
        self.least().max(if self.label.is_empty() { 0 } else { self.label.len() + 2 })
    }

    pub(super) fn line(&self, width: usize) -> String {
        let (first, last) = match self.arrow {
            Some(true) => ("", ">"),
            Some(false) => ("<", ""),
            None => ("", ""),
        };
        format!("{first}{:-^width$}{last}", self.disc, width = width - first.len() - last.len())
    }
}

impl Cell {
    /// Draws it with its main direction in `line`, the other one below.
    pub(super) fn put(&self, canvas: &mut Canvas, line: usize, column: usize) {
        let width = self.width;
        let label = |text: &str| format!("{text:^width$}").trim_end().to_string();
        canvas.put(line, column, &self.main.line(width));
        if !self.main.label.is_empty() {
            canvas.put(line - 1, column, &label(&self.main.label));
        }
        if let Some(other) = &self.other {
            canvas.put(line + 1, column, &other.line(width));
            canvas.put(line + 2, column, &label(&other.label));
        }
    }
}

/// Dashes of a line without a disc, and beside one.
const LINE: usize = 4;
