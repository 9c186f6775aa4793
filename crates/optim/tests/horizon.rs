//! Optimal control of a queue over a horizon: the numbers from outside, the certificate, and inputs at random.

#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

use proptest::prelude::*;
use reference::hold;
use sojourn_optim::ocq::{Instance, Piece, Queue, Structure};
use sojourn_units::math;

#[test]
fn the_twelve_instances_are_the_references() {
    for (set, instance, structure) in SETS {
        let key = |field: &str| format!("ocq.{set}.{field}");
        let Instance { offered, queue, price, start, horizon } = instance;
        hold(&key("params"), &[offered, queue.service, queue.half, price, start, horizon]);
        hold(&key("xs"), &[instance.x_s()]);
        hold(&key("us"), &[instance.u_s()]);
        let solution = instance.solve().unwrap();
        assert_eq!(solution.structure, structure, "{set}");
        hold(&key("J"), &[solution.cost()]);
        hold(&key("switch_times"), &solution.switch_times());
        hold(&key("controls"), &solution.inputs());
        hold(&key("x_final"), &[solution.run.last_backlog()]);
        // No reference needed: the certificate of the solution itself.
        assert!(solution.run.gap() < 1e-11, "{set}: {}", solution.run.gap());
    }
}

#[test]
fn along_the_optimum_of_a_the_hamiltonian_is_constant_and_the_gradient_is_not_0() {
    let (a, solution) = (SETS[0].1, SETS[0].1.solve().unwrap());
    for step in 0..=100 {
        let point = solution.run.at(f64::from(step) / 100.0);
        hold("ocq.A.H", &[a.hamiltonian(&point)]);
    }
    hold("ocq.A.lambda0", &[solution.run.at(0.0).costate]);
    assert_eq!(solution.run.at(1.0).costate, 0.0);
    hold("ocq.A.norm_Hu_at_optimum", &[solution.run.gradient_norm()]);
}

#[test]
fn admitting_everything_has_the_excess_cost_of_the_reference() {
    let a = SETS[0].1;
    let run = a.run(&[Piece { input: 60.0, until: 1.0 }]).unwrap();
    hold("ocq.A.J_of_u=w", &[run.cost()]);
    // The reference discretises the integral, N = 1000; the closed form has no mesh.
    hold("ocq.A.gap_of_u=w", &[run.gap()]);
}

#[test]
fn an_error_names_the_expected_value() {
    let a = SETS[0].1;
    let error = |instance: Instance| instance.solve().unwrap_err().to_string();
    let positive = "expected more than 0, at most 1e12";
    let queue = |service: f64, half: f64| Queue { service, half };
    for (instance, key) in [
        (Instance { queue: queue(0.0, 1.0), ..a }, "mu: 0"),
        (Instance { queue: queue(50.0, -1.0), ..a }, "a: -1"),
        (Instance { price: f64::NAN, ..a }, "R: NaN"),
        (Instance { horizon: f64::INFINITY, ..a }, "t_f: inf"),
    ] {
        assert_eq!(error(instance), format!("{key} is out of range; {positive}"));
    }
    assert_eq!(error(Instance { offered: -1.0, ..a }), "w: -1 is out of range; expected 0 to 1e12");
    assert_eq!(
        error(Instance { start: 1e13, ..a }),
        "x0: 10000000000000 is out of range; expected 0 to 1e12"
    );
    let error = |pieces: &[Piece]| a.run(pieces).unwrap_err().to_string();
    let piece = |input: f64, until: f64| Piece { input, until };
    assert_eq!(error(&[piece(60.0, 0.5)]), "u: ends at 0.5 s; expected at t_f = 1 s");
    assert_eq!(
        error(&[piece(60.0, 0.5), piece(61.0, 1.0)]),
        "u[1]: 61 packets/s is out of range; expected 0 to w = 60"
    );
    let backwards = error(&[piece(60.0, 0.5), piece(1.0, 0.4)]);
    assert_eq!(backwards, "u[1]: until 0.4 s is out of range; expected 0.5, where it begins, to t_f = 1");
    assert_eq!(error(&[]), "u: ends at 0 s; expected at t_f = 1 s");
}

