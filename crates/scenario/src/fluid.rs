//! What only the fluid plant asks for.

use serde_json::{Map, Value as Json};
use sojourn_units::Span;
use sojourn_units::param::Quantity;

sojourn_units::choice! {
    /// How the windows of a fluid answer to signals.
    pub enum Window {
        /// As Misra, Gong and Towsley (2000) have it.
        Mgt = "mgt",
        /// The same, where a signal takes the place of an acknowledgment that would open the window.
        Full = "full",
    }
}

/// What only the fluid plant asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid {
    /// How windows answer.
    pub window: Window,
    /// The longest step; None: a twentieth of the shortest round trip without queueing.
    pub step: Option<Span>,
}

impl Default for Fluid {
    fn default() -> Fluid {
        Fluid { window: Window::Mgt, step: None }
    }
}

impl Fluid {
    /// The keys that do not stand at their defaults.
    pub(crate) fn to_json(self) -> Map<String, Json> {
        let window = (self.window != Window::Mgt).then(|| ("fluid_window", self.window.write()));
        let step = self.step.map(|step| ("fluid_step", step.write()));
        window
            .into_iter()
            .chain(step)
            .map(|(key, value)| (key.into(), crate::json::of_value(&value)))
            .collect()
    }
}
