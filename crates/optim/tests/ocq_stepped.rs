//! Exact optimum for a load in steps: the paper's own instance, the certificate of random ones, inputs at random, and the
//! interior-point method on a mesh, which shares no code with it.

#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

use proptest::prelude::*;
use reference::hold;
use sojourn_optim::ocq::mesh::{Cell, Mesh, interior};
use sojourn_optim::ocq::{ArcKind, Instance, Load, OptimalArc, Optimum, Piece, Queue, Stepped};
use sojourn_random::Stream;
use sojourn_units::math;

/// Gap of the exact solution, by J.
const CERTIFIED: f64 = 1e-8;
const CONTROLS: usize = 1000;

fn p() -> Stepped {
    let steps = vec![Load { offered: 60.0, until: 1.0 }, Load { offered: 0.0, until: 2.0 }];
    Stepped { steps, queue: Queue { service: 50.0, half: 1.0 }, price: 0.2, start: 0.0 }
}

fn kinds(optimum: &Optimum) -> Vec<ArcKind> {
    optimum.arcs.iter().map(|arc| arc.kind).collect()
}

/// At R = a / mu an empty queue is the best, and x_s = x0 = 0: admitting everything fills it.
#[test]
fn an_empty_queue_stays_empty_where_r_is_a_by_mu() {
    for price in [0.02, 0.02_f64.next_up(), 0.02_f64.next_down(), 0.02 * (1.0 + 1e-13)] {
        let constant = Instance { price, ..instance_a() };
        let steps = vec![Load { offered: 60.0, until: 1.0 }];
        let stepped = Stepped { steps, queue: constant.queue, price, start: 0.0 };
        let (solution, optimum) = (constant.solve().unwrap(), stepped.solve().unwrap());
        for (cost, gap) in [(solution.cost(), solution.run.gap()), (optimum.cost(), optimum.run.gap())] {
            assert!((cost - 1.184_357_604).abs() < 1e-8, "{cost}");
            assert!(gap < CERTIFIED * cost, "{gap}");
        }
    }
}

fn instance_a() -> Instance {
    let queue = Queue { service: 50.0, half: 1.0 };
    Instance { offered: 60.0, queue, price: 2.0 / 9.0, start: 0.0, horizon: 1.0 }
}

#[test]
fn the_papers_own_instance_is_the_reference() {
    let optimum = p().solve().unwrap();
    hold("ocq.P.J", &[optimum.cost()]);
    hold("ocq.P.xs", &[p().x_s()]);
    hold("ocq.P.us", &[p().u_s()]);
    // By the same conditions in 40 digits; the reference's second time and peak have eight and seven right ones.
    let (times, peak) = (optimum.switch_times(), optimum.run.at(1.0).backlog);
    assert!((times[0] - 0.062_345_873_106_610_82).abs() < 1e-14, "{times:?}");
    assert!((times[1] - 0.859_730_048_899_001_8).abs() < 1e-14, "{times:?}");
    assert!((peak - 5.103_796_100_280_632).abs() < 1e-13, "{peak}");
    assert_eq!(kinds(&optimum), [ArcKind::Upper, ArcKind::Singular, ArcKind::Upper]);
    assert!(optimum.run.gap() < 1e-12, "{}", optimum.run.gap());
}

#[test]
fn two_hundred_constant_loads_are_certified() {
    let mut stream = Stream::named(1, "constant loads");
    for _ in 0..200 {
        let Stepped { steps, queue, price, start } = drawn(&mut stream, 1);
        let stepped = Stepped { steps, queue, price, start };
        let optimum = stepped.solve().unwrap();
        let scale = optimum.cost().max(1e-300);
        assert!(optimum.run.gap() <= CERTIFIED * scale, "{} {stepped:?}", optimum.run.gap());
        assert_no_input_is_cheaper(&stepped, &optimum, &mut stream);
    }
}

