//! Certificates as JSON, and curves of them as arrays.

use crate::callbacks::{Failure, is_interrupt};
use crate::errors::invalid;
use crate::scenario::Scenario;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use sojourn_aqm::Network;
use sojourn_aqm::qdiscs::sqm::fluid::Sigmas;
use sojourn_fluid::linear::boundary::BLOCK;
use sojourn_fluid::linear::complex::Complex64;
use sojourn_fluid::linear::disturbed::Disturbance;
use sojourn_fluid::linear::equilibrium::{Equilibrium, Signal};
use sojourn_fluid::linear::loops::Loop;
use sojourn_fluid::linear::margins::Margins;
use sojourn_fluid::linear::nyquist::Count;
use sojourn_fluid::prove::{
    Assessed, AtPoint, Cell, Certificate, Claim, CustomLaws, Cycle, Extent, Joint, Noise, OfLink, OfQueue,
    Optimality, Part, PlantModel, Points, Region, Request, Setting, Shown, StepResponse, Verdict, at_points,
    examine, unwarned,
};
use sojourn_optim::ocq::Instance;
use sojourn_params::InputError;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A certificate; its loops are numbered as in its JSON.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Proof {
    certificate: Mutex<Certificate>,
    /// The failure of a law in Python during a map.
    failure: Failure,
}

/// Stability region of a certificate over loads and round trips.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct RegionMap(Region);

/// Certifies a scenario's link; `link` may be left out where only one can be congested. Under a law in Python
/// called `label` where there is a template of one.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
#[pyo3(signature = (scenario, link = None, law = None, label = ""))]
pub(crate) fn prove(
    scenario: &Bound<'_, Scenario>,
    link: Option<&str>,
    law: Option<&Bound<'_, PyAny>>,
    label: &str,
) -> PyResult<Proof> {
    let py = scenario.py();
    let failure = Failure::default();
    let given = scenario.get();
    let laws = law.map(|law| given.laws(law, &failure)).transpose()?;
    let own = laws.map(|laws| CustomLaws { label: label.into(), laws });
    let scenario = given.for_a_run(py, &failure)?;
    let found = py.detach(|| unwarned(&Request { scenario: &scenario, link, own }));
    failure.take().map_or(Ok(()), Err)?;
    let mut certificate = found.map_err(refused)?;
    py.detach(|| certificate.look_around());
    // Away from equilibrium a law may fail; Ctrl-C is not its failure.
    let stopped = failure.take().filter(|error| is_interrupt(py, error));
    stopped.map_or(Ok(Proof { certificate: Mutex::new(certificate), failure }), Err)
}

/// The law of a scenario's link at other numbers of flows and base RTTs, s: the columns of [`POINT`], a row each,
/// NaN where a value is unlimited or unknown; and the reason of each row that has none. A point takes `evaluations` at most;
/// `link` may be left out where only one can be congested.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
#[pyo3(signature = (scenario, at, with_poles = false, accepts_partial = false, evaluations = None, link = None))]
pub(crate) fn margins_at<'py>(
    scenario: &Bound<'py, Scenario>,
    at: Vec<[f64; 2]>,
    with_poles: bool,
    accepts_partial: bool,
    evaluations: Option<u64>,
    link: Option<&str>,
) -> PyResult<Rows<'py>> {
    let py = scenario.py();
    let scenario = scenario.get().for_a_run(py, &Failure::default())?;
    let found = py
        .detach(|| {
            let request = Request { scenario: &scenario, link, own: None };
            at_points(
                &request,
                &Points { at: &at, with_poles, accepts_partial, evaluations, threads: THREADS },
            )
        })
        .map_err(refused)?;
    let row = |point: &AtPoint| {
        let known = [point.p, point.backlog, point.window, point.rtt, point.unstable as f64];
        let degrees = point.phase_margin.map(f64::to_degrees);
        let rest = [degrees, point.gain_margin, point.crossover, point.rightmost];
        known.into_iter().chain(rest.map(|value| value.unwrap_or(f64::NAN))).collect()
    };
    let rows = found.iter().map(|one| one.as_ref().map_or_else(|_| vec![f64::NAN; POINT], row));
    let values: Vec<f64> = rows.flatten().collect();
    let values = values.into_pyarray(py).reshape([found.len(), POINT])?;
    Ok((values, found.into_iter().map(Result::err).collect()))
}

