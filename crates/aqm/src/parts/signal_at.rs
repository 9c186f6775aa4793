//! The end of the queue at which packets are marked or dropped.

use sojourn_params::{ErrorKind, InputError};

sojourn_params::choice! {
    /// End of the queue at which a law's probability applies.
    pub enum SignalAt {
        /// At arrival: the signal passes through the queue.
        Enqueue = "enqueue",
        /// At departure.
        Dequeue = "dequeue",
    }
}

/// Reason why a law that signals at dequeue has no transfer function.
pub(crate) const SKIPS_THE_QUEUE: &str = "signals at dequeue, but in the loop of a certificate signals pass through \
                                          the queue; expected signal_at = enqueue";

impl SignalAt {
    /// Signals are given to departing packets.
    pub(crate) fn is_departure(self) -> bool {
        self == SignalAt::Dequeue
    }

    /// Rejects a change during a run: queued packets would meet the probability twice, or never.
    pub fn check_unchanged(self, fresh: SignalAt) -> Result<(), InputError> {
        if fresh == self {
            return Ok(());
        }
        let problem = "cannot change during a run";
        Err(InputError::new(ErrorKind::Conflict, problem, "no change of it").at("signal_at"))
    }
}
