//! Explicit keys about TCP.

use crate::scenario::Flows;
use sojourn_params::InputError;
use sojourn_tcp::Tcp;

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

impl Flows {
    /// Errors of explicit keys that contradict other settings.
    pub(crate) fn contradictions(&self) -> Vec<InputError> {
        let Flows { cc, profile, ecn, segment, given, .. } = self;
        Tcp { cc, profile, ecn: *ecn, segment: *segment, given: &given.0 }.contradictions()
    }
}
