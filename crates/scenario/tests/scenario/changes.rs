//! Changes during a run: times, settings, errors.

use crate::common::{LEAST, WHOLE, parse};
use sojourn_params::Value;
use sojourn_scenario::{Diagnostics, Scenario, Setting};
use sojourn_units::{Rate, Span};

/// [`WHOLE`], 60 s long with a PI on 10 Mbit/s and 300 packets, under another schedule.
fn schedule(at: &str) -> Result<Scenario, Diagnostics> {
    let (head, _) = WHOLE.split_once("[[at]]").unwrap();
    parse(&format!("{head}{at}"))
}

fn error(at: &str) -> String {
    let errors = schedule(at).expect_err(at);
    let [line] = &errors.lines()[..] else { panic!("{at}: {:?}", errors.lines()) };
    line.split_once(": ").unwrap().1.into()
}

fn texts(at: &str) -> Vec<String> {
    let scenario = schedule(at).unwrap_or_else(|errors| panic!("{errors}"));
    let json = scenario.to_toml();
    assert_eq!(parse(&json).unwrap_or_else(|errors| panic!("{errors}")), scenario, "reads back");
    scenario.at.iter().map(ToString::to_string).collect()
}

#[test]
fn a_change_may_be_periodic_and_set_everything() {
    let at = "[[at]]\ntime = '10 s'\nevery = '5 s'\nuntil = '40 s'\n\
              set = { 'bottleneck.qdisc.target' = '50 packets', 'bottleneck.delay' = '5 ms', 'bulk.count' = 20 }\n\
              [[at]]\ntime = '12.5 s'\nevery = '5 s'\nset.bottleneck = { rate = '5 Mbit/s', qdisc.b = 1.8e-5, qdisc.a = 2e-5 }\n";
    let expected = [
        "at 10 s and every 5 s until 40 s: bottleneck.delay = 5 ms",
        "at 10 s and every 5 s until 40 s: bottleneck.qdisc.target = 50 packets",
        "at 10 s and every 5 s until 40 s: bulk.count = 20",
        "at 12.5 s and every 5 s: bottleneck.rate = 5 Mbit/s",
        // The gains of one law change together.
        "at 12.5 s and every 5 s: bottleneck.qdisc.a = 2e-5, bottleneck.qdisc.b = 1.8e-5",
    ];
    let lines = texts(at);
    assert_eq!(lines, expected);
    let scenario = schedule(at).unwrap();
    let Setting::Law(0, gains) = &scenario.at[4].set else { panic!("{:?}", scenario.at[4]) };
    assert!(gains.values().eq([("a", Value::Number(2e-5)), ("b", Value::Number(1.8e-5))]));
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
fn a_law_without_parameters_takes_none() {
    let text = WHOLE
        .replace("{ law = \"pi\", target = \"100 packets\", a = 1.822e-5, b = 1.816e-5 }", "\"tail_drop\"");
    let errors =
        parse(&text.replace("\"bottleneck.rate\" = \"6 Mbit/s\"", "\"bottleneck.qdisc.target\" = \"5 ms\""))
            .unwrap_err();
    assert_eq!(
        errors.lines()[0],
        "f.toml:27:9: at[0].set.bottleneck.qdisc.target: \"tail_drop\" has no parameters; expected a link with another law"
    );
}

#[test]
fn a_law_is_checked_in_its_later_context() {
    // 300 packets; at 10 Mbit/s 200 ms are 248 packets of the mean size, at 20 Mbit/s 496.
    let target = "[[at]]\ntime = '30 s'\nset = { 'bottleneck.qdisc.target' = '200 ms' }\n";
    assert!(schedule(target).is_ok());
    let faster = |at: &str, more: &str| {
        format!("[[at]]\ntime = '{at}'\n{more}set = {{ 'bottleneck.rate' = '20 Mbit/s' }}\n")
    };
    assert!(
        schedule(&format!("{target}{}", faster("31 s", ""))).is_ok(),
        "the law itself does not reject a rate"
    );
    let message = "at[0].set.bottleneck.qdisc.target: 200 ms is above the buffer of 300 packets; expected within the buffer";
    assert_eq!(error(&format!("{target}{}", faster("29 s", ""))), message);
    // At the same instant the rate applies first where it is in the same table or before.
    assert_eq!(error(&format!("{}{target}", faster("30 s", ""))).replace("at[1]", "at[0]"), message);
    assert!(schedule(&format!("{target}{}", faster("30 s", ""))).is_ok());
    assert_eq!(
        error("[[at]]\ntime = '30 s'\nset.bottleneck = { qdisc.target = '200 ms', rate = '20 Mbit/s' }\n"),
        message
    );
    // Alternating every 10 s, 10 Mbit/s at 30 s; and then one that meets the other rate once, after hours.
    let slow = "[[at]]\ntime = '10 s'\nevery = '20 s'\nset.'bottleneck.rate' = '10 Mbit/s'\n";
    let fast = faster("20 s", "every = '20 s'\n");
    assert!(schedule(&format!("{slow}{fast}{target}")).is_ok());
    let again = target.replace("time", "every = '3 s'\ntime");
    assert_eq!(error(&format!("{slow}{fast}{again}")).replace("at[2]", "at[0]"), message);
}

#[test]
fn parameters_accumulate_and_must_be_consistent() {
    let a =
        |time: &str, a: f64| format!("[[at]]\ntime = '{time}'\nset = {{ 'bottleneck.qdisc.a' = {a:e} }}\n");
    let b =
        |time: &str, b: f64| format!("[[at]]\ntime = '{time}'\nset = {{ 'bottleneck.qdisc.b' = {b:e} }}\n");
    // From 1.822e-5 and 1.816e-5: a must stay above b.
    assert!(schedule(&format!("{}{}", a("10 s", 3e-5), b("20 s", 2e-5))).is_ok());
    let refused = error(&format!("{}{}", a("20 s", 3e-5), b("10 s", 2e-5)));
    assert_eq!(
        refused,
        "at[1].set.bottleneck.qdisc.b: a: 0.00001822 is not above b = 0.00002, so the integral gain a - b is not \
         positive; expected more than b"
    );
    assert!(
        schedule("[[at]]\ntime = '10 s'\nset.bottleneck.qdisc = { b = 2e-5, a = 3e-5 }\n").is_ok(),
        "at once"
    );
    assert_eq!(
        error(&a("10 s", -1.0)),
        "at[0].set.bottleneck.qdisc.a: -1.0 is out of range; expected more than 0; more than b"
    );
}

#[test]
fn another_qdisc_must_take_the_changes_too() {
    let scenario =
        schedule("[[at]]\ntime = '30 s'\nset = { 'bottleneck.qdisc.target' = '50 packets' }\n").unwrap();
    assert!(scenario.with_qdisc("pid").is_ok());
    let errors = scenario.with_qdisc("pie").unwrap_err();
    let start = "pie: does not take the change at 30 s: target: \"packets\" is not a unit of a time";
    assert!(errors.lines()[0].starts_with(start), "{errors}");
    let errors = scenario.with_qdisc("tail_drop").unwrap_err();
    assert!(
        errors.lines()[0].starts_with("tail_drop: does not take the change at 30 s: target: unknown key"),
        "{errors}"
    );
}

/// An hour of changes in milliseconds is a few lines, and is checked fast.
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
    let law = fast("2 ms", "2 ms", "'bottleneck.qdisc.target' = '100 ms'");
    let scenario = hour(&format!("{rates}{law}")).unwrap();
    assert_eq!(scenario.at.len(), 3);
    assert_eq!(scenario.change_times(4), [1, 2, 3, 4].map(|k| Span::from_micros(500 * k)));
    // Where the periods meet: 200 ms at 20 Mbit/s do not fit.
    let rare = fast("7 ms", "13 ms", "'bottleneck.qdisc.target' = '200 ms'");
    assert!(hour(&format!("{rates}{rare}")).is_ok(), "it falls on whole milliseconds only");
    let rarer = fast("7 ms", "12.5 ms", "'bottleneck.qdisc.target' = '200 ms'");
    assert!(hour(&format!("{rates}{rarer}")).is_err());
    let never = fast("7 ms", "12.345677 ms", "'bottleneck.qdisc.target' = '100 ms'")
        + &fast("8 ms", "7.654321 ms", "'bottleneck.qdisc.target' = '90 ms'");
    let errors = hour(&format!("{rates}{never}")).err();
    assert!(errors.is_none_or(|errors| errors.lines()[0].contains("expected fewer changes")));
}

