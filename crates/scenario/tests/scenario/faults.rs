//! Every fault is one line: where, what is wrong, what is legal.

use crate::common::{LEAST, WHOLE, disc, parse, parse_with, with_laws};
use sojourn_scenario::{Excerpt, Scenario};

/// Replaces one line of [`WHOLE`] and expects exactly these lines to be told.
#[track_caller]
fn told(line: usize, written: &str, expected: &[&str]) {
    let lines: Vec<&str> =
        WHOLE.lines().enumerate().map(|(at, old)| if at + 1 == line { written } else { old }).collect();
    let faults = parse(&lines.join("\n")).expect_err(written);
    let expected: Vec<String> = expected.iter().map(|line| with_laws(line)).collect();
    assert_eq!(faults.lines(), expected, "{written}");
}

#[track_caller]
fn told_of_bytes(bytes: &[u8], expected: &[&str]) {
    assert_eq!(Scenario::parse(bytes, "f.toml", &[]).unwrap_err().lines(), expected);
}

#[track_caller]
fn told_of_set(key: &str, value: &str, expected: &str) {
    let faults = parse_with(key, value).expect_err(value);
    assert_eq!(faults.lines(), [expected], "{key}={value}");
}

#[test]
fn the_scenarios_of_the_tests_are_legal() {
    assert!(parse(WHOLE).is_ok() && parse(LEAST).is_ok());
}

#[test]
fn an_unknown_key_is_told_with_the_nearest() {
    told(
        8,
        "bufer = \"300 packets\"",
        &[
            "f.toml:8:1: bottleneck.bufer: unknown key; did you mean \"buffer\"? (legal: rate, trace, delay, buffer, disc, framing, impairments, back)",
        ],
    );
    told(
        23,
        "[[flow]]",
        &["f.toml:23:3: flow: unknown key; did you mean \"flows\"? \
         (legal: title, duration, warmup, sample, fluid_window, fluid_step, bottleneck, parking_lot, two_bottlenecks, home, links, flows, at)"],
    );
    told(
        17,
        "access = { rat = \"10 Mbit/s\" }",
        &["f.toml:17:12: flows[0].access.rat: unknown key; did you mean \"rate\"? (legal: rate, delay)"],
    );
    told(
        27,
        "set = { bottleneck.rat = \"6 Mbit/s\" }",
        &["f.toml:27:20: at[0].set.bottleneck.rat: unknown key; did you mean \"bottleneck.rate\"? \
         (legal: bottleneck.rate, bottleneck.delay, bottleneck.disc.KEY)"],
    );
}

#[test]
fn units_are_asked_for_and_checked() {
    told(
        2,
        "duration = 60",
        &["f.toml:2:1: duration: \"60\" needs a unit: ns, us, ms, s, min, h; write it like \"20 ms\""],
    );
    told(2, "duration = \"60\"", &["f.toml:2:1: duration: \"60\" needs a unit: ns, us, ms, s, min, h"]);
    told(
        7,
        "delay = \"20 mbit\"",
        &["f.toml:7:1: bottleneck.delay: \"mbit\" is not a unit of a time; did you mean \"min\"? \
         (units: ns, us, ms, s, min, h)"],
    );
    told(
        6,
        "rate = \"-10 Mbit/s\"",
        &["f.toml:6:1: bottleneck.rate: \"-10 Mbit/s\" is negative; a rate is at least 0"],
    );
    told(
        6,
        "rate = nan",
        &["f.toml:6:1: bottleneck.rate: \"NaN\" is not a number with a unit; write it like \"8 Mbit/s\""],
    );
    told(
        6,
        "rate = \"inf Mbit/s\"",
        &[
            "f.toml:6:1: bottleneck.rate: \"inf Mbit/s\" is not a number with a unit; write it like \"8 Mbit/s\"",
        ],
    );
    told(
        27,
        "set = { \"bottleneck.rate\" = inf }",
        &[
            "f.toml:27:9: at[0].set.bottleneck.rate: \"inf\" is not a number with a unit; write it like \"8 Mbit/s\"",
        ],
    );
}

