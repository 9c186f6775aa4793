//! The fluid twins against the laws that they stand for, each under the same steady flow.

use sojourn_aqm::{Arrival, Backlog, Departure, FlowId, Gauges, Law, Observation, Site, Verdict, catalogue};
use sojourn_fluid::twins::{Step, Twin, twin};
use sojourn_units::{Ecn, Rate, Span, Time, Value};

/// 1000 packets/s.
fn site() -> Site {
    let rate = Rate::from_bits_per_second(8e6);
    Site { rate, packet: 1000.0, limit: 20_000.0, flows: None, base_rtt: None }
}

fn pair(stem: &str, given: &[(&str, Value)]) -> (Box<dyn Law>, Box<dyn Twin>) {
    let given: Vec<_> = given.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
    let law = (catalogue::law(stem).unwrap().build)(&given, &site()).unwrap();
    (law, twin(stem, &given, &site()).unwrap().unwrap())
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

/// An inner value by its name.
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

fn of_twin(twin: &dyn Twin, name: &'static str) -> f64 {
    let mut one = One(name, f64::NAN);
    twin.gauges(&mut one);
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

/// 1e6 arrivals under averages about one, so that 1/p_b is whole for few of them. The distances between signals vary
/// by their mean's 0.58 where they do most, so the least number of signals is known to 0.3 %.
#[test]
fn red_hits_the_share_that_its_twin_says() {
    for wait in [true, false] {
        for middle in [1000_u32, 3000, 6000, 11_000] {
            let (min, max) = (text("100 packets"), text("6100 packets"));
            let given =
                [("min", min), ("max", max), ("weight", Value::Number(1.0)), ("wait", Value::Flag(wait))];
            let (mut law, mut twin) = pair("red", &given);
            let (mut draws, mut hit, mut said) = (Draws(1), 0.0, 0.0);
            for k in 0..20 {
                let backlog = middle / 100 * (91 + k);
                let over =
                    Step { dt: 1.0, backlog: f64::from(backlog), arrival_rate: 1000.0, ..Step::default() };
                twin.step(&over);
                for _ in 0..50_000 {
                    let verdict = law.on_arrival(&arrival(Time::ZERO, backlog, draws.next()));
                    hit += f64::from(u8::from(verdict != Verdict::Pass));
                }
                said += 50_000.0 * twin.p();
            }
            near(said, hit, 0.01);
        }
    }
}

/// Bytes in mean packets of 500 B: packets of 1000 B are hit twice as often, and 100 of them are 200.
#[test]
fn red_that_counts_bytes_hits_the_share_that_its_twin_says() {
    let given = [
        ("min", text("200 packets")),
        ("max", text("12200 packets")),
        ("weight", Value::Number(1.0)),
        ("byte_mode", Value::Flag(true)),
        ("mean_packet", text("500 B")),
    ];
    let (mut law, mut twin) = pair("red", &given);
    let (mut draws, mut hit, mut said) = (Draws(1), 0.0, 0.0);
    for backlog in (3000..5000).step_by(100) {
        let over = Step { dt: 1.0, backlog: f64::from(backlog), arrival_rate: 1000.0, ..Step::default() };
        twin.step(&over);
        for _ in 0..50_000 {
            let verdict = law.on_arrival(&arrival(Time::ZERO, backlog, draws.next()));
            hit += f64::from(u8::from(verdict != Verdict::Pass));
        }
        said += 50_000.0 * twin.p();
        near(of_twin(&*twin, "average"), of_law(&*law, "average"), 1e-9);
    }
    near(said, hit, 0.01);
}

/// Also in the paper's form, which hits every packet from p_b = 1/2 on: marks up to the curve's end.
#[test]
fn reds_twin_marks_where_red_does() {
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
            let (mut law, mut twin) = pair("red", &given);
            twin.step(&Step {
                dt: 1.0,
                backlog: f64::from(backlog),
                arrival_rate: 1000.0,
                ..Step::default()
            });
            let verdicts = (0..3000).map(|_| law.on_arrival(&arrival(Time::ZERO, backlog, 0.0)));
            let marked =
                verdicts.into_iter().find(|verdict| *verdict != Verdict::Pass) == Some(Verdict::Mark);
            assert_eq!(twin.marks(), Some(marked), "{wait} {given:?}");
        }
    }
}

#[test]
fn reds_average_forgets_as_the_twins_does() {
    let (mut law, mut twin) = pair("red", &[]);
    let (mut now, step) = (0.0, 0.01);
    for (backlog, rate) in [(5000_u32, 1000.0), (200, 4000.0), (0, 0.0), (9000, 500.0)] {
        for _ in 0..50 {
            now += step;
            let over = Step {
                now: at(now),
                dt: step,
                backlog: f64::from(backlog),
                arrival_rate: rate,
                capacity: 1000.0,
                ..Step::default()
            };
            twin.step(&over);
            for _ in 0..(rate * step) as usize {
                law.on_arrival(&arrival(at(now), backlog, 1.0));
            }
        }
        if backlog == 0 {
            // The law ages its average at the next packet.
            law.on_idle(at(now - 49.0 * step));
            continue;
        }
        near(of_twin(&*twin, "average"), of_law(&*law, "average"), 1e-9);
    }
}

