//! The round-trip time and the retransmission timeout: RFC 6298.
//!
//! A profile may ask for the code that this comes from: V. Jacobson, Congestion Avoidance and Control, SIGCOMM 1988,
//! appendix A. It counts the ticks of a clock that pass, and holds eighths and quarters of ticks in whole numbers.

use crate::profile::Profile;
use sojourn_units::{Span, Time};

/// Smoothed round-trip time, its variation, and the timeout that follows.
///
/// Times are held in seconds; a sample is rounded to the clock's tick first,
/// and the timeout down to it, as a ticking clock would. The clock and the
/// bounds are the profile's, which whoever has an estimator has, too.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// 0 before the first measurement, which is a tick at least.
    smoothed: f64,
    variation: f64,
    /// The timeout without back-off.
    plain: Span,
    /// Doublings since the last sample.
    backoff: u32,
    /// The timeout in force.
    timeout: Span,
}

impl RttEstimator {
    /// Nothing measured yet.
    pub fn new(profile: &Profile) -> RttEstimator {
        let mut estimator = RttEstimator {
            smoothed: 0.0,
            variation: 0.0,
            plain: profile.initial_rto,
            backoff: 0,
            timeout: Span::ZERO,
        };
        estimator.set_timeout(profile);
        estimator
    }

    /// A new measurement at `now`, the only one of its round trip.
    pub(crate) fn sample(&mut self, profile: &Profile, now: Time, rtt: Span) {
        self.sample_one_of(1.0, profile, now, rtt);
    }

    /// One of `count` measurements in a round trip, which share the weight of one (RFC 7323, appendix G).
    ///
    /// It also ends the back-off (RFC 6298, end of section 5).
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
                self.variation = rtt / 2.0;
                self.smoothed = rtt;
            }
            // (2.3)
            Some(smoothed) => {
                self.variation += BETA / count * ((smoothed - rtt).abs() - self.variation);
                self.smoothed = smoothed + ALPHA / count * (rtt - smoothed);
            }
        }
        let timeout = self.smoothed + (K * self.variation).max(profile.tick.seconds());
        self.plain = whole_ticks(profile, timeout);
    }

    /// As Jacobson's appendix has it; its shifts round down, so that neither falls to where the measurements are.
    fn count_ticks(&mut self, profile: &Profile, now: Time, rtt: Span) {
        let nanos = profile.tick.nanos().max(1);
        let ticks = (now.nanos() / nanos - now.nanos().saturating_sub(rtt.nanos()) / nanos).max(1) as i64;
        let (eighth, quarter) = (nanos as f64 * 1e-9 / 8.0, nanos as f64 * 1e-9 / 4.0);
        let (eighths, quarters) = match self.smoothed_s() {
            None => (8 * ticks, 2 * ticks),
            Some(smoothed) => {
                let eighths = (smoothed / eighth).round() as i64;
                let quarters = (self.variation / quarter).round() as i64;
                let error = ticks - eighths / 8;
                ((eighths + error).max(1), (quarters + error.abs() - quarters / 4).max(1))
            }
        };
        self.smoothed = eighths as f64 * eighth;
        self.variation = quarters as f64 * quarter;
        // Four variations are as many ticks as there are quarters.
        self.plain = Span::from_nanos((eighths / 8 + quarters) as u64 * nanos);
    }

    /// After a spurious timeout the times are at least those of `sample` (RFC 4015, section 3.1, step 11).
    pub(crate) fn widen(&mut self, profile: &Profile, sample: Span) {
        let rtt = in_ticks(profile, sample);
        let before = self.smoothed_s().unwrap_or(rtt) + 2.0 * profile.tick.seconds();
        let smoothed = before.max(rtt);
        self.smoothed = smoothed;
        self.variation = self.variation.max(rtt / 2.0);
        self.plain = whole_ticks(profile, smoothed + (K * self.variation).max(profile.tick.seconds()));
        self.set_timeout(profile);
    }

    /// (5.5): doubles the timeout.
    pub(crate) fn back_off(&mut self, profile: &Profile) {
        self.backoff = (self.backoff + 1).min(profile.most_doublings.min(32));
        // The old measurements are likely bogus after several timeouts; the next one starts afresh.
        if self.backoff > DOUBLINGS_KEPT {
            self.smoothed = 0.0;
        }
        self.set_timeout(profile);
    }

    /// (5.7): after a lost SYN, data starts with at least this timeout.
    pub(crate) fn restart_at_least(&mut self, profile: &Profile, timeout: Span) {
        self.plain = self.plain.max(timeout);
        self.backoff = 0;
        self.set_timeout(profile);
    }

    /// The timeout in force, back-off and bounds included.
    pub fn timeout(&self) -> Span {
        self.timeout
    }

    /// The smoothed round-trip time, seconds.
    pub fn smoothed_s(&self) -> Option<f64> {
        (self.smoothed > 0.0).then_some(self.smoothed)
    }

    fn set_timeout(&mut self, profile: &Profile) {
        let Profile { min_rto, max_rto, .. } = *profile;
        self.timeout = self.plain.max(min_rto).saturating_mul(1 << self.backoff).min(max_rto);
    }
}

/// A duration as the clock shows it, at least one tick, in seconds.
fn in_ticks(profile: &Profile, span: Span) -> f64 {
    let tick = profile.tick.nanos().max(1);
    let ticks = ((span.nanos() + tick / 2) / tick).max(1);
    Span::from_nanos(ticks * tick).seconds()
}

fn whole_ticks(profile: &Profile, seconds: f64) -> Span {
    let tick = profile.tick.nanos().max(1);
    Span::from_nanos(Span::from_seconds(seconds).nanos() / tick * tick)
}

/// Weight of a sample in the smoothed time (RFC 6298, 2.3).
const ALPHA: f64 = 1.0 / 8.0;
/// Weight of a sample in the variation (RFC 6298, 2.3).
const BETA: f64 = 1.0 / 4.0;
/// Variations in the timeout (RFC 6298, 2.2).
const K: f64 = 4.0;
/// Doublings after which the measurements are forgotten (allowed at the end of RFC 6298, section 5).
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

    /// Seen in ns-2 2.35: packets of 1000 B over 10 Mbit/s with 43.7 ms each way, one after the other.
    #[test]
    fn jacobsons_code_counts_the_ticks_that_pass() {
        let profile = Profile::named("ns2").unwrap();
        let mut rtt = RttEstimator::new(&profile);
        // Time of the ACK, us, on a clock that ns-2 starts 5 ms earlier; the round trip, us; eighths and quarters of ticks.
        for (at, took, eighths, quarters) in [
            (592_460, 87_464, 72.0, 18.0),
            (680_700, 88_240, 72.0, 14.0),
            (768_930, 88_230, 71.0, 12.0),
            (857_160, 88_230, 72.0, 10.0),
            (945_390, 88_230, 72.0, 8.0),
        ] {
            rtt.sample(&profile, Time::ZERO + Span::from_micros(at), Span::from_micros(took));
            assert!((rtt.smoothed / 0.01 * 8.0 - eighths).abs() < 1e-9, "{at}: {}", rtt.smoothed);
            assert!((rtt.variation / 0.01 * 4.0 - quarters).abs() < 1e-9, "{at}: {}", rtt.variation);
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
