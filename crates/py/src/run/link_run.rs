//! The outcome of a run at a link, for Python.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_measure::{Balance, Metrics, Outcome, QueueOutcome, Reading, Row, Series};

/// The outcome at one link, or of the classes whose data cross none.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct LinkRun {
    link: Option<String>,
    qdisc: Option<String>,
    rows: Vec<Part>,
    series: Series,
    /// Sojourn times, s, and the share at or below: of all packets, and of those of each named queue.
    sojourns: Vec<(String, Vec<(f64, f64)>)>,
}

/// A row, and whose it is: neither of a class nor of a queue, that of all packets.
struct Part {
    class: Option<String>,
    queue: Option<String>,
    row: Row,
}

impl LinkRun {
    /// Link by link; last, where there are any, the classes at no link.
    pub(super) fn of_outcome(outcome: Outcome) -> Vec<LinkRun> {
        let by_class = |rows: Vec<(String, Row)>| {
            rows.into_iter().map(|(class, row)| Part { class: Some(class), queue: None, row })
        };
        let links = outcome.links.into_iter().map(|of| {
            let all = Part { class: None, queue: None, row: of.all };
            let mut rows: Vec<Part> = std::iter::once(all).chain(by_class(of.classes)).collect();
            let mut sojourns = vec![("sojourn_s".to_string(), of.sojourn_distribution)];
            for QueueOutcome { name, row, sojourn_distribution } in of.queues {
                sojourns.push((format!("sojourn_s.{name}"), sojourn_distribution));
                rows.push(Part { class: None, queue: Some(name), row });
            }
            LinkRun { link: Some(of.link), qdisc: of.qdisc, rows, series: of.series, sojourns }
        });
        let of = outcome.elsewhere;
        let elsewhere = (!of.classes.is_empty()).then(|| LinkRun {
            link: None,
            qdisc: None,
            rows: by_class(of.classes).collect(),
            series: of.series,
            sojourns: Vec::new(),
        });
        links.chain(elsewhere).collect()
    }
}

#[pymethods]
impl LinkRun {
    /// The link's name; None for the classes at no link.
    #[getter]
    fn link(&self) -> Option<&str> {
        self.link.as_deref()
    }

    /// The label of the link's qdisc; None without a link, and where a custom law replaced it.
    #[getter]
    fn qdisc(&self) -> Option<&str> {
        self.qdisc.as_deref()
    }

    /// Tuples of class, queue, metrics and packets of the whole run: first all packets, class and queue None, then those
    /// of each class, where classes are recorded one by one, then those of each queue that the qdisc names. Without a link
    /// only those of classes, without packets; fluid runs have no packets either.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Cells<'py>>> {
        self.rows
            .iter()
            .map(|Part { class, queue, row }| {
                Ok((class.clone(), queue.clone(), metrics(py, row)?, packets(py, row)?))
            })
            .collect()
    }

    /// The series by name, `time_s` first, all equally long.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, values) in self.series.columns() {
            columns.set_item(name, PyArray1::from_slice(py, values))?;
        }
        Ok(columns)
    }

    /// Distributions by name: values, and the share at or below.
    #[getter]
    fn distributions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, sojourns) in &self.sojourns {
            let (values, shares): (Vec<f64>, Vec<f64>) = sojourns.iter().copied().unzip();
            columns.set_item(name, (values.into_pyarray(py), shares.into_pyarray(py)))?;
        }
        Ok(columns)
    }
}

/// Class, queue, metrics, packets.
type Cells<'py> = (Option<String>, Option<String>, Bound<'py, PyDict>, Bound<'py, PyDict>);

/// Metrics by name, in the order of names.
fn metrics<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let mut sorted: Vec<_> = row.metrics.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    let finite = |value: &f64| value.is_finite().then_some(*value);
    let dict = PyDict::new(py);
    for (name, reading) in sorted {
        match reading {
            Reading::Absent => dict.set_item(name, py.None())?,
            Reading::Number(number) => dict.set_item(name, finite(number))?,
            Reading::List(items) => {
                let items: Vec<Option<f64>> =
                    items.iter().map(|item| item.as_ref().and_then(finite)).collect();
                dict.set_item(name, items)?;
            }
        }
    }
    Ok(dict)
}

/// The finite numbers among metrics, by name; entries of a list by name and place, as in `settling_s[0]`.
pub(super) fn scalars<'py>(py: Python<'py>, metrics: &Metrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, reading) in metrics {
        match reading {
            Reading::Number(number) if number.is_finite() => dict.set_item(name, number)?,
            Reading::Absent | Reading::Number(_) => {}
            Reading::List(items) => {
                let finite = |item: &Option<f64>| item.filter(|number| number.is_finite());
                for (place, number) in items.iter().map(finite).enumerate() {
                    if let Some(number) = number {
                        dict.set_item(format!("{name}[{place}]"), number)?;
                    }
                }
            }
        }
    }
    Ok(dict)
}

fn packets<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Some(Balance { offered, delivered, dropped, held }) = row.balance {
        for (name, count) in
            [("delivered", delivered), ("dropped", dropped), ("held", held), ("offered", offered)]
        {
            dict.set_item(name, count)?;
        }
    }
    Ok(dict)
}
