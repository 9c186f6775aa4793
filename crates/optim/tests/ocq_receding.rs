//! The plan of a receding horizon against its definition: its cost, integrated here, and inputs that it could have had.

use sojourn_optim::ocq::{Problem, Queue, Receding, Task};
use sojourn_random::Stream;

/// A task, and the upper bounds of its cells.
struct Case {
    task: Task,
    most: Vec<f64>,
}

impl Case {
    /// Loads that are constant, rise, or change at random from cell to cell.
    fn drawn(draws: &mut Stream, number: usize) -> Case {
        let mut between = |low: f64, high: f64| low + (high - low) * draws.uniform();
        let service = [10.0, 1e3, 1e5][number % 3] * between(1.0, 10.0);
        let target = between(1.0, 100.0);
        let problem = Problem::with_x_s(Queue { service, half: between(0.1, 1.0).min(target) }, target);
        let step = problem.price() * [0.001, 0.01, 0.05][number / 3 % 3];
        let time = step * [0.0, 1.0, 5.0, 20.0][number % 4];
        let cells = between(1.0, 60.0) as usize;
        let most = (0..cells).map(|place| match number % 5 {
            0 => service * between(1.0, 2.0),
            1 => service * place as f64 / 30.0,
            _ => service * 1.05,
        });
        let most = most.collect();
        let (backlog, input) = (3.0 * target * between(0.0, 1.0), service * between(0.0, 1.5));
        let least = problem.u_s() - service;
        Case {
            task: Task { problem, step, penalty: Task::penalty(&problem, time), backlog, input, least },
            most,
        }
    }

    /// Cost by definition (17), without that of the load; the backlog by bisection.
    fn cost(&self, inputs: &[f64]) -> f64 {
        let Task { problem, step: h, penalty, .. } = self.task;
        let (mut x, mut before, mut cost) = (self.task.backlog, self.task.input, 0.0);
        for &u in inputs {
            let z = x + h * u;
            let (mut low, mut high) = (-problem.queue().half, z.max(0.0));
            for _ in 0..200 {
                let middle = f64::midpoint(low, high);
                let below = middle + h * problem.queue().outflow(middle) < z;
                (low, high) = if below { (middle, high) } else { (low, middle) };
            }
            x = low;
            cost += h * (x - problem.price() * u) + penalty / h * (u - before) * (u - before);
            before = u;
        }
        let (square, off) = (1.0 / (problem.queue().half + problem.x_s()), x - problem.x_s());
        let back = h + (4.0 * penalty / square).sqrt().sqrt();
        // V falls nowhere: below its vertex it is flat.
        let off = off.max(-problem.price() / (2.0 * square * back));
        cost + problem.price() * (problem.x_s() + off) + square * back * off * off
    }
}

#[test]
fn no_other_input_is_better_than_the_plan() {
    let mut draws = Stream::named(1, "receding");
    for number in 0..120 {
        let case = Case::drawn(&mut draws, number);
        let mut plan = Receding::new(case.most.len());
        let planned = plan.solve(&case.task, |place| case.most[place], 400);
        let inputs: Vec<f64> = plan.inputs().collect();
        assert!(planned.converged, "{number}: {planned:?}");
        let bounds = |place: usize| case.task.least..=case.most[place].max(case.task.least);
        assert!(inputs.iter().enumerate().all(|(place, u)| bounds(place).contains(u)), "{number}");
        let best = case.cost(&inputs);
        for attempt in 0..100 {
            // Far ones and near ones.
            let part = [1.0, 0.1, 1e-3][attempt % 3];
            let other: Vec<f64> = (inputs.iter().enumerate())
                .map(|(place, u)| {
                    let range = bounds(place);
                    u + part * (range.start() + draws.uniform() * (range.end() - range.start()) - u)
                })
                .collect();
            let excess = case.cost(&other) - best;
            assert!(excess > -1e-9 * best.abs().max(1.0), "{number}, {attempt}: {excess} {planned:?}");
        }
    }
}

#[test]
fn the_gap_bounds_the_excess_of_a_plan_that_is_not_finished() {
    let mut draws = Stream::named(2, "receding");
    for number in 0..60 {
        let case = Case::drawn(&mut draws, number);
        let cost = |budget| {
            let mut plan = Receding::new(case.most.len());
            let planned = plan.solve(&case.task, |place| case.most[place], budget);
            (case.cost(&plan.inputs().collect::<Vec<_>>()), planned)
        };
        let (best, _) = cost(400);
        let mut last = f64::INFINITY;
        for budget in [0, 1, 2, 4, 8] {
            let (cost, planned) = cost(budget);
            let rounding = 1e-9 * best.abs().max(1.0);
            assert!(planned.iterations <= budget, "{number}: {planned:?}");
            assert!(
                cost - best <= planned.gap + rounding && cost <= last + rounding,
                "{number}: {planned:?}"
            );
            last = cost;
        }
    }
}

/// Far below x_s, in cells longer than R, the parabola alone would fall with x, and lambda be negative.
#[test]
fn the_gap_holds_where_the_end_is_far_below_the_target() {
    let problem = Problem::with_x_s(Queue { service: 1250.0, half: 1.0 }, 20.0);
    for (backlog, cells, time) in [(0.0, 1, 0.0), (0.0, 3, 0.0), (5.0, 1, 3.0), (0.0, 4, 60.0)] {
        let penalty = Task::penalty(&problem, time);
        let task = Task { problem, step: 1.0, penalty, backlog, input: 0.0, least: 0.0 };
        let case = Case { task, most: vec![1000.0; cells] };
        let solved = |budget| {
            let mut plan = Receding::new(cells);
            let planned = plan.solve(&case.task, |place| case.most[place], budget);
            (case.cost(&plan.inputs().collect::<Vec<_>>()), planned)
        };
        let (best, planned) = solved(400);
        assert!(planned.converged, "{planned:?}");
        for budget in 0..20 {
            let (cost, planned) = solved(budget);
            assert!(cost - best <= planned.gap + 1e-9 * best.abs(), "{} {planned:?}", cost - best);
        }
    }
}