/// Margins in degrees and as a factor over all N and base RTTs, s, of a box, where windows are at least `least_window`
/// packets: the parts examined where interval bounds show them or are too wide, whether gains follow p, and N and base RTT,
/// s, where they are too wide; or the reason why there are none.
#[pyfunction]
#[pyo3(signature = (scenario, flows, rtt_s, least_window, margins, parts))]
pub(crate) fn margins_over(
    scenario: &Bound<'_, Scenario>,
    flows: [f64; 2],
    rtt_s: [f64; 2],
    least_window: f64,
    margins: (f64, f64),
    parts: u64,
) -> PyResult<Bounded> {
    let py = scenario.py();
    let scenario = scenario.get().for_a_run(py, &Failure::default())?;
    let phase_margin = margins.0.to_radians();
    let claim = Claim { flows, base_rtt: rtt_s, least_window, phase_margin, gain_margin: margins.1, parts };
    let request = || Request { scenario: &scenario, link: None, own: None };
    Ok(match py.detach(|| examine(&request(), &claim)).map_err(refused)? {
        Shown::Holds { parts, follows } => (parts, follows, None, None),
        Shown::Open { at } => (parts, false, Some(at), None),
        Shown::Uncovered(reason) => (0, false, None, Some(reason)),
    })
}

/// Parts, whether gains follow p, a place without bounds, and the reason of none.
type Bounded = (u64, bool, Option<[f64; 2]>, Option<&'static str>);
/// Rows of points, and the reasons of those without values.
type Rows<'py> = (Bound<'py, PyArray2<f64>>, Vec<Option<String>>);

/// Columns of a point: p, backlog, window, round trip, unstable poles, phase margin in degrees, gain margin, crossover,
/// real part of the rightmost pole.
const POINT: usize = 9;
/// Rows of cycles, True if the last one is the scenario's own, and True if they begin softly.
type Cycles<'py> = (Bound<'py, PyArray2<f64>>, bool, bool);

