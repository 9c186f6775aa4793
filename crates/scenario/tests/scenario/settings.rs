//! Settings of TCP: contradictions.

use crate::common::{LEAST, parse};
use sojourn_tcp::Prr;
use sojourn_tcp::cc::{BuildCustom, Choice, Custom, Feedback, Recovery};
use std::sync::Arc;

/// Errors of a group of flows, as `KEY: MESSAGE`.
fn of_group(lines: &str) -> Vec<String> {
    let text = format!("{LEAST}{}\n", lines.replace("; ", "\n"));
    let errors = parse(&text).map_or_else(|errors| errors.lines(), |_| Vec::new());
    let key = |line: String| line.split_once("flows[0].").map_or(line.clone(), |(_, rest)| rest.into());
    errors.into_iter().map(key).collect()
}

/// `prr = true` predates the second form: it selects the first.
#[test]
fn prr_true_is_that_of_rfc_9937() {
    let prr = |value: &str| {
        let text = format!("{LEAST}cc = \"cubic\"\ntcp.prr = {value}\n");
        let scenario = parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        scenario.flows[0].profile.prr
    };
    let values = ["true", "\"rfc9937\"", "\"rfc6937\"", "false"].map(prr);
    assert_eq!(values, [Prr::Rfc9937, Prr::Rfc9937, Prr::Rfc6937, Prr::Off]);
}

/// Settings of a profile, and settings that turn off something absent, contradict nothing; SACK suits every control.
#[test]
fn consistent_settings_of_tcp_are_accepted() {
    for lines in [
        "cc = \"reno\"; tcp.sack = true; tcp.prr = true; tcp.prr_counts_twice = false; tcp.tail_loss_probe = true",
        "cc = \"cubic\"; tcp.sack = false",
        "tcp.prr = false; tcp.tail_loss_probe = false; tcp.dsack = false; tcp.undo = false",
        "tcp.timestamps = true; tcp.undo = true; tcp.frto = true",
        "cc = \"cubic\"; profile = \"ns2\"; tcp.pipe = \"scoreboard\"; tcp.loss_detection = \"rack\"; tcp.prr = \"rfc6937\"; tcp.prr_counts_twice = true",
        "tcp.window_scaling = false",
        "tcp.delayed_ack = true; tcp.ack_every = 4; tcp.ack_delay = \"500 ms\"",
        "tcp.initial_window = 64",
        "ecn = true; tcp.ect_on_retransmit = true",
        "profile = \"ns2\"; tcp.delayed_ack = true; tcp.ack_every = 3",
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
fn a_replacement_control_is_checked_against_the_settings_of_the_file() {
    let scenario = |lines: &str| parse(&format!("{LEAST}{}\n", lines.replace("; ", "\n"))).unwrap();
    let errors = |lines: &str, cc: &Choice| {
        scenario(lines).with_cc(&[0], cc).map_or_else(|errors| errors.lines(), |_| Vec::new())
    };
    let of_sack =
        "cc = \"cubic\"; tcp = { prr = \"rfc6937\", loss_detection = \"rack\", tail_loss_probe = true }";
    let reno = custom("Mine", Recovery::NewReno, Feedback::Classic);
    for cc in [&Choice::from("newreno"), &reno] {
        let line = |key: &str| {
            let name = cc.name();
            format!(
                "flows[0].tcp.{key}: needs selective acknowledgments, which cc = \"{name}\" goes without; \
                 expected sack = true with it"
            )
        };
        assert_eq!(errors(of_sack, cc), ["loss_detection", "tail_loss_probe", "prr"].map(line));
        assert_eq!(errors(&of_sack.replace("{ prr", "{ sack = true, prr"), cc), [""; 0]);
    }
    let of_cubic = "cc = \"cubic\"; tcp = { fast_convergence = true }";
    assert_eq!(
        errors(of_cubic, &reno),
        [
            "flows[0].tcp.fast_convergence: applies to CUBIC only, and here cc = \"Mine\"; expected cc = \"cubic\" with it"
        ]
    );
    for setting in ["byte_counting = 0", "halving = \"window\""] {
        let found = errors(&format!("tcp = {{ {setting} }}"), &reno);
        assert!(
            found.len() == 1 && found[0].contains("\"Mine\" is none of them; expected no such key"),
            "{found:?}"
        );
    }
    let marked = custom("Marked", Recovery::NewReno, Feedback::PerSegment);
    assert_eq!(
        errors("ecn = false", &marked),
        ["flows[0].ecn: is false, and cc = \"Marked\" needs ECN marks; expected true, or another cc"]
    );
    let abe = Choice::parse("cubic:abe=true").unwrap();
    assert!(errors("cc = \"reno\"", &abe)[0].starts_with("flows[0].cc: has abe = true, an answer to ECN"));
    assert_eq!(errors("", &abe).len(), 1);
}

/// As if the file had it.
#[test]
fn a_replacement_control_that_needs_marks_turns_ecn_on() {
    let plain = parse(LEAST).unwrap();
    let dctcp = parse(&format!("{LEAST}cc = \"dctcp\"\n")).unwrap();
    assert_eq!(plain.with_cc(&[0], &Choice::from("dctcp")), Ok(dctcp.clone()));
    assert!(
        plain.with_cc(&[0], &custom("Marked", Recovery::Sack, Feedback::PerSegment)).unwrap().flows[0].ecn
    );
    assert_eq!(dctcp.with_cc(&[0], &Choice::from("newreno")), Ok(plain));
    let explicit = parse(&format!("{LEAST}ecn = true\n")).unwrap();
    assert!(explicit.with_cc(&[0], &Choice::from("newreno")).unwrap().flows[0].ecn);
}

/// They are valid in a file, for live runs; plants that simulate TCP refuse them.
#[test]
fn controls_that_only_kernels_have_are_refused_by_plants_that_simulate() {
    let plain = parse(LEAST).unwrap();
    assert_eq!(plain.refuse_kernels(), []);
    let bbr = parse(&format!("{LEAST}cc = \"bbr\"\n")).unwrap();
    assert_eq!(plain.with_cc(&[0], &Choice::from("bbr")), Ok(bbr.clone()));
    assert_eq!(bbr.flows[0].window_rules(), None);
    let lines: Vec<String> = bbr.refuse_kernels().iter().map(ToString::to_string).collect();
    let expected = "expected one of reno, newreno, cubic, dctcp, scalable";
    assert_eq!(lines, [format!("flows[0].cc: bbr runs live only (sojourn lab FILE); {expected}")]);
    let rrul = parse(&format!("{LEAST}cc = \"bbr\"\napp = \"rrul\"\n")).unwrap();
    assert_eq!(rrul.refuse_kernels().len(), 2, "both directions, and no pings");
}

fn custom(name: &str, recovery: Recovery, feedback: Feedback) -> Choice {
    let build: Arc<BuildCustom> = Arc::new(|_, _| unreachable!("nothing runs"));
    Choice::Custom(Custom { name: name.into(), recovery, feedback, build })
}
