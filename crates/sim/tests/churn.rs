//! Flows that come and go, as scenario files have them.

use sojourn_measure::{LinkOutcome, Reading, Row};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

const HEAD: &str = "title = 'churn'\nduration = '20 s'\n[bottleneck]\nrate = '10 Mbit/s'\ndelay = '10 ms'\n\
                    buffer = '100 packets'\nqdisc = 'red'\n";

fn run(flows: &str) -> LinkOutcome {
    run_file(&format!("{HEAD}{flows}"))
}

fn run_file(text: &str) -> LinkOutcome {
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]);
    let mut run = Run::new(&scenario.unwrap_or_else(|errors| panic!("{errors}")), 1);
    while run.advance() {}
    run.finish().links.remove(0)
}

fn row<'a>(link: &'a LinkOutcome, class: &str) -> &'a Row {
    &link.classes.iter().find(|(name, _)| name == class).expect(class).1
}

fn number(row: &Row, name: &str) -> f64 {
    match row.metrics.iter().find(|(key, _)| *key == name) {
        Some((_, Reading::Number(number))) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

/// Measurements of classes with arrivals are attributed to the right class, whatever their flows' numbers are.
#[test]
fn classes_with_arrivals_are_measured_separately() {
    let link = run(
        "[[flows]]\nname = 'visits'\napp = { transfer = { size = '30 kB' } }\narrivals = { poisson = '200 ms' }\n\
         [[flows]]\nname = 'comers'\narrivals = { every = '2 s', batch = 2 }\nlifetime = '1 s'\n",
    );
    let (visits, comers) = (row(&link, "visits"), row(&link, "comers"));
    // A hundred visits of 30 kB on average, 240 kbit each.
    let (done, goodput) = (number(visits, "completed_flows"), number(visits, "goodput_bps"));
    assert!((70.0..130.0).contains(&done), "{done}");
    assert!((goodput * 20.0 / (done * 240e3) - 1.0).abs() < 0.05, "{goodput} bit/s of {done}");
    assert!(number(comers, "goodput_bps") > 1e6);
    // Nine times two flows: at 2 s, 4 s and so on, each for a second.
    assert!(number(comers, "bottleneck_packets") > 1000.0);
}

/// The schedule sets the number of flows from a given time on.
#[test]
fn the_schedule_changes_the_number_of_flows() {
    let link = run("[[flows]]\nname = 'a'\ncount = 8\n[[flows]]\nname = 'b'\ncount = 2\n\
                    [[at]]\ntime = '5 s'\nset = { 'a.count' = 0 }\n[[at]]\ntime = '15 s'\nset = { 'a.count' = 4 }\n");
    let goodput = |class: &str, from: usize, to: usize| {
        let column = link
            .series
            .columns()
            .find(|(name, _)| *name == format!("goodput_bps.{class}"))
            .unwrap()
            .1
            .to_vec();
        let time = &link.series.time_s;
        let inside: Vec<f64> = time
            .iter()
            .zip(column)
            .filter(|(at, _)| (from as f64..to as f64).contains(*at))
            .map(|(_, v)| v)
            .collect();
        inside.iter().sum::<f64>() / inside.len() as f64
    };
    assert!(goodput("a", 1, 5) > 4e6);
    assert_eq!(goodput("a", 9, 15), 0.0, "all losses were retransmitted long ago");
    assert!(goodput("b", 8, 15) > 8e6);
    assert!(goodput("a", 16, 20) > 2e6);
}

/// A flow created but not started belongs to its class all the same: half of these leave on arrival.
#[test]
fn a_flow_that_has_not_started_belongs_to_its_class() {
    let packets = |other: &str| {
        let link = run(&format!(
            "[[flows]]\nname = 'a'\nlifetime = {{ table = [['0 s', 0.5], ['1 s', 0.5]] }}\narrivals = {{ every = '1 s' }}\n\
             cc = 'reno'\n[[flows]]\nname = 'b'\n{other}"
        ));
        number(row(&link, "a"), "bottleneck_packets")
    };
    let alone = packets("app = 'ping:every=10s'\n");
    let beside = packets("app = 'transfer:size=1kB'\narrivals = { poisson = '300 ms' }\n");
    assert!(alone > 1000.0 && (beside / alone - 1.0).abs() < 0.2, "{beside} for {alone}");
}

/// A packet held back for longer than a hundred connections last is discarded.
#[test]
fn very_late_packets_are_discarded() {
    let done = |late: &str| {
        let link = run_file(&format!(
            "title = 'late'\nduration = '20 s'\n[bottleneck]\nrate = '100 Mbit/s'\ndelay = '1 ms'\n\
             buffer = '1000 packets'\nimpairments = {{ reorder = {{ probability = 0.002, late = '{late}' }} }}\n\
             [[flows]]\napp = 'mice:size=1packet'\ncount = 4\ntcp = {{ delayed_ack = false }}\n"
        ));
        number(&link.all, "completed_flows")
    };
    // Each packet held back costs its flow a timeout, a second, which ends that connection.
    let [soon, later, last] = ["1500 ms", "3 s", "6 s"].map(done);
    assert!(soon > 10_000.0 && [later, last] == [soon; 2], "{soon}, {later}, {last}");
}

/// Four transfers are done long before 5 s. Ended flows still count: only a fifth one starts.
#[test]
fn an_ended_flow_does_not_restart() {
    let done = |count: u32| {
        let link = run(&format!(
            "[[flows]]\nname = 'a'\napp = 'transfer:size=100kB'\ncount = 4\n[[flows]]\nname = 'b'\napp = 'ping'\n\
             [[at]]\ntime = '5 s'\nset = {{ 'a.count' = {count} }}\n"
        ));
        number(row(&link, "a"), "completed_flows")
    };
    assert_eq!([3, 4, 5].map(done), [4.0, 4.0, 5.0]);
}
