//! PID against numbers from outside: its design, step by step.

#[path = "common/reference.rs"]
mod reference;

use reference::hold;
use sojourn_aqm::laws::pid::{PidGains, TwoPolePlant, damping, frequency, pd, pi};

/// The paper's network with the paper's rounding: C^2 / 2N exactly, both poles to two digits.
const PLANT: TwoPolePlant = TwoPolePlant { gain: 117_187.5, slow: 0.53, fast: 4.05 };
/// And the zero of its PI part: that of R = 0.2467 s, to three digits.
const ZERO: f64 = 0.526;

#[test]
fn the_design_is_the_papers() {
    let xi = damping(0.05);
    let wn = frequency(0.246, xi);
    hold("ryu_pid.xi", &[xi]);
    hold("ryu_pid.wn", &[wn]);
    let pd = pd(&PLANT, xi, wn);
    hold("ryu_pid.Kp1", &pd[..1]);
    hold("ryu_pid.Kd1", &pd[1..]);
    let pi = pi(&PLANT, wn, pd[0], ZERO);
    hold("ryu_pid.Kp2", &pi[..1]);
    hold("ryu_pid.Ki2", &pi[1..]);
    let gains = PidGains::of(pd, pi);
    hold("ryu_pid.Kp", &[gains.p]);
    hold("ryu_pid.Kd", &[gains.d]);
    hold("ryu_pid.Ki", &[gains.i]);
    // Times kappa these are Table 1, but for K_D: a tenth of what is printed there.
    let PidGains { p, i, d } = gains.times(0.05);
    for (ours, table) in [(p, 6.2e-5), (i, 3.12e-5), (d, 5.1e-6)] {
        assert!((ours / table - 1.0).abs() < 0.01, "{ours} {table}");
    }
}

#[test]
fn the_coefficients_are_those_of_table_1_corrected() {
    let steps = PidGains { p: 6.2e-5, i: 3.12e-5, d: 5.1e-6 }.sampled(1.0 / 29.5);
    hold("ryu_pid.a1,b1,c1@29.5Hz", &[steps.a, steps.b, steps.c]);
}
