//! Cost of fluid runs: prints nanoseconds a step. Runs the named cases, or all.

use sojourn_aqm::LinkContext;
use sojourn_aqm::QdiscSpec;
use sojourn_aqm::laws::pi;
use sojourn_fluid::law_driver::{LawDriver, World};
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender, Window};
use sojourn_units::{Amount, Rate, Span, Time};
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
use std::time::Instant;

/// A name, and the world at its start.
type Case = (&'static str, fn() -> World);

/// One class under a constant p; under PI, with either window model; three that share two links with it in front of
/// both; and the fluid model of RED.
const CASES: [Case; 5] = [
    ("constant", constant),
    ("mgt", || one(Window::Mgt, pi)),
    ("full", || one(Window::Full, pi)),
    ("three", three),
    ("red", || one(Window::Mgt, red)),
];
const CAPACITY: f64 = 3750.0;
const BUFFER: f64 = 800.0;
const FLOWS: f64 = 60.0;
/// A p with an equilibrium of one class.
const STEADY: f64 = 0.01;

#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    for (name, world) in CASES.into_iter().filter(|(name, _)| is_wanted(name)) {
        for round in 0..3 {
            let begin = Instant::now();
            let mut world = world();
            world.run_until(Time::ZERO + Span::from_secs(100));
            let cost = begin.elapsed().as_secs_f64();
            let (steps, backlog) = (world.steps(), world.backlog(0));
            println!(
                "{name} round {round}: 100 s at 1 ms in {:.1} ms, {steps} steps of {:.0} ns, {backlog} packets",
                1e3 * cost,
                1e9 * cost / steps as f64
            );
        }
    }
}

/// 100 000 steps of 1 ms and no event: from near its equilibrium.
fn constant() -> World {
    let mut plant = Plant::new(vec![class(Window::Mgt, FLOWS, &[0])], vec![link()]);
    plant.set_p(0, f64::NEG_INFINITY, STEADY);
    let mut world = World::new(plant, Vec::new(), 1e-3);
    world.change(|_, y| y.copy_from_slice(&[14.0, 100.0]));
    world
}

/// The paper's example.
fn one(window: Window, driver: fn(usize) -> LawDriver) -> World {
    let plant = Plant::new(vec![class(window, FLOWS, &[0])], vec![link()]);
    World::new(plant, vec![driver(0)], 1e-3)
}

/// A class crosses both links, each of the others one of them.
fn three() -> World {
    let mgt = |flows: f64, route: &[usize]| class(Window::Mgt, flows, route);
    let classes = vec![mgt(FLOWS / 2.0, &[0, 1]), mgt(FLOWS, &[0]), mgt(FLOWS / 2.0, &[1])];
    World::new(Plant::new(classes, vec![link(), link()]), vec![pi(0), pi(1)], 1e-3)
}

fn class(window: Window, flows: f64, route: &[usize]) -> Class {
    Class {
        sender: Sender::Tcp(window, f64::INFINITY),
        flows: Ramp::constant(flows),
        base_rtt: 0.2,
        route: route.to_vec(),
        back: Vec::new(),
        acks: 0.0,
        packet: 1000.0,
        ecn: true,
        loss: 0.0,
    }
}

fn link() -> Link {
    Link::new(CAPACITY, BUFFER, 1000.0)
}

fn pi(link: usize) -> LawDriver {
    let params = pi::Params { target: Some(Amount::Packets(200.0)), ..pi::Params::default() };
    let law = pi::Pi::law(&params, &context()).expect("a design for the paper's example");
    LawDriver::new(link, Box::new(law), context())
}

fn red(link: usize) -> LawDriver {
    let qdisc = QdiscSpec::parse("red").expect("a law");
    LawDriver::designed(link, &qdisc.at(&context().into()).expect("parameters of the law"), context())
        .expect("a fluid law")
}

fn context() -> LinkContext {
    LinkContext {
        rate: Rate::from_bits_per_second(8000.0 * CAPACITY),
        packet: 1000.0,
        limit: BUFFER,
        flows: Some(FLOWS),
        base_rtt: Some(Span::from_millis(200)),
    }
}
