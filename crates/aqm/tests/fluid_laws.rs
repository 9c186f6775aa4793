//! Fluid laws against the laws that they replace, each pair under the same steady flow.

use sojourn_aqm::{
    Arrival, Backlog, Departure, Entry, FlowId, FluidLaw, FluidStep, Gauges, Law, LawSpec, LinkContext,
    Observation, Verdict, catalogue,
};
use sojourn_params::Value;
use sojourn_units::{Ecn, Rate, Span, Time};

/// 1000 packets/s.
fn context() -> LinkContext {
    let rate = Rate::from_bits_per_second(8e6);
    LinkContext { rate, packet: 1000.0, limit: 20_000.0, flows: None, base_rtt: None }
}

fn pair(stem: &str, given: &[(&str, Value)]) -> (Box<dyn Law>, Box<dyn FluidLaw>) {
    let given: Vec<_> = given.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
    let qdisc = LawSpec::new(stem, &given).unwrap();
    let design = qdisc.design(&context()).unwrap();
    (design.law(), design.fluid().unwrap())
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

fn arrival(now: Time, packets: u32, u: f64) -> Arrival {
    let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
    Arrival { now, len: 1000, ecn: Ecn::Ect0, flow: FlowId(0), backlog, victim: None, u: [u, u] }
}

/// Reads one inner value.
#[derive(Default)]
struct One(&'static str, f64);

impl Gauges for One {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        if name == self.0 {
            self.1 = value;
        }
    }
}

fn of_law(law: &dyn Law, name: &'static str) -> f64 {
    let mut one = One(name, f64::NAN);
    law.gauges(&mut one);
    one.1
}

fn of_fluid(fluid: &dyn FluidLaw, name: &'static str) -> f64 {
    let mut one = One(name, f64::NAN);
    fluid.gauges(&mut one);
    one.1
}

/// Uniform draws: Weyl's sequence of the golden ratio, scrambled.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn near(ours: f64, theirs: f64, share: f64) {
    assert!((ours / theirs - 1.0).abs() < share, "{ours} {theirs}");
}

/// 1e6 arrivals at averages spread about one value, so that 1/p_b is an integer for few of them. The standard
/// deviation of the distance between signals is at most 0.58 of its mean, so that the number of signals is known to
/// 0.3 % or better.
#[test]
fn fluid_red_has_the_share_of_hits_of_red() {
    for wait in [true, false] {
        for middle in [1000_u32, 3000, 6000, 11_000] {
            let (min, max) = (text("100 packets"), text("6100 packets"));
            let given =
                [("min", min), ("max", max), ("weight", Value::Number(1.0)), ("wait", Value::Flag(wait))];
            let (mut law, mut fluid) = pair("red", &given);
            let (mut draws, mut hit, mut expected) = (Draws(1), 0.0, 0.0);
            for k in 0..20 {
                let backlog = middle / 100 * (91 + k);
                let over = FluidStep {
                    dt: 1.0,
                    backlog: f64::from(backlog),
                    arrival_rate: 1000.0,
                    ..FluidStep::default()
                };
                fluid.step(&over);
                for _ in 0..50_000 {
                    let verdict = law.on_arrival(&arrival(Time::ZERO, backlog, draws.next()));
                    hit += f64::from(u8::from(verdict != Verdict::Pass));
                }
                expected += 50_000.0 * fluid.p();
            }
            near(expected, hit, 0.01);
        }
    }
}

/// Bytes in mean packets of 500 B: packets of 1000 B are hit twice as often, and 100 of them are 200.
#[test]
fn fluid_red_has_the_share_of_hits_of_red_in_byte_mode() {
    let given = [
        ("min", text("200 packets")),
        ("max", text("12200 packets")),
        ("weight", Value::Number(1.0)),
        ("byte_mode", Value::Flag(true)),
        ("mean_packet", text("500 B")),
    ];
    let (mut law, mut fluid) = pair("red", &given);
    let (mut draws, mut hit, mut expected) = (Draws(1), 0.0, 0.0);
    for backlog in (3000..5000).step_by(100) {
        let over =
            FluidStep { dt: 1.0, backlog: f64::from(backlog), arrival_rate: 1000.0, ..FluidStep::default() };
        fluid.step(&over);
        for _ in 0..50_000 {
            let verdict = law.on_arrival(&arrival(Time::ZERO, backlog, draws.next()));
            hit += f64::from(u8::from(verdict != Verdict::Pass));
        }
        expected += 50_000.0 * fluid.p();
        near(of_fluid(&*fluid, "average"), of_law(&*law, "average"), 1e-9);
    }
    near(expected, hit, 0.01);
}

