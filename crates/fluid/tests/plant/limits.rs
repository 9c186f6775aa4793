//! Where the queue is empty or full: cases that pen and paper solve.

use crate::{PACKET, class};
use sojourn_fluid::dde::Integrator;
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender};

/// C and B.
const CAPACITY: f64 = 1000.0;
const BUFFER: f64 = 123.0;

/// What asks nobody at `rate` packets/s before one link.
fn flood(rate: f64) -> Integrator<Plant> {
    let class = Class { sender: Sender::Constant(rate), ..class(1.0, &[0]) };
    let plant = Plant::new(vec![class], vec![Link::new(CAPACITY, BUFFER, PACKET)]);
    let start = plant.start();
    Integrator::new(plant, 0.0, start)
}

fn near(ours: f64, exact: f64) {
    assert!((ours - exact).abs() < 1e-9 * exact.abs().max(1.0), "{ours}, not {exact}");
}

/// There are so many from now on.
fn set(run: &mut Integrator<Plant>, count: f64) {
    let since = run.now();
    run.change(|plant, y| plant.set_flows(0, Ramp { since, count, growth: 0.0 }, y));
}

#[test]
fn an_overload_fills_the_buffer_when_it_must_and_the_rest_is_lost() {
    let mut run = flood(1300.0);
    // 300 packets/s more than leave: 123 packets after 0.41 s.
    run.advance(0.4, 0.07);
    near(run.values()[1], 120.0);
    run.advance(2.0, 0.07);
    let tally = run.system.links()[0].tally();
    assert_eq!(run.values()[1], BUFFER);
    near(tally.overflowed, 300.0 * (2.0 - 0.41));
    near(tally.delivered, 1000.0 * 2.0);
    near(tally.offered, 1300.0 * 2.0);
    // A triangle and a rectangle.
    near(tally.backlog, 123.0 * 0.41 / 2.0 + 123.0 * (2.0 - 0.41));
    near(tally.busy, 2.0);
}

#[test]
fn a_buffer_empties_when_it_must_and_stays_empty() {
    let mut run = flood(1300.0);
    run.advance(1.0, 0.07);
    // Half of the flow: 650 packets/s, and 350 more leave.
    set(&mut run, 0.5);
    run.advance(3.0, 0.07);
    let (tally, empties) = (run.system.links()[0].tally(), 1.0 + 123.0 / 350.0);
    assert_eq!(run.values()[1], 0.0);
    near(tally.busy, empties);
    near(tally.delivered, 1000.0 * empties + 650.0 * (3.0 - empties));
    near(tally.backlog, 123.0 * (0.41 / 2.0 + 0.59 + 123.0 / 350.0 / 2.0));
    // And fills again at once.
    set(&mut run, 1.0);
    run.advance(3.1, 0.07);
    near(run.values()[1], 30.0);
}

#[test]
fn a_queue_that_is_there_at_the_start_is_sent() {
    let plant = flood(900.0).system;
    let mut run = Integrator::new(plant, 0.0, vec![1.0, 50.0]);
    // 100 packets/s more leave than come.
    run.advance(0.2, 0.07);
    near(run.values()[1], 30.0);
    run.advance(2.0, 0.07);
    near(run.system.links()[0].tally().busy, 0.5);
}

#[test]
fn what_the_law_drops_does_not_fill_it() {
    let mut run = flood(1300.0);
    run.system = {
        let class = Class { sender: Sender::Constant(1300.0), ecn: false, ..class(1.0, &[0]) };
        Plant::new(vec![class], vec![Link::new(CAPACITY, BUFFER, PACKET)])
    };
    run.change(|plant, _| plant.set_p(0, 0.0, 0.1));
    // 1170 packets/s are let in.
    run.advance(0.5, 0.07);
    near(run.values()[1], 85.0);
    near(run.system.links()[0].tally().dropped, 65.0);
}

#[test]
fn a_link_that_stops_holds_what_comes_and_one_that_goes_on_sends_it() {
    let mut run = flood(900.0);
    run.advance(1.0, 0.07);
    assert_eq!(run.values()[1], 0.0);
    run.change(|plant, _| plant.set_capacity(0, 1.0, 0.0));
    run.advance(1.1, 0.07);
    run.change(|plant, _| plant.set_capacity(0, 1.1, 1500.0));
    // 90 packets came while it stood; then 600 packets/s more leave than come.
    run.advance(1.12, 0.07);
    near(run.values()[1], 78.0);
    run.advance(2.0, 0.07);
    assert_eq!(run.values()[1], 0.0);
    near(run.system.links()[0].tally().delivered, 900.0 * 2.0);
}
