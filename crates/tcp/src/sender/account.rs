//! What a sender keeps, for those who watch over it.

use super::spurious::Frto;
use super::{Repair, Scheme, Sender};
use sojourn_units::Time;

/// What a sender keeps of what is outstanding, and waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Blocks that the receiver has.
    pub blocks: usize,
    /// Bytes in them.
    pub sacked: u64,
    /// Pieces that were sent again.
    pub again: usize,
    /// Pieces that are taken for lost.
    pub lost: usize,
    /// Instants at which something was sent.
    pub runs: usize,
    /// Bytes taken to be on their way.
    pub pipe: u64,
    /// Whether new data goes out to find out what a timeout was (RFC 5682).
    pub doubts: bool,
    /// Whether the retransmission timer runs.
    pub retransmits: bool,
    /// Whether a timer of RACK-TLP runs.
    pub probes: bool,
    /// Whether nothing is sent until the timer expires (RFC 3168, section 6.1.2).
    pub holds: bool,
}

impl Sender {
    /// What it keeps.
    #[doc(hidden)]
    pub fn account(&self) -> Account {
        Account {
            blocks: self.board.len(),
            sacked: self.board.bytes(),
            again: self.rack.pieces_sent_again(),
            lost: self.rack.lost.len(),
            runs: self.history.len(),
            pipe: self.pipe_in_force(),
            doubts: matches!(self.frto, Some(Frto::Second { .. })),
            retransmits: self.timers.retransmit < Time::NEVER,
            probes: self.timers.reorder.min(self.timers.probe) < Time::NEVER,
            holds: self.waits_for_timer(),
        }
    }

    /// Bytes on their way, as the recovery under way counts them; after a timeout those sent since, where it takes all
    /// that was outstanding for lost.
    fn pipe_in_force(&self) -> u64 {
        match self.repair.get() {
            _ if self.scheme != Scheme::Rack && matches!(self.frto, Some(Frto::Second { .. })) => {
                self.nxt.saturating_sub(self.frto_recover)
            }
            // Each duplicate ACK says that a segment has left.
            Some(Repair::Fast(fast)) => self.flight().saturating_add_signed(fast.inflation.saturating_neg()),
            Some(Repair::Sack(sack)) => sack.pipe,
            Some(Repair::Counted(counted)) => counted.pipe,
            _ if self.scheme == Scheme::Rack => self.pipe(),
            _ => self.flight() - self.board.bytes_below(self.nxt),
        }
    }
}
