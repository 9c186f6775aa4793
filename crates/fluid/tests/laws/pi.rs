//! PI of Hollot et al., and no law at all.

use crate::bench::{HOLLOT, at};
use crate::reference::hold;
use sojourn_aqm::laws::pi::{Params, Pi};
use sojourn_fluid::law_driver::World;
use sojourn_units::Amount;

#[test]
fn it_holds_its_target_as_the_published_model_has_it() {
    // The gains that the paper prints.
    let (target, a, b) = (Some(Amount::Packets(200.0)), Some(1.822e-5), Some(1.816e-5));
    let law = Pi::law(&Params { target, a, b, rate: None }, &HOLLOT.context()).unwrap();
    let mut bench = HOLLOT.under(law, 5);
    bench.run(100.0);
    let found = [5.0, 10.0, 15.0, 20.0, 40.0].map(|seconds| bench.queue_at(seconds));
    hold("hollot.PI.fluid.q@5,10,15,20,40", &found);
    hold("hollot.PI.fluid.peak", &[bench.queue.iter().copied().fold(0.0, f64::max)]);
    hold("hollot.PI.fluid.p_end", &[bench.p()]);
}

#[test]
fn under_a_constant_p_windows_follow_the_square_root() {
    let mut world = World::new(HOLLOT.plant(), Vec::new(), 0.01);
    world.change(|plant, _| plant.set_p(0, 0.0, 0.02));
    world.run_until(at(60.0));
    hold("mgt.const p=.02: q(60),W(60)", &[world.backlog(0), world.values()[0]]);
}
