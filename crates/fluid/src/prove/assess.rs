//! A loop and its analysis: poles, Nyquist's count, margins.

use super::{Part, PlantModel, Verdict};
use crate::linear::loops::Loop;
use crate::linear::margins::Margins;
use crate::linear::meter::Meter;
use crate::linear::nyquist::{self, Count};
use crate::linear::poles::{self, Rightmost};
use std::sync::Arc;

/// A loop that may be sent between threads.
pub type AnyLoop = Box<dyn Loop + Send>;

/// A loop and the results of its analysis.
pub struct Assessed {
    /// Plant of the loop.
    pub model: PlantModel,
    /// Loop of a cascade.
    pub part: Part,
    /// True if it is a sampled-data loop.
    pub sampled: bool,
    /// Of a network: the link at which its loop is broken.
    pub place: Option<String>,
    /// The loop itself.
    pub of: AnyLoop,
    /// Margins; none where the loop has no known bound.
    pub margins: Option<Margins>,
    /// Rightmost poles of the closed loop; none where they are unknown.
    pub poles: Option<Rightmost>,
    /// Nyquist's count; none where it cannot be taken.
    pub count: Option<Count>,
    /// Evaluations of the plant that the analysis took.
    pub evaluations: u64,
    /// Stage at which the evaluations ran out, if they did.
    pub spent_at: Option<&'static str>,
    meter: Arc<Meter>,
}

impl Assessed {
    /// Analyses a loop whose evaluations `meter` counts.
    pub(super) fn new(named: (PlantModel, Part, bool), of: AnyLoop, meter: &Arc<Meter>) -> Assessed {
        Assessed::analysed(named, of, meter, |of| poles::rightmost(of, POLES))
    }

    /// Analyses the loop of a network broken at the link called `place`, given the poles of the closed loop.
    pub(super) fn of_link(
        named: (PlantModel, Part, bool),
        place: String,
        of: AnyLoop,
        (poles, meter): (Option<Rightmost>, &Arc<Meter>),
    ) -> Assessed {
        let of = Assessed::analysed(named, of, meter, |_| poles);
        Assessed { place: Some(place), ..of }
    }

    fn analysed(
        named: (PlantModel, Part, bool),
        of: AnyLoop,
        meter: &Arc<Meter>,
        poles: impl FnOnce(&AnyLoop) -> Option<Rightmost>,
    ) -> Assessed {
        let (model, part, sampled) = named;
        let mut spent_at = None;
        let mut spent = |stage| {
            if meter.is_used_up() {
                spent_at.get_or_insert(stage);
            }
        };
        let count = nyquist::count(&of);
        spent("Nyquist's count");
        let poles = poles(&of);
        spent("its rightmost poles");
        let margins = Margins::beside(&of, poles.as_ref().map_or(&[], |found| &found.poles));
        spent("its margins");
        let (evaluations, meter) = (meter.spent(), Arc::clone(meter));
        Assessed {
            model,
            part,
            sampled,
            place: None,
            of,
            margins,
            poles,
            count,
            evaluations,
            spent_at,
            meter,
        }
    }

    /// Verdict, where count and poles agree.
    pub fn verdict(&self) -> Verdict {
        if let Some(stage) = self.spent_at {
            return Verdict::NotProven(spent(&self.meter, stage));
        }
        let (Some(count), Some(found)) = (self.count, &self.poles) else {
            return Verdict::NotProven(self.unknown().into());
        };
        if found.poles.iter().any(|pole| pole.re.abs() <= ON_AXIS * pole.norm()) {
            return Verdict::NotProven("a pole lies on the imaginary axis, to rounding".into());
        }
        // At the edge of a sampled-data loop's strip a pole and its conjugate coincide.
        let edge = self.of.band().map_or(f64::INFINITY, |band| band * (1.0 - ON_AXIS));
        let pairs = |im: f64| if im > 0.0 && im < edge { 2 } else { 1 };
        let right: i64 = found.poles.iter().filter(|pole| pole.re > 0.0).map(|pole| pairs(pole.im)).sum();
        if right != count.closed {
            return Verdict::NotProven(format!(
                "Nyquist's criterion counts {} poles in the right half plane, and {right} are found there",
                count.closed
            ));
        }
        match (right, &self.margins) {
            (0, Some(_)) => Verdict::Stable,
            // Unknown margins would be taken for unlimited ones.
            (0, None) => Verdict::NotProven(
                "its frequency response cannot be followed, so that its margins are unknown".into(),
            ),
            _ => Verdict::Unstable,
        }
    }

    /// Reason of a missing count, or of missing poles.
    fn unknown(&self) -> &'static str {
        if self.count.is_none() {
            nyquist::uncounted(&self.of)
        } else {
            "its rightmost poles cannot be separated"
        }
    }

    /// Real part of the rightmost pole, 1/s.
    pub fn rightmost(&self) -> Option<f64> {
        self.poles.as_ref()?.poles.first().map(|pole| pole.re)
    }

    /// The loop for a plot, with as many evaluations as the analysis had.
    pub fn drawn(&self) -> &AnyLoop {
        self.meter.renew();
        &self.of
    }
}

/// Reason of an analysis that was given up.
pub(super) fn spent(meter: &Meter, stage: &str) -> String {
    format!("{} evaluations spent at {stage}", meter.limit())
}

/// Distance from the axis, relative to the pole, that rounding hides.
const ON_AXIS: f64 = 1e-9;
/// Least number of poles to find.
pub(super) const POLES: usize = 4;