#[test]
fn fifty_loads_in_steps_are_certified() {
    let mut stream = Stream::named(1, "loads in steps");
    let (mut zero, mut low, mut compared) = (0, 0, 0);
    for index in 0..50 {
        let stepped = drawn(&mut stream, 2 + index % 5);
        let optimum = stepped.solve().unwrap();
        zero += usize::from(stepped.steps.iter().any(|step| step.offered == 0.0));
        low +=
            usize::from(stepped.steps.iter().any(|step| 0.0 < step.offered && step.offered < stepped.u_s()));
        let (cost, gap) = (optimum.cost(), optimum.run.gap());
        assert!(gap <= CERTIFIED * cost, "{gap} {cost} {stepped:?}");
        assert_no_input_is_cheaper(&stepped, &optimum, &mut stream);
        compared += usize::from(has_structure_of_the_mesh(&stepped, &optimum));
    }
    println!("of 50: {zero} with w = 0, {low} with w below u_s, {compared} compared with a mesh");
    assert!(zero >= 10 && low >= 10 && compared >= 45, "{zero} {low} {compared}");
}

#[test]
fn a_thousand_more_loads_are_certified() {
    let mut stream = Stream::named(2, "loads in steps");
    let mut several = 0;
    for index in 0..1000 {
        let stepped = drawn(&mut stream, 1 + index % 12);
        let optimum = stepped.solve().unwrap();
        let (cost, gap) = (optimum.cost(), optimum.run.gap());
        assert!(gap <= CERTIFIED * cost, "{index}: {gap} {cost} {stepped:?}");
        several += usize::from(kinds(&optimum).iter().filter(|kind| **kind == ArcKind::Singular).count() > 1);
    }
    println!("of 1000: {several} with more than one singular arc");
    assert!(several >= 50, "{several}");
}

/// Asserts that the interior-point method on a mesh has the same cost, and the same inputs away from the switches; false where
/// the mesh would be too coarse.
fn has_structure_of_the_mesh(stepped: &Stepped, optimum: &Optimum) -> bool {
    const CELLS: usize = 4000;
    let horizon = stepped.horizon();
    let Stepped { queue, price, start, .. } = *stepped;
    let cell = horizon / CELLS as f64;
    let at = |time: f64| stepped.steps[stepped.steps.partition_point(|step| step.until <= time)].offered;
    let cells = (0..CELLS).map(|k| Cell::new(cell, at((k as f64 + 0.5) * cell), price)).collect();
    let Ok(mesh) = (Mesh { queue, start, cells }).checked() else { return false };
    let found = mesh.optimum(&interior::Options { tolerance: 1e-8, ..interior::Options::default() });
    // The steps of the load fall on nodes: the generator places them so.
    assert!(mesh.verified(&found.input).0 >= optimum.cost() * (1.0 - 1e-7), "{stepped:?}");
    assert!(found.cost <= optimum.cost() * (1.0 + 1e-4), "{} {} {stepped:?}", found.cost, optimum.cost());
    let mut begins = 0.0;
    for &OptimalArc { kind, until } in &optimum.arcs {
        for part in 1..8 {
            let time = begins + (until - begins) * f64::from(part) / 8.0;
            let (w, u) = (at(time), found.input[((time / cell) as usize).min(CELLS - 1)]);
            let clear = (time - begins).min(until - time) > 20.0 * cell;
            if clear && w > 0.0 {
                let right = match kind {
                    ArcKind::Lower => 0.0,
                    ArcKind::Singular => stepped.u_s(),
                    ArcKind::Upper => w,
                };
                assert!(
                    (u - right).abs() < 0.1 * w,
                    "{kind:?} at {time}: {u} for {right} of {w}: {stepped:?}"
                );
            }
        }
        begins = until;
    }
    true
}

fn assert_no_input_is_cheaper(stepped: &Stepped, optimum: &Optimum, stream: &mut Stream) {
    for _ in 0..CONTROLS {
        let input = random_input(stepped, stream);
        let run = stepped.run(&input).unwrap();
        let size = optimum.cost();
        assert!(run.cost() >= optimum.cost() - 1e-12 * size, "{} {input:?} {stepped:?}", run.cost());
    }
}

