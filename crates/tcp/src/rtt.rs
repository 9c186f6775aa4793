//! Round-trip time and retransmission timeout: RFC 6298.
//!
//! A profile may select the original code instead: V. Jacobson, Congestion Avoidance and Control, SIGCOMM 1988,
//! appendix A. It counts elapsed clock ticks, and holds eighths and quarters of ticks in whole numbers.

use crate::profile::{Profile, RtoFloor};
use sojourn_units::{Span, Time};

/// Smoothed round-trip time, its variation, and the retransmission timeout.
///
/// Times are in seconds. A sample is rounded to the clock's tick, the timeout down to it. Clock and bounds are passed
/// in with the profile, to keep the estimator small.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// `SRTT`, at least one tick; 0 before the first sample.
    srtt: f64,
    rttvar: f64,
    /// Timeout without back-off.
    plain: Span,
    /// Doublings since the last sample.
    backoff: u32,
    /// Timeout in force.
    timeout: Span,
}

impl RttEstimator {
    /// Estimator without a sample.
    pub fn new(profile: &Profile) -> RttEstimator {
        let mut estimator = RttEstimator {
            srtt: 0.0,
            rttvar: 0.0,
            plain: profile.initial_rto,
            backoff: 0,
            timeout: Span::ZERO,
        };
        estimator.set_timeout(profile);
        estimator
    }

    /// Takes the only sample of a round trip.
    pub(crate) fn sample(&mut self, profile: &Profile, now: Time, rtt: Span) {
        self.sample_one_of(1.0, profile, now, rtt);
    }

    /// Takes one of `count` samples of a round trip, which share the weight of one (RFC 7323, appendix G).
    ///
    /// A sample ends the back-off (RFC 6298, end of section 5).
    pub(crate) fn sample_one_of(&mut self, count: f64, profile: &Profile, now: Time, rtt: Span) {
        if profile.whole_ticks {
            self.count_ticks(profile, now, rtt);
        } else {
            self.smooth(count, profile, rtt);
        }
        self.backoff = 0;
        self.set_timeout(profile);
    }

    fn smooth(&mut self, count: f64, profile: &Profile, rtt: Span) {
        let rtt = in_ticks(profile, rtt);
        match self.smoothed_s() {
            // (2.2)
            None => {
                self.rttvar = rtt / 2.0;
                self.srtt = rtt;
            }
            // (2.3)
            Some(smoothed) => {
                self.rttvar += BETA / count * ((smoothed - rtt).abs() - self.rttvar);
                self.srtt = smoothed + ALPHA / count * (rtt - smoothed);
            }
        }
        self.plain = whole_ticks(profile, self.srtt + beyond(profile, self.rttvar));
    }

    /// Jacobson's appendix A. Its shifts round down, so that neither estimate converges to the samples.
    fn count_ticks(&mut self, profile: &Profile, now: Time, rtt: Span) {
        let nanos = profile.tick.nanos().max(1);
        let ticks = (now.nanos() / nanos - now.nanos().saturating_sub(rtt.nanos()) / nanos).max(1) as i64;
        let (eighth, quarter) = (nanos as f64 * 1e-9 / 8.0, nanos as f64 * 1e-9 / 4.0);
        let (eighths, quarters) = match self.smoothed_s() {
            None => (8 * ticks, 2 * ticks),
            Some(smoothed) => {
                let eighths = (smoothed / eighth).round() as i64;
                let quarters = (self.rttvar / quarter).round() as i64;
                let error = ticks - eighths / 8;
                ((eighths + error).max(1), (quarters + error.abs() - quarters / 4).max(1))
            }
        };
        self.srtt = eighths as f64 * eighth;
        self.rttvar = quarters as f64 * quarter;
        // Four variations in ticks equal the number of quarters.
        self.plain = Span::from_nanos((eighths / 8 + quarters) as u64 * nanos);
    }

    /// Raises the estimates to at least those of `sample` after a spurious timeout (RFC 4015, section 3.1, step 11).
    pub(crate) fn widen(&mut self, profile: &Profile, sample: Span) {
        let rtt = in_ticks(profile, sample);
        let before = self.smoothed_s().unwrap_or(rtt) + 2.0 * profile.tick.seconds();
        let smoothed = before.max(rtt);
        self.srtt = smoothed;
        self.rttvar = self.rttvar.max(rtt / 2.0);
        self.plain = whole_ticks(profile, smoothed + beyond(profile, self.rttvar));
        self.set_timeout(profile);
    }

    /// Doubles the timeout (5.5).
    pub(crate) fn back_off(&mut self, profile: &Profile) {
        self.backoff = (self.backoff + 1).min(profile.most_doublings.min(32));
        // After several timeouts the old samples are likely bogus; the next sample starts afresh.
        if self.backoff > DOUBLINGS_KEPT {
            self.srtt = 0.0;
        }
        self.set_timeout(profile);
    }

    /// Raises the timeout for the first data after a lost SYN (5.7).
    pub(crate) fn restart_at_least(&mut self, profile: &Profile, timeout: Span) {
        self.plain = self.plain.max(timeout);
        self.backoff = 0;
        self.set_timeout(profile);
    }

    /// Timeout in force, with back-off and bounds.
    pub fn timeout(&self) -> Span {
        self.timeout
    }

    /// Smoothed round-trip time, seconds.
    pub fn smoothed_s(&self) -> Option<f64> {
        (self.srtt > 0.0).then_some(self.srtt)
    }