/// Equilibrium, its unit, and rows of point, gain and marks.
type SlopeChanges = (f64, &'static str, Vec<(f64, Option<f64>, bool)>);

/// Columns of a cycle.
const CYCLE: usize = 8;
/// Threads that judge points.
const THREADS: usize = 2;

#[allow(clippy::needless_pass_by_value)] // as `map_err` has it
fn refused(error: InputError) -> PyErr {
    invalid([error])
}

impl Proof {
    fn get(&self) -> MutexGuard<'_, Certificate> {
        self.certificate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Proof {
    /// All of it as JSON.
    #[getter]
    fn json(&self) -> String {
        document(&self.get()).to_string()
    }

    /// L of a loop at these frequencies, rad/s: real and imaginary parts.
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    fn response<'py>(
        &self,
        py: Python<'py>,
        of: usize,
        frequencies: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
        let certificate = self.get();
        let assessed = numbered(&certificate, of)?;
        let of = assessed.drawn();
        let at = |frequency: &f64| of.value(Complex64::new(0.0, *frequency));
        let found: Vec<Complex64> = frequencies.as_slice()?.iter().map(at).collect();
        let part = |part: fn(&Complex64) -> f64| found.iter().map(part).collect::<Vec<f64>>();
        Ok([part(|l| l.re), part(|l| l.im)].map(|values| values.into_pyarray(py)))
    }

    /// Step response of the closed loop: times, s, and packets; None where its poles are not known.
    fn step<'py>(&self, py: Python<'py>, of: usize) -> PyResult<Option<[Bound<'py, PyArray1<f64>>; 2]>> {
        let certificate = self.get();
        let found = StepResponse::of(numbered(&certificate, of)?);
        Ok(found.map(|StepResponse { times, values }| [times, values].map(|column| column.into_pyarray(py))))
    }

    /// Deviation of the backlog after a step of `size` at time 0: of `arrivals` or `capacity`, packets/s, or of `flows`, a
    /// share of them. Times, s, and packets; None where the poles of the judged loop are not known.
    fn disturbed<'py>(
        &self,
        py: Python<'py>,
        of: &str,
        size: f64,
    ) -> PyResult<Option<[Bound<'py, PyArray1<f64>>; 2]>> {
        let by = match of {
            "arrivals" => Disturbance::Arrivals(size),
            "capacity" => Disturbance::Capacity(size),
            "flows" => Disturbance::Flows(size),
            _ => return Err(invalid([InputError::out_of_range(of, "arrivals, capacity or flows")])),
        };
        let found = self.get().response_to(by);
        Ok(found.map(|StepResponse { times, values }| [times, values].map(|column| column.into_pyarray(py))))
    }

    /// Limit cycles by their amplitude, with so many harmonics: rows of gain, amplitude, period, least and greatest backlog,
    /// least and greatest p, and 1 where limits make them approximate; the number of the scenario's own, which is the
    /// last row, or None; and whether oscillations begin softly. None where there is no branch.
    fn cycles<'py>(&self, py: Python<'py>, harmonics: usize) -> PyResult<Option<Cycles<'py>>> {
        let Some(branch) = py.detach(|| self.get().cycles(harmonics)) else { return Ok(None) };
        let row = |cycle: &Cycle| {
            let [Cycle { gain, amplitude, period, queue, p, is_limited }] = [*cycle];
            [gain, amplitude, period, queue[0], queue[1], p[0], p[1], f64::from(u8::from(is_limited))]
        };
        let rows: Vec<f64> = branch.cycles.iter().chain(&branch.own).flat_map(row).collect();
        let count = branch.cycles.len() + usize::from(branch.own.is_some());
        let rows = rows.into_pyarray(py).reshape([count, CYCLE])?;
        Ok(Some((rows, branch.own.is_some(), branch.is_soft())))
    }

    /// Spectral density of the backlog at frequencies, rad/s: packets^2 s; None where the certificate has no noise.
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    fn noise_spectrum<'py>(
        &self,
        py: Python<'py>,
        frequencies: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let found = self.get().noise_spectrum(frequencies.as_slice()?);
        Ok(found.map(|values| values.into_pyarray(py)))
    }

    /// The equilibrium of the law, its unit, and the nearest changes of its slope up to a factor away: each change as the
    /// point, the gain beyond over that before (None: no transfer function on one side), and whether it marks beyond.
    fn slope_changes(&self, farthest: f64) -> Option<SlopeChanges> {
        let (found, at, is_curve) = self.get().slope_changes(farthest)?;
        let rows = found.iter().map(|step| (at * step.factor, step.gain, step.marks)).collect();
        Some((at, if is_curve { "packets" } else { "p" }, rows))
    }

    /// The map over N and the base RTT, s, between the given ends, by default from a quarter of the scenario's own to
    /// four times as much.
    #[pyo3(signature = (flows = None, base_rtt_s = None, points = 200, threads = 2))]
    fn region(
        &self,
        py: Python<'_>,
        flows: Option<[f64; 2]>,
        base_rtt_s: Option<[f64; 2]>,
        points: usize,
        threads: usize,
    ) -> PyResult<RegionMap> {
        // A law in Python waits for Python's lock, whose holder may wait for the certificate.
        let (about, map) = {
            let certificate = self.get();
            (Extent::about(&certificate.setting), certificate.mapping())
        };
        let extent = Extent {
            flows: flows.unwrap_or(about.flows),
            base_rtt: base_rtt_s.unwrap_or(about.base_rtt),
            points: points.max(2),
            threads: threads.max(1),
        };
        let found = py.detach(|| map(&extent));
        self.failure.take().map_or(Ok(RegionMap(found)), Err)
    }
}

fn numbered(certificate: &Certificate, of: usize) -> PyResult<&Assessed> {
    certificate.loops.get(of).ok_or_else(|| {
        let expected = format!("below {}", certificate.loops.len());
        invalid([InputError::out_of_range(format!("loop {of}"), expected)])
    })
}

