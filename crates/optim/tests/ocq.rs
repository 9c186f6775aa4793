//! Optimal control of a queue: reference numbers, and the optimality of the feedback.

#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

use proptest::prelude::*;
use reference::hold;
use sojourn_optim::ocq::{Problem, Queue};
use sojourn_units::math;

/// mu = 50, a = 1, R = 2/9: the instance called A.
fn a() -> Problem {
    Problem::new(Queue { service: 50.0, half: 1.0 }, 2.0 / 9.0).unwrap()
}

#[test]
fn equilibrium_and_price_are_the_references() {
    let key = |set: &str, field: &str| format!("ocq.{set}.{field}");
    for (set, service, half, price) in SETS {
        let problem = Problem::new(Queue { service, half }, price).unwrap();
        hold(&key(set, "xs"), &[problem.x_s()]);
        hold(&key(set, "us"), &[problem.u_s()]);
        let back = Problem::with_x_s(problem.queue(), problem.x_s()).price();
        assert!((back / price - 1.0).abs() < 1e-14, "{set}: {back}");
    }
    // On the singular arc the Hamiltonian is psi(x_s).
    hold("ocq.A.H", &[a().psi(a().x_s(), 60.0)]);
    // R < a/mu: rejecting a packet costs less than the wait of the one served first.
    assert_eq!(Problem::new(Queue { service: 50.0, half: 1.0 }, 0.015), None);
}

#[test]
fn a_target_and_a_time_constant_give_price_input_and_penalty() {
    let problem = Problem::with_x_s(Queue { service: 1250.0, half: 1.0 }, 40.0);
    let ours = [problem.price(), problem.u_s(), problem.penalty(0.2)];
    hold("ocq.aqm.params_R_us_eps(xs=40,a=1,mu=1250,tc=.2)", &ours);
}

#[test]
fn the_feedback_is_the_references() {
    let ours = [0.5, 1.0, 2.0, 3.0, 6.0, 10.0].map(|x| a().input(x, 0.01));
    hold("ocq.law.sqrt(A,eps=.01) x=.5,1,2,3,6,10", &ours);
}

#[test]
fn without_a_penalty_the_input_is_bang_bang_about_x_s() {
    let [below, at, above] = [1.0, a().x_s(), 4.0].map(|x| a().input(x, 1e-12).clamp(0.0, 60.0));
    assert_eq!([below, above], [60.0, 0.0]);
    assert!((at - a().u_s()).abs() < 1e-12);
    // In sampled time: at x_s after one period, but for the change of g meanwhile.
    let period = 1e-6;
    let next = 1.0 + period * (a().deadbeat(1.0, period) - a().queue().outflow(1.0));
    assert!((next - a().x_s()).abs() < 1e-12, "{next}");
}

/// A problem with its penalty, and points of the queue that are away from equilibrium.
fn some() -> impl Strategy<Value = (Problem, f64, f64)> {
    let log = |low: f64, high: f64| (math::ln(low)..math::ln(high)).prop_map(math::exp);
    (log(1.0, 1e5), log(0.05, 20.0), log(0.1, 500.0), 0.05..0.98, log(0.02, 30.0)).prop_map(
        |(service, half, x_s, share, away)| {
            let problem = Problem::with_x_s(Queue { service, half }, x_s);
            (problem, problem.penalty(share * problem.price()), x_s * away)
        },
    )
}

/// Cost per second at x under the input u, above that at x_s; the offered load is left out of both.
fn excess(problem: &Problem, penalty: f64, x: f64, u: f64) -> f64 {
    let away = u - problem.u_s();
    x - problem.price() * u + penalty * away * away - problem.psi(problem.x_s(), 0.0)
}

/// V' of a feedback: the cost of one more packet until the queue is at x_s.
fn slope(problem: &Problem, penalty: f64, x: f64, u: f64) -> f64 {
    excess(problem, penalty, x, u) / (problem.queue().outflow(x) - u)
}

proptest! {
    /// Verification: V, the cost of the feedback itself, solves equation (4). Then no other control is cheaper.
    #[test]
    fn no_input_is_better_than_the_feedback_by_its_own_cost_to_go((problem, penalty, x) in some(), other in -3.0..3.0_f64) {
        prop_assume!((x / problem.x_s() - 1.0).abs() > 1e-3);
        let u = problem.input(x, penalty);
        let price = slope(&problem, penalty, x, u);
        let side = |u: f64| excess(&problem, penalty, x, u) + price * (u - problem.queue().outflow(x));
        let size = x + problem.price() * problem.queue().service + penalty * u * u;
        prop_assert!(side(u).abs() < 1e-9 * size, "the equation is met");
        // The left side of (4) is a parabola of u with its bottom at the feedback: eps (other - u)^2 above it.
        let step = other * problem.queue().service;
        let rise = side(u + step) - side(u);
        prop_assert!((rise - penalty * step * step).abs() < 1e-6 * (size + penalty * step * step), "{rise} {step}");
    }

    /// The same by following the queue: higher or lower gains cost more until x_s.
    #[test]
    fn a_higher_or_a_lower_gain_costs_more((problem, penalty, x) in some()) {
        prop_assume!((x / problem.x_s() - 1.0).abs() > 0.1);
        let [best, hard, soft] = [1.0, 0.8, 1.25].map(|factor| cost_to_go(&problem, penalty, x, factor));
        prop_assert!(best < hard && best < soft, "{best} {hard} {soft}");
    }

    #[test]
    fn near_x_s_the_time_constant_is_the_designed_one((problem, _, _) in some(), share in 0.05..0.95) {
        let time = share * problem.price();
        let x = problem.x_s() * (1.0 + 1e-6);
        let rate = (problem.queue().outflow(x) - problem.input(x, problem.penalty(time))) / (x - problem.x_s());
        prop_assert!((rate * time - 1.0).abs() < 1e-4, "{rate} {time}");
    }
}

/// Cost, above that at x_s, of going from x to near x_s under g - factor (g - u(x)): dt = dx / x'.
fn cost_to_go(problem: &Problem, penalty: f64, x: f64, factor: f64) -> f64 {
    let (steps, x_s) = (2000, problem.x_s());
    let distance = x - x_s;
    // Midpoints of equal steps, to a hundredth of the distance: from there on all cost about the same.
    let width = 0.99 * distance / f64::from(steps);
    let at = |step: i32| {
        let x = x_s + 0.01 * distance + (f64::from(step) + 0.5) * width;
        let g = problem.queue().outflow(x);
        slope(problem, penalty, x, g - factor * (g - problem.input(x, penalty)))
    };
    (0..steps).map(at).sum::<f64>() * width
}

/// mu, a, R of the instances that have a singular arc.
const SETS: [(&str, f64, f64, f64); 5] = [
    ("A", 50.0, 1.0, 2.0 / 9.0),
    ("B", 50.0, 1.0, 0.2),
    ("F", 60.0, 5.0, 0.5),
    ("G", 60.0, 1.0, 0.1),
    ("K", 50.0, 1.5, 1.0 / 3.0),
];
