//! Queues that share a link: generalized processor sharing in closed form, the longest queue's losses, conservation.

use crate::{PACKET, class};
use proptest::prelude::*;
use sojourn_fluid::dde::Integrator;
use sojourn_fluid::plant::{Class, Link, Plant, QueueShare, Ramp, Sender, SharedLink, Window};

/// C, packets/s.
const CAPACITY: f64 = 1000.0;
/// Step, s: no multiple of it is an event of these tests.
const STEP: f64 = 0.07;

/// Sources of these rates, packets/s, each in a queue of its own with a weight.
fn sources(buffer: f64, each: &[(f64, f64)]) -> Integrator<Plant> {
    let share = |(queue, (_, weight)): (usize, &(f64, f64))| QueueShare {
        queue,
        flows_of: Some(queue..queue + 1),
        weight: *weight,
        is_reserved: false,
    };
    let shares = each.iter().enumerate().map(share).collect();
    before(SharedLink::new(CAPACITY, buffer, shares), each.iter().map(|(rate, _)| *rate))
}

fn before(shared: SharedLink, rates: impl Iterator<Item = f64>) -> Integrator<Plant> {
    let source = |(queue, rate)| Class { sender: Sender::Constant(rate), ..class(1.0, &[queue]) };
    let classes: Vec<Class> = rates.enumerate().map(source).collect();
    let links = classes.iter().map(|_| Link::new(0.0, f64::INFINITY, PACKET)).collect();
    let plant = Plant::with_shared(classes, links, vec![shared]);
    let start = plant.start();
    Integrator::new(plant, 0.0, start)
}

fn near(ours: f64, exact: f64) {
    assert!((ours - exact).abs() < 1e-7 * exact.abs().max(1.0), "{ours}, not {exact}");
}

fn backlog(run: &Integrator<Plant>, queue: usize) -> f64 {
    run.values()[run.system.backlog(queue)]
}

/// Sets the number of a class's flows from now on.
fn set(run: &mut Integrator<Plant>, class: usize, count: f64) {
    let since = run.now();
    run.change(|plant, y| plant.set_flows(class, Ramp { since, count, growth: 0.0 }, y));
}

#[test]
fn backlogged_queues_have_their_weights_parts_of_the_rate() {
    // 750 and 250 packets/s of 900 and 600.
    let mut run = sources(f64::INFINITY, &[(900.0, 3.0), (600.0, 1.0)]);
    run.advance(2.0, STEP);
    near(backlog(&run, 0), 150.0 * 2.0);
    near(backlog(&run, 1), 350.0 * 2.0);
    let delivered = |queue: usize| run.system.links()[queue].totals().delivered;
    near(delivered(0), 1500.0);
    near(delivered(1), 500.0);
    // Weights change: 500 each, as in the one queue of equal weights.
    run.change(|plant, _| plant.shared_mut()[0].set_weight(0, 1.0));
    run.advance(3.0, STEP);
    near(backlog(&run, 0), 300.0 + 400.0);
    near(backlog(&run, 1), 700.0 + 100.0);
}

#[test]
fn a_queue_below_its_share_leaves_the_rest_to_the_others() {
    // 500 of its 750 packets/s: the other one has 500, and grows by 100.
    let mut run = sources(f64::INFINITY, &[(500.0, 3.0), (600.0, 1.0)]);
    run.advance(2.0, STEP);
    assert_eq!(backlog(&run, 0), 0.0);
    near(backlog(&run, 1), 200.0);
    // Twice as much: backlogged, at a share that doubled with its two flows: 6/7.
    set(&mut run, 0, 2.0);
    run.advance(3.0, STEP);
    let share = CAPACITY * 6.0 / 7.0;
    near(backlog(&run, 0), 1000.0 - share);
    near(backlog(&run, 1), 200.0 + 600.0 - (CAPACITY - share));
    // They go: what they left drains at their old share, then the other queue has all.
    set(&mut run, 0, 0.0);
    let left = 1000.0 - share;
    run.advance(3.0 + left / share + 0.3, STEP);
    assert_eq!(backlog(&run, 0), 0.0);
    let drained = 200.0 + 600.0 - (CAPACITY - share) + (600.0 - CAPACITY + share) * left / share;
    near(backlog(&run, 1), drained - 400.0 * 0.3);
}

