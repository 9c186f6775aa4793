//! Knobs of TCP: which cannot be with which.

use crate::common::{LEAST, parse};
use sojourn_tcp::Prr;
use sojourn_tcp::cc::{BuildGuest, Choice, Feedback, Guest, Recovery};
use std::sync::Arc;

/// What a group of flows says, and what is told of it: `KEY: WHAT`, or nothing.
fn of_group(lines: &str) -> Vec<String> {
    let text = format!("{LEAST}{}\n", lines.replace("; ", "\n"));
    let faults = parse(&text).map_or_else(|faults| faults.lines().to_vec(), |_| Vec::new());
    let key = |line: String| line.split_once("flows[0].").map_or(line.clone(), |(_, rest)| rest.into());
    faults.into_iter().map(key).collect()
}

/// Lines of a group of flows, each with what is told of it alone.
#[track_caller]
fn each_is_told(lines: &[(&str, &str)]) {
    for (lines, told) in lines {
        let said = of_group(lines);
        assert!(said.len() == 1 && said[0].starts_with(told), "{lines}\n{said:#?}\n{told}");
    }
}

#[test]
fn knobs_of_recovery_that_would_not_be_followed_are_told() {
    each_is_told(&[
        (
            "tcp.prr = \"rfc9937\"",
            "tcp.prr: needs selective acknowledgments, which cc = \"newreno\" goes without; legal: sack = true with it",
        ),
        (
            "cc = \"cubic\"; sack = false; tcp.tail_loss_probe = true",
            "tcp.tail_loss_probe: needs selective acknowledgments, which sack = false leaves them without; legal: sack = true with it",
        ),
        (
            "tcp.loss_detection = \"rack\"",
            "tcp.loss_detection: needs selective acknowledgments, which cc = \"newreno\" goes without; legal: sack = true with it",
        ),
        (
            "tcp.dsack = true",
            "tcp.dsack: needs selective acknowledgments, which cc = \"newreno\" goes without; legal: sack = true with it",
        ),
        (
            "cc = \"cubic\"; profile = \"ns2\"; tcp.prr = \"rfc6937\"",
            "tcp.prr: needs a scoreboard, and here the pipe is only counted; legal: pipe = \"scoreboard\" with it",
        ),
        (
            "cc = \"cubic\"; tcp.loss_detection = \"dupacks\"; tcp.tail_loss_probe = true",
            "tcp.tail_loss_probe: is a part of RACK (RFC 8985, section 7), and here losses are found by duplicate ACKs; legal: loss_detection = \"rack\" with it",
        ),
        (
            "tcp.undo = true",
            "tcp.undo: needs timestamps or D-SACKs to see that nothing was lost, and here are neither; legal: timestamps = true, or sack = true and dsack = true, with it",
        ),
        (
            "sack = true; tcp.cautious_exit = true",
            "tcp.cautious_exit: is NewReno's (RFC 6582), and here recovery goes by SACK; legal: sack = false with it",
        ),
        (
            "cc = \"reno\"; tcp.cautious_exit = true",
            "tcp.cautious_exit: is NewReno's (RFC 6582), and here cc = \"reno\" has the recovery of RFC 5681; legal: another cc",
        ),
        (
            "tcp.sack_takes_room = true",
            "tcp.sack_takes_room: needs selective acknowledgments, which cc = \"newreno\" goes without; legal: sack = true with it",
        ),
        (
            "cc = \"cubic\"; tcp.limited_transmit = \"next\"",
            "tcp.limited_transmit: is \"next\", and here a scoreboard says what goes out before recovery (RFC 6675, section 5); legal: \"new_data\", or sack = false with it",
        ),
        (
            "cc = \"cubic\"; tcp.grow_on_exit = true",
            "tcp.grow_on_exit: needs recovery by duplicate ACKs, and here losses are found by RACK; legal: loss_detection = \"dupacks\" with it",
        ),
        (
            "cc = \"cubic\"; profile = \"ns2\"; tcp.grow_on_exit = true",
            "tcp.grow_on_exit: needs a scoreboard, and here the pipe is only counted; legal: pipe = \"scoreboard\" with it",
        ),
    ]);
}

