//! Our TCP under a profile that describes the kernel, held to what scripts expect of the kernel.

use crate::ours::Ours;
use crate::play::{Host, slack_of_kernels};
use crate::script::{Act, Backend, Packet, Quantity};
use crate::setup::Setup;
use sojourn_tcp::Profile;
use sojourn_units::{Span, Time};

/// A host of this project in the kernel's place.
pub struct StandIn(Ours);

impl StandIn {
    /// The host of a script under `profile`, with the settings that a script makes of the kernel, too.
    pub fn new(setup: &Setup, profile: &Profile) -> StandIn {
        let given = setup.profile.clone();
        let profile = Profile {
            initial_window: given.initial_window,
            unused_window: given.unused_window,
            min_rto: given.min_rto,
            max_rto: given.max_rto,
            timestamps: given.timestamps,
            delayed_ack: given.delayed_ack,
            // The kernel is configured to delay ACKs from the first segment on.
            quick_acks: 0,
            receive_window: given.receive_window,
            window_scaling: given.window_scaling,
            dsack: given.dsack,
            sack: given.sack,
            tail_loss_probe: given.tail_loss_probe,
            frto: given.frto,
            ..profile.clone()
        };
        StandIn(Ours::new(&Setup { profile, ..setup.clone() }).counting_reduction())
    }
}

impl Host for StandIn {
    fn backend(&self) -> Backend {
        Backend::Kernel
    }
    fn act(&mut self, now: Time, act: Act) -> Result<(), String> {
        self.0.act(now, act)
    }
    fn receive(&mut self, now: Time, packet: &Packet) -> Result<(), String> {
        self.0.receive(now, packet)
    }
    fn transmit(&mut self, until: Time) -> Result<Option<(Time, Packet)>, String> {
        self.0.transmit(until)
    }
    fn measure(&self, quantity: Quantity) -> Option<f64> {
        let value = self.0.measure(quantity)?;
        Some(match quantity {
            // The kernel counts segments.
            Quantity::Cwnd | Quantity::Ssthresh => value.floor(),
            _ => value,
        })
    }
    fn slack(&self, wait: Span) -> Span {
        slack_of_kernels(wait)
    }
    fn late(&self) -> bool {
        self.0.late()
    }
}
