//! Cost of 100 s of three smooth problems, and their errors after some seconds: a line of JSON for each step.
//! `rests`: a constant p, up to the equilibrium. `swings`: PI in continuous time, slightly below the gain at which
//! oscillations grow. `sampled`: the same law as it runs, 160 times a second.
//!
//! ```sh
//! cargo run --release -p sojourn-fluid --example smooth
//! ```
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // a bench reads the clock

use sojourn_fluid::dde::{History, Integrator, System};
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender, Window};
use std::time::Instant;

/// N, C, T_p; W and q before the start, and p at equilibrium.
const FLOWS: f64 = 60.0;
const CAPACITY: f64 = 3750.0;
const BASE_RTT: f64 = 0.2;
const BEFORE: [f64; 2] = [18.0, 350.0];
const P: f64 = 0.005;
/// PI: p' = K_I (q - Q) + K_P q'; its sampling frequency, 1/s.
const K_I: f64 = 8.0 * 9.64e-6;
const K_P: f64 = 8.0 * 1.82e-5;
const TARGET: f64 = 300.0;
const RATE: f64 = 160.0;

/// A name, the steps that are tried, the seconds after which the error is taken, and the backlog at a time with a step.
type Problem = (&'static str, &'static [f64], f64, fn(f64, f64) -> f64);

const PROBLEMS: [Problem; 3] = [
    ("rests", &[0.1, 0.05, 0.025, 0.0125, 0.01, 0.005, 0.002, 0.001], 3.0, rests),
    ("swings", &[0.1, 0.05, 0.025, 0.0125, 0.01, 0.005, 0.002, 0.001], 10.0, swings),
    ("sampled", &[1.0 / RATE, 0.5 / RATE, 0.25 / RATE, 0.001], 10.0, sampled),
];

fn main() {
    for (problem, steps, after, ends) in PROBLEMS {
        let exact = ends(1e-5, after);
        println!(r#"{{"problem": "{problem}", "backlog": {exact}, "after": {after}}}"#);
        for step in steps {
            let error = (ends(*step, after) / exact - 1.0).abs();
            let cost = (0..9).map(|_| {
                let begun = Instant::now();
                std::hint::black_box(ends(*step, 100.0));
                begun.elapsed().as_secs_f64()
            });
            let seconds = cost.fold(f64::INFINITY, f64::min);
            println!(
                r#"{{"problem": "{problem}", "step_s": {step}, "error": {error:e}, "seconds": {seconds:e}}}"#
            );
        }
    }
}

fn rests(step: f64, seconds: f64) -> f64 {
    let mut run = plant();
    go_on(&mut run, seconds, step);
    run.values()[1]
}

/// p changes by K_P times the change of the backlog, plus K_I times its error times the period.
fn sampled(step: f64, seconds: f64) -> f64 {
    let mut run = plant();
    let (mut p, mut last) = (P, BEFORE[1]);
    for sample in 1..=(seconds * RATE) as u32 {
        let now = f64::from(sample) / RATE;
        run.advance(now, step);
        let backlog = run.values()[1];
        p += K_I / RATE * (backlog - TARGET) + K_P * (backlog - last);
        last = backlog;
        run.change(|plant, _| plant.set_p(0, now, p));
    }
    run.values()[1]
}

fn plant() -> Integrator<Plant> {
    let class = Class {
        sender: Sender::Tcp(Window::Mgt, f64::INFINITY),
        flows: Ramp::constant(FLOWS),
        base_rtt: BASE_RTT,
        route: vec![0],
        back: Vec::new(),
        acks: 0.0,
        packet: 1000.0,
        ecn: true,
        loss: 0.0,
    };
    let mut plant = Plant::new(vec![class], vec![Link::new(CAPACITY, f64::INFINITY, 1000.0)]);
    plant.set_p(0, -10.0, P);
    Integrator::new(plant, 0.0, BEFORE.to_vec())
}

fn swings(step: f64, seconds: f64) -> f64 {
    let mut run = Integrator::new(Pi(0), 0.0, vec![BEFORE[0], BEFORE[1], P]);
    go_on(&mut run, seconds, step);
    run.values()[1]
}

/// Integrates with short steps at first: each round trip smooths the bends of the start.
fn go_on<S: System>(run: &mut Integrator<S>, seconds: f64, step: f64) {
    run.advance(2.0, step / 10.0);
    run.advance(seconds, step);
}

/// W, q and p.
struct Pi(usize);

impl System for Pi {
    fn width(&self) -> usize {
        3
    }

    fn slope(&mut self, t: f64, y: &[f64], past: &History, out: &mut [f64]) {
        let rtt = |backlog: f64| BASE_RTT + backlog / CAPACITY;
        let then = past.at(t - rtt(y[1]), &mut self.0);
        let signalled = then.value(0) * then.value(2) / rtt(then.value(1));
        out[0] = 1.0 / rtt(y[1]) - y[0] * signalled / 2.0;
        out[1] = FLOWS * y[0] / rtt(y[1]) - CAPACITY;
        out[2] = K_I * (y[1] - TARGET) + K_P * out[1];
    }

    fn reach(&self, t: f64, y: &[f64]) -> f64 {
        t - BASE_RTT - 2.0 * y[1] / CAPACITY
    }
}
