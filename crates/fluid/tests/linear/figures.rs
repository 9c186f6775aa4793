//! Margins against the references.

use crate::designs::{cpc, hollot, pi, small};
use crate::reference::hold;
use sojourn_aqm::laws::cpc::Form;
use sojourn_aqm::linear::Rational;
use sojourn_fluid::linear::loops::{Continuous, Loop};
use sojourn_fluid::linear::margins::Margins;
use sojourn_fluid::linear::nyquist;
use sojourn_fluid::linear::plant::Hollot;

/// Crossover, phase margin in degrees, gain margin, delay margin.
fn margins_of(of: &dyn Loop) -> [f64; 4] {
    let margins = Margins::of(of).unwrap();
    let phase = margins.phase().unwrap();
    let gain = margins.gain_up().unwrap_or(f64::INFINITY);
    [phase.frequency, phase.phase_margin.to_degrees(), gain, margins.delay().unwrap()]
}

#[test]
fn pi_of_hollot() {
    for (rtt, name) in [(0.246, "0.246000"), (0.2 + 175.0 / 3750.0, "0.246667")] {
        let network = hollot(rtt);
        let of = Continuous::new(Hollot::new(network), pi(network));
        hold(&format!("hollot.PI.R={name}.[wc,pm,gm,dm]"), &margins_of(&of));
        let plant = Hollot::new(network);
        let [windows, queue] = plant.rates();
        hold(&format!("hollot.R={name}.p_tcp"), &[windows]);
        hold(&format!("hollot.R={name}.p_q"), &[queue]);
        hold(&format!("hollot.R={name}.gain"), &[plant.gain()]);
        hold(&format!("hollot.R={name}.kdc"), &[plant.gain() / (windows * queue)]);
    }
}

#[test]
fn cpc_with_the_delay_and_without() {
    for (network, name) in [(hollot(0.246), "hollot"), (small(), "small")] {
        for (form, variant) in [(Form::Paper, "paper"), (Form::DelayAware, "da")] {
            let inner = Continuous::inner(Hollot::new(network), cpc(network, form));
            hold(&format!("cpc.{name}.{variant}.inner.[wc,pm_deg,gm,dm]"), &margins_of(&inner));
            let outer = Continuous::outer(Hollot::new(network), cpc(network, form));
            hold(&format!("cpc.{name}.{variant}.outer.[wc,pm_deg,gm,dm]"), &margins_of(&outer));
        }
    }
    // The paper's network: 65.5 degrees without the delay, 38.4 and a gain margin of 2.25 with it.
    let cascade = || cpc(hollot(0.246), Form::Paper);
    let undelayed = Hollot { delay: 0.0, ..Hollot::new(hollot(0.246)) };
    for of in [Continuous::inner(undelayed, cascade()), Continuous::outer(undelayed, cascade())] {
        let [_, phase, gain, _] = margins_of(&of);
        assert!((phase - 65.53).abs() < 5e-3, "{phase}");
        assert_eq!(gain, f64::INFINITY);
    }
    let [_, phase, gain, _] = margins_of(&Continuous::outer(Hollot::new(hollot(0.246)), cascade()));
    assert!((phase - 38.4).abs() < 0.05 && (gain - 2.25).abs() < 5e-3, "{phase} {gain}");
}

/// The counterpart of the paper's autotune mode: 60 degrees in both loops, |1 + L| of a half at least, and a crossover
/// between those of RED (0.05 rad/s) and of the paper's own design, as the paper has them in order.
#[test]
fn cpc_autotuned() {
    for network in [hollot(0.246), small()] {
        let cascade = || cpc(network, Form::Autotune);
        let [_, phase, gain, _] = margins_of(&Continuous::inner(Hollot::new(network), cascade()));
        assert!((phase - 60.0).abs() < 1e-6 && gain > 2.0, "{phase} {gain}");
        let outer = Continuous::outer(Hollot::new(network), cascade());
        let [crossover, phase, gain, _] = margins_of(&outer);
        assert!((phase - 60.0).abs() < 1e-6 && gain > 2.0, "{phase} {gain}");
        assert!(Margins::of(&outer).unwrap().modulus.distance > 0.499);
        assert_eq!(nyquist::count(&outer).unwrap().closed, 0);
        let paper = Continuous::outer(Hollot::new(network), cpc(network, Form::Paper));
        assert!(crossover < margins_of(&paper)[0], "{crossover}");
        assert!(crossover > 0.05, "{crossover}");
    }
}

/// Figures that the laws' page of numbers has without a key: RED with Hollot's gain, REM at its defaults.
#[test]
fn red_and_rem() {
    let network = hollot(0.246);
    let slowest = 0.1 * Hollot::new(network).rates()[0];
    assert!((slowest - 0.052_878_6).abs() < 5e-8);
    let red = Rational { numerator: vec![1.86e-4], denominator: vec![1.0, 1.0 / 0.005] };
    let [_, phase, _, _] = margins_of(&Continuous::new(Hollot::new(network), red));
    assert!((phase - 88.8).abs() < 0.05, "{phase}");

    let p = 2.0 / (15.375 * 15.375);
    let (gamma, alpha, phi, period) = (0.001, 0.1, 1.001, 0.002);
    let slope = gamma * sojourn_units::math::ln(phi) * (1.0 - p);
    let [a, b] = [slope * (1.0 + alpha), slope];
    let rem =
        Rational { numerator: vec![(a - b) / period, f64::midpoint(a, b)], denominator: vec![0.0, 1.0] };
    let [_, phase, _, _] = margins_of(&Continuous::new(Hollot::new(network), rem));
    assert!((phase + 4.4).abs() < 0.05, "{phase}");
}

/// Ryu's and Rump's PID: with their factor of 0.05 it has margins, with the misprinted K_D hardly any gain margin, and
/// without the factor the delay makes it unstable.
#[test]
fn pid_of_ryu() {
    let network = hollot(0.246);
    let pid = |scale: f64, derivative: f64| {
        let law = Rational {
            numerator: vec![6.22962e-4 * scale, 1.23759e-3 * scale, derivative],
            denominator: vec![0.0, 1.0],
        };
        Continuous::new(Hollot::new(network), law)
    };
    let [crossover, phase, gain, delay] = margins_of(&pid(0.05, 0.05 * 1.01236e-4));
    assert!((phase - 53.8).abs() < 0.05 && (gain - 3.65).abs() < 5e-3, "{phase} {gain}");
    // |L| = 1 solved by bisection in Python.
    assert!(
        (crossover - 1.602_202_125_6).abs() < 1e-9 && (delay - 0.585_996_845_2).abs() < 1e-9,
        "{crossover} {delay}"
    );
    let [_, phase, gain, _] = margins_of(&pid(0.05, 5.1e-5));
    assert!((phase - 62.0).abs() < 0.5 && (gain - 1.49).abs() < 5e-3, "{phase} {gain}");
    let [_, phase, _, _] = margins_of(&pid(1.0, 1.01236e-4));
    assert!((phase + 139.37).abs() < 5e-3, "by the same bisection: {phase}");
    assert!(nyquist::count(&pid(1.0, 1.01236e-4)).unwrap().closed > 0);
}
