//! Poles and counts against closed forms.

use crate::designs::{cpc, hollot, pi, small};
use crate::reference;
use sojourn_aqm::laws::cpc::Form;
use sojourn_fluid::linear::complex::{Complex64, exp, size};
use sojourn_fluid::linear::loops::{Continuous, Fraction, Loop};
use sojourn_fluid::linear::margins::Margins;
use sojourn_fluid::linear::nyquist;
use sojourn_fluid::linear::plant::Hollot;
use sojourn_fluid::linear::poles::{self, Rectangle};
use sojourn_units::math;
use std::f64::consts::{E, PI};

#[test]
fn the_poles_of_pi_and_of_cpc_are_the_references() {
    let of = Continuous::new(Hollot::new(hollot(0.246)), pi(hollot(0.246)));
    let found = poles::rightmost(&of, 5).unwrap().poles;
    let [one, two, three, pair] = found[..4] else { panic!("{found:?}") };
    // As many digits as the reference has.
    for (root, real, digits) in
        [(one, -0.52879, 5e-6), (two, -0.81505, 5e-6), (three, -2.44804, 5e-6), (pair, -24.175, 5e-4)]
    {
        assert!((root.re - real).abs() < digits, "{found:?}");
    }
    assert!((pair.im - 18.435).abs() < 5e-4, "{pair}");

    for (network, name) in [(hollot(0.246), "hollot"), (small(), "small")] {
        for (form, variant) in [(Form::Paper, "paper"), (Form::DelayAware, "da")] {
            let of = Continuous::outer(Hollot::new(network), cpc(network, form));
            let found = poles::rightmost(&of, 4).unwrap().poles;
            let both = |root: Complex64| [root.re, root.re];
            let ours = [both(found[1]), both(found[0])].concat();
            reference::hold(&format!("cpc.{name}.{variant}.poles_re"), &ours);
            assert_eq!(nyquist::count(&of).unwrap().closed, 0);
        }
    }
}

/// A loop without a count has the reason: here that of delays that turn too often.
#[test]
fn a_missing_count_has_its_reason() {
    let of = |delay: f64| Continuous::new(Hollot { delay, ..Hollot::new(hollot(0.246)) }, pi(hollot(0.246)));
    assert!(nyquist::count(&of(0.246)).is_some());
    let slow = of(1e7);
    assert_eq!(nyquist::count(&slow), None);
    assert!(nyquist::uncounted(&slow).contains("more than a million steps"), "{}", nyquist::uncounted(&slow));
}

/// Multiplied-out coefficients determine a double root only to rounding, 1e-8 of it wide.
#[test]
fn a_double_root_is_found_twice() {
    let area = Rectangle { from: Complex64::new(-9.0, -5.0), to: Complex64::new(1.0, 5.0) };
    for at in [-2.0325, -0.7, 0.3] {
        // (s - at)^2 (s^2 + 0.53 s + 0.124), and the same beside the terms of a delay.
        let polynomial = |s: Complex64| {
            let [c0, c1, c2, c3] =
                [0.124 * at * at, 0.53 * at * at - 0.248 * at, at * at - 1.06 * at + 0.124, 0.53 - 2.0 * at];
            c0 + s * (c1 + s * (c2 + s * (c3 + s)))
        };
        let found = poles::zeros(&polynomial, area, 0.0).unwrap();
        let near = |zeros: &[Complex64]| zeros.iter().filter(|s| size(**s - at) < 1e-6).count();
        assert_eq!((found.len(), near(&found)), (4, 2), "{at} {found:?}");
        let delayed = |s: Complex64| polynomial(s) * (exp(-s) + 3.0);
        let found = poles::zeros(&delayed, area, 1.0).unwrap();
        assert_eq!(near(&found), 2, "{at} {found:?}");
    }
}

/// s + k e^(-s) = 0 has the roots W_j(-k), one for each branch of Lambert's W: with s = x + i y, k e^-x sin y = y has
/// one in each 2 j pi < y < (2 j + 1) pi, that of j = 0 only where k > 1/e; else two are real.
#[test]
fn each_branch_of_lambert_w_is_found_once() {
    for k in [0.1, 0.367, 0.369, 1.0, 1.57, 1.58, 20.0] {
        let f = |s: Complex64| s + k * exp(-s);
        let area = Rectangle { from: Complex64::new(-9.0, -0.01), to: Complex64::new(4.0, 31.0 * PI) };
        let found = poles::zeros(&f, area, 1.0).unwrap();
        assert!(found.iter().all(|&s| size(f(s)) < 1e-11), "{k} {found:?}");
        let branch = |j: f64| {
            found.iter().filter(|s| s.im > 2.0 * j * PI + 1e-9 && s.im < (2.0 * j + 1.0) * PI).count()
        };
        let complex = k > 1.0 / E;
        assert_eq!(branch(0.0), usize::from(complex), "{k} {found:?}");
        assert!((1..=15).all(|j| branch(f64::from(j)) == 1), "{k} {found:?}");
        assert_eq!(found.len(), if complex { 16 } else { 17 }, "{k} {found:?}");
        // Stable just where k < pi / 2 (Hayes).
        assert_eq!(found.iter().all(|s| s.re < 0.0), k < PI / 2.0);
    }
}

/// L = k e^-s / s: |L(jk)| = 1 with a phase of -pi/2 - k, so that past k = pi/2 a lead of k - pi/2 is missing, and
/// each turn of it is a pair of poles.
#[test]
fn the_lead_that_is_lacking_counts_whole_turns() {
    struct Delayed(f64);
    impl Loop for Delayed {
        fn at(&self, s: Complex64) -> Fraction {
            Fraction { above: self.0 * exp(-s), below: s }
        }
        fn delay(&self) -> f64 {
            1.0
        }
        fn reach(&self, level: f64, left: f64) -> Option<f64> {
            Some(self.0 * math::exp(left.max(0.0)) * 1.01 / level)
        }
    }
    for k in [1.0, 3.0, 7.0, 9.0, 30.0] {
        let margins = Margins::of(&Delayed(k)).unwrap();
        let lacking = margins.lacking().map(|(_, lead)| lead);
        let right = nyquist::right_of(&Delayed(k), 0.0).unwrap();
        if k < PI / 2.0 {
            assert_eq!((lacking, right), (None, 0));
            continue;
        }
        let lead = lacking.unwrap();
        assert!((lead - (k - PI / 2.0)).abs() < 1e-9, "{k}: {lead}");
        assert_eq!(right, 2 * (lead / (2.0 * PI)).ceil() as i64, "{k}");
    }
}
