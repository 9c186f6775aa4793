//! Reno: additive increase, multiplicative decrease.
//!
//! RFC 5681. In slow start the window grows by the data acknowledged, above `ssthresh` by one segment per round trip:
//!
//! ```text
//! cwnd += min(N, L SMSS)            cwnd < ssthresh        (1)
//! cwnd += SMSS for each cwnd bytes acknowledged, otherwise (2)
//! ssthresh = max(FlightSize / 2, 2 SMSS)   at a loss       (3)
//! ```
//!
//! Equation (2) counts bytes (RFC 3465, section 2.1); a profile that counts ACKs adds SMSS SMSS / cwnd for each (RFC
//! 5681, equation 3), to a fractional window, so that rounding loses nothing.
//!
//! An ECN echo halves the window like a loss (RFC 3168, section 6.1.2), down to one segment. With ABE (RFC 8511) it
//! leaves 0.8 of the flight in congestion avoidance, as marks come early, from short queues.

use super::slow_start::{EarlyExit, SlowStart};
use super::{AckSample, CongestionControl, Curve, Entry, Feedback, Recovery, Signal};
use crate::profile::{Halving, Profile};
use sojourn_params::{Described, Given, Page};
use sojourn_units::Bytes;

/// Entry in the catalogue.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "reno",
        summary: "Reno with the fast recovery of RFC 5681: any new ACK ends it",
        idea: "Slow start, then one segment more a round trip; half the window at a loss. Recovery repairs one \
               loss a window: further ones mostly wait for the timer.",
        equation: "cwnd += SMSS per cwnd bytes acknowledged;  cwnd <- max(FlightSize / 2, 2 SMSS) at a loss",
        source: "RFC 5681",
        fields: Params::fields,
    },
    recovery: Recovery::Reno,
    feedback: Feedback::Classic,
    abe: |params| params.of::<Params>().is_ok_and(|params| params.abe),
    read: Given::read::<Params>,
    build: |params, profile, mss| Ok(Curve::Reno(Reno::new(params.of()?, profile, mss))),
};

sojourn_params::params! {
    /// Parameters of Reno.
    #[derive(Copy)]
    pub struct Params {
        /// leave the first slow start when the round-trip time rises: HyStart++ (true), or as Linux does ("hybrid")
        hystart "HyStart++": EarlyExit = EarlyExit::Off,
            "not in RFC 5681; RFC 9406, section 4.3 has it for any control";
        /// after an ECN echo keep 0.8 of the flight instead of half
        abe "ABE": bool = false, "RFC 8511 is an experiment";
    }
}

/// Reno's curve, in bytes; `reno` and `newreno` differ in the sender's recovery.
#[derive(Clone, Debug)]
pub struct Reno {
    mss: f64,
    halving: Halving,
    counts_bytes: bool,
    abe: bool,
    /// Least window after an ECN echo, segments.
    least_at_echo: f64,
    slow_start: SlowStart,
    cwnd: f64,
    ssthresh: f64,
    /// `bytes_acked`: acknowledged in congestion avoidance since the window last grew.
    bytes_acked: f64,
}

impl Reno {
    /// Starts in slow start with the profile's initial window, for segments of `mss` bytes.
    pub fn new(params: &Params, profile: &Profile, mss: u32) -> Reno {
        let mss = f64::from(mss);
        Reno {
            mss,
            halving: profile.halving,
            counts_bytes: profile.byte_counting > 0,
            abe: params.abe,
            least_at_echo: profile.ecn_at_one.least(),
            slow_start: SlowStart::new(profile, params.hystart),
            cwnd: profile.initial_window as f64 * mss,
            ssthresh: profile.first_ssthresh() * mss,
            bytes_acked: 0.0,
        }
    }

    /// Returns whether the window is below `ssthresh`.
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Window, segments.
    pub(super) fn segments(&self) -> f64 {
        self.cwnd / self.mss
    }

    /// Least window after an ECN echo if windows are at least one segment, segments.
    pub(super) fn least_at_echo(&self) -> f64 {
        self.least_at_echo.max(1.0)
    }

    /// Grows the window in congestion avoidance by `per_segment` segments per segment acknowledged, or per ACK.
    pub(super) fn grow(&mut self, acked: u64, per_segment: f64) {
        self.cwnd += per_segment * if self.counts_bytes { acked as f64 } else { self.mss };
    }

    /// Reduces to a share of the window, at least `least` segments.
    pub(super) fn keep(&mut self, share: f64, least: f64) {
        self.reduce_to(self.cwnd * share, least);
    }

    /// Reduces to at least `least` segments or the present window; `ssthresh` is at least two segments.
    fn reduce_to(&mut self, window: f64, least: f64) {
        self.cwnd = window.max(least * self.mss).min(self.cwnd.max(self.mss));
        self.ssthresh = window.max(MIN_SSTHRESH * self.mss);
        self.slow_start.leave(false);
        self.bytes_acked = 0.0;
    }

