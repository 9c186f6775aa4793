//! Superposed on/off sources with Pareto periods: variance-time plot and Hurst parameter of their sum.
//!
//! Two estimators of H. The variance-time plot: the variance of means over a time t falls as t^(2H - 2) (J. Beran, Statistics
//! for Long-Memory Processes, 1994, section 4.4). Its variances are taken about the mean rate of the plan; about the
//! mean of the sample they would be too small, most of all the long ones, and so would H. The wavelet estimator
//! (P. Abry, D. Veitch, IEEE Transactions on Information Theory 44, 1998): the energy at octave j grows as
//! 2^(j (2H - 1)); the coefficients are nearly independent, so few of them suffice, and a mean or a trend does not
//! affect them. R/S is left out: it is biased towards 0.7 at these lengths, and its uncertainty is unknown.

use super::arrivals::{aggregated, counts};
use super::datagrams;
use sojourn_random::Draw;
use sojourn_units::{Span, math};
use sojourn_workload::{OnOffSum, Spacing};
use std::f64::consts::LN_2;

/// Datagrams per second, all sources together.
const RATE: f64 = 100.0;
/// Mean periods, s.
const PERIOD: f64 = 0.01;
const SOURCES: u32 = 10;
/// Step of the counts, s.
const STEP: f64 = 0.1;
/// Number of steps.
const STEPS: usize = 1 << 16;
/// Least width of an estimate, 2^5 steps: 320 mean periods, and many datagrams of each source.
const FROM: i32 = 5;

fn sent(spacing: Spacing, seed: u64) -> Vec<f64> {
    counts(vec![datagrams(RATE, spacing)], Span::from_seconds(STEP), STEPS, seed)
}

fn lrd() -> Spacing {
    Spacing::Lrd(OnOffSum { sources: SOURCES, hurst: 0.8, on: PERIOD, off: PERIOD })
}

/// For each width 2^5 to 2^9 its binary logarithm, and that of the variance of means over it in all runs.
fn variance_time(runs: &[Vec<f64>]) -> Vec<Point> {
    let widths = (FROM..=9).map(|octave| {
        let width = 1_usize << octave;
        let deviations = runs.iter().flat_map(|sent| aggregated(sent, width)).map(|sum| {
            let deviation = sum / width as f64 - RATE * STEP;
            deviation * deviation
        });
        let n = (runs.len() * (STEPS >> octave)) as f64;
        Point { x: f64::from(octave), y: log2(deviations.sum::<f64>() / n), weight: n }
    });
    widths.collect()
}

/// H from the energies of Haar wavelets.
fn by_wavelets(sent: &[f64]) -> f64 {
    // The logarithm of a mean of n squares has a bias of -1 / n.
    let point =
        |(x, (energy, n)): (f64, (f64, f64))| Point { x, y: log2(energy) + 1.0 / (n * LN_2), weight: n };
    let points: Vec<Point> = (1..).map(f64::from).zip(energies(sent)).map(point).collect();
    f64::midpoint(slope(&points[FROM as usize..]), 1.0)
}

/// For each octave, the mean square of the coefficients of Haar wavelets, and their number.
fn energies(sent: &[f64]) -> Vec<(f64, f64)> {
    let mut level = sent.to_vec();
    let octaves = (1..=12).map(|_| {
        let pairs = level.chunks_exact(2);
        let n = pairs.len() as f64;
        let energy =
            pairs.clone().map(|pair| (pair[0] - pair[1]) * (pair[0] - pair[1]) / 2.0).sum::<f64>() / n;
        level = pairs.map(|pair| (pair[0] + pair[1]) / 2.0_f64.sqrt()).collect();
        (energy, n)
    });
    octaves.collect()
}

#[derive(Clone, Copy, Debug)]
struct Point {
    x: f64,
    y: f64,
    weight: f64,
}

/// Slope of the least-squares line.
fn slope(points: &[Point]) -> f64 {
    let sum = |of: &dyn Fn(&Point) -> f64| points.iter().map(|point| point.weight * of(point)).sum::<f64>();
    let (w, x, y) = (sum(&|_| 1.0), sum(&|p| p.x), sum(&|p| p.y));
    (w * sum(&|p| p.x * p.y) - x * y) / (w * sum(&|p| p.x * p.x) - x * x)
}

fn log2(x: f64) -> f64 {
    math::ln(x) / LN_2
}

#[test]
fn the_hurst_parameter_of_the_sum_is_four_fifths() {
    let runs: Vec<Vec<f64>> = (0..4).map(|seed| sent(lrd(), seed)).collect();
    for sent in &runs {
        let hurst = by_wavelets(sent);
        println!("H = {hurst:.3} by wavelets");
        assert!((hurst - 0.8).abs() < 0.05, "H = {hurst}");
    }
    let plot = variance_time(&runs);
    let found = slope(&plot);
    println!("slope {found:.3} of the variance-time plot, H = {:.3}: {plot:?}", 1.0 + found / 2.0);
    assert!((found / 2.0 - (0.8 - 1.0)).abs() < 0.05, "slope {found}");
}

/// The data of a source with peak rate r in a time t have the variance r^2 (s t^2H - c t + ...): from the renewal equation of
/// alike periods with mean m and P(period > x) = (l / x)^a (D. R. Cox, Renewal Theory, 1962, chapter 7), whose transform
/// expands into s = l^a / (2 m (a - 1) (2 - a) (3 - a)), which is theorem 1 of Taqqu, Willinger and Sherman 1997, and
/// c = m / 4 + a l^2 / (4 m (2 - a)). What follows adds 1 %, and so do whole datagrams. A wavelet takes the difference of
/// two neighbours: with variance v(t) over half its length its energy is (4 v(t) - v(2 t)) / width.
#[test]
fn the_sum_is_as_bursty_as_theory_has_it() {
    let runs: Vec<Vec<(f64, f64)>> = (4..8).map(|seed| energies(&sent(lrd(), seed))).collect();
    let (a, least) = (1.4, PERIOD * 0.4 / 1.4);
    let lasting = math::pow(least, a) / (2.0 * PERIOD * (a - 1.0) * (2.0 - a) * (3.0 - a));
    let passing = PERIOD / 4.0 + a * least * least / (4.0 * PERIOD * (2.0 - a));
    let peak = 2.0 * RATE / f64::from(SOURCES);
    let variance = |t: f64| f64::from(SOURCES) * peak * peak * (lasting * math::pow(t, 1.6) - passing * t);
    for octave in 6..=8_usize {
        let width = math::pow_int(2.0, octave as u64);
        let half = width / 2.0 * STEP;
        let expected = (4.0 * variance(half) - variance(2.0 * half)) / width;
        let found = runs.iter().map(|run| run[octave - 1].0).sum::<f64>() / runs.len() as f64;
        let doubt = 3.0 * (2.0 / (runs.len() as f64 * runs[0][octave - 1].1)).sqrt();
        println!("octave {octave}: {:.3} of theory, doubt {doubt:.3}", found / expected);
        assert!((found / expected - 1.0).abs() < doubt, "octave {octave}: {found}, theory {expected}");
    }
}

/// Both estimators find one half for Poisson traffic.
#[test]
fn traffic_without_memory_has_one_half() {
    let exponential = Draw::exponential(PERIOD).unwrap();
    for spacing in [Spacing::Poisson, Spacing::OnOff { on: exponential.clone(), off: exponential }] {
        let sent = sent(spacing.clone(), 1);
        let hurst = by_wavelets(&sent);
        assert!((hurst - 0.5).abs() < 0.05, "{spacing:?}: {hurst}");
    }
}
