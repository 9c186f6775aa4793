//! Cost of linear analysis: margins, a count, poles, and a map of 200 x 200 loads and round trips on two threads.
//!
//! ```sh
//! cargo run --release -p sojourn-fluid --example linear_cost
//! ```
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // a bench reads the clock

use sojourn_aqm::Network;
use sojourn_aqm::laws::pi;
use sojourn_aqm::linear::{InSamples, Rational};
use sojourn_fluid::linear::boundary::{Plane, map};
use sojourn_fluid::linear::equilibrium::{Class, Link, Signal};
use sojourn_fluid::linear::loops::{Continuous, Loop};
use sojourn_fluid::linear::margins::Margins;
use sojourn_fluid::linear::plant::{Exact, Hollot};
use sojourn_fluid::linear::sampled::Sampled;
use sojourn_fluid::linear::{nyquist, poles};
use sojourn_fluid::plant::Window;
use sojourn_units::Span;
use std::hint::black_box;
use std::time::Instant;

const PERIOD: f64 = 1.0 / 160.0;

fn main() {
    let network = Network { flows: 60.0, capacity: 3750.0, rtt: 0.246 };
    let gains = pi::design(network, PERIOD);
    let hollot = Hollot::new(network);
    let [one, twenty] = [1u32, 20].map(|count| {
        let flows = 60.0 / f64::from(count);
        let class = |i: u32| Class {
            flows,
            base_rtt: 0.2 + 0.01 * f64::from(i),
            size: 1.0,
            ecn: true,
            law: Window::Mgt,
            loss: 0.0,
        };
        let classes = (0..count).map(class).collect();
        let link = Link { capacity: 3750.0, signal: Signal::Mark, unresponsive: [0.0; 2], classes };
        Exact::new(&link, &link.at_backlog(172.5).expect("an equilibrium"))
    });
    report("PI, textbook plant", &Continuous::new(hollot, continuous(gains)));
    report("PI, linearised plant", &Continuous::new(one.clone(), continuous(gains)));
    report("sampled-data PI, textbook plant", &Sampled::new(hollot, &sampled(gains)).expect("its poles"));
    for (name, plant) in [("one class", one), ("twenty classes", twenty)] {
        let of = Sampled::new(plant, &sampled(gains)).expect("its poles");
        report(&format!("sampled-data PI, linearised plant, {name}"), &of);
    }

    let plane = Plane { from: [5.0, 0.05], to: [200.0, 0.6], points: [200, 200], threads: 2 };
    let family = |[flows, rtt]: [f64; 2]| {
        let plant = Hollot::new(Network { flows, capacity: 3750.0, rtt });
        Some(Box::new(Continuous::new(plant, continuous(gains))) as Box<dyn Loop>)
    };
    let begun = Instant::now();
    let found = map(&family, plane);
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "map of 200 x 200, {} points of boundary: {seconds:.3} s",
        found.boundary.iter().flatten().count()
    );
}

fn report(name: &str, of: &dyn Loop) {
    let margins = microseconds(|| Margins::of(of));
    let count = microseconds(|| nyquist::count(of));
    let poles = microseconds(|| poles::rightmost(of, 4));
    println!("{name}: margins {margins:.0} us, count {count:.0} us, four poles {poles:.0} us");
}

/// The mean over a tenth of a second.
fn microseconds<T>(work: impl Fn() -> T) -> f64 {
    let begun = Instant::now();
    let mut times = 0;
    while begun.elapsed().as_secs_f64() < 0.1 {
        black_box(work());
        times += 1;
    }
    begun.elapsed().as_secs_f64() / f64::from(times) * 1e6
}

fn continuous(pi::PiGains { a, b }: pi::PiGains) -> Rational {
    Rational { numerator: vec![(a - b) / PERIOD, f64::midpoint(a, b)], denominator: vec![0.0, 1.0] }
}

fn sampled(pi::PiGains { a, b }: pi::PiGains) -> InSamples {
    let transfer = Rational { numerator: vec![a, -b], denominator: vec![1.0, -1.0] };
    InSamples { transfer, period: Span::from_seconds(PERIOD) }
}