#[test]
fn the_counts_of_a_class_are_in_order() {
    let at =
        |time: &str, count: u32| format!("[[at]]\ntime = '{time}'\nset = {{ 'bulk.count' = {count} }}\n");
    let again = at("10 s", 5).replace("time", "every = '20 s'\ntime");
    let scenario = schedule(&format!("{again}{}{}", at("20 s", 9), at("30 s", 7))).unwrap();
    let seconds = Span::from_secs;
    // At one instant the earlier entry comes first.
    let expected = [(10, 5), (20, 9), (30, 5), (30, 7), (50, 5)].map(|(time, count)| (seconds(time), count));
    assert_eq!(scenario.counts(0), expected);
    assert_eq!(scenario.counts(1), []);
    let message = "at[0].set.bulk.count: comes too often; expected at most 100000 changes of a class";
    assert_eq!(error(&at("1 ms", 5).replace("time", "every = '10 us'\ntime")), message);
}

#[test]
fn a_flood_of_changes_is_refused_at_once() {
    let one =
        "[[at]]\ntime = '10 s'\nset = { 'bottleneck.rate' = '1 Mbit/s', 'bottleneck.delay' = '1 ms' }\n";
    assert_eq!(schedule(&one.repeat(5000)).unwrap().at.len(), 10_000);
    assert_eq!(error(&one.repeat(5001)), "at: make 10002 changes; expected at most 10000");
    assert_eq!(error(&one.repeat(10_001)), "at: are 10001; expected at most 10000");
    let laws = "[[at]]\ntime = '10 s'\nevery = '7 ms'\nset = { 'bottleneck.qdisc.target' = '50 ms' }\n\
                [[at]]\ntime = '10 s'\nevery = '11.000001 ms'\nset = { 'bottleneck.qdisc.target' = '60 ms' }\n";
    let errors = schedule(&laws.repeat(2000)).unwrap_err();
    assert!(errors.lines()[0].contains("changes the law too often"), "{errors}");
}

