//! Empty and full queues: cases with a closed-form solution.

use crate::{PACKET, class};
use sojourn_fluid::dde::Integrator;
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender};

/// C and B.
const CAPACITY: f64 = 1000.0;
const BUFFER: f64 = 123.0;

/// Unresponsive traffic of `rate` packets/s before one link.
fn flood(rate: f64) -> Integrator<Plant> {
    let class = Class { sender: Sender::Constant(rate), ..class(1.0, &[0]) };
    let plant = Plant::new(vec![class], vec![Link::new(CAPACITY, BUFFER, PACKET)]);
    let start = plant.start();
    Integrator::new(plant, 0.0, start)
}

fn near(ours: f64, exact: f64) {
    assert!((ours - exact).abs() < 1e-9 * exact.abs().max(1.0), "{ours}, not {exact}");
}

/// Sets their number from now on.
fn set(run: &mut Integrator<Plant>, count: f64) {
    let since = run.now();
    run.change(|plant, y| plant.set_flows(0, Ramp { since, count, growth: 0.0 }, y));
}

#[test]
fn an_overload_fills_the_buffer_and_the_excess_is_lost() {
    let mut run = flood(1300.0);
    // An excess of 300 packets/s: 123 packets after 0.41 s.
    run.advance(0.4, 0.07);
    near(run.values()[1], 120.0);
    run.advance(2.0, 0.07);
    let totals = run.system.links()[0].totals();
    assert_eq!(run.values()[1], BUFFER);
    near(totals.overflowed, 300.0 * (2.0 - 0.41));
    near(totals.delivered, 1000.0 * 2.0);
    near(totals.offered, 1300.0 * 2.0);
    // A triangle and a rectangle.
    near(totals.backlog, 123.0 * 0.41 / 2.0 + 123.0 * (2.0 - 0.41));
    near(totals.busy, 2.0);
}

#[test]
fn a_buffer_empties_on_time_and_remains_empty() {
    let mut run = flood(1300.0);
    run.advance(1.0, 0.07);
    // Half of the flow: 650 packets/s, and 350 more leave.
    set(&mut run, 0.5);
    run.advance(3.0, 0.07);
    let (totals, empties) = (run.system.links()[0].totals(), 1.0 + 123.0 / 350.0);
    assert_eq!(run.values()[1], 0.0);
    near(totals.busy, empties);
    near(totals.delivered, 1000.0 * empties + 650.0 * (3.0 - empties));
    near(totals.backlog, 123.0 * (0.41 / 2.0 + 0.59 + 123.0 / 350.0 / 2.0));
    // And fills again at once.
    set(&mut run, 1.0);
    run.advance(3.1, 0.07);
    near(run.values()[1], 30.0);
}

#[test]
fn an_initial_queue_is_sent() {
    let plant = flood(900.0).system;
    let mut run = Integrator::new(plant, 0.0, vec![1.0, 50.0]);
    // Departures exceed arrivals by 100 packets/s.
    run.advance(0.2, 0.07);
    near(run.values()[1], 30.0);
    run.advance(2.0, 0.07);
    near(run.system.links()[0].totals().busy, 0.5);
}

#[test]
fn dropped_packets_do_not_fill_the_queue() {
    let mut run = flood(1300.0);
    run.system = {
        let class = Class { sender: Sender::Constant(1300.0), ecn: false, ..class(1.0, &[0]) };
        Plant::new(vec![class], vec![Link::new(CAPACITY, BUFFER, PACKET)])
    };
    run.change(|plant, _| plant.set_p(0, 0.0, 0.1));
    // 1170 packets/s are accepted.
    run.advance(0.5, 0.07);
    near(run.values()[1], 85.0);
    near(run.system.links()[0].totals().dropped, 65.0);
}

#[test]
fn a_stopped_link_holds_arrivals_and_sends_them_later() {
    let mut run = flood(900.0);
    run.advance(1.0, 0.07);
    assert_eq!(run.values()[1], 0.0);
    run.change(|plant, _| plant.set_capacity(0, 1.0, 0.0));
    run.advance(1.1, 0.07);
    run.change(|plant, _| plant.set_capacity(0, 1.1, 1500.0));
    // 90 packets arrived while the rate was 0; then 600 packets/s more leave than arrive.
    run.advance(1.12, 0.07);
    near(run.values()[1], 78.0);
    run.advance(2.0, 0.07);
    assert_eq!(run.values()[1], 0.0);
    near(run.system.links()[0].totals().delivered, 900.0 * 2.0);
}
