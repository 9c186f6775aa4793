//! Methods of the optimal control of a queue, for `sojourn.ocq`.

use crate::errors::invalid;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_optim::ocq::mesh::gradient::{self, Step};
use sojourn_optim::ocq::mesh::{Cell, Found, Mesh, Sweep, interior};
use sojourn_optim::ocq::{ArcKind, Load, Problem, Queue, Stepped};

/// Exact optimum of a load in steps: the problem is mu, a, R and x0, a step is w and its end in s.
///
/// A dict: J and gap, the kinds and ends of the arcs, and x at the ends of the steps and arcs with the inputs between them.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
pub(crate) fn ocq_switching(
    py: Python<'_>,
    problem: [f64; 4],
    steps: Vec<[f64; 2]>,
) -> PyResult<Bound<'_, PyDict>> {
    let [service, half, price, start] = problem;
    let steps = steps.iter().map(|&[offered, until]| Load { offered, until }).collect();
    let stepped = Stepped { steps, queue: Queue { service, half }, price, start };
    let optimum = py.detach(|| stepped.solve()).map_err(|error| invalid([error]))?;
    let document = PyDict::new(py);
    document.set_item("J", optimum.cost())?;
    document.set_item("gap", optimum.run.gap())?;
    let arcs: Vec<(&str, f64)> = optimum.arcs.iter().map(|arc| (name(arc.kind), arc.until)).collect();
    document.set_item("arcs", arcs)?;
    let pieces: Vec<(f64, f64)> = optimum.run.pieces().map(|piece| (piece.input, piece.until)).collect();
    document.set_item("pieces", pieces)?;
    Ok(document)
}

fn name(kind: ArcKind) -> &'static str {
    match kind {
        ArcKind::Lower => "lower",
        ArcKind::Singular => "singular",
        ArcKind::Upper => "upper",
    }
}

/// The paper's Algorithm 1 from an input: the problem is mu, a and x0, a cell h, w, R and the bounds of u.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
pub(crate) fn ocq_sweep(
    py: Python<'_>,
    problem: [f64; 3],
    cells: Vec<[f64; 5]>,
    start: Vec<f64>,
    options: SweepOptions,
) -> PyResult<Bound<'_, PyDict>> {
    let mesh = mesh(problem, &cells)?;
    let options = gradient::Options {
        step: match options.step.as_str() {
            "backtracking" => Step::Backtracking,
            "parametric" => Step::Parametric,
            "spectral" => Step::Spectral,
            _ => Step::Beta,
        },
        iterations: options.iterations,
        tolerance: options.tolerance,
        beta: options.beta,
        rho: options.rho,
    };
    let history = py.detach(|| mesh.descend(start, &options));
    let document = of_found(py, &mesh, &history.found)?;
    document.set_item("history", history.costs)?;
    document.set_item("gaps", history.gaps)?;
    document.set_item("betas", history.betas)?;
    Ok(document)
}

/// Options of Algorithm 1.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SweepOptions {
    step: String,
    iterations: u32,
    tolerance: f64,
    beta: f64,
    rho: f64,
}

/// The interior-point method; problem and cells are those of `ocq_sweep`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
pub(crate) fn ocq_fast(
    py: Python<'_>,
    problem: [f64; 3],
    cells: Vec<[f64; 5]>,
    iterations: u32,
    tolerance: f64,
) -> PyResult<Bound<'_, PyDict>> {
    let mesh = mesh(problem, &cells)?;
    let mut history = Vec::new();
    let options = interior::Options { iterations, tolerance };
    let found = py.detach(|| mesh.optimum_with(&options, |cost, gap| history.push((cost, gap))));
    let document = of_found(py, &mesh, &found)?;
    let (costs, gaps): (Vec<f64>, Vec<f64>) = history.into_iter().unzip();
    document.set_item("history", costs)?;
    document.set_item("gaps", gaps)?;
    Ok(document)
}

fn mesh([service, half, start]: [f64; 3], cells: &[[f64; 5]]) -> PyResult<Mesh> {
    let cell = |&[length, offered, price, low, high]: &[f64; 5]| Cell {
        length,
        offered,
        price,
        bounds: [low, high],
    };
    let mesh = Mesh { queue: Queue { service, half }, start, cells: cells.iter().map(cell).collect() };
    mesh.checked().map_err(|error| invalid([error]))
}

fn of_found<'py>(py: Python<'py>, mesh: &Mesh, found: &Found) -> PyResult<Bound<'py, PyDict>> {
    let mut sweep = Sweep::default();
    mesh.forward(&found.input, &mut sweep);
    let document = PyDict::new(py);
    document.set_item("u", &found.input)?;
    document.set_item("x", sweep.backlog)?;
    document.set_item("J", found.cost)?;
    document.set_item("gap", found.gap)?;
    document.set_item("iterations", found.iterations)?;
    document.set_item("sweeps", found.sweeps)?;
    document.set_item("converged", found.converged)?;
    Ok(document)
}

/// The feedback over an infinite horizon: R, x_s, u_s and eps, and the inputs at some backlogs.
///
/// The queue is mu and a; either R or x_s is given, and either eps or the time constant t_c.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
pub(crate) fn ocq_feedback(
    queue: [f64; 2],
    price: Option<f64>,
    x_s: Option<f64>,
    penalty: [Option<f64>; 2],
    backlogs: Vec<f64>,
) -> Option<([f64; 4], Vec<f64>)> {
    let queue = Queue { service: queue[0], half: queue[1] };
    let problem = match (price, x_s) {
        (Some(price), _) => Problem::new(queue, price)?,
        (None, x_s) => Problem::with_x_s(queue, x_s?),
    };
    let penalty = match penalty {
        [Some(eps), _] => eps,
        [None, t_c] => problem.penalty(t_c.filter(|&t_c| t_c < problem.price())?),
    };
    let inputs = backlogs.iter().map(|&x| problem.input(x, penalty)).collect();
    Some(([problem.price(), problem.x_s(), problem.u_s(), penalty], inputs))
}
