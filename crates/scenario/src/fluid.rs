//! Settings of the fluid plant.

use sojourn_units::Span;

sojourn_params::choice! {
    /// Response of fluid windows to signals.
    pub enum Window {
        /// Misra, Gong and Towsley (2000).
        Mgt = "mgt",
        /// The same, where a signal replaces an acknowledgment that would open the window.
        Full = "full",
        /// Response function and growth of the sender's rules, by the round chain.
        Calibrated = "calibrated",
    }
}

/// Settings of the fluid plant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid {
    /// Response of windows to signals.
    pub window: Window,
    /// The longest step; None: a twentieth of the shortest base RTT.
    pub step: Option<Span>,
}
