//! Facts beneath the tables.

use crate::common::{LEAST, WHOLE, parse};
use sojourn_describe::describe;
use sojourn_params::Described;
use sojourn_scenario::{Files, Scenario};
use sojourn_tcp::Profile;
use sojourn_units::Rate;
use std::rc::Rc;

/// A dumbbell with these lines in place of its rate, beside a recording of three deliveries.
fn dumbbell(lines: &str) -> Scenario {
    let files: Files = Rc::new(|_: &str| Ok(b"1\n2\n3\n".to_vec()));
    let text = LEAST.replace("rate = \"10 Mbit/s\"", lines);
    Scenario::parse_beside(text.as_bytes(), "f.toml", &[], &files).unwrap()
}

#[test]
fn the_mean_of_a_trace_has_few_digits() {
    let scenario = dumbbell("trace = { file = \"x.trace\" }");
    let text = describe(&scenario);
    assert!(text.contains("  trace of 12.032 Mbit/s  "), "{text}");
    // Three deliveries of 1504 B in 7 ms.
    let mut uneven = scenario;
    uneven.topology.links[0].rate = Rate::from_bits_per_second(3.0 * 1504.0 * 8.0 / 0.007);
    let text = describe(&uneven);
    assert!(text.contains("  trace of 5.157 Mbit/s  "), "{text}");
}

#[test]
fn media_are_described() {
    let lines = "trace = { lte = { mean = \"12 Mbit/s\" } }\nimpairments = { loss = 0.01 }";
    let text = describe(&dumbbell(lines));
    for line in ["mean 12 Mbit/s", "framing tun", "impairments (loss 0.01"] {
        assert!(text.contains(line), "{text}");
    }
}

/// The network of Hollot et al. 2002: N = 60, C = 3750 packets/s, R = 246 ms.
const HOLLOT: &str = r#"
title = "Hollot's example"
duration = "60 s"
[bottleneck]
rate = "3750 packets/s"
delay = "23 ms"
buffer = "800 packets"
qdisc = { law = "pi", target = "0 packets" }
[[flows]]
count = 60
segment = "1000 B"
access = { delay = "50 ms" }
"#;

#[test]
fn the_description_shows_derived_parameters() {
    let scenario = parse(HOLLOT).unwrap();
    let text = describe(&scenario);
    let gain = |key: &str| {
        let line = text.lines().find(|line| line.trim().starts_with(&format!("{key} = "))).unwrap();
        assert!(line.ends_with(" 1/packet (designed by the rule of Hollot et al. 2002)"), "{line}");
        line.split_whitespace().nth(2).unwrap().to_string()
    };
    // maths.json, hollot.PI: K and z to all their digits.
    let (a, b) = (gain("a"), gain("b"));
    assert!((a.parse::<f64>().unwrap() - 1.852_781e-5).abs() < 1e-11, "{a}");
    let given = describe(&scenario.with_qdisc(&format!("pi:target=0packets,a={a},b={b}")).unwrap());
    assert!(given.contains(&format!("a = {a}\n")), "{given}");
    assert!(given.contains(&format!("b = {b}\n")), "{given}");
    let red = describe(&scenario.with_qdisc("red:max=150packets").unwrap());
    assert!(red.contains("min = 50 packets (a third of max"), "{red}");
    assert!(red.contains("max = 150 packets\n"), "{red}");
    let pfc = describe(&scenario.with_qdisc("arm_pfc:delay=5,base=ramp").unwrap());
    assert!(pfc.contains("coincidence = 12, 14 periods (2.5 d for indep"), "{pfc}");
}

#[test]
fn the_description_has_all_parts() {
    let text = describe(&parse(WHOLE).unwrap());
    for part in [
        "Everything at once\n",
        "  bottleneck  left > right  10 Mbit/s  20 ms  300 packets  pi     no qdisc\n",
        "target = 100 packets\n",
        "rate = 160 Hz (160 Hz, the example of Hollot et al. 2002, or",
        "50 x newreno bulk, ns2 profile, initial_window = 4, min_rto = 1 s, delayed_ack = true, segments of 1000 B, ECN, \
         start evenly from 0 s to 5 s, stop at 50 s, access 10 Mbit/s, 38 ms to 42 ms\n",
        "1 x reno bulk, default profile, segments of 1500 B, no ECN, start at random between 0 s and 1 s, access 100 Mbit/s, 0 s\n",
        "base RTT    40 ms to 208 ms, mean 196.862745 ms\n",
        "at 40 s: bottleneck.rate = 6 Mbit/s\n",
        "60 s simulated, measured from 10 s",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn single_values_are_singular_and_equal_round_trips_appear_once() {
    let one = [("flows[0].count", "1"), ("bottleneck.buffer", "1 packet"), ("flows[0].access.delay", "5 ms")];
    let more = one.map(|(key, value)| (key.to_string(), value.to_string()));
    let small = b"title = \"small\"\nduration = \"9 s\"\n[bottleneck]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flows]]\n";
    let text = describe(&Scenario::parse(small, "small.toml", &more).unwrap());
    for part in ["  1 packet  tail_drop  ", "  bulk   1      left > right\n"] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    let line = text.lines().find(|line| line.starts_with("base RTT")).unwrap();
    assert_eq!(line, "base RTT    22 ms");
}

#[test]
fn options_of_tcp_are_in_the_line_of_their_class() {
    let with = |lines: &str| describe(&parse(&format!("{LEAST}{lines}\n")).unwrap());
    for (lines, words) in [
        (
            "cc = 'cubic'\ntcp.sack = false\ntcp.timestamps = true",
            "1 x cubic without SACK bulk, default profile with timestamps, ",
        ),
        ("tcp.sack = true\nprofile = 'ns2'", "1 x newreno with SACK bulk, ns2 profile, "),
        (
            "app = 'bulk:reads=100 packets/s'",
            "newreno bulk, default profile, read at 1.2 Mbit/s, segments of",
        ),
        ("app = 'ping'", "1 x ping of one datagram each 200 ms, which is returned, packets of 84 B"),
    ] {
        assert!(with(lines).contains(words), "{}", with(lines));
    }
    let to = Profile::named("ns2").unwrap();
    for setting in to.changes_from("default") {
        // Some apply to recovery by SACK, some to recovery without.
        let lines = format!("{LEAST}ecn = true\ntcp.{} = {}\n", setting.key, to.value(setting.key));
        let with = |cc: &str| parse(&format!("{lines}cc = \"{cc}\"\n"));
        let text = describe(&with("cubic").or_else(|_| with("newreno")).unwrap());
        assert!(text.contains(&format!("default profile, {} = ", setting.key)), "{text}");
    }
}

#[test]
fn the_schedule_has_a_line_each() {
    let at = "[[at]]\ntime = '10 s'\nevery = '5 s'\nuntil = '40 s'\nset = { 'bulk.count' = 20 }\n";
    let text = describe(&parse(&format!("{LEAST}{at}")).unwrap());
    assert!(text.contains("changes     at 10 s and every 5 s until 40 s: bulk.count = 20\n"), "{text}");
}
