//! Errors of scenario files, one line each: place, key, fault, expected value.

use crate::common::{LEAST, WHOLE, parse, parse_with, qdisc, with_laws, without_laws};
use sojourn_params::{ErrorKind, Expected, InputError};
use sojourn_scenario::{Diagnostics, Excerpt, Location, Scenario};

/// Lines that replace one of [`WHOLE`], by its number.
const LINES: &[(usize, &str)] = &[
    (8, "bufer = \"300 packets\""),
    (23, "[[flow]]"),
    (17, "access = { rat = \"10 Mbit/s\" }"),
    (27, "set = { bottleneck.rat = \"6 Mbit/s\" }"),
    (2, "duration = 60"),
    (2, "duration = \"60\""),
    (7, "delay = \"20 mbit\""),
    (6, "rate = \"-10 Mbit/s\""),
    (6, "rate = nan"),
    (6, "rate = \"inf Mbit/s\""),
    (27, "set = { \"bottleneck.rate\" = inf }"),
    (1, "title = 7"),
    (1, "title = 1979-05-27"),
    (11, "count = \"many\""),
    (11, "count = 99999999999999999999"),
    (15, "ecn = 1"),
    (17, "access = \"10 Mbit/s\""),
    (17, "access = { delay = { sprad = [\"1 ms\", \"2 ms\"] } }"),
    (18, "start = { random = [\"1 s\"] }"),
    (1, "title = \" \""),
    (2, "duration = \"0 s\""),
    (4, "sample = \"1 us\""),
    (6, "rate = \"0 Mbit/s\""),
    (6, "rate = \"1e12 packets/s\""),
    (8, "buffer = \"0 packets\""),
    (8, "buffer = \"999 B\""),
    (8, "buffer = \"1 us\""),
    (11, "count = 0"),
    (11, "count = -5"),
    (11, "count = 1_000_000"),
    (16, "segment = \"99 B\""),
    (20, "tcp.initial_window = 1001"),
    (22, "tcp.min_rto = \"2 min\""),
    (12, "rate = \"1 Mbit/s\""),
    (12, "app = \"bluk\""),
    (13, "cc = \"neworeno\""),
    (14, "profile = \"ns4\""),
    (3, "warmup = \"1 min\""),
    (18, "start = { random = [\"61 s\", \"0 s\"] }"),
    (19, "stop = \"5 s\""),
    (26, "time = \"60 s\""),
    (27, "set = {}"),
    (27, "set = { \"bottleneck.rate\" = \"1 Mbit/s\", bottleneck.rate = \"2 Mbit/s\" }"),
    (9, "qdisc = { law = \"pi\", target = \"400 packets\" }"),
    (8, "buffer = \"50 packets\""),
    (9, "qdisc = \"tail_drp:target=1packets\""),
    (9, "qdisc = { law = \"rde\" }"),
    (9, "qdisc = { target = \"1 packets\" }"),
    (9, "qdisc = 5"),
    (9, "qdisc.law = \"red\"\nqdisc.min = 50\nqdisc.max = \"9 packets\"\nqdisc.weight = 2"),
    (6, "tracee = \"x.trace\""),
    (7, "rate = \"9 Mbit/s\""),
    (23, "[bottleneck]"),
];

/// Whole files.
const FILES: &[&[u8]] = &[
    b"title = 'a'\nduration = '1 s'\nbottleneck = { rate = '1 Mbit/s', delay = '0 s' }\n[flows]\n",
    b"\n[bottleneck]\n[[at]]\n[[flows]]",
    b"title = 'a'\nduration = '1 s'\nflows = []",
    b"",
    b"# only words\n",
    b"a = 1\n\x7fELF\xff",
    b"a = 1\n\nb\0",
];

/// Overrides of [`WHOLE`], as `--set` has them.
const OVERRIDES: &[(&str, &str)] = &[
    ("bottleneck.rate", "-6 Mbit/s"),
    ("flows.0.count", "x"),
    ("flows[9].count", "1"),
    ("flows.count", "1"),
    ("title.x", "1"),
    ("title[0]", "1"),
    ("a..b", "1"),
    ("duration", "[1,"),
    ("bottleneck.bufer", "1 s"),
    ("bottleneck.qdisc", "pi:target=900packets"),
    ("at[0].set.bottleneck.dely", "1 s"),
];