#[test]
fn knobs_that_contradict_others_are_told() {
    each_is_told(&[
        (
            "delayed_ack = false; tcp.ack_every = 4",
            "tcp.ack_every: is of delayed ACKs, and here every segment is acknowledged; legal: delayed_ack = true with it",
        ),
        (
            "profile = \"ns2\"; tcp.ack_delay = \"10 ms\"",
            "tcp.ack_delay: is of delayed ACKs, and here every segment is acknowledged; legal: delayed_ack = true with it",
        ),
        (
            "min_rto = \"5 s\"; tcp.max_rto = \"4 s\"",
            "min_rto: 5 s is above max_rto = 4 s; legal: at most 4 s, or a larger max_rto",
        ),
        (
            "tcp.initial_rto = \"5 s\"; tcp.max_rto = \"4 s\"",
            "tcp.initial_rto: 5 s is above max_rto = 4 s; legal: at most 4 s, or a larger max_rto",
        ),
        (
            "tcp.max_rto = \"100 ms\"",
            "tcp.max_rto: 100 ms is below initial_rto = 1 s of the profile; legal: 1 s or more, or initial_rto with it",
        ),
        (
            "tcp.window_scaling = false; tcp.receive_window = 45",
            "tcp.receive_window: 45 segments are 65700 B, more than the 65535 B of a window where window_scaling = false; legal: 1 to 44 segments",
        ),
        (
            "tcp.receive_window = 1000000",
            "tcp.receive_window: 1000000 segments are 1460000000 B, more than the 1073741824 B of a window as windows are scaled (RFC 7323, section 2.3); legal: 1 to 735439 segments",
        ),
        (
            "tcp.fast_convergence = true",
            "tcp.fast_convergence: is CUBIC's, and here cc = \"newreno\"; legal: cc = \"cubic\" with it",
        ),
        (
            "tcp.cubic_counts_segments = true",
            "tcp.cubic_counts_segments: is CUBIC's, and here cc = \"newreno\"; legal: cc = \"cubic\" with it",
        ),
        (
            "cc = \"cubic\"; tcp.halving = \"window\"",
            "tcp.halving: is Reno's, and CUBIC keeps 0.7 of its window (RFC 9438, section 4.6); legal: another cc",
        ),
        (
            "cc = \"cubic\"; tcp.time_all = false",
            "tcp.time_all: is false, and here RACK times every segment (RFC 8985, section 6.1); legal: true, or loss_detection = \"dupacks\" with it",
        ),
        (
            "timestamps = true; tcp.time_all = false",
            "tcp.time_all: is false, and here timestamps measure with every ACK (RFC 7323, section 4.1); legal: true, or timestamps = false with it",
        ),
        (
            "tcp.ect_on_retransmit = true",
            "tcp.ect_on_retransmit: is of ECN, which these flows do not negotiate; legal: ecn = true with it",
        ),
        (
            "cc = \"dctcp\"; ecn = false",
            "ecn: is false, and cc = \"dctcp\" is made of ECN marks; legal: true, or another cc",
        ),
        (
            "cc = \"cubic:abe=true\"",
            "cc: has abe = true, an answer to ECN (RFC 8511), which these flows do not negotiate; legal: ecn = true with it",
        ),
    ]);
}

