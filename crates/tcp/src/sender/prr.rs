//! Proportional rate reduction: RFC 9937, and its predecessor RFC 6937.
//!
//! In recovery each ACK allows a share of the data it delivers, so that the flight shrinks evenly to the reduced
//! window within one round trip. If losses have already taken it below that, RFC 9937 sends as much as is delivered,
//! and one segment more on evidence of progress: an ACK that advances SND.UNA without further loss (`SafeACK`). RFC
//! 6937 grows back as in slow start:
//!
//! ```text
//! pipe > ssthresh:   sndcnt = CEIL(prr_delivered ssthresh / RecoverFS) - prr_out
//! otherwise:         sndcnt = MIN(ssthresh - pipe, MAX(prr_delivered - prr_out, DeliveredData) + more)
//!                    more = MSS with a SafeACK (RFC 9937, 6.2), or always (RFC 6937, 3.1, PRR-SSRB)
//! RecoverFS = bytes outstanding and not SACKed before the ACK that starts recovery     (RFC 9937, 6.1)
//!           = FlightSize then                                                          (RFC 6937, 3)
//!           = cwnd then                                            (Linux, with the rest of RFC 9937: docs/deviations/linux.md)
//! ```
//!
//! Recovery begins with a retransmission, whatever sndcnt is (RFC 9937, 6.2; the sender sees to it). Rounding up is to
//! whole segments, as smaller ones cannot leave.
//!
//! ns-3 3.44 counts delivered data twice until `prr_delivered` is `RecoverFS`, multiplies in 32 bits, rounds down, and
//! has no `+ MSS` (`docs/deviations/ns3.md` shows the packets).

use super::{RecoveryState, Sender};
use crate::profile::{Profile, Prr};

/// Variant of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Rfc9937,
    Rfc6937,
    Linux,
    /// ns-3's variant.
    Ns3,
}

/// State of PRR, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrrState {
    form: Form,
    /// `ssthresh`: window after recovery.
    ssthresh: u64,
    /// `RecoverFS`.
    recover_fs: u64,
    /// `prr_delivered`; negative if the receiver has discarded more than was delivered since.
    prr_delivered: i64,
    /// `prr_out`.
    prr_out: u64,
    /// `sndcnt`, less the bytes sent since the ACK.
    sndcnt: u64,
}

/// State before a reduction, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// FlightSize.
    pub(super) flight: u64,
    pub(super) cwnd: u64,
}

/// Data delivered by an ACK in recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// `DeliveredData`, bytes: the change of `SND.UNA` plus the signed change of the SACKed bytes. Negative if the
    /// receiver has discarded SACKed data.
    pub(super) data: i64,
    /// Pipe after the ACK, bytes.
    pub(super) pipe: u64,
    /// `SafeACK`: `SND.UNA` advances and no further loss is indicated.
    pub(super) is_safe: bool,
}

impl Form {
    fn of(profile: &Profile) -> Option<Form> {
        match profile.prr {
            Prr::Off => None,
            Prr::Rfc9937 => Some(Form::Rfc9937),
            Prr::Rfc6937 if profile.prr_counts_twice => Some(Form::Ns3),
            Prr::Rfc6937 => Some(Form::Rfc6937),
            Prr::Linux => Some(Form::Linux),
        }
    }
}

impl Sender {
    /// Starts PRR, if the profile has it, for a reduction that begins with `before` on an ACK of `delivered` bytes.
    pub(super) fn start_prr(&self, before: Before, delivered: i64) -> Option<PrrState> {
        let form = Form::of(&self.config.profile)?;
        let flight = match form {
            Form::Rfc9937 => self.unsacked_before(delivered),
            Form::Rfc6937 | Form::Ns3 => before.flight,
            Form::Linux => before.cwnd,
        };
        Some(PrrState::new(form, self.cwnd, flight))
    }

    /// Bytes that a reduction in progress allows in flight, the pipe and `sndcnt`; None outside of one.
    pub fn reducing_to(&self) -> Option<u64> {
        let prr = match self.recovery.get() {
            Some(RecoveryState::Sack(sack)) => sack.prr.as_ref(),
            Some(RecoveryState::Rack(rack)) => rack.prr.as_ref(),
            Some(_) => None,
            None => self.ecn_prr().filter(|_| self.is_reducing_for_ecn()),
        };
        Some(self.snapshot().pipe + prr?.sndcnt)
    }

    /// Bytes outstanding and not SACKed before an ACK that `delivered` as many.
    #[inline]
    pub(super) fn unsacked_before(&self, delivered: i64) -> u64 {
        (self.max - self.una - self.board.bytes()).saturating_add_signed(delivered)
    }
}

