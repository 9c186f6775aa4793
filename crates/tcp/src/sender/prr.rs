//! Proportional rate reduction: RFC 6937, with the slow-start reduction bound.
//!
//! In recovery each ACK lets out a part of what it says has arrived, so that the
//! flight shrinks to the reduced window within one round trip, evenly; where
//! losses have taken it below that already, it grows back as in slow start:
//!
//! ```text
//! pipe > ssthresh:   sndcnt = CEIL(prr_delivered ssthresh / RecoverFS) - prr_out
//! otherwise:         sndcnt = MIN(ssthresh - pipe, MAX(prr_delivered - prr_out, DeliveredData) + MSS)
//! ```
//!
//! The rounding up is to whole segments: bytes short of one cannot leave.

/// The state of RFC 6937, section 3, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// `ssthresh`: the window after recovery.
    target: u64,
    /// `RecoverFS`.
    flight: u64,
    /// `prr_delivered`: below 0 where the receiver has thrown away more than came since.
    delivered: i64,
    /// `prr_out`.
    out: u64,
    /// `sndcnt`, less what has been sent since the ACK.
    allowed: u64,
}

impl Prr {
    /// Recovery starts with `flight` bytes outstanding and heads for a window of `target`.
    pub(super) fn new(target: u64, flight: u64) -> Prr {
        Prr { target, flight: flight.max(1), delivered: 0, out: 0, allowed: 0 }
    }

    /// An ACK says that `delivered` more bytes have arrived (less those that were thrown away: `DeliveredData` is
    /// the change of `SND.UNA` and the signed change of what is SACKed), and `pipe` are on their way.
    pub(super) fn on_ack(&mut self, delivered: i64, pipe: u64, mss: u64) {
        self.delivered += delivered;
        self.allowed = if pipe > self.target {
            let share = u128::from(self.delivered.max(0).unsigned_abs()) * u128::from(self.target);
            let bytes = u64::try_from(share.div_ceil(self.flight.into())).unwrap_or(u64::MAX);
            bytes.next_multiple_of(mss).saturating_sub(self.out)
        } else {
            let limit = (self.delivered - self.out as i64).max(delivered) + mss as i64;
            (self.target - pipe).min(limit.max(0).unsigned_abs())
        };
    }

    /// The window is this now: a mark may reduce it in recovery, too.
    pub(super) fn aim_at(&mut self, window: u64) {
        self.target = self.target.min(window);
    }

    /// Whether a segment of `len` bytes may leave.
    pub(super) fn allows(&self, len: u64) -> bool {
        self.allowed >= len
    }

    /// A segment of `len` bytes leaves.
    pub(super) fn sent(&mut self, len: u64) {
        self.out += len;
        self.allowed = self.allowed.saturating_sub(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1, so that numbers are those of section 3.1.
    fn sends(prr: &mut Prr, delivered: i64, pipe: u64) -> u64 {
        prr.on_ack(delivered, pipe, 1);
        let mut sent = 0;
        while prr.allows(1) {
            prr.sent(1);
            sent += 1;
        }
        sent
    }

    /// Half the flight is the target: every second ACK lets a segment out, until the pipe has come down to it.
    #[test]
    fn a_single_loss_is_repaired_in_proportion() {
        let mut prr = Prr::new(10, 20);
        let mut pipe = 18;
        let mut sent = Vec::new();
        for _ in 0..19 {
            let count = sends(&mut prr, 1, pipe);
            sent.push(count);
            pipe = pipe + count - 1;
        }
        // The pipe has come down to 10: from there on one leaves for each that arrives.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
        assert_eq!(pipe, 9);
    }

    /// Section 3.1, second example: fifteen of twenty are lost, each ACK lets two out.
    #[test]
    fn after_heavy_loss_it_grows_as_in_slow_start() {
        let mut prr = Prr::new(10, 20);
        assert_eq!([sends(&mut prr, 1, 4), sends(&mut prr, 1, 5), sends(&mut prr, 1, 6)], [2, 2, 2]);
    }

    #[test]
    fn it_heads_for_a_window_that_is_reduced_once_more() {
        let mut prr = Prr::new(10, 20);
        assert_eq!(sends(&mut prr, 4, 14), 2);
        prr.aim_at(5);
        assert_eq!([sends(&mut prr, 8, 8), sends(&mut prr, 4, 4)], [1, 1]);
        prr.aim_at(10);
        assert_eq!(sends(&mut prr, 4, 5), 0, "nor does it grow again");
    }

    #[test]
    fn it_stops_at_the_target() {
        let mut prr = Prr::new(10, 20);
        assert_eq!(sends(&mut prr, 4, 9), 1);
        assert_eq!(sends(&mut prr, 4, 10), 0);
    }
}
