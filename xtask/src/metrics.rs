//! `python/sojourn/result/metrics.py`: the metrics as columns of tables.

use sojourn_measure::{CLASS_BRIEF, CLASS_SUMMARY, Display, METRICS, Metric, SUMMARY, Scope, WINDOW_METRICS};

/// Text of the module.
pub(crate) fn module() -> String {
    let mut text = HEAD.to_string();
    for metric in METRICS {
        text += &metric.display.map_or(String::new(), |display| column(metric.name, &display));
    }
    let named = |metric: &Metric| format!("\"{}\"", metric.name);
    let filtered = |keep: fn(&Metric) -> bool| METRICS.iter().filter(|of| keep(of)).map(named).collect();
    let constants = |names: &[&str]| names.iter().map(|name| constant(name)).collect();
    let quoted = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect();
    let tuples: [(&str, &str, Vec<String>); 6] = [
        ("SUMMARY", "Columns of a summary of qdiscs.", constants(SUMMARY)),
        ("CLASS_SUMMARY", "Columns of a table of classes of traffic.", constants(CLASS_SUMMARY)),
        ("CLASS_BRIEF", "Metrics of a short table of classes.", quoted(CLASS_BRIEF)),
        ("LATER", "Metrics that older results lack.", filtered(|metric| metric.is_later)),
        ("END_TO_END", "Metrics of flows from end to end.", filtered(|metric| metric.scope == Scope::Flows)),
        ("LISTS", "Metrics with an entry per stretch between changes.", filtered(|of| of.is_per_stretch)),
    ];
    for (name, about, items) in &tuples {
        text += &tuple(about, name, items);
    }
    text += "#: All columns.\nALL = tuple(dict.fromkeys((*SUMMARY, *CLASS_SUMMARY)))\n";
    text += "#: Meanings of the columns' metrics.\nABOUT = {\n";
    for metric in METRICS.iter().filter(|metric| metric.display.is_some()) {
        text += &format!("    \"{}\": \"{}\",\n", metric.name, metric.about);
    }
    text += "}\n#: Units of all metrics, last those that windows of time alone have.\nUNITS = {\n";
    for metric in METRICS.iter().chain(WINDOW_METRICS) {
        text += &format!("    \"{}\": \"{}\",\n", metric.name, metric.unit);
    }
    text + "}\n"
}

fn column(name: &str, display: &Display) -> String {
    let Display { label, unit, scale, bounds: [least, most] } = *display;
    let mut text = format!("{} = Column(\"{name}\", \"{label}\", \"{unit}\"", constant(name));
    if scale != 1.0 {
        text += &format!(", {scale:?}");
    }
    if least != 0.0 {
        text += if least.is_finite() { ", least={least:?}" } else { ", least=None" };
    }
    if most.is_finite() {
        text += &format!(", most={most:?}");
    }
    text + ")\n"
}

fn tuple(about: &str, name: &str, items: &[String]) -> String {
    let one_line = format!("{name} = ({})\n", items.join(", "));
    if one_line.len() <= WIDTH && items.len() > 1 {
        return format!("#: {about}\n{one_line}");
    }
    format!(
        "#: {about}\n{name} = (\n{})\n",
        items.iter().map(|item| format!("    {item},\n")).collect::<String>()
    )
}

fn constant(metric: &str) -> String {
    metric.to_uppercase()
}

/// Columns of a line of Python, with its end.
const WIDTH: usize = 111;

const HEAD: &str = r#""""The metrics as columns of tables.

Generated from crates/measure by `cargo run -p xtask -- generate`: change its definition there, not this file.
"""
# ruff: noqa: E501

from __future__ import annotations

from sojourn.result.column import Column

"#;
