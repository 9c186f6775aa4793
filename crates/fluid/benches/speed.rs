//! What a run of the fluid costs: prints nanoseconds a step.

use sojourn_aqm::Site;
use sojourn_aqm::laws::pi;
use sojourn_fluid::host::{Host, World};
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender, Window};
use sojourn_units::{Amount, Rate, Span, Time};
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
use std::time::Instant;

#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
fn main() {
    for window in [Window::Mgt, Window::Full] {
        for round in 0..5 {
            let begin = Instant::now();
            let mut world = world(window);
            world.run_until(Time::ZERO + Span::from_secs(100));
            let cost = begin.elapsed().as_secs_f64();
            let (steps, backlog) = (1e5, world.backlog(0));
            println!(
                "{window:?} round {round}: 100 s at 1 ms in {:.1} ms, {:.0} ns a step, {backlog:.3} packets",
                1e3 * cost,
                1e9 * cost / steps
            );
        }
    }
}

fn world(window: Window) -> World {
    let (capacity, buffer) = (3750.0, 800.0);
    let class = Class {
        sender: Sender::Tcp(window, f64::INFINITY),
        flows: Ramp::constant(60.0),
        base_rtt: 0.2,
        route: vec![0],
        back: Vec::new(),
        packet: 1000.0,
        ecn: true,
        loss: 0.0,
    };
    let site = Site {
        rate: Rate::from_bits_per_second(8000.0 * capacity),
        packet: 1000.0,
        limit: buffer,
        flows: Some(60.0),
        base_rtt: Some(Span::from_millis(200)),
    };
    let params = pi::Params { target: Some(Amount::Packets(200.0)), ..pi::Params::default() };
    let law = pi::Pi::law(&params, &site).expect("a design for the paper's example");
    let plant = Plant::new(vec![class], vec![Link::new(capacity, buffer, 1000.0)]);
    World::new(plant, vec![Host::new(0, Box::new(law), site)], 1e-3)
}
