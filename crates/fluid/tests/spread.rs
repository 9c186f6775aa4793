//! Flows of a class over unlike round trips.

use sojourn_fluid::Run;
use sojourn_measure::{Metrics, Outcome, Reading};
use sojourn_scenario::Scenario;

/// Groups of so many flows with this access delay, in a form of a scenario, and further lines.
fn scenario(groups: &[(u32, String)], lines: &str) -> Scenario {
    let mut text = format!(
        "title = \"t\"\nduration = \"60 s\"\nwarmup = \"30 s\"\n{lines}\n[bottleneck]\nrate = \"20 Mbit/s\"\n\
         delay = \"2 ms\"\nbuffer = \"1000 packets\"\nqdisc = {{ pi = {{ target = \"100 packets\" }} }}\n"
    );
    for (place, (count, delay)) in groups.iter().enumerate() {
        text += &format!(
            "[[flows]]\nname = \"g{place}\"\ncount = {count}\ncc = \"newreno\"\necn = true\nsegment = \"1000 B\"\n\
             start = \"0 s\"\naccess = {{ rate = \"1 Gbit/s\", delay = {delay} }}\n"
        );
    }
    Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn run(scenario: &Scenario) -> Outcome {
    let mut run = Run::new(scenario).unwrap();
    while run.advance() {}
    run.finish()
}

fn values(of: &Metrics) -> Vec<(String, f64)> {
    let number = |(name, reading): &(&str, Reading)| match reading {
        Reading::Number(value) => Some(((*name).to_string(), *value)),
        _ => None,
    };
    of.iter().filter_map(number).collect()
}

/// The access delays, ms, of five flows each: 40 flows over 1 to 150 ms.
fn delays(part: u32) -> f64 {
    1.0 + 149.0 / 39.0 * (5.0 * f64::from(part) + 2.0)
}

/// A class of spread round trips is as many classes as a certificate makes of it, written one by one: in all metrics of the link.
#[test]
fn spread_flows_are_classes_of_alike_round_trips() {
    let whole = [(40, "{ spread = [\"1 ms\", \"150 ms\"] }".to_string())];
    let parts: Vec<(u32, String)> = (0..8).map(|part| (5, format!("\"{:.6} ms\"", delays(part)))).collect();
    for lines in ["", "[[at]]\ntime = \"40 s\"\nset = { 'bottleneck.delay' = '9 ms' }"] {
        let [whole, parts] = [&whole[..], &parts[..]].map(|groups| run(&scenario(groups, lines)));
        let (whole, parts) = (&whole.links[0], &parts.links[0]);
        let (found, expected) = (values(&whole.all.metrics), values(&parts.all.metrics));
        assert!(found.len() > 10 && found.len() == expected.len(), "{found:?} {expected:?}");
        for ((name, ours), (_, other)) in found.iter().zip(&expected) {
            assert!((ours - other).abs() <= 1e-5 * other.abs().max(1e-3), "{name}: {ours}, not {other}");
        }
    }
}
