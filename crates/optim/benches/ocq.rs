//! Cost of the methods of optimal control on the paper's own instance: prints milliseconds.

use sojourn_optim::ocq::mesh::gradient::{Options, Step};
use sojourn_optim::ocq::mesh::{Cell, Found, Mesh, interior};
use sojourn_optim::ocq::{Load, Problem, Queue, Receding, Stepped, Task};
use sojourn_random::Stream;
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
use std::time::Instant;

const CELLS: usize = 1000;
const OPTIMUM: f64 = 6.800169171935;
const REPEATS: u32 = 50;
const UPDATES: usize = 20_000;

fn main() {
    let w = |place: usize| if place < CELLS / 2 { 60.0 } else { 0.0 };
    let cells = (0..CELLS).map(|place| Cell::new(2.0 / CELLS as f64, w(place), 0.2)).collect();
    let mesh = Mesh { queue: Queue { service: 50.0, half: 1.0 }, start: 0.0, cells };
    println!(
        "{:>28} {:>10} {:>10} {:>10} {:>7} {:>9}",
        "method", "J - J*", "gap", "iterations", "sweeps", "ms"
    );
    let descend = |iterations, step| {
        let options = Options { step, iterations, ..Options::default() };
        mesh.descend(mesh.upper(), &options).found
    };
    row("Algorithm 1, J <= 6.8128", || descend(10, Step::Beta));
    row("Algorithm 1, 50", || descend(50, Step::Beta));
    row("Algorithm 1 in t, 50", || descend(50, Step::Parametric));
    row("spectral, 400", || descend(400, Step::Spectral));
    row("interior point", || mesh.optimum(&interior::Options::default()));
    let switching = |steps: &[[f64; 2]]| {
        let steps = steps.iter().map(|&[offered, until]| Load { offered, until }).collect();
        Stepped { steps, queue: mesh.queue, price: 0.2, start: 0.0 }
    };
    let a = Stepped { price: 2.0 / 9.0, ..switching(&[[60.0, 1.0]]) };
    exact("switching, A", &a, 6.661394457285679);
    exact("switching, P", &switching(&[[60.0, 1.0], [0.0, 2.0]]), OPTIMUM);
    let six = [[60.0, 1.0], [10.0, 1.2], [60.0, 3.0], [80.0, 4.0], [0.0, 5.0], [70.0, 6.0]];
    exact("switching, six steps", &switching(&six), f64::NAN);
    println!(
        "\n{:>28} {:>10} {:>10} {:>10} {:>10}",
        "update of a plan, cells", "p50 us", "p99 us", "iterations", "fallbacks"
    );
    [16, 100, 500].into_iter().for_each(receding);
}

/// Updates of `form = receding`: 1250 packets/s, 40 packets, cells of 10 ms, backlogs and loads as they fluctuate under TCP.
#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
fn receding(cells: usize) {
    let problem = Problem::with_x_s(Queue { service: 1250.0, half: 1.0 }, 40.0);
    let penalty = Task::penalty(&problem, 0.0324);
    let mut draws = Stream::named(1, "bench");
    let mut plan = Receding::new(cells);
    let (mut backlog, mut input, mut most) = (40.0, 1219.5, vec![0.0; cells]);
    let (mut micros, mut iterations, mut fallbacks) = (Vec::new(), 0, 0);
    for _ in 0..UPDATES {
        backlog = (backlog + 10.0 * (draws.uniform() - 0.5) + 0.1 * (40.0 - backlog)).max(0.0);
        most.fill_with(|| 1250.0 * (0.8 + 0.6 * draws.uniform()));
        let task = Task { problem, step: 0.01, penalty, backlog, input, least: -30.5 };
        let began = Instant::now();
        let planned = plan.solve(&task, |place| most[place], 40);
        micros.push(began.elapsed().as_secs_f64() * 1e6);
        input = planned.input;
        iterations = iterations.max(planned.iterations);
        fallbacks += usize::from(!planned.converged);
    }
    micros.sort_by(f64::total_cmp);
    let at = |share: f64| micros[(share * UPDATES as f64) as usize];
    println!("{cells:>28} {:>10.1} {:>10.1} {iterations:>10} {fallbacks:>10}", at(0.5), at(0.99));
}

#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
fn exact(name: &str, problem: &Stepped, optimum: f64) {
    let began = Instant::now();
    (0..REPEATS).for_each(|_| drop(problem.solve()));
    let millis = began.elapsed().as_secs_f64() * 1e3 / f64::from(REPEATS);
    let run = problem.solve().expect("valid numbers").run;
    println!(
        "{name:>28} {:>10.2e} {:>10.2e} {:>10} {:>7} {millis:>9.3}",
        run.cost() - optimum,
        run.gap(),
        "",
        ""
    );
}

#[expect(clippy::disallowed_types, reason = "a bench reads the clock")]
fn row(name: &str, run: impl Fn() -> Found) {
    let began = Instant::now();
    (0..REPEATS).for_each(|_| drop(run()));
    let millis = began.elapsed().as_secs_f64() * 1e3 / f64::from(REPEATS);
    let Found { cost, gap, iterations, sweeps, .. } = run();
    let excess = cost - OPTIMUM;
    println!("{name:>28} {excess:>10.2e} {gap:>10.2e} {iterations:>10} {sweeps:>7} {millis:>9.3}");
}
