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
//! one. Of two or three packets in flight the third is one of these two, behind the gap that the lost one leaves; RACK
//! waits for a quarter of a round after the first (RFC 8985), and finds retransmissions that are lost as well. Each
//! further loss of the window takes a round more (RFC 6582), with SACK a packet more, or without either the timer; that
//! of the retransmission waits for the timer. With proportional rate reduction (RFC 9937) no burst is silent, and the
//! recovery is one round.

use super::{Control, Growth, Reaction, Repair, Rules};
use sojourn_units::math;

/// Rounds and packets of a recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    pub(super) rounds: f64,
    pub(super) packets: f64,
}

impl Rules {
    /// Recovery of `f` packets in flight that leaves `n` of them, under signals with probability `p`; `again` is the window
    /// after a timeout.
    pub(super) fn recovery(&self, p: f64, f: f64, n: f64, again: f64) -> Recovery {
        let acked_with_it = f64::from(self.per_ack.min(2) - 1) / 2.0;
        let rounds = ((n - 1.0) / f + (1.0 - n / f) * (1.5 - 0.5 / n)).max(0.0);
        let packets = (f - 1.0 - acked_with_it).max(0.0);
        let Reaction::Loss(repair) = self.reaction else {
            return Recovery { rounds, packets };
        };
        let further = p * (f - 1.0);
        let any_further = 1.0 - passes(p, f - 1.0);
        // Where windows grow with ACKs, those of the timer are more.
        let is_late = self.per_ack > 1 && self.growth == Growth::Bytes;
        let first_ack = if is_late { DELAYED } else { 0.0 };
        let [noticed, waits] = [self.noticed(f), TIMEOUT + math::ln(again) / std::f64::consts::LN_2];
        let (rounds, packets) = match repair {
            // A window is sent before the timer of the second loss.
            Repair::First => (rounds, packets + any_further * n),
            Repair::Partial { .. } => (rounds + further, packets + further * n),
            Repair::Selective { prr, .. } => (if prr { 1.0 } else { rounds }, packets + further),
        };
        let again = match repair {
            Repair::Selective { rack: true, .. } if f >= 2.0 => {
                Recovery { rounds: p * (1.0 + noticed), packets: 0.0 }
            }
            // Slow start sends about the window up to which it grows.
            _ => {
                let times_out = self.times_out(p, f);
                Recovery { rounds: times_out * waits, packets: times_out * (again - 1.0) }
            }
        };
        let rounds = rounds + noticed + again.rounds + first_ack;
        Recovery { rounds, packets: packets + 3.0 + again.packets }
    }

    /// Rounds from a loss to the third duplicate acknowledgment of its `f` packets, or until RACK infers it from the first.
    fn noticed(&self, f: f64) -> f64 {
        match f {
            ..2.0 => 1.0,
            _ if self.has_rack() => self.noticed_by(f),
            ..3.0 => 2.5,
            ..4.0 => 4.0 / 3.0,
            _ => self.noticed_by(f),
        }
    }

    /// The same of a mean window.
    pub(super) fn noticed_by(&self, window: f64) -> f64 {
        let by_three = 3.0 / window.max(3.0);
        if self.has_rack() { by_three.min(1.0 / window + REORDERED) } else { by_three }
    }

    /// Probability of a timeout: for want of other packets, of the retransmission, or of three duplicates in time.
    pub(super) fn times_out(&self, p: f64, f: f64) -> f64 {
        match (self.reaction, f) {
            (Reaction::Mark, _) => 0.0,
            (Reaction::Loss(_), ..2.0) => 1.0,
            (Reaction::Loss(Repair::First), _) | (Reaction::Loss(Repair::Partial { .. }), ..5.0) => {
                1.0 - passes(p, f)
            }
            (Reaction::Loss(_), _) => p,
        }
    }

    /// The base of a reduction: the whole packets in flight, or the window.
    pub(super) fn base(&self, window: f64, flight: f64) -> f64 {
        let reduces_flight = match (self.reaction, self.control) {
            // New packets follow those that RACK has seen leave, so that a window is in flight when it infers a loss.
            _ if self.has_rack() => false,
            (_, Control::Cubic { .. }) => true,
            // Of senders that halve for marks the window is; those of ABE (RFC 8511) reduce the flight.
            (Reaction::Mark, Control::Reno { keeps }) => keeps > 0.5,
            (Reaction::Loss(_), Control::Reno { .. }) => self.halves_flight,
            (_, Control::Scalable { .. } | Control::Dctcp { .. }) => false,
        };
        if reduces_flight { flight } else { window }
    }

    /// True if a retransmission that is lost is found without a timer, or waits for it without another reduction.
    pub(super) fn is_selective(&self) -> bool {
        matches!(self.reaction, Reaction::Loss(Repair::Selective { .. }))
    }

    /// True if RACK detects losses.
    pub(super) fn has_rack(&self) -> bool {
        matches!(self.reaction, Reaction::Loss(Repair::Selective { rack: true, .. }))
    }

    /// True if a recovery ends with whole packets: below half of an odd flight, from where slow start goes on above it.
    pub(super) fn exits_below(&self) -> bool {
        self.reaction == Reaction::Loss(Repair::Partial { exits_below: true })
    }

    /// Rounds of a packet, 1 / f, with the wait of the last one of an odd flight for its delayed ACK.
    pub(super) fn rounds_each(&self, flight: f64) -> f64 {
        let is_odd = self.per_ack > 1 && flight % 2.0 == 1.0;
        1.0 / (flight - if is_odd { DELAYED } else { 0.0 })
    }
}

/// Probability that none of `f` packets is lost.
fn passes(p: f64, f: f64) -> f64 {
    math::exp(f * math::ln(1.0 - p))
}

/// Share of a round that the last packet of an odd flight waits for its ACK: 40 ms of 140.
const DELAYED: f64 = 0.29;
/// Wait of RACK for reordered packets, rounds (RFC 8985, section 6.2, step 4).
const REORDERED: f64 = 0.25;
/// Retransmission timeout, rounds: from 1 on long paths to the least one of 200 ms on short ones.
const TIMEOUT: f64 = 2.0;
/// The flight falls from f to f / 2 over the first half of a recovery: the mean of its square, by f^2.
pub(super) const SQUARE_IN_RECOVERY: f64 = 0.42;
