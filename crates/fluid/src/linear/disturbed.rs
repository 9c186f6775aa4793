//! Response of the queue to steps that no law makes: other arrivals, the link's rate, flows that join.
//!
//! Equations (3) and (4) of [`super::plant`] with p held; w_i = theta n_i s_i (1 / R_i, or s + 1 / R_i where ACKs clock the
//! packets) / (s + mu_i (a_i + b_i d_i)) and kappa_i = mu_i k_i (1 - d_i - x_i), mu_i that of (6) there:
//!
//! ```text
//! D = s + h + sum of w_i kappa_i
//! arrivals + a:       dq = a / (s D)                                                     (1)
//! C + c:              dq = (c / s) (tau - (1 + s tau) / D),  tau = q / C                  (2)
//! n_i (1 + f):        dq = (f / D) sum of (theta n_i s_i W_i / R_i) / s - w_i (W_i - 1) + jump_i  (3)
//! ```
//!
//! In (2) the round trips change by (dq - tau c) / C instead of dq / C. In (3) new flows begin with windows of one packet,
//! so that the mean window falls by f (W_i - 1): clocked packets follow W', of which that fall is no part, jump_i = theta n_i
//! s_i (W_i - 1).

use super::complex::{Complex64, exp};
use super::plant::Exact;

/// Step of what a law does not control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Disturbance {
    /// More arrivals that no signal reduces, packets/s.
    Arrivals(f64),
    /// More capacity, packets/s.
    Capacity(f64),
    /// More flows, as a share of those of each class.
    Flows(f64),
}

impl Exact {
    /// The transform of the backlog after a disturbance at time 0, p held, at an equilibrium with this wait q / C, s, and
    /// these windows.
    pub fn disturbed(&self, by: Disturbance, at: (f64, &[f64]), s: Complex64) -> Complex64 {
        let (wait, windows) = at;
        let below = self.queue_denominator(s);
        match by {
            Disturbance::Arrivals(more) => more / (s * below),
            Disturbance::Capacity(more) => more / s * (wait - (1.0 + s * wait) / below),
            Disturbance::Flows(share) => share * self.joined(windows, s) / below,
        }
    }

    /// D.
    pub(super) fn queue_denominator(&self, s: Complex64) -> Complex64 {
        let slowed = |class: &super::windows::Windows| {
            let late = exp(-s * class.delay);
            let kappa = (1.0 - late) * class.slow - class.by_rtt;
            class.queue_by_window(s, late) * kappa * class.growth(s)
        };
        s + self.leak + self.classes.iter().map(slowed).sum::<Complex64>()
    }

    /// The sum of (3).
    fn joined(&self, windows: &[f64], s: Complex64) -> Complex64 {
        let classes = self.classes.iter().zip(windows);
        let of = classes.map(|(class, window)| {
            let fallen = window - NEW_WINDOW;
            let held = class.clock * fallen - class.queue_by_window(s, exp(-s * class.delay)) * fallen;
            class.rate * *window / s + held
        });
        of.sum()
    }
}

/// Window of a new flow, packets.
const NEW_WINDOW: f64 = 1.0;
