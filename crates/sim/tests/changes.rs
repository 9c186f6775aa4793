//! Changes during a run: responses of laws and links.

use sojourn_measure::{LinkOutcome, Reading, Series};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// 50 long flows on 10 Mbit/s (1250 packets/s), base RTT 200 ms.
const HEAD: &str = r#"
title = "Changes"
duration = "160 s"
sample = "100 ms"
[bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "300 packets"
qdisc = "QDISC"
[[flows]]
count = 50
ecn = true
segment = "1000 B"
access = { rate = "100 Mbit/s", delay = { spread = ["38 ms", "42 ms"] } }
"#;

fn run(qdisc: &str, at: &str, overrides: &[(&str, &str)]) -> Series {
    run_and_count(qdisc, at, overrides).0
}

/// The series, and the packets that the link delivered.
fn run_and_count(qdisc: &str, at: &str, overrides: &[(&str, &str)]) -> (Series, f64) {
    let link = outcome(qdisc, at, overrides);
    (link.series, link.all.balance.unwrap().delivered as f64)
}

fn outcome(qdisc: &str, at: &str, overrides: &[(&str, &str)]) -> LinkOutcome {
    outcome_of(1, qdisc, at, overrides)
}

fn outcome_of(seed: u64, qdisc: &str, at: &str, overrides: &[(&str, &str)]) -> LinkOutcome {
    let text = format!("{}{at}", HEAD.replace("QDISC", qdisc));
    let set: Vec<_> = overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario = Scenario::parse(text.as_bytes(), "test", &set).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, seed);
    while run.advance() {}
    run.finish().links.remove(0)
}