#[test]
fn no_load_and_an_empty_queue_are_no_special_cases() {
    let none = Instance { offered: 0.0, start: 4.0, ..SETS[0].1 };
    let solution = none.solve().unwrap();
    assert_eq!((solution.structure, solution.inputs()), (Structure::All, vec![0.0]));
    // Where R < a / mu nothing is admitted even to an empty queue, except at the end: g(x) = mu x / a near 0.
    let dear = Instance { start: 0.0, ..SETS[7].1 };
    let solution = dear.solve().unwrap();
    assert_eq!(solution.structure, Structure::Switch);
    assert_eq!(solution.run.at(0.5).backlog, 0.0);
    assert!(solution.run.gap() < 1e-12);
}

/// A valid instance, an order of magnitude or two in each number.
fn any() -> impl Strategy<Value = Instance> {
    let log = |low: f64, high: f64| (math::ln(low)..math::ln(high)).prop_map(math::exp);
    (log(1.0, 1e3), log(0.2, 5.0), log(0.05, 20.0), log(0.1, 30.0), log(0.1, 30.0), log(0.02, 20.0)).prop_map(
        |(service, load, half, price, start, horizon)| {
            let busy = half / service;
            Instance {
                offered: load * service,
                queue: Queue { service, half },
                price: price * busy,
                start: if start < 0.2 { 0.0 } else { start * half },
                horizon: horizon * price * busy,
            }
        },
    )
}

/// Inputs between nothing and all; many at one of the two.
fn shares() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0], 1..40)
}

proptest! {
    /// The certificate of the closed form, wherever the numbers lie: it is the optimum.
    #[test]
    fn the_closed_form_certifies_itself(instance in any()) {
        let solution = instance.solve().unwrap();
        let (gap, cost) = (solution.run.gap(), solution.cost());
        prop_assert!(gap <= 1e-10 * cost.max(instance.price * instance.offered * instance.horizon), "{gap} {cost}");
        let scale = instance.start + instance.price * instance.offered;
        for step in 0..=20 {
            let point = solution.run.at(instance.horizon * f64::from(step) / 20.0);
            let off = instance.hamiltonian(&point) - solution.run.last_backlog();
            prop_assert!(off.abs() < 1e-9 * scale, "{off} at {step}");
        }
    }

    /// Every valid instance has a solution, also with twelve orders of magnitude between two of its numbers.
    #[test]
    fn every_valid_instance_has_a_finite_optimum(exponents in prop::array::uniform6(-6.0..6.0_f64)) {
        let [offered, service, half, price, start, horizon] = exponents.map(|e| math::pow(10.0, e));
        let solution = instance(offered, [service, half, price], start, horizon).solve().unwrap();
        let (gap, cost) = (solution.run.gap(), solution.cost());
        prop_assert!(cost > 0.0 && cost.is_finite(), "{cost}");
        prop_assert!(gap >= 0.0 && gap <= 1e-6 * cost.max(price * offered * horizon), "{gap} {cost}");
    }

    /// No input is cheaper than the closed form, nor further above it than its certificate; by a plain integrator that
    /// shares no code with the arcs.
    #[test]
    fn no_input_is_cheaper_and_every_one_is_within_its_gap(instance in any(), shares in shares()) {
        let inputs: Vec<f64> = shares.iter().map(|share| share * instance.offered).collect();
        let run = instance.run(&instance.on_a_mesh(&inputs)).unwrap();
        let best = instance.solve().unwrap().cost();
        let fine = simulated(&instance, &inputs);
        let size = fine.max(instance.price * instance.offered * instance.horizon);
        prop_assert!((run.cost() - fine).abs() < 1e-6 * size, "{} {fine}", run.cost());
        prop_assert!(best <= fine + 1e-6 * size, "{best} {fine}");
        prop_assert!(best <= run.cost() + 1e-12 * size, "{best} {}", run.cost());
        prop_assert!(run.cost() - best <= run.gap() + 1e-12 * size, "{} {}", run.cost() - best, run.gap());
    }

    /// The loss of holding the optimal input over cells vanishes with the cells, and so does its bound.
    #[test]
    fn on_a_finer_mesh_the_gap_goes_to_nothing(instance in any()) {
        let solution = instance.solve().unwrap();
        let gap = |cells: usize| {
            let middle = |cell: usize| instance.horizon * (cell as f64 + 0.5) / cells as f64;
            let inputs: Vec<f64> = (0..cells).map(|cell| solution.run.at(middle(cell)).input).collect();
            instance.run(&instance.on_a_mesh(&inputs)).unwrap().gap()
        };
        // A switch may coincide with a cell of one mesh by chance, not of four; and the fine ones have cells in the
        // shortest arc.
        let worst = |meshes: [usize; 4]| meshes.map(gap).into_iter().fold(0.0, f64::max);
        let times = [vec![0.0], solution.switch_times(), vec![instance.horizon]].concat();
        let shortest = times.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let cells = (2.0 * instance.horizon / shortest).clamp(1024.0, 1e5) as usize;
        let (coarse, fine) = (worst([12, 13, 15, 16]), worst([1024, 1201, 1402, 1601].map(|n| n * cells / 1024)));
        let size = instance.price * instance.offered * instance.horizon + solution.cost();
        prop_assert!(fine <= (coarse / 4.0).max(1e-6 * size), "{coarse} {fine} {size}");
    }
}