/// As many as a file may have, each accepted by the law.
#[test]
fn a_law_may_change_ten_thousand_times() {
    let law = "qdisc = { law = \"codel\" }\n[[flows]]";
    let changes: String = (0..10_000)
        .map(|step| {
            format!(
                "[[at]]\ntime = \"{} us\"\nset = {{ \"bottleneck.qdisc.target\" = \"{} us\" }}\n",
                1000 + 5000 * step,
                4000 + step
            )
        })
        .collect();
    let scenario = parse(&format!("{}{changes}", LEAST.replace("[[flows]]", law))).unwrap();
    assert_eq!(scenario.at.len(), 10_000);
}

/// An error of a key within a table or an entry is at that key, whichever of its table comes first.
#[test]
fn an_error_within_a_qdisc_is_at_its_own_key() {
    let wrong = |qdisc: &str, set: &str| {
        let head = LEAST.replace("[[flows]]", &format!("qdisc = \"{qdisc}\"\n[[flows]]\nname = \"bulk\""));
        let errors = parse(&format!("{head}[[at]]\ntime = \"1 s\"\nset = {{ {set} }}\n")).expect_err(set);
        let [line] = &errors.lines()[..] else { panic!("{set}: {:?}", errors.lines()) };
        line.split_once(": at[0].set.bottleneck.qdisc.").unwrap_or_else(|| panic!("{line}")).1.to_string()
    };
    let reserved = "drr:reserved.classes=[bulk],reserved.rate=1 kbit/s";
    let rate = "\"bottleneck.qdisc.reserved.rate\" = \"90 Gbit/s\"";
    for (qdisc, set, line) in [
        (reserved, rate, "reserved.rate: 90 Gbit/s is not below the rate of the link"),
        (reserved, &format!("\"bottleneck.qdisc.quantum\" = \"300 B\", {rate}"), "reserved.rate: 90 Gbit/s"),
        (
            reserved,
            "\"bottleneck.qdisc.weights.bulk\" = 2",
            "weights.bulk: is of a class in the reserved queue",
        ),
        ("drr", rate, "reserved.rate: changes a queue that the qdisc does not have"),
        (
            "wfq",
            "bottleneck.qdisc.weights.bluk = 2",
            "weights.bluk: \"bluk\" is no class of flows; did you mean",
        ),
        ("drr", "\"bottleneck.qdisc.memory\" = \"1 B\"", "memory: 1 B is below a packet of the link, 1500 B"),
        (
            "drr:limit=9",
            "\"bottleneck.qdisc.quantum\" = \"14 kB\"",
            "quantum: 14 kB is above the limit of 9 packets",
        ),
        ("cake", "\"bottleneck.qdisc.memlimit\" = \"1 B\"", "memlimit: 1 B is below a packet of the link"),
        ("drr", "\"bottleneck.qdisc.law.target\" = \"200 ms\"", "law.target: 200 ms is not below interval"),
    ] {
        let found = wrong(qdisc, set);
        assert!(found.starts_with(line), "{set}: {found}");
    }
}

