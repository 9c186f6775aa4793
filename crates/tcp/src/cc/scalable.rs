//! Scalable TCP: increase and decrease in proportion to the window.
//!
//! T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM SIGCOMM Computer Communication
//! Review 33(2), 2003. In congestion avoidance, with the window in segments:
//!
//! ```text
//! cwnd += a             for each segment acknowledged, a = 0.01     (1)
//! cwnd <- (1 - b) cwnd  at a loss,                     b = 0.125    (2)
//! ```
//!
//! The time from a loss back to the window before it is therefore the same number of round trips for any window, ln(1
//! / (1 - b)) / ln(1 + a) or 13.4. Up to the legacy window of 16 segments, where Reno's window at the same loss is
//! larger, it follows Reno, as in slow start and after timeouts.

use super::reno::{self, Reno};
use super::{AckSample, CongestionControl, Curve, Entry, Feedback, Recovery, Signal};
use crate::profile::Profile;
use sojourn_params::{Described, Given, Page};
use sojourn_units::Bytes;

/// Entry in the catalogue.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "scalable",
        summary: "growth by a hundredth and reduction by an eighth of the window: recovers from a loss in 14 round trips",
        idea: "Reno needs half a window of round trips to recover from a loss, hours on a fast long path. Here \
               each acknowledged segment adds a hundredth of a segment, so that the window grows by a hundredth \
               a round trip, and a loss costs an eighth: recovery takes the same number of round trips at any \
               window. Small windows follow Reno. Flows of different windows do not become equal under losses \
               that hit all of them.",
        equation: "cwnd += 0.01 per segment acknowledged;  cwnd <- 0.875 cwnd at a loss;  Reno up to 16 segments",
        source: "T. Kelly, ACM SIGCOMM Computer Communication Review 33(2), 2003",
        fields: Params::fields,
    },
    recovery: Recovery::Sack,
    feedback: Feedback::Classic,
    abe: |_| false,
    read: Given::read::<Params>,
    build: |params, profile, mss| Ok(Curve::Scalable(Scalable::new(params.of()?, profile, mss))),
};

sojourn_params::params! {
    /// Parameters of Scalable TCP.
    #[derive(Copy)]
    pub struct Params {
        /// segments that each acknowledged segment adds
        a "a": f64 = 0.01, in above 0.0 to 1.0, "Kelly 2003";
        /// share of the window that a loss or a mark takes away
        b "b": f64 = 0.125, in above 0.0 to below 1.0, "Kelly 2003";
        /// the largest window, in segments, that follows Reno
        low_window "lwnd": f64 = 16.0, at least 0.0,
            "Kelly 2003: where a and b give about the window that Reno has at the same loss";
    }
}

/// Scalable TCP's curve.
#[derive(Clone, Debug)]
pub struct Scalable {
    reno: Reno,
    params: Params,
}

impl Scalable {
    /// Starts in slow start with the profile's initial window, for segments of `mss` bytes.
    pub fn new(params: &Params, profile: &Profile, mss: u32) -> Scalable {
        Scalable { reno: Reno::new(&reno::Params::default(), profile, mss), params: *params }
    }

    fn is_low(&self) -> bool {
        self.reno.segments() <= self.params.low_window
    }
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if self.reno.in_slow_start() || self.is_low() {
            self.reno.on_ack(ack);
        } else {
            self.reno.grow(ack.acked, self.params.a);
        }
    }

    fn on_signal(&mut self, signal: &Signal) {
        match signal {
            Signal::Loss { .. } if !self.is_low() => self.reno.keep(1.0 - self.params.b, 2.0),
            Signal::EcnEcho { .. } if !self.is_low() => self.reno.keep(1.0 - self.params.b, 1.0),
            _ => self.reno.on_signal(signal),
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

    /// A curve in congestion avoidance with a window of `segments` of 1000 bytes.
    fn scalable(segments: u64) -> Scalable {
        let mut scalable = Scalable::new(&Params::default(), &Profile::default(), 1000);
        scalable.set_window(Bytes::new(segments * 1000));
        scalable.set_ssthresh(Bytes::new(segments * 1000));
        scalable
    }

    fn acks(scalable: &mut Scalable, acked: u64) {
        let rtt = RttEstimator::new(&Profile::default());
        let (now, sample) = (Time::ZERO, None);
        scalable.on_ack(&AckSample {
            now,
            acked,
            flight: 0,
            rtt: &rtt,
            sample,
            una: 0,
            sent: 0,
            marked: false,
        });
    }

    #[test]
    fn each_segment_adds_a_hundredth() {
        let mut scalable = scalable(100);
        acks(&mut scalable, 1000);
        assert_eq!(scalable.window(), Bytes::new(100_010));
        acks(&mut scalable, 2000);
        assert_eq!(scalable.window(), Bytes::new(100_030));
    }

    #[test]
    fn a_loss_and_a_mark_cost_an_eighth() {
        let mut scalable = scalable(80);
        scalable.on_signal(&Signal::Loss { flight: 80_000 });
        assert_eq!((scalable.window(), scalable.ssthresh()), (Bytes::new(70_000), Bytes::new(70_000)));
        scalable.on_signal(&Signal::EcnEcho { flight: 70_000 });
        assert_eq!((scalable.window(), scalable.ssthresh()), (Bytes::new(61_250), Bytes::new(61_250)));
    }

    /// ln(8 / 7) / ln(1.01) = 13.42: the fourteenth round trip restores the window, large or small.
    #[test]
    fn recovery_takes_fourteen_round_trips_at_any_window() {
        for segments in [40, 400, 4000] {
            let mut scalable = scalable(segments);
            scalable.on_signal(&Signal::Loss { flight: segments * 1000 });
            let mut rounds = 0;
            while scalable.window() < Bytes::new(segments * 1000) {
                let window = scalable.window().get();
                acks(&mut scalable, window);
                rounds += 1;
            }
            assert_eq!(rounds, 14, "{segments}");
        }
    }

    #[test]
    fn up_to_16_segments_it_is_reno() {
        let mut low = scalable(16);
        acks(&mut low, 16_000);
        assert_eq!(low.window(), Bytes::new(17_000));
        let mut low = scalable(16);
        low.on_signal(&Signal::Loss { flight: 16_000 });
        assert_eq!(low.window(), Bytes::new(8000));
        let mut above = scalable(17);
        above.on_signal(&Signal::Loss { flight: 17_000 });
        assert_eq!(above.window(), Bytes::new(14_875));
        above.on_signal(&Signal::Timeout { flight: 14_875, again: false });
        assert_eq!((above.window(), above.ssthresh()), (Bytes::new(1000), Bytes::new(7437)));
    }

    #[test]
    fn slow_start_is_reno_s() {
        let mut scalable = Scalable::new(&Params::default(), &Profile::default(), 1000);
        scalable.set_window(Bytes::new(50_000));
        acks(&mut scalable, 2000);
        assert_eq!(scalable.window(), Bytes::new(52_000));
    }
}
