//! Makes a checked scenario of the text of a file.
//!
//! First all tables are read; then the network, the classes, the qdiscs and the changes are made of them, each beside
//! those before it. Errors are collected within a stage, and end it.

mod changes;
mod files;
mod flows;
mod hints;
mod names;
mod network;
mod packets;
mod routes;
mod rrul;
mod windows;

pub use files::Files;

use crate::diagnostics::{Diagnostics, Placed};
use crate::fluid::Fluid;
use crate::scenario::Scenario;
use crate::series::MOST_CROSSINGS;
use crate::tables::File;
use crate::tree::{self, Node};
use sojourn_params::{Collected, ErrorKind, Errors, Expected, InputError, Quantity, Value};
use sojourn_units::Span;
use std::rc::Rc;

impl Scenario {
    /// Reads and checks a scenario file; errors call the file `name`.
    ///
    /// `overrides` are dotted keys with TOML values, `("bottleneck.rate", "\"6 Mbit/s\"")`;
    /// a bare word that is not a TOML value is a string.
    pub fn parse(text: &[u8], name: &str, overrides: &[(String, String)]) -> Result<Scenario, Diagnostics> {
        let none = |_: &str| {
            let problem = "is not there: this text has no files beside it";
            Err(InputError::new(ErrorKind::File, problem, Expected::Unstated))
        };
        Scenario::parse_beside(text, name, overrides, &(Rc::new(none) as Files))
    }

    /// The same for a scenario that names other files, read by `files`.
    pub fn parse_beside(
        text: &[u8],
        name: &str,
        overrides: &[(String, String)],
        files: &Files,
    ) -> Result<Scenario, Diagnostics> {
        let text = tree::readable(text, name)?;
        let (tree, refused) = tree::parse(text, name, overrides)?;
        checked(&tree, refused, files).map_err(|errors| Diagnostics::of(name, text, errors))
    }

    /// The same of the keys of a file, as a table.
    pub fn of_keys(
        keys: &Value,
        overrides: &[(String, String)],
        files: &Files,
    ) -> Result<Scenario, Diagnostics> {
        let (tree, refused) = tree::of_keys(keys, overrides);
        checked(&tree, refused, files).map_err(Diagnostics::of_keys)
    }
}

/// The scenario, or its errors; `refused` are those of overrides.
fn checked(root: &Node, mut refused: Vec<Placed>, files: &Files) -> Result<Scenario, Vec<Placed>> {
    let mut value = root.value(&mut refused);
    if !refused.is_empty() {
        return Err(refused);
    }
    let placed = |error: InputError| (root.at(&error.key).place.clone(), error);
    let with_tables = files::with_tables(&mut value, files);
    with_tables.map_err(|errors| errors.into_iter().map(placed).collect::<Vec<Placed>>())?;
    let file = File::read(&value).map_err(|errors| {
        let mut errors: Vec<InputError> = errors.into_iter().collect();
        errors.extend(network::lacking(root, &errors));
        hints::improved(errors, root).into_iter().map(placed).collect::<Vec<Placed>>()
    })?;
    scenario(&file, files).map_err(|errors| errors.into_iter().map(placed).collect())
}

fn scenario(file: &File, files: &Files) -> Result<Scenario, Errors> {
    let duration = file.duration;
    let mut errors = Collected::default();
    if file.flows.0.is_empty() {
        let error = InputError::new(ErrorKind::Missing, "is empty", "one or more tables [[flows]]");
        errors.add(error.at("flows"));
    }
    errors.take(within_run("warmup", file.warmup, duration));
    errors.take(sample(file.sample, duration));
    errors.take(windows::check_times(&file.windows.0, duration));
    let Some(draft) = errors.take(network::network(file, files)) else { return errors.end(None) };
    let names = errors.take(names::class_names(&file.flows.0, &draft.topology));
    let flows = errors.take(flows::flows(file, &draft, names.as_deref(), files));
    let flows = errors.end(flows)?;
    let network::Draft { topology, qdiscs, .. } = draft;
    let mut scenario = Scenario {
        title: file.title.0.clone(),
        duration,
        warmup: file.warmup,
        sample: file.sample,
        windows: file.windows.0.clone(),
        fluid: Fluid { window: file.window(), step: file.fluid_step },
        topology,
        flows,
        at: Vec::new(),
    };
    network::put_qdiscs(&mut scenario, qdiscs)?;
    check_size(&scenario)?;
    changes::put_changes(&mut scenario, &file.at.0, packets::mean_packet(&file.flows.0))?;
    windows::check_number(&scenario)?;
    Ok(scenario)
}

/// Refuses a time of `key` that is not below the duration.
fn within_run(key: &str, time: Span, duration: Span) -> Result<Span, InputError> {
    if time < duration {
        return Ok(time);
    }
    let problem = format!("is not below the duration of {duration}");
    Err(InputError::conflict(time, problem, "less than the duration").at(key))
}

fn sample(sample: Option<Span>, duration: Span) -> Result<(), InputError> {
    let shortest = Span::from_nanos(duration.nanos().div_ceil(MOST_SAMPLES));
    match sample {
        Some(sample) if sample < shortest || sample > duration => {
            let expected = format!("{shortest} to the duration of {duration}");
            Err(InputError::out_of_range(sample, expected).at("sample"))
        }
        _ => Ok(()),
    }
}

/// Bounds the size of results: a class has a row at each link that it crosses, and a link its series.
fn check_size(scenario: &Scenario) -> Result<(), InputError> {
    let crossings = scenario.crossings();
    if crossings > MOST_CROSSINGS {
        let problem = format!(
            "the data of {} classes cross links with qdiscs {crossings} times in all, and each time has a row",
            scenario.flows.len()
        );
        let expected =
            format!("{MOST_CROSSINGS} times at most: one class of count = N instead of many alike");
        return Err(InputError::new(ErrorKind::Range, problem, expected).at("flows"));
    }
    let shortest = scenario.shortest_step();
    match scenario.sample.filter(|sample| *sample < shortest) {
        Some(sample) => {
            let expected = format!("{shortest} to the duration of {}", scenario.duration);
            let error =
                InputError::conflict(sample, "is too short for the series of so many links", expected);
            Err(error.at("sample"))
        }
        None => Ok(()),
    }
}

/// Steps of the series.
const MOST_SAMPLES: u64 = 1_000_000;
/// Flows of all groups, and of one.
const MOST_FLOWS: u64 = 1_000_000;
/// The slowest link, bit/s.
const SLOWEST: f64 = 1.0;
