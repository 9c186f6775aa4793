//! Snapshot of a sender's state, for tests.

use super::spurious::Frto;
use super::{RecoveryState, Scheme, Sender};
use sojourn_units::Time;

/// State of outstanding data and timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Blocks on the scoreboard.
    pub blocks: usize,
    /// Bytes on the scoreboard.
    pub sacked: u64,
    /// Retransmitted pieces.
    pub retransmitted: usize,
    /// Lost pieces.
    pub lost: usize,
    /// Distinct transmission times.
    pub runs: usize,
    /// Pipe, bytes.
    pub pipe: u64,
    /// F-RTO sends new data (RFC 5682).
    pub in_frto: bool,
    /// The retransmission timer runs.
    pub rto_armed: bool,
    /// A timer of RACK-TLP runs.
    pub rack_armed: bool,
    /// Nothing is sent until the timer expires (RFC 3168, section 6.1.2).
    pub on_hold: bool,
}

impl Sender {
    /// Returns a snapshot of the state.
    #[doc(hidden)]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            blocks: self.board.len(),
            sacked: self.board.bytes(),
            retransmitted: self.rack.outstanding_retransmissions(),
            lost: self.rack.lost.len(),
            runs: self.history.len(),
            pipe: self.pipe_in_force(),
            in_frto: matches!(self.frto, Some(Frto::Second { .. })),
            rto_armed: self.timers.retransmit < Time::NEVER,
            rack_armed: self.timers.reorder.min(self.timers.probe) < Time::NEVER,
            on_hold: self.awaits_timer(),
        }
    }

    /// Pipe as the recovery in progress counts it, bytes; after a timeout that marks everything outstanding as lost,
    /// the bytes sent since.
    fn pipe_in_force(&self) -> u64 {
        match self.recovery.get() {
            _ if self.scheme != Scheme::Rack && matches!(self.frto, Some(Frto::Second { .. })) => {
                self.nxt.saturating_sub(self.frto_recover)
            }
            // Each duplicate ACK signals that a segment has left.
            Some(RecoveryState::Fast(fast)) => {
                self.flight().saturating_add_signed(fast.inflation.saturating_neg())
            }
            Some(RecoveryState::Sack(sack)) => sack.pipe,
            Some(RecoveryState::Counted(counted)) => counted.pipe,
            _ if self.scheme == Scheme::Rack => self.pipe(),
            _ => self.flight() - self.board.bytes_below(self.nxt),
        }
    }
}