#[pymethods]
impl RegionMap {
    /// N of each column.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.flows.clone().into_pyarray(py)
    }

    /// Base RTT of each row, s.
    #[getter]
    fn base_rtt_s<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.base_rtts.clone().into_pyarray(py)
    }

    /// 0: stable; 1: unstable; 2: not proven; from 3 on: place of the reason for no verdict.
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let code = |cell: &Cell| match cell {
            Cell::Stable => 0,
            Cell::Unstable => 1,
            Cell::NotProven => 2,
            Cell::NoVerdict(reason) => 3 + *reason as i64,
        };
        let all: Vec<i64> = self.0.cells.iter().flatten().map(code).collect();
        all.into_pyarray(py).reshape([self.0.base_rtts.len(), self.0.flows.len()])
    }

    /// Points at which poles were counted; the others lie in blocks whose corners agree.
    #[getter]
    fn counted(&self) -> usize {
        self.0.counted
    }

    /// Meshes along the side of such a block.
    #[classattr]
    const BLOCK: usize = BLOCK;

    /// Evaluations used by the counts.
    #[getter]
    fn evaluations(&self) -> u64 {
        self.0.evaluations
    }

    /// Upper bound of the evaluations.
    #[classattr]
    const MOST_EVALUATIONS: u64 = Region::MOST;

    /// Reasons of points without a verdict.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.0.reasons.clone()
    }

    /// Evaluations ran out before the curves were followed to their ends.
    #[getter]
    fn is_cut(&self) -> bool {
        self.0.is_cut
    }

    /// The curves between stable and unstable: N, base RTT in s, and frequency in rad/s.
    #[getter]
    fn boundary<'py>(&self, py: Python<'py>) -> Vec<[Bound<'py, PyArray1<f64>>; 3]> {
        let curve = |curve: &Vec<sojourn_fluid::linear::boundary::Crossing>| {
            let [flows, rtts] = [0, 1].map(|axis| curve.iter().map(|crossing| crossing.at[axis]).collect());
            let frequencies = curve.iter().map(|crossing| crossing.frequency).collect();
            [flows, rtts, frequencies].map(|values: Vec<f64>| values.into_pyarray(py))
        };
        self.0.boundary.iter().map(curve).collect()
    }
}

/// The certificate as JSON.
fn document(of: &Certificate) -> Value {
    let mut entries = Map::new();
    let (verdict, reason) = words_of(&of.verdict);
    let judged = of.judged();
    entries.extend([
        ("schema".into(), json!(SCHEMA)),
        ("law".into(), json!(of.law)),
        ("link".into(), json!(of.setting.name)),
        ("verdict".into(), json!(verdict)),
        ("reason".into(), json!(reason)),
        ("of_a_part".into(), json!(of.of_a_part)),
        ("model".into(), json!(judged.map(|one| model(one.model)))),
        ("part".into(), json!(judged.map(|one| part(one.part)))),
        ("sampled".into(), json!(judged.map(|one| one.sampled))),
    ]);
    entries.extend(margins(judged));
    entries.insert("textbook".into(), of.textbook().map_or(Value::Null, textbook));
    let poles = judged.map_or(Value::Null, poles);
    entries.extend([
        ("equilibrium".into(), of.equilibrium.as_ref().map_or(Value::Null, |found| equilibrium(of, found))),
        ("poles".into(), poles),
        ("optimality".into(), of.optimality.as_ref().map_or(Value::Null, optimality)),
        ("loops".into(), of.loops.iter().map(assessed).collect()),
        ("classes".into(), of.queues.iter().map(of_queue).collect()),
        (
            "links".into(),
            of.joint.iter().flat_map(|joint| &joint.links).map(|link| of_link(of, link)).collect(),
        ),
        ("network".into(), of.joint.as_ref().map_or(Value::Null, network)),
        ("noise".into(), of.noise.as_ref().map_or(Value::Null, noise)),
        ("warnings".into(), json!(of.warnings)),
        ("assumptions".into(), json!(of.assumptions)),
    ]);
    Value::Object(entries)
}

/// Deviations of the backlog and of p by random signals.
fn noise(of: &Noise) -> Value {
    json!({
        "queue_sd_packets": of.queue_sd,
        "p_sd": of.p_sd,
        "empty": of.empty,
        "full": of.full,
        "p_below": of.p_below,
        "p_above": of.p_above,
        "mean_shift_packets": of.mean_shift,
        "limited": of.limited.map(|(name, beyond)| json!({ "name": name, "beyond": beyond })),
    })
}