#[test]
fn wrong_types_are_told() {
    told(1, "title = 7", &["f.toml:1:1: title: 7 is not text; write it in quotes"]);
    told(1, "title = 1979-05-27", &["f.toml:1:1: title: 1979-05-27 is a date, which no key takes"]);
    told(
        11,
        "count = \"many\"",
        &["f.toml:11:1: flows[0].count: \"many\" is not a whole number; write it like 50"],
    );
    told(
        11,
        "count = 99999999999999999999",
        &[
            "f.toml:11:1: flows[0].count: 99999999999999999999 is too large; legal: at most 9223372036854775807",
        ],
    );
    told(15, "ecn = 1", &["f.toml:15:1: flows[0].ecn: 1 is neither true nor false"]);
    told(
        17,
        "access = \"10 Mbit/s\"",
        &[
            "f.toml:17:1: flows[0].access: is not a table; legal: KEY = VALUE lines under a [table], or { KEY = VALUE }",
        ],
    );
    told(
        17,
        "access = { delay = { sprad = [\"1 ms\", \"2 ms\"] } }",
        &["f.toml:17:12: flows[0].access.delay: \"sprad\" is unknown; did you mean \"spread\"? \
         (legal: TIME, { spread = [TIME, TIME] })"],
    );
    told(
        18,
        "start = { random = [\"1 s\"] }",
        &["f.toml:18:1: flows[0].start: [\"1 s\"] is not a list of two times; \
         legal: TIME, { spread = [TIME, TIME] }, { random = [TIME, TIME] }"],
    );
    told_of_bytes(
        b"title = 'a'\nduration = '1 s'\nbottleneck = { rate = '1 Mbit/s', delay = '0 s' }\n[flows]\n",
        &["f.toml:4:2: flows: is not a list of tables; legal: [[double brackets]] before each"],
    );
}

#[test]
fn values_out_of_range_are_told_with_the_range() {
    told(
        1,
        "title = \" \"",
        &["f.toml:1:1: title: is empty; legal: one line, not empty, at most 200 letters"],
    );
    told(2, "duration = \"0 s\"", &["f.toml:2:1: duration: \"0 s\" is out of range; legal: more than 0"]);
    told(
        4,
        "sample = \"1 us\"",
        &["f.toml:4:1: sample: 1 us is out of range; legal: 60 us to the duration of 60 s"],
    );
    told(
        6,
        "rate = \"0 Mbit/s\"",
        &["f.toml:6:1: bottleneck.rate: 0 bit/s is out of range; legal: 1 bit/s to 1 Tbit/s"],
    );
    told(
        6,
        "rate = \"1e12 packets/s\"",
        &["f.toml:6:1: bottleneck.rate: 1000000000000 packets/s is out of range; legal: 1 bit/s to 1 Tbit/s"],
    );
    told(
        8,
        "buffer = \"0 packets\"",
        &["f.toml:8:1: bottleneck.buffer: 0 packets cannot be held; legal: whole packets, 1 to 1000000000"],
    );
    told(
        8,
        "buffer = \"999 B\"",
        &["f.toml:8:1: bottleneck.buffer: 999 B holds 999 B, less than one packet; legal: 1500 B or more"],
    );
    told(
        8,
        "buffer = \"1 us\"",
        &["f.toml:8:1: bottleneck.buffer: 1 us holds 1 B, less than one packet; legal: 1500 B or more"],
    );
    told(11, "count = 0", &["f.toml:11:1: flows[0].count: 0 is out of range; legal: 1 to 1000000"]);
    told(11, "count = -5", &["f.toml:11:1: flows[0].count: -5 is out of range; legal: 1 to 1000000"]);
    told(
        11,
        "count = 1_000_000",
        &[
            "f.toml:23:1: flows[1].count: makes 1000001 flows so far, each connection of web and each source of lrd for one; legal: at most 1000000",
        ],
    );
    told(
        16,
        "segment = \"99 B\"",
        &["f.toml:16:1: flows[0].segment: \"99 B\" is out of range; legal: 100 B to 65535 B"],
    );
    told(
        20,
        "initial_window = 1001",
        &["f.toml:20:1: flows[0].initial_window: 1001 is out of range; legal: 1 to 1000"],
    );
    told(
        22,
        "min_rto = \"2 min\"",
        &["f.toml:22:1: flows[0].min_rto: \"2 min\" is out of range; legal: more than 0, at most 60 s"],
    );
}