/// In the paper's form, too, which hits every packet from p_b = 1/2 on: marks up to the curve's end.
#[test]
fn fluid_red_marks_where_red_does() {
    for wait in [true, false] {
        for (below, backlog) in [(0.05, 150_u32), (0.05, 3500), (1.0, 11_900), (1.0, 12_300), (1.1, 12_300)] {
            let (min, max) = (text("100 packets"), text("6100 packets"));
            let (weight, below) = (Value::Number(1.0), Value::Number(below));
            let given = [
                ("min", min),
                ("max", max),
                ("weight", weight),
                ("mark_below_p", below),
                ("wait", Value::Flag(wait)),
            ];
            let (mut law, mut fluid) = pair("red", &given);
            fluid.step(&FluidStep {
                dt: 1.0,
                backlog: f64::from(backlog),
                arrival_rate: 1000.0,
                ..FluidStep::default()
            });
            let verdicts = (0..3000).map(|_| law.on_arrival(&arrival(Time::ZERO, backlog, 0.0)));
            let marked =
                verdicts.into_iter().find(|verdict| *verdict != Verdict::Pass) == Some(Verdict::Mark);
            assert_eq!(fluid.marks(), Some(marked), "{wait} {given:?}");
        }
    }
}

#[test]
fn fluid_red_has_the_average_of_red() {
    let (mut law, mut fluid) = pair("red", &[]);
    let (mut now, step) = (0.0, 0.01);
    for (backlog, rate) in [(5000_u32, 1000.0), (200, 4000.0), (0, 0.0), (9000, 500.0)] {
        for _ in 0..50 {
            now += step;
            let over = FluidStep {
                now: at(now),
                dt: step,
                backlog: f64::from(backlog),
                arrival_rate: rate,
                capacity: 1000.0,
                ..FluidStep::default()
            };
            fluid.step(&over);
            for _ in 0..(rate * step) as usize {
                law.on_arrival(&arrival(at(now), backlog, 1.0));
            }
        }
        if backlog == 0 {
            // The law ages its average at the next packet.
            law.on_idle(at(now - 49.0 * step));
            continue;
        }
        near(of_fluid(&*fluid, "average"), of_law(&*law, "average"), 1e-9);
    }
}

#[test]
fn fluid_adaptive_red_takes_the_steps_of_adaptive_red() {
    let (mut law, mut fluid) = pair("ared", &[("weight", Value::Number(0.01))]);
    let step = 0.01;
    for k in 1..=1500 {
        let now = f64::from(k) * step;
        let backlog = if k < 500 { 14 } else { 6 };
        for _ in 0..10 {
            law.on_arrival(&arrival(at(now), backlog, 1.0));
        }
        fluid.step(&FluidStep {
            now: at(now),
            dt: step,
            backlog: f64::from(backlog),
            arrival_rate: 1000.0,
            ..FluidStep::default()
        });
        if let Some(due) = law.next_update().filter(|due| *due <= at(now)) {
            law.on_update(due, &Observation { now: at(now), ..Observation::default() });
        }
        near(of_fluid(&*fluid, "max_p"), of_law(&*law, "max_p"), 1e-9);
    }
    assert!(of_law(&*law, "max_p") < 0.1);
}

/// 1100 packets/s at a link of 1000: number of marks, and the virtual rate, after each 10 s.
#[test]
fn fluid_avq_marks_as_often_as_avq() {
    for (buffer, offered) in [("20 packets", false), ("50 packets", true)] {
        let given = [("buffer", text(buffer)), ("offered", Value::Flag(offered))];
        let (mut law, mut fluid) = pair("avq", &given);
        let (mut hit, mut expected) = (0.0, 0.0);
        for k in 1..=55_000 {
            let now = f64::from(k) / 1100.0;
            let mut packet = arrival(at(now), 100, 0.5);
            packet.ecn = Ecn::NotEct;
            hit += f64::from(u8::from(law.on_arrival(&packet) == Verdict::Drop));
            let dropped_rate = fluid.p() * 1100.0;
            fluid.step(&FluidStep {
                now: at(now),
                dt: 1.0 / 1100.0,
                backlog: 100.0,
                arrival_rate: 1100.0,
                dropped_rate,
                capacity: 1000.0,
                ..FluidStep::default()
            });
            expected += fluid.p();
            if k % 11_000 == 0 {
                near(expected, hit, 0.01);
            }
        }
        let [ours, theirs] = [of_fluid(&*fluid, "virtual_rate"), of_law(&*law, "virtual_rate")];
        assert!((ours - theirs).abs() < 0.01 * 8e6, "{ours} {theirs}");
    }
}

