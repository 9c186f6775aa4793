//! Response of the backlog to a step of load or rate under the law: equations (1) to (3) of
//! [`crate::linear::disturbed`] in the judged loop.
//!
//! With D that response while p is held, and dq* the change of the law's target with the link's rate,
//!
//! ```text
//! dq = D / (1 + L) + L / (1 + L) e^(s w) dq* / s
//! ```
//!
//! where w is the wait of a law that sees sojourns late. A sampled law answers as its baseband does: D falls so fast that
//! what lies beyond half of the sampling rate is left out.

use super::step_response::{StepResponse, horizon, in_s};
use super::{Certificate, law_equilibrium};
use crate::linear::complex::{Complex64, exp};
use crate::linear::disturbed::Disturbance;
use crate::linear::plant::Exact;
use sojourn_units::{Rate, Time};

impl Certificate {
    /// Deviation of the backlog after a step at time 0, until it has settled or visibly diverged; none without a judged
    /// loop whose poles are known.
    pub fn response_to(&self, by: Disturbance) -> Option<StepResponse> {
        let (judged, equilibrium) = (self.judged()?, self.equilibrium.as_ref()?);
        let plant = Exact::new(&self.setting.link, equilibrium);
        let wait = equilibrium.backlog / self.setting.link.capacity;
        let (until, right) = (horizon(judged)?, judged.rightmost()?.max(0.0));
        let (moved, late) = (self.target_moved(by), self.sees_late().unwrap_or(0.0));
        let of = judged.drawn();
        let answer = |s: Complex64| {
            let part = of.roughly(s);
            let held = plant.disturbed(by, (wait, &equilibrium.windows), s) * part.below;
            (held + part.above * exp(s * late) * moved / s) / part.characteristic()
        };
        Some(in_s(&answer, until, right))
    }

    /// Change of the law's target with the link's rate, packets.
    fn target_moved(&self, by: Disturbance) -> f64 {
        let Disturbance::Capacity(more) = by else { return 0.0 };
        let factor = 1.0 + more / self.setting.link.capacity;
        let mut law: Box<dyn sojourn_aqm::Law> = self.own.clone();
        let before = law.analysis().target_packets();
        let rate = Rate::from_bits_per_second(self.setting.context.rate.bits_per_second() * factor);
        law.on_link_change(Time::ZERO, rate);
        before.zip(law.analysis().target_packets()).map_or(0.0, |(before, after)| after - before)
    }

    /// Wait after which the law sees the backlog, s; none where it sees it at once.
    fn sees_late(&self) -> Option<f64> {
        let equilibrium = self.equilibrium.as_ref()?;
        let point = law_equilibrium::operating_point(&self.setting, equilibrium);
        let linear = self.own.analysis().linear(&point)?;
        super::wait_seen(&self.setting, equilibrium, &linear)
    }
}
