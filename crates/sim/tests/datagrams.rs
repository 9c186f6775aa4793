//! Sources of datagrams: send times, sizes and outcomes.

use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Cause, Limit, LinkContext};
use sojourn_measure::{LinkOutcome, Probe, Queued, Reading};
use sojourn_random::{Draw, Stream};
use sojourn_scenario::Scenario;
use sojourn_sim::network::{ClassPlan, FlowPlan, LinkPlan, Network, SourcePlan};
use sojourn_sim::{Run, Simulation, topology};
use sojourn_units::{Rate, Span, Time};
use sojourn_workload::{DatagramsPlan, Spacing};
use std::collections::BTreeMap;

#[derive(Default)]
struct Seen {
    sent: Vec<Time>,
    received: Vec<u64>,
    delays: Vec<Span>,
    rtts: Vec<Span>,
    dropped: usize,
}

impl Probe for Seen {
    fn sent(&mut self, at: Time, _flow: u32) {
        self.sent.push(at);
    }
    fn received(&mut self, _at: Time, _flow: u32, bytes: u64) {
        self.received.push(bytes);
    }
    fn datagram(&mut self, _at: Time, _flow: u32, delay: Span) {
        self.delays.push(delay);
    }
    fn came_back(&mut self, _at: Time, _flow: u32, rtt: Span) {
        self.rtts.push(rtt);
    }
    fn dropped(&mut self, _now: Time, _link: u32, _packet: Queued, _cause: Cause) {
        self.dropped += 1;
    }
}

fn link(mbit: f64, millis: u64) -> LinkPlan {
    let rate = Rate::from_bits_per_second(mbit * 1e6);
    LinkPlan::plain(rate, Span::from_millis(millis))
}

/// Behind a qdisc of two packets.
fn narrow(mbit: f64) -> LinkPlan {
    let plan = link(mbit, 1);
    let context = LinkContext { rate: plan.rate, packet: 1000.0, limit: 2.0, flows: None, base_rtt: None };
    let qdisc = Fifo::new(TailDrop, Limit::Packets(2), context, Stream::named(1, "disc"));
    LinkPlan { qdisc: Some(Box::new(qdisc)), ..plan }
}

fn even(rate: f64) -> DatagramsPlan {
    DatagramsPlan::plain("udp/0", rate, Spacing::Even, 1000)
}

/// From 1 s to 3 s over the first link, and back over the second; everything has arrived by 10 s.
fn seen(links: Vec<LinkPlan>, source: DatagramsPlan) -> Seen {
    let flow = FlowPlan {
        class: 0,
        user: 0,
        source: SourcePlan::Datagrams(source),
        forward: vec![0],
        reverse: vec![1],
        start: Time::ZERO + Span::from_secs(1),
        stop: Some(Time::ZERO + Span::from_millis(2995)),
    };
    let network =
        Network { links, classes: vec![ClassPlan::default()], flows: vec![flow], changes: Vec::new() };
    let mut simulation = Simulation::new(network, 1, Seen::default());
    simulation.advance(Time::ZERO + Span::from_secs(10));
    std::mem::take(simulation.probe())
}

#[test]
fn the_delay_of_a_datagram_is_transmission_and_propagation() {
    let seen = seen(vec![link(8.0, 10), link(8.0, 10)], even(100.0));
    assert_eq!(seen.sent.len(), 200);
    assert_eq!(seen.sent[7], Time::ZERO + Span::from_millis(1070));
    // 1000 B at 8 Mbit/s, and 10 ms; 28 B are headers.
    assert_eq!(seen.delays, vec![Span::from_millis(11); 200]);
    assert_eq!((&seen.received, seen.rtts.len()), (&vec![972; 200], 0));
}

#[test]
fn a_ping_returns_over_the_reverse_path() {
    let ping = DatagramsPlan { echo: true, ..even(100.0) };
    let seen = seen(vec![link(8.0, 10), link(1.0, 5)], ping);
    // 1 ms and 10 ms there, 8 ms and 5 ms back; answers are not answered.
    assert_eq!(seen.rtts, vec![Span::from_millis(24); 200]);
    assert_eq!((seen.sent.len(), seen.delays.len()), (200, 200));
}