#[test]
fn adaptive_red_takes_the_same_steps() {
    let (mut law, mut twin) = pair("ared", &[("weight", Value::Number(0.01))]);
    let step = 0.01;
    for k in 1..=1500 {
        let now = f64::from(k) * step;
        let backlog = if k < 500 { 14 } else { 6 };
        for _ in 0..10 {
            law.on_arrival(&arrival(at(now), backlog, 1.0));
        }
        twin.step(&Step {
            now: at(now),
            dt: step,
            backlog: f64::from(backlog),
            arrival_rate: 1000.0,
            ..Step::default()
        });
        if let Some(due) = law.next_update().filter(|due| *due <= at(now)) {
            law.on_update(due, &Observation { now: at(now), ..Observation::default() });
        }
        near(of_twin(&*twin, "max_p"), of_law(&*law, "max_p"), 1e-9);
    }
    assert!(of_law(&*law, "max_p") < 0.1);
}

/// 1100 packets/s in front of 1000: what was marked, and the virtual rate, after each second.
#[test]
fn avq_marks_what_its_twin_says() {
    for (buffer, offered) in [("20 packets", false), ("50 packets", true)] {
        let given = [("buffer", text(buffer)), ("offered", Value::Flag(offered))];
        let (mut law, mut twin) = pair("avq", &given);
        let (mut hit, mut said) = (0.0, 0.0);
        for k in 1..=55_000 {
            let now = f64::from(k) / 1100.0;
            let mut packet = arrival(at(now), 100, 0.5);
            packet.ecn = Ecn::NotEct;
            hit += f64::from(u8::from(law.on_arrival(&packet) == Verdict::Drop));
            let dropped_rate = twin.p() * 1100.0;
            twin.step(&Step {
                now: at(now),
                dt: 1.0 / 1100.0,
                backlog: 100.0,
                arrival_rate: 1100.0,
                dropped_rate,
                capacity: 1000.0,
                ..Step::default()
            });
            said += twin.p();
            if k % 11_000 == 0 {
                near(said, hit, 0.01);
            }
        }
        let [ours, theirs] = [of_twin(&*twin, "virtual_rate"), of_law(&*law, "virtual_rate")];
        assert!((ours - theirs).abs() < 0.01 * 8e6, "{ours} {theirs}");
    }
}

/// 3 s of losses, 10 s in which the link falls idle between packets, 1 s of silence.
#[test]
fn blue_learns_what_its_twin_learns() {
    let (mut law, mut twin) = pair("blue", &[]);
    let idle = Step { dt: 0.001, capacity: 1000.0, ..Step::default() };
    for k in 1..=14_000 {
        let now = at(f64::from(k) * 0.001);
        let over = if k <= 3000 {
            law.on_arrival(&arrival(now, 300, 1.0));
            law.on_overflow(now);
            Step { backlog: 300.0, arrival_rate: 1100.0, overflow_rate: 100.0, ..idle }
        } else if k <= 13_000 {
            law.on_arrival(&arrival(now, 0, 1.0));
            law.on_idle(now + Span::from_micros(500));
            Step { arrival_rate: 500.0, ..idle }
        } else {
            idle
        };
        twin.step(&Step { now, ..over });
        let off = of_twin(&*twin, "p") - of_law(&*law, "p");
        assert!(off.abs() < 0.0005 + 1e-12, "after {k} ms: {off}");
    }
    assert!(of_law(&*law, "p") > 0.02);
}

/// 10 000 packets/s that each waited for 20 ms: 20 s; then 1 s without waiting; then 2 s again.
#[test]
fn codel_signals_as_often_as_its_twin_says() {
    let (mut law, mut twin) = pair("codel", &[]);
    let (rate, mut total) = (10_000.0, 0_u32);
    for (seconds, sojourn, share) in [(20.0, 0.02, 0.01), (1.0, 0.001, 1.0), (2.0, 0.02, 0.02)] {
        let (mut hit, mut said) = (0.0, 0.0);
        for _ in 0..(seconds * rate) as u32 {
            total += 1;
            let now = at(f64::from(total) / rate);
            let backlog = Backlog { packets: 200, bytes: 200_000 };
            let (ecn, flow, sojourn) = (Ecn::Ect0, FlowId(0), Span::from_seconds(sojourn));
            let packet = Departure { now, len: 1000, ecn, flow, sojourn, backlog, u: [0.5; 2] };
            hit += f64::from(u8::from(law.on_departure(&packet) == Verdict::Mark));
            twin.step(&Step {
                now,
                dt: 1.0 / rate,
                backlog: 200.0,
                sojourn: sojourn.seconds(),
                arrival_rate: rate,
                capacity: rate,
                ..Step::default()
            });
            said += twin.p();
        }
        if sojourn > 0.01 {
            assert!(hit > 100.0);
            near(said, hit, share);
        } else {
            assert_eq!((hit, said), (0.0, 0.0));
        }
    }
    assert!(twin.at_departure());
}

#[test]
fn laws_without_a_twin_are_those_that_a_fluid_asks_themselves_or_whose_pages_say_why() {
    let with: Vec<_> = catalogue::LAWS
        .iter()
        .map(|entry| entry.page.stem)
        .filter(|stem| twin(stem, &[], &site()).is_some())
        .collect();
    assert_eq!(with, ["red", "ared", "blue", "avq", "codel"]);
    let asked =
        |stem: &&str| (catalogue::law(stem).unwrap().build)(&[], &site()).unwrap().probability().is_some();
    let neither: Vec<_> = catalogue::LAWS
        .iter()
        .map(|entry| entry.page.stem)
        .filter(|stem| !with.contains(stem) && !asked(stem))
        .collect();
    assert_eq!(neither, ["head_drop", "choke", "sred", "cobalt"]);
}