/// 3 s of losses, 10 s in which the link is idle between packets, 1 s without packets.
#[test]
fn fluid_blue_has_the_p_of_blue() {
    let (mut law, mut fluid) = pair("blue", &[]);
    let idle = FluidStep { dt: 0.001, capacity: 1000.0, ..FluidStep::default() };
    for k in 1..=14_000 {
        let now = at(f64::from(k) * 0.001);
        let over = if k <= 3000 {
            law.on_arrival(&arrival(now, 300, 1.0));
            law.on_overflow(now);
            FluidStep { backlog: 300.0, arrival_rate: 1100.0, overflow_rate: 100.0, ..idle }
        } else if k <= 13_000 {
            law.on_arrival(&arrival(now, 0, 1.0));
            law.on_idle(now + Span::from_micros(500));
            FluidStep { arrival_rate: 500.0, ..idle }
        } else {
            idle
        };
        fluid.step(&FluidStep { now, ..over });
        let off = of_fluid(&*fluid, "p") - of_law(&*law, "p");
        assert!(off.abs() < 0.0005 + 1e-12, "after {k} ms: {off}");
    }
    assert!(of_law(&*law, "p") > 0.02);
}

/// 10 000 packets/s with a sojourn time of 20 ms for 20 s, of 1 ms for 1 s, of 20 ms for 2 s.
#[test]
fn fluid_codel_signals_as_often_as_codel() {
    let (mut law, mut fluid) = pair("codel", &[]);
    let (rate, mut total) = (10_000.0, 0_u32);
    for (seconds, sojourn, share) in [(20.0, 0.02, 0.01), (1.0, 0.001, 1.0), (2.0, 0.02, 0.02)] {
        let (mut hit, mut expected) = (0.0, 0.0);
        for _ in 0..(seconds * rate) as u32 {
            total += 1;
            let now = at(f64::from(total) / rate);
            let backlog = Backlog { packets: 200, bytes: 200_000 };
            let (ecn, flow, sojourn) = (Ecn::Ect0, FlowId(0), Span::from_seconds(sojourn));
            let packet = Departure { now, len: 1000, ecn, flow, sojourn, backlog, u: [0.5; 2] };
            hit += f64::from(u8::from(law.on_departure(&packet) == Verdict::Mark));
            fluid.step(&FluidStep {
                now,
                dt: 1.0 / rate,
                backlog: 200.0,
                sojourn: sojourn.seconds(),
                arrival_rate: rate,
                capacity: rate,
                ..FluidStep::default()
            });
            expected += fluid.p();
        }
        if sojourn > 0.01 {
            assert!(hit > 100.0);
            near(expected, hit, share);
        } else {
            assert_eq!((hit, expected), (0.0, 0.0));
        }
    }
    assert!(fluid.at_departure());
}

#[test]
fn laws_without_a_fluid_law_give_a_probability_or_have_a_reason_on_their_page() {
    let stems = |of: &dyn Fn(&Entry) -> bool| -> Vec<_> {
        catalogue::LAWS.iter().filter(|entry| of(entry)).map(|entry| entry.page.stem).collect()
    };
    let designed = |entry: &Entry| LawSpec::new(entry.page.stem, &[]).unwrap().design(&context()).unwrap();
    let with_a_fluid_law = stems(&|entry| designed(entry).fluid().is_some());
    assert_eq!(with_a_fluid_law, ["red", "ared", "blue", "avq", "codel"]);
    let neither = stems(&|entry| !designed(entry).is_for_fluids());
    assert_eq!(neither, ["head_drop", "choke", "sred", "cobalt"]);
}