    fn grow_in_slow_start(&mut self, ack: &AckSample<'_>) {
        let growth = self.slow_start.on_ack(ack, self.cwnd, self.mss);
        self.cwnd += growth.bytes;
        if growth.ends {
            self.ssthresh = self.cwnd;
        }
        if !self.in_slow_start() {
            self.slow_start.leave(false);
        }
    }

    /// Grows by equation (2), or RFC 5681's (3).
    fn avoid_congestion(&mut self, acked: u64) {
        if !self.counts_bytes {
            self.cwnd += self.mss * self.mss / self.cwnd;
            return;
        }
        self.bytes_acked += acked as f64;
        if self.bytes_acked >= self.cwnd {
            self.bytes_acked -= self.cwnd;
            self.cwnd += self.mss;
        }
    }

    /// Reduces by equation (3), or to half the window.
    fn halve(&mut self, flight: u64) {
        match self.halving {
            Halving::FlightSize | Halving::Pipe => self.reduce_to(flight as f64 / 2.0, MIN_SSTHRESH),
            Halving::Window => self.halve_window(1.0),
            Halving::Cwnd => self.halve_window(MIN_SSTHRESH),
        }
    }

    /// Halves the window to at least `least` segments: one at an ECN echo (RFC 3168, section 6.1.2).
    fn halve_window(&mut self, least: f64) {
        let ssthresh = self.threshold(self.cwnd as u64);
        self.keep(0.5, least);
        self.ssthresh = ssthresh;
    }

    /// Reduces by ABE (RFC 8511, section 3.1); below two segments RFC 3168 applies.
    fn keep_most(&mut self, flight: u64) {
        self.reduce_to(BETA_ECN * (flight as f64).min(self.cwnd), self.least_at_echo());
    }

    fn on_rto(&mut self, flight: u64, again: bool) {
        if !again {
            self.ssthresh = self.threshold(flight);
        }
        self.cwnd = self.mss;
        self.slow_start.leave(true);
        self.bytes_acked = 0.0;
    }

    fn threshold(&self, flight: u64) -> f64 {
        let half = match self.halving {
            Halving::FlightSize | Halving::Pipe => flight as f64 / 2.0,
            Halving::Window | Halving::Cwnd => (self.cwnd / 2.0 / self.mss).floor() * self.mss,
        };
        half.max(MIN_SSTHRESH * self.mss)
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if self.in_slow_start() {
            self.grow_in_slow_start(ack);
        } else {
            self.avoid_congestion(ack.acked);
        }
    }

    fn on_signal(&mut self, signal: &Signal) {
        match *signal {
            Signal::Loss { flight } => self.halve(flight),
            // Section 4: the measured response does not apply in slow start.
            Signal::EcnEcho { flight } if self.abe && !self.in_slow_start() => self.keep_most(flight),
            Signal::EcnEcho { .. } => self.halve_window(self.least_at_echo),
            Signal::Timeout { flight, again } => self.on_rto(flight, again),
        }
    }

    fn window(&self) -> Bytes {
        Bytes::new(self.cwnd as u64)
    }

    fn ssthresh(&self) -> Bytes {
        Bytes::new(self.ssthresh as u64)
    }

    fn set_window(&mut self, window: Bytes) {
        self.cwnd = (window.get() as f64).max(self.mss);
    }

    fn set_ssthresh(&mut self, ssthresh: Bytes) {
        self.ssthresh = ssthresh.get() as f64;
    }
}

