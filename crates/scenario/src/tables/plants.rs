//! Models of plants.

use crate::fluid::Window;

sojourn_params::params! {
    /// Plants with a choice of models.
    pub struct Plants {
        /// the fluid plant, on which certificates rest, too
        fluid: Option<FluidModel> = None, "the model of fluid_window";
    }
}

sojourn_params::params! {
    /// Model of the fluid plant.
    pub struct FluidModel {
        /// response of windows: mgt: Misra, Gong and Towsley (2000); full: the same, where a signal replaces an
        /// acknowledgment that would open the window; calibrated: mean window and growth of the sender's rules, as
        /// packets have them
        model: Window = Window::Calibrated,
            "p and its slope as packets have them; the laws' papers design with mgt", "V. Misra, W. Gong, D. Towsley, SIGCOMM 2000";
    }
}
