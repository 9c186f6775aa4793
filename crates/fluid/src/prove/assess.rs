//! A loop, and all that is asked of it.

use super::{Model, Part, Verdict};
use crate::linear::loops::Loop;
use crate::linear::margins::Margins;
use crate::linear::nyquist::{self, Count};
use crate::linear::roots::{self, Rightmost};

/// A loop that can go from thread to thread.
pub type AnyLoop = Box<dyn Loop + Send>;

/// A loop and what was found of it.
pub struct Assessed {
    /// Of which plant it is.
    pub model: Model,
    /// Which loop of a cascade.
    pub part: Part,
    /// Whether the law runs in samples there.
    pub sampled: bool,
    /// The loop itself.
    pub of: AnyLoop,
    /// Its margins; none where no bound of it is known.
    pub margins: Option<Margins>,
    /// The closed loop's rightmost roots; none where they cannot be told.
    pub roots: Option<Rightmost>,
    /// Nyquist's count; none where it cannot be taken.
    pub count: Option<Count>,
}

impl Assessed {
    pub(super) fn new(model: Model, part: Part, sampled: bool, of: AnyLoop) -> Assessed {
        let margins = Margins::of(&of);
        let roots = roots::rightmost(&of, ROOTS);
        let count = nyquist::count(&of);
        Assessed { model, part, sampled, of, margins, roots, count }
    }

    /// What the count and the roots say together.
    pub fn verdict(&self) -> Verdict {
        let Some(count) = self.count else {
            return Verdict::NotProven(
                "no contour can be drawn round its right half plane: a root lies on it, or the gain never falls".into(),
            );
        };
        let Some(found) = &self.roots else {
            return Verdict::NotProven("its rightmost roots cannot be told apart".into());
        };
        if found.roots.iter().any(|root| root.re.abs() <= ON_AXIS * root.norm()) {
            return Verdict::NotProven("a root lies on the imaginary axis, as far as rounding tells".into());
        }
        // At the edge of a sampled loop's strip a root and its conjugate are one.
        let edge = self.of.band().map_or(f64::INFINITY, |band| band * (1.0 - ON_AXIS));
        let pairs = |im: f64| if im > 0.0 && im < edge { 2 } else { 1 };
        let right: i64 = found.roots.iter().filter(|root| root.re > 0.0).map(|root| pairs(root.im)).sum();
        if right != count.closed {
            return Verdict::NotProven(format!(
                "Nyquist's criterion counts {} roots in the right half plane, and {right} are found there",
                count.closed
            ));
        }
        if right == 0 { Verdict::Stable } else { Verdict::Unstable }
    }

    /// The rightmost root's real part, 1/s.
    pub fn rightmost(&self) -> Option<f64> {
        self.roots.as_ref()?.roots.first().map(|root| root.re)
    }
}

/// A share of a root below which nothing is told from rounding.
const ON_AXIS: f64 = 1e-9;
/// So many roots are looked for at least.
const ROOTS: usize = 4;