#[test]
fn values_that_a_knob_does_not_take_are_told() {
    each_is_told(&[
        // At a nanosecond the timer would expire a billion times a second.
        (
            "tcp = { max_rto = \"1 ns\", min_rto = \"1 ns\", initial_rto = \"1 ms\" }",
            "tcp.max_rto: \"1 ns\" is out of range; legal: 1 ms to 1 h",
        ),
        ("tcp.initial_rto = \"1 ns\"", "tcp.initial_rto: \"1 ns\" is out of range; legal: 1 ms to 60 s"),
        ("tcp.prrr = true", "tcp.prrr: unknown key; did you mean \"prr\"? (legal: initial_window"),
        ("tcp.pacing = 1", "tcp.pacing: 1 is neither true nor false"),
        (
            "cc = \"cubic\"; tcp.prr = \"rfc6397\"",
            "tcp.prr: \"rfc6397\" is no form of PRR; did you mean \"rfc6937\"? (expected: \"rfc9937\", \"rfc6937\" or false)",
        ),
        (
            "cc = \"cubic\"; tcp.prr = 6937",
            "tcp.prr: 6937 is no form of PRR (expected: \"rfc9937\", \"rfc6937\" or false)",
        ),
        (
            "cc = \"cubic\"; tcp.prr_counts_twice = true",
            "tcp.prr_counts_twice: is of PRR as RFC 6937 has it; expected prr = \"rfc6937\" with it",
        ),
        (
            "cc = \"cubic\"; tcp.recovery_restarts_timer = false",
            "tcp.recovery_restarts_timer: is false, of recovery by RFC 6675, and here losses are found by RACK",
        ),
        (
            "tcp.pipe = \"count\"",
            "tcp.pipe: \"count\" is none of the words; did you mean \"counted\"? (legal: scoreboard, counted)",
        ),
        ("reads = \"0 bit/s\"", "reads: 0 bit/s is out of range; legal: 1 bit/s to 10 Tbit/s"),
        ("tcp = true", "tcp: is not a table; legal: KEY = VALUE lines"),
        (
            "app = \"cbr\"; rate = \"1 Mbit/s\"; tcp.prr = \"rfc9937\"",
            "tcp: is not for app = \"cbr\", which is not TCP; legal: leave it out",
        ),
    ]);
}

/// `prr = true` is from before there were two forms of it: a file that has it gets the first.
#[test]
fn prr_that_is_true_is_that_of_rfc_9937() {
    let prr = |value: &str| {
        let text = format!("{LEAST}cc = \"cubic\"\ntcp.prr = {value}\n");
        let scenario = parse(&text).unwrap_or_else(|faults| panic!("{faults}"));
        scenario.flows[0].profile.prr
    };
    let values = ["true", "\"rfc9937\"", "\"rfc6937\"", "false"].map(prr);
    assert_eq!(values, [Prr::Rfc9937, Prr::Rfc9937, Prr::Rfc6937, Prr::Off]);
}

/// What a profile has, and what turns off a thing that is not there, contradicts nothing; SACK is for every congestion control.
#[test]
fn knobs_of_tcp_that_agree_are_taken() {
    for lines in [
        "cc = \"reno\"; sack = true; tcp.prr = true; tcp.prr_counts_twice = false; tcp.tail_loss_probe = true",
        "cc = \"cubic\"; sack = false",
        "tcp.prr = false; tcp.tail_loss_probe = false; tcp.dsack = false; tcp.undo = false",
        "timestamps = true; tcp.undo = true; tcp.frto = true",
        "cc = \"cubic\"; profile = \"ns2\"; tcp.pipe = \"scoreboard\"; tcp.loss_detection = \"rack\"; tcp.prr = \"rfc6937\"; tcp.prr_counts_twice = true",
        "tcp.window_scaling = false",
        "delayed_ack = true; tcp.ack_every = 4; tcp.ack_delay = \"500 ms\"",
        "initial_window = 64",
        "ecn = true; tcp.ect_on_retransmit = true",
        "profile = \"ns2\"; delayed_ack = true; tcp.ack_every = 3",
        "tcp.fast_convergence = false; tcp.cubic_counts_segments = false; tcp.sack_takes_room = false",
        "cc = \"reno\"; tcp.cautious_exit = false; tcp.loss_detection = \"dupacks\"; tcp.time_all = false",
        "cc = \"cubic\"; tcp.loss_detection = \"dupacks\"; tcp.recovery_restarts_timer = false",
        "cc = \"cubic\"; tcp.recovery_restarts_timer = true",
        "cc = \"cubic\"; tcp.grow_on_exit = false; tcp.limited_transmit = \"new_data\"; tcp.time_all = true",
        "cc = \"cubic\"; tcp.loss_detection = \"dupacks\"; tcp.tail_loss_probe = false; tcp.time_all = false",
        "cc = \"dctcp\"; tcp.halving = \"window\"; tcp.byte_counting = 0",
    ] {
        assert_eq!(of_group(lines), [""; 0], "{lines}");
    }
}

