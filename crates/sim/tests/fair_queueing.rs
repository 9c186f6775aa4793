//! Fair queueing in the plant: shares of flows, and the delay of sparse ones.

use sojourn_measure::{LinkOutcome, Reading, Row};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// A flow that responds to congestion, one of three times the link's rate that does not, and a call.
const THREE: &str = r#"
title = "A greedy flow, a flood and a call"
duration = "30 s"
warmup = "10 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"
[[flows]]
[[flows]]
app = { cbr = { rate = "30 Mbit/s" } }
[[flows]]
app = "voip"
"#;

fn run(text: &str, qdisc: &str) -> LinkOutcome {
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let scenario = scenario.with_qdisc(qdisc).unwrap_or_else(|errors| panic!("{qdisc}: {errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    run.finish().links.remove(0)
}

fn number(row: &Row, name: &str) -> f64 {
    match row.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}

/// Half of the link each, whatever the flood sends; under CoDel alone it takes nearly all.
#[test]
fn a_flood_has_its_share_and_no_more() {
    let share = |qdisc: &str| number(&run(THREE, qdisc).classes[0].1, "goodput_bps") / 10e6;
    let (alone, fair) = (share("codel"), share("drr"));
    assert!(alone < 0.05, "{alone}");
    assert!((0.44..0.5).contains(&fair), "{fair}");
    for law in ["pie", "tail_drop", "red,law.min=10 packets,law.max=30 packets"] {
        let fair = share(&format!("drr:law={law}"));
        assert!((0.42..0.5).contains(&fair), "{law}: {fair}");
    }
}

/// A packet of the call waits for the one on the wire, and for those of the queues that became active with it (RFC 8290,
/// section 6.1): less than a millisecond and a half each of 1500 B at 10 Mbit/s.
#[test]
fn a_call_hardly_waits() {
    let wait = |qdisc: &str| number(&run(THREE, qdisc).classes[2].1, "sojourn_p99_s");
    let (alone, fair) = (wait("codel"), wait("drr"));
    assert!(fair < 0.003, "{fair}");
    assert!(alone > 10.0 * fair, "{alone} against {fair}");
}

#[test]
fn the_limit_is_that_of_the_buffer_where_that_is_less() {
    let most = |qdisc: &str| number(&run(THREE, qdisc).all, "queue_p99_packets");
    assert!(most("drr:law=tail_drop") <= 1000.0);
    assert!(most("drr:law=tail_drop,limit=100") <= 100.0);
}

#[test]
fn parameters_change_during_a_run() {
    let with = |set: &str| {
        let drr = THREE.replace("buffer =", "qdisc = \"drr\"\nbuffer =");
        format!("{drr}[[at]]\ntime = \"5 s\"\nset = {{ {set} }}\n")
    };
    let text = with("\"bottleneck.qdisc.limit\" = 50, \"bottleneck.qdisc.law.target\" = \"1 ms\"");
    assert!(number(&run(&text, "drr").all, "queue_p99_packets") <= 50.0);
    for (set, message) in [
        ("\"bottleneck.qdisc.law.targt\" = \"1 ms\"", "did you mean \"target\"?"),
        ("\"bottleneck.qdisc.quantum\" = \"0 B\"", "expected 40 B to 1 MB"),
        ("\"bottleneck.qdisc.limt\" = 5", "did you mean \"limit\"?"),
        ("\"bottleneck.qdisc.law\" = \"pie\"", "is fixed: packets wait in the queues"),
        ("\"bottleneck.qdisc.buckets\" = 16", "is fixed: packets wait in the queues"),
    ] {
        let error = Scenario::parse(with(set).as_bytes(), "test", &[]).unwrap_err().to_string();
        assert!(error.contains("at[0].set.bottleneck.qdisc.") && error.contains(message), "{error}");
    }
}

/// Packets wait in it, so it stays; its parameters may change.
#[test]
fn the_qdisc_behind_a_shaper_stays() {
    let check = |set: &str| {
        let shaped = THREE.replace("buffer =", "qdisc = { shaper = { rate = \"5 Mbit/s\" } }\nbuffer =");
        let text = format!("{shaped}[[at]]\ntime = \"5 s\"\nset = {{ {set} }}\n");
        Scenario::parse(text.as_bytes(), "test", &[])
    };
    for other in ["cake", "drr", "codel"] {
        let error = check(&format!("\"bottleneck.qdisc.qdisc\" = \"{other}\"")).unwrap_err().to_string();
        assert!(error.contains("at[0].set.bottleneck.qdisc.qdisc: is fixed"), "{error}");
    }
    assert!(check("\"bottleneck.qdisc.qdisc.law.target\" = \"1 ms\"").is_ok());
}

/// Two groups with names, hosts and codepoints.
const TWO: &str = r#"
title = "Two groups"
duration = "30 s"
warmup = "10 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"
[[flows]]
name = "one"
count = 1
to_host = "a"
dscp = "EF"
[[flows]]
name = "many"
count = 8
to_host = "b"
"#;

/// Parts of the link of both groups.
fn parts(text: &str, qdisc: &str) -> [f64; 2] {
    let classes = run(text, qdisc).classes;
    [0, 1].map(|class| number(&classes[class].1, "goodput_bps") / 10e6)
}

#[test]
fn classifiers_divide_the_link_by_flows_hosts_classes_or_codepoints() {
    let close = |qdisc: &str, expected: [f64; 2]| {
        let parts = parts(TWO, qdisc);
        let is_close = |class: usize| (parts[class] / expected[class] - 1.0).abs() < 0.05;
        assert!(is_close(0) && is_close(1), "{qdisc}: {parts:?}");
    };
    // Headers take 40 of 1500 B.
    let payload = 1460.0 / 1500.0;
    for discipline in [
        "drr:law=tail_drop,limit=200,",
        "wfq:law=tail_drop,limit=200,",
        "wfq:law=tail_drop,limit=200,clock=start_time,",
    ] {
        close(&format!("{discipline}by=flow"), [payload / 9.0, payload * 8.0 / 9.0]);
        for by in ["to_host", "class", "dscp"] {
            close(&format!("{discipline}by={by}"), [payload / 2.0, payload / 2.0]);
        }
        close(&format!("{discipline}by=class,weights.one=3"), [payload * 0.75, payload * 0.25]);
        close(&format!("{discipline}weights.one=4"), [payload * 4.0 / 12.0, payload * 8.0 / 12.0]);
        let reserved = "reserved.classes=[one],reserved.rate=2 Mbit/s";
        close(&format!("{discipline}{reserved}"), [payload * 0.2, payload * 0.8]);
    }
}

/// Two flows that do not respond have the link by their weights alone, whatever they send: what is dropped counts for none.
#[test]
fn floods_have_their_shares() {
    let flood = |name: &str, rate: u32| {
        format!("[[flows]]\nname = \"{name}\"\napp = {{ cbr = {{ rate = \"{rate} Mbit/s\" }} }}\n")
    };
    let link = TWO.split_once("[[flows]]").unwrap().0;
    for discipline in ["drr", "wfq", "wfq:clock=start_time"] {
        for law in ["tail_drop", "codel"] {
            let separator = if discipline.contains(':') { "," } else { ":" };
            for (weight, rates) in [(1, [9, 30]), (1, [30, 9]), (4, [12, 12])] {
                let qdisc = format!("{discipline}{separator}law={law},by=class,weights.one={weight}");
                let text = format!("{link}{}{}", flood("one", rates[0]), flood("many", rates[1]));
                let [one, many] = parts(&text, &qdisc);
                let part = one / (one + many);
                let expected = f64::from(weight) / f64::from(weight + 1);
                assert!((part - expected).abs() < 0.005, "{qdisc} {rates:?}: {one} {many}");
                assert!(one + many > 0.97, "{qdisc} {rates:?}: {one} {many}");
            }
        }
    }
}

#[test]
fn the_first_band_has_what_it_wants() {
    for qdisc in ["prio:law=codel", "prio:law=codel,order=[one]"] {
        let [one, many] = parts(TWO, qdisc);
        assert!(one > 0.85 && many < 0.1, "{qdisc}: {one} {many}");
    }
    let [one, many] = parts(TWO, "prio:order=[many],law=codel");
    assert!(one < 0.02 && many > 0.9, "{one} {many}");
}

#[test]
fn weights_change_during_a_run() {
    let change = "[[at]]\ntime = \"8 s\"\nset = { \"bottleneck.qdisc.weights.one\" = 3 }\n";
    for discipline in ["drr", "wfq", "wfq:clock=start_time"] {
        let qdisc = if discipline.contains(':') {
            format!("{discipline},by=class")
        } else {
            format!("{discipline}:by=class")
        };
        let text = TWO.replace("buffer =", &format!("qdisc = \"{qdisc},weights.many=1\"\nbuffer =")) + change;
        let scenario =
            Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let mut run = Run::new(&scenario, 1);
        while run.advance() {}
        let classes = run.finish().links.remove(0).classes;
        let share = number(&classes[0].1, "goodput_bps") / 10e6;
        assert!((0.66..0.76).contains(&share), "{qdisc}: {share}");
    }
}

#[test]
fn a_shaper_has_its_rate_and_its_qdisc_the_queue() {
    let [one, many] = parts(TWO, "shaper:rate=5 Mbit/s");
    let payload = 1460.0 / 1500.0;
    assert!(((one + many) / (0.5 * payload) - 1.0).abs() < 0.01, "{one} {many}");
    assert!((one / (one + many) - 1.0 / 9.0).abs() < 0.01, "{one} {many}");
    // Ethernet adds 38 B.
    let [one, many] = parts(TWO, "shaper:rate=5 Mbit/s,framing=ethernet");
    assert!(((one + many) / (0.5 * 1460.0 / 1538.0) - 1.0).abs() < 0.01, "{one} {many}");
    let wait = |qdisc: &str| number(&run(THREE, qdisc).classes[2].1, "sojourn_p99_s");
    assert!(wait("shaper:rate=5 Mbit/s") < 0.006);
    // Above the rate of the link it does nothing.
    assert_eq!(parts(TWO, "shaper:rate=1 Gbit/s,qdisc=codel"), parts(TWO, "codel"));
}

#[test]
fn what_does_not_fit_is_one_line() {
    let scenario = Scenario::parse(TWO.as_bytes(), "test", &[]).unwrap();
    for (qdisc, message) in [
        ("drr:buckets=0", "drr.buckets: 0 is out of range; expected 1 to 65536"),
        ("wfq:weights.one=-1", "wfq.weights.one: -1 is out of range"),
        ("wfq:weights.on=1", "wfq.weights.on: \"on\" is no class of flows; did you mean \"one\"?"),
        (
            "drr:law=choke,law.min=10 packets,law.max=30 packets",
            "drr.law: choke draws its victims from the queue of all",
        ),
        (
            "drr:reserved.classes=[one],reserved.rate=20 Mbit/s",
            "drr.reserved.rate: 20 Mbit/s is not below the rate of the link",
        ),
        ("drr:reserved.rate=1 Mbit/s", "drr.reserved.classes: is missing; expected names of classes"),
        ("drr:reserved.classes=[one]", "drr.reserved.rate: is missing; expected a rate such as"),
        ("prio:order=[x]", "prio.order: \"x\" is no class of flows"),
        ("shaper:qdisc=drr", "shaper.rate: is missing"),
        (
            "shaper:rate=5 Mbit/s,qdisc=drr,qdisc.law=codel,qdisc.law.target=5",
            "shaper.qdisc.law.target: \"5\" needs a unit",
        ),
    ] {
        let errors = scenario.with_qdisc(qdisc).unwrap_err().lines().clone();
        assert!(errors.len() == 1 && errors[0].starts_with(message), "{errors:?}");
    }
    let small = TWO.replace("1000 packets", "1 packets");
    let scenario = Scenario::parse(small.as_bytes(), "test", &[]).unwrap();
    let error = scenario.with_qdisc("drr:quantum=9 kB").unwrap_err().to_string();
    assert!(error.contains("quantum: 9000 B is above the buffer of 1 packets"), "{error}");
}

/// A scalable flow beside a classic one.
const MIXED: &str = r#"
title = "A scalable flow and a classic one"
duration = "60 s"
warmup = "20 s"
[bottleneck]
rate = "40 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"
[[flows]]
cc = "dctcp"
ect1 = true
[[flows]]
cc = "cubic"
"#;

#[test]
fn both_kinds_of_sender_share_a_dual_queue_and_the_scalable_one_hardly_waits() {
    for qdisc in ["dual", "dual:defaults=linux", "dual:scheduler=time_shift"] {
        let link = run(MIXED, qdisc);
        let of = |class: usize, metric: &str| number(&link.classes[class].1, metric);
        let ratio = of(0, "goodput_bps") / of(1, "goodput_bps");
        assert!((0.5..2.0).contains(&ratio), "{qdisc}: {ratio}");
        assert!(of(0, "sojourn_p99_s") < 0.004, "{qdisc}: {}", of(0, "sojourn_p99_s"));
        let classic = of(1, "sojourn_mean_s");
        assert!((0.006..0.02).contains(&classic), "{qdisc}: {classic}");
    }
}

/// A flood of ECT(1) datagrams is dropped with p'^2, which keeps it at the classic target (RFC 9332, Appendix A.2); marks alone
/// leave it to the buffer.
#[test]
fn an_overload_of_the_scalable_queue_is_shed() {
    let flood = MIXED.replace("cc = \"dctcp\"", "ecn = true\napp = { cbr = { rate = \"60 Mbit/s\" } }");
    let waits = |qdisc: &str| number(&run(&flood, qdisc).classes[0].1, "sojourn_mean_s");
    for qdisc in ["dual", "dual:defaults=linux", "dual:scheduler=time_shift"] {
        assert!((0.004..0.02).contains(&waits(qdisc)), "{qdisc}: {}", waits(qdisc));
    }
    assert!(waits("dual:overload=overflow") > 0.1);
}

/// Two hosts, one with one flow and one with 32, and a call marked EF.
const HOSTS: &str = r#"
title = "Two hosts"
duration = "30 s"
warmup = "10 s"
[bottleneck]
rate = "30 Mbit/s"
delay = "10 ms"
buffer = "2000 packets"
[[flows]]
to_host = "a"
[[flows]]
count = 32
to_host = "b"
[[flows]]
app = "voip"
dscp = "EF"
"#;

/// Piece of CAKE, section III-B: hosts have equal shares whatever their flows; with isolation of flows alone they have not.
#[test]
fn hosts_with_1_and_32_flows_have_equal_shares_under_cake() {
    let ratio = |qdisc: &str| {
        let classes = run(HOSTS, qdisc).classes;
        number(&classes[0].1, "goodput_bps") / number(&classes[1].1, "goodput_bps")
    };
    for isolation in ["triple_isolate", "dual_dsthost", "dsthost"] {
        let ratio = ratio(&format!("cake:bandwidth=20 Mbit/s,isolation={isolation}"));
        assert!((0.8..1.2).contains(&ratio), "{isolation}: {ratio}");
    }
    for isolation in ["flows", "dual_srchost"] {
        let ratio = ratio(&format!("cake:bandwidth=20 Mbit/s,isolation={isolation}"));
        assert!((0.02..0.05).contains(&ratio), "{isolation}: {ratio}");
    }
}

#[test]
fn a_call_keeps_its_delay_under_cake() {
    let wait = |qdisc: &str| number(&run(HOSTS, qdisc).classes[2].1, "sojourn_p99_s");
    for mode in ["diffserv3", "diffserv4", "diffserv8", "precedence", "besteffort"] {
        let wait = wait(&format!("cake:bandwidth=20 Mbit/s,diffserv={mode}"));
        assert!(wait < 0.003, "{mode}: {wait}");
    }
    assert!(wait("cake") < 0.003);
    // It is the tin that does it: in one queue with all others the call waits for them, but not where voice has its own.
    let [one, voice] = ["besteffort", "diffserv3"]
        .map(|mode| wait(&format!("cake:isolation=flowblind,diffserv={mode},bandwidth=20 Mbit/s")));
    assert!(voice < 0.003 && one > 5.0 * voice, "{voice} {one}");
}

/// Five times the part of its tin: a flood marked EF has the tin's quarter while others want the rest.
#[test]
fn a_tin_has_priority_up_to_its_part() {
    let flood = HOSTS.replace("app = \"voip\"", "app = { cbr = { rate = \"25 Mbit/s\" } }");
    let part = |qdisc: &str| number(&run(&flood, qdisc).classes[2].1, "goodput_bps") / 20e6;
    let voice = part("cake:bandwidth=20 Mbit/s,isolation=flows");
    assert!((0.22..0.28).contains(&voice), "{voice}");
}

/// Without a shaper a tin has no rate, and COBALT's target is that of the rtt alone, a twentieth, in all of them (sch_cake.c,
/// cake_set_rate, at rate 0): here less than the time of a packet, 12 ms.
#[test]
fn no_tin_waits_longer_for_its_part_of_the_rate_without_a_shaper() {
    let slow = r#"
title = "A slow link"
duration = "60 s"
warmup = "20 s"
[bottleneck]
rate = "1 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"
[[flows]]
"#;
    let wait = |dscp: &str, mode: &str| {
        let text = format!("{slow}dscp = \"{dscp}\"\n");
        number(&run(&text, &format!("cake:diffserv={mode}")).all, "sojourn_p50_s")
    };
    let one = wait("DF", "besteffort");
    assert!(one < 0.03, "{one}");
    for (dscp, mode) in [("CS1", "diffserv3"), ("DF", "diffserv3"), ("EF", "diffserv4"), ("CS1", "diffserv8")]
    {
        let own = wait(dscp, mode);
        assert!((own / one - 1.0).abs() < 0.05, "{dscp} in {mode}: {own}, in one tin {one}");
    }
}

#[test]
fn cake_changes_during_a_run() {
    let change = "[[at]]\ntime = \"8 s\"\nset = { \"bottleneck.qdisc.bandwidth\" = \"10 Mbit/s\" }\n";
    let qdisc = "qdisc = { cake = { bandwidth = \"20 Mbit/s\" } }\nbuffer =";
    let text = HOSTS.replace("buffer =", qdisc) + change;
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    let all = number(&run.finish().links.remove(0).all, "goodput_bps");
    assert!((9.3e6..9.8e6).contains(&all), "{all}");
    let fixed = text.replace("qdisc.bandwidth\" = \"10 Mbit/s\"", "qdisc.diffserv\" = \"diffserv4\"");
    let error = Scenario::parse(fixed.as_bytes(), "test", &[]).unwrap_err().to_string();
    assert!(error.contains("diffserv: is fixed"), "{error}");
}

/// A flow that joins during the run is of its group at the qdisc, as the flows from the start are.
#[test]
fn flows_that_join_have_the_weight_of_their_class() {
    let late = r#"
title = "Floods that join"
duration = "30 s"
warmup = "10 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"
[[flows]]
name = "first"
app = { cbr = { rate = "30 Mbit/s" } }
[[flows]]
name = "late"
app = { cbr = { rate = "3 Mbit/s" } }
arrivals = { every = "1 s", batch = [1, 1] }
"#;
    let shares = parts(late, "wfq:by=class,weights.late=0.25");
    assert!((shares[1] - 0.2).abs() < 0.01, "{shares:?}");
}