/// An admissible input: one to six pieces a step of the load, at 0, at w or between.
fn random_input(stepped: &Stepped, stream: &mut Stream) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut begins = 0.0;
    for &Load { offered, until } in &stepped.steps {
        let parts = 1 + (stream.uniform() * 6.0) as usize;
        for part in 1..=parts {
            let share = (1.5 * stream.uniform() - 0.25).clamp(0.0, 1.0);
            let end =
                if part == parts { until } else { begins + (until - begins) * part as f64 / parts as f64 };
            pieces.push(Piece { input: share * offered, until: end });
        }
        begins = until;
    }
    pieces
}

/// A problem with so many steps, w = 0 and w below u_s among them, whose ends are at twentieths of the horizon.
fn drawn(stream: &mut Stream, steps: usize) -> Stepped {
    let mut log = |low: f64, high: f64| low * math::exp(stream.uniform() * math::ln(high / low));
    let (service, half) = (log(1.0, 1e3), log(0.05, 20.0));
    let price = log(0.5, 30.0) * half / service;
    let horizon = log(0.5, 50.0) * (price + half / service);
    let start = half * (log(0.1, 60.0) - 0.5).max(0.0);
    let queue = Queue { service, half };
    let u_s = queue.outflow(queue.x_s(price)).max(0.1 * service);
    let mut ends: Vec<f64> = Vec::new();
    while ends.len() + 1 < steps {
        let end = horizon * (1.0 + (stream.uniform() * 19.0).floor()) / 20.0;
        if !ends.contains(&end) {
            ends.push(end);
        }
    }
    ends.sort_by(f64::total_cmp);
    ends.push(horizon);
    let load = |until: f64| {
        let (which, share) = (stream.uniform(), stream.uniform());
        let offered = match which {
            _ if which < 0.2 => 0.0,
            _ if which < 0.45 => share * u_s,
            _ => u_s * (1.0 + 2.0 * share),
        };
        Load { offered, until }
    };
    let steps = ends.into_iter().map(load).collect();
    Stepped { steps, queue, price, start }
}

#[test]
fn a_light_step_is_met_in_advance_or_not_at_all() {
    use ArcKind::{Lower, Singular, Upper};
    // Long heavy steps around a light one: the singular arc ends before it, and another one follows.
    let with = |loads: &[[f64; 2]], start: f64| {
        let steps = loads.iter().map(|&[offered, until]| Load { offered, until }).collect();
        let stepped = Stepped { steps, start, ..p() };
        let optimum = stepped.solve().unwrap();
        assert!(optimum.run.gap() < 1e-12, "{}", optimum.run.gap());
        optimum
    };
    let optimum = with(&[[60.0, 1.0], [10.0, 1.2], [60.0, 3.0]], 0.0);
    assert_eq!(kinds(&optimum), [Upper, Singular, Upper, Singular, Upper]);
    let times = optimum.switch_times();
    assert!(times[1] < 1.0 && times[2] > 1.2, "{times:?}");
    assert!(optimum.run.at(1.0).backlog > p().x_s());
    // A heavy step too short for a singular arc between two light ones.
    let optimum = with(&[[60.0, 1.0], [0.0, 1.2], [60.0, 1.25], [0.0, 1.6], [60.0, 3.0]], 0.0);
    assert_eq!(kinds(&optimum), [Upper, Singular, Upper, Singular, Upper]);
    // From a long queue; and a change between two heavy loads is no switch.
    let optimum = with(&[[60.0, 1.0], [80.0, 3.0]], 30.0);
    assert_eq!(kinds(&optimum), [Lower, Singular, Upper]);
    // No load at all.
    assert_eq!(with(&[[0.0, 1.0], [0.0, 3.0]], 4.0).run.at(3.0).input, 0.0);
    assert_eq!(kinds(&with(&[[5.0, 1.0], [0.0, 3.0]], 0.0)), [Upper]);
}