#[test]
fn keys_of_tcp_and_of_udp_do_not_mix() {
    told(
        12,
        "rate = \"1 Mbit/s\"",
        &[
            "f.toml:12:1: flows[0].rate: is not for app = \"bulk\"; legal: with app = \"cbr\", \"poisson\", \"on_off\", \"lrd\"",
        ],
    );
    let udp = LEAST.replace("[[flows]]", "[[flows]]\napp = \"cbr\"\ncc = \"reno\"");
    assert_eq!(
        parse(&udp).unwrap_err().to_string(),
        "f.toml:6:1: flows[0].rate: app = \"cbr\" needs a rate; legal: rate = \"1 Mbit/s\", for example\n\
         f.toml:8:1: flows[0].cc: is not for app = \"cbr\", which is not TCP; legal: leave it out"
    );
}

#[test]
fn datagrams_fit_their_access_link() {
    let udp = LEAST.replace("[[flows]]", "[[flows]]\napp = \"cbr\"\nrate = \"101 Mbit/s\"");
    assert_eq!(
        parse(&udp).unwrap_err().lines(),
        [
            "f.toml:8:1: flows[0].rate: 101 Mbit/s is more than its access link carries; legal: at most 100 Mbit/s"
        ]
    );
}

/// Each line of a group of datagrams, and what is told of it.
#[test]
fn datagrams_are_of_a_size_and_a_time_that_can_be() {
    for (line, said) in [
        (
            "app = \"on_off\"; rate = \"1 Mbit/s\"; on = \"0 s\"",
            "on: \"0 s\" is out of range; legal: more than 0 on average",
        ),
        (
            "app = \"on_off\"; rate = \"1 Mbit/s\"; on = \"5\"",
            "on: \"5\" needs a unit: ns, us, ms, s, min, h",
        ),
        (
            "app = \"on_off\"; rate = \"10 bit/s\"; on = \"1 ms\"",
            "rate: a source fills a datagram in 1200 s, in periods of 1 ms on average; legal: in at most 1000 of them",
        ),
        (
            "app = \"cbr\"; rate = \"1 Mbit/s\"; on = \"1 s\"",
            "on: is not for app = \"cbr\"; legal: with app = \"on_off\", \"lrd\"",
        ),
        (
            "app = \"lrd\"; rate = \"1 Mbit/s\"; on = { exponential = \"1 s\" }",
            "on: exponential of mean 1 s is no mean; legal: a time above 0, such as \"500 ms\": the periods of lrd are \
             Pareto distributed",
        ),
        (
            "app = \"lrd\"; rate = \"1 Mbit/s\"; hurst = 1.0",
            "hurst: 1.0 is out of range; legal: 0.55 to 0.95",
        ),
        ("app = \"lrd\"; rate = \"1 Mbit/s\"; sources = 0", "sources: 0 is out of range; legal: 1 to 10000"),
        ("app = \"ping\"; size = \"20 B\"", "size: 20 B is out of range; legal: 28 B to 65535 B on average"),
        (
            "app = \"ping\"; size = \"2 packets\"",
            "size: 2 packets is no size of a datagram of app = \"ping\"; legal: bytes, such as \"200 B\"",
        ),
        ("app = \"ping\"; every = \"0 s\"", "every: \"0 s\" is out of range; legal: 1 us to 1 h"),
        (
            "app = \"voip\"; segment = \"200 B\"",
            "segment: is not for app = \"voip\"; legal: with app = \"bulk\", \"transfer\", \"mice\", \"web\", \"video\", \"game\", \"rrul\", \"cbr\", \"poisson\", \"on_off\", \"lrd\"",
        ),
        (
            "app = \"cbr\"; rate = \"1 Mbit/s\"; size = \"200 B\"; segment = \"200 B\"",
            "segment: is given beside size; legal: one of the two",
        ),
        (
            "app = \"voip\"; access = { rate = \"64 kbit/s\" }",
            "app: 80 kbit/s is more than its access link carries; legal: at most 64 kbit/s",
        ),
    ] {
        let text = LEAST.replace("[[flows]]", &format!("[[flows]]\n{}", line.replace("; ", "\n")));
        let told = parse(&text).unwrap_err().to_string();
        assert_eq!(told.split_once("flows[0].").unwrap().1, said, "{line}");
    }
}