/// Groups of flows, their lines separated by "; ".
const GROUPS: &[&str] = &[
    "tcp.prr = \"rfc9937\"",
    "cc = \"cubic\"; tcp.sack = false; tcp.tail_loss_probe = true",
    "tcp.loss_detection = \"rack\"",
    "tcp.dsack = true",
    "cc = \"cubic\"; profile = \"ns2\"; tcp.prr = \"rfc6937\"",
    "cc = \"cubic\"; tcp.loss_detection = \"dupacks\"; tcp.tail_loss_probe = true",
    "tcp.undo = true",
    "tcp.sack = true; tcp.cautious_exit = true",
    "cc = \"reno\"; tcp.cautious_exit = true",
    "tcp.sack_takes_room = true",
    "cc = \"cubic\"; tcp.limited_transmit = \"next\"",
    "cc = \"cubic\"; tcp.grow_on_exit = true",
    "cc = \"cubic\"; profile = \"ns2\"; tcp.grow_on_exit = true",
    "tcp.delayed_ack = false; tcp.ack_every = 4",
    "profile = \"ns2\"; tcp.ack_delay = \"10 ms\"",
    "tcp.min_rto = \"5 s\"; tcp.max_rto = \"4 s\"",
    "tcp.initial_rto = \"5 s\"; tcp.max_rto = \"4 s\"",
    "tcp.max_rto = \"100 ms\"",
    "tcp.window_scaling = false; tcp.receive_window = 45",
    "tcp.receive_window = 1000000",
    "tcp.fast_convergence = true",
    "tcp.cubic_counts_segments = true",
    "cc = \"cubic\"; tcp.halving = \"window\"",
    "cc = \"cubic\"; tcp.time_all = false",
    "tcp.timestamps = true; tcp.time_all = false",
    "tcp.ect_on_retransmit = true",
    "cc = \"dctcp\"; ecn = false",
    "cc = \"cubic:abe=true\"",
    "tcp = { max_rto = \"1 ns\", min_rto = \"1 ns\", initial_rto = \"1 ms\" }",
    "tcp.initial_rto = \"1 ns\"",
    "tcp.prrr = true",
    "tcp.pacing = 1",
    "cc = \"cubic\"; tcp.prr = \"rfc6397\"",
    "cc = \"cubic\"; tcp.prr = 6937",
    "cc = \"cubic\"; tcp.prr_counts_twice = true",
    "cc = \"cubic\"; tcp.ecn_prr = true",
    "cc = \"cubic\"; ecn = true; tcp.prr = false; tcp.ecn_prr = true",
    "cc = \"cubic\"; tcp.recovery_restarts_timer = false",
    "tcp.pipe = \"count\"",
    "app = { bulk = { reads = \"0 bit/s\" } }",
    "tcp = true",
    "app = { cbr = { rate = \"1 Mbit/s\" } }; tcp.prr = \"rfc9937\"",
    "app = { on_off = { rate = \"1 Mbit/s\", on = \"0 s\" } }",
    "app = { on_off = { rate = \"1 Mbit/s\", on = \"5\" } }",
    "app = { on_off = { rate = \"10 bit/s\", on = \"1 ms\" } }",
    "app = { cbr = { rate = \"1 Mbit/s\" } }; on = \"1 s\"",
    "app = { lrd = { rate = \"1 Mbit/s\", on = { exponential = \"1 s\" } } }",
    "app = { lrd = { rate = \"1 Mbit/s\", hurst = 1.0 } }",
    "app = { lrd = { rate = \"1 Mbit/s\", sources = 0 } }",
    "app = { ping = { size = \"20 B\" } }",
    "app = { ping = { size = \"2 packets\" } }",
    "app = { ping = { every = \"0 s\" } }",
    "app = \"voip\"; segment = \"200 B\"",
    "app = { cbr = { rate = \"1 Mbit/s\", size = \"200 B\" } }; segment = \"200 B\"",
    "app = \"voip\"; access = { rate = \"64 kbit/s\" }",
    "app = \"transfer\"",
    "app = { transfer = { size = \"0 B\" } }",
    "size = \"1 MB\"",
    "idle = \"1 s\"",
    "app = \"mice\"; reads = \"1 Mbit/s\"",
    "app = { web = { objects = 0 } }",
    "app = { web = { request = \"20 B\" } }",
    "app = { video = { ladder = [\"2 Mbit/s\", \"1 Mbit/s\"] } }",
    "app = { video = { chunk = \"15 s\" } }",
    "arrivals = { poisson = \"1 s\" }; start = \"0 s\"",
    "arrivals = { poisson = \"1 s\" }; stop = \"0 s\"",
    "app = \"rrul\"; arrivals = { poisson = \"1 s\" }",
    "lifetime = \"0 s\"",
    // Keys of earlier files: the errors name their new places.
    "sack = false",
    "tcp = { prr = false }; min_rto = \"5 s\"",
    "app = \"cbr\"; rate = \"1 Mbit/s\"",
    "app = \"web\"; objects = 20; conections = 6",
    "app = \"on_off\"; rate = \"1 Mbit/s\"; on = \"0 s\"",
    "app = \"ping\"; size = \"20 B\"",
    "app = { web = {} }; objects = 20",
    "reads = \"1 Mbit/s\"",
];

