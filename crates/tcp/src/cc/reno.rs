//! Reno: additive increase, multiplicative decrease.
//!
//! RFC 5681. In slow start the window grows by each acknowledged segment, above
//! `ssthresh` by one segment a round trip:
//!
//! ```text
//! cwnd += min(N, SMSS)              cwnd < ssthresh        (2)
//! cwnd += SMSS SMSS / cwnd          otherwise              (3)
//! ssthresh = max(FlightSize / 2, 2 SMSS)   at a loss       (4)
//! ```
//!
//! An ECN echo halves the window like a loss (RFC 3168, section 6.1.2), down to
//! one segment. The window is kept as a number with a fraction, so that (3)
//! loses nothing to rounding.

use super::{AckSample, CongestionControl, Curve, Entry, Feedback, Recovery, Signal};
use crate::profile::{Halving, Profile};
use sojourn_units::param::Described;
use sojourn_units::{Bytes, Page};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "reno",
        summary: "Reno with the fast recovery of RFC 5681: any new ACK ends it",
        idea: "Slow start, then one segment more a round trip; half the window at a loss. Recovery repairs one \
               loss a window: further ones mostly wait for the timer.",
        equation: "cwnd += SMSS^2 / cwnd per ACK;  cwnd <- max(FlightSize / 2, 2 SMSS) at a loss",
        source: "RFC 5681",
        fields: Params::fields,
    },
    recovery: Recovery::Reno,
    feedback: Feedback::Classic,
    build: |given, profile, mss| Ok(Curve::Reno(Reno::new(&Params::from_values(given)?, profile, mss))),
};

sojourn_units::params! {
    /// Parameters of Reno.
    #[derive(Copy)]
    pub struct Params {}
}

/// Reno's curve; `reno` and `newreno` differ in the sender's recovery.
#[derive(Clone, Debug)]
pub struct Reno {
    mss: f64,
    halving: Halving,
    window: f64,
    ssthresh: f64,
}

impl Reno {
    /// Slow start from the profile's initial window, for segments of `mss` bytes.
    pub fn new(_params: &Params, profile: &Profile, mss: u32) -> Reno {
        let mss = f64::from(mss);
        let window = profile.initial_window as f64 * mss;
        Reno { mss, halving: profile.halving, window, ssthresh: f64::INFINITY }
    }

    /// Equation (4), and what it means in whole windows.
    fn halve(&mut self, flight: u64) {
        match self.halving {
            Halving::FlightSize => {
                self.ssthresh = self.threshold(flight);
                self.window = self.ssthresh;
            }
            Halving::Window => {
                self.ssthresh = self.threshold(flight);
                self.window = (self.window / 2.0).max(self.mss);
            }
        }
    }

    fn threshold(&self, flight: u64) -> f64 {
        let half = match self.halving {
            Halving::FlightSize => flight as f64 / 2.0,
            Halving::Window => (self.window / 2.0 / self.mss).floor() * self.mss,
        };
        half.max(2.0 * self.mss)
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.window += if self.window < self.ssthresh {
            (ack.acked as f64).min(self.mss)
        } else {
            self.mss * self.mss / self.window
        };
    }

    fn on_signal(&mut self, signal: &Signal) {
        match *signal {
            Signal::Loss { flight } => self.halve(flight),
            Signal::EcnEcho { .. } => {
                self.ssthresh = self.threshold(self.window as u64);
                self.window = (self.window / 2.0).max(self.mss);
            }
            Signal::Timeout { flight, again } => {
                if !again {
                    self.ssthresh = self.threshold(flight);
                }
                self.window = self.mss;
            }
        }
    }

    fn window(&self) -> Bytes {
        Bytes::new(self.window as u64)
    }

    fn ssthresh(&self) -> Bytes {
        Bytes::new(self.ssthresh as u64)
    }

    fn set_window(&mut self, window: Bytes) {
        self.window = (window.get() as f64).max(self.mss);
    }

    fn set_ssthresh(&mut self, ssthresh: Bytes) {
        self.ssthresh = ssthresh.get() as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RttEstimator;
    use sojourn_units::Time;

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
    fn slow_start_adds_what_is_acknowledged_up_to_a_segment() {
        let mut reno = reno("default");
        acks(&mut reno, 400);
        acks(&mut reno, 3000);
        assert_eq!(reno.window(), Bytes::new(11_400));
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut reno = reno("default");
        reno.on_signal(&Signal::Loss { flight: 20_000 });
        assert_eq!((reno.window(), reno.ssthresh()), (Bytes::new(10_000), Bytes::new(10_000)));
        for _ in 0..10 {
            acks(&mut reno, 1000);
        }
        assert!((reno.window - 11_000.0).abs() < 60.0, "{}", reno.window);
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
        reno.window = 3000.0;
        reno.on_signal(&Signal::Loss { flight: 3000 });
        assert_eq!((reno.window(), reno.ssthresh()), (Bytes::new(1500), Bytes::new(2000)));
    }
}
