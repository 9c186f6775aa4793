//! What 100 s of a smooth problem cost, and how exact it is after 3 s: a line of JSON for each step.
//!
//! ```sh
//! cargo run --release -p sojourn-fluid --example smooth
//! ```
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // a bench reads the clock

use sojourn_fluid::dde::Integrator;
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender, Window};
use std::time::Instant;

/// N, C, T_p; p; W and q for ever before the start.
const FLOWS: f64 = 60.0;
const CAPACITY: f64 = 3750.0;
const BASE_RTT: f64 = 0.2;
const P: f64 = 0.005;
const BEFORE: [f64; 2] = [18.0, 350.0];

fn main() {
    let exact = ends(1e-5, 3.0);
    println!(r#"{{"backlog": {exact}}}"#);
    for step in [0.05, 0.025, 0.0125, 0.01, 0.005, 0.002, 0.001] {
        let error = (ends(step, 3.0) / exact - 1.0).abs();
        let cost = (0..9).map(|_| {
            let begun = Instant::now();
            std::hint::black_box(ends(step, 100.0));
            begun.elapsed().as_secs_f64()
        });
        let seconds = cost.fold(f64::INFINITY, f64::min);
        println!(r#"{{"step_s": {step}, "error": {error:e}, "seconds": {seconds:e}}}"#);
    }
}

/// The backlog at the end, packets.
fn ends(step: f64, seconds: f64) -> f64 {
    let class = Class {
        sender: Sender::Tcp(Window::Mgt, f64::INFINITY),
        flows: Ramp::constant(FLOWS),
        base_rtt: BASE_RTT,
        route: vec![0],
        back: Vec::new(),
        packet: 1000.0,
        ecn: true,
        loss: 0.0,
    };
    let mut plant = Plant::new(vec![class], vec![Link::new(CAPACITY, f64::INFINITY, 1000.0)]);
    plant.set_p(0, -10.0, P);
    let mut run = Integrator::new(plant, 0.0, BEFORE.to_vec());
    run.advance(seconds, step);
    run.values()[1]
}