/// J by Runge and Kutta's fourth-order method.
fn simulated(instance: &Instance, inputs: &[f64]) -> f64 {
    let cell = instance.horizon / inputs.len() as f64;
    // The outflow of an empty queue has the time constant a / mu.
    let steps = (20.0 * cell * instance.queue.service / instance.queue.half).ceil().clamp(20.0, 20_000.0);
    let step = cell / steps;
    let (mut x, mut cost) = (instance.start, 0.0);
    for &u in inputs {
        let slope = |x: f64| u - instance.queue.outflow(x);
        for _ in 0..steps as usize {
            let k1 = slope(x);
            let k2 = slope(x + step / 2.0 * k1);
            let k3 = slope(x + step / 2.0 * k2);
            let k4 = slope(x + step * k3);
            // The integrand at the stages: x, and the cost of rejected packets.
            let (second, third) = (x + step / 2.0 * k1, x + step / 2.0 * k2);
            cost += step / 6.0 * (x + 2.0 * second + 2.0 * third + x + step * k3);
            cost += step * instance.price * (instance.offered - u);
            x += step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        }
    }
    cost
}

const fn instance(offered: f64, [service, half, price]: [f64; 3], start: f64, horizon: f64) -> Instance {
    Instance { offered, queue: Queue { service, half }, price, start, horizon }
}

const SETS: [(&str, Instance, Structure); 12] = [
    ("A", instance(60.0, [50.0, 1.0, 2.0 / 9.0], 0.0, 1.0), Structure::Singular),
    ("B", instance(60.0, [50.0, 1.0, 0.2], 0.0, 1.0), Structure::Singular),
    ("C", instance(60.0, [50.0, 1.0, 2.0 / 9.0], 10.0, 1.0), Structure::Singular),
    ("D", instance(60.0, [50.0, 1.0, 2.0 / 9.0], 30.0, 0.5), Structure::Switch),
    ("E", instance(60.0, [50.0, 1.0, 2.0 / 9.0], 0.0, 0.1), Structure::All),
    ("F", instance(40.0, [60.0, 5.0, 0.5], 0.0, 5.0), Structure::Singular),
    ("G", instance(60.0, [60.0, 1.0, 0.1], 5.0, 2.0), Structure::Singular),
    ("H", instance(60.0, [50.0, 1.0, 0.015], 3.0, 1.0), Structure::Switch),
    ("I", instance(30.0, [50.0, 1.0, 2.0 / 9.0], 10.0, 3.0), Structure::Switch),
    ("J", instance(30.0, [50.0, 1.0, 2.0 / 9.0], 0.0, 3.0), Structure::All),
    ("K", instance(60.0, [50.0, 1.5, 1.0 / 3.0], 0.5, 0.8), Structure::Singular),
    ("L", instance(60.0, [50.0, 1.0, 2.0 / 9.0], 1.0, 1.0), Structure::Singular),
];
