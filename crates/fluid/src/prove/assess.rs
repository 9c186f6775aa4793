//! A loop and its analysis: roots, Nyquist's count, margins.

use super::{Model, Part, Verdict};
use crate::linear::loops::Loop;
use crate::linear::margins::Margins;
use crate::linear::meter::Meter;
use crate::linear::nyquist::{self, Count};
use crate::linear::roots::{self, Rightmost};
use std::sync::Arc;

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
    /// The closed loop's rightmost roots; none where they are unknown.
    pub roots: Option<Rightmost>,
    /// Nyquist's count; none where it cannot be taken.
    pub count: Option<Count>,
    /// Evaluations of the plant that all of that took.
    pub evaluations: u64,
    /// Where the evaluations ran out, if they did.
    pub spent_at: Option<&'static str>,
    meter: Arc<Meter>,
}

impl Assessed {
    /// Of a loop whose evaluations `meter` counts.
    pub(super) fn new(named: (Model, Part, bool), of: AnyLoop, meter: &Arc<Meter>) -> Assessed {
        let (model, part, sampled) = named;
        let mut spent_at = None;
        let mut spent = |stage| {
            if meter.is_used_up() {
                spent_at.get_or_insert(stage);
            }
        };
        let count = nyquist::count(&of);
        spent("Nyquist's count");
        let roots = roots::rightmost(&of, ROOTS);
        spent("its rightmost roots");
        let margins = Margins::of(&of);
        spent("its margins");
        let (evaluations, meter) = (meter.spent(), Arc::clone(meter));
        Assessed { model, part, sampled, of, margins, roots, count, evaluations, spent_at, meter }
    }

    /// The verdict on which count and roots agree.
    pub fn verdict(&self) -> Verdict {
        if let Some(stage) = self.spent_at {
            return Verdict::NotProven(spent(&self.meter, stage));
        }
        let (Some(count), Some(found)) = (self.count, &self.roots) else {
            return Verdict::NotProven(self.unknown().into());
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
        match (right, &self.margins) {
            (0, Some(_)) => Verdict::Stable,
            // Margins that are unknown would be taken for none that limit.
            (0, None) => Verdict::NotProven(
                "its frequency response cannot be followed, so that its margins are unknown".into(),
            ),
            _ => Verdict::Unstable,
        }
    }

    /// Why there is no count, or no roots.
    fn unknown(&self) -> &'static str {
        if self.count.is_none() {
            "no contour can be drawn round its right half plane: a root lies on it, or the gain never falls"
        } else {
            "its rightmost roots cannot be told apart"
        }
    }

    /// The rightmost root's real part, 1/s.
    pub fn rightmost(&self) -> Option<f64> {
        self.roots.as_ref()?.roots.first().map(|root| root.re)
    }

    /// The loop for a picture, which has as many evaluations as the analysis had.
    pub fn drawn(&self) -> &AnyLoop {
        self.meter.renew();
        &self.of
    }
}

/// The reason of what was given up.
pub(super) fn spent(meter: &Meter, stage: &str) -> String {
    format!("{} evaluations spent at {stage}", meter.limit())
}

/// A share of a root below which nothing is told from rounding.
const ON_AXIS: f64 = 1e-9;
/// So many roots are looked for at least.
const ROOTS: usize = 4;