#[test]
fn unknown_words_are_told_with_the_list() {
    told(
        12,
        "app = \"bluk\"",
        &[
            "f.toml:12:1: flows[0].app: \"bluk\" is no known application; did you mean \"bulk\"? (legal: bulk, transfer, mice, web, video, game, rrul, cbr, poisson, on_off, lrd, voip, ping)",
        ],
    );
    told(
        13,
        "cc = \"neworeno\"",
        &[
            "f.toml:13:1: flows[0].cc: \"neworeno\" is no known congestion control; did you mean \"newreno\"? \
         (legal: reno, newreno, cubic, dctcp, scalable)",
        ],
    );
    for (column, written, said) in [
        (1, "cc = \"dctcp:abe=true\"", ".abe: unknown key (legal: g, alpha)"),
        (
            24,
            "cc = { name = \"cubic\", hystart = 1 }",
            ".hystart: 1 is no way to leave slow start; legal: \"rfc9406\" or true, \"hybrid\" or false",
        ),
        (
            8,
            "cc = { name = \"cubik\" }",
            ".name: \"cubik\" is no known congestion control; did you mean \"cubic\"? \
         (legal: reno, newreno, cubic, dctcp, scalable)",
        ),
        (
            1,
            "cc = { hystart = true }",
            ".name: is missing; legal: the name of a congestion control, \
         as in { name = \"cubic\" }",
        ),
        (
            1,
            "cc = 7",
            ": is not a congestion control; write it like { name = \"cubic\" } or \"cubic:hystart=false\"",
        ),
    ] {
        told(13, written, &[&format!("f.toml:13:{column}: flows[0].cc{said}")]);
    }
    told(
        14,
        "profile = \"ns4\"",
        &[
            "f.toml:14:1: flows[0].profile: \"ns4\" is no known profile; did you mean \"ns2\"? (legal: default, ns2, ns3)",
        ],
    );
}

#[test]
fn what_contradicts_the_rest_of_the_file_is_told() {
    told(
        3,
        "warmup = \"1 min\"",
        &["f.toml:3:1: warmup: 60 s is not below the duration of 60 s; legal: below duration"],
    );
    told(
        18,
        "start = { random = [\"61 s\", \"0 s\"] }",
        &[
            "f.toml:18:1: flows[0].start: 61 s is not before the end of the run at 60 s; legal: below duration",
        ],
    );
    told(
        19,
        "stop = \"5 s\"",
        &["f.toml:19:1: flows[0].stop: 5 s is not after the latest start at 5 s; legal: after every start"],
    );
    told(
        26,
        "time = \"60 s\"",
        &["f.toml:26:1: at[0].time: 60 s is not below the duration of 60 s; legal: below duration"],
    );
    told(
        27,
        "set = {}",
        &[
            "f.toml:27:1: at[0].set: sets nothing; legal: at least one key, as in { \"bottleneck.rate\" = \"6 Mbit/s\" }",
        ],
    );
    told(
        27,
        "set = { \"bottleneck.rate\" = \"1 Mbit/s\", bottleneck.rate = \"2 Mbit/s\" }",
        &["f.toml:27:52: at[0].set.bottleneck.rate: is given twice; legal: each key once"],
    );
}

