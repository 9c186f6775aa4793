//! The network without I/O: its times, worked by hand.

#![cfg(target_os = "linux")]

use sojourn_aqm::{FlowTag, Limit, LinkContext, Place, QdiscSpec};
use sojourn_live::network::{Flow, Left, Network, Way};
use sojourn_measure::Probe;
use sojourn_random::Stream;
use sojourn_sim::network::{Change, LinkChange, LinkPlan};
use sojourn_units::{Rate, Span, Time};

struct Nothing;
impl Probe for Nothing {}

/// 1000 B take 1 ms.
const RATE: f64 = 8e6;
/// The link with a qdisc.
const BOTTLENECK: u32 = 0;

fn network(spec: &str, limit: u32, changes: Vec<Change>) -> Network<Nothing> {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(RATE),
        packet: 1000.0,
        limit: f64::from(limit),
        flows: Some(1.0),
        base_rtt: Some(Span::from_millis(100)),
    };
    let designed = QdiscSpec::parse(spec).unwrap().at(&Place { context, classes: &[] }).unwrap();
    let qdisc = designed.build(Limit::Packets(limit), Stream::named(1, "qdisc"));
    let fast = Rate::from_bits_per_second(1e15);
    let mut links =
        vec![LinkPlan { qdisc: Some(qdisc), ..LinkPlan::plain(context.rate, Span::from_millis(10)) }];
    links.push(LinkPlan::plain(fast, Span::from_millis(10)));
    // Access links of each flow, the same at both ends and both ways.
    let mut flow = |access: u64| {
        let first = links.len() as u32;
        links.extend((0..4).map(|_| LinkPlan::plain(fast, Span::from_millis(access))));
        let routes = [vec![first, BOTTLENECK, first + 1], vec![first + 2, 1, first + 3]];
        Flow { tag: FlowTag::default(), routes }
    };
    let flows = vec![flow(5), flow(20)];
    Network::new(links, flows, changes, Nothing)
}

fn ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

const PACKET: [u8; 1000] = [0; 1000];

/// Echo requests of the receiver: when they come, their delays and bytes.
#[derive(Default)]
struct Echoes(Vec<(Time, u32, Span)>, u64);
impl Probe for Echoes {
    fn received(&mut self, _at: Time, _flow: u32, bytes: u64) {
        self.1 += bytes;
    }
    fn datagram(&mut self, at: Time, flow: u32, delay: Span) {
        self.0.push((at, flow, delay));
    }
}

/// An echo request, or a reply, of 1000 B.
fn echo(is_reply: bool) -> Vec<u8> {
    let mut packet = PACKET.to_vec();
    (packet[0], packet[9], packet[20]) = (0x45, 1, if is_reply { 0 } else { 8 });
    packet
}

#[test]
fn echo_requests_arrive_where_nobody_reports_them() {
    let fast = LinkPlan::plain(Rate::from_bits_per_second(1e15), Span::from_millis(20));
    let flow = Flow { tag: FlowTag::default(), routes: [vec![0], vec![0]] };
    let (mut network, mut left) =
        (Network::new(vec![fast], vec![flow], Vec::new(), Echoes::default()), Vec::new());
    network.arrive(ms(1), Way::Forward, 0, &echo(false));
    network.arrive(ms(2), Way::Forward, 0, &PACKET);
    network.arrive(ms(3), Way::Back, 0, &echo(true));
    network.advance(ms(1000), &mut left);
    assert_eq!(left.len(), 3);
    let Echoes(came, bytes) = network.probe();
    assert_eq!((came.as_slice(), *bytes), (&[(ms(21), 0, Span::from_millis(20))][..], 972));
}

fn times(left: &[Left]) -> Vec<u64> {
    left.iter().map(|one| one.at.nanos() / 1_000_000).collect()
}

