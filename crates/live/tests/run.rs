//! Runs of scenarios on the kernel's TCP, in namespaces of their own.

#![cfg(target_os = "linux")]

use sojourn_live::device::Kind;
use sojourn_live::lateness::Lateness;
use sojourn_live::run::{Counters, Failed};
use sojourn_live::scheduling::Class;
use sojourn_live::trust::{Trust, Verdict};
use sojourn_live::{Run, errors};
use sojourn_measure::{Outcome, Reading};
use sojourn_scenario::Scenario;
use sojourn_units::Span;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A scenario of four flows at 20 Mbit/s and 40 ms, with these lines at its end.
fn scenario(qdisc: &str, more: &str) -> Scenario {
    let text = format!(
        r#"
        title = "Live"
        duration = "5 s"
        warmup = "2 s"
        [bottleneck]
        rate = "20 Mbit/s"
        delay = "10 ms"
        buffer = "200 packets"
        qdisc = "{qdisc}"
        [[flows]]
        count = 4
        app = "bulk"
        access = {{ rate = "1 Gbit/s", delay = "5 ms" }}
        {more}
        "#
    );
    Scenario::parse(text.as_bytes(), "live.toml", &[]).expect("a scenario")
}

type Finished = (Outcome, Trust, Counters, u64);

#[test]
fn a_run_far_behind_the_clock_is_void() {
    let trust = |behind_s| Trust {
        behind: Span::from_secs(behind_s),
        lateness: Lateness::default(),
        packet_time: Span::from_micros(100),
        device_drops: 0,
        device: Kind::Tun,
        class: Class::Other,
        load: [None; 2],
    };
    assert_eq!(trust(1).verdict(), Verdict::Good);
    assert_eq!(trust(3).verdict(), Verdict::Void);
}

/// The outcome of a run; None: the machine has no namespaces or devices for us.
fn run(scenario: &Scenario, log: Option<Box<dyn Write + Send>>) -> Option<Finished> {
    let mut run = match Run::new(scenario, 1, Vec::new(), log) {
        Ok(run) => run,
        Err(Failed::Refused(refused)) => {
            // Where live runs are known to work, a refusal is a fault.
            assert!(std::env::var_os("LIVE_REQUIRED").is_none(), "{refused}");
            println!("skipped: {refused}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    while run.advance().expect("a run goes on") {}
    let (outcome, _, trust, traffic, counters) = run.finish().expect("a run ends");
    println!("{trust:?} {traffic:?} {counters:?}");
    Some((outcome, trust, counters, traffic.marked))
}

fn number(outcome: &Outcome, name: &str) -> f64 {
    let metrics = &outcome.links[0].all.metrics;
    match metrics.iter().find(|(known, _)| *known == name) {
        Some((_, Reading::Number(number))) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn packets_are_conserved_and_marks_are_those_that_the_kernel_counts() {
    let scenario = scenario("pi2:target=15ms", "cc = \"cubic\"\necn = true");
    assert_eq!(errors(&scenario), []);
    let Some((outcome, trust, counters, marked)) = run(&scenario, None) else { return };
    assert_ne!(trust.verdict(), Verdict::Void);
    assert_eq!(counters.checksum_errors, 0);
    let balance = outcome.links[0].all.balance.expect("packets are counted");
    assert_eq!(balance.offered, balance.delivered + balance.dropped + balance.held);
    assert!(marked > 0);
    assert_eq!(counters.ce_received, marked);
    // On a busy machine packets are late, and so are ACKs.
    let least = if trust.verdict() == Verdict::Good { 0.9 } else { 0.3 };
    let share = number(&outcome, "goodput_bps") / 20e6;
    assert!((least..=1.0).contains(&share), "{share}");
    assert!(number(&outcome, "rtt_p50_s") >= 0.04, "the base RTT is 40 ms");
}

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(part);
        Ok(part.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn verdicts_of_a_live_qdisc_are_those_of_the_simulator() {
    for qdisc in ["pi2", "fq_codel"] {
        let memory = Memory::default();
        let ran = run(&scenario(qdisc, "cc = \"reno\""), Some(Box::new(memory.clone())));
        if ran.is_none() {
            return;
        }
        let text = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
        assert!(text.lines().count() > 1000);
        assert_eq!(sojourn_trace::replay_qdisc(&text), Ok(()), "{qdisc}");
        let count = |part: &str| text.matches(part).count() as u64;
        let passage = sojourn_trace::passage(&text, None).unwrap();
        assert_eq!(passage.offered, count("\"call\":\"enqueue\""), "{qdisc}");
        assert_eq!(passage.delivered, count("\"sent\":") - count("\"sent\":null"), "{qdisc}");
    }
}

#[test]
fn what_is_not_carried_is_named() {
    let lines = |more: &str| -> Vec<String> {
        errors(&scenario("tail_drop", more))
            .iter()
            .map(|error| format!("{}: {}", error.key, error.message()))
            .collect()
    };
    let found = lines("cc = \"cubic:hystart=false\"");
    assert!(found[0].starts_with("flows[0].cc: "), "{found:?}");
    assert!(found[0].contains("is no congestion control of the kernel"), "{found:?}");
    assert_eq!(lines("cc = \"cubic\""), Vec::<String>::new());
}