/// Ten datagrams take the time in which fifteen are sent, and two may wait.
#[test]
fn lost_datagrams_are_not_answered() {
    let ping = DatagramsPlan { echo: true, ..even(150.0) };
    let there = seen(vec![narrow(0.8), link(8.0, 1)], ping.clone());
    let back = seen(vec![link(8.0, 1), narrow(0.8)], ping);
    for (seen, arrived) in [(&there, there.rtts.len()), (&back, there.sent.len())] {
        assert!(seen.dropped > 90, "{} dropped", seen.dropped);
        assert_eq!(seen.sent.len(), seen.rtts.len() + seen.dropped);
        assert_eq!(seen.delays.len(), arrived);
    }
}

#[test]
fn drawn_sizes_leave_send_times_alone() {
    let size = Draw::table(&[(128.0, 0.5), (1028.0, 0.5)]).unwrap();
    for spacing in [Spacing::Even, Spacing::Poisson, Spacing::Voice { spurts: true }] {
        let plain = DatagramsPlan { spacing, ..even(100.0) };
        let mixed = DatagramsPlan { size: size.clone(), ..plain.clone() };
        let [plain, mixed] = [plain, mixed].map(|source| seen(vec![link(8.0, 1), link(8.0, 1)], source));
        assert_eq!(plain.sent, mixed.sent);
        let large = mixed.received.iter().filter(|bytes| **bytes == 1000).count();
        assert_eq!(
            mixed.received.iter().filter(|bytes| **bytes == 100).count(),
            mixed.received.len() - large
        );
        assert!(
            large * 3 > mixed.received.len() && large * 3 < 2 * mixed.received.len(),
            "{large} large ones"
        );
    }
}

/// Datagrams of any distribution keep the given rate, and have at least their headers.
#[test]
fn clamped_sizes_keep_the_rate() {
    for (app, size) in [
        ("cbr", "{ pareto = '1500 B', shape = 1.2 }"),
        ("poisson", "{ exponential = '40 B' }"),
        ("cbr", "{ lognormal = '30 kB', sigma = 2 }"),
    ] {
        let text = format!(
            "title = 'cut'\nduration = '1000 s'\n[bottleneck]\nrate = '10 Mbit/s'\ndelay = '1 ms'\n[[flows]]\n\
             app = {{ {app} = {{ rate = '400 kbit/s', size = {size} }} }}\nstart = '0 s'\n"
        );
        let scenario = Scenario::parse(text.as_bytes(), "cut", &[]).unwrap();
        let mut simulation = Simulation::new(topology::network(&scenario, 1), 1, Seen::default());
        simulation.advance(Time::ZERO + scenario.duration);
        let sizes: Vec<f64> = simulation.probe().received.iter().map(|bytes| *bytes as f64 + 28.0).collect();
        let (sum, n) = (sizes.iter().sum::<f64>(), sizes.len() as f64);
        let variance = sizes.iter().map(|size| (size - sum / n) * (size - sum / n)).sum::<f64>() / n;
        // Where their times are drawn, too, the number of datagrams has a variance of n.
        let doubt = if app == "poisson" { variance + (sum / n) * (sum / n) } else { variance };
        let rate = 8.0 * sum / 1000.0;
        assert!(
            (rate / 400e3 - 1.0).abs() < 4.0 * (doubt * n).sqrt() / sum + 1e-4,
            "{app} of {size}: {rate} bit/s"
        );
        assert!(variance > 0.0 && sizes.iter().all(|size| (28.0..=65535.0).contains(size)));
    }
}

/// A datagram is sent once the on-time suffices to produce it, pauses left out.
#[test]
fn a_partial_datagram_is_carried_over_a_pause() {
    let periods = Spacing::OnOff { on: Draw::constant(0.25).unwrap(), off: Draw::constant(1.0).unwrap() };
    let seen = seen(vec![link(8.0, 1), link(8.0, 1)], DatagramsPlan { spacing: periods, ..even(10.0) });
    // On from 1 s to 1.25 s, and from 2.25 s to 2.5 s.
    let times: Vec<u64> = seen.sent.iter().map(|time| time.nanos() / 1_000_000).collect();
    assert_eq!(times, [1100, 1200, 2300, 2400, 2500]);
}

