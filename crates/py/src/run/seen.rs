//! What a run has brought, whichever plant it was in.

use serde_json::{Map, Value, json};
use sojourn_fluid::Outcome as FluidOutcome;
use sojourn_scenario::metrics::{Metrics, Reading};
use sojourn_sim::{Balance, Elsewhere, LinkOutcome, Outcome, Row};

/// What was seen at one link, or of the classes that no link sees.
#[derive(Default)]
pub(super) struct Seen {
    /// The link's name; None for those classes.
    pub(super) link: Option<String>,
    /// The label of its disc; None where there is no link, and where a law of the caller's own stood in its place.
    pub(super) disc: Option<String>,
    /// Rows as JSON objects.
    pub(super) rows: Vec<Value>,
    /// Series by name, `time_s` first.
    pub(super) series: Vec<(String, Vec<f64>)>,
    /// Sojourn times, s, and the share at or below.
    pub(super) sojourns: Vec<(f64, f64)>,
}

/// What a run in the packet plant has brought.
pub(super) fn of_packets(outcome: Outcome) -> Vec<Seen> {
    let Outcome { links, elsewhere, .. } = outcome;
    links.into_iter().map(at_link).chain(not_at_links(&elsewhere)).collect()
}

fn at_link(of: LinkOutcome) -> Seen {
    let classes = of.classes.iter().map(|(class, row)| row_of(row, Some(class)));
    Seen {
        rows: std::iter::once(row_of(&of.all, None)).chain(classes).collect(),
        series: of.series.columns().map(|(name, values)| (name, values.to_vec())).collect(),
        link: Some(of.link),
        disc: of.disc,
        sojourns: of.sojourn_distribution,
    }
}

fn not_at_links(of: &Elsewhere) -> Option<Seen> {
    let rows = of.classes.iter().map(|(class, metrics)| row(metrics, Some(class), json!({})));
    let series = of.series.columns().map(|(name, values)| (name, values.to_vec()));
    (!of.classes.is_empty()).then(|| Seen {
        rows: rows.collect(),
        series: series.collect(),
        ..Seen::default()
    })
}

/// The same of the fluid plant, which counts no packets.
pub(super) fn of_fluid(outcome: FluidOutcome) -> Vec<Seen> {
    let FluidOutcome { links, elsewhere: (classes, columns) } = outcome;
    let links = links.into_iter().map(|of| {
        let rows = of.classes.iter().map(|(class, metrics)| row(metrics, Some(class), json!({})));
        Seen {
            rows: std::iter::once(row(&of.all, None, json!({}))).chain(rows).collect(),
            link: Some(of.link),
            disc: of.disc,
            series: of.series,
            sojourns: of.sojourn_distribution,
        }
    });
    let rows: Vec<Value> =
        classes.iter().map(|(class, metrics)| row(metrics, Some(class), json!({}))).collect();
    let elsewhere = (!rows.is_empty()).then(|| Seen { rows, series: columns, ..Seen::default() });
    links.chain(elsewhere).collect()
}

fn row_of(of: &Row, class: Option<&String>) -> Value {
    let Balance { offered, delivered, dropped, held } = of.balance;
    let packets = json!({ "offered": offered, "delivered": delivered, "dropped": dropped, "held": held });
    row(&of.metrics, class, packets)
}

#[allow(clippy::needless_pass_by_value)] // as `json!` has it
fn row(metrics: &Metrics, class: Option<&String>, packets: Value) -> Value {
    let metrics = metrics.iter().map(|(name, reading)| ((*name).to_string(), json_of(reading)));
    json!({ "class": class, "metrics": metrics.collect::<Map<String, Value>>(), "conservation": packets })
}

fn json_of(reading: &Reading) -> Value {
    match reading {
        Reading::Absent => Value::Null,
        Reading::Number(number) => json!(number),
        Reading::List(items) => json!(items),
    }
}