/// The mean of a column between two times, s.
fn mean(series: &Series, column: &[f64], [from, to]: [f64; 2]) -> f64 {
    let inside = series.time_s.iter().zip(column).filter(|(time, _)| (from..to).contains(*time));
    let values: Vec<f64> = inside.map(|(_, value)| *value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Backlog in the second half of each half of the run.
fn halves(series: &Series, column: &[f64]) -> [f64; 2] {
    [mean(series, column, [40.0, 80.0]), mean(series, column, [120.0, 160.0])]
}

/// Each law holds its second target as closely as its first one.
#[test]
fn a_target_that_changes_at_half_time_is_held() {
    let at = "[[at]]\ntime = '80 s'\nset = { 'bottleneck.qdisc.target' = '60 packets' }\n";
    for (law, accuracy) in
        [("pi", 4.0), ("pid", 4.0), ("pi_pd", 4.0), ("cpc", 4.0), ("arm_pfc", 4.0), ("rem", 10.0)]
    {
        let series = run(&format!("{law}:target=120packets"), at, &[]);
        let held = halves(&series, &series.queue_packets);
        for (held, target) in held.into_iter().zip([120.0, 60.0]) {
            assert!((held - target).abs() < accuracy, "{law}: {held} at {target}");
        }
    }
}

/// PIE and PI2 are designed for round trips of 100 ms and are somewhat off at 200 ms, as much as with that target
/// from the start.
#[test]
fn a_new_target_is_held_as_if_set_from_the_start() {
    let at = "[[at]]\ntime = '80 s'\nset = { 'bottleneck.qdisc.target' = '80 ms' }\n";
    for law in ["pie", "pi2", "docsis_pie"] {
        let both = run(&format!("{law}:target=40ms"), at, &[]);
        let held = halves(&both, &both.sojourn_s);
        let usual = ["40ms", "80ms"].map(|target| {
            let one = run(&format!("{law}:target={target}"), "", &[]);
            mean(&one, &one.sojourn_s, [80.0, 160.0])
        });
        for (held, usual) in held.into_iter().zip(usual) {
            assert!((held / usual - 1.0).abs() < 0.1, "{law}: {held}, {usual}");
        }
    }
}

/// Changes apply at their times alone: the link is half as fast in every second second, until 120 s.
#[test]
fn a_link_that_changes_periodically_is_full() {
    let at = "[[at]]\ntime = '1 s'\nevery = '2 s'\nuntil = '120 s'\nset = { 'bottleneck.rate' = '5 Mbit/s' }\n\
              [[at]]\ntime = '2 s'\nevery = '2 s'\nuntil = '120 s'\nset = { 'bottleneck.rate' = '10 Mbit/s' }\n";
    let (_, delivered) = run_and_count("tail_drop", at, &[]);
    // 160 s at 1250 packets/s, less 60 s at half of that; the first second of the flows fills no link.
    let capacity = 160.0 * 1250.0 - 60.0 * 625.0;
    assert!((0.99 * capacity..=capacity).contains(&delivered), "{delivered} of {capacity}");
}

/// A law's period that changes back and forth: PI at 160 Hz and at 20 Hz holds its target.
#[test]
fn a_law_holds_its_target_while_its_period_changes() {
    let at = "[[at]]\ntime = '1.013 s'\nevery = '2 s'\nset = { 'bottleneck.qdisc.rate' = '20 Hz' }\n\
              [[at]]\ntime = '2.017 s'\nevery = '2 s'\nset = { 'bottleneck.qdisc.rate' = '160 Hz' }\n";
    let series = run("pi:target=100packets", at, &[]);
    let held = mean(&series, &series.queue_packets, [80.0, 160.0]);
    assert!((held - 100.0).abs() < 5.0, "{held}");
}

/// Setting parameters to their present values changes nothing, to the bit.
#[test]
fn a_law_under_its_own_parameters_runs_as_before() {
    let at =
        "[[at]]\ntime = '0.5 s'\nevery = '130 ms'\nset = { 'bottleneck.qdisc.target' = '100 packets' }\n";
    for law in [
        "pi:target=100packets",
        "arm_pfc:target=100packets",
        "cpc:target=100packets",
        "pi_pd:target=100packets",
    ] {
        let [plain, set] = ["", at].map(|at| run(law, at, &[("duration", "30 s")]));
        assert_eq!(plain.queue_packets, set.queue_packets, "{law}");
        assert_eq!(plain.p, set.p, "{law}");
    }
}

/// A tenth of a target of hundreds of packets is well beyond the noise: every run settles at both targets. About the
/// wrong target none would.
#[test]
fn a_queue_settles_about_the_present_target() {
    let at = "[[at]]\ntime = '80 s'\nset = { 'bottleneck.qdisc.target' = '400 packets' }\n";
    let set = [
        ("warmup", "20 s"),
        ("flows.0.count", "60"),
        ("flows.0.access.delay", "8 ms"),
        ("bottleneck.delay", "5 ms"),
        ("bottleneck.buffer", "1000 packets"),
    ];
    for seed in 1..=4 {
        let outcome = outcome_of(seed, "arm_pfc:target=800packets", at, &set);
        let metric = outcome.all.metrics.iter().find(|(key, _)| *key == "settling_s");
        let Some((_, Reading::List(settled))) = metric else { panic!("{metric:?}") };
        assert!(settled.len() == 2 && settled.iter().all(Option::is_some), "seed {seed}: {settled:?}");
    }
}

/// Settling and overshoot are measured from each change on, about the present target, and so is QACD.
#[test]
fn metrics_are_about_the_present_target() {
    let at = "[[at]]\ntime = '80 s'\nset = { 'bottleneck.qdisc.target' = '50 packets' }\n";
    let rows = [("pi:target=150packets", at), ("pi:target=150packets", ""), ("pi:target=50packets", "")]
        .map(|(qdisc, at)| metrics(qdisc, at, &[("warmup", "20 s")]));
    let [both, first, second] = &rows;
    let list = |row: &Metrics, name: &str| match &row.iter().find(|(key, _)| *key == name).unwrap().1 {
        Reading::List(values) => values.clone(),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(list(both, "settling_s").len(), 2);
    // From 150 packets down to 50 the queue begins 100 packets above its target.
    let above = list(both, "overshoot_packets")[1].unwrap();
    assert!((80.0..140.0).contains(&above), "{above}");
    let qacd = |row: &Metrics| match row.iter().find(|(key, _)| *key == "qacd_packets").unwrap().1 {
        Reading::Number(value) => value,
        ref other => panic!("{other:?}"),
    };
    // Beyond the deviations at each target there is the transition between them, a seventh of the time.
    let alone = qacd(first).max(qacd(second));
    assert!(qacd(both) < alone + 100.0 / 7.0_f64.sqrt(), "{} {alone}", qacd(both));
}

/// A schedule in milliseconds: the lists end with the hundredth change.
#[test]
fn a_thousand_changes_make_no_thousand_entries() {
    let at = "[[at]]\ntime = '1 ms'\nevery = '1 ms'\nset = { 'bottleneck.rate' = '9 Mbit/s' }\n";
    let row = metrics("pi:target=100packets", at, &[("duration", "2 s")]);
    for name in ["settling_s", "overshoot_packets"] {
        let Reading::List(values) = &row.iter().find(|(key, _)| *key == name).unwrap().1 else { panic!() };
        assert_eq!(values.len(), 101, "{name}");
    }
}

type Metrics = Vec<(&'static str, Reading)>;

fn metrics(qdisc: &str, at: &str, overrides: &[(&str, &str)]) -> Metrics {
    outcome(qdisc, at, overrides).all.metrics
}