impl PrrState {
    /// State for `flight` bytes outstanding and a window of `ssthresh` after recovery.
    fn new(form: Form, ssthresh: u64, flight: u64) -> PrrState {
        // After a timeout little may count as outstanding: the share of the delivered data never exceeds one.
        let recover_fs = if form == Form::Ns3 { flight.max(1) } else { flight.max(ssthresh).max(1) };
        PrrState { form, ssthresh, recover_fs, prr_delivered: 0, prr_out: 0, sndcnt: 0 }
    }

    /// Computes `sndcnt` on an ACK.
    pub(super) fn on_ack(&mut self, ack: Delivery, mss: u64) {
        if ack.data == 0 && matches!(self.form, Form::Rfc9937 | Form::Linux) {
            return;
        }
        let counted_twice = self.form == Form::Ns3 && self.prr_delivered < self.recover_fs as i64;
        self.prr_delivered += if counted_twice { 2 * ack.data } else { ack.data };
        self.sndcnt = if ack.pipe <= self.ssthresh {
            let limit =
                (self.prr_delivered - self.prr_out as i64).max(ack.data) + self.more(ack.is_safe, mss);
            (self.ssthresh - ack.pipe).min(limit.max(0).unsigned_abs())
        } else if ack.data < 0 {
            // With the discarded data in flight again, allowance not yet used is forfeited.
            self.prr_out = self.prr_out.max(self.share(mss));
            0
        } else {
            self.share(mss).saturating_sub(self.prr_out)
        };
    }

    /// Allowance beyond the delivered data while the pipe is below `ssthresh`, bytes.
    fn more(&self, is_safe: bool, mss: u64) -> i64 {
        match self.form {
            Form::Rfc9937 | Form::Linux if is_safe => mss as i64,
            Form::Rfc6937 => mss as i64,
            Form::Rfc9937 | Form::Linux | Form::Ns3 => 0,
        }
    }

    /// Share of the reduced window that may have been sent so far, bytes.
    fn share(&self, mss: u64) -> u64 {
        let product = u128::from(self.prr_delivered.max(0).unsigned_abs()) * u128::from(self.ssthresh);
        if self.form == Form::Ns3 {
            return u64::from(product as u32) / self.recover_fs;
        }
        let bytes = u64::try_from(product.div_ceil(self.recover_fs.into())).unwrap_or(u64::MAX);
        bytes.next_multiple_of(mss)
    }

    /// Lowers `ssthresh` to `window`, with `flight` bytes outstanding and not SACKed before this ACK.
    ///
    /// An ECN mark may reduce the window in recovery as well. Another response of congestion control begins another
    /// episode (RFC 9937, section 6.1), without the segment that 6.2 forces at its start, as there is nothing new to
    /// retransmit. Unused allowance from the larger window is forfeited.
    pub(super) fn reduce_to(&mut self, window: u64, flight: u64) {
        if window >= self.ssthresh {
            return;
        }
        if self.form == Form::Ns3 {
            self.ssthresh = window;
        } else {
            *self = PrrState::new(self.form, window, flight);
        }
    }

    /// Returns whether a segment of `len` bytes may be sent.
    pub(super) fn allows(&self, len: u64) -> bool {
        self.sndcnt >= len
    }

