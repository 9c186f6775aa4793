//! R-factor of a call: the E-model of ITU-T G.107 for G.711, all else at the values of its table 2.
//!
//! R = Ro - Is - Id - Ie,eff: Ro - Is is a constant there, the rest follows from the mouth-to-ear delay and from the
//! share of lost frames. Above 90 users are very satisfied, below 60 nearly all dissatisfied (its annex B).

use crate::Histogram;
use sojourn_units::{Span, math};
use std::f64::consts::{LN_2, LN_10};

/// R of calls from the one-way delays of their frames, ns, the share of frames that arrived, and the length of a frame.
///
/// A frame is sent once it has been spoken, and is played some time after the first could have been; one that arrives
/// later is lost. The receiver uses the best such time, an upper bound for every receiver. If none arrives all are lost,
/// without a delay.
pub(crate) fn of_calls(delays: &Histogram<6>, came: f64, frame: Span) -> f64 {
    let ratings = delays.cumulative().map(|(nanos, share)| {
        let delay = nanos * 1e-9 + frame.seconds();
        rating(delay, 1.0 - share * came)
    });
    ratings.reduce(f64::max).unwrap_or_else(|| rating(frame.seconds(), 1.0))
}

/// R for a delay from mouth to ear, s, and a share of lost frames; losses are independent of each other.
fn rating(delay: f64, loss: f64) -> f64 {
    let t = delay * 1e3;
    let percent = loss * 100.0;
    let lost = 95.0 * percent / (percent + ROBUSTNESS);
    NOTHING_BUT_NOISE - talker_echo(t) - listener_echo(2.0 * t) - too_late(t) - lost
}

/// Idte: talker echo after the time `t`, ms, one way (equations 7-19 to 7-23).
fn talker_echo(t: f64) -> f64 {
    let masked = 65.0 - 40.0 * log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * math::exp(-0.3 * t * t);
    let (echo, without) = (80.0 + 2.5 * (masked - 14.0), -1.5 * (NOISE - 2.0));
    let half = (without - echo) / 2.0;
    (half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - math::exp(-t))
}

/// Idle: listener echo after a round trip of `t`, ms (equations 7-24 to 7-26).
fn listener_echo(t: f64) -> f64 {
    let echo = 10.5 * (110.0 + 7.0) * math::pow(t + 1.0, -0.25);
    let half = (BASIC - echo) / 2.0;
    half + (half * half + 169.0).sqrt()
}

/// Idd: absolute delay, even without echo (equations 7-27 and 7-28).
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

    const FRAME: Span = Span::from_millis(20);

    #[test]
    fn a_call_without_delay_and_loss_has_the_default_rating() {
        // As other implementations of G.107 print it.
        assert!((rating(0.0, 0.0) - 93.206_208).abs() < 1e-5, "{}", rating(0.0, 0.0));
    }

    /// R. G. Cole and J. H. Rosenbluth, "Voice over IP Performance Monitoring", Computer Communication Review 31, 2001, fit
    /// two straight lines to the same equations: 94.2 - 0.024 d - 0.11 (d - 177.3) beyond 177.3 ms.
    #[test]
    fn delay_matches_the_published_fit() {
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
    fn loss_matches_the_codec_table() {
        assert!((rating(0.0, 0.0) - rating(0.0, 0.01) - 95.0 / 26.1).abs() < 1e-12);
    }

    /// Half of the frames take 10 ms and half 300 ms: the receiver waits for all, or loses half, whichever is better.
    #[test]
    fn the_receiver_waits_for_the_best_time() {
        let call = |late: u64, nanos: u64| {
            let mut delays = Histogram::default();
            delays.add(10_000_000, 1000 - late);
            delays.add(nanos, late);
            of_calls(&delays, 1.0, FRAME)
        };
        assert!((call(500, 150_000_000) - rating(0.17, 0.0)).abs() < 0.5);
        assert!((call(2, 400_000_000) - rating(0.03, 0.002)).abs() < 0.5);
    }

    /// As a call in which one frame of very many arrives.
    #[test]
    fn a_call_of_which_nothing_arrives_has_the_lowest_rating() {
        let mut one = Histogram::default();
        one.add(0, 1);
        let nothing = of_calls(&Histogram::default(), 0.0, FRAME);
        assert!((nothing - of_calls(&one, 1e-9, FRAME)).abs() < 1e-6);
        assert!((nothing - 17.0).abs() < 1.0, "{nothing}");
    }
}
