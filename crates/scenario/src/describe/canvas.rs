//! Letters in rows, put where one likes.

use std::ops::Range;

/// Letters in rows; what is outside of them is blank.
#[derive(Default)]
pub(super) struct Canvas(Vec<Vec<u8>>);

impl Canvas {
    fn at(&self, row: usize, column: usize) -> u8 {
        self.0.get(row).and_then(|row| row.get(column)).copied().unwrap_or(b' ')
    }

    pub(super) fn height(&self) -> usize {
        self.0.len()
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or_default()
    }

    pub(super) fn put(&mut self, row: usize, column: usize, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.0.len() <= row {
            self.0.resize(row + 1, Vec::new());
        }
        let row = &mut self.0[row];
        if row.len() < column + text.len() {
            row.resize(column + text.len(), b' ');
        }
        for (at, letter) in text.bytes().enumerate().filter(|(_, letter)| *letter != b' ') {
            row[column + at] = letter;
        }
    }

    pub(super) fn stamp(&mut self, top: usize, left: usize, other: &Canvas) {
        for (row, letters) in other.0.iter().enumerate() {
            self.put(top + row, left, &String::from_utf8_lossy(letters));
        }
    }

    /// A line down at which something hangs.
    pub(super) fn drop_line(&mut self, rows: Range<usize>, column: usize) {
        for row in rows {
            if self.at(row, column) == b' ' {
                self.put(row, column, "|");
            }
        }
    }

    pub(super) fn is_free(&self, rows: Range<usize>, columns: Range<usize>) -> bool {
        rows.into_iter().all(|row| columns.clone().all(|column| self.at(row, column) == b' '))
    }

    /// Whether a line can go down there, along what hangs at the same node.
    pub(super) fn is_open(&self, mut rows: Range<usize>, column: usize) -> bool {
        rows.all(|row| b" |+".contains(&self.at(row, column)))
    }

    pub(super) fn lines(&self, margin: usize) -> String {
        let line = |row: &Vec<u8>| {
            format!("  {:margin$}{}", "", String::from_utf8_lossy(row)).trim_end().to_string() + "\n"
        };
        self.0.iter().map(line).collect()
    }
}
