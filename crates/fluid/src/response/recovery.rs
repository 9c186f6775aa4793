//! Recovery from a signal, in rounds of one RTT.
//!
//! With f packets in flight at the signal and n after it, the recovery takes
//!
//! ```text
//! rounds   (n - 1)/f + (1 - n/f) (3/2 - 1/(2n))                              (1)
//! packets  f - 1: those in flight, which are immune
//! ```
//!
//! Packets leave in bursts, as the ACKs of the burst before arrive. Of a signal at the j-th of f packets, uniform, f - j
//! immune ones arrive in the same round and j - 1 in the next; the sender is silent until n are left in flight. If j > n
//! it is silent for all of the next round.
//!
//! A loss is noticed three packets later, in which limited transmit sends two more, and its retransmission is another
//! one. Each further loss of the window takes a round more (RFC 6582); that of the retransmission waits for the timer.

use super::{Reaction, Rules};
use sojourn_units::math;

/// Rounds and packets of a recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    pub(super) rounds: f64,
    pub(super) packets: f64,
}

impl Rules {
    /// Recovery of `f` packets in flight that leaves `n` of them, under signals with probability `p`.
    pub(super) fn recovery(&self, p: f64, f: f64, n: f64) -> Recovery {
        let acked_with_it = f64::from(self.per_ack.min(2) - 1) / 2.0;
        let rounds = ((n - 1.0) / f + (1.0 - n / f) * (1.5 - 0.5 / n)).max(0.0);
        let packets = (f - 1.0 - acked_with_it).max(0.0);
        if self.reaction == Reaction::Mark {
            return Recovery { rounds, packets };
        }
        let further = p * (f - 1.0);
        let by_timer = if f < 2.0 { 1.0 } else { p };
        let timer = by_timer * (TIMEOUT + math::ln(n) / std::f64::consts::LN_2);
        Recovery { rounds: rounds + 3.0 / f.max(3.0) + further + timer, packets: packets + 3.0 + further * n }
    }

    /// Rounds of a packet, 1 / f, with the wait of the last one of an odd flight for its delayed ACK.
    pub(super) fn rounds_each(&self, flight: f64) -> f64 {
        let is_odd = self.per_ack > 1 && flight % 2.0 == 1.0;
        1.0 / (flight - if is_odd { DELAYED } else { 0.0 })
    }
}

/// Share of a round that the last packet of an odd flight waits for its ACK: 40 ms of 140.
const DELAYED: f64 = 0.29;
/// Retransmission timeout, rounds: from 1 on long paths to the least one of 200 ms on short ones.
const TIMEOUT: f64 = 2.0;
/// The flight falls from f to f / 2 over the first half of a recovery: the mean of its square, by f^2.
pub(super) const SQUARE_IN_RECOVERY: f64 = 0.42;
