//! DCTCP: reduction in proportion to the share of marked bytes.
//!
//! RFC 8257. The receiver reports the marked bytes (section 3.2). M is the marked share of the bytes acknowledged over
//! one window of data, from the ACK that opens it to the ACK beyond the data outstanding then:
//!
//! ```text
//! alpha <- (1 - g) alpha + g M            (1), section 3.3, step 6
//! cwnd  <- cwnd (1 - alpha / 2)           (2), step 9: at an ECN echo, once a window
//! ```
//!
//! All else is Reno's: growth (section 3.4), losses and timeouts (3.5). With alpha = 1 a mark halves the window; with
//! few marks it costs little. The window may fall to one segment, as in RFC 3168.

use super::reno::{self, Reno};
use super::{AckSample, CongestionControl, Curve, Entry, Feedback, Recovery, Signal};
use crate::profile::Profile;
use sojourn_params::{Described, Given, Page};
use sojourn_units::Bytes;

/// Entry in the catalogue.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "dctcp",
        summary: "a window that is reduced in proportion to the share of marked bytes; Reno's otherwise",
        idea: "Queues mark early, above a low threshold. The receiver reports the marked bytes; the sender \
               averages their share over windows of data, and an echo takes off half of that share: few marks \
               cost little, a window full of them costs half. So queues stay short and links full. Losses halve \
               the window as Reno's. It needs ECN, and marks that come from the queue's present length.",
        equation: "alpha <- (1 - g) alpha + g M, M = marked share;  cwnd <- cwnd (1 - alpha / 2) at an ECN echo",
        source: "RFC 8257",
        fields: Params::fields,
    },
    recovery: Recovery::Sack,
    feedback: Feedback::PerSegment,
    abe: |_| false,
    read: Given::read::<Params>,
    build: |params, profile, mss| Ok(Curve::Dctcp(Dctcp::new(params.of()?, profile, mss))),
};

sojourn_params::params! {
    /// Parameters of DCTCP.
    #[derive(Copy)]
    pub struct Params {
        /// weight of the last window in the average
        g "g": f64 = 1.0 / 16.0, in above 0.0 to 1.0, "RFC 8257, section 4.2: used by some implementations";
        /// the average at the start
        alpha "alpha": f64 = 1.0, in 0.0 to 1.0, "RFC 8257, section 3.3: the first mark halves the window";
    }
}

/// DCTCP's curve.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: Reno,
    g: f64,
    /// `DCTCP.Alpha`.
    alpha: f64,
    /// `DCTCP.WindowEnd`.
    window_end: u64,
    /// `DCTCP.BytesAcked`.
    bytes_acked: u64,
    /// `DCTCP.BytesMarked`.
    bytes_marked: u64,
}

impl Dctcp {
    /// Starts in slow start with the profile's initial window, for segments of `mss` bytes.
    pub fn new(params: &Params, profile: &Profile, mss: u32) -> Dctcp {
        let reno = Reno::new(&reno::Params::default(), profile, mss);
        Dctcp { reno, g: params.g, alpha: params.alpha, window_end: 0, bytes_acked: 0, bytes_marked: 0 }
    }

    /// Updates alpha by equation (1), and starts the next observation window (section 3.3, steps 5 to 8).
    fn observe(&mut self, sent: u64) {
        let share = self.bytes_marked as f64 / self.bytes_acked as f64;
        self.alpha = self.alpha * (1.0 - self.g) + self.g * share;
        self.window_end = sent;
        (self.bytes_acked, self.bytes_marked) = (0, 0);
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.reno.on_ack(ack);
    }

    /// Section 3.3, steps 1 to 4.
    fn on_feedback(&mut self, ack: &AckSample<'_>) {
        self.bytes_acked += ack.acked;
        self.bytes_marked += if ack.marked { ack.acked } else { 0 };
        if ack.una > self.window_end && self.bytes_acked > 0 {
            self.observe(ack.sent);
        }
    }

    fn on_signal(&mut self, signal: &Signal) {
        match signal {
            Signal::EcnEcho { .. } => self.reno.keep(1.0 - self.alpha / 2.0, 1.0),
            Signal::Loss { .. } | Signal::Timeout { .. } => self.reno.on_signal(signal),
        }
    }

    fn window(&self) -> Bytes {
        self.reno.window()
    }

    fn ssthresh(&self) -> Bytes {
        self.reno.ssthresh()
    }

    fn set_window(&mut self, window: Bytes) {
        self.reno.set_window(window);
    }

