//! Response of laws to a new link rate.

use sojourn_aqm::catalogue::LAWS;
use sojourn_aqm::{
    Arrival, Backlog, Departure, FlowId, Gauges, Law, LawSpec, LinkContext, Observation, Verdict,
};
use sojourn_params::Value;
use sojourn_units::{Ecn, Rate, Span, Time};

/// 1 MB/s: 1000 packets of 1000 B a second.
fn context() -> LinkContext {
    let (rate, base_rtt) = (Rate::from_bits_per_second(8e6), Some(Span::from_millis(100)));
    LinkContext { rate, packet: 1000.0, limit: 200.0, flows: Some(20.0), base_rtt }
}

fn built(stem: &str, given: &[(&str, Value)]) -> Box<dyn Law> {
    let given: Vec<_> = given.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect();
    LawSpec::new(stem, &given).unwrap().design(&context()).unwrap().law()
}

/// All gauges of a law.
#[derive(Default, PartialEq, Debug)]
struct Shown(Vec<(&'static str, f64)>);

impl Gauges for Shown {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        self.0.push((name, value));
    }
}

fn shown(law: &dyn Law) -> Vec<(&'static str, f64)> {
    let mut shown = Shown::default();
    law.gauges(&mut shown);
    shown.0
}

fn arrival(now: Time, packets: u32, u: f64) -> Arrival {
    let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
    let (len, ecn, flow) = (1000, Ecn::Ect0, FlowId(packets % 7));
    Arrival { now, len, ecn, flow, backlog, victim: Some(FlowId(3)), u: [u, u] }
}

/// Verdicts of a law on a second of packets above its target with sojourn times of 10 ms, an idle tenth of a second,
/// and another second; in between the link rate is halved, or not.
fn outputs(stem: &str, rate_changes: bool) -> (Vec<Verdict>, Vec<(&'static str, f64)>) {
    let schedule = [("schedule", Value::Flag(true))];
    let adapt = [("adapt", Value::Text("load".into()))];
    let given: &[(&str, Value)] = match stem {
        "pi_pd" => &schedule,
        "pid" | "cpc" | "arm_pfc" => &adapt,
        _ => &[],
    };
    let mut law = built(stem, given);
    let mut verdicts = Vec::new();
    let mut updated = Time::ZERO;
    for k in 0..2000_u32 {
        let mut now = Time::ZERO + Span::from_millis(u64::from(k) + 1);
        if k >= 1000 {
            now += Span::from_millis(100);
        }
        if k == 700 && rate_changes {
            law.on_link_change(now, Rate::from_bits_per_second(4e6));
        }
        while let Some(due) = law.next_update().filter(|due| *due <= now) {
            let elapsed = due.since(updated).seconds();
            let (count, held) = (1100.0 * elapsed, f64::from(110 + k % 30));
            let observed = Observation {
                now: due,
                elapsed,
                backlog_packets: held,
                backlog_bytes: held * 1000.0,
                head_sojourn: 0.1,
                arrived_packets: count,
                arrived_bytes: count * 1000.0,
                departed_packets: count,
                departed_bytes: count * 1000.0,
                busy: elapsed,
                limit: 200.0,
                mean_packet: 1000.0,
                capacity: Some(context().rate),
                ..Observation::default()
            };
            law.on_update(due, &observed);
            updated = due;
        }
        if k == 999 {
            law.on_idle(now);
            continue;
        }
        let comes = arrival(now, 110 + k % 30, f64::from(k % 97) / 97.0);
        verdicts.push(law.on_arrival(&comes));
        let Arrival { len, ecn, flow, backlog, u, .. } = comes;
        let sojourn = Span::from_millis(10);
        verdicts.push(law.on_departure(&Departure { now, len, ecn, flow, sojourn, backlog, u }));
    }
    (verdicts, shown(law.as_ref()))
}

#[test]
fn laws_with_the_link_rate_in_their_equations_follow_it() {
    let follow: Vec<&str> = LAWS
        .iter()
        .map(|entry| entry.page.stem)
        .filter(|stem| outputs(stem, true) != outputs(stem, false))
        .collect();
    // The others depend on the link by its effect on packets (pie, pi2, codel, blue, sred), by their initial design
    // alone (pi), or not at all.
    let expected = [
        "red",
        "ared",
        "choke",
        "avq",
        "rem",
        "pid",
        "pi_pd",
        "cpc",
        "arm_pfc",
        "fb_ocq",
        "docsis_pie",
        "cobalt",
    ];
    assert_eq!(follow, expected);
}

#[test]
fn a_fixed_design_does_not_follow_the_link() {
    let fixed: &[(&str, &[(&str, Value)])] = &[
        ("pid", &[("adapt", Value::Text("none".into()))]),
        ("pi_pd", &[("alpha", Value::Number(1e-4))]),
        ("pi_pd", &[("schedule", Value::Flag(false))]),
        ("arm_pfc", &[("adapt", Value::Text("none".into()))]),
        ("docsis_pie", &[("msr", Value::Text("5 Mbit/s".into()))]),
    ];
    for (stem, given) in fixed {
        let [mut changed, mut unchanged] = [built(stem, given), built(stem, given)];
        changed.on_link_change(Time::ZERO, Rate::from_bits_per_second(3e6));
        for _ in 0..50 {
            for law in [&mut changed, &mut unchanged] {
                let due = law.next_update().unwrap();
                let backlog_packets = (due.nanos() / 1_000_000 % 150) as f64;
                let backlog_bytes = backlog_packets * 1000.0;
                law.on_update(
                    due,
                    &Observation {
                        now: due,
                        elapsed: 0.02,
                        backlog_packets,
                        backlog_bytes,
                        ..Observation::default()
                    },
                );
            }
        }
        assert_eq!(shown(changed.as_ref()), shown(unchanged.as_ref()), "{stem}");
    }
}

/// Equation (2) of RED with m = idle time x C at the new rate.
#[test]
fn reds_average_ages_at_the_links_pace() {
    for (rate, packets) in [(8e6, 100), (2e6, 25), (0.0, 0)] {
        let given = [("weight", Value::Number(0.02))];
        let mut law = built("red", &given);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        (1..=500).for_each(|k| _ = law.on_arrival(&arrival(at(k), 60, 0.999)));
        let average = |law: &dyn Law| shown(law).iter().find(|(name, _)| *name == "average").unwrap().1;
        let before = average(law.as_ref());
        law.on_link_change(at(500), Rate::from_bits_per_second(rate));
        law.on_idle(at(500));
        law.on_arrival(&arrival(at(600), 0, 0.999));
        let aged = before * sojourn_units::math::pow_int(0.98, packets) * 0.98;
        assert!((average(law.as_ref()) - aged).abs() < 1e-9, "{rate}: {before} {aged}");
    }
}

/// Equation (1) of REM: x - c with the new c.
#[test]
fn rems_price_counts_against_the_new_rate() {
    let given = [("period", Value::Text("100 ms".into())), ("gamma", Value::Number(0.01))];
    let mut law = built("rem", &given);
    law.on_link_change(Time::ZERO, Rate::from_bits_per_second(4e6));
    let due = law.next_update().unwrap();
    let observed = Observation {
        now: due,
        elapsed: 0.1,
        backlog_packets: 20.0,
        arrived_bytes: 80_000.0,
        ..Observation::default()
    };
    law.on_update(due, &observed);
    // 80 packets in 0.1 s on a link of 500 packets/s: 30 too many; the backlog is at its target of 20.
    let price = shown(law.as_ref()).iter().find(|(name, _)| *name == "price").unwrap().1;
    assert!((price - 0.01 * 30.0).abs() < 1e-12, "{price}");
}