/// Times of a change.
const TIMES: &[&str] = &[
    "time = '10 s'\nevery = '0 s'",
    "time = '10 s'\nevery = '999 ns'",
    "time = '10 s'\nuntil = '20 s'",
    "time = '10 s'\nevery = '1 s'\nuntil = '9 s'",
    "time = '60 s'\nevery = '1 s'",
    "every = '1 s'",
];

/// Values that a change sets.
const SETS: &[&str] = &[
    "'botleneck.rate' = '1 Mbit/s'",
    "bulk = 3",
    "'bulk.rate' = '1 Mbit/s'",
    "'bulk.count' = -1",
    "'bulk.count' = 1000001",
    "'bottleneck.back.dely' = '1 s'",
    "'bottleneck.back.qdisc.target' = '5 ms'",
    "'bottleneck.qdisc.targt' = '5 ms'",
    "'bottleneck.rate' = '0 bit/s'",
    "'bottleneck.delay' = '1 s', bottleneck.delay = '2 s'",
];

/// The errors of every input above; `INSTA_UPDATE=always cargo test` updates them.
#[test]
fn sentences() {
    let mut text = String::new();
    let mut add = |input: String, errors: &Diagnostics| {
        text += &format!("{input}\n{}\n\n", without_laws(&errors.to_string()));
    };
    for (line, written) in LINES {
        add(format!("line {line}: {written}"), &parse(&with_line(*line, written)).expect_err(written));
    }
    for bytes in FILES {
        let input = bytes.escape_ascii().to_string();
        add(format!("file: {input}"), &Scenario::parse(bytes, "f.toml", &[]).expect_err(&input));
    }
    for (key, value) in OVERRIDES {
        add(format!("--set {key}={value}"), &parse_with(key, value).expect_err(value));
    }
    for lines in GROUPS {
        let text = format!("{LEAST}{}\n", lines.replace("; ", "\n"));
        add(format!("flows: {lines}"), &parse(&text).expect_err(lines));
    }
    let (head, _) = WHOLE.split_once("[[at]]").unwrap();
    let at = |when: &str, set: &str| parse(&format!("{head}[[at]]\n{when}\nset = {{ {set} }}\n"));
    for when in TIMES {
        add(format!("at: {when}"), &at(when, "'bottleneck.rate' = '1 Mbit/s'").expect_err(when));
    }
    for set in SETS {
        add(format!("set: {set}"), &at("time = '10 s'", set).expect_err(set));
    }
    let settings = || {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings
    };
    settings().bind(|| insta::assert_snapshot!("errors", text));
}

