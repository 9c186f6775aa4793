//! Methods of the optimal control of a queue, for `sojourn.ocq`.

use crate::errors::invalid;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_optim::ocq::mesh::gradient::{self, Step};
use sojourn_optim::ocq::mesh::{Cell, Found, Mesh, Sweep, interior, least_cells};
use sojourn_optim::ocq::{ArcKind, Load, Part, Problem, Queue, Run, Stepped};
use std::time::Duration;
#[expect(clippy::disallowed_types, reason = "how often signals are handled changes no result")]
use std::time::Instant;

/// Python's handlers of signals, which run now and then during a long computation.
#[expect(clippy::disallowed_types, reason = "how often signals are handled changes no result")]
struct Signals {
    calls: u32,
    handled: Instant,
    raised: Option<PyErr>,
}

#[expect(clippy::disallowed_types, reason = "how often signals are handled changes no result")]
impl Signals {
    /// Calls of [`Signals::go_on`] between two looks at the clock.
    const CALLS: u32 = 16;
    const PERIOD: Duration = Duration::from_millis(20);

    fn new() -> Signals {
        Signals { calls: 0, handled: Instant::now(), raised: None }
    }

    /// False from an exception of a handler on, such as that of Ctrl-C.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method's own lifetime is one, not any"
    )]
    fn go_on(&mut self) -> bool {
        self.calls += 1;
        if self.calls >= Signals::CALLS && self.raised.is_none() {
            self.calls = 0;
            if self.handled.elapsed() >= Signals::PERIOD {
                self.raised = Python::attach(|py| py.check_signals()).err();
                self.handled = Instant::now();
            }
        }
        self.raised.is_none()
    }

    /// Computes without Python's lock; raises the exception of a handler.
    fn during<T: Send>(py: Python<'_>, compute: impl FnOnce(&mut Signals) -> T + Send) -> PyResult<T> {
        let mut signals = Signals::new();
        let found = py.detach(|| compute(&mut signals));
        signals.raised.map_or(Ok(found), Err)
    }
}

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
    let found = Signals::during(py, |signals| stepped.solve_while(|| signals.go_on()))?;
    let optimum = found.map_err(|error| invalid([error]))?.expect("a search that ends early has raised");
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
            "beta" => Step::Beta,
            "backtracking" => Step::Backtracking,
            "parametric" => Step::Parametric,
            "spectral" => Step::Spectral,
            other => return Err(PyValueError::new_err(format!("step: {other} is unknown"))),
        },
        iterations: options.iterations,
        tolerance: options.tolerance,
        beta: options.beta,
        rho: options.rho,
    };
    let descend = |signals: &mut Signals| mesh.descend_while(start, &options, || signals.go_on());
    let history = Signals::during(py, descend)?;
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
    beta: Option<f64>,
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
    let found = Signals::during(py, |signals| {
        mesh.optimum_with(&options, |cost, gap| {
            history.push((cost, gap));
            signals.go_on()
        })
    })?;
    let document = of_found(py, &mesh, &found)?;
    let (costs, gaps): (Vec<f64>, Vec<f64>) = history.into_iter().unzip();
    document.set_item("history", costs)?;
    document.set_item("gaps", gaps)?;
    Ok(document)
}

/// Cells that a method on a mesh needs, at least: the queue is mu and a, the mesh has `cells`, the longest of `longest` s.
#[pyfunction]
pub(crate) fn ocq_least_cells(queue: [f64; 2], cells: usize, longest: f64) -> f64 {
    let [service, half] = queue;
    least_cells(Queue { service, half }, cells, longest)
}

/// An input followed exactly: the problem is mu, a and x0, a part is its end, w, R, the bounds of u, and u.
///
/// Backlogs and costates at the ends of the parts, from 0 s on; J and gap.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
pub(crate) fn ocq_follow(
    py: Python<'_>,
    problem: [f64; 3],
    parts: Vec<[f64; 6]>,
) -> PyResult<(Vec<f64>, Vec<f64>, f64, f64)> {
    let [service, half, start] = problem;
    let part = |[until, offered, price, low, high, input]: [f64; 6]| Part {
        input,
        until,
        offered,
        price,
        bounds: [low, high],
    };
    Signals::during(py, |signals| {
        let run = Run::along(Queue { service, half }, start, parts.into_iter().map(part));
        let (backlogs, costates) = run.nodes().map(|[x, costate]| (x, costate)).unzip();
        let gap = run.gaps().take_while(|_| signals.go_on()).sum();
        (backlogs, costates, run.cost(), gap)
    })
}

/// x_s of mu, a and R, packets; not above 0 where an empty queue is the best.
#[pyfunction]
pub(crate) fn ocq_x_s(service: f64, half: f64, price: f64) -> f64 {
    Queue { service, half }.x_s(price)
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
