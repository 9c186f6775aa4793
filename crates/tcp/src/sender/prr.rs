//! Proportional rate reduction: RFC 9937, and RFC 6937 before it.
//!
//! In recovery each ACK lets out a part of what it says has arrived, so that the
//! flight shrinks to the reduced window within one round trip, evenly. Where losses
//! have taken it below that already, RFC 9937 sends as much as arrives, and one
//! segment more on evidence that recovery makes progress: an ACK that moves SND.UNA
//! and shows no further loss (`SafeACK`). RFC 6937 grows back as in slow start:
//!
//! ```text
//! pipe > ssthresh:   sndcnt = CEIL(prr_delivered ssthresh / RecoverFS) - prr_out
//! otherwise:         sndcnt = MIN(ssthresh - pipe, MAX(prr_delivered - prr_out, DeliveredData) + more)
//!                    more = MSS with a SafeACK (RFC 9937, 6.2), or always (RFC 6937, 3.1, PRR-SSRB)
//! RecoverFS = bytes outstanding and not SACKed before the ACK that starts recovery     (RFC 9937, 6.1)
//!           = FlightSize then                                                          (RFC 6937, 3)
//! ```
//!
//! Recovery begins with a retransmission, whatever sndcnt is (RFC 9937, 6.2; the sender sees to it). The rounding up is
//! to whole segments: bytes short of one cannot leave.
//!
//! ns-3 3.44 counts what arrives twice until `prr_delivered` is `RecoverFS`, multiplies in 32 bits, rounds down, and has no
//! `+ MSS` (`docs/deviations/ns3.md` shows the packets).

use super::Sender;
use crate::profile::{Profile, Prr};

/// Which text is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Rfc9937,
    Rfc6937,
    /// As ns-3 counts.
    Ns3,
}

/// State of RFC 9937 and RFC 6937, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrrState {
    form: Form,
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

/// What an ACK in recovery says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// `DeliveredData`, bytes: the change of `SND.UNA` and the signed change of what is SACKed. Below 0 where the receiver
    /// has thrown away what it had SACKed.
    pub(super) data: i64,
    /// Bytes on their way after it.
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
        }
    }
}

impl Sender {
    /// For a recovery that starts with `flight` bytes outstanding, by an ACK of `delivered` bytes; where the profile has it.
    pub(super) fn start_prr(&self, flight: u64, delivered: i64) -> Option<PrrState> {
        let form = Form::of(&self.config.profile)?;
        let flight = match form {
            Form::Rfc9937 => self.unsacked_before(delivered),
            Form::Rfc6937 | Form::Ns3 => flight,
        };
        Some(PrrState::new(form, self.window, flight))
    }

    /// Bytes that were outstanding and not SACKed before an ACK that `delivered` so many.
    #[inline]
    pub(super) fn unsacked_before(&self, delivered: i64) -> u64 {
        (self.max - self.una - self.board.bytes()).saturating_add_signed(delivered)
    }
}

impl PrrState {
    /// Recovery starts with `flight` bytes outstanding and heads for a window of `target`.
    fn new(form: Form, target: u64, flight: u64) -> PrrState {
        // After a timeout little may be counted as outstanding: a share of what arrives is never more than that.
        let flight = if form == Form::Ns3 { flight.max(1) } else { flight.max(target).max(1) };
        PrrState { form, target, flight, delivered: 0, out: 0, allowed: 0 }
    }

    /// Sets what may be sent until the next ACK.
    pub(super) fn on_ack(&mut self, ack: Delivery, mss: u64) {
        if ack.data == 0 && self.form == Form::Rfc9937 {
            return;
        }
        let counted_twice = self.form == Form::Ns3 && self.delivered < self.flight as i64;
        self.delivered += if counted_twice { 2 * ack.data } else { ack.data };
        self.allowed = if ack.pipe <= self.target {
            let limit = (self.delivered - self.out as i64).max(ack.data) + self.more(ack.is_safe, mss);
            (self.target - ack.pipe).min(limit.max(0).unsigned_abs())
        } else if ack.data < 0 {
            // So much is under way again that what may have been sent before, and was not, may no more.
            self.out = self.out.max(self.share(mss));
            0
        } else {
            self.share(mss).saturating_sub(self.out)
        };
    }

    /// What goes beyond what has arrived while the pipe is below the target.
    fn more(&self, is_safe: bool, mss: u64) -> i64 {
        match self.form {
            Form::Rfc9937 if is_safe => mss as i64,
            Form::Rfc6937 => mss as i64,
            Form::Rfc9937 | Form::Ns3 => 0,
        }
    }

    /// What of the reduced window may have left by now.
    fn share(&self, mss: u64) -> u64 {
        let product = u128::from(self.delivered.max(0).unsigned_abs()) * u128::from(self.target);
        if self.form == Form::Ns3 {
            return u64::from(product as u32) / self.flight;
        }
        let bytes = u64::try_from(product.div_ceil(self.flight.into())).unwrap_or(u64::MAX);
        bytes.next_multiple_of(mss)
    }