#[test]
fn laws_refuse_at_the_line_of_their_key() {
    told(
        9,
        "disc = { law = \"pi\", target = \"400 packets\" }",
        &[
            "f.toml:9:22: bottleneck.disc.target: 400 packets is above the buffer of 300 packets; legal: within the buffer",
        ],
    );
    told(
        8,
        "buffer = \"50 packets\"",
        &[
            "f.toml:9:22: bottleneck.disc.target: 100 packets is above the buffer of 50 packets; legal: within the buffer",
        ],
    );
    told(
        9,
        "disc = \"tail_drp:target=1packets\"",
        &[
            "f.toml:9:1: bottleneck.disc: \"tail_drp\" is not a law; did you mean \"tail_drop\"? (legal: LAWS)",
        ],
    );
    told(
        9,
        "disc = { law = \"rde\" }",
        &["f.toml:9:10: bottleneck.disc.law: \"rde\" is not a law; did you mean \"red\"? (legal: LAWS)"],
    );
    told(
        9,
        "disc = { target = \"1 packets\" }",
        &["f.toml:9:1: bottleneck.disc.law: is missing; legal: the name of a law, as in { law = \"red\" }"],
    );
    told(
        9,
        "disc = 5",
        &[
            "f.toml:9:1: bottleneck.disc: is not a disc; write it like { law = \"red\" } or \"red:min=50packets\"",
        ],
    );
    told(
        9,
        "disc.law = \"red\"\ndisc.min = 50\ndisc.max = \"9 packets\"\ndisc.weight = 2",
        &[
            "f.toml:10:6: bottleneck.disc.min: \"50\" needs a unit: packets, packet, B, kB, MB, GB, KiB, MiB, GiB, \
         ns, us, ms, s, min, h; write it like \"300 packets\"; legal: more than 0, less than max",
            "f.toml:12:6: bottleneck.disc.weight: 2.0 is out of range; legal: more than 0, at most 1 \
         (0.002, Floyd and Jacobson 1993; with thresholds = auto 1 - e^(-1/C), a time constant of 1 s)",
        ],
    );
}

#[test]
fn a_law_is_checked_also_where_its_place_is_not_known() {
    let text =
        WHOLE.replace("rate = \"10 Mbit/s\"\ndelay", "rate = \"fast\"\ndelay").replace("target", "tarket");
    let faults = parse(&text).unwrap_err();
    assert_eq!(
        faults.lines(),
        [
            "f.toml:6:1: bottleneck.rate: \"fast\" is not a number with a unit; write it like \"8 Mbit/s\"",
            "f.toml:9:22: bottleneck.disc.tarket: unknown key; did you mean \"target\"? (legal: target, a, b, rate)",
        ]
    );
}

