//! What changes during a run: when, what, and what is refused.

use crate::common::{LEAST, WHOLE, as_toml, parse};
use sojourn_scenario::{Faults, Scenario, Setting};
use sojourn_units::{Rate, Span, Value};

/// [`WHOLE`], 60 s long with a PI on 10 Mbit/s and 300 packets, under another schedule.
fn schedule(at: &str) -> Result<Scenario, Faults> {
    let (head, _) = WHOLE.split_once("[[at]]").unwrap();
    parse(&format!("{head}{at}"))
}

fn told(at: &str) -> String {
    let faults = schedule(at).expect_err(at);
    let [line] = faults.lines() else { panic!("{at}: {:?}", faults.lines()) };
    line.split_once(": ").unwrap().1.into()
}

fn said(at: &str) -> Vec<String> {
    let scenario = schedule(at).unwrap_or_else(|faults| panic!("{faults}"));
    let json = as_toml(&scenario);
    assert_eq!(parse(&json).unwrap_or_else(|faults| panic!("{faults}")), scenario, "reads back");
    let told = scenario.describe();
    let lines: Vec<String> = scenario.at.iter().map(ToString::to_string).collect();
    for line in &lines {
        assert!(told.contains(line), "{line} in\n{told}");
    }
    lines
}

#[test]
fn a_change_may_come_again_and_set_everything() {
    let at = "[[at]]\ntime = '10 s'\nevery = '5 s'\nuntil = '40 s'\n\
              set = { 'bottleneck.disc.target' = '50 packets', 'bottleneck.delay' = '5 ms', 'bulk.count' = 20 }\n\
              [[at]]\ntime = '12.5 s'\nevery = '5 s'\nset.bottleneck = { rate = '5 Mbit/s', disc.b = 1.8e-5, disc.a = 2e-5 }\n";
    let expected = [
        "at 10 s and every 5 s until 40 s: bottleneck.delay = 5 ms",
        "at 10 s and every 5 s until 40 s: bottleneck.disc.target = 50 packets",
        "at 10 s and every 5 s until 40 s: bulk.count = 20",
        "at 12.5 s and every 5 s: bottleneck.rate = 5 Mbit/s",
        // The gains of one law change together.
        "at 12.5 s and every 5 s: bottleneck.disc.a = 2e-5, bottleneck.disc.b = 1.8e-5",
    ];
    let lines = said(at);
    assert_eq!(lines, expected);
    let scenario = schedule(at).unwrap();
    let Setting::Law(0, gains) = &scenario.at[4].set else { panic!("{:?}", scenario.at[4]) };
    assert_eq!(gains[..], [("a".into(), Value::Number(2e-5)), ("b".into(), Value::Number(1.8e-5))]);
    assert_eq!(scenario.at[0].set, Setting::Delay(vec![0, 1], Span::from_millis(5)));
    assert_eq!(scenario.at[3].set, Setting::Rate(vec![0, 1], Rate::from_bits_per_second(5e6)));
    assert_eq!(scenario.at[2].set, Setting::Count(0, 20));
}

