//! Networks of several links and classes, against theory.

use crate::{PACKET, calibrated, class, others};
use sojourn_fluid::dde::Integrator;
use sojourn_fluid::plant::{Class, Link, Plant, Sender, Window};

fn begun(plant: Plant, start: f64) -> Integrator<Plant> {
    let y = plant.start();
    Integrator::new(plant, start, y)
}

/// p of the one link: 0.004, and 0.02 from 5 s on; W and q at 12 s.
fn steps(classes: Vec<Class>, start: f64) -> Integrator<Plant> {
    let mut run = begun(Plant::new(classes, vec![Link::new(3750.0, 800.0, PACKET)]), start);
    run.change(|plant, _| plant.set_p(0, start, 0.004));
    run.advance(start + 5.0, 0.005);
    run.change(|plant, _| plant.set_p(0, start + 5.0, 0.02));
    run.advance(start + 12.0, 0.005);
    run
}

fn near(ours: f64, other: f64, share: f64) {
    assert!((ours - other).abs() <= share * other.abs(), "{ours}, not {other}");
}

#[test]
fn trajectories_do_not_depend_on_the_start_time() {
    let [now, later] = [0.0, 1000.0 / 3.0].map(|start| steps(vec![class(60.0, &[0])], start));
    for (now, later) in now.values().iter().zip(later.values()) {
        near(*later, *now, 1e-9);
    }
}

#[test]
fn two_halves_of_a_class_are_the_class() {
    for ecn in [true, false] {
        for window in [Window::Mgt, Window::Full, calibrated()].into_iter().chain(others()) {
            let of = |flows| {
                let sender = Sender::Tcp(window, f64::INFINITY);
                Class { ecn, sender, ..class(flows, &[0]) }
            };
            let whole = steps(vec![of(60.0)], 0.0);
            let halves = steps(vec![of(30.0), of(30.0)], 0.0);
            let [w, q] = [0, 1].map(|place| whole.values()[place]);
            near(halves.values()[0], w, 1e-9);
            near(halves.values()[1], w, 1e-9);
            near(halves.values()[2], q, 1e-9);
            let [half, other] = [0, 1].map(|class| halves.system.received()[class].delivered);
            near(half, other, 1e-9);
            near(half + other, whole.system.received()[0].delivered, 1e-9);
        }
    }
}

/// The changes for so many classes are no events: the steps bound the error.
#[test]
fn very_many_parts_of_a_class_are_nearly_the_class() {
    let whole = steps(vec![class(60.0, &[0])], 0.0);
    let parts = steps(vec![class(2.0, &[0]); 30], 0.0);
    let [w, q] = [0, 1].map(|place| whole.values()[place]);
    near(parts.values()[0], w, 1e-3);
    near(parts.values()[30], q, 1e-3);
    let delivered: f64 = parts.system.received().iter().map(|got| got.delivered).sum();
    near(delivered, whole.system.received()[0].delivered, 1e-4);
}

#[test]
fn behind_a_narrow_link_a_wide_one_has_no_queue() {
    let links = || [3750.0, 3800.0].map(|capacity| Link::new(capacity, 800.0, PACKET)).to_vec();
    let classes = vec![class(40.0, &[0, 1]), class(20.0, &[0, 1])];
    let mut run = begun(Plant::new(classes, links()), 0.0);
    run.change(|plant, _| plant.set_p(0, 0.0, 0.004));
    for second in 1..=30 {
        run.advance(f64::from(second), 0.005);
        assert_eq!(run.values()[run.system.backlog(1)], 0.0, "at {second} s");
    }
    assert!(run.values()[run.system.backlog(0)] > 100.0);
    // The rate that the first one sends is offered to the second one.
    let [first, second] = [0, 1].map(|link| run.system.links()[link].totals());
    near(second.offered, first.delivered, 1e-9);
}

/// A class over three links, and one over each of them. Under constant p each window follows from the signals on its
/// path, W^2 s = 2 (1 - s), and queues are such that every link is just busy.
#[test]
fn a_parking_lot_settles_by_the_square_root_law() {
    let (capacities, marks) = ([3000.0, 2500.0, 3500.0], [0.004, 0.006, 0.003]);
    let (long, cross, base_rtt) = (20.0, [25.0, 25.0, 30.0], [0.05, 0.08, 0.03]);
    let sender = Sender::Tcp(Window::Full, f64::INFINITY);
    let mut classes = vec![Class { sender, ..class(long, &[0, 1, 2]) }];
    for link in 0..3 {
        classes.push(Class { sender, base_rtt: base_rtt[link], ..class(cross[link], &[link]) });
    }
    let links = capacities.map(|capacity| Link::new(capacity, 1e5, PACKET));
    let mut run = begun(Plant::new(classes, links.to_vec()), 0.0);
    run.change(|plant, _| (0..3).for_each(|link| plant.set_p(link, 0.0, marks[link])));
    run.advance(300.0, 0.01);

    let window = |s: f64| (2.0 * (1.0 - s) / s).sqrt();
    let through = window(1.0 - marks.iter().map(|p| 1.0 - p).product::<f64>());
    // The backlogs where the long flows' round trip is `rtt`, and the round trip that follows.
    let queues = |rtt: f64| {
        let rate = long * through / rtt;
        let wait =
            |link: usize| cross[link] * window(marks[link]) / (capacities[link] - rate) - base_rtt[link];
        [0, 1, 2].map(|link| wait(link) * capacities[link])
    };
    let around = |rtt: f64| 0.2 + (0..3).map(|link| queues(rtt)[link] / capacities[link]).sum::<f64>();
    let (mut low, mut high) = (0.2, 5.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        *(if around(middle) > middle { &mut low } else { &mut high }) = middle;
    }
    let exact = queues(low);
    assert!(exact.iter().all(|queue| *queue > 10.0), "{exact:?}");
    near(run.values()[0], through, 1e-6);
    for link in 0..3 {
        near(run.values()[1 + link], window(marks[link]), 1e-6);
        near(run.values()[run.system.backlog(link)], exact[link], 1e-6);
    }
    let before = run.system.received()[0].delivered;
    run.advance(310.0, 0.01);
    near((run.system.received()[0].delivered - before) / 10.0, long * through / low, 1e-6);
}
