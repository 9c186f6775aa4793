//! Solution of equations (1) to (4): one link's queue and price after another, until none moves; and its residual.

use super::super::law_equilibrium;
use super::{EquilibriumForm, FULL, Net, NetLink, Obstacle, State};
use crate::linear::equilibrium::{NoEquilibrium, Signal};
use crate::linear::meter::Meter;
use sojourn_units::Prob;

impl Net {
    /// Solves equations (3) and (4); the certified link's state may be given.
    pub(super) fn solved(&self, here: Option<State>, meter: &Meter) -> Result<Vec<State>, Obstacle> {
        let mut states: Vec<State> = self.links.iter().map(|at| at.empty).collect();
        if let Some(here) = here {
            states[self.here] = here;
        }
        let mut full: Vec<usize> = Vec::new();
        for _ in 0..=2 * self.links.len() {
            let open = (0..self.links.len())
                .filter(|place| !full.contains(place) && (here.is_none() || *place != self.here));
            let loads: Vec<(usize, f64)> = open.map(|place| (place, self.load(place, &states))).collect();
            // Of equally full links the first: the others are downstream.
            let most = loads.iter().map(|(_, load)| *load).fold(FULL, f64::max);
            let Some((fullest, _)) =
                loads.iter().find(|(_, load)| *load > FULL && *load >= most * (1.0 - ALIKE))
            else {
                return self.known(&full, states);
            };
            full.push(*fullest);
            self.settle(&full, &mut states, meter)?;
            full.retain(|place| self.is_full(*place, &states));
        }
        Err(Obstacle::Unproven("the rates of the network's links do not settle".into()))
    }

    /// The states, where every full link's law declares its equilibrium.
    fn known(&self, full: &[usize], states: Vec<State>) -> Result<Vec<State>, Obstacle> {
        for &place in full.iter().filter(|place| **place != self.here) {
            let NetLink { name, .. } = &self.links[place];
            if self.links[place].form == EquilibriumForm::Unknown {
                return Err(Obstacle::Unproven(format!(
                    "{name} is full, and declares no equilibrium, so that the rates are unknown"
                )));
            }
        }
        // Where no other link is full the certified link's own analysis says which of its limits is in the way.
        let alone = full.iter().all(|place| *place == self.here);
        match full.iter().copied().filter(|place| states[*place].carries < 1.0).min() {
            Some(place) if !alone => Err(self.saturated(place, &states)),
            _ => Ok(states),
        }
    }

    /// A link to which more comes than it carries even at p = 1.
    fn saturated(&self, place: usize, states: &[State]) -> Obstacle {
        let NetLink { name, capacity, .. } = &self.links[place];
        let least = self.load(place, states) * capacity;
        let error = NoEquilibrium::Overload { least, capacity: *capacity }.error();
        let short = if place == self.here {
            "no equilibrium: saturated at p = 1".into()
        } else {
            format!("{name} is saturated at p = 1")
        };
        Obstacle::NoEquilibrium(short, error.at(name))
    }

    /// Raises or lowers the full links, one after another, until none moves.
    fn settle(&self, full: &[usize], states: &mut [State], meter: &Meter) -> Result<(), Obstacle> {
        loop {
            let mut moved = 0.0_f64;
            for &place in full {
                let before = states[place];
                self.raise(place, states, meter)?;
                let after = states[place];
                let by = |one: f64, other: f64, least: f64| (one - other).abs() / one.max(other).max(least);
                let changes = [
                    by(before.p, after.p, f64::MIN_POSITIVE),
                    by(before.backlog, after.backlog, 1.0),
                    by(before.carries, after.carries, f64::MIN_POSITIVE),
                ];
                moved = changes.into_iter().fold(moved, f64::max);
            }
            if moved < SETTLED {
                return Ok(());
            }
        }
    }