/// Verdict on the queues of a class, and the margins at their share.
fn of_queue(of: &OfQueue) -> Value {
    let (verdict, reason) = words_of(&of.certificate.verdict);
    let judged = of.certificate.judged();
    let mut entries = Map::new();
    entries.extend([
        ("class".into(), json!(of.class)),
        ("queues".into(), json!(of.queues)),
        ("capacity_pps".into(), json!(of.capacity)),
        ("verdict".into(), json!(verdict)),
        ("reason".into(), json!(reason)),
    ]);
    entries.extend(margins(judged));
    let own = &of.certificate;
    entries.extend([
        ("equilibrium".into(), own.equilibrium.as_ref().map_or(Value::Null, |found| equilibrium(own, found))),
        ("poles".into(), judged.map_or(Value::Null, poles)),
        ("sigma".into(), of.sigmas.as_ref().map_or(Value::Null, sigmas)),
    ]);
    Value::Object(entries)
}

/// A link of a network: its law, the margins with its loop broken, and its equilibrium.
fn of_link(certificate: &Certificate, of: &OfLink) -> Value {
    let own = of.of.and_then(|number| certificate.loops.get(number));
    let mut entries = Map::new();
    entries.extend([("link".into(), json!(of.setting.name)), ("law".into(), json!(of.law))]);
    entries.extend(margins(own));
    entries.insert("equilibrium".into(), point_of((&of.setting, of.network()), &of.equilibrium));
    Value::Object(entries)
}

/// Equilibrium and loop of all links of a network.
fn network(of: &Joint) -> Value {
    json!({
        "residual": of.residual,
        "nyquist": of.count.as_ref().map(nyquist),
    })
}

fn nyquist(count: &Count) -> Value {
    json!({
        "encirclements": count.encirclements,
        "open_poles": count.open,
        "closed_poles": count.closed,
    })
}

/// sigma of a price in proportion to the backlog, packets, and the margins of the model of docs/theory/sqm.md with it.
fn sigmas(of: &Sigmas) -> Value {
    json!({
        "packets": of.used,
        "theorem_3_packets": of.theorem,
        "per_flow_packets": of.per_flow,
        "limit_packets": of.limit,
        "theorem_3_by_limit": of.theorem / of.limit,
        "phase_margin_deg": of.queue_loop.phase_margin(),
        "gain_margin": of.queue_loop.gain_margin(),
        "delay_margin_s": of.queue_loop.delay_margin(),
    })
}

fn words_of(verdict: &Verdict) -> (&'static str, Option<&str>) {
    match verdict {
        Verdict::Stable => ("stable", None),
        Verdict::Unstable => ("unstable", None),
        Verdict::NotProven(reason) => ("not proven", Some(reason)),
    }
}

fn model(model: PlantModel) -> &'static str {
    match model {
        PlantModel::Textbook => "textbook",
        PlantModel::Undelayed => "textbook without delay",
        PlantModel::Linearised => "linearised",
        PlantModel::Predicted => "predicted",
        PlantModel::Network => "network",
    }
}

fn part(part: Part) -> &'static str {
    match part {
        Part::Whole => "whole",
        Part::Inner => "inner",
        Part::Outer => "outer",
    }
}

/// The loop of papers and designs.
fn textbook(of: &Assessed) -> Value {
    let mut entries = margins(Some(of));
    entries.insert("part".into(), json!(part(of.part)));
    Value::Object(entries)
}

/// The margins; null without a limit. Of a stable loop: the least lag and the least lead that destabilise it (null for
/// a lead above half a turn), gain and delay. Of an unstable one: the phase margin is minus the least lead that
/// stabilises it, null where none does.
fn margins(of: Option<&Assessed>) -> Map<String, Value> {
    let verdict = of.map(Assessed::verdict);
    let is_open_stable = of.and_then(|of| of.count).is_some_and(|count| count.open == 0);
    let of = of.and_then(|of| of.margins.as_ref());
    let stable = of.filter(|_| verdict == Some(Verdict::Stable));
    let unstable = of.filter(|_| verdict == Some(Verdict::Unstable));
    let lacking = unstable.and_then(Margins::lacking).filter(|_| is_open_stable);
    let lag = stable.and_then(Margins::lag);
    let lead = stable.and_then(Margins::lead).map(|at| at.lead()).filter(|lead| *lead < std::f64::consts::PI);
    let phase = lag.map(|at| at.lag()).or(lacking.map(|(_, lead)| -lead));
    let crossover = lag.or(lacking.map(|(at, _)| at)).or(unstable.and_then(Margins::phase));
    let all = [
        ("phase_margin_deg", phase.map(f64::to_degrees)),
        ("phase_lead_margin_deg", lead.map(f64::to_degrees)),
        ("gain_margin", stable.and_then(Margins::gain_up)),
        ("gain_reduction_margin", stable.and_then(Margins::gain_down)),
        ("delay_margin_s", stable.and_then(Margins::delay)),
        ("modulus_margin", of.map(|margins| margins.modulus.distance)),
        ("crossover_rad_s", crossover.map(|at| at.frequency)),
    ];
    all.into_iter().map(|(name, value)| (name.into(), json!(value))).collect()
}