#[test]
fn missing_keys_are_told_at_the_line_of_their_table() {
    told_of_bytes(
        b"\n[bottleneck]\n[[at]]\n[[flows]]",
        &[
            "f.toml:1:1: title: is missing; legal: text in quotes (one line, not empty, at most 200 letters)",
            "f.toml:1:1: duration: is missing; legal: a time such as \"20 ms\" (more than 0)",
            "f.toml:2:2: bottleneck.rate: is missing; legal: a rate such as \"8 Mbit/s\" (1 bit/s to 1 Tbit/s)",
            "f.toml:2:2: bottleneck.delay: is missing; legal: a time such as \"20 ms\" (at most 1000 s)",
            "f.toml:3:1: at[0].time: is missing; legal: a time such as \"20 ms\" (before duration)",
            "f.toml:3:1: at[0].set: is missing; legal: a table [at.set]",
        ],
    );
    told_of_bytes(
        b"title = 'a'\nduration = '1 s'\nflows = []",
        &[
            "f.toml:1:1: bottleneck: is missing; legal: a table [bottleneck], or another network: [parking_lot], \
             [two_bottlenecks], [home] or [[links]]",
            "f.toml:3:1: flows: is empty; legal: one or more tables [[flows]]",
        ],
    );
    // One that is there under another name is not missing.
    let misspelt =
        LEAST.replace("title", "titel").replace("rate", "rat").replace("[bottleneck]", "[bottlneck]");
    told_of_bytes(
        misspelt.as_bytes(),
        &[
            "f.toml:1:1: titel: unknown key; did you mean \"title\"? (legal: title, duration, warmup, sample, \
             fluid_window, fluid_step, bottleneck, parking_lot, two_bottlenecks, home, links, flows, at)",
            "f.toml:3:2: bottlneck: unknown key; did you mean \"bottleneck\"? (legal: title, duration, warmup, \
             sample, fluid_window, fluid_step, bottleneck, parking_lot, two_bottlenecks, home, links, flows, at)",
        ],
    );
    told(
        6,
        "tracee = \"x.trace\"",
        &["f.toml:6:1: bottleneck.tracee: unknown key; did you mean \"trace\"? \
         (legal: rate, trace, delay, buffer, disc, framing, impairments, back)"],
    );
    let without = LEAST.replace("[[flows]]\n", "");
    told_of_bytes(
        without.as_bytes(),
        &["f.toml:1:1: flows: is missing; legal: one or more tables [[flows]]"],
    );
}

/// One header that is not there is one fault, at the first key below it that does not fit the table above.
#[test]
fn keys_without_their_header_are_one_fault() {
    let without = |text: &str, header: &str| text.replacen(&format!("{header}\n"), "", 1);
    let home = "title = \"A home\"\nduration = \"1 s\"\n[home]\n[home.down]\nrate = \"9 Mbit/s\"\ndelay = \"1 ms\"\n\
                [home.up]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flows]]\n";
    let one = "[[flows]]\ncc = \"reno\"\n";
    for (text, line) in [
        (
            without(&without(WHOLE, one.trim_end()), "[[flows]]"),
            "10:1: bottleneck.count: is a key of [[flows]], which is missing; legal: [[flows]] above it",
        ),
        (
            without(WHOLE, "[bottleneck]"),
            "5:1: rate: is a key of [bottleneck], which is missing; legal: [bottleneck] above it",
        ),
        (
            without(WHOLE, "[[at]]"),
            "25:1: flows[1].time: is a key of [[at]], which is missing; legal: [[at]] above it",
        ),
        (
            without(home, "[home.down]"),
            "4:1: home.rate: is a key of [home.down], which is missing; legal: [home.down] above it",
        ),
        (
            WHOLE.replace(one, "[[flows]]\nprr = false\nloss_detection = \"dupacks\"\n"),
            "24:1: flows[1].prr: is a key of [flows.tcp], which is missing; legal: [flows.tcp] above it",
        ),
        (without(home, "[home.up]"), "7:1: rate: is given twice; legal: each key once"),
        (
            WHOLE
                .replace(one, "")
                .replace("min_rto = \"1 s\"\n", "count = 2\ncc = \"reno\"\napp = \"bulk\"\n"),
            "22:1: count: is given twice; legal: each key once",
        ),
    ] {
        assert_eq!(parse(&text).unwrap_err().lines(), [format!("f.toml:{line}")], "{text}");
    }
    // On the command line there are no headers.
    let faults = parse_with("flows[1].prr", "false").unwrap_err();
    assert!(faults.lines()[0].starts_with("--set flows[1].prr: unknown key (legal: "), "{faults}");
}

