//! CPC against numbers from outside: its design and its loops.

#[path = "../common/reference.rs"]
mod reference;

use sojourn_aqm::Network;
use sojourn_aqm::laws::cpc::{CpcDesign, Form, design};
use std::ops::{Add, Div, Mul, Sub};

/// The example of Hollot et al. used in the paper, and the link of its runs.
const EXAMPLES: [(&str, Network); 2] = [
    ("hollot", Network { flows: 60.0, capacity: 3750.0, rtt: 0.246 }),
    ("small", Network { flows: 3.0, capacity: 2e6 / 12e3, rtt: 0.18 }),
];

const FORMS: [(&str, Form); 2] = [("paper", Form::Paper), ("da", Form::DelayAware)];

/// Compares `numbers` of each example in each form with the reference entries.
fn hold<const N: usize>(names: [&str; N], numbers: impl Fn(Network, CpcDesign) -> [Vec<f64>; N]) {
    for (example, network) in EXAMPLES {
        for (word, form) in FORMS {
            let ours = numbers(network, design(network, form));
            for (name, ours) in names.iter().zip(ours) {
                reference::hold(&format!("cpc.{example}.{word}.{name}"), &ours);
            }
        }
    }
}

#[test]
fn the_design_is_the_magnitude_optimum() {
    hold(["K1", "T1", "TI", "KP", "Ki", "Kd", "TIo", "TDo"], |_, design| {
        [
            design.window_gain,
            design.window_time,
            design.inner,
            design.proportional,
            design.integral,
            design.derivative,
            design.integral_time(),
            design.derivative_time(),
        ]
        .map(|number| vec![number])
    });
}

#[test]
fn the_loops_have_the_margins_of_linear_theory() {
    hold(["inner.[wc,pm_deg,gm,dm]", "outer.[wc,pm_deg,gm,dm]"], |network, design| {
        let loops = Loops { network, design };
        [margins(|s| loops.inner(s)), margins(|s| loops.outer(s))].map(Vec::from)
    });
}

#[test]
fn the_dominant_poles_are_those_of_linear_theory() {
    // Initial values of Newton's method: the imaginary parts to three digits, from the same calculation.
    let about = |example, form| match (example, form) {
        ("hollot", Form::Paper) => [Complex(-0.836, 2.373), Complex(-0.269, 0.264)],
        ("hollot", Form::DelayAware) => [Complex(-1.318, 1.298), Complex(-0.274, 0.232)],
        ("small", Form::Paper) => [Complex(-1.1, 3.3), Complex(-0.58, 0.5)],
        _ => [Complex(-1.74, 1.7), Complex(-0.61, 0.5)],
    };
    for (example, network) in EXAMPLES {
        for (word, form) in FORMS {
            let loops = Loops { network, design: design(network, form) };
            let poles = about(example, form).map(|near| root(|s| loops.characteristic(s), near));
            let real: Vec<f64> = poles.iter().flat_map(|pole| [pole.0; 2]).collect();
            reference::hold(&format!("cpc.{example}.{word}.poles_re"), &real);
        }
    }
}

// ---- The loops, linear, with their delay ------------------------------------------------------------------

struct Loops {
    network: Network,
    design: CpcDesign,
}

impl Loops {
    /// Loop of the windows under the integral controller.
    fn inner(&self, s: Complex) -> Complex {
        let CpcDesign { window_gain, window_time, inner, .. } = self.design;
        delay(s, self.network.rtt) * real(window_gain)
            / ((real(1.0) + s * real(window_time)) * s * real(inner))
    }

    /// Loop of the queue, from F_ref, under the PID controller.
    fn outer(&self, s: Complex) -> Complex {
        let inner = self.inner(s);
        self.pid(s) * inner / (real(1.0) + inner) * real(self.network.flows)
            / (real(1.0) + s * real(self.network.rtt))
    }

    fn pid(&self, s: Complex) -> Complex {
        let CpcDesign { proportional, integral, derivative, .. } = self.design;
        real(proportional) + real(integral) / s + real(derivative) * s
    }

    /// 1 + outer without its denominators.
    fn characteristic(&self, s: Complex) -> Complex {
        let CpcDesign { window_gain, window_time, inner, .. } = self.design;
        let Network { flows, rtt, .. } = self.network;
        let answer = delay(s, rtt) * real(window_gain);
        let windows = s * real(inner) * (real(1.0) + s * real(window_time)) + answer;
        (real(1.0) + s * real(rtt)) * windows + self.pid(s) * real(flows) * answer
    }
}

/// Crossover rad/s, phase margin in degrees, gain margin, delay margin s.
fn margins(open: impl Fn(Complex) -> Complex) -> [f64; 4] {
    let at = |w: f64| open(Complex(0.0, w));
    let crossover = crossing(1e-3, |w| at(w).size() < 1.0);
    let phase = std::f64::consts::PI + at(crossover).angle();
    let turned = crossing(crossover, |w| at(w).1 > 0.0);
    [crossover, phase.to_degrees(), 1.0 / at(turned).size(), phase / crossover]
}

/// Point above `from` at which `beyond` becomes true: steps of 0.1 %, then bisection.
fn crossing(from: f64, beyond: impl Fn(f64) -> bool) -> f64 {
    let mut high = from;
    while !beyond(high) {
        high *= 1.001;
    }
    let mut low = high / 1.001;
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if beyond(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

/// A root of `of` near `s`, by Newton's method.
fn root(of: impl Fn(Complex) -> Complex, mut s: Complex) -> Complex {
    for _ in 0..50 {
        let step = real(1e-6);
        let slope = (of(s + step) - of(s - step)) / real(2e-6);
        s = s - of(s) / slope;
    }
    s
}

#[derive(Clone, Copy, Debug)]
struct Complex(f64, f64);

fn real(number: f64) -> Complex {
    Complex(number, 0.0)
}

/// e^(-s seconds).
#[expect(clippy::disallowed_methods, reason = "a test's tolerance is wider than what platforms differ by")]
fn delay(s: Complex, seconds: f64) -> Complex {
    let (size, angle) = ((-s.0 * seconds).exp(), -s.1 * seconds);
    Complex(size * angle.cos(), size * angle.sin())
}

impl Complex {
    fn size(self) -> f64 {
        sojourn_units::math::hypot(self.0, self.1)
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a test's tolerance is wider than what platforms differ by"
    )]
    fn angle(self) -> f64 {
        self.1.atan2(self.0)
    }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, other: Complex) -> Complex {
        Complex(self.0 - other.0, self.1 - other.1)
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

impl Div for Complex {
    type Output = Complex;
    fn div(self, other: Complex) -> Complex {
        let square = other.0 * other.0 + other.1 * other.1;
        self * Complex(other.0 / square, -other.1 / square)
    }
}
