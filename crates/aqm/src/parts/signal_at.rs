//! The end of the queue at which packets are marked or dropped.

use sojourn_units::Fault;

sojourn_units::choice! {
    /// Where packets meet the probability of a law.
    pub enum SignalAt {
        /// As they arrive: a signal waits in the queue before it is on its way.
        Enqueue = "enqueue",
        /// As they leave.
        Dequeue = "dequeue",
    }
}

/// Why a law that signals at dequeue declares no transfer function.
pub(crate) const SKIPS_THE_QUEUE: &str = "signals at dequeue, and the loop of a certificate has signals wait in the \
                                          queue; expected signal_at = enqueue";

impl SignalAt {
    /// Refuses another end of the queue to a law that works: what is held has met the probability at one end, or will.
    pub fn stays(self, fresh: SignalAt) -> Result<(), Fault> {
        if fresh == self {
            return Ok(());
        }
        Err(Fault::new("signal_at", "cannot change while the law works; legal: leave it as it is"))
    }
}
