//! What sources of datagrams send when, and what comes of it.

use sojourn_aqm::discs::Fifo;
use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::{Cause, Limit, Site};
use sojourn_scenario::Scenario;
use sojourn_sim::network::{ClassPlan, DatagramsPlan, FlowPlan, LinkPlan, Network, SourcePlan, Spacing};
use sojourn_sim::{LinkOutcome, Metric, Probe, Run, Simulation, topology};
use sojourn_units::{Draw, Rate, Span, Stream, Time};
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
    fn dropped(&mut self, _now: Time, _link: u32, _flow: u32, _cause: Cause) {
        self.dropped += 1;
    }
}

fn link(mbit: f64, millis: u64) -> LinkPlan {
    let rate = Rate::from_bits_per_second(mbit * 1e6);
    LinkPlan::plain(rate, Span::from_millis(millis))
}

/// Behind a disc of two packets.
fn narrow(mbit: f64) -> LinkPlan {
    let plan = link(mbit, 1);
    let site = Site { rate: plan.rate, packet: 1000.0, limit: 2.0, flows: None, base_rtt: None };
    let disc = Fifo::new(TailDrop, Limit::Packets(2), site, Stream::named(1, "disc"));
    LinkPlan { disc: Some(Box::new(disc)), ..plan }
}

fn even(rate: f64) -> DatagramsPlan {
    DatagramsPlan::plain("udp/0", rate, Spacing::Even, 1000)
}

