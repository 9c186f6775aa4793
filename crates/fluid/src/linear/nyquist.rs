//! The Nyquist criterion: how many roots of the closed loop are in the right half plane.
//!
//! 1 + L goes round zero, along a contour round the right half plane, as often as it has more zeros
//! than poles in it (H. Nyquist, "Regeneration theory", Bell System Technical Journal 11, 1932). The
//! contour runs a hair right of the imaginary axis, so that integrators are left of it. Where roots alone are counted it is the
//! axis itself, since no pole is in the way. It ends where |L| < 1, and with a sampled loop it is the strip |Im s| <= pi / T, whose upper and lower border are
//! the same.

use super::complex::Complex64;
use super::loops::Loop;
use super::winding::{Way, rounds};

/// What the criterion counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How often 1 + L goes round zero.
    pub encirclements: i64,
    /// Poles of L in the right half plane.
    pub open: i64,
    /// Roots of the closed loop there: the sum.
    pub closed: i64,
}

/// Counts; none where the loop cannot be bounded or a root lies on the contour.
pub fn count(of: &dyn Loop) -> Option<Count> {
    HAIRS.iter().find_map(|hair| {
        let contour = Contour::right_of(of, 0.0, *hair)?;
        let encirclements = contour.rounds(&|s| 1.0 + of.at(s).value())?;
        let open = contour.rounds(&|s| of.at(s).below)?;
        Some(Count { encirclements, open, closed: encirclements + open })
    })
}

/// The number of roots of the closed loop with Re s > `limit`, 1/s: the quick way, to six digits and without L's poles.
/// None where one lies there as far as rounding tells.
pub fn right_of(of: &dyn Loop, limit: f64) -> Option<i64> {
    Contour::right_of(of, limit, 0.0)?.rounds(&|s| of.roughly(s).characteristic())
}

/// The upper half of a contour; the lower one is its mirror image.
struct Contour {
    corners: Vec<Complex64>,
    delay: f64,
}

impl Contour {
    fn right_of(of: &dyn Loop, limit: f64, hair: f64) -> Option<Contour> {
        let radius = of.reach(1.0, -limit)?;
        let limit = limit + hair * radius;
        let place = Complex64::new;
        let corners = if let Some(band) = of.band() {
            // Downwards at the left; what there is at the right does not wind.
            vec![place(limit, band), place(limit, 0.0)]
        } else {
            let right = radius.max(limit + radius);
            vec![place(right, 0.0), place(right, radius), place(limit, radius), place(limit, 0.0)]
        };
        Some(Contour { corners, delay: of.delay() })
    }

    fn rounds(&self, f: &impl Fn(Complex64) -> Complex64) -> Option<i64> {
        let half = Way { corners: &self.corners, delay: self.delay }.turn(f)?;
        Some(rounds(2.0 * half))
    }
}

/// How far right of the imaginary axis the contour is, by its radius; farther where two integrators of a sampled loop are
/// a difference of near numbers.
const HAIRS: [f64; 2] = [1e-9, 1e-7];