/// Segments (RFC 5681, equation 4).
const MIN_SSTHRESH: f64 = 2.0;
/// Share of the flight after an ECN echo with ABE (RFC 8511, section 3.1).
const BETA_ECN: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RttEstimator;
    use sojourn_units::{Span, Time};

    const MSS: u32 = 1000;

    fn reno(profile: &str) -> Reno {
        Reno::new(&Params::default(), &Profile::named(profile).unwrap(), MSS)
    }

    fn acks(reno: &mut Reno, acked: u64) {
        let rtt = RttEstimator::new(&Profile::default());
        let ack = AckSample {
            now: Time::ZERO,
            acked,
            flight: 0,
            rtt: &rtt,
            sample: None,
            una: 0,
            sent: 0,
            marked: false,
        };
        reno.on_ack(&ack);
    }

    #[test]
    fn slow_start_adds_acknowledged_data_up_to_two_segments() {
        let mut reno = reno("default");
        acks(&mut reno, 400);
        acks(&mut reno, 3000);
        assert_eq!(reno.window(), Bytes::new(12_400));
    }

    /// RFC 3465, section 2.1: a window's worth of bytes, in ACKs of any size.
    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut reno = reno("default");
        reno.on_signal(&Signal::Loss { flight: 20_000 });
        assert_eq!((reno.window(), reno.ssthresh()), (Bytes::new(10_000), Bytes::new(10_000)));
        (0..4).for_each(|_| acks(&mut reno, 2000));
        acks(&mut reno, 1999);
        assert_eq!(reno.window(), Bytes::new(10_000));
        acks(&mut reno, 1);
        assert_eq!(reno.window(), Bytes::new(11_000));
        // The remainder counts for the next segment.
        acks(&mut reno, 10_500);
        assert_eq!(reno.window(), Bytes::new(11_000));
        acks(&mut reno, 1000);
        assert_eq!(reno.window(), Bytes::new(12_000));
        (0..11_499).for_each(|_| acks(&mut reno, 1));
        assert_eq!(reno.window(), Bytes::new(12_000));
        acks(&mut reno, 1);
        assert_eq!(reno.window(), Bytes::new(13_000));
    }

    /// RFC 5681, equation (3).
    #[test]
    fn a_profile_that_counts_acks_adds_its_share_at_each() {
        let mut reno = reno("ns2");
        reno.cwnd = 10_000.0;
        reno.ssthresh = 10_000.0;
        acks(&mut reno, 5000);
        assert_eq!(reno.cwnd, 10_100.0);
    }

    #[test]
    fn after_a_timeout_an_ack_adds_one_segment() {
        let mut reno = reno("default");
        reno.on_signal(&Signal::Timeout { flight: 10_000, again: false });
        acks(&mut reno, 4000);
        assert_eq!(reno.window(), Bytes::new(2000));
    }

    #[test]
    fn abe_keeps_four_fifths_at_an_echo_in_congestion_avoidance() {
        let params = Params { abe: true, ..Params::default() };
        let mut reno = Reno::new(&params, &Profile::default(), MSS);
        reno.on_signal(&Signal::EcnEcho { flight: 10_000 });
        assert_eq!(reno.window(), Bytes::new(5000), "slow start");
        reno.cwnd = 10_000.0;
        reno.on_signal(&Signal::EcnEcho { flight: 20_000 });
        assert_eq!((reno.window(), reno.ssthresh()), (Bytes::new(8000), Bytes::new(8000)));
        reno.on_signal(&Signal::EcnEcho { flight: 5000 });
        assert_eq!(reno.window(), Bytes::new(4000));
        reno.on_signal(&Signal::Loss { flight: 4000 });
        reno.on_signal(&Signal::EcnEcho { flight: 2000 });
        assert_eq!((reno.window(), reno.ssthresh()), (Bytes::new(1600), Bytes::new(2000)));
    }

    #[test]
    fn hystart_ends_slow_start_at_the_present_window() {
        let params = Params { hystart: EarlyExit::HyStart, ..Params::default() };
        let mut reno = Reno::new(&params, &Profile::default(), MSS);
        let rtt = RttEstimator::new(&Profile::default());
        let mut una = 0;
        for round in 0..8 {
            for _ in 0..10 {
                una += 1000;
                let sample = Some(Span::from_millis(if round == 0 { 50 } else { 100 }));
                let (now, acked, flight, sent) = (Time::ZERO, 1000, 9000, una + 9000);
                reno.on_ack(&AckSample { now, acked, flight, rtt: &rtt, sample, una, sent, marked: false });
            }
        }
        assert!(!reno.in_slow_start());
        // One segment for each of the first 18 ACKs: the eighth sample of the second round shows the increase. Then a
        // quarter for each, to the last of the fifth round that ends since: 1 + 4 * 9 of them.
        assert_eq!(reno.ssthresh(), Bytes::new(10_000 + 18_000 + 37 * 250));
    }

    #[test]
    fn floors_are_two_segments_for_loss_and_one_for_ecn() {
        let mut reno = reno("default");
        reno.on_signal(&Signal::Loss { flight: 1000 });
        assert_eq!(reno.window(), Bytes::new(2000));
        reno.on_signal(&Signal::EcnEcho { flight: 2000 });
        reno.on_signal(&Signal::EcnEcho { flight: 2000 });
        assert_eq!((reno.window(), reno.ssthresh()), (Bytes::new(1000), Bytes::new(2000)));
    }

    #[test]
    fn a_repeated_timeout_keeps_ssthresh() {
        let mut reno = reno("default");
        reno.on_signal(&Signal::Timeout { flight: 10_000, again: false });
        reno.on_signal(&Signal::Timeout { flight: 1000, again: true });
        assert_eq!((reno.window(), reno.ssthresh()), (Bytes::new(1000), Bytes::new(5000)));
    }

    #[test]
    fn ns2_halves_the_window_with_its_fraction() {
        let mut reno = reno("ns2");
        reno.cwnd = 3000.0;
        reno.on_signal(&Signal::Loss { flight: 3000 });
        assert_eq!((reno.window(), reno.ssthresh()), (Bytes::new(1500), Bytes::new(2000)));
    }
}
