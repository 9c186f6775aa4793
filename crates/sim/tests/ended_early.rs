//! A run that ends early has the outcome of one of so long a duration.

use sojourn_scenario::Scenario;
use sojourn_sim::Run;
use sojourn_units::Time;

fn scenario(duration: &str, windows: &str, more: &str) -> Scenario {
    let text = format!(
        r#"
        windows = [{windows}]
        title = "Ended early"
        duration = "{duration}"
        warmup = "2 s"
        sample = "50 ms"
        [bottleneck]
        rate = "10 Mbit/s"
        delay = "10 ms"
        buffer = "200 packets"
        qdisc = "pi2"
        [[flows]]
        name = "bulk"
        count = 4
        cc = "cubic"
        access = {{ rate = "1 Gbit/s", delay = "5 ms" }}
        [[flows]]
        name = "probe"
        app = "ping"
        access = {{ rate = "1 Gbit/s", delay = "5 ms" }}
        [[flows]]
        name = "voip"
        app = "voip"
        access = {{ rate = "1 Gbit/s", delay = "5 ms" }}
        {more}
        "#
    );
    Scenario::parse(text.as_bytes(), "early.toml", &[]).expect("a scenario")
}

/// Runs up to an early end; its time.
fn ended(run: &mut Run, after: f64, scenario: &Scenario) -> Option<Time> {
    while run.progress() * scenario.duration.seconds() < after && run.advance_some(500) {}
    let end = run.end_early()?;
    while run.advance_some(500) {}
    Some(end)
}

#[test]
fn the_outcome_is_that_of_a_run_of_so_long() {
    let long = scenario("40 s", "", "");
    let mut early = Run::new(&long, 3);
    let end = ended(&mut early, 7.3, &long).expect("it has measured");
    assert!((8.3..8.6).contains(&end.seconds()), "{end:?}");
    let whole = scenario(&format!("{} s", end.seconds()), "", "");
    let mut run = Run::new(&whole, 3);
    while run.advance() {}
    let (found, expected) = (early.finish(), run.finish());
    assert_eq!(format!("{:?}", found.links), format!("{:?}", expected.links));
}

#[test]
fn windows_that_end_by_then_have_their_rows() {
    let change = "[[at]]\ntime = \"4 s\"\nset = { \"bottleneck.rate\" = \"8 Mbit/s\" }";
    let long = scenario("40 s", "\"3 s..6 s\", \"20 s..30 s\", \"every 2 s\"", change);
    let mut early = Run::new(&long, 3);
    let end = ended(&mut early, 7.3, &long).expect("it has measured");
    let rows = early.finish_with_windows().1;
    assert!(rows.iter().all(|row| row.until_s <= end.seconds()));
    let whole = scenario(&format!("{} s", end.seconds()), "\"3 s..6 s\"", change);
    let mut run = Run::new(&whole, 3);
    while run.advance() {}
    let expected = run.finish_with_windows().1;
    let of_first: Vec<String> =
        rows.iter().filter(|row| row.entry == 0).map(|row| format!("{:?}", row.metrics)).collect();
    assert_eq!(of_first, expected.iter().map(|row| format!("{:?}", row.metrics)).collect::<Vec<_>>());
    let parts: Vec<f64> = rows.iter().filter(|row| row.entry == 2).map(|row| row.until_s).collect();
    assert_eq!(parts.first().zip(parts.last()), Some((&2.0, &8.0)));
}

#[test]
fn there_is_none_before_the_end_of_the_warm_up_and_near_the_end_it_is_the_planned_one() {
    let long = scenario("40 s", "", "");
    assert_eq!(Run::new(&long, 3).end_early(), None);
    let mut run = Run::new(&long, 3);
    assert_eq!(ended(&mut run, 39.5, &long), Some(Time::ZERO + long.duration));
}