#[test]
fn a_control_that_is_named_beside_the_file_is_held_to_what_the_file_sets() {
    let scenario = |lines: &str| parse(&format!("{LEAST}{}\n", lines.replace("; ", "\n"))).unwrap();
    let told = |lines: &str, cc: &Choice| {
        scenario(lines).with_cc(&[0], cc).map_or_else(|faults| faults.lines().to_vec(), |_| Vec::new())
    };
    let of_sack =
        "cc = \"cubic\"; tcp = { prr = \"rfc6937\", loss_detection = \"rack\", tail_loss_probe = true }";
    let reno = guest("Mine", Recovery::NewReno, Feedback::Classic);
    for cc in [&Choice::from("newreno"), &reno] {
        let line = |key: &str| {
            let name = cc.name();
            format!(
                "flows[0].tcp.{key}: needs selective acknowledgments, which cc = \"{name}\" goes without; \
                 legal: sack = true with it"
            )
        };
        assert_eq!(told(of_sack, cc), ["prr", "loss_detection", "tail_loss_probe"].map(line));
        assert_eq!(told(&format!("{of_sack}; sack = true"), cc), [""; 0]);
    }
    let of_cubic = "cc = \"cubic\"; tcp = { fast_convergence = true }";
    assert_eq!(
        told(of_cubic, &reno),
        ["flows[0].tcp.fast_convergence: is CUBIC's, and here cc = \"Mine\"; legal: cc = \"cubic\" with it"]
    );
    for knob in ["byte_counting = 0", "halving = \"window\""] {
        let said = told(&format!("tcp = {{ {knob} }}"), &reno);
        assert!(
            said.len() == 1 && said[0].contains("\"Mine\" is none of them; legal: leave it out"),
            "{said:?}"
        );
    }
    let marked = guest("Marked", Recovery::NewReno, Feedback::PerSegment);
    assert_eq!(
        told("ecn = false", &marked),
        ["flows[0].ecn: is false, and cc = \"Marked\" is made of ECN marks; legal: true, or another cc"]
    );
    let abe = Choice::parse("cubic:abe=true").unwrap();
    assert!(told("cc = \"reno\"", &abe)[0].starts_with("flows[0].cc: has abe = true, an answer to ECN"));
    assert_eq!(told("", &abe).len(), 1);
}

/// As where the file had it.
#[test]
fn ecn_is_on_where_a_control_named_beside_the_file_is_made_of_marks() {
    let plain = parse(LEAST).unwrap();
    let dctcp = parse(&format!("{LEAST}cc = \"dctcp\"\n")).unwrap();
    assert_eq!(plain.with_cc(&[0], &Choice::from("dctcp")), Ok(dctcp.clone()));
    assert!(
        plain.with_cc(&[0], &guest("Marked", Recovery::Sack, Feedback::PerSegment)).unwrap().flows[0].ecn
    );
    assert_eq!(dctcp.with_cc(&[0], &Choice::from("newreno")), Ok(plain));
    let asked = parse(&format!("{LEAST}ecn = true\n")).unwrap();
    assert!(asked.with_cc(&[0], &Choice::from("newreno")).unwrap().flows[0].ecn);
}

fn guest(name: &str, recovery: Recovery, feedback: Feedback) -> Choice {
    let build: Arc<BuildGuest> = Arc::new(|_, _| unreachable!("nothing runs"));
    Choice::Guest(Guest { name: name.into(), recovery, feedback, build })
}