#[test]
fn a_reserved_queue_has_its_rate_and_leaves_what_it_does_not_use() {
    let share = |(queue, is_reserved)| QueueShare { queue, flows_of: None, weight: 1.0, is_reserved };
    let shares = [(0, true), (1, false), (2, false)].map(share);
    let mut shared = SharedLink::new(CAPACITY, f64::INFINITY, shares.to_vec());
    shared.set_reserved(200.0);
    // Below its rate: the others have 900, in equal parts.
    let mut run = before(shared, [100.0, 600.0, 600.0].into_iter());
    run.advance(1.0, STEP);
    assert_eq!(backlog(&run, 0), 0.0);
    near(backlog(&run, 1), 150.0);
    // Above it: 200 of 300, and 800 for the others.
    set(&mut run, 0, 3.0);
    run.advance(2.0, STEP);
    near(backlog(&run, 0), 100.0);
    near(backlog(&run, 2), 150.0 + 200.0);
    // The others are silent, and drain: it has all that they do not take.
    set(&mut run, 1, 0.0);
    set(&mut run, 2, 0.0);
    let drains = 2.0 * 350.0 / 800.0;
    run.advance(2.0 + drains, STEP);
    near(backlog(&run, 0), 100.0 + 100.0 * drains);
    run.advance(2.0 + drains + 0.1, STEP);
    near(backlog(&run, 0), 100.0 + 100.0 * drains - 700.0 * 0.1);
}

#[test]
fn a_full_buffer_loses_of_the_longest_queue() {
    // They grow by 150 and 350 packets/s: full after 0.2 s, with 30 and 70 packets. Then the longer one loses all 500
    // packets/s until both have 50, after 20/150 s; then each loses its own growth.
    let mut run = sources(100.0, &[(900.0, 3.0), (600.0, 1.0)]);
    run.advance(0.3, STEP);
    near(backlog(&run, 0), 30.0 + 150.0 * 0.1);
    near(backlog(&run, 1), 70.0 - 150.0 * 0.1);
    run.advance(1.2, STEP);
    near(backlog(&run, 0), 50.0);
    near(backlog(&run, 1), 50.0);
    let lost = |run: &Integrator<Plant>, queue: usize| run.system.links()[queue].totals().overflowed;
    let tied = 1.0 - 20.0 / 150.0;
    near(lost(&run, 0), 150.0 * tied);
    near(lost(&run, 1), 500.0 * 20.0 / 150.0 + 350.0 * tied);
    // One ceases: its packets leave at 750 packets/s, and the other one grows by 350 without loss.
    let before = lost(&run, 1);
    set(&mut run, 0, 0.0);
    run.advance(1.2 + 50.0 / 750.0, STEP);
    near(backlog(&run, 0), 0.0);
    near(backlog(&run, 1), 50.0 + 350.0 * 50.0 / 750.0);
    near(lost(&run, 1), before);
}

#[test]
fn flows_with_a_queue_each_are_compared_by_the_length_of_one() {
    // Ten flows at 200 packets/s and one at 300, of equal weight: 1000/11 each. The class of ten grows by 1091, the
    // other by 209: both reach 100 packets together at 0.0769 s, with 8.4 packets in each of ten queues, 16.1 in one.
    let mut run = sources(100.0, &[(200.0, 1.0), (300.0, 1.0)]);
    set(&mut run, 0, 10.0);
    run.advance(0.08, STEP);
    let each = CAPACITY / 11.0;
    let full = 100.0 / (2300.0 - CAPACITY);
    let growth = 10.0 * (200.0 - each);
    near(backlog(&run, 0), growth * 0.08);
    near(backlog(&run, 1), (300.0 - each) * full - growth * (0.08 - full));
    // In the end all eleven are as long.
    run.advance(1.0, STEP);
    near(backlog(&run, 0), 1000.0 / 11.0);
}

/// A link with up to four queues, before one more link, and changes.
#[derive(Clone, Debug)]
struct Network {
    buffer: f64,
    second: f64,
    classes: Vec<(f64, f64, f64, u8)>,
    changes: Vec<(f64, usize, f64, u8)>,
}