/// From 1 s to 3 s over the first link, and back over the second; everything has come by 10 s.
fn seen(links: Vec<LinkPlan>, source: DatagramsPlan) -> Seen {
    let flow = FlowPlan {
        class: 0,
        member: 0,
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
fn a_datagram_is_under_way_as_long_as_its_link_takes() {
    let seen = seen(vec![link(8.0, 10), link(8.0, 10)], even(100.0));
    assert_eq!(seen.sent.len(), 200);
    assert_eq!(seen.sent[7], Time::ZERO + Span::from_millis(1070));
    // 1000 B at 8 Mbit/s, and 10 ms; 28 B are headers.
    assert_eq!(seen.delays, vec![Span::from_millis(11); 200]);
    assert_eq!((&seen.received, seen.rtts.len()), (&vec![972; 200], 0));
}

#[test]
fn a_ping_comes_back_over_the_other_way() {
    let ping = DatagramsPlan { echo: true, ..even(100.0) };
    let seen = seen(vec![link(8.0, 10), link(1.0, 5)], ping);
    // 1 ms and 10 ms there, 8 ms and 5 ms back, and neither answers an answer.
    assert_eq!(seen.rtts, vec![Span::from_millis(24); 200]);
    assert_eq!((seen.sent.len(), seen.delays.len()), (200, 200));
}

/// Ten datagrams take the time in which fifteen are sent, and two may wait.
#[test]
fn what_is_lost_does_not_come_back() {
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
fn sizes_are_drawn_and_times_are_not_touched_by_it() {
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

/// However wide their distribution is, datagrams have the rate that is asked for, and their headers at the least.
#[test]
fn sizes_that_are_cut_keep_the_rate() {
    for (app, size) in [
        ("cbr", "{ pareto = '1500 B', shape = 1.2 }"),
        ("poisson", "{ exponential = '40 B' }"),
        ("cbr", "{ lognormal = '30 kB', sigma = 2 }"),
    ] {
        let text = format!(
            "title = 'cut'\nduration = '1000 s'\n[bottleneck]\nrate = '10 Mbit/s'\ndelay = '1 ms'\n[[flows]]\n\
             app = '{app}'\nrate = '400 kbit/s'\nstart = '0 s'\nsize = {size}\n"
        );
        let scenario = Scenario::parse(text.as_bytes(), "cut", &[]).unwrap();
        let mut simulation = Simulation::new(topology::network(&scenario, 1).unwrap(), 1, Seen::default());
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

/// A datagram is sent when the source has been on for as long as it takes to make it, pauses left out.
#[test]
fn an_on_period_carries_on_where_the_last_one_stopped() {
    let periods = Spacing::OnOff { on: Draw::constant(0.25).unwrap(), off: Draw::constant(1.0).unwrap() };
    let seen = seen(vec![link(8.0, 1), link(8.0, 1)], DatagramsPlan { spacing: periods, ..even(10.0) });
    // On from 1 s to 1.25 s, and from 2.25 s to 2.5 s.
    let times: Vec<u64> = seen.sent.iter().map(|time| time.nanos() / 1_000_000).collect();
    assert_eq!(times, [1100, 1200, 2300, 2400, 2500]);
}

/// Speech without pauses is 50 packets of 200 B a second; with them 1.004 s of 2.591 s, and the frames that are filled up.
#[test]
fn a_call_is_as_g_711_and_p_59_have_it() {
    let packets = |keys: &str| {
        let text = format!(
            "title = \"A call\"\nduration = \"20000 s\"\n[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
             [[flows]]\napp = \"voip\"\nstart = \"0 s\"\n{keys}"
        );
        let scenario = Scenario::parse(text.as_bytes(), "call", &[]).unwrap();
        let mut simulation = Simulation::new(topology::network(&scenario, 1).unwrap(), 1, Seen::default());
        simulation.advance(Time::ZERO + scenario.duration);
        std::mem::take(simulation.probe())
    };
    let all = packets("");
    assert_eq!(
        (all.sent.len(), all.sent[0], all.sent[999]),
        (1_000_000, Time::from_nanos(20_000_000), Time::from_nanos(20_000_000_000))
    );
    assert!(all.received.iter().all(|bytes| *bytes == 172));
    let spurts = packets("spurts = true");
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

/// What came of a scenario at its bottleneck of 10 Mbit/s and 20 ms, with 30 packets of buffer.
fn outcome(flows: &str) -> LinkOutcome {
    at_first(&format!(
        "[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"30 packets\"\n{flows}"
    ))
}

/// What came of a network at its first link with a disc.
fn at_first(network: &str) -> LinkOutcome {
    let text = format!("title = \"Datagrams\"\nduration = \"60 s\"\nwarmup = \"5 s\"\n{network}");
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|faults| panic!("{faults}"));
    let mut run = Run::new(&scenario, 1).unwrap();
    while run.advance() {}
    run.finish().links.remove(0)
}

/// A metric of a class, or of all.
fn number(outcome: &LinkOutcome, class: &str, name: &str) -> Option<f64> {
    let row = outcome.classes.iter().find(|(key, _)| key == class).map_or(&outcome.all, |(_, row)| row);
    match row.metrics.iter().find(|(key, _)| *key == name) {
        Some((_, Metric::Number(value))) => Some(*value),
        _ => None,
    }
}

#[test]
fn a_call_over_an_idle_link_is_rated_by_its_delay() {
    let alone = outcome("[[flows]]\napp = \"voip\"\nspurts = true\n");
    assert_eq!(number(&alone, "all", "datagram_loss_ratio"), Some(0.0));
    // 20 ms to speak a frame, 20.19 ms on the way; G.107 has 91.99 for 40.19 ms from mouth to ear.
    let rating = number(&alone, "all", "voice_rating").unwrap();
    assert!((rating - 91.99).abs() < 0.05, "{rating}");
    let ping = outcome("[[flows]]\napp = \"ping\"\n");
    assert_eq!(
        (number(&ping, "all", "voice_rating"), number(&ping, "all", "datagram_loss_ratio")),
        (None, Some(0.0))
    );
}

/// A datagram is lost that comes in no copy (RFC 7680, section 2.5): one in a hundred, where each is sent twice and
/// one in ten is lost behind.
#[test]
fn of_a_datagram_and_its_copy_the_first_counts() {
    let link = |from: &str, to: &str, wire: &str| {
        format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"50 packets\"\ndisc = \"tail_drop\"\nimpairments = {{ {wire} }}\n"
        )
    };
    let calls = "[[flows]]\napp = \"voip\"\ncount = 10\nfrom = \"a\"\nto = \"c\"\n";
    let seen =
        at_first(&format!("{}{}{calls}", link("a", "b", "duplicate = 1.0"), link("b", "c", "loss = 0.1")));
    let lost = number(&seen, "all", "datagram_loss_ratio").unwrap();
    let sent = 10.0 * 50.0 * 54.0;
    assert!((lost - 0.01).abs() < 4.0 * (0.01_f64 / sent).sqrt(), "{lost}");
}

/// Twice what the link carries: half of all is dropped, of every class about alike, and nothing else is lost.
#[test]
fn what_the_link_drops_is_lost() {
    let full = outcome(
        "[[flows]]\napp = \"poisson\"\nrate = \"20 Mbit/s\"\naccess = { rate = \"100 Mbit/s\" }\n\
         [[flows]]\napp = \"ping\"\nevery = \"5 ms\"\n[[flows]]\napp = \"voip\"\ncount = 5\n",
    );
    for class in ["poisson", "ping", "voip"] {
        let [lost, dropped] =
            ["datagram_loss_ratio", "drop_ratio"].map(|name| number(&full, class, name).unwrap());
        assert!((lost - dropped).abs() < 0.01 && dropped > 0.4, "{class}: {lost} lost, {dropped} dropped");
    }
    let (rating, all) = (number(&full, "voip", "voice_rating"), number(&full, "all", "voice_rating"));
    assert!(rating.is_some_and(|rating| rating < 40.0) && rating == all, "{rating:?}, {all:?}");
    assert_eq!(number(&full, "poisson", "voice_rating"), None);
}

/// Datagrams by flow: when they were sent, and how many bytes came.
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

/// Links, flows before, between and behind, and one more member: all others send what they sent without them.
#[test]
fn what_is_added_changes_no_draw_of_the_others() {
    let link = |ends: &str| format!("[[links]]\n{ends}\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n");
    let flow = |keys: &str| {
        format!("[[flows]]\n{keys}\nsize = {{ exponential = \"500 B\" }}\nfrom = \"a\"\nto = \"b\"\n")
    };
    let mine = [
        "app = \"poisson\"\nrate = \"1 Mbit/s\"",
        "app = \"on_off\"\nrate = \"1 Mbit/s\"\ncount = 2",
        "app = \"lrd\"\nrate = \"1 Mbit/s\"\nsources = 5",
        "app = \"ping\"",
    ]
    .map(flow);
    let seen = |parts: &[String]| {
        let text = format!("title = \"Streams\"\nduration = \"5 s\"\n{}", parts.concat());
        let scenario =
            Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|faults| panic!("{faults}"));
        let mut simulation = Simulation::new(topology::network(&scenario, 7).unwrap(), 7, ByFlow::default());
        simulation.advance(Time::ZERO + scenario.duration);
        let ByFlow { sent, received } = std::mem::take(simulation.probe());
        // What is on its way at the end is no matter.
        let sizes = received.into_values().map(|sizes| sizes[..sizes.len() - 5].to_vec());
        sent.into_values().zip(sizes).collect::<Vec<_>>()
    };
    let ab = link("from = \"a\"\nto = \"b\"\ndisc = \"tail_drop\"");
    let before = seen(&[std::slice::from_ref(&ab), &mine[..]].concat());
    let other = flow("app = \"cbr\"\nrate = \"1 Mbit/s\"");
    let cd = link("from = \"c\"\nto = \"d\"\ndisc = \"red\"");
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
fn datagrams_go_where_nothing_comes_back_from() {
    for access in
        ["", "access = { delay = \"1 ms\" }\narrivals = { every = \"100 ms\" }\nlifetime = \"50 ms\"\n"]
    {
        let text = format!(
            "title = \"One way\"\nduration = \"1 s\"\n[[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
             delay = \"1 ms\"\ndisc = \"codel\"\none_way = true\n[[flows]]\nfrom = \"a\"\nto = \"b\"\napp = \"cbr\"\n\
             rate = \"120 kbit/s\"\n{access}"
        );
        let scenario = Scenario::parse(text.as_bytes(), "one way", &[]).unwrap();
        for build in [Simulation::new, Simulation::stepwise] {
            let mut simulation = build(topology::network(&scenario, 1).unwrap(), 1, Seen::default());
            simulation.advance(Time::ZERO + scenario.duration);
            simulation.assert_conservation();
            assert!(simulation.probe().received.len() > 3);
        }
    }
}
