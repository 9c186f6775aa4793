//! Slow start, shared by all controls.
//!
//! An ACK adds the data it acknowledges, at most `L` segments:
//!
//! ```text
//! cwnd += min(N, L SMSS)     RFC 5681, equation (2), with L = 1; RFC 3465, section 2.2, with L up to 2;
//!                            RFC 9406, section 4.3, with L = 8, or no limit where the sender paces;
//!                            Hybrid Slow Start: no limit
//! ```
//!
//! After a timeout one ACK may cover data that arrived long before, and `L` is 1 (RFC 3465, section 2.3), unless the profile
//! counts all of it.

use super::AckSample;
use super::hybrid::Hybrid;
use super::hystart::HyStart;
use crate::profile::Profile;
use sojourn_params::{Errors, Kind, Quantity, Value, word_or_flag};

/// State of slow start.
#[derive(Clone, Debug)]
pub(super) struct SlowStart {
    /// `L`, segments.
    most: u16,
    /// `L` after a timeout.
    most_after_timeout: u16,
    after_timeout: bool,
    /// Boxed, as it is needed during the first slow start only.
    exit: Option<Box<Exit>>,
}

/// Early end of the first slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyExit {
    /// None: a loss ends it.
    Off,
    /// HyStart++: RFC 9406.
    HyStart,
    /// Hybrid Slow Start: Ha and Rhee 2011.
    Hybrid,
}

/// State of an early end.
#[derive(Clone, Debug)]
enum Exit {
    HyStart(HyStart),
    Hybrid(Hybrid),
}

/// Growth by an ACK in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    /// Growth of the window, bytes.
    pub(super) bytes: f64,
    /// Slow start ends with the resulting window.
    pub(super) ends: bool,
}

impl SlowStart {
    /// Starts the first slow start, with an early end.
    pub(super) fn new(profile: &Profile, early: EarlyExit) -> SlowStart {
        let exit = match early {
            EarlyExit::Off => None,
            EarlyExit::HyStart => Some(Exit::HyStart(HyStart::new(profile.pacing))),
            EarlyExit::Hybrid => Some(Exit::Hybrid(Hybrid::new(profile.pacing))),
        };
        let most = profile.byte_counting.max(1) as u16;
        let most_after_timeout = if profile.counts_all_after_timeout { most } else { 1 };
        SlowStart { most, most_after_timeout, after_timeout: false, exit: exit.map(Box::new) }
    }

    /// Takes in an ACK of new data at a window of `window` bytes, with segments of `mss` bytes.
    pub(super) fn on_ack(&mut self, ack: &AckSample<'_>, window: f64, mss: f64) -> Growth {
        let acked = ack.acked as f64;
        match self.exit.as_deref_mut() {
            Some(Exit::HyStart(hystart)) => {
                let bytes = hystart.increase(acked, mss);
                Growth { bytes, ends: hystart.is_over(ack) }
            }
            // The ACK that ends slow start adds nothing: the present window is one that the path has carried.
            Some(Exit::Hybrid(hybrid)) => {
                let ends = hybrid.is_over(ack, window / mss);
                Growth { bytes: if ends { 0.0 } else { acked }, ends }
            }
            None => {
                let most = if self.after_timeout { self.most_after_timeout } else { self.most };
                Growth { bytes: acked.min(f64::from(most) * mss), ends: false }
            }
        }
    }

    /// Returns whether HyStart++ limits the growth per ACK.
    pub(super) fn has_hystart(&self) -> bool {
        matches!(self.exit.as_deref(), Some(Exit::HyStart(_)))
    }

    /// Ends the first slow start; `timeout`: the next one follows a timeout.
    pub(super) fn leave(&mut self, timeout: bool) {
        self.after_timeout = timeout;
        self.exit = None;
    }
}

const EARLY: [&str; 2] = ["rfc9406", "hybrid"];

/// A word, or false; true is HyStart++.
impl Quantity for EarlyExit {
    fn kind() -> Kind {
        Kind::WordOrFlag(&EARLY)
    }
    fn read(value: &Value) -> Result<EarlyExit, Errors> {
        Ok(match word_or_flag(value, &EARLY, "is no way to leave slow start")? {
            None => EarlyExit::Off,
            Some(0) => EarlyExit::HyStart,
            Some(_) => EarlyExit::Hybrid,
        })
    }
    fn write(&self) -> Value {
        match self {
            EarlyExit::Off => Value::Flag(false),
            EarlyExit::HyStart => Value::Flag(true),
            EarlyExit::Hybrid => Value::Text("hybrid".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RttEstimator;
    use sojourn_units::Time;

    fn grown(slow_start: &mut SlowStart, acked: u64) -> f64 {
        let rtt = RttEstimator::new(&Profile::default());
        let ack = AckSample {
            now: Time::ZERO,
            acked,
            flight: 0,
            rtt: &rtt,
            sample: None,
            una: acked,
            sent: acked,
            marked: false,
        };
        slow_start.on_ack(&ack, 10_000.0, 1000.0).bytes
    }

    /// RFC 3465: the bytes acknowledged (ACK division gains nothing, section 3.3), at most L segments.
    #[test]
    fn an_ack_adds_the_acknowledged_data_up_to_a_limit() {
        for (byte_counting, most) in [(0, 1000.0), (1, 1000.0), (2, 2000.0)] {
            let profile = Profile { byte_counting, ..Profile::default() };
            let mut slow_start = SlowStart::new(&profile, EarlyExit::Off);
            assert_eq!(grown(&mut slow_start, 10), 10.0);
            assert_eq!(grown(&mut slow_start, 1000), 1000.0);
            assert_eq!(grown(&mut slow_start, 5000), most);
        }
    }

    #[test]
    fn after_a_timeout_one_segment_is_the_most() {
        let mut slow_start = SlowStart::new(&Profile::default(), EarlyExit::Off);
        slow_start.leave(true);
        assert_eq!(grown(&mut slow_start, 5000), 1000.0);
        slow_start.leave(false);
        assert_eq!(grown(&mut slow_start, 5000), 2000.0);
    }

    #[test]
    fn hystart_allows_eight_segments_or_all_where_the_sender_paces() {
        for (pacing, most) in [(false, 8000.0), (true, 20_000.0)] {
            let profile = Profile { pacing, ..Profile::default() };
            let mut slow_start = SlowStart::new(&profile, EarlyExit::HyStart);
            assert_eq!(grown(&mut slow_start, 20_000), most);
            slow_start.leave(false);
            assert_eq!(grown(&mut slow_start, 20_000), 2000.0);
        }
    }
}
