//! Laws before the fluid against trajectories from outside.

#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

use sojourn_aqm::laws::pi;
use sojourn_aqm::{Law, Site};
use sojourn_fluid::host::{Host, World};
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender, Window};
use sojourn_units::{Amount, Rate, Span, Time};

/// A link with one class of flows.
#[derive(Clone, Copy)]
struct Network {
    flows: f64,
    capacity: f64,
    base_rtt: f64,
    buffer: f64,
    window: Window,
    ecn: bool,
}

const HOLLOT: Network =
    Network { flows: 60.0, capacity: 3750.0, base_rtt: 0.2, buffer: 800.0, window: Window::Mgt, ecn: true };

impl Network {
    fn plant(self) -> Plant {
        let class = Class {
            sender: Sender::Tcp(self.window, f64::INFINITY),
            flows: Ramp::constant(self.flows),
            base_rtt: self.base_rtt,
            route: vec![0],
            back: Vec::new(),
            packet: 1000.0,
            ecn: self.ecn,
            loss: 0.0,
        };
        Plant::new(vec![class], vec![Link::new(self.capacity, self.buffer, 1000.0)])
    }

    fn site(self) -> Site {
        Site {
            rate: Rate::from_bits_per_second(8000.0 * self.capacity),
            packet: 1000.0,
            limit: self.buffer,
            flows: Some(self.flows),
            base_rtt: Some(Span::from_seconds(self.base_rtt)),
        }
    }

    fn under(self, law: Box<dyn Law>, step: f64) -> World {
        World::new(self.plant(), vec![Host::new(0, law, self.site())], step)
    }
}

fn at(seconds: f64) -> Time {
    Time::from_nanos((seconds * 1e9).round() as u64)
}

/// The backlog at each of these times.
fn backlogs(world: &mut World, times: &[f64]) -> Vec<f64> {
    let backlog = |time: &f64| {
        world.run_until(at(*time));
        world.backlog(0)
    };
    times.iter().map(backlog).collect()
}

#[test]
fn pi_holds_its_target_as_the_published_model_has_it() {
    // The gains that the paper prints.
    let (target, a, b) = (Some(Amount::Packets(200.0)), Some(1.822e-5), Some(1.816e-5));
    let law = pi::Pi::law(&pi::Params { target, a, b, rate: None }, &HOLLOT.site()).unwrap();
    let mut world = HOLLOT.under(Box::new(law), 0.003125);
    let found = backlogs(&mut world, &[5.0, 10.0, 15.0, 20.0, 40.0]);
    reference::hold("hollot.PI.fluid.q@5,10,15,20,40", &found);
}

#[test]
fn under_a_constant_p_windows_follow_the_square_root() {
    let mut world = World::new(HOLLOT.plant(), Vec::new(), 0.01);
    world.change(|plant, _| plant.set_p(0, 0.0, 0.02));
    world.run_until(at(60.0));
    reference::hold("mgt.const p=.02: q(60),W(60)", &[world.backlog(0), world.values()[0]]);
}