    fn set_ssthresh(&mut self, ssthresh: Bytes) {
        self.reno.set_ssthresh(ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RttEstimator;
    use sojourn_units::Time;

    fn dctcp() -> Dctcp {
        Dctcp::new(&Params::default(), &Profile::default(), 1000)
    }

    /// An ACK up to `una`, with data up to `sent` sent.
    fn receive(dctcp: &mut Dctcp, acked: u64, una: u64, sent: u64, marked: bool) {
        let rtt = RttEstimator::new(&Profile::default());
        let (now, flight) = (Time::ZERO, sent - una);
        dctcp.on_feedback(&AckSample { now, acked, flight, rtt: &rtt, sample: None, una, sent, marked });
    }

    #[test]
    fn alpha_starts_at_1_and_changes_once_a_window() {
        let mut dctcp = dctcp();
        // WindowEnd starts at SND.UNA: the first ACK ends a window of its own.
        receive(&mut dctcp, 1000, 1000, 10_000, false);
        assert_eq!(dctcp.alpha, 0.9375);
        // Up to 10000 nothing is decided; the ACK beyond it is part of the window: 3 of 10 segments are marked.
        (2..=10).for_each(|n| receive(&mut dctcp, 1000, n * 1000, 20_000, n <= 4));
        assert_eq!(dctcp.alpha, 0.9375);
        receive(&mut dctcp, 1000, 11_000, 21_000, false);
        assert!((dctcp.alpha - (0.9375 * 15.0 / 16.0 + 0.3 / 16.0)).abs() < 1e-12, "{}", dctcp.alpha);
        assert_eq!(dctcp.window_end, 21_000);
    }

    /// An ACK for two segments counts for both.
    #[test]
    fn bytes_are_counted_and_not_acks() {
        let mut dctcp = Dctcp { alpha: 0.0, g: 1.0, window_end: 3000, ..dctcp() };
        receive(&mut dctcp, 1000, 1000, 4000, false);
        receive(&mut dctcp, 3000, 4000, 8000, true);
        assert_eq!(dctcp.alpha, 0.75);
    }

    #[test]
    fn an_echo_takes_off_half_of_alpha() {
        let mut dctcp = dctcp();
        dctcp.reno.set_window(Bytes::new(40_000));
        dctcp.on_signal(&Signal::EcnEcho { flight: 40_000 });
        assert_eq!((dctcp.window(), dctcp.ssthresh()), (Bytes::new(20_000), Bytes::new(20_000)));
        dctcp.alpha = 0.1;
        dctcp.on_signal(&Signal::EcnEcho { flight: 20_000 });
        assert_eq!((dctcp.window(), dctcp.ssthresh()), (Bytes::new(19_000), Bytes::new(19_000)));
    }

    /// A loss leaves at least ssthresh (RFC 5681, equation 4), but never raises the window.
    #[test]
    fn marks_take_the_window_to_one_segment_and_losses_to_two() {
        let mut dctcp = dctcp();
        dctcp.on_signal(&Signal::Loss { flight: 1000 });
        assert_eq!((dctcp.window(), dctcp.ssthresh()), (Bytes::new(2000), Bytes::new(2000)));
        (0..9).for_each(|_| dctcp.on_signal(&Signal::EcnEcho { flight: 0 }));
        assert_eq!((dctcp.window(), dctcp.ssthresh()), (Bytes::new(1000), Bytes::new(2000)));
        dctcp.on_signal(&Signal::Loss { flight: 1000 });
        assert_eq!((dctcp.window(), dctcp.ssthresh()), (Bytes::new(1000), Bytes::new(2000)));
    }

    /// Section 3.5: independent of alpha.
    #[test]
    fn a_loss_halves_as_reno_s() {
        let mut dctcp = Dctcp { alpha: 0.01, ..dctcp() };
        dctcp.set_window(Bytes::new(30_000));
        dctcp.on_signal(&Signal::Loss { flight: 30_000 });
        assert_eq!(dctcp.window(), Bytes::new(15_000));
        dctcp.on_signal(&Signal::Timeout { flight: 15_000, again: false });
        assert_eq!((dctcp.window(), dctcp.ssthresh()), (Bytes::new(1000), Bytes::new(7500)));
        assert_eq!(dctcp.alpha, 0.01);
    }

    #[test]
    fn an_invalid_gain_is_rejected() {
        for g in [0.0, -0.1, 1.5] {
            let given = [("g".to_string(), sojourn_params::Value::Number(g))];
            let error = Params::from_values(&given).unwrap_err();
            assert!(error.to_string().contains("expected more than 0, at most 1"), "{error}");
        }
    }
}
