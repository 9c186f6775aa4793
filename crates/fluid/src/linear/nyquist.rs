//! The Nyquist criterion: number of poles of the closed loop in the right half plane.
//!
//! 1 + L encircles zero, along a contour round the right half plane, as often as it has more zeros than poles in it
//! (H. Nyquist, "Regeneration theory", Bell System Technical Journal 11, 1932). The contour runs just right of the
//! imaginary axis, so that integrators are left of it. To count closed-loop poles alone it is the axis itself, since
//! no pole of L is in the way. It ends where |L| < 1. For a sampled-data loop it bounds the strip |Im s| <= pi / T,
//! whose upper and lower borders are equivalent; from the frequency where |L| < 1 up to there 1 + L stays right of 0,
//! so that its angle at that point is its whole turn.

use super::complex::{Complex64, angle};
use super::loops::Loop;
use super::winding::{Polyline, rounds};

/// Counts of the criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Encirclements of zero by 1 + L.
    pub encirclements: i64,
    /// Poles of L in the right half plane.
    pub open: i64,
    /// Poles of the closed loop in the right half plane: the sum.
    pub closed: i64,
}

/// Counts; none where the loop has no bound or a closed-loop pole lies on the contour.
pub fn count(of: &dyn Loop) -> Option<Count> {
    HAIRS.iter().find_map(|hair| {
        let contour = Contour::right_of(of, 0.0, *hair)?;
        let half = of.turn_of_closed(&contour.corners)? + contour.turn_beyond(of)?;
        let open = of.open_poles(contour.limit()).or_else(|| {
            let whole = Polyline { corners: &contour.corners, delay: of.delay_of_below() };
            Some(rounds(2.0 * whole.turn(&|s| of.factors(s).times(of.below(s)))?))
        })?;
        let encirclements = rounds(2.0 * half);
        Some(Count { encirclements, open, closed: encirclements + open })
    })
}

/// Reason why [`count`] has none.
pub fn uncounted(of: &dyn Loop) -> &'static str {
    let Some(contour) = Contour::right_of(of, 0.0, HAIRS[0]) else {
        return "no contour can be drawn round its right half plane: its gain is not known to fall with frequency";
    };
    if (Polyline { corners: &contour.corners, delay: of.delay_of_closed() }).is_too_long() {
        return "the contour round its right half plane takes more than a million steps: its delays turn too often up to where its gain is below 1";
    }
    "its response cannot be followed on the contour round its right half plane: a pole lies on it, or values are out of range"
}

/// Number of poles of the closed loop with Re s > `limit`, 1/s: the fast way, to six digits and without L's poles.
/// None where one lies on the line to rounding.
pub fn right_of(of: &dyn Loop, limit: f64) -> Option<i64> {
    let contour = Contour::right_of(of, limit, 0.0)?;
    let inner = Polyline { corners: &contour.corners, delay: of.delay_of_parts() };
    let mut half = inner.turn(&|s| of.factors(s).times(of.roughly(s).characteristic()))?;
    if let Some(beyond) = contour.beyond() {
        // The characteristic function is 1 + L times L's denominator.
        half += of.turn_of_below(beyond)?;
        half += contour.turn_beyond(of)?;
    }
    Some(rounds(2.0 * half))
}

/// The upper half of a contour; the lower one is its mirror image.
struct Contour {
    /// Corners where |L| may be 1.
    corners: Vec<Complex64>,
    /// Start of a sampled-data loop's contour, above the first of the corners; there |L| < 1.
    top: Option<Complex64>,
}

impl Contour {
    fn right_of(of: &dyn Loop, limit: f64, hair: f64) -> Option<Contour> {
        let radius = of.reach(1.0, -limit)?;
        let limit = limit + hair * radius;
        let place = Complex64::new;
        Some(if let Some(band) = of.band() {
            // Downwards on the left; on the right nothing winds.
            let top = (radius < band).then(|| place(limit, band));
            Contour { corners: vec![place(limit, radius), place(limit, 0.0)], top }
        } else {
            let right = radius.max(limit + radius);
            let corners =
                vec![place(right, 0.0), place(right, radius), place(limit, radius), place(limit, 0.0)];
            Contour { corners, top: None }
        })
    }

    /// The part where |L| < 1.
    fn beyond(&self) -> Option<[Complex64; 2]> {
        Some([self.top?, self.corners[0]])
    }

    /// Re s of its left border.
    fn limit(&self) -> f64 {
        self.corners[self.corners.len() - 1].re
    }

    /// Turn of 1 + L on that part: at its top L is real.
    fn turn_beyond(&self, of: &dyn Loop) -> Option<f64> {
        if self.top.is_none() {
            return Some(0.0);
        }
        let value = of.value(self.corners[0]);
        value.is_finite().then(|| angle(1.0 + value))
    }
}

/// Distance of the contour right of the imaginary axis, relative to its radius; larger where two integrators of a
/// sampled-data loop suffer from cancellation.
const HAIRS: [f64; 2] = [1e-9, 1e-7];
