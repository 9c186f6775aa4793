//! Random links and parameters, for ordeals.

use sojourn_aqm::{Limit, LinkContext};
use sojourn_params::{Field, Kind, Value};
use sojourn_random::Stream;
use sojourn_units::{Rate, Span};

/// A link and a buffer.
pub(crate) fn place(draws: &mut Stream) -> (LinkContext, Limit) {
    let packet = between(draws, 64.0, 1500.0).round();
    let limit = match draws.uniform() {
        ..0.2 => Limit::Unlimited,
        ..0.8 => Limit::Packets(between(draws, 1.0, 500.0) as u32),
        _ => Limit::Bytes(between(draws, 1500.0, 5e5) as u64),
    };
    let known = |draws: &mut Stream| draws.uniform() < 0.7;
    let context = LinkContext {
        rate: Rate::from_bits_per_second(between(draws, 1e5, 1e9)),
        packet,
        limit: limit.packets(packet),
        flows: known(draws).then(|| between(draws, 1.0, 1e4).round()),
        base_rtt: known(draws).then(|| Span::from_seconds(between(draws, 1e-3, 1.0))),
    };
    (context, limit)
}

/// A random value of the parameter's kind, valid or not.
pub(crate) fn value(field: &Field, draws: &mut Stream) -> Value {
    let text = |number: f64, unit: &str| Value::Text(format!("{number} {unit}"));
    match &field.kind {
        Kind::Queue => text(between(draws, 0.1, 300.0), "packets"),
        Kind::Time => text(between(draws, 1e-4, 1.0), "s"),
        Kind::Rate => text(between(draws, 1e5, 1e9), "bit/s"),
        Kind::Frequency => text(between(draws, 0.1, 1e4), "Hz"),
        Kind::Size => text(between(draws, 1.0, 1e5).round(), "B"),
        Kind::Number => Value::Number(between(draws, 1e-6, 2.0)),
        Kind::NumberOr(words) if draws.uniform() < 0.2 => Value::Text(words[0].into()),
        Kind::NumberOr(_) => Value::Number(between(draws, 0.1, 8.0)),
        Kind::Whole | Kind::Packets => Value::Whole(between(draws, 1.0, 30.0) as i64),
        Kind::Wholes => {
            let near = between(draws, 2.0, 30.0) as i64;
            let far = near + between(draws, 1.0, 10.0) as i64;
            Value::List(
                [near, far][..if draws.uniform() < 0.5 { 1 } else { 2 }]
                    .iter()
                    .map(|h| Value::Whole(*h))
                    .collect(),
            )
        }
        Kind::Flag => Value::Flag(draws.uniform() < 0.5),
        Kind::Word(words) => Value::Text(words[(draws.uniform() * words.len() as f64) as usize].into()),
        Kind::Entry(catalogue) => {
            let pages = (catalogue.pages)();
            let page = &pages[(draws.uniform() * pages.len() as f64) as usize];
            // Required parameters, such as the rate of a shaper.
            let required = (page.fields)().into_iter().filter(|field| field.is_required);
            let params: Vec<(String, Value)> =
                required.map(|field| (field.key.to_string(), value(&field, draws))).collect();
            Value::Table(vec![(page.stem.into(), Value::Table(params))])
        }
        Kind::Form(example) if example.contains("call") => {
            let class = (draws.uniform() * 3.0) as usize;
            Value::Table(vec![(format!("class{class}"), Value::Number(between(draws, 0.1, 10.0)))])
        }
        Kind::Form(_) => Value::Text("ethernet".into()),
        Kind::Keys(fields) if fields().iter().all(|field| field.key != "classes") => {
            let mut drawn = fields();
            drawn.retain(|_| draws.uniform() < 0.3);
            Value::Table(drawn.iter().map(|field| (field.key.to_string(), value(field, draws))).collect())
        }
        Kind::Keys(_) => Value::Table(vec![
            ("classes".into(), Value::List(vec![Value::Text("class1".into())])),
            ("rate".into(), text(between(draws, 1e4, 1e6), "bit/s")),
        ]),
        Kind::List(_) => Value::List(vec![Value::Text("class2".into()), Value::Text("class0".into())]),
        other => panic!("{}: a {other} cannot be drawn yet", field.key),
    }
}

/// A draw whose logarithm is uniform.
pub(crate) fn between(draws: &mut Stream, low: f64, high: f64) -> f64 {
    low * sojourn_units::math::pow(high / low, draws.uniform())
}

/// A number of the environment.
pub(crate) fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}: \"{text}\" is not a whole number")),
        Err(_) => default,
    }
}
