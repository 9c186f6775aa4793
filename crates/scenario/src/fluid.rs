//! What only the fluid plant asks for.

use sojourn_units::Span;

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
