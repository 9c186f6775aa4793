//! A link of a network under its law.

use super::super::{CustomLaws, law_equilibrium, setting};
use super::solution::LARGEST;
use super::{EquilibriumForm, NetLink, State};
use sojourn_scenario::Scenario;
use sojourn_units::Prob;

impl NetLink {
    pub(super) fn new(scenario: &Scenario, number: usize, own: Option<&CustomLaws>) -> NetLink {
        let link = &scenario.topology.links[number];
        let context = scenario.context(number);
        let own = own.and_then(|own| own.at(scenario, number));
        let is_custom = own.is_some();
        let law =
            own.or_else(|| link.qdisc.as_ref().and_then(|qdisc| Some(qdisc.unshaped().single()?.law())));
        let capacity = setting::capacity(link, context.packet);
        let form = match &law {
            Some(law) if law.analysis().steady_state_p(0.0).is_some() => EquilibriumForm::Curve,
            // A custom law is verified against its target where it is certified, and evaluated at its equilibrium
            // alone.
            Some(law) if is_custom || law_equilibrium::holds_target(law.as_ref(), &context, capacity) => {
                EquilibriumForm::Target
            }
            _ => EquilibriumForm::Unknown,
        };
        let mut at = NetLink {
            number,
            name: link.name.clone(),
            capacity,
            packet: context.packet,
            limit: context.limit,
            law,
            form,
            empty: State { p: 0.0, backlog: 0.0, marks: true, carries: 1.0 },
            data: Vec::new(),
            back: Vec::new(),
        };
        at.empty = at.grown(0.0);
        at
    }

    pub(super) fn state(&self, p: f64, backlog: f64) -> State {
        let marks = self.law.as_ref().is_none_or(|law| law.analysis().marks_at(Prob::clamped(p)));
        State { p, backlog, marks, carries: 1.0 }
    }

    /// State at a backlog of a curve, or below a target.
    pub(super) fn grown(&self, backlog: f64) -> State {
        self.state(self.on_curve(backlog), backlog)
    }

    /// p of a curve; below a target 0.
    pub(super) fn on_curve(&self, backlog: f64) -> f64 {
        self.law.as_ref().and_then(|law| law.analysis().steady_state_p(backlog)).map_or(0.0, Prob::get)
    }

    /// First power of two at which `exceeds` is false, at most the buffer's limit, packets.
    pub(super) fn doubled(&self, mut exceeds: impl FnMut(f64) -> bool) -> f64 {
        let mut backlog = 1.0_f64;
        while backlog < self.limit.min(LARGEST) && exceeds(backlog) {
            backlog *= 2.0;
        }
        backlog.min(self.limit)
    }
}
