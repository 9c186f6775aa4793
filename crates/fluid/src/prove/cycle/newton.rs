//! Newton's method with differences and shorter steps.

/// Zero of `residuals` near `start`; none where the method does not converge.
pub(super) fn zero(residuals: &dyn Fn(&[f64]) -> Vec<f64>, start: &[f64]) -> Option<Vec<f64>> {
    let (mut at, mut off) = (start.to_vec(), residuals(start));
    for _ in 0..MOST {
        let size = norm(&off);
        if size < CLOSE {
            return Some(at);
        }
        let step = solved(jacobian(residuals, (&at, &off)), off.clone())?;
        let mut factor = 1.0;
        let (next, there) = loop {
            let next: Vec<f64> = at.iter().zip(&step).map(|(value, by)| value - factor * by).collect();
            let there = residuals(&next);
            if norm(&there) < size {
                break (next, there);
            }
            factor *= 0.5;
            if factor < SHORTEST {
                return None;
            }
        };
        (at, off) = (next, there);
    }
    None
}

/// Rows of derivatives by forward differences.
fn jacobian(residuals: &dyn Fn(&[f64]) -> Vec<f64>, (at, off): (&[f64], &[f64])) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; at.len()]; off.len()];
    let mut moved = at.to_vec();
    for (column, value) in at.iter().enumerate() {
        let by = DIFFERENCE * value.abs().max(DIFFERENCE.sqrt());
        moved[column] = value + by;
        for (row, (there, here)) in rows.iter_mut().zip(residuals(&moved).iter().zip(off)) {
            row[column] = (there - here) / by;
        }
        moved[column] = *value;
    }
    rows
}

/// Solution of linear equations by elimination with row pivots; none where they are singular.
fn solved(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let count = right.len();
    for column in 0..count {
        let pivot =
            (column..count).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        if rows[pivot][column] == 0.0 || rows[pivot][column].is_nan() {
            return None;
        }
        rows.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..count {
            let factor = rows[row][column] / rows[column][column];
            if factor != 0.0 {
                let (above, below) = rows.split_at_mut(row);
                for (own, of_pivot) in below[0][column..].iter_mut().zip(&above[column][column..]) {
                    *own -= factor * of_pivot;
                }
                right[row] -= factor * right[column];
            }
        }
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|column| rows[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / rows[row][row];
    }
    right.iter().all(|value| value.is_finite()).then_some(right)
}

fn norm(of: &[f64]) -> f64 {
    let sum: f64 = of.iter().map(|value| value * value).sum();
    if sum.is_nan() { f64::INFINITY } else { (sum / of.len() as f64).sqrt() }
}

/// Most iterations, the residual of a zero, the relative difference, and the shortest step.
const MOST: usize = 40;
const CLOSE: f64 = 1e-10;
const DIFFERENCE: f64 = 1e-7;
const SHORTEST: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_equations_are_solved_with_pivots() {
        let rows = vec![vec![0.0, 2.0, 1.0], vec![1.0, -1.0, 0.0], vec![3.0, 0.0, -2.0]];
        let found = solved(rows, vec![7.0, -1.0, -3.0]).unwrap();
        for (value, exact) in found.iter().zip([1.0, 2.0, 3.0]) {
            assert!((value - exact).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(solved(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 1.0]), None);
    }

    #[test]
    fn a_zero_of_two_curves_is_found() {
        // The circle of radius 2 and the hyperbola x y = 1: x^2 = 2 + sqrt(3).
        let curves = |at: &[f64]| vec![at[0] * at[0] + at[1] * at[1] - 4.0, at[0] * at[1] - 1.0];
        let found = zero(&curves, &[2.0, 0.3]).unwrap();
        assert!((found[0] * found[0] - (2.0 + 3.0_f64.sqrt())).abs() < 1e-9, "{found:?}");
        assert_eq!(zero(&|at: &[f64]| vec![at[0] * at[0] + 1.0], &[1.0]), None);
    }
}
