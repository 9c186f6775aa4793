//! Records of a run: their requests, and the files that take them.

use crate::errors::invalid;
use crate::scenario::Scenario;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use sojourn_params::InputError;
use sojourn_scenario::{self as scenario, Traffic};
use sojourn_sim::record::{
    CapturePlan, CapturePoint, FlowOfClass, RecordPlan, Records, Sink, Subject, Unwritten,
};
use sojourn_units::Time;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// A record to make: its kind, its subject and its file.
pub(super) type Request = (String, String, PathBuf);

/// Raises `ScenarioError` with a line for each record, by kind and subject, that the scenario does not have.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
pub(crate) fn check_records(scenario: &Bound<'_, Scenario>, requests: Vec<(String, String)>) -> PyResult<()> {
    let scenario = scenario.get().for_a_run(scenario.py(), &crate::callbacks::Failure::default())?;
    let errors: Vec<InputError> = requests
        .iter()
        .filter_map(|(kind, subject)| {
            resolve(&scenario, kind, subject).err().map(|error| error.at(kind.as_str()))
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(invalid(errors)) }
}

/// A record of something that the scenario has.
enum Resolved {
    /// A capture of the link with this number.
    Capture(usize, CapturePoint),
    /// Any other record.
    Other(Subject),
}

fn resolve(scenario: &scenario::Scenario, kind: &str, subject: &str) -> Result<Resolved, InputError> {
    let link = || {
        let links = &scenario.topology.links;
        scenario.topology.link(subject).ok_or_else(|| {
            InputError::unknown_name(subject, "is no link", links.iter().map(|link| link.name.as_str()))
        })
    };
    match kind {
        "pcap" => Ok(Resolved::Capture(link()?, CapturePoint::Sent)),
        "arrivals" => Ok(Resolved::Capture(link()?, CapturePoint::Arriving)),
        "packets" => Ok(Resolved::Other(Subject::Packets(link()? as u32))),
        "flows" => Ok(Resolved::Other(Subject::Flows)),
        "gauges" => Ok(Resolved::Other(Subject::Gauges(flow(scenario, subject)?))),
        "qlog" => Ok(Resolved::Other(Subject::Events(flow(scenario, subject)?, subject.to_string()))),
        _ => Err(InputError::unknown_name(kind, "is no record", KINDS)),
    }
}

/// The flow of a text such as `"bulk/3"`, its class and its number there from 0 on, or `"bulk"`, the first.
fn flow(scenario: &scenario::Scenario, subject: &str) -> Result<FlowOfClass, InputError> {
    let (class, number) = subject.split_once('/').unwrap_or((subject, "0"));
    let names = || scenario.flows.iter().map(|flows| flows.name.as_str());
    let place = names().position(|name| name == class);
    let place = place.ok_or_else(|| InputError::unknown_name(class, "is no class of flows", names()))?;
    if let Traffic::Datagrams(_) = scenario.flows[place].traffic() {
        return Err(InputError::clash(format!("{class} sends datagrams"), "flows of TCP"));
    }
    let number = number.parse().map_err(|_| {
        InputError::clash(format!("\"{number}\" is no number of a flow"), "a whole number from 0 on")
    })?;
    Ok(FlowOfClass { class: place as u32, number })
}

/// Kinds of records.
const KINDS: [&str; 6] = ["pcap", "arrivals", "packets", "flows", "gauges", "qlog"];

/// Opens the files of the requested records.
pub(super) fn records(scenario: &scenario::Scenario, requests: &[Request]) -> PyResult<Records> {
    let (mut captures, mut others) = (Vec::new(), Vec::new());
    for (kind, subject, path) in requests {
        match resolve(scenario, kind, subject).map_err(|error| invalid([error]))? {
            Resolved::Capture(number, point) => {
                let links = &scenario.topology.links;
                let back = if links[number].is_back { number.checked_sub(1) } else { Some(number + 1) };
                let opposite = |other: &usize| {
                    links.get(*other).is_some_and(|other| other.is_back != links[number].is_back)
                };
                captures.push(CapturePlan {
                    name: name_of(path),
                    link: links[number].name.clone(),
                    speed: links[number].rate.bits_per_second(),
                    number: number as u32,
                    back: back.filter(opposite).map(|back| back as u32),
                    point,
                    sink: open(path)?,
                });
            }
            Resolved::Other(subject) => {
                others.push(RecordPlan { name: name_of(path), subject, sink: open(path)? });
            }
        }
    }
    Ok(Records::new(Time::ZERO + scenario.duration, captures, others))
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn open(path: &Path) -> PyResult<Sink> {
    let file = File::create_new(path).map_err(|why| unwritten(&Unwritten { name: name_of(path), why }))?;
    Ok(Box::new(WholeParts { file, whole: 0 }))
}

/// The exception for a record that could not be written.
pub(super) fn unwritten(of: &Unwritten) -> PyErr {
    let Unwritten { name, why } = of;
    let text = why.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    PyOSError::new_err(format!("{name}: cannot be written ({text})"))
}

/// A file that ends with the last whole part that was written.
struct WholeParts {
    file: File,
    /// Bytes of whole parts.
    whole: u64,
}

impl Write for WholeParts {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if let Err(why) = self.file.write_all(part) {
            // What remains is whole; the first error counts.
            let _ = self.file.set_len(self.whole).and_then(|()| self.file.seek(io::SeekFrom::End(0)));
            return Err(why);
        }
        self.whole += part.len() as u64;
        Ok(part.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
