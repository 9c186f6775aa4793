//! How good a call is: the E-model of ITU-T G.107 for G.711, all else at the values of its table 2.
//!
//! R = Ro - Is - Id - Ie,eff: what noise and the telephones take away is one number there, the rest follows from the
//! delay from mouth to ear and from the share of frames that are lost. Above 90 users are very satisfied, below 60
//! nearly all dissatisfied (its annex B).

use crate::histogram::Histogram;
use sojourn_scenario::VOICE_FRAME;
use sojourn_units::math;
use std::f64::consts::{LN_2, LN_10};

/// The rating of calls whose frames were under way for these times, ns, as far as they came: this share of them.
///
/// A frame is under way when it has been spoken, and is played some time after the first could have been; one that comes
/// later is lost. The receiver is taken to know the best such time, so no receiver does better.
pub(crate) fn of_calls(delays: &Histogram<6>, came: f64) -> Option<f64> {
    let ratings = delays.cumulative().map(|(nanos, share)| {
        let delay = nanos * 1e-9 + VOICE_FRAME.seconds();
        rating(delay, 1.0 - share * came)
    });
    ratings.reduce(f64::max)
}

/// R for a delay from mouth to ear, s, and a share of lost frames; losses are independent of each other.
fn rating(delay: f64, loss: f64) -> f64 {
    let t = delay * 1e3;
    let percent = loss * 100.0;
    let lost = 95.0 * percent / (percent + ROBUSTNESS);
    NOTHING_BUT_NOISE - talker_echo(t) - listener_echo(2.0 * t) - too_late(t) - lost
}

/// Idte: the talker hears an echo after the time `t`, ms, one way (equations 7-19 to 7-23).
fn talker_echo(t: f64) -> f64 {
    let masked = 65.0 - 40.0 * log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * math::exp(-0.3 * t * t);
    let (echo, without) = (80.0 + 2.5 * (masked - 14.0), -1.5 * (NOISE - 2.0));
    let half = (without - echo) / 2.0;
    (half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - math::exp(-t))
}

/// Idle: so does the listener, after a round trip of `t`, ms (equations 7-24 to 7-26).
fn listener_echo(t: f64) -> f64 {
    let echo = 10.5 * (110.0 + 7.0) * math::pow(t + 1.0, -0.25);
    let half = (BASIC - echo) / 2.0;
    half + (half * half + 169.0).sqrt()
}

/// Idd: even without echo nobody likes to wait (equations 7-27 and 7-28).
fn too_late(t: f64) -> f64 {
    if t <= 100.0 {
        return 0.0;
    }
    let x = math::ln(t / 100.0) / LN_2;
    let root = |x: f64| math::pow(1.0 + math::pow_int(x, 6), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

fn log10(x: f64) -> f64 {
    math::ln(x) / LN_10
}

/// No, dBm0p, the sum of all noise; Ro; and Ro - Is, all at the default values (equations 7-2 to 7-18).
const NOISE: f64 = -61.179_214;
const BASIC: f64 = 94.768_822;
const NOTHING_BUT_NOISE: f64 = 93.355_253;
/// Bpl of G.711 with the loss concealment of its appendix I (ITU-T G.113, appendix I).
const ROBUSTNESS: f64 = 25.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_delay_and_loss_has_the_default_rating() {
        // As other implementations of G.107 print it.
        assert!((rating(0.0, 0.0) - 93.206_208).abs() < 1e-5, "{}", rating(0.0, 0.0));
    }

    /// R. G. Cole and J. H. Rosenbluth, "Voice over IP Performance Monitoring", Computer Communication Review 31, 2001, fit
    /// two straight lines to the same equations: 94.2 - 0.024 d - 0.11 (d - 177.3) beyond 177.3 ms.
    #[test]
    fn delay_takes_away_what_the_published_fit_has() {
        for d in (50..=400).step_by(10).map(f64::from) {
            let fit = 94.2 - 0.024 * d - 0.11 * (d - 177.3).max(0.0);
            assert!(
                (rating(d * 1e-3, 0.0) - fit).abs() < 2.5,
                "{d} ms: {}, fit {fit}",
                rating(d * 1e-3, 0.0)
            );
        }
    }

    /// G.113: 1 % of loss is 3.64 of 95 with loss concealment.
    #[test]
    fn loss_takes_away_what_the_codec_has() {
        assert!((rating(0.0, 0.0) - rating(0.0, 0.01) - 95.0 / 26.1).abs() < 1e-12);
    }

    /// Half of the frames take 10 ms and half 300 ms: all are waited for, or half lost, whichever is better.
    #[test]
    fn the_receiver_waits_as_long_as_is_best() {
        let call = |late: u64, nanos: u64| {
            let mut delays = Histogram::default();
            delays.add(10_000_000, 1000 - late);
            delays.add(nanos, late);
            of_calls(&delays, 1.0).unwrap()
        };
        assert!((call(500, 150_000_000) - rating(0.17, 0.0)).abs() < 0.5);
        assert!((call(2, 400_000_000) - rating(0.03, 0.002)).abs() < 0.5);
        assert_eq!(of_calls(&Histogram::default(), 1.0), None);
    }
}
