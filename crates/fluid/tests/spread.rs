//! Flows of a class over unlike round trips.

use sojourn_fluid::Run;
use sojourn_fluid::prove::{Request, certificate};
use sojourn_measure::{Metrics, Outcome, Reading};
use sojourn_scenario::Scenario;

const PI: &str = "{ pi = { target = \"100 packets\" } }";

/// Groups of so many flows with this access delay, in a form of a scenario, behind a link with this qdisc, and further lines.
fn scenario(groups: &[(u32, String)], qdisc: &str, lines: &str) -> Scenario {
    let mut text = format!(
        "title = \"t\"\nduration = \"60 s\"\nwarmup = \"30 s\"\n{lines}\n[bottleneck]\nrate = \"20 Mbit/s\"\n\
         delay = \"2 ms\"\nbuffer = \"1000 packets\"\nqdisc = {qdisc}\n"
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
        let [whole, parts] = [&whole[..], &parts[..]].map(|groups| run(&scenario(groups, PI, lines)));
        let (whole, parts) = (&whole.links[0], &parts.links[0]);
        let (found, expected) = (values(&whole.all.metrics), values(&parts.all.metrics));
        assert!(found.len() > 10 && found.len() == expected.len(), "{found:?} {expected:?}");
        for ((name, ours), (_, other)) in found.iter().zip(&expected) {
            assert!((ours - other).abs() <= 1e-5 * other.abs().max(1e-3), "{name}: {ours}, not {other}");
        }
    }
}

fn mark_ratio(of: &Outcome, link: usize) -> f64 {
    let metrics = values(&of.links[link].all.metrics);
    metrics.iter().find(|(name, _)| name == "mark_ratio").unwrap().1
}

/// The flows of a class that share a queue are no more alike than those of a link: one class under a scheduler is its law alone,
/// in the plant and in a certificate.
#[test]
fn a_queue_of_a_class_has_flows_of_unlike_round_trips() {
    let groups = [(40, "{ spread = [\"1 ms\", \"150 ms\"] }".to_string())];
    let by_class = format!("{{ drr = {{ by = \"class\", law = {PI} }} }}");
    let [alone, queue] = [PI, &by_class].map(|qdisc| {
        let scenario = scenario(&groups, qdisc, "");
        let proven = certificate(&Request { scenario: &scenario, link: None, own: None }).unwrap();
        (proven.equilibrium.unwrap().p, mark_ratio(&run(&scenario), 0))
    });
    assert!((queue.0 / alone.0 - 1.0).abs() < 1e-9, "{queue:?} {alone:?}");
    assert!((queue.1 / alone.1 - 1.0).abs() < 1e-3, "{queue:?} {alone:?}");
    // The plant still settles.
    assert!((alone.1 / alone.0 - 1.0).abs() < 0.05, "{alone:?}");
}

/// A scheduler at a faster link does not make the rates of flows alike.
#[test]
fn flows_are_split_behind_the_scheduler_of_a_faster_link() {
    let run = |qdisc: &str| {
        let text = format!(
            "title = \"t\"\nduration = \"60 s\"\nwarmup = \"30 s\"\n\
             [[links]]\nname = \"up\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
             buffer = \"1000 packets\"\nqdisc = {qdisc}\n\
             [[links]]\nname = \"down\"\nfrom = \"b\"\nto = \"c\"\nrate = \"20 Mbit/s\"\ndelay = \"1 ms\"\n\
             buffer = \"1000 packets\"\nqdisc = {PI}\n\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"c\"\ncount = 40\ncc = \"newreno\"\necn = true\n\
             segment = \"1000 B\"\naccess = {{ rate = \"1 Gbit/s\", delay = {{ spread = [\"1 ms\", \"150 ms\"] }} }}\n"
        );
        let found = run(&Scenario::parse(text.as_bytes(), "test", &[]).unwrap());
        let down = found.links.iter().position(|link| link.link == "down").unwrap();
        mark_ratio(&found, down)
    };
    let [plain, fair] = ["\"pie\"", "\"fq_pie\""].map(run);
    assert!((fair / plain - 1.0).abs() < 0.01, "{fair} {plain}");
}