#[test]
fn the_other_direction_may_change_alone() {
    let (one, both) = ("bottleneck.back.rate", "bottleneck.rate");
    let links = |key| match &schedule(&format!("[[at]]\ntime = '1 s'\nset.'{key}' = '1 Mbit/s'\n"))
        .unwrap()
        .at[0]
        .set
    {
        Setting::Rate(links, _) => links.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((links(one), links(both)), (vec![1], vec![0, 1]));
}

#[test]
fn times_are_checked() {
    let at = |when: &str| format!("[[at]]\n{when}\nset = {{ 'bottleneck.rate' = '1 Mbit/s' }}\n");
    for (when, what) in [
        ("time = '10 s'\nevery = '0 s'", "at[0].every: \"0 s\" is out of range; legal: 1 us or more"),
        ("time = '10 s'\nevery = '999 ns'", "at[0].every: \"999 ns\" is out of range; legal: 1 us or more"),
        ("time = '10 s'\nuntil = '20 s'", "at[0].until: is of a change that comes once; legal: with every"),
        (
            "time = '10 s'\nevery = '1 s'\nuntil = '9 s'",
            "at[0].until: 9 s is before the first time at 10 s; legal: time or later",
        ),
        (
            "time = '60 s'\nevery = '1 s'",
            "at[0].time: 60 s is not below the duration of 60 s; legal: below duration",
        ),
        ("every = '1 s'", "at[0].time: is missing; legal: a time such as \"20 ms\" (before duration)"),
    ] {
        assert_eq!(told(&at(when)), what);
    }
}

#[test]
fn what_nobody_has_is_told_with_the_nearest() {
    let at = |set: &str| format!("[[at]]\ntime = '10 s'\nset = {{ {set} }}\n");
    for (set, what) in [
        (
            "'botleneck.rate' = '1 Mbit/s'",
            "at[0].set.botleneck.rate: \"botleneck\" is neither a link nor a class; did you mean \"bottleneck\"? \
             (legal: bottleneck, bulk, bulk2, each with a key behind a dot)",
        ),
        ("bulk = 3", "at[0].set.bulk: unknown key (legal: bulk.count)"),
        ("'bulk.rate' = '1 Mbit/s'", "at[0].set.bulk.rate: unknown key (legal: bulk.count)"),
        ("'bulk.count' = -1", "at[0].set.bulk.count: -1 is negative; legal: 0 or more"),
        ("'bulk.count' = 1000001", "at[0].set.bulk.count: 1000001 is out of range; legal: 0 to 1000000"),
        (
            "'bottleneck.back.dely' = '1 s'",
            "at[0].set.bottleneck.back.dely: unknown key; did you mean \"bottleneck.back.delay\"? \
             (legal: bottleneck.back.rate, bottleneck.back.delay, bottleneck.back.disc.KEY)",
        ),
        (
            "'bottleneck.back.disc.target' = '5 ms'",
            "at[0].set.bottleneck.back.disc.target: \"bottleneck.back\" has no disc; legal: a link with one",
        ),
        (
            "'bottleneck.disc.targt' = '5 ms'",
            "at[0].set.bottleneck.disc.targt: no parameter of pi; did you mean \"target\"? (legal: target, a, b, rate)",
        ),
        (
            "'bottleneck.rate' = '0 bit/s'",
            "at[0].set.bottleneck.rate: 0 bit/s is out of range; legal: 1 bit/s to 1 Tbit/s",
        ),
        (
            "'bottleneck.delay' = '1 s', bottleneck.delay = '2 s'",
            "at[0].set.bottleneck.delay: is given twice; legal: each key once",
        ),
    ] {
        assert_eq!(told(&at(set)), what);
    }
    let text = WHOLE
        .replace("{ law = \"pi\", target = \"100 packets\", a = 1.822e-5, b = 1.816e-5 }", "\"tail_drop\"");
    let faults =
        parse(&text.replace("\"bottleneck.rate\" = \"6 Mbit/s\"", "\"bottleneck.disc.target\" = \"5 ms\""))
            .unwrap_err();
    assert_eq!(
        faults.lines()[0],
        "f.toml:27:9: at[0].set.bottleneck.disc.target: \"tail_drop\" has no parameters; legal: a link with another law"
    );
}

#[test]
fn a_law_is_asked_at_its_place_as_it_will_be() {
    // 300 packets; at 10 Mbit/s 200 ms are 248 packets of the mean size, at 20 Mbit/s 496.
    let target = "[[at]]\ntime = '30 s'\nset = { 'bottleneck.disc.target' = '200 ms' }\n";
    assert!(schedule(target).is_ok());
    let faster = |at: &str, more: &str| {
        format!("[[at]]\ntime = '{at}'\n{more}set = {{ 'bottleneck.rate' = '20 Mbit/s' }}\n")
    };
    assert!(
        schedule(&format!("{target}{}", faster("31 s", ""))).is_ok(),
        "the law itself does not refuse a rate"
    );
    let what = "at[0].set.bottleneck.disc.target: 200 ms is above the buffer of 300 packets; legal: within the buffer";
    assert_eq!(told(&format!("{target}{}", faster("29 s", ""))), what);
    // Of the same instant the rate comes first where it stands in the same table or before.
    assert_eq!(told(&format!("{}{target}", faster("30 s", ""))).replace("at[1]", "at[0]"), what);
    assert!(schedule(&format!("{target}{}", faster("30 s", ""))).is_ok());
    assert_eq!(
        told("[[at]]\ntime = '30 s'\nset.bottleneck = { disc.target = '200 ms', rate = '20 Mbit/s' }\n"),
        what
    );
    // Back and forth every 10 s, 10 Mbit/s at 30 s; and then one that sees the other rate once, after hours.
    let slow = "[[at]]\ntime = '10 s'\nevery = '20 s'\nset.'bottleneck.rate' = '10 Mbit/s'\n";
    let fast = faster("20 s", "every = '20 s'\n");
    assert!(schedule(&format!("{slow}{fast}{target}")).is_ok());
    let again = target.replace("time", "every = '3 s'\ntime");
    assert_eq!(told(&format!("{slow}{fast}{again}")).replace("at[2]", "at[0]"), what);
}

#[test]
fn parameters_add_up_and_must_go_together() {
    let a =
        |time: &str, a: f64| format!("[[at]]\ntime = '{time}'\nset = {{ 'bottleneck.disc.a' = {a:e} }}\n");
    let b =
        |time: &str, b: f64| format!("[[at]]\ntime = '{time}'\nset = {{ 'bottleneck.disc.b' = {b:e} }}\n");
    // From 1.822e-5 and 1.816e-5: a must stay above b.
    assert!(schedule(&format!("{}{}", a("10 s", 3e-5), b("20 s", 2e-5))).is_ok());
    let refused = told(&format!("{}{}", a("20 s", 3e-5), b("10 s", 2e-5)));
    assert_eq!(
        refused,
        "at[1].set.bottleneck.disc.b: a: 0.00001822 is not above b = 0.00002, so the integral gain a - b is not \
         positive; legal: more than b"
    );
    assert!(
        schedule("[[at]]\ntime = '10 s'\nset.bottleneck.disc = { b = 2e-5, a = 3e-5 }\n").is_ok(),
        "at once"
    );
    assert_eq!(
        told(&a("10 s", -1.0)),
        "at[0].set.bottleneck.disc.a: -1.0 is out of range; legal: more than b (designed by the rule of Hollot et al. 2002)"
    );
}

#[test]
fn another_disc_must_take_the_changes_too() {
    let scenario =
        schedule("[[at]]\ntime = '30 s'\nset = { 'bottleneck.disc.target' = '50 packets' }\n").unwrap();
    assert!(scenario.with_disc("pid").is_ok());
    let faults = scenario.with_disc("pie").unwrap_err();
    let told = "pie: does not take the change at 30 s: target: \"packets\" is not a unit of a time";
    assert!(faults.lines()[0].starts_with(told), "{faults}");
    let faults = scenario.with_disc("tail_drop").unwrap_err();
    assert!(
        faults.lines()[0].starts_with("tail_drop: does not take the change at 30 s: target: unknown key"),
        "{faults}"
    );
}

/// An hour of changes in milliseconds is a few lines, and is checked in no time.
#[test]
fn periods_are_not_unrolled() {
    let hour = |at: &str| {
        let (head, _) = WHOLE.split_once("[[at]]").unwrap();
        parse(&format!("{}{at}", head.replace("duration = \"60 s\"", "duration = \"1 h\"")))
    };
    let fast = |time: &str, every: &str, set: &str| {
        format!("[[at]]\ntime = '{time}'\nevery = '{every}'\nset = {{ {set} }}\n")
    };
    let rates = fast("1 ms", "1 ms", "'bottleneck.rate' = '5 Mbit/s'")
        + &fast("500 us", "1 ms", "'bottleneck.rate' = '20 Mbit/s'");
    let law = fast("2 ms", "2 ms", "'bottleneck.disc.target' = '100 ms'");
    let scenario = hour(&format!("{rates}{law}")).unwrap();
    assert_eq!(scenario.at.len(), 3);
    assert_eq!(scenario.change_times(4), [1, 2, 3, 4].map(|k| Span::from_micros(500 * k)));
    // Where the periods meet at last: 200 ms at 20 Mbit/s do not fit.
    let rare = fast("7 ms", "13 ms", "'bottleneck.disc.target' = '200 ms'");
    assert!(hour(&format!("{rates}{rare}")).is_ok(), "it comes at whole milliseconds only");
    let rarer = fast("7 ms", "12.5 ms", "'bottleneck.disc.target' = '200 ms'");
    assert!(hour(&format!("{rates}{rarer}")).is_err());
    let never = fast("7 ms", "12.345677 ms", "'bottleneck.disc.target' = '100 ms'")
        + &fast("8 ms", "7.654321 ms", "'bottleneck.disc.target' = '90 ms'");
    let faults = hour(&format!("{rates}{never}")).err();
    assert!(faults.is_none_or(|faults| faults.lines()[0].contains("legal: fewer changes")));
}

#[test]
fn the_flows_of_a_class_are_told_in_order() {
    let at =
        |time: &str, count: u32| format!("[[at]]\ntime = '{time}'\nset = {{ 'bulk.count' = {count} }}\n");
    let again = at("10 s", 5).replace("time", "every = '20 s'\ntime");
    let scenario = schedule(&format!("{again}{}{}", at("20 s", 9), at("30 s", 7))).unwrap();
    let seconds = Span::from_secs;
    // Of one instant the earlier entry comes first.
    let expected = [(10, 5), (20, 9), (30, 5), (30, 7), (50, 5)].map(|(time, count)| (seconds(time), count));
    assert_eq!(scenario.counts(0), expected);
    assert_eq!(scenario.counts(1), []);
    let what = "at[0].set.bulk.count: comes too often; legal: at most 100000 changes of a class";
    assert_eq!(told(&at("1 ms", 5).replace("time", "every = '10 us'\ntime")), what);
}

#[test]
fn a_flood_of_changes_is_refused_at_once() {
    let one =
        "[[at]]\ntime = '10 s'\nset = { 'bottleneck.rate' = '1 Mbit/s', 'bottleneck.delay' = '1 ms' }\n";
    assert_eq!(schedule(&one.repeat(5000)).unwrap().at.len(), 10_000);
    assert_eq!(told(&one.repeat(5001)), "at: make 10002 changes; legal: at most 10000");
    assert_eq!(told(&one.repeat(10_001)), "at: are 10001; legal: at most 10000");
    let laws = "[[at]]\ntime = '10 s'\nevery = '7 ms'\nset = { 'bottleneck.disc.target' = '50 ms' }\n\
                [[at]]\ntime = '10 s'\nevery = '11.000001 ms'\nset = { 'bottleneck.disc.target' = '60 ms' }\n";
    let faults = schedule(&laws.repeat(2000)).unwrap_err();
    assert!(faults.lines()[0].contains("changes the law too often"), "{faults}");
}

/// As many as a file may have, each of which the law takes.
#[test]
fn a_law_may_change_ten_thousand_times() {
    let law = "disc = { law = \"codel\" }\n[[flows]]";
    let changes: String = (0..10_000)
        .map(|step| {
            format!(
                "[[at]]\ntime = \"{} us\"\nset = {{ \"bottleneck.disc.target\" = \"{} us\" }}\n",
                1000 + 5000 * step,
                4000 + step
            )
        })
        .collect();
    let scenario = parse(&format!("{}{changes}", LEAST.replace("[[flows]]", law))).unwrap();
    assert_eq!(scenario.at.len(), 10_000);
}