fn poles(of: &Assessed) -> Value {
    let found = of.poles.iter().flat_map(|found| &found.poles);
    found.map(|root| json!([root.re, root.im])).collect()
}

fn assessed(of: &Assessed) -> Value {
    let verdict = of.verdict();
    let (verdict, reason) = words_of(&verdict);
    let mut entries = Map::new();
    entries.extend([
        ("model".into(), json!(model(of.model))),
        ("part".into(), json!(part(of.part))),
        ("sampled".into(), json!(of.sampled)),
        ("link".into(), json!(of.place)),
        ("period_s".into(), json!(of.of.band().map(|band| std::f64::consts::PI / band))),
        ("verdict".into(), json!(verdict)),
        ("reason".into(), json!(reason)),
        ("evaluations".into(), json!(of.evaluations)),
    ]);
    entries.extend(margins(Some(of)));
    if let Some(margins) = &of.margins {
        let gains = margins.gain_crossovers.iter().map(|at| {
            json!({
                "frequency_rad_s": at.frequency,
                "phase_margin_deg": at.phase_margin.to_degrees(),
                "delay_margin_s": at.delay_margin(),
            })
        });
        let phases = margins
            .phase_crossovers
            .iter()
            .map(|at| json!({"frequency_rad_s": at.frequency, "gain_margin": at.gain_margin}));
        entries.insert("gain_crossovers".into(), gains.collect());
        entries.insert("phase_crossovers".into(), phases.collect());
        entries.insert("modulus_frequency_rad_s".into(), json!(margins.modulus.frequency));
    }
    entries.extend([
        ("poles".into(), poles(of)),
        ("roots_complete_to".into(), json!(of.poles.as_ref().map(|found| -found.complete))),
        ("nyquist".into(), of.count.as_ref().map_or(Value::Null, nyquist)),
    ]);
    Value::Object(entries)
}

fn equilibrium(of: &Certificate, point: &Equilibrium) -> Value {
    point_of((&of.setting, of.network), point)
}

fn point_of((setting, network): (&Setting, Option<Network>), point: &Equilibrium) -> Value {
    let link = &setting.link;
    let classes = link.classes.iter().enumerate().map(|(place, class)| {
        json!({
            "name": setting.class(place),
            "flows": class.flows,
            "size": class.size,
            "base_rtt_s": class.base_rtt,
            "rtt_s": point.rtts[place],
            "window_packets": point.windows[place],
            "window_sd_packets": class.window_sd(point.windows[place], point.rtts[place]),
            "ecn": class.ecn,
            "loss": class.loss,
        })
    });
    json!({
        "p": point.p,
        "backlog_packets": point.backlog,
        "sojourn_s": point.backlog / link.capacity,
        "rtt_s": network.map(|network| network.rtt),
        "flows": setting.flows(),
        "capacity_pps": link.capacity,
        "unresponsive_pps": link.unresponsive.iter().sum::<f64>(),
        "signal": match link.signal_at(point.p, point.backlog) {
            Signal::Mark => "mark",
            Signal::Drop => "drop",
            Signal::Both { .. } => "both",
        },
        "classes": classes.collect::<Vec<_>>(),
    })
}

/// The equilibrium is where the cheapest run over a horizon stays.
fn optimality(of: &Optimality) -> Value {
    let Instance { offered, queue, price, start, horizon } = of.instance;
    json!({
        "w_pps": offered,
        "mu_pps": queue.service,
        "a_packets": queue.half,
        "R_s": price,
        "x0_packets": start,
        "t_f_s": horizon,
        "x_s_packets": of.instance.x_s(),
        "u_s_pps": of.instance.u_s(),
        "stays_until_s": of.stays_until,
        "J": of.solution.cost(),
        "gap": of.solution.run.gap(),
    })
}

/// The number of this form of the JSON.
const SCHEMA: u32 = 1;