#[test]
fn text_that_is_no_toml_is_told_by_its_line() {
    told_of_bytes(
        b"",
        &["f.toml:1:1: the file holds no keys; legal: a scenario in TOML, see `sojourn explain scenario`"],
    );
    told_of_bytes(
        b"# only words\n",
        &["f.toml:1:1: the file holds no keys; legal: a scenario in TOML, see `sojourn explain scenario`"],
    );
    told_of_bytes(
        b"a = 1\n\x7fELF\xff",
        &["f.toml:2:5: byte 0xff is not UTF-8: a binary file; legal: TOML text in UTF-8"],
    );
    told_of_bytes(
        b"a = 1\n\nb\0",
        &["f.toml:3:2: holds a NUL byte: a binary file; legal: TOML text in UTF-8"],
    );
    told_of_bytes(
        &vec![b'#'; (4 << 20) + 1],
        &["f.toml:1:1: the file has 4194305 bytes; legal: at most 4194304"],
    );
    told(7, "rate = \"9 Mbit/s\"", &["f.toml:7:1: rate: is given twice; legal: each key once"]);
    told(23, "[bottleneck]", &["f.toml:23:2: bottleneck: is given twice; legal: each key once"]);
}

/// One mistake has one fault, whatever follows from it, with the place where the bracket or the quote opened.
#[test]
fn of_a_broken_syntax_the_first_fault_is_told() {
    let open = |opener: &str, line, column, closer: &str| {
        format!(
            "is not TOML: the `{opener}` opened at line {line}, column {column} is not closed; \
             expected `{closer}` here or before"
        )
    };
    let value = "expected text in quotes, a number, true or false, a list in [ ] or a table in { }";
    for (line, written, place, what) in [
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
        let expected = format!("f.toml:{place}: {what}");
        told(line, written, &[&expected]);
        // What is broken further down is another mistake.
        let text: Vec<&str> =
            WHOLE.lines().enumerate().map(|(at, old)| if at + 1 == line { written } else { old }).collect();
        let faults = parse(&format!("{}\nx = [\ny = {{\n", text.join("\n"))).unwrap_err();
        assert_eq!(faults.lines().len(), 1, "{written}");
    }
}

/// For people to look at there are the lines of the file: that of the fault, and that where a bracket opened.
#[test]
fn a_fault_has_the_line_of_its_place() {
    let shown = |text: &str| -> Vec<Vec<(usize, String, usize)>> {
        let faults = parse(text).unwrap_err();
        let one =
            |all: &Vec<Excerpt>| all.iter().map(|one| (one.line, one.text.clone(), one.before)).collect();
        faults.excerpts().iter().map(one).collect()
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
                31
            )],
            [(19, "stop = 50".to_string(), 0)],
        ]
    );
    let faults = parse_with("duration", "60").unwrap_err();
    assert_eq!(faults.excerpts(), [[]]);
}

#[test]
fn all_faults_are_told_in_the_order_of_the_file() {
    let text = WHOLE.replace("\"10 s\"", "10").replace("\"20 ms\"", "\"20\"").replace("reno\"", "rno\"");
    let faults = parse(&text).unwrap_err();
    let starts: Vec<&str> = faults.lines().iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(starts, ["f.toml:3:1", "f.toml:7:1", "f.toml:13:1", "f.toml:24:1"]);
}