    fn set_timeout(&mut self, profile: &Profile) {
        let Profile { min_rto, max_rto, .. } = *profile;
        self.timeout = self.plain.max(min_rto).saturating_mul(1 << self.backoff).min(max_rto);
    }
}

/// Rounds a duration to the clock's ticks, at least one. Seconds.
fn in_ticks(profile: &Profile, span: Span) -> f64 {
    let tick = profile.tick.nanos().max(1);
    let ticks = ((span.nanos() + tick / 2) / tick).max(1);
    Span::from_nanos(ticks * tick).seconds()
}

/// The part of the timeout beyond the smoothed round-trip time. Seconds.
fn beyond(profile: &Profile, rttvar: f64) -> f64 {
    let least = match profile.rto_floor {
        RtoFloor::Timeout => profile.tick,
        RtoFloor::Variation => profile.min_rto,
    };
    (K * rttvar).max(least.seconds())
}

fn whole_ticks(profile: &Profile, seconds: f64) -> Span {
    let tick = profile.tick.nanos().max(1);
    Span::from_nanos(Span::from_seconds(seconds).nanos() / tick * tick)
}

/// Weight of a sample in `SRTT` (RFC 6298, 2.3).
const ALPHA: f64 = 1.0 / 8.0;
/// Weight of a sample in `RTTVAR` (RFC 6298, 2.3).
const BETA: f64 = 1.0 / 4.0;
/// Multiple of `RTTVAR` in the timeout (RFC 6298, 2.2).
const K: f64 = 4.0;
/// Doublings after which the samples are discarded (allowed at the end of RFC 6298, section 5).
const DOUBLINGS_KEPT: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_6298_worked_by_hand() {
        let profile = Profile { min_rto: Span::from_millis(1), ..Profile::default() };
        let mut rtt = RttEstimator::new(&profile);
        assert_eq!(rtt.timeout(), Span::from_secs(1));
        rtt.sample(&profile, Time::ZERO, Span::from_millis(100));
        // SRTT 100, RTTVAR 50: 100 + 4 x 50.
        assert_eq!(rtt.timeout(), Span::from_millis(300));
        rtt.sample(&profile, Time::ZERO, Span::from_millis(180));
        // RTTVAR 3/4 50 + 1/4 80 = 57.5, SRTT 7/8 100 + 1/8 180 = 110.
        assert_eq!(rtt.timeout(), Span::from_millis(340));
        assert!((rtt.smoothed_s().unwrap() - 0.11).abs() < 1e-12);
    }

    #[test]
    fn rfc_7323_appendix_g_spreads_the_weight_over_a_round_trip() {
        let profile = Profile::default();
        let mut rtt = RttEstimator::new(&profile);
        rtt.sample_one_of(5.0, &profile, Time::ZERO, Span::from_millis(100));
        rtt.sample_one_of(5.0, &profile, Time::ZERO, Span::from_millis(180));
        // RTTVAR 50 + (80 - 50) / 20, SRTT 100 + 80 / 40.
        assert!((rtt.smoothed_s().unwrap() - 0.102).abs() < 1e-12);
        assert_eq!(rtt.timeout(), Span::from_millis(102 + 4 * 50 + 6));
    }

    #[test]
    fn back_off_doubles_up_to_the_cap_and_a_sample_ends_it() {
        let profile = Profile::default();
        let mut rtt = RttEstimator::new(&profile);
        rtt.sample(&profile, Time::ZERO, Span::from_millis(100));
        for doublings in 1..=3 {
            rtt.back_off(&profile);
            assert_eq!(rtt.timeout(), Span::from_millis(300 << doublings));
        }
        for _ in 0..20 {
            rtt.back_off(&profile);
        }
        assert_eq!(rtt.timeout(), Span::from_secs(60));
        rtt.sample(&profile, Time::ZERO, Span::from_millis(100));
        assert_eq!(rtt.timeout(), Span::from_millis(300), "measured afresh");
    }

    /// Trace of ns-2 2.35: packets of 1000 B over 10 Mbit/s with 43.7 ms each way, one at a time.
    #[test]
    fn jacobsons_code_counts_the_ticks_that_pass() {
        let profile = Profile::named("ns2").unwrap();
        let mut rtt = RttEstimator::new(&profile);
        // Time of the ACK, us, on a clock that ns-2 starts 5 ms earlier; the round-trip time, us; eighths and quarters
        // of ticks.
        for (at, took, eighths, quarters) in [
            (592_460, 87_464, 72.0, 18.0),
            (680_700, 88_240, 72.0, 14.0),
            (768_930, 88_230, 71.0, 12.0),
            (857_160, 88_230, 72.0, 10.0),
            (945_390, 88_230, 72.0, 8.0),
        ] {
            rtt.sample(&profile, Time::ZERO + Span::from_micros(at), Span::from_micros(took));
            assert!((rtt.srtt / 0.01 * 8.0 - eighths).abs() < 1e-9, "{at}: {}", rtt.srtt);
            assert!((rtt.rttvar / 0.01 * 4.0 - quarters).abs() < 1e-9, "{at}: {}", rtt.rttvar);
        }
        assert_eq!(rtt.plain, Span::from_millis(170));
    }

    #[test]
    fn a_coarse_clock_rounds() {
        let profile = Profile { whole_ticks: false, ..Profile::named("ns2").unwrap() };
        let mut rtt = RttEstimator::new(&profile);
        assert_eq!(rtt.timeout(), Span::from_secs(3));
        rtt.sample(&profile, Time::ZERO, Span::from_millis(203));
        assert_eq!(rtt.timeout(), Span::from_millis(600));
    }
}