/// Speech without pauses is 50 packets of 200 B a second; with them 1.004 s of 2.591 s, rounded up to whole frames.
#[test]
fn calls_follow_g_711_and_p_59() {
    let packets = |app: &str| {
        let text = format!(
            "title = \"A call\"\nduration = \"20000 s\"\n[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
             [[flows]]\napp = \"{app}\"\nstart = \"0 s\"\n"
        );
        let scenario = Scenario::parse(text.as_bytes(), "call", &[]).unwrap();
        let mut simulation = Simulation::new(topology::network(&scenario, 1), 1, Seen::default());
        simulation.advance(Time::ZERO + scenario.duration);
        std::mem::take(simulation.probe())
    };
    let all = packets("voip");
    assert_eq!(
        (all.sent.len(), all.sent[0], all.sent[999]),
        (1_000_000, Time::from_nanos(20_000_000), Time::from_nanos(20_000_000_000))
    );
    assert!(all.received.iter().all(|bytes| *bytes == 172));
    let spurts = packets("voip:spurts=true");
    // A spurt of mean 1.004 s fills 1 / (1 - exp(-0.02 / 1.004)) frames on average, then 1.587 s nothing is sent.
    let frames = 1.0 / (1.0 - sojourn_units::math::exp(-0.02 / 1.004));
    let rate = frames / (frames * 0.02 + 1.587);
    // Some 7700 spurts: their number varies by 1 %, as their lengths do.
    let found = spurts.sent.len() as f64 / 20_000.0;
    assert!((found / rate - 1.0).abs() < 0.03, "{found} packets/s, theory {rate}");
    let gaps: Vec<Span> = spurts.sent.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    let frame = Span::from_millis(20);
    let pauses: Vec<f64> =
        gaps.iter().filter(|gap| **gap > frame).map(|gap| (*gap - frame).seconds()).collect();
    let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
    assert!(gaps.iter().all(|gap| *gap >= frame));
    assert!((mean / 1.587 - 1.0).abs() < 4.0 / (pauses.len() as f64).sqrt(), "pauses of {mean} s");
}

/// Outcome of a scenario at its bottleneck of 10 Mbit/s and 20 ms, with 30 packets of buffer.
fn outcome(flows: &str) -> LinkOutcome {
    at_first(&format!(
        "[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"30 packets\"\n{flows}"
    ))
}

/// Outcome of a network at its first link with a qdisc.
fn at_first(network: &str) -> LinkOutcome {
    let text = format!("title = \"Datagrams\"\nduration = \"60 s\"\nwarmup = \"5 s\"\n{network}");
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    run.finish().links.remove(0)
}

/// A metric of a class, or of all.
fn number(outcome: &LinkOutcome, class: &str, name: &str) -> Option<f64> {
    let row = outcome.classes.iter().find(|(key, _)| key == class).map_or(&outcome.all, |(_, row)| row);
    match row.metrics.iter().find(|(key, _)| *key == name) {
        Some((_, Reading::Number(value))) => Some(*value),
        _ => None,
    }
}

#[test]
fn a_call_over_an_idle_link_is_rated_by_its_delay() {
    let alone = outcome("[[flows]]\napp = \"voip:spurts=true\"\n");
    assert_eq!(number(&alone, "all", "datagram_loss_ratio"), Some(0.0));
    // 20 ms to speak a frame, 20.19 ms of transit; G.107 has 91.99 for 40.19 ms from mouth to ear.
    let rating = number(&alone, "all", "r_factor").unwrap();
    assert!((rating - 91.99).abs() < 0.05, "{rating}");
    let ping = outcome("[[flows]]\napp = \"ping\"\n");
    assert_eq!(
        (number(&ping, "all", "r_factor"), number(&ping, "all", "datagram_loss_ratio")),
        (None, Some(0.0))
    );
}

/// A datagram is lost if no copy arrives (RFC 7680, section 2.5): one in a hundred, where each is duplicated and then
/// one in ten is lost.
#[test]
fn only_the_first_copy_of_a_datagram_counts() {
    let link = |from: &str, to: &str, wire: &str| {
        format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"50 packets\"\nqdisc = \"tail_drop\"\nimpairments = {{ {wire} }}\n"
        )
    };
    let calls = "[[flows]]\napp = \"voip\"\ncount = 10\nfrom = \"a\"\nto = \"c\"\n";
    let seen =
        at_first(&format!("{}{}{calls}", link("a", "b", "duplicate = 1.0"), link("b", "c", "loss = 0.1")));
    let lost = number(&seen, "all", "datagram_loss_ratio").unwrap();
    let sent = 10.0 * 50.0 * 54.0;
    assert!((lost - 0.01).abs() < 4.0 * (0.01_f64 / sent).sqrt(), "{lost}");
}

