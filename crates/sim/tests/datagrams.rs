//! What sources of datagrams send when, and what comes of it.

use sojourn_aqm::discs::Fifo;
use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::{Cause, Limit, Site};
use sojourn_scenario::Scenario;
use sojourn_sim::network::{Datagrams, FlowPlan, LinkPlan, Network, SourcePlan, Spacing};
use sojourn_sim::{Probe, Simulation, topology};
use sojourn_units::{Draw, Rate, Span, Stream, Time};

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
    fn rtt(&mut self, _at: Time, _flow: u32, rtt: Span) {
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

fn even(rate: f64, bytes: f64) -> Datagrams {
    let size = Draw::constant(bytes).unwrap();
    Datagrams { rate, spacing: Spacing::Even, size, ecn: false, echo: false }
}

/// From 1 s to 3 s over the first link, and back over the second; everything has come by 10 s.
fn seen(links: Vec<LinkPlan>, source: Datagrams) -> Seen {
    let flow = FlowPlan {
        source: SourcePlan::Datagrams(source),
        forward: vec![0],
        reverse: vec![1],
        start: Time::ZERO + Span::from_secs(1),
        stop: Some(Time::ZERO + Span::from_millis(2995)),
    };
    let network = Network { links, flows: vec![flow], changes: Vec::new() };
    let mut simulation = Simulation::new(network, 1, Seen::default());
    simulation.advance(Time::ZERO + Span::from_secs(10));
    std::mem::take(simulation.probe())
}

#[test]
fn a_datagram_is_under_way_as_long_as_its_link_takes() {
    let seen = seen(vec![link(8.0, 10), link(8.0, 10)], even(100.0, 1000.0));
    assert_eq!(seen.sent.len(), 200);
    assert_eq!(seen.sent[7], Time::ZERO + Span::from_millis(1070));
    // 1000 B at 8 Mbit/s, and 10 ms; 28 B are headers.
    assert_eq!(seen.delays, vec![Span::from_millis(11); 200]);
    assert_eq!((&seen.received, seen.rtts.len()), (&vec![972; 200], 0));
}

#[test]
fn a_ping_comes_back_over_the_other_way() {
    let ping = Datagrams { echo: true, ..even(100.0, 1000.0) };
    let seen = seen(vec![link(8.0, 10), link(1.0, 5)], ping);
    // 1 ms and 10 ms there, 8 ms and 5 ms back, and neither answers an answer.
    assert_eq!(seen.rtts, vec![Span::from_millis(24); 200]);
    assert_eq!((seen.sent.len(), seen.delays.len()), (200, 200));
}

/// Ten datagrams take the time in which fifteen are sent, and two may wait.
#[test]
fn what_is_lost_does_not_come_back() {
    let ping = Datagrams { echo: true, ..even(150.0, 1000.0) };
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
        let plain = Datagrams { spacing, ..even(100.0, 1000.0) };
        let mixed = Datagrams { size: size.clone(), ..plain.clone() };
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

/// A datagram is sent when the source has been on for as long as it takes to make it, pauses left out.
#[test]
fn an_on_period_carries_on_where_the_last_one_stopped() {
    let periods = Spacing::OnOff { on: Draw::constant(0.25).unwrap(), off: Draw::constant(1.0).unwrap() };
    let seen = seen(vec![link(8.0, 1), link(8.0, 1)], Datagrams { spacing: periods, ..even(10.0, 1000.0) });
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
