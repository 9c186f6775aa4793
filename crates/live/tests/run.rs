//! Runs of the kernel's TCP through our bottleneck, in namespaces of their own.

#![cfg(target_os = "linux")]

use sojourn_aqm::{Cause, Limit, LinkContext, Place, QdiscSpec};
use sojourn_live::bottleneck::Link;
use sojourn_live::lab::{self, Failed, Outcome, Plan};
use sojourn_live::load::Bulk;
use sojourn_measure::{Probe, Queued};
use sojourn_random::Stream;
use sojourn_units::{Rate, Span, Time};

/// Counts of the link.
#[derive(Debug, Default)]
struct Counted {
    offered: u64,
    delivered: u64,
    dropped: u64,
    marked: u64,
    sojourns_s: f64,
}

impl Probe for Counted {
    fn offered(&mut self, _now: Time, _link: u32, _packet: Queued) {
        self.offered += 1;
    }
    fn delivered(&mut self, _now: Time, _link: u32, _packet: Queued, sojourn: Span) {
        self.delivered += 1;
        self.sojourns_s += sojourn.seconds();
    }
    fn dropped(&mut self, _now: Time, _link: u32, _packet: Queued, _cause: Cause) {
        self.dropped += 1;
    }
    fn marked(&mut self, _now: Time, _link: u32, _packet: Queued) {
        self.marked += 1;
    }
}

const RATE: f64 = 20e6;
/// Time of a packet on the wire.
const PACKET: Span = Span::from_micros(600);
const ACCESS: Span = Span::from_millis(5);

/// Four flows for some seconds; None: the machine has no namespaces or devices for us.
fn run(spec: &str, congestion: &str, ecn: bool) -> Option<(Outcome, Counted, u32)> {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(RATE),
        packet: 1500.0,
        limit: 200.0,
        flows: Some(4.0),
        base_rtt: Some(Span::from_millis(40)),
    };
    let designed =
        QdiscSpec::parse(spec).expect("a spec").at(&Place { context, classes: &[] }).expect("a design");
    let qdisc = designed.build(Limit::Packets(200), Stream::named(1, "qdisc"));
    let link = Link { rate: context.rate, delay: Span::from_millis(10), qdisc };
    let flow =
        |number: u64| Bulk { congestion: congestion.into(), start: Time::from_nanos(number * 50_000_000) };
    let plan = Plan {
        flows: (0..4).map(flow).collect(),
        access: vec![ACCESS; 4],
        ecn,
        duration: Span::from_secs(6),
        warmup: Span::from_secs(2),
    };
    match lab::run(&plan, link, Counted::default()) {
        Ok((outcome, network)) => {
            let held = network.qdisc().backlog().packets;
            Some((outcome, network.into_probe(), held))
        }
        Err(Failed::Refused(refused)) => {
            println!("skipped: {refused}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_named() {
    let unknown = std::panic::catch_unwind(|| run("tail_drop", "no-such", false));
    if let Err(panicked) = unknown {
        let text = panicked.downcast_ref::<String>().expect("a message");
        assert!(text.starts_with("no-such: the kernel does not have it"), "{text}");
    }
}

#[test]
fn packets_are_conserved_and_marks_are_those_that_the_kernel_counts() {
    let Some((outcome, counted, held)) = run("pi2:target=15ms", "cubic", true) else { return };
    println!("{outcome:?}\n{counted:?}");
    assert_eq!(outcome.device_drops, 0);
    assert_eq!(outcome.checksum_errors, 0);
    assert_eq!(counted.offered, counted.delivered + counted.dropped + u64::from(held));
    assert!(counted.marked > 0);
    assert_eq!(outcome.ce_received, counted.marked);
    let bits = 8.0 * outcome.received.iter().map(|bytes| bytes[1] as f64).sum::<f64>();
    let share = bits / 4.0 / RATE;
    // On a busy machine packets are late, and so are ACKs.
    let is_late = outcome.lateness.quantile(0.99).is_none_or(|late| late > PACKET);
    let least = if is_late { 0.3 } else { 0.9 };
    assert!((least..=1.0).contains(&share), "{share}");
}