/// A link of 10 Mbit/s under this qdisc, whose settings change each second.
fn of_bulk(qdisc: &str, changes: &[(&str, u32)]) -> Result<Scenario, String> {
    let mut text = LEAST.replace("[[flows]]", &format!("qdisc = \"{qdisc}\"\n[[flows]]\nname = \"bulk\""));
    for (step, (key, rate)) in (1..).zip(changes) {
        text += &format!("[[at]]\ntime = '{step} s'\nset = {{ 'bottleneck.{key}' = '{rate} Mbit/s' }}\n");
    }
    parse(&text).map_err(|errors| errors.to_string())
}

/// A reserved queue stays below the highest rate that its link has had, behind the shaper and in the order of the run.
#[test]
fn changes_behind_a_shaper_are_checked_in_their_order() {
    let reserved = "qdisc=drr,qdisc.reserved.classes=[bulk],qdisc.reserved.rate=4 Mbit/s";
    let shaper = |rate: u32| format!("shaper:rate={rate} Mbit/s,{reserved}");
    let (rate, own) = ("qdisc.rate", "qdisc.qdisc.reserved.rate");
    // Behind the shaper the rate is never above 10 Mbit/s.
    let changes = [(rate, 2), ("rate", 20), ("rate", 10), (own, 12)];
    let refused = of_bulk(&shaper(20), &changes).unwrap_err();
    assert!(
        refused.contains("reserved.rate: 12 Mbit/s is not below the rate of the link, 10 Mbit/s"),
        "{refused}"
    );
    // It has been 10 Mbit/s when the rate of the shaper alone changes.
    of_bulk(&shaper(8), &[(rate, 20), (own, 9), (rate, 8)]).unwrap();
    // The shaper may be below the reserved queue.
    of_bulk(&shaper(8), &[(rate, 3)]).unwrap();
}

/// Whole periods alone are skipped: shaper and link are never fast together, whenever the next change comes.
#[test]
fn periodic_changes_stay_in_phase() {
    let reserved = "qdisc=drr,qdisc.reserved.classes=[bulk],qdisc.reserved.rate=1 Mbit/s";
    let qdisc = format!("shaper:rate=20 Mbit/s,{reserved}");
    let first = LEAST.replace("10 Mbit/s", "4 Mbit/s");
    let head = first.replace("[[flows]]", &format!("qdisc = \"{qdisc}\"\n[[flows]]\nname = \"bulk\""));
    let every = |offset: u32, key: &str, rate: u32| {
        format!(
            "[[at]]\ntime = '{} ms'\nevery = '100 ms'\nset = {{ 'bottleneck.{key}' = '{rate} Mbit/s' }}\n",
            1000 + offset
        )
    };
    let periodic =
        [every(0, "qdisc.rate", 4), every(10, "rate", 20), every(50, "rate", 4), every(60, "qdisc.rate", 20)];
    for end in (5000..5100).step_by(7) {
        let last = format!(
            "[[at]]\ntime = '{end} ms'\nset = {{ 'bottleneck.qdisc.qdisc.reserved.rate' = '6 Mbit/s' }}\n"
        );
        let errors =
            parse(&format!("{head}{}{last}", periodic.concat())).expect_err("a rate above that of the link");
        assert!(errors.to_string().contains("the rate of the link, 4 Mbit/s"), "{end}: {errors}");
    }
}