    /// Counts `len` bytes sent.
    pub(super) fn sent(&mut self, len: u64) {
        self.prr_out += len;
        self.sndcnt = self.sndcnt.saturating_sub(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Form = Form::Rfc6937;
    const NEW: Form = Form::Rfc9937;

    /// Segments of 1 byte, so that the numbers are those of RFC 6937, section 3.1.
    fn sends(prr: &mut PrrState, data: i64, pipe: u64) -> u64 {
        drains(prr, Delivery { data, pipe, is_safe: false })
    }

    fn drains(prr: &mut PrrState, ack: Delivery) -> u64 {
        prr.on_ack(ack, 1);
        let mut sent = 0;
        while prr.allows(1) {
            prr.sent(1);
            sent += 1;
        }
        sent
    }

    /// With a target of half the flight every second ACK allows a segment, until the pipe reaches the target.
    #[test]
    fn a_single_loss_is_repaired_in_proportion() {
        let mut prr = PrrState::new(OLD, 10, 20);
        let mut pipe = 18;
        let mut sent = Vec::new();
        for _ in 0..19 {
            let count = sends(&mut prr, 1, pipe);
            sent.push(count);
            pipe = pipe + count - 1;
        }
        // The pipe has reached 10: from here on one segment is sent per segment delivered.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
        assert_eq!(pipe, 9);
    }

    /// RFC 6937, section 3.1, second example: fifteen of twenty are lost, and each ACK allows two. RFC 9937 allows
    /// one, until SND.UNA advances without further loss.
    #[test]
    fn after_heavy_loss_it_grows_as_in_slow_start_or_on_evidence() {
        let mut old = PrrState::new(OLD, 10, 20);
        assert_eq!([sends(&mut old, 1, 4), sends(&mut old, 1, 5), sends(&mut old, 1, 6)], [2, 2, 2]);
        let mut new = PrrState::new(NEW, 10, 20);
        assert_eq!([sends(&mut new, 1, 4), sends(&mut new, 1, 4), sends(&mut new, 1, 4)], [1, 1, 1]);
        assert_eq!(drains(&mut new, Delivery { data: 1, pipe: 4, is_safe: true }), 2);
        assert_eq!(sends(&mut new, 1, 5), 1);
    }

    /// Ten segments of 1000 bytes; an ACK delivers half of the first and the last three: ssthresh is 4750, and nothing
    /// is in flight.
    #[test]
    fn a_safe_ack_is_worth_a_segment() {
        for (is_safe, allowed) in [(false, 3500), (true, 4500)] {
            let mut prr = PrrState::new(NEW, 4750, 10_000);
            prr.on_ack(Delivery { data: 3500, pipe: 0, is_safe }, 1000);
            assert_eq!(prr.sndcnt, allowed);
        }
    }

    /// RFC 9937, section 6.2: an ACK that delivers nothing changes nothing.
    #[test]
    fn an_ack_that_delivers_nothing_sends_nothing() {
        let mut prr = PrrState::new(NEW, 10, 20);
        assert_eq!([sends(&mut prr, 3, 4), sends(&mut prr, 0, 4), sends(&mut prr, 0, 4)], [3, 0, 0]);
        assert_eq!(drains(&mut prr, Delivery { data: 0, pipe: 4, is_safe: true }), 0);
        let mut old = PrrState::new(OLD, 10, 20);
        assert_eq!([sends(&mut old, 3, 4), sends(&mut old, 0, 7)], [4, 1]);
    }

    #[test]
    fn a_further_reduction_lowers_the_target() {
        for form in [OLD, NEW] {
            let mut prr = PrrState::new(form, 10, 20);
            assert_eq!(sends(&mut prr, 4, 14), 2);
            prr.reduce_to(5, 16);
            // CEIL(8 x 5/16), then up to the window.
            assert_eq!([sends(&mut prr, 8, 8), sends(&mut prr, 4, 4)], [3, 1]);
            prr.reduce_to(10, 5);
            assert_eq!(sends(&mut prr, 4, 5), 0, "nor does it grow again");
        }
    }

    /// Much is delivered and little is sent for want of data; then a mark halves the window.
    #[test]
    fn unused_allowance_is_forfeited_at_a_mark() {
        for form in [OLD, NEW] {
            let mut prr = PrrState::new(form, 3000, 4600);
            prr.on_ack(Delivery { data: 1100, pipe: 2900, is_safe: false }, 1);
            prr.sent(60);
            prr.reduce_to(1500, 3000);
            assert_eq!(sends(&mut prr, 30, 2970), 15);
        }
    }

    /// Unused allowance is forfeited when the receiver discards data.
    #[test]
    fn unused_allowance_is_forfeited_when_data_is_discarded() {
        for form in [OLD, NEW] {
            let mut prr = PrrState::new(form, 10, 20);
            prr.on_ack(Delivery { data: 12, pipe: 4, is_safe: false }, 1);
            prr.sent(2);
            assert_eq!([sends(&mut prr, -6, 18), sends(&mut prr, 1, 17)], [0, 1]);
        }
    }

    #[test]
    fn above_ssthresh_no_more_leaves_than_arrives() {
        for form in [OLD, NEW] {
            let mut prr = PrrState::new(form, 4, 1);
            assert_eq!([sends(&mut prr, 1, 18), sends(&mut prr, 3, 16), sends(&mut prr, 9, 10)], [1, 3, 9]);
        }
    }

    #[test]
    fn it_stops_at_the_target() {
        for form in [OLD, NEW] {
            let mut prr = PrrState::new(form, 10, 20);
            assert_eq!(sends(&mut prr, 4, 9), 1);
            assert_eq!(sends(&mut prr, 4, 10), 0);
        }
    }

    /// ns-3 3.44, one of 22 segments lost with 24 outstanding (`docs/deviations/ns3.md`): pipe 20, ssthresh 10.
    #[test]
    fn ns3_sends_one_per_arrival_until_a_flight_is_delivered() {
        let mut prr = PrrState::new(Form::Ns3, 10, 20);
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

    /// The same with a pipe of 68 segments of 1448 B, and ssthresh 34: 62 of them times ssthresh exceed 2^32.
    #[test]
    fn ns3_multiplies_in_32_bits() {
        let mut prr = PrrState::new(Form::Ns3, 34 * 1448, 68 * 1448);
        let mut ones = 0;
        loop {
            prr.on_ack(Delivery { data: 1448, pipe: 68 * 1448, is_safe: false }, 1448);
            if !prr.allows(1448) {
                break;
            }
            prr.sent(1448);
            ones += 1;
        }
        assert_eq!(ones, 30);
    }
}
