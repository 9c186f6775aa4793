//! First in, first out: shares of classes in the departures of a shared queue.

use crate::order::slopes;
use crate::{PACKET, class};
use sojourn_fluid::dde::Integrator;
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender};

/// Rates of two unresponsive classes, packets/s: at the start, and the growth per second. Together more than C.
const RATES: [[f64; 2]; 2] = [[800.0, -300.0], [400.0, 900.0]];
const CAPACITY: f64 = 1000.0;

/// Their cumulative arrivals up to a time; from `turn` on they continue at the rates of that time.
fn sent([rate, growth]: [f64; 2], (turn, then): (f64, f64), t: f64) -> f64 {
    let before = t.min(turn);
    rate * before + growth * before * before / 2.0 + then * (t - before)
}

/// Cumulative departures of each class from a queue that never was empty: the arrivals at the time when as much had
/// arrived as has left.
fn exact(turn: (f64, [f64; 2]), t: f64) -> [f64; 2] {
    let came = |t: f64| [0, 1].map(|class| sent(RATES[class], (turn.0, turn.1[class]), t));
    let (mut low, mut high) = (0.0, t);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        *(if came(middle).iter().sum::<f64>() < CAPACITY * t { &mut low } else { &mut high }) = middle;
    }
    came(low)
}

fn flood(order: [usize; 2]) -> Integrator<Plant> {
    let one = |of: usize| {
        let flows = Ramp { since: 0.0, count: RATES[of][0], growth: RATES[of][1] };
        Class { sender: Sender::Constant(1.0), flows, ..class(1.0, &[0, 1]) }
    };
    let links = [CAPACITY, 2.0 * CAPACITY].map(|capacity| Link::new(capacity, f64::INFINITY, PACKET));
    let plant = Plant::new(order.map(one).to_vec(), links.to_vec());
    let start = plant.start();
    Integrator::new(plant, 0.0, start)
}

/// Departures of a class from each of its links.
fn left(run: &Integrator<Plant>, class: usize) -> Vec<f64> {
    run.system.passed(class).map(|(_, passed)| passed.delivered).collect()
}

#[test]
fn classes_leave_a_queue_in_their_shares_at_arrival() {
    // From 0.5 s on the queue holds more than the arrivals of a step.
    let mut begun = flood([0, 1]);
    begun.advance(0.5, 1e-4);
    let error = |step: f64| {
        let mut run = begun.clone();
        run.advance(2.0, step);
        let exact = exact((2.0, [0.0; 2]), 2.0);
        (0..2)
            .flat_map(|class| left(&run, class).into_iter().map(move |left| (left - exact[class]).abs()))
            .fold(0.0, f64::max)
    };
    let errors = [0.1, 0.05, 0.025].map(error);
    println!("errors {errors:?} of 2000, slopes {:.2?}", slopes(&errors));
    assert!(errors[2] < 1e-4 && slopes(&errors).iter().all(|slope| *slope > 3.5), "{errors:?}");
}

#[test]
fn shares_at_arrival_hold_after_a_fall_of_the_load() {
    // 200 packets/s of each from 2 s on: more than 1000 are held, and the last of them leave long after.
    let mut run = flood([0, 1]);
    run.advance(2.0, 0.01);
    let rates = [200.0, 200.0];
    run.change(|plant, y| {
        for (class, count) in rates.into_iter().enumerate() {
            plant.set_flows(class, Ramp { since: 2.0, count, growth: 0.0 }, y);
        }
    });
    // No step ends where the last of them leave and the shares jump.
    for (t, near) in [(2.5, 1e-4), (3.0, 1e-4), (3.4, 1e-4), (3.6, 1e-4), (3.9, 1.0)] {
        run.advance(t, 0.01);
        for (class, exact) in exact((2.0, rates), t).into_iter().enumerate() {
            let ours = left(&run, class)[0];
            assert!((ours - exact).abs() < near, "at {t} s: {ours}, not {exact}");
        }
    }
}

#[test]
fn the_order_of_classes_does_not_matter() {
    let [one, other] = [[0, 1], [1, 0]].map(|order| {
        let mut run = flood(order);
        run.advance(2.0, 0.03);
        run
    });
    for class in 0..2 {
        for (one, other) in left(&one, class).into_iter().zip(left(&other, 1 - class)) {
            assert!((one - other).abs() < 1e-9 * one, "{one} {other}");
        }
    }
}

/// As [`crate::order`] has it, with three classes over two links whose queues never empty.
#[test]
fn with_classes_that_share_links_the_error_is_of_fourth_order() {
    let plant = || {
        let classes = vec![
            class(30.0, &[0, 1]),
            Class { base_rtt: 0.1, ..class(30.0, &[0]) },
            Class { base_rtt: 0.15, ..class(40.0, &[1]) },
        ];
        Plant::new(classes, [3750.0, 3750.0].map(|capacity| Link::new(capacity, 5000.0, PACKET)).to_vec())
    };
    let mut begun = Integrator::new(plant(), 0.0, plant().start());
    begun.change(|plant, _| [0, 1].into_iter().for_each(|link| plant.set_p(link, 0.0, 0.004)));
    begun.advance(10.0, 1e-3);
    let ends = |step: f64| {
        let mut run = begun.clone();
        run.advance(16.0, step);
        [
            left(&run, 0)[0],
            left(&run, 0)[1],
            left(&run, 1)[0],
            left(&run, 2)[0],
            run.values()[3],
            run.values()[4],
        ]
    };
    let exact = ends(0.1 / 128.0);
    let runs = [0.2, 0.1, 0.05].map(ends);
    for place in 0..exact.len() {
        let errors = runs.map(|run| (run[place] - exact[place]).abs());
        println!("{place}: errors {errors:?} of {}, slopes {:.2?}", exact[place], slopes(&errors));
        assert!(slopes(&errors).iter().all(|slope| *slope > 3.5), "{errors:?}");
    }
}