#[test]
fn overrides_are_told_as_they_were_written() {
    told_of_set(
        "bottleneck.rate",
        "-6 Mbit/s",
        "--set bottleneck.rate: \"-6 Mbit/s\" is negative; a rate is at least 0",
    );
    told_of_set("flows.0.count", "x", "--set flows.0.count: \"x\" is not a whole number; write it like 50");
    told_of_set("flows[9].count", "1", "--set flows[9].count: there is no item 9; legal: 0 to 1");
    told_of_set(
        "flows.count",
        "1",
        "--set flows.count: \"count\" is looked for in a list; write its place, as in flows[0].count",
    );
    told_of_set("title.x", "1", "--set title.x: \"x\" is looked for in what is no table");
    told_of_set("title[0]", "1", "--set title[0]: there is no item 0: this is no list");
    told_of_set(
        "a..b",
        "1",
        "--set a..b: is not a key; write it like bottleneck.rate=\"6 Mbit/s\" or flows[0].count=20",
    );
    told_of_set("duration", "[1,", "--set duration: [1, is not a TOML value: unclosed array; expected `]`");
    let long = "x".repeat(1000);
    let told = format!("--set {}...: unknown key (legal: title, ", "x".repeat(64));
    assert!(parse_with(&long, "1").unwrap_err().to_string().starts_with(&told));
    let deep = "[".repeat(5000);
    let told = format!(
        "--set duration: {}... is not a TOML value: too many brackets stand inside each other; expected 80 at most",
        "[".repeat(64)
    );
    told_of_set("duration", &deep, &told);
    told_of_set(
        "bottleneck.bufer",
        "1 s",
        "--set bottleneck.bufer: unknown key; did you mean \"buffer\"? (legal: rate, trace, delay, buffer, disc, framing, impairments, back)",
    );
    told_of_set(
        "bottleneck.disc",
        "pi:target=900packets",
        "--set bottleneck.disc: target: 900 packets is above the buffer of 300 packets; \
         legal: within the buffer",
    );
    told_of_set(
        "at[0].set.bottleneck.dely",
        "1 s",
        "--set at[0].set.bottleneck.dely: unknown key; did you mean \"bottleneck.delay\"? \
         (legal: bottleneck.rate, bottleneck.delay, bottleneck.disc.KEY)",
    );
}

/// What is set inside of a thing that the file does not name is set inside of the default.
#[test]
fn a_parameter_of_the_default_may_be_set() {
    let set =
        |key: &str, value: &str| Scenario::parse(LEAST.as_bytes(), "f.toml", &[(key.into(), value.into())]);
    let flows = &set("flows[0].cc.hystart", "true").unwrap().flows[0];
    assert_eq!(flows.cc.to_string(), "newreno:hystart=true");
    assert_eq!(set("flows[0].cc.name", "cubic").unwrap().flows[0].cc.to_string(), "cubic");
    assert_eq!(disc(&set("bottleneck.disc.law", "red").unwrap()).to_string(), "red");
    let faults = set("bottleneck.disc.gentle", "true").unwrap_err();
    assert!(faults.lines()[0].starts_with("--set bottleneck.disc.gentle: unknown key"), "{faults}");
}

#[test]
fn a_disc_that_is_named_beside_the_file_is_checked_at_the_scenarios_place() {
    let scenario = parse(WHOLE).unwrap();
    for (spec, expected) in [
        ("rde", "\"rde\" is not a law; did you mean \"red\"? (legal: LAWS)"),
        (
            "pi:target=400packets",
            "pi.target: 400 packets is above the buffer of 300 packets; legal: within the buffer",
        ),
        (
            "red:gentel=true",
            "red.gentel: unknown key; did you mean \"gentle\"? \
             (legal: min, max, thresholds, target, weight, max_p, gentle, mark_below_p, byte_mode, mean_packet, wait)",
        ),
        ("red:min", "\"min\" is not KEY=VALUE; legal: NAME or NAME:KEY=VALUE,KEY=VALUE"),
    ] {
        assert_eq!(scenario.with_disc(spec).unwrap_err().lines(), [with_laws(expected)]);
    }
}

#[test]
fn a_flood_of_faults_ends() {
    let text: Vec<String> = (0..100_000).map(|n| format!("x{n} = 1")).collect();
    assert_eq!(parse(&text.join("\n")).unwrap_err().lines().len(), 101);
}
