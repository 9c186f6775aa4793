//! On/off sources with exponential periods, a Markov fluid: for on-periods of mean 1/a and pauses of mean 1/b, p = b / (a + b)
//! and peak rate r, the mean of what is sent in a time t is r p t and its variance
//! 2 r^2 p (1 - p) (t / (a + b) - (1 - exp(-(a + b) t)) / (a + b)^2), the double integral of the autocovariance
//! p (1 - p) exp(-(a + b) |t|) (D. Anick, D. Mitra, M. M. Sondhi 1982). The index of dispersion is their ratio.
//! Datagrams round the fluid to whole ones, which adds a sixth at most.

use super::arrivals::{aggregated, counts};
use super::{BATCHES, datagrams, interval};
use sojourn_random::Draw;
use sojourn_units::{Span, math};
use sojourn_workload::Spacing;

#[test]
fn the_mean_and_the_index_of_dispersion_are_those_of_the_fluid() {
    let (rate, on, off) = (200.0, 0.1, 0.3);
    let periods = |mean| Draw::exponential(mean).unwrap();
    let source = datagrams(rate, Spacing::OnOff { on: periods(on), off: periods(off) });
    let step = 0.05;
    let of_batch = 10_000;
    let sent = counts(vec![source], Span::from_seconds(step), of_batch * BATCHES, 1);
    let (p, relaxation) = (on / (on + off), 1.0 / on + 1.0 / off);
    let batches = |of: &dyn Fn(&[f64]) -> f64| -> [f64; BATCHES] {
        std::array::from_fn(|batch| of(&sent[batch * of_batch..(batch + 1) * of_batch]))
    };
    let (mean, doubt) = interval(&batches(&|sent| sent.iter().sum::<f64>() / of_batch as f64));
    assert!((mean - rate * p * step).abs() <= doubt && doubt < 0.03 * mean, "{mean} +- {doubt}");
    for width in [1, 4, 20, 100] {
        let t = width as f64 * step;
        let fluid = t / relaxation - (1.0 - math::exp(-relaxation * t)) / (relaxation * relaxation);
        let expected = 2.0 * rate * rate * p * (1.0 - p) * fluid / (rate * p * t);
        let dispersion = |sent: &[f64]| {
            let sums = aggregated(sent, width);
            let mean = rate * p * t;
            sums.iter().map(|sum| (sum - mean) * (sum - mean)).sum::<f64>() / sums.len() as f64 / mean
        };
        let (found, doubt) = interval(&batches(&dispersion));
        println!("index of dispersion over {t} s: {found:.3} +- {doubt:.3}, theory {expected:.3}");
        let rounding = 1.0 / 6.0 / (rate * p * t);
        assert!(
            (found - expected).abs() <= doubt + rounding,
            "over {t} s: {found} +- {doubt}, theory {expected}"
        );
        assert!(doubt < 0.15 * expected, "over {t} s: +-{doubt} of {expected} is too wide");
    }
}

/// The mean rate does not depend on the distribution of the periods.
#[test]
fn periods_of_any_distribution_keep_the_mean_rate() {
    for (on, off) in [
        (Draw::constant(0.5), Draw::constant(0.5)),
        (Draw::pareto(0.1, 1.9), Draw::uniform(0.1, 0.5)),
        (Draw::lognormal(0.05, 1.0), Draw::table(&[(0.01, 0.5), (0.19, 0.5)])),
    ] {
        let (on, off) = (on.unwrap(), off.unwrap());
        let expected = 100.0 * on.mean() / (on.mean() + off.mean());
        let name = format!("{on:?} {off:?}");
        let sent =
            counts(vec![datagrams(100.0, Spacing::OnOff { on, off })], Span::from_secs(100), BATCHES, 1);
        let rates: [f64; BATCHES] = std::array::from_fn(|batch| sent[batch] / 100.0);
        let (mean, doubt) = interval(&rates);
        assert!(
            (mean - expected).abs() <= doubt.max(1e-9) && doubt < 0.1 * mean,
            "{name}: {mean} +- {doubt}"
        );
    }
}