/// Twice the capacity: half of all packets are dropped, about alike in every class, and nothing else is lost.
#[test]
fn dropped_datagrams_are_lost() {
    let full = outcome(
        "[[flows]]\napp = \"poisson:rate=20Mbit/s\"\naccess = { rate = \"100 Mbit/s\" }\n\
         [[flows]]\napp = \"ping:every=5ms\"\n[[flows]]\napp = \"voip\"\ncount = 5\n",
    );
    for class in ["poisson", "ping", "voip"] {
        let [lost, dropped] =
            ["datagram_loss_ratio", "drop_ratio"].map(|name| number(&full, class, name).unwrap());
        assert!((lost - dropped).abs() < 0.01 && dropped > 0.4, "{class}: {lost} lost, {dropped} dropped");
    }
    let (rating, all) = (number(&full, "voip", "r_factor"), number(&full, "all", "r_factor"));
    assert!(rating.is_some_and(|rating| rating < 40.0) && rating == all, "{rating:?}, {all:?}");
    assert_eq!(number(&full, "poisson", "r_factor"), None);
}

/// Send times of datagrams and received bytes, by flow.
#[derive(Default)]
struct ByFlow {
    sent: BTreeMap<u32, Vec<Time>>,
    received: BTreeMap<u32, Vec<u64>>,
}

impl Probe for ByFlow {
    fn sent(&mut self, at: Time, flow: u32) {
        self.sent.entry(flow).or_default().push(at);
    }
    fn received(&mut self, _at: Time, flow: u32, bytes: u64) {
        self.received.entry(flow).or_default().push(bytes);
    }
}

/// Links, flows before, between and after, and one more user: all others send the same as without them.
#[test]
fn additions_change_no_draw_of_others() {
    let link = |ends: &str| format!("[[links]]\n{ends}\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n");
    let flow = |app: &str, keys: &str| {
        format!(
            "[[flows]]\napp = {{ {app} = {{ {keys}size = {{ exponential = \"500 B\" }} }} }}\nfrom = \"a\"\nto = \"b\"\n"
        )
    };
    let mine = [
        flow("poisson", "rate = \"1 Mbit/s\", "),
        flow("on_off", "rate = \"1 Mbit/s\", ") + "count = 2\n",
        flow("lrd", "rate = \"1 Mbit/s\", sources = 5, "),
        flow("ping", ""),
    ];
    let seen = |parts: &[String]| {
        let text = format!("title = \"Streams\"\nduration = \"5 s\"\n{}", parts.concat());
        let scenario =
            Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let mut simulation = Simulation::new(topology::network(&scenario, 7), 7, ByFlow::default());
        simulation.advance(Time::ZERO + scenario.duration);
        let ByFlow { sent, received } = std::mem::take(simulation.probe());
        // Packets on their way at the end are left out.
        let sizes = received.into_values().map(|sizes| sizes[..sizes.len() - 5].to_vec());
        sent.into_values().zip(sizes).collect::<Vec<_>>()
    };
    let ab = link("from = \"a\"\nto = \"b\"\nqdisc = \"tail_drop\"");
    let before = seen(&[std::slice::from_ref(&ab), &mine[..]].concat());
    let other = flow("cbr", "rate = \"1 Mbit/s\", ");
    let cd = link("from = \"c\"\nto = \"d\"\nqdisc = \"red\"");
    let [poisson, on_off, lrd, ping] = mine;
    let three = on_off.replace("count = 2", "count = 3");
    let named = other.replace("[[flows]]", "[[flows]]\nname = \"last\"");
    let mut after = seen(&[cd, ab, other, poisson, three, lrd, ping, named]);
    assert_eq!((before.len(), after.len()), (5, 8));
    for added in [7, 4, 0] {
        after.remove(added);
    }
    assert_eq!(before, after);
}

#[test]
fn datagrams_cross_a_one_way_link() {
    for access in
        ["", "access = { delay = \"1 ms\" }\narrivals = { every = \"100 ms\" }\nlifetime = \"50 ms\"\n"]
    {
        let text = format!(
            "title = \"One way\"\nduration = \"1 s\"\n[[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
             delay = \"1 ms\"\nqdisc = \"codel\"\none_way = true\n[[flows]]\nfrom = \"a\"\nto = \"b\"\n\
             app = {{ cbr = {{ rate = \"120 kbit/s\" }} }}\n{access}"
        );
        let scenario = Scenario::parse(text.as_bytes(), "one way", &[]).unwrap();
        for build in [Simulation::new, Simulation::stepwise] {
            let mut simulation = build(topology::network(&scenario, 1), 1, Seen::default());
            simulation.advance(Time::ZERO + scenario.duration);
            simulation.assert_conservation();
            assert!(simulation.probe().received.len() > 3);
        }
    }
}