/// A load that alternates about u_s = 34.2 within a mean below it or above it.
fn alternating(steps: usize, loads: [f64; 2], horizon: f64) -> Stepped {
    let load =
        |step: usize| Load { offered: loads[step % 2], until: horizon * (step + 1) as f64 / steps as f64 };
    Stepped { steps: (0..steps).map(load).collect(), ..p() }
}

#[test]
fn the_search_is_not_quadratic_in_the_number_of_steps() {
    for loads in [[40.0, 10.0], [10.0, 40.0], [60.0, 5.0], [60.0, 30.0], [60.0, 10.0], [60.0, 0.0]] {
        for horizon in [1.0, 10.0, 1000.0] {
            let followed = |steps: usize| {
                let mut arcs = 0;
                let optimum = alternating(steps, loads, horizon).solve_while(|| {
                    arcs += 1;
                    true
                });
                let optimum = optimum.unwrap().unwrap();
                assert!(optimum.run.gap() <= CERTIFIED * optimum.cost(), "{} {loads:?}", optimum.run.gap());
                arcs
            };
            // Eight times the steps: 64 times the arcs if each stretch were followed to t_f.
            let (some, many) = (followed(500), followed(4000));
            assert!(many < 24 * some + 10_000, "{some} {many} {loads:?} {horizon}");
        }
    }
}

#[test]
fn a_search_can_be_ended() {
    let problem = alternating(400, [60.0, 5.0], 20.0);
    for most in [0, 1, 5, 20, 500] {
        let mut left = most;
        let found = problem.solve_while(|| {
            left -= 1;
            left >= 0
        });
        assert_eq!(found.unwrap(), None);
        assert_eq!(left, -1, "it is not called again");
    }
}

proptest! {
    /// Every valid problem has a solution, also with six orders of magnitude between two of its numbers. With more, a change of
    /// the input at a late time cannot be given in 16 digits where the queue is short and the load large.
    #[test]
    fn every_valid_problem_has_a_finite_optimum(
        exponents in prop::array::uniform4(-3.0..3.0_f64),
        steps in prop::collection::vec((-3.0..3.0_f64, -3.0..3.0_f64, any::<bool>()), 1..8),
    ) {
        let [service, half, price, start] = exponents.map(|exponent| math::pow(10.0, exponent));
        let mut until = 0.0;
        let load = |(load, length, some): (f64, f64, bool)| {
            until += math::pow(10.0, length);
            Load { offered: if some { math::pow(10.0, load) } else { 0.0 }, until }
        };
        let steps: Vec<Load> = steps.into_iter().map(load).collect();
        prop_assume!(steps.windows(2).all(|pair| pair[0].until < pair[1].until));
        let lost: f64 = steps.iter().map(|step| price * step.offered * step.until).sum();
        let optimum = Stepped { steps, queue: Queue { service, half }, price, start }.solve().unwrap();
        let (gap, cost) = (optimum.run.gap(), optimum.cost());
        prop_assert!(cost > 0.0 && cost.is_finite(), "{cost}");
        prop_assert!(gap >= 0.0 && gap <= 1e-6 * cost.max(lost), "{gap} {cost}");
    }
}

#[test]
fn an_error_names_the_step() {
    let error = |steps: &[[f64; 2]]| {
        let steps = steps.iter().map(|&[offered, until]| Load { offered, until }).collect();
        Stepped { steps, ..p() }.solve().unwrap_err().to_string()
    };
    assert_eq!(error(&[]), "w: 0 steps is out of range; expected 1 or more");
    assert_eq!(error(&[[60.0, 1.0], [-1.0, 2.0]]), "w[1]: -1 is out of range; expected 0 to 1e12");
    assert_eq!(
        error(&[[60.0, 1.0], [6.0, 1.0]]),
        "w[1]: until 1 s is out of range; expected later than 1 s, where it begins"
    );
    assert!(error(&[[60.0, 1.0], [6.0, f64::NAN]]).starts_with("t_f: NaN is out of range"));
}