fn networks() -> impl Strategy<Value = Network> {
    let one = (0.5..20.0, 0.01..0.3, 0.1..8.0, 0..16_u8);
    let change = (0.01..0.6, 0..4_usize, 0.0..1.0, 0..4_u8);
    let classes = prop::collection::vec(one, 1..5);
    (20.0..400.0, 400.0..3000.0, classes, prop::collection::vec(change, 0..16))
        .prop_map(|(buffer, second, classes, changes)| Network { buffer, second, classes, changes })
}

impl Network {
    fn run(&self) -> Integrator<Plant> {
        let last = self.classes.len();
        let class = |(queue, (flows, base_rtt, _, bits)): (usize, &(f64, f64, f64, u8))| {
            let route = if bits & 4 == 0 { vec![queue] } else { vec![queue, last] };
            let sender = match bits & 3 {
                3 => Sender::Constant(600.0 / flows),
                bits => Sender::Tcp(if bits == 0 { Window::Mgt } else { Window::Full }, f64::INFINITY),
            };
            Class { sender, base_rtt: *base_rtt, ecn: bits & 8 == 0, ..class(*flows, &route) }
        };
        let share = |(queue, (_, _, weight, bits)): (usize, &(f64, f64, f64, u8))| QueueShare {
            queue,
            flows_of: (bits & 2 == 0).then_some(queue..queue + 1),
            weight: *weight,
            is_reserved: queue == 0 && bits & 1 == 1,
        };
        let shares = self.classes.iter().enumerate().map(share).collect();
        let mut links = vec![Link::new(0.0, f64::INFINITY, PACKET); last];
        links.push(Link::new(self.second, 100.0, PACKET));
        let mut shared = SharedLink::new(CAPACITY, self.buffer, shares);
        shared.set_reserved(150.0);
        let classes = self.classes.iter().enumerate().map(class).collect();
        let plant = Plant::with_shared(classes, links, vec![shared]);
        let start = plant.start();
        let mut run = Integrator::new(plant, 0.0, start);
        for (after, which, how, what) in &self.changes {
            run.advance(run.now() + after, 0.005);
            let (now, which) = (run.now(), which % last);
            run.change(|plant, y| match what {
                0 => plant.set_p(which, now, 0.3 * how),
                1 => plant.set_flows(
                    which,
                    Ramp { since: now, count: (40.0 * how - 5.0).max(0.0), growth: 0.0 },
                    y,
                ),
                2 => plant.shared_mut()[0].set_weight(which, 0.1 + 5.0 * how),
                _ => plant.set_shared_capacity(0, 300.0 + 2000.0 * how),
            });
        }
        run.advance(run.now() + 2.0, 0.005);
        run
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    /// Offered = delivered + lost + held in each queue; together they hold and send what the link can at most.
    #[test]
    fn what_is_offered_to_a_queue_is_delivered_lost_or_held(network in networks()) {
        let run = network.run();
        let plant = &run.system;
        for (queue, link) in plant.links().iter().enumerate() {
            let (totals, held) = (link.totals(), run.values()[plant.backlog(queue)]);
            let off = totals.offered - totals.delivered - totals.lost() - held;
            prop_assert!(off.abs() < 1e-9 * totals.offered.max(1.0), "{off} of {}", totals.offered);
            prop_assert!(held >= -1e-9 && totals.overflowed > -1e-6, "{held} {}", totals.overflowed);
            let passed = (0..plant.classes()).flat_map(|class| plant.passed(class));
            let offered: f64 = passed.filter(|(at, _)| *at == queue).map(|(_, passed)| passed.offered).sum();
            prop_assert!((offered - totals.offered).abs() < 1e-9 * offered.max(1.0));
        }
        let shared = &plant.shared()[0];
        let held: f64 = shared.queues().map(|queue| run.values()[plant.backlog(queue)]).sum();
        prop_assert!(held < shared.buffer * (1.0 + 1e-6), "{held} of {}", shared.buffer);
        let totals = shared.totals();
        // A step that ends where a queue begins to fill may exceed it by its own tolerance.
        prop_assert!(totals.delivered < totals.capacity * (1.0 + 1e-5), "{} {}", totals.delivered, totals.capacity);
    }
}
