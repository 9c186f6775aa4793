//! Random networks: conservation of packets, whenever a count begins and however it is made.

use crate::{PACKET, class};
use proptest::prelude::*;
use sojourn_fluid::dde::Integrator;
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender, Window};

/// Links, classes, and changes.
#[derive(Clone, Debug)]
struct Network {
    /// C and B.
    links: Vec<(f64, f64)>,
    classes: Vec<Kind>,
    changes: Vec<Change>,
}

#[derive(Clone, Debug)]
struct Kind {
    flows: f64,
    base_rtt: f64,
    /// The first of its links, and how many.
    route: (usize, usize),
    bits: u8,
    rate: f64,
}

#[derive(Clone, Debug)]
struct Change {
    after: f64,
    set: Setting,
}

#[derive(Clone, Debug)]
enum Setting {
    P(usize, f64),
    Capacity(usize, f64),
    Flows(usize, f64),
}

fn networks() -> impl Strategy<Value = Network> {
    let link = (200.0..5000.0, 20.0..500.0);
    let kind = (0.5..40.0, 0.01..0.3, (0..3_usize, 1..3_usize), 0..8_u8, 1.0..60.0);
    let kind =
        kind.prop_map(|(flows, base_rtt, route, bits, rate)| Kind { flows, base_rtt, route, bits, rate });
    let set = prop_oneof![
        (0..3_usize, 0.0..0.3).prop_map(|(link, p)| Setting::P(link, p)),
        (0..3_usize, 200.0..5000.0).prop_map(|(link, capacity)| Setting::Capacity(link, capacity)),
        (0..4_usize, 0.0..60.0).prop_map(|(class, flows)| Setting::Flows(class, flows)),
    ];
    let change = (0.01..1.0, set).prop_map(|(after, set)| Change { after, set });
    let parts = (
        prop::collection::vec(link, 1..4),
        prop::collection::vec(kind, 1..5),
        prop::collection::vec(change, 0..20),
    );
    parts.prop_map(|(links, classes, changes)| Network { links, classes, changes })
}

impl Network {
    fn plant(&self) -> Plant {
        let links = self.links.iter().map(|(capacity, buffer)| Link::new(*capacity, *buffer, PACKET));
        let class = |kind: &Kind| {
            let first = kind.route.0.min(self.links.len() - 1);
            let route: Vec<usize> = (first..self.links.len()).take(kind.route.1).collect();
            let window = if kind.bits & 1 == 0 { Window::Mgt } else { Window::Full };
            let sender = match kind.bits / 2 {
                3 => Sender::Constant(kind.rate),
                _ => Sender::Tcp(window, f64::INFINITY),
            };
            let ecn = kind.bits & 2 == 0;
            Class { sender, ecn, base_rtt: kind.base_rtt, ..class(kind.flows, &route) }
        };
        Plant::new(self.classes.iter().map(class).collect(), links.collect())
    }

    /// Runs its changes, and 2 s more.
    fn run(&self, start: f64, step: f64) -> Integrator<Plant> {
        let plant = self.plant();
        let y = plant.start();
        let mut run = Integrator::new(plant, start, y);
        for change in &self.changes {
            run.advance(run.now() + change.after, step);
            let now = run.now();
            run.change(|plant, y| match change.set {
                Setting::P(link, p) if link < self.links.len() => plant.set_p(link, now, p),
                Setting::Capacity(link, capacity) if link < self.links.len() => {
                    plant.set_capacity(link, now, capacity);
                }
                Setting::Flows(class, flows) if class < self.classes.len() => {
                    plant.set_flows(class, Ramp { since: now, count: flows, growth: 0.0 }, y);
                }
                _ => {}
            });
        }
        run.advance(run.now() + 2.0, step);
        run
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    /// Offered = delivered + lost + held, at each link; and the totals of classes equal the arrivals.
    #[test]
    fn what_is_offered_is_delivered_lost_or_held(network in networks()) {
        let run = network.run(0.0, 0.005);
        for (number, link) in run.system.links().iter().enumerate() {
            let (totals, held) = (link.totals(), run.values()[run.system.backlog(number)]);
            prop_assert!((0.0..=link.buffer).contains(&held));
            let off = totals.offered - totals.delivered - totals.lost() - held;
            prop_assert!(off.abs() < 1e-9 * totals.offered.max(1.0), "{off} of {}", totals.offered);
            let passed = (0..run.system.classes()).flat_map(|class| run.system.passed(class));
            let offered: f64 = passed.filter(|(at, _)| *at == number).map(|(_, passed)| passed.offered).sum();
            prop_assert!((offered - totals.offered).abs() < 1e-9 * offered.max(1.0));
        }
    }
}