    /// The window is this now, with `flight` bytes outstanding and not SACKed before the ACK at hand.
    ///
    /// A mark may reduce it in recovery, too: another response of congestion control begins another episode (RFC 9937,
    /// section 6.1), without the segment that 6.2 forces at the start of one: nothing new is to be repaired. What was not
    /// sent of the share of a larger window is not owed.
    pub(super) fn aim_at(&mut self, window: u64, flight: u64) {
        if window >= self.target {
            return;
        }
        if self.form == Form::Ns3 {
            self.target = window;
        } else {
            *self = PrrState::new(self.form, window, flight);
        }
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

    const OLD: Form = Form::Rfc6937;
    const NEW: Form = Form::Rfc9937;

    /// Segments of 1, so that numbers are those of RFC 6937, section 3.1.
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

    /// Half the flight is the target: every second ACK lets a segment out, until the pipe has come down to it.
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
        // The pipe has come down to 10: from there on one leaves for each that arrives.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
        assert_eq!(pipe, 9);
    }

    /// RFC 6937, section 3.1, second example: fifteen of twenty are lost, each ACK lets two out. By RFC 9937 one, until
    /// SND.UNA moves without further loss.
    #[test]
    fn after_heavy_loss_it_grows_as_in_slow_start_or_on_evidence() {
        let mut old = PrrState::new(OLD, 10, 20);
        assert_eq!([sends(&mut old, 1, 4), sends(&mut old, 1, 5), sends(&mut old, 1, 6)], [2, 2, 2]);
        let mut new = PrrState::new(NEW, 10, 20);
        assert_eq!([sends(&mut new, 1, 4), sends(&mut new, 1, 4), sends(&mut new, 1, 4)], [1, 1, 1]);
        assert_eq!(drains(&mut new, Delivery { data: 1, pipe: 4, is_safe: true }), 2);
        assert_eq!(sends(&mut new, 1, 5), 1);
    }

    /// Ten segments of 1000 bytes, of which an ACK brings half of the first and the last three: ssthresh is 4750, and
    /// nothing is on its way.
    #[test]
    fn a_safe_ack_is_worth_a_segment() {
        for (is_safe, allowed) in [(false, 3500), (true, 4500)] {
            let mut prr = PrrState::new(NEW, 4750, 10_000);
            prr.on_ack(Delivery { data: 3500, pipe: 0, is_safe }, 1000);
            assert_eq!(prr.allowed, allowed);
        }
    }

    /// RFC 9937, section 6.2: an ACK that delivers nothing changes nothing.
    #[test]
    fn what_delivers_nothing_lets_nothing_out() {
        let mut prr = PrrState::new(NEW, 10, 20);
        assert_eq!([sends(&mut prr, 3, 4), sends(&mut prr, 0, 4), sends(&mut prr, 0, 4)], [3, 0, 0]);
        assert_eq!(drains(&mut prr, Delivery { data: 0, pipe: 4, is_safe: true }), 0);
        let mut old = PrrState::new(OLD, 10, 20);
        assert_eq!([sends(&mut old, 3, 4), sends(&mut old, 0, 7)], [4, 1]);
    }

    #[test]
    fn it_heads_for_a_window_that_is_reduced_once_more() {
        for form in [OLD, NEW] {
            let mut prr = PrrState::new(form, 10, 20);
            assert_eq!(sends(&mut prr, 4, 14), 2);
            prr.aim_at(5, 16);
            // CEIL(8 x 5/16), then up to the window.
            assert_eq!([sends(&mut prr, 8, 8), sends(&mut prr, 4, 4)], [3, 1]);
            prr.aim_at(10, 5);
            assert_eq!(sends(&mut prr, 4, 5), 0, "nor does it grow again");
        }
    }

    /// Much has arrived and little was sent, for want of data; then a mark halves the window.
    #[test]
    fn what_was_not_sent_before_a_mark_is_not_sent_after_it() {
        for form in [OLD, NEW] {
            let mut prr = PrrState::new(form, 3000, 4600);
            prr.on_ack(Delivery { data: 1100, pipe: 2900, is_safe: false }, 1);
            prr.sent(60);
            prr.aim_at(1500, 3000);
            assert_eq!(sends(&mut prr, 30, 2970), 15);
        }
    }

    /// What was not sent while there was room is not owed when the receiver throws away what it had.
    #[test]
    fn what_is_taken_back_is_no_reason_to_send() {
        for form in [OLD, NEW] {
            let mut prr = PrrState::new(form, 10, 20);
            prr.on_ack(Delivery { data: 12, pipe: 4, is_safe: false }, 1);
            prr.sent(2);
            assert_eq!([sends(&mut prr, -6, 18), sends(&mut prr, 1, 17)], [0, 1]);
        }
    }

    #[test]
    fn while_much_is_under_way_no_more_leaves_than_arrives() {
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

    /// ns-3 3.44, one of 22 segments lost with 24 outstanding (`docs/deviations/ns3.md`): 20 on their way, ssthresh 10.
    #[test]
    fn ns3_lets_one_out_for_each_that_arrives_until_a_flight_is_through() {
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

    /// The same with 68 segments of 1448 B on their way, and ssthresh 34: 62 of them times ssthresh are more than 2^32.
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
