//! Explicit keys about TCP.

use crate::scenario::Flows;
use sojourn_params::InputError;
use sojourn_tcp::{Halving, Tcp};

/// Keys of a group that the file gives and that may contradict each other: `cc`, `ecn` and those of the table `tcp`.
///
/// They always compare equal: a scenario equals one that leaves out defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExplicitKeys(pub(crate) Vec<&'static str>);

impl PartialEq for ExplicitKeys {
    fn eq(&self, _: &ExplicitKeys) -> bool {
        true
    }
}

impl ExplicitKeys {
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains(&key)
    }
}

/// Rules of a window that opens by a segment a round trip and is halved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRules {
    /// True if it grows with acknowledged bytes, false if with ACKs.
    pub counts_bytes: bool,
    /// Segments per ACK.
    pub per_ack: u32,
    /// Least window after an ECN echo, segments.
    pub least_at_echo: f64,
    /// True if a loss halves the flight, false if it halves the window.
    pub halves_flight: bool,
}

impl Flows {
    /// Rules of its Reno or NewReno.
    pub fn window_rules(&self) -> WindowRules {
        let profile = &self.profile;
        WindowRules {
            counts_bytes: profile.byte_counting > 0,
            per_ack: profile.segments_per_ack(),
            least_at_echo: profile.ecn_at_one.least(),
            halves_flight: profile.halving != Halving::Window,
        }
    }

    /// Errors of explicit keys that contradict other settings.
    pub(crate) fn contradictions(&self) -> Vec<InputError> {
        let Flows { cc, profile, ecn, segment, given, .. } = self;
        Tcp { cc, profile, ecn: *ecn, segment: *segment, given: &given.0 }.contradictions()
    }
}
