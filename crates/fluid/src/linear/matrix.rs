//! Small square matrices: determinants, and inverses of bounds.

use super::complex::Complex64;
use std::ops::{Index, IndexMut};

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix<T> {
    size: usize,
    entries: Vec<T>,
}

impl<T: Copy> Matrix<T> {
    /// A matrix of equal entries.
    pub(super) fn filled(size: usize, entry: T) -> Matrix<T> {
        Matrix { size, entries: vec![entry; size * size] }
    }

    /// A matrix by rows and columns.
    pub(super) fn of(size: usize, entry: impl Fn(usize, usize) -> T) -> Matrix<T> {
        let places = (0..size).flat_map(|row| (0..size).map(move |column| (row, column)));
        Matrix { size, entries: places.map(|(row, column)| entry(row, column)).collect() }
    }

    /// Number of rows.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn swap(&mut self, one: usize, other: usize) {
        (0..self.size)
            .for_each(|column| self.entries.swap(one * self.size + column, other * self.size + column));
    }
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    fn index(&self, (row, column): (usize, usize)) -> &T {
        &self.entries[row * self.size + column]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut T {
        &mut self.entries[row * self.size + column]
    }
}

impl Matrix<Complex64> {
    /// Determinant, by elimination with partial pivoting.
    pub(super) fn determinant(mut self) -> Complex64 {
        let mut product = Complex64::ONE;
        for place in 0..self.size {
            let pivot = self.pivot(place);
            if pivot != place {
                self.swap(pivot, place);
                product = -product;
            }
            let top = self[(place, place)];
            product *= top;
            if top == Complex64::ZERO {
                return product;
            }
            for row in place + 1..self.size {
                let factor = self[(row, place)] / top;
                self.subtract(row, factor, place, place + 1);
            }
        }
        product
    }

    /// Cofactors: determinants without the row and the column of each entry, with its sign; NaN where the matrix is
    /// singular. They are the transpose of the inverse times the determinant.
    pub(super) fn cofactors(mut self) -> Matrix<Complex64> {
        let size = self.size;
        let mut inverse = Matrix::of(size, |row, column| Complex64::from(f64::from(u8::from(row == column))));
        let mut product = Complex64::ONE;
        for place in 0..size {
            let pivot = self.pivot(place);
            if pivot != place {
                self.swap(pivot, place);
                inverse.swap(pivot, place);
                product = -product;
            }
            let top = self[(place, place)];
            product *= top;
            for row in (0..size).filter(|row| *row != place) {
                let factor = self[(row, place)] / top;
                self.subtract(row, factor, place, place + 1);
                inverse.subtract(row, factor, place, 0);
            }
        }
        Matrix::of(size, |row, column| product * inverse[(column, row)] / self[(column, column)])
    }

    /// Subtracts `factor` times the row `other` from a row, from the column `first` on.
    fn subtract(&mut self, row: usize, factor: Complex64, other: usize, first: usize) {
        for column in first..self.size {
            let above = self[(other, column)];
            self[(row, column)] -= factor * above;
        }
    }

    /// Row of the largest entry in the column `place` from the diagonal on.
    fn pivot(&self, place: usize) -> usize {
        let below = (place..self.size)
            .max_by(|one, other| self.entry_size(*one, place).total_cmp(&self.entry_size(*other, place)));
        below.unwrap_or(place)
    }

    fn entry_size(&self, row: usize, column: usize) -> f64 {
        self[(row, column)].norm_sqr()
    }
}

impl Matrix<f64> {
    /// (I - K)^-1 B of two matrices of bounds; none where the spectral radius of K may reach 1.
    ///
    /// I - K is an M-matrix, whose inverse has no negative entry, where all pivots of its elimination are positive
    /// (A. Berman and R. J. Plemmons, "Nonnegative matrices in the mathematical sciences", 1994, chapter 6).
    pub(super) fn amplified(&self, of: &Matrix<f64>) -> Option<Matrix<f64>> {
        let size = self.size;
        let mut left =
            Matrix::of(size, |row, column| f64::from(u8::from(row == column)) - self[(row, column)]);
        let mut right = of.clone();
        for place in 0..size {
            let pivot = left[(place, place)];
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            for row in (0..size).filter(|row| *row != place) {
                let factor = left[(row, place)] / pivot;
                for column in 0..size {
                    let [above, beside] = [left[(place, column)], right[(place, column)]];
                    left[(row, column)] -= factor * above;
                    right[(row, column)] -= factor * beside;
                }
            }
        }
        Some(Matrix::of(size, |row, column| right[(row, column)] / left[(row, row)]))
    }

    /// Sums of its rows.
    pub(super) fn row_sums(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.size).map(|row| (0..self.size).map(|column| self[(row, column)]).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_determinant_changes_sign_with_two_rows() {
        let entries = [[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 0.0]];
        let of = |rows: [usize; 3]| {
            Matrix::of(3, |row, column| Complex64::new(entries[rows[row]][column], 0.0)).determinant()
        };
        assert!((of([0, 1, 2]) - 25.0).norm() < 1e-12, "{}", of([0, 1, 2]));
        assert!((of([1, 0, 2]) + 25.0).norm() < 1e-12);
    }

    /// The expansion along each column is the determinant, and zero with another column's cofactors.
    #[test]
    fn a_determinant_is_expanded_by_its_cofactors() {
        let entries = [[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 0.0]];
        let matrix = Matrix::of(3, |row, column| Complex64::new(entries[row][column], 0.0));
        let cofactors = matrix.clone().cofactors();
        for (one, other) in [(0, 0), (1, 1), (2, 2), (0, 1), (2, 0)] {
            let sum: Complex64 = (0..3).map(|row| matrix[(row, one)] * cofactors[(row, other)]).sum();
            assert!((sum - if one == other { 25.0 } else { 0.0 }).norm() < 1e-12, "{one} {other} {sum}");
        }
    }

    /// The sum of the powers of K.
    #[test]
    fn bounds_are_amplified_by_the_sum_of_powers() {
        let bounds = Matrix::of(2, |row, column| if row == column { 0.2 } else { 0.5 });
        let identity = Matrix::of(2, |row, column| f64::from(u8::from(row == column)));
        let found = bounds.amplified(&identity).unwrap();
        let determinant = 0.8 * 0.8 - 0.25;
        assert!((found[(0, 0)] - 0.8 / determinant).abs() < 1e-12);
        assert!((found[(0, 1)] - 0.5 / determinant).abs() < 1e-12);
        let large = Matrix::filled(2, 0.5);
        assert!(large.amplified(&identity).is_none(), "its spectral radius is 1");
    }
}
