//! Closed forms of the theory, as JSON.

use crate::errors::invalid;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_optim::ocq::{Instance, Queue, Run, Structure};
use sojourn_optim::sqm::{Flow, Link};
use sojourn_params::{InputError, Path, Step};

/// The optimal control of a queue over a horizon, and the run of `inputs`, in steps of equal length, for comparison.
///
/// The instance is w, mu, a, R, x0 and t_f.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
#[pyo3(signature = (instance, inputs = None))]
pub(crate) fn ocq_json(instance: [f64; 6], inputs: Option<Vec<f64>>) -> PyResult<String> {
    let [offered, service, half, price, start, horizon] = instance;
    let instance = Instance { offered, queue: Queue { service, half }, price, start, horizon };
    let solution = instance.solve().map_err(refused)?;
    let first = solution.run.at(0.0);
    let structure = match solution.structure {
        Structure::Singular => "singular",
        Structure::Switch => "switch",
        Structure::All => "all",
    };
    let given =
        inputs.map(|inputs| instance.run(&instance.on_a_mesh(&inputs))).transpose().map_err(refused)?;
    let document = json!({
        "J": solution.cost(),
        "gap": solution.run.gap(),
        "structure": structure,
        "switch_times_s": solution.switch_times(),
        "inputs_pps": solution.inputs(),
        "x_s_packets": instance.x_s(),
        "u_s_pps": instance.u_s(),
        "x_final_packets": solution.run.last_backlog(),
        "hamiltonian_packets": instance.hamiltonian(&first),
        "costate_0_s": first.costate,
        "gradient_norm": solution.run.gradient_norm(),
        "given": given.as_ref().map(of_run),
    });
    Ok(document.to_string())
}

fn of_run(run: &Run) -> Value {
    json!({
        "J": run.cost(),
        "gap": run.gap(),
        "x_final_packets": run.last_backlog(),
        "gradient_norm": run.gradient_norm(),
    })
}

/// SQM's link: equilibrium, Theorem 3's bound, and the sigmas of margins; flows are k, w, D and Q each.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
pub(crate) fn sqm_json(
    capacity: f64,
    alpha: f64,
    flows: Vec<[f64; 4]>,
    margins: [f64; 2],
) -> PyResult<String> {
    let [margin, rho] = margins;
    let of = |&[gain, weight, delay, quantum]: &[f64; 4]| Flow { gain, weight, delay, quantum };
    let link = Link { capacity, alpha, flows: flows.iter().map(of).collect() }.checked().map_err(refused)?;
    if !(0.0..90.0).contains(&margin) {
        let error = InputError::out_of_range(format!("{margin} degrees"), "at least 0 and less than 90");
        return Err(refused(error.at("phase_margin_deg")));
    }
    if !(rho > 1.0 && rho.is_finite()) {
        return Err(refused(InputError::out_of_range(rho, "more than 1").at("rho")));
    }
    let spectrum = link.spectrum();
    let scales = link.scales_of_margin(margin);
    let prices: Vec<_> =
        scales.iter().map(|&scale| sojourn_optim::sqm::Price { target: 0.0, scale }).collect();
    let queues = link.equilibrium(&prices);
    let (theorem, printed) = (link.scales_of_the_sum(rho), link.scales_of_the_printed_limit());
    let phase_margins = |scales: &[f64]| {
        link.loops(scales).iter().map(sojourn_optim::sqm::margin::QueueLoop::phase_margin).collect::<Vec<_>>()
    };
    let document = json!({
        "rates_pps": link.rates(),
        "prices": queues.iter().map(|queue| queue.price).collect::<Vec<_>>(),
        "queues_packets": queues.iter().map(|queue| queue.queue).collect::<Vec<_>>(),
        "lyapunov_norm": spectrum.greatest,
        "lyapunov_least": spectrum.least,
        "root_of_condition": spectrum.root_of_condition(),
        "bound": spectrum.bound(rho),
        "phase_margin_theorem_3_deg": phase_margins(&theorem),
        "phase_margin_printed_limit_deg": phase_margins(&printed),
        "sigma_theorem_3": theorem,
        "sigma_per_flow": link.scales_by_flow(rho),
        "sigma_margin": scales,
        "sigma_limit": link.scales_of_margin(0.0),
        "sigma_printed_limit": printed,
    });
    Ok(document.to_string())
}

/// The exception for an error of the equations, whose names become those of the arguments.
fn refused(error: InputError) -> PyErr {
    let place = |place: usize, argument: &str| Path::key(argument).join(place);
    let key = match error.key.steps() {
        [Step::Key(name)] if name == "R" => "r".into(),
        [Step::Key(name), rest @ ..] if name == "u" => Path::key("control").join(Path::from(rest)),
        [Step::Key(name), Step::Place(flow), Step::Key(of)] if name == "flows" && of == "quantum" => {
            place(*flow, "weights")
        }
        [Step::Key(name), Step::Place(flow), Step::Key(of)] if name == "flows" && of == "weight" => {
            place(*flow, "utility")
        }
        _ => error.key.clone(),
    };
    invalid([InputError { key, ..error }])
}