    /// Brings a link to where it is just full, given the others' states; empties it where it never is.
    fn raise(&self, place: usize, states: &mut [State], meter: &Meter) -> Result<(), Obstacle> {
        let at = &self.links[place];
        let crossed: usize = at.data.iter().map(|class| self.classes[*class].data.len()).sum();
        if !meter.spend(crossed as u64 * 2 * u64::from(HALVINGS)) {
            return Err(Obstacle::Spent);
        }
        if !self.exceeds(place, at.empty, states) {
            return Ok(());
        }
        // The queue grows first, until that is enough; then p does.
        let top = match at.form {
            EquilibriumForm::Curve => at.doubled(|backlog| self.exceeds(place, at.grown(backlog), states)),
            EquilibriumForm::Target => self.at_target(place, at.state(0.0, 0.0), states).backlog,
            EquilibriumForm::Unknown => 0.0,
        };
        if self.exceeds(place, at.grown(top), states) {
            self.signal(place, [at.on_curve(top), 1.0], top, states);
            return Ok(());
        }
        let (mut low, mut high) = (0.0, top);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.exceeds(place, at.grown(middle), states) { low = middle } else { high = middle }
        }
        states[place] = at.grown(high);
        let jump = [low, high].map(|backlog| at.on_curve(backlog));
        if jump[1] > jump[0] && self.load(place, states) < 1.0 - JUMP {
            self.signal(place, jump, high, states);
        }
        Ok(())
    }

    /// Brings p to where the link is just full, within these bounds, at a backlog of `top` or at the law's target.
    fn signal(&self, place: usize, [from, to]: [f64; 2], top: f64, states: &mut [State]) {
        let at = &self.links[place];
        let held = |p: f64, states: &[State]| {
            let state = at.state(p, top);
            if at.form == EquilibriumForm::Target { self.at_target(place, state, states) } else { state }
        };
        // Bisects the logarithm: p may be small.
        let (mut low, mut high) = (from.max(LEAST_P), to);
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            if self.exceeds(place, held(middle, states), states) { low = middle } else { high = middle }
        }
        let found = held(high, states);
        states[place] = found;
        let load = self.load(place, states);
        if high == 1.0 && load > FULL {
            states[place].carries = 1.0 / load;
        }
    }

    /// Sets a link's state; whether its load then exceeds its rate.
    fn exceeds(&self, place: usize, state: State, states: &mut [State]) -> bool {
        states[place] = state;
        self.load(place, states) > 1.0
    }

    /// A state of a law with a target at its equilibrium backlog for this p and signal.
    fn at_target(&self, place: usize, state: State, states: &[State]) -> State {
        let at = &self.links[place];
        let State { p, marks, .. } = state;
        let (mut comes, mut passes) = (0.0, 0.0);
        for class in at.data.iter().map(|number| &self.classes[*number]) {
            let rate = class.rate(states, &self.links);
            comes += rate;
            passes += rate * if class.class.ecn && marks { 1.0 } else { 1.0 - p };
        }
        let signal = match marks {
            false => Signal::Drop,
            true if p == 0.0 => Signal::Mark,
            true => Signal::Both { passes: passes / comes },
        };
        let stands =
            at.law.as_ref().and_then(|law| law.analysis().equilibrium_backlog(Prob::clamped(p), signal));
        State { backlog: stands.unwrap_or(0.0).clamp(0.0, at.limit), ..state }
    }

    /// A full link whose law marks at the p that dropped packets need and drops at the p that marked ones need, the other
    /// links as they are: it has no constant p.
    pub(in crate::prove) fn alternation(&self, full: &[usize], states: &[State]) -> Option<String> {
        full.iter().find_map(|&place| {
            let NetLink { name, law, .. } = &self.links[place];
            let law = law.as_ref()?;
            let needed = [true, false].map(|marks| self.needed(place, marks, states));
            let marks = needed.map(|p| law.analysis().marks_at(Prob::clamped(p)));
            (marks == [false, true])
                .then(|| format!("{name}: {}", law_equilibrium::mark_drop_limit_cycle(law.as_ref(), needed)))
        })
    }

    /// p at which a link would be just full under this signal, the other links as they are.
    fn needed(&self, place: usize, marks: bool, states: &[State]) -> f64 {
        let (at, mut states) = (&self.links[place], states.to_vec());
        let is_curve = at.form == EquilibriumForm::Curve;
        let (mut low, mut high) = if is_curve { (0.0, at.limit.min(LARGEST)) } else { (LEAST_P, 1.0) };
        let state = |middle: f64, states: &[State]| {
            if is_curve {
                return State { marks, ..at.grown(middle) };
            }
            let state = State { marks, ..at.state(middle, 0.0) };
            if at.form == EquilibriumForm::Target { self.at_target(place, state, states) } else { state }
        };
        for _ in 0..HALVINGS {
            let middle = if is_curve { f64::midpoint(low, high) } else { (low * high).sqrt() };
            let exceeds = self.exceeds(place, state(middle, &states), &mut states);
            if exceeds { low = middle } else { high = middle }
        }
        state(high, &states).p
    }

    /// Load of a link, relative to its rate, with the ACKs that share it with data.
    pub(in crate::prove) fn load(&self, place: usize, states: &[State]) -> f64 {
        let classes = self.links[place].data.iter().map(|class| &self.classes[*class]);
        let data: f64 = classes.map(|class| class.brings(place, states, &self.links)).sum();
        if self.links[place].data.is_empty() { data } else { data + self.ack_load(place, states) }
    }

    /// Load of a link by the ACKs that cross it.
    pub(super) fn ack_load(&self, place: usize, states: &[State]) -> f64 {
        let classes = self.links[place].back.iter().map(|class| &self.classes[*class]);
        classes.map(|class| class.brings_acks(place, states, &self.links)).sum()
    }

    /// Greatest violation of equations (3) and (4): of full links at `full` the difference of the load from 1, and of the
    /// backlog or p from the law's; of others what exceeds their rate. Relative.
    pub(in crate::prove) fn residual(&self, full: &[usize], states: &[State]) -> f64 {
        let of_link = |place: usize| {
            let (at, load) = (&self.links[place], self.load(place, states));
            if !full.contains(&place) {
                return if at.law.is_some() { load - 1.0 } else { 0.0 };
            }
            let State { p, backlog, .. } = states[place];
            let of_law = match at.form {
                EquilibriumForm::Curve => (at.on_curve(backlog) - p).abs() / p.max(LEAST_P),
                EquilibriumForm::Target if p > 0.0 => {
                    let target = self.at_target(place, states[place], states).backlog;
                    (target - backlog).abs() / target.max(1.0)
                }
                EquilibriumForm::Target => 0.0,
                EquilibriumForm::Unknown => 1.0,
            };
            (load - 1.0).abs().max(of_law)
        };
        (0..self.links.len()).map(of_link).fold(0.0, f64::max)
    }
}

/// Relative difference below which loads are equal.
const ALIKE: f64 = 1e-9;
/// Tolerance of a bisection's load; past a jump of its law's curve a link is farther from full.
const JUMP: f64 = 1e-6;
/// Least p of a bisection, largest backlog, packets, and bisections.
const LEAST_P: f64 = 1e-18;
pub(super) const LARGEST: f64 = (1u32 << 31) as f64;
const HALVINGS: u32 = 60;
/// Relative change of p or of the backlog that ends the iteration.
const SETTLED: f64 = 1e-9;