#[test]
fn packets_leave_at_nominal_times_whenever_the_driver_comes() {
    let mut all = Vec::new();
    for late in [0, 1, 500] {
        let (mut network, mut left) = (network("tail_drop", 10, Vec::new()), Vec::new());
        for _ in 0..3 {
            network.arrive(ms(0), Way::Forward, 0, &PACKET);
        }
        network.arrive(ms(0), Way::Back, 1, &PACKET);
        for now in (0..=100).step_by(late.max(1)) {
            network.advance(ms(now as u64), &mut left);
        }
        network.advance(ms(1000), &mut left);
        // 5 ms to the qdisc, a millisecond each, 10 ms of the link, 5 ms of access; back 20, 10 and 20 ms.
        assert_eq!(times(&left), [21, 22, 23, 50]);
        all.push(left);
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn flows_have_delays_of_their_own() {
    let (mut network, mut left) = (network("tail_drop", 10, Vec::new()), Vec::new());
    network.arrive(ms(0), Way::Forward, 1, &PACKET);
    network.arrive(ms(0), Way::Forward, 0, &PACKET);
    network.advance(ms(1000), &mut left);
    assert_eq!(times(&left), [21, 51]);
    assert_eq!(left.iter().map(|one| one.flow).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_full_buffer_drops_and_packets_are_conserved() {
    let (mut network, mut left) = (network("tail_drop", 3, Vec::new()), Vec::new());
    for _ in 0..10 {
        network.arrive(ms(0), Way::Forward, 0, &PACKET);
    }
    // One is being sent at 5.5 ms, three wait.
    network.advance(Time::from_nanos(5_500_000), &mut left);
    let (counts, held) =
        (network.qdisc(BOTTLENECK).unwrap().counts(), network.qdisc(BOTTLENECK).unwrap().backlog().packets);
    assert_eq!((counts.offered, counts.delivered, counts.overflowed, held), (10, 1, 6, 3));
    assert!(counts.conserve(held));
    network.advance(ms(1000), &mut left);
    assert_eq!(left.len(), 4);
    assert_eq!(network.next_event(), None);
}

#[test]
fn a_law_is_updated_on_its_period() {
    let (mut network, mut left) = (network("pi2:target=5ms,period=10ms", 1000, Vec::new()), Vec::new());
    let first = network.next_event().expect("an update");
    network.advance(ms(100), &mut left);
    let next = network.next_event().expect("another one");
    assert_eq!(next.since(first), Span::from_millis(100));
}

#[test]
fn an_idle_qdisc_that_keeps_packets_back_gives_them_later() {
    let (mut network, mut left) = (network("fq_codel", 1000, Vec::new()), Vec::new());
    for time in 0..400 {
        network.arrive(ms(time), Way::Forward, (time % 2) as u32, &PACKET);
        network.advance(ms(time), &mut left);
    }
    network.advance(ms(3000), &mut left);
    let counts = network.qdisc(BOTTLENECK).unwrap().counts();
    assert_eq!(counts.offered, 400);
    assert_eq!(left.len() as u64, counts.delivered);
    assert!(counts.conserve(0));
}

#[test]
fn a_new_rate_holds_for_the_next_packet_and_capacity_follows_it() {
    let half = Rate::from_bits_per_second(RATE / 2.0);
    let change = Change {
        time: Time::from_nanos(5_500_000),
        every: None,
        until: Time::NEVER,
        link: BOTTLENECK,
        set: LinkChange::Rate(half),
    };
    let (mut network, mut left) = (network("tail_drop", 10, vec![change]), Vec::new());
    for _ in 0..2 {
        network.arrive(ms(0), Way::Forward, 0, &PACKET);
    }
    network.advance(ms(1000), &mut left);
    // The first is being sent at the change, and takes 1 ms; the second takes 2 ms.
    assert_eq!(times(&left), [21, 23]);
    let (sent, could) = network.bits(BOTTLENECK, ms(1000)).unwrap();
    let expected = RATE * 0.006 + RATE / 2.0 * 0.994;
    assert!((sent - 16_000.0).abs() < 1.0 && (could - expected).abs() < 1.0, "{sent} {could}");
}