/// [`WHOLE`] with one line replaced.
fn with_line(line: usize, written: &str) -> String {
    let lines = WHOLE.lines().enumerate().map(|(at, old)| if at + 1 == line { written } else { old });
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces one line of [`WHOLE`] and expects exactly these errors.
#[track_caller]
fn check_line(line: usize, written: &str, expected: &[&str]) {
    let lines: Vec<&str> =
        WHOLE.lines().enumerate().map(|(at, old)| if at + 1 == line { written } else { old }).collect();
    let errors = parse(&lines.join("\n")).expect_err(written);
    let expected: Vec<String> = expected.iter().map(|line| with_laws(line)).collect();
    assert_eq!(errors.lines(), expected, "{written}");
}

#[track_caller]
fn check_bytes(bytes: &[u8], expected: &[&str]) {
    assert_eq!(Scenario::parse(bytes, "f.toml", &[]).unwrap_err().lines(), expected);
}

#[track_caller]
fn check_override(key: &str, value: &str, expected: &str) {
    let errors = parse_with(key, value).expect_err(value);
    assert_eq!(errors.lines(), [expected], "{key}={value}");
}

/// An error as a value: its place, its class, its key, the value found, the value meant and the values expected.
#[test]
fn an_error_is_a_value() {
    let words = |words: &[&str]| Expected::one_of(words.iter().copied());
    for (line, column, written, kind, key, found, hint, expected) in [
        (
            8,
            1,
            "bufer = \"300 packets\"",
            ErrorKind::UnknownKey,
            "bottleneck.bufer",
            None,
            Some("\"buffer\""),
            words(&["rate", "trace", "delay", "buffer", "qdisc", "framing", "impairments", "back"]),
        ),
        (
            14,
            1,
            "profile = \"ns4\"",
            ErrorKind::UnknownName,
            "flows[0].profile",
            Some("\"ns4\""),
            Some("\"ns2\""),
            words(&["default", "linux", "ns2", "ns3"]),
        ),
        (
            11,
            1,
            "count = \"many\"",
            ErrorKind::Type,
            "flows[0].count",
            Some("\"many\""),
            None,
            "a whole number such as 50 (1 to 1000000)".into(),
        ),
        (
            6,
            8,
            "rate = 10 Mbit",
            ErrorKind::Syntax,
            "",
            None,
            None,
            "text in quotes, a number, true or false, a list in [ ] or a table in { }".into(),
        ),
        (
            17,
            12,
            "access = { delay = \"1001 s\" }",
            ErrorKind::Range,
            "flows[0].access.delay",
            Some("\"1001 s\""),
            None,
            "0 s to 1000 s".into(),
        ),
        (
            19,
            1,
            "stop = \"5 s\"",
            ErrorKind::Conflict,
            "flows[0].stop",
            Some("5 s"),
            None,
            "a time after every start".into(),
        ),
        (
            13,
            1,
            "cc = { hystart = true }",
            ErrorKind::Missing,
            "flows[0].cc.name",
            None,
            None,
            "the name of a congestion control, as in { name = \"cubic\" }".into(),
        ),
        (
            27,
            52,
            "set = { \"bottleneck.rate\" = \"1 Mbit/s\", bottleneck.rate = \"2 Mbit/s\" }",
            ErrorKind::Repeated,
            "at[0].set.bottleneck.rate",
            None,
            None,
            "once".into(),
        ),
    ] {
        let errors = parse(&with_line(line, written)).expect_err(written);
        let [one] = errors.list() else { panic!("{errors}") };
        let place = Location::File { file: "f.toml".into(), line, column };
        assert_eq!(one.location, place, "{written}");
        let InputError { kind: of, key: at, found: value, hint: meant, expected: would_do, .. } = &one.error;
        assert_eq!((*of, at.to_string().as_str()), (kind, key), "{written}");
        assert_eq!((value.as_deref(), meant.as_deref()), (found, hint), "{written}");
        assert_eq!(*would_do, expected, "{written}");
    }
}

#[test]
fn an_error_of_an_override_has_the_whole_key() {
    let errors = parse_with("bottleneck.qdisc.targt", "1 ms").unwrap_err();
    let [one] = errors.list() else { panic!("{errors}") };
    let Location::Override { written, path } = &one.location else { panic!("{errors}") };
    assert_eq!((written.as_str(), path), ("bottleneck.qdisc.targt", &one.error.key));
    assert_eq!(
        (one.error.kind, one.error.key.to_string().as_str()),
        (ErrorKind::UnknownKey, written.as_str())
    );
    let errors = parse_with("bulk.count", "many").unwrap_err();
    assert_eq!(errors.list()[0].error.key, "flows[0].count");
}

/// The error of a key that has moved names its new place.
#[test]
fn a_key_of_earlier_files_names_its_new_place() {
    for (lines, key, expected) in [
        ("sack = false", "flows[0].sack", "tcp = { sack = VALUE }, which `sojourn check --rewrite` writes"),
        (
            "min_rto = \"1 s\"",
            "flows[0].min_rto",
            "tcp = { min_rto = VALUE }, which `sojourn check --rewrite` writes",
        ),
        ("prr = false", "flows[0].prr", "tcp = { prr = VALUE }, which `sojourn check --rewrite` writes"),
    ] {
        let errors = parse(&format!("{LEAST}{lines}\n")).expect_err(lines);
        let [one] = errors.list() else { panic!("{errors}") };
        assert_eq!((one.error.kind, one.error.key.to_string().as_str()), (ErrorKind::UnknownKey, key));
        assert_eq!(one.error.expected.text(), expected);
    }
}

#[test]
fn the_scenarios_of_the_tests_are_valid() {
    assert!(parse(WHOLE).is_ok() && parse(LEAST).is_ok());
}

#[test]
fn keys_of_tcp_and_of_udp_do_not_mix() {
    let udp =
        LEAST.replace("[[flows]]", "[[flows]]\napp = \"cbr:rate=1 Mbit/s\"\ncc = \"reno\"\ntcp.sack = true");
    assert_eq!(
        parse(&udp).unwrap_err().lines(),
        [
            "f.toml:8:1: flows[0].cc: is not a key for app = \"cbr\", which is not TCP; expected the key left out, or an app over TCP, such as bulk",
            "f.toml:9:1: flows[0].tcp: is not a key for app = \"cbr\", which is not TCP; expected the key left out, or an app over TCP, such as bulk",
        ]
    );
}

#[test]
fn datagrams_fit_their_access_link() {
    let udp = LEAST.replace("[[flows]]", "[[flows]]\napp = { cbr = { rate = \"101 Mbit/s\" } }");
    assert_eq!(
        parse(&udp).unwrap_err().lines(),
        [
            "f.toml:7:17: flows[0].app.cbr.rate: 101 Mbit/s is more than its access link carries; expected at most 100 Mbit/s"
        ]
    );
}

#[test]
fn errors_of_unknown_words_have_the_list() {
    for (column, written, expected) in [
        (1, "cc = \"dctcp:abe=true\"", ".abe: unknown key (expected g, alpha)"),
        (
            24,
            "cc = { name = \"cubic\", hystart = 1 }",
            ".hystart: 1 is no way to leave slow start (expected rfc9406 or true, hybrid, false)",
        ),
        (
            8,
            "cc = { name = \"cubik\" }",
            ".name: \"cubik\" is not a congestion control; did you mean \"cubic\"? \
         (expected reno, newreno, cubic, dctcp, scalable, bbr, htcp, vegas, westwood)",
        ),
        (
            1,
            "cc = { hystart = true }",
            ".name: is missing; expected the name of a congestion control, \
         as in { name = \"cubic\" }",
        ),
        (1, "cc = 7", ": 7 is not a congestion control; write it like \"cubic:hystart=false\""),
    ] {
        check_line(13, written, &[&format!("f.toml:13:{column}: flows[0].cc{expected}")]);
    }
}

#[test]
fn a_law_is_checked_even_if_its_context_is_unknown() {
    let text =
        WHOLE.replace("rate = \"10 Mbit/s\"\ndelay", "rate = \"fast\"\ndelay").replace("target", "tarket");
    let errors = parse(&text).unwrap_err();
    assert_eq!(
        errors.lines(),
        [
            "f.toml:6:1: bottleneck.rate: \"fast\" is not a number with a unit; expected a rate such as \"8 Mbit/s\" \
             (1 bit/s to 1 Tbit/s)",
            "f.toml:9:23: bottleneck.qdisc.tarket: unknown key; did you mean \"target\"? (expected target, a, b, rate)",
        ]
    );
}

#[test]
fn missing_keys_are_reported_at_the_line_of_their_table() {
    // A key under another name is not missing.
    let misspelt =
        LEAST.replace("title", "titel").replace("rate", "rat").replace("[bottleneck]", "[bottlneck]");
    check_bytes(
        misspelt.as_bytes(),
        &[
            "f.toml:1:1: titel: unknown key; did you mean \"title\"? (expected title, duration, warmup, sample, \
             windows, fluid_window, plant, fluid_step, bottleneck, parking_lot, two_bottlenecks, home, links, flows, at)",
            "f.toml:3:2: bottlneck: unknown key; did you mean \"bottleneck\"? (expected title, duration, warmup, \
             sample, windows, fluid_window, plant, fluid_step, bottleneck, parking_lot, two_bottlenecks, home, links, \
             flows, at)",
        ],
    );
    let without = LEAST.replace("[[flows]]\n", "");
    check_bytes(
        without.as_bytes(),
        &["f.toml:1:1: flows: is missing; expected one or more tables [[flows]]"],
    );
}

/// A missing header is one error, at the first key below it that does not fit the table above.
#[test]
fn keys_without_their_header_are_one_error() {
    let without = |text: &str, header: &str| text.replacen(&format!("{header}\n"), "", 1);
    let home = "title = \"A home\"\nduration = \"1 s\"\n[home]\n[home.down]\nrate = \"9 Mbit/s\"\ndelay = \"1 ms\"\n\
                [home.up]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flows]]\n";
    let one = "[[flows]]\ncc = \"reno\"\n";
    for (text, line) in [
        (
            without(&without(WHOLE, one.trim_end()), "[[flows]]"),
            "10:1: bottleneck.count: is a key of [[flows]], which is missing; expected [[flows]] above it",
        ),
        (
            without(WHOLE, "[bottleneck]"),
            "5:1: rate: is a key of [bottleneck], which is missing; expected [bottleneck] above it",
        ),
        (
            without(WHOLE, "[[at]]"),
            "25:1: flows[1].time: is a key of [[at]], which is missing; expected [[at]] above it",
        ),
        (
            without(home, "[home.down]"),
            "4:1: home.rate: is a key of [home.down], which is missing; expected [home.down] above it",
        ),
        (
            LEAST.replace("delay", "back = { qdisc = \"red\" }\nloss = 0.1\ncorrupt = 0.1\ndelay"),
            "6:1: bottleneck.loss: is a key of [bottleneck.impairments], which is missing; expected [bottleneck.impairments] above it",
        ),
        (without(home, "[home.up]"), "7:1: rate: is given twice; expected once"),
        (
            WHOLE
                .replace(one, "")
                .replace("tcp.min_rto = \"1 s\"\n", "count = 2\ncc = \"reno\"\napp = \"bulk\"\n"),
            "22:1: count: is given twice; expected once",
        ),
    ] {
        assert_eq!(parse(&text).unwrap_err().lines(), [format!("f.toml:{line}")], "{text}");
    }
    // On the command line there are no headers.
    let errors = parse_with("flows[1].prr", "false").unwrap_err();
    assert!(
        errors.lines()[0].starts_with("--set flows[1].prr: is a setting of TCP; expected flows[1].tcp.prr"),
        "{errors}"
    );
}

/// Keys inside a value are never those of a header, and each has its error.
#[test]
fn a_key_inside_a_value_is_not_below_a_missing_header() {
    let group = |line: &str| parse(&format!("{LEAST}{line}\n")).unwrap_err().lines();
    assert_eq!(
        group("app = { cbr = { rate = \"1 Mbit/s\", every = \"20 ms\", until = 1 } }"),
        [
            "f.toml:7:36: flows[0].app.cbr.every: unknown key (expected rate, size)",
            "f.toml:7:53: flows[0].app.cbr.until: unknown key (expected rate, size)",
        ]
    );
    assert_eq!(
        group("access = { time = \"1 s\" }\nevery = \"1 s\""),
        [
            "f.toml:7:12: flows[0].access.time: unknown key (expected rate, delay)",
            "f.toml:8:1: flows[0].every: is a key of [[at]], which is missing; expected [[at]] above it",
        ]
    );
    let qdisc = LEAST.replace("delay", "qdisc = { law = \"pie\", time = 1 }\ndelay");
    let line = &parse(&qdisc).unwrap_err().lines()[0];
    assert!(line.starts_with("f.toml:5:24: bottleneck.qdisc.time: unknown key"), "{line}");
}

/// The key of a parameter does not depend on the form in which its entry is written.
#[test]
fn a_parameter_has_one_key() {
    for app in ["\"cbr:rate=0 bit/s\"", "\"cbr:rate=0\"", "{ cbr = { rate = 0 } }"] {
        let errors = parse(&format!("{LEAST}app = {app}\n")).unwrap_err();
        assert_eq!(errors.list()[0].error.key, "flows[0].app.cbr.rate", "{errors}");
    }
}

#[test]
fn a_key_in_the_wrong_place_is_not_missing_too() {
    let udp = |lines: &str| parse(&format!("{LEAST}{lines}\n")).unwrap_err().lines();
    assert_eq!(
        udp("app = { cbr = {} }\nrate = \"1 Mbit/s\""),
        ["f.toml:8:1: flows[0].rate: is a key of app = \"cbr\"; expected app = { cbr = { rate = VALUE } }"]
    );
    assert_eq!(
        udp("app = \"cbr:rate=1 Mbit/s\"\nsack = true"),
        ["f.toml:8:1: flows[0].sack: is a setting of TCP, and app = \"cbr\" is not TCP; expected no sack"]
    );
}

#[test]
fn a_class_a_link_and_a_change_have_all_their_errors_at_once() {
    let class = "app = \"voip\"\nsegment = \"200 B\"\nstart = \"90 s\"\nto = \"nowhere\"\naccess = { rate = \"1 bit/s\" }\n";
    let errors = parse(&format!("{LEAST}{class}")).unwrap_err();
    let keys =
        |errors: &Diagnostics| errors.list().iter().map(|one| one.error.key.to_string()).collect::<Vec<_>>();
    assert_eq!(keys(&errors), ["flows[0].segment", "flows[0].start", "flows[0].to"]);
    let link = "title = \"a\"\nduration = \"9 s\"\n[bottleneck]\nrate = \"1 packets/s\"\nbuffer = \"0.5 packets\"\n\
                back = { rate = \"1e12 packets/s\", buffer = \"1 B\" }\n[[flows]]\n";
    let errors = parse(link).unwrap_err();
    assert_eq!(keys(&errors), ["bottleneck.delay", "bottleneck.buffer"]);
    let no_rate = link.replace("\"1 packets/s\"", "\"0 packets/s\"").replace("0.5 packets", "1 ms");
    assert_eq!(keys(&parse(&no_rate).unwrap_err()), ["bottleneck.delay", "bottleneck.rate"]);
    let no_table = parse("title = \"a\"\nduration = \"9 s\"\nbottleneck = 1\n[[flows]]\n").unwrap_err();
    assert_eq!(keys(&no_table), ["bottleneck"]);
    let nothing = parse("title = 7\n").unwrap_err();
    assert_eq!(keys(&nothing), ["title", "duration", "flows", "bottleneck"]);
    let set = "[{ time = \"90 s\", set = { \"bottleneck.rate\" = \"1 Mbit/s\" } }]";
    let line = "--set at[0].time: 90 s is not below the duration of 60 s; expected less than the duration";
    assert_eq!(parse_with("at", set).unwrap_err().lines(), [line]);
    let change =
        "[[at]]\ntime = \"90 s\"\nuntil = \"5 s\"\nset = { \"bulk.count\" = -1, \"bulk.rate\" = 1 }\n";
    let errors = parse(&format!("{LEAST}{change}")).unwrap_err();
    let expected = ["at[0].time", "at[0].until", "at[0].set.bulk.count", "at[0].set.bulk.rate"];
    assert_eq!(keys(&errors), expected);
}

#[test]
fn true_and_false_stand_without_quotes() {
    for (key, value) in [("prr", "false"), ("delayed_ack", "true")] {
        let errors = parse(&format!("{LEAST}tcp = {{ {key} = \"{value}\" }}\n")).unwrap_err();
        let expected = format!("\"{value}\" stands in quotes; expected {value} without them");
        assert_eq!(errors.lines(), [format!("f.toml:7:9: flows[0].tcp.{key}: {expected}")]);
    }
}

#[test]
fn an_app_with_packets_of_its_own_has_no_segment() {
    for app in ["\"ping\"", "{ ping = { size = \"90 B\" } }", "\"voip\""] {
        let errors = parse(&format!("{LEAST}app = {app}\nsegment = \"200 B\"\n")).unwrap_err();
        assert!(errors.lines()[0].contains("; expected the key left out"), "{errors}");
    }
}

#[test]
fn text_that_is_not_toml_is_reported_by_its_line() {
    check_bytes(
        &vec![b'#'; (4 << 20) + 1],
        &["f.toml:1:1: the file has 4194305 bytes; expected at most 4194304"],
    );
}

/// One mistake has one error, whatever follows from it, with the place where the bracket or the quote opened.
#[test]
fn only_the_first_syntax_error_is_reported() {
    let open = |opener: &str, line, column, closer: &str| {
        format!(
            "is not TOML: the `{opener}` opened at line {line}, column {column} is not closed; \
             expected `{closer}` here or before"
        )
    };
    let value = "expected text in quotes, a number, true or false, a list in [ ] or a table in { }";
    for (line, written, place, message) in [
        (6, "rate = \"10 Mbit/s", "6:18", open("\"", 6, 8, "\"")),
        (6, "rate = '10 Mbit/s # fast", "6:25", open("'", 6, 8, "'")),
        (1, "title = \"\"\"A\nB", "28:41", open("\"\"\"", 1, 9, "\"\"\"")),
        (5, "[bottleneck", "5:12", open("[", 5, 1, "]")),
        (10, "[[flows]", "10:9", open("[[", 10, 1, "]]")),
        (18, "start = { spread = [\"0 s\", \"5 s\" }", "18:34", open("[", 18, 20, "]")),
        (18, "start = { spread = [\"0 s\", \"5 s\"]", "19:1", open("{", 18, 9, "}")),
        (21, "x = [1, 2", "22:1", open("[", 21, 5, "]")),
        (27, "set = { \"bottleneck.rate\" = \"6 Mbit/s\"", "27:39", open("{", 27, 7, "}")),
        (6, "rate = 10 Mbit/s", "6:8", format!("is not TOML: 10 Mbit/s is not a value; {value}")),
        (6, "rate = fast # 10", "6:8", format!("is not TOML: fast is not a value; {value}")),
        (6, "rate =", "6:7", format!("is not TOML: a value is missing; {value}")),
        (6, "rate 10", "6:6", "is not TOML: key with no value; expected `=`".into()),
        (
            6,
            "rate = \"a\\q\"",
            "6:11",
            "is not TOML: missing escaped value; expected `b`, `e`, `f`, `n`, `r`, `\\`, `\"`, `x`, `u`, `U`"
                .into(),
        ),
    ] {
        let expected = format!("f.toml:{place}: {message}");
        check_line(line, written, &[&expected]);
        // A later syntax error is another mistake.
        let text: Vec<&str> =
            WHOLE.lines().enumerate().map(|(at, old)| if at + 1 == line { written } else { old }).collect();
        let errors = parse(&format!("{}\nx = [\ny = {{\n", text.join("\n"))).unwrap_err();
        assert_eq!(errors.lines().len(), 1, "{written}");
    }
}

/// Excerpts: the line of the error, and the line where a bracket opened.
#[test]
fn an_error_has_an_excerpt() {
    let shown = |text: &str| -> Vec<Vec<(usize, String, usize)>> {
        let errors = parse(text).unwrap_err();
        let one =
            |all: &Vec<Excerpt>| all.iter().map(|one| (one.line, one.text.clone(), one.before)).collect();
        errors.list().iter().map(|error| one(&error.excerpts)).collect()
    };
    assert_eq!(
        shown("a = 1\nx = [1, 2\n  y = 3\n"),
        [[(3, "  y = 3".to_string(), 2), (2, "x = [1, 2".to_string(), 4)]]
    );
    let text = WHOLE.replace("delay = { spread", "delay = { sprad").replace("stop = \"50 s\"", "stop = 50");
    assert_eq!(
        shown(&text),
        [
            [(
                17,
                "access = { rate = \"10 Mbit/s\", delay = { sprad = [\"38 ms\", \"42 ms\"] } }".to_string(),
                41
            )],
            [(19, "stop = 50".to_string(), 0)],
        ]
    );
    let errors = parse_with("duration", "60").unwrap_err();
    assert_eq!(errors.list()[0].excerpts, []);
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_file() {
    let text = WHOLE.replace("\"10 s\"", "10").replace("\"20 ms\"", "\"20\"").replace("reno\"", "rno\"");
    let errors = parse(&text).unwrap_err();
    let lines = errors.list().iter().map(|error| match error.location {
        Location::File { line, .. } => line,
        _ => 0,
    });
    assert!(lines.eq([3, 7, 13, 24]), "{errors}");
}

#[test]
fn errors_quote_overrides_as_written() {
    let long = "x".repeat(1000);
    let expected = format!("--set {}...: unknown key (expected title, ", "x".repeat(64));
    assert!(parse_with(&long, "1").unwrap_err().to_string().starts_with(&expected));
    let deep = "[".repeat(5000);
    let expected = format!(
        "--set duration: {}... is not a TOML value: too many brackets stand inside each other; expected 80 at most",
        "[".repeat(64)
    );
    check_override("duration", &deep, &expected);
    for (key, expected) in [
        ("bulk.reads", "--set bulk.reads: is a key of app = \"bulk\"; expected flows[0].app.bulk.reads"),
        ("bulk.sack", "--set bulk.sack: is a setting of TCP; expected flows[0].tcp.sack"),
        ("reads", "--set reads: is no key at the top; expected flows[0].app.bulk.reads"),
    ] {
        check_override(key, "true", expected);
    }
}

/// What stands behind the key of an override is whole keys.
#[test]
fn a_key_inside_an_override_is_whole() {
    let expected = "--set bottleneck.impairments.bursts.e: bottleneck.impairments.bursts.enter: is missing";
    let errors = parse_with("bottleneck.impairments.bursts.e", "0.1").unwrap_err();
    assert!(errors.lines().iter().any(|line| line.starts_with(expected)), "{errors}");
}

#[test]
fn a_parameter_inside_a_spec_may_be_set() {
    let text = LEAST.replace("rate = \"10 Mbit/s\"", "trace = \"lte:mean=12 Mbit/s\"");
    let set = |key: &str| Scenario::parse(text.as_bytes(), "f.toml", &[(key.into(), "0.3".into())]);
    assert!(set("bottleneck.trace.lte.volatility").is_ok());
    let errors = set("bottleneck.trace.lte.volatile").unwrap_err();
    let expected = "--set bottleneck.trace.lte.volatile: unknown key; did you mean \"volatility\"?";
    assert!(errors.lines()[0].starts_with(expected), "{errors}");
}

/// A key inside a value that the file does not give is set inside the default.
#[test]
fn a_parameter_of_the_default_may_be_set() {
    let set =
        |key: &str, value: &str| Scenario::parse(LEAST.as_bytes(), "f.toml", &[(key.into(), value.into())]);
    let flows = &set("flows[0].cc.hystart", "true").unwrap().flows[0];
    assert_eq!(flows.cc.to_string(), "newreno:hystart=true");
    assert_eq!(set("flows[0].cc.name", "cubic").unwrap().flows[0].cc.to_string(), "cubic");
    assert_eq!(qdisc(&set("bottleneck.qdisc.law", "red").unwrap()).to_string(), "red");
    let errors = set("bottleneck.qdisc.gentle", "true").unwrap_err();
    assert!(errors.lines()[0].starts_with("--set bottleneck.qdisc.gentle: unknown key"), "{errors}");
}

#[test]
fn a_replacement_qdisc_is_checked_in_the_context_of_its_link() {
    let scenario = parse(WHOLE).unwrap();
    for (spec, expected) in [
        ("rde", "\"rde\" is not a qdisc; did you mean \"red\"? (expected QDISCS)"),
        (
            "pi:target=400packets",
            "pi.target: 400 packets is above the buffer of 300 packets; expected within the buffer",
        ),
        (
            "red:gentel=true",
            "red.gentel: unknown key; did you mean \"gentle\"? \
             (expected min, max, thresholds, target, weight, max_p, gentle, mark_below_p, byte_mode, mean_packet, wait)",
        ),
        ("red:min", "\"min\" is not KEY=VALUE; expected NAME or NAME:KEY=VALUE,KEY=VALUE"),
    ] {
        assert_eq!(scenario.with_qdisc(spec).unwrap_err().lines(), [with_laws(expected)]);
    }
}

#[test]
fn a_flood_of_errors_is_cut() {
    let text: Vec<String> = (0..100_000).map(|n| format!("x{n} = 1")).collect();
    assert_eq!(parse(&text.join("\n")).unwrap_err().lines().len(), 101);
}
