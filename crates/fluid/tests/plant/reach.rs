//! Reach of the plant's history.

use sojourn_fluid::Run;
use sojourn_measure::Reading;
use sojourn_scenario::Scenario;

/// Metrics of the link where its rate or its delay changes. Its longest queue is 300 packets.
fn metrics(flows: &str, change: &str, buffer: &str) -> Vec<(String, f64)> {
    let text = format!(
        "title = \"t\"\nduration = \"8 s\"\nwarmup = \"4 s\"\n[bottleneck]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\n\
         buffer = \"{buffer}\"\nqdisc = {{ red = {{ min = \"100 packets\", max = \"300 packets\", max_p = 0.1, weight = 0.002 }} }}\n\
         [[at]]\ntime = \"4 s\"\nset = {{ {change} }}\n\
         [[flows]]\ncount = 20\nstart = \"0 s\"\nsegment = \"1000 B\"\n{flows}\n"
    );
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]);
    let mut run = Run::new(&scenario.unwrap_or_else(|errors| panic!("{errors:?}"))).unwrap();
    while run.advance() {}
    let outcome = run.finish();
    let number = |(name, reading): &(&str, Reading)| match reading {
        Reading::Number(value) => Some(((*name).to_string(), *value)),
        _ => None,
    };
    outcome.links[0].all.metrics.iter().filter_map(number).collect()
}

/// A buffer that never fills changes nothing, although it is what the plant takes the longest wait from.
#[test]
fn a_slower_link_or_a_longer_path_finds_its_signals() {
    for flows in ["ecn = true", "ecn = false", "ecn = true\ncc = \"dctcp\""] {
        for change in ["'bottleneck.rate' = '5 Mbit/s'", "'bottleneck.delay' = '200 ms'"] {
            let [short, long] = ["600 packets", "60000 packets"].map(|buffer| metrics(flows, change, buffer));
            assert!(short.len() > 10 && short.len() == long.len());
            for ((name, ours), (_, other)) in short.iter().zip(&long) {
                assert!(
                    (ours - other).abs() <= 1e-9 * other.abs().max(1e-3),
                    "{flows}, {change}, {name}: {ours}, not {other}"
                );
            }
        }
    }
}
