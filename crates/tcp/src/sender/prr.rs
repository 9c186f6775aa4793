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
//!
//! ns-3 3.44 counts what arrives twice until `prr_delivered` is `RecoverFS`, multiplies in 32 bits, rounds down, and has no
//! `+ MSS` (`docs/deviations/ns3.md` shows the packets).

use super::Sender;

/// The state of RFC 6937, section 3, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// As ns-3 counts.
    twice: bool,
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

impl Sender {
    /// For a recovery that starts with `flight` bytes outstanding, where the profile has it.
    pub(super) fn prr(&self, flight: u64) -> Option<Prr> {
        self.config.profile.prr.then(|| Prr::new(self.window, flight, self.config.profile.prr_counts_twice))
    }
}

impl Prr {
    /// Recovery starts with `flight` bytes outstanding and heads for a window of `target`.
    fn new(target: u64, flight: u64, twice: bool) -> Prr {
        // After a timeout little may be counted as outstanding: a share of what arrives is never more than that.
        let flight = if twice { flight.max(1) } else { flight.max(target).max(1) };
        Prr { twice, target, flight, delivered: 0, out: 0, allowed: 0 }
    }

    /// An ACK says that `delivered` more bytes have arrived (less those that were thrown away: `DeliveredData` is
    /// the change of `SND.UNA` and the signed change of what is SACKed), and `pipe` are on their way.
    pub(super) fn on_ack(&mut self, delivered: i64, pipe: u64, mss: u64) {
        let times = if self.twice && self.delivered < self.flight as i64 { 2 } else { 1 };
        self.delivered += times * delivered;
        self.allowed = if pipe > self.target && delivered < 0 {
            // So much is under way again that what may have been sent before, and was not, may no more.
            self.out = self.out.max(self.share(mss));
            0
        } else if pipe > self.target {
            self.share(mss).saturating_sub(self.out)
        } else {
            let more = if self.twice { 0 } else { mss as i64 };
            let limit = (self.delivered - self.out as i64).max(delivered) + more;
            (self.target - pipe).min(limit.max(0).unsigned_abs())
        };
    }

    /// What of the reduced window may have left by now.
    fn share(&self, mss: u64) -> u64 {
        let product = u128::from(self.delivered.max(0).unsigned_abs()) * u128::from(self.target);
        if self.twice {
            return u64::from(product as u32) / self.flight;
        }
        let bytes = u64::try_from(product.div_ceil(self.flight.into())).unwrap_or(u64::MAX);
        bytes.next_multiple_of(mss)
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
        let mut prr = Prr::new(10, 20, false);
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
        let mut prr = Prr::new(10, 20, false);
        assert_eq!([sends(&mut prr, 1, 4), sends(&mut prr, 1, 5), sends(&mut prr, 1, 6)], [2, 2, 2]);
    }

    #[test]
    fn it_heads_for_a_window_that_is_reduced_once_more() {
        let mut prr = Prr::new(10, 20, false);
        assert_eq!(sends(&mut prr, 4, 14), 2);
        prr.aim_at(5);
        assert_eq!([sends(&mut prr, 8, 8), sends(&mut prr, 4, 4)], [1, 1]);
        prr.aim_at(10);
        assert_eq!(sends(&mut prr, 4, 5), 0, "nor does it grow again");
    }

    /// What was not sent while there was room is not owed when the receiver throws away what it had.
    #[test]
    fn what_is_taken_back_is_no_reason_to_send() {
        let mut prr = Prr::new(10, 20, false);
        prr.on_ack(12, 4, 1);
        prr.sent(2);
        assert_eq!([sends(&mut prr, -6, 18), sends(&mut prr, 1, 17)], [0, 1]);
    }

    #[test]
    fn while_much_is_under_way_no_more_leaves_than_arrives() {
        let mut prr = Prr::new(4, 1, false);
        assert_eq!([sends(&mut prr, 1, 18), sends(&mut prr, 3, 16), sends(&mut prr, 9, 10)], [1, 3, 9]);
    }

    #[test]
    fn it_stops_at_the_target() {
        let mut prr = Prr::new(10, 20, false);
        assert_eq!(sends(&mut prr, 4, 9), 1);
        assert_eq!(sends(&mut prr, 4, 10), 0);
    }

    /// ns-3 3.44, one of 22 segments lost with 24 outstanding (`docs/deviations/ns3.md`): 20 on their way, ssthresh 10.
    #[test]
    fn ns3_lets_one_out_for_each_that_arrives_until_a_flight_is_through() {
        let mut prr = Prr::new(10, 20, true);
        let mut pipe = 20;
        let sent: Vec<u64> = (0..20)
            .map(|_| {
                let count = sends(&mut prr, 1, pipe);
                pipe = pipe + count - 1;
                count
            })
            .collect();
        assert_eq!(sent, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    }

    /// The same with 68 segments of 1448 B on their way, and ssthresh 34: 62 of them times ssthresh are more than 2^32.
    #[test]
    fn ns3_multiplies_in_32_bits() {
        let mut prr = Prr::new(34 * 1448, 68 * 1448, true);
        let mut ones = 0;
        loop {
            prr.on_ack(1448, 68 * 1448, 1448);
            if !prr.allows(1448) {
                break;
            }
            prr.sent(1448);
            ones += 1;
        }
        assert_eq!(ones, 30);
    }
}
