//! Order of the method: the error against the step.

use crate::{PACKET, class};
use sojourn_aqm::laws::pi;
use sojourn_aqm::{Law, LinkContext};
use sojourn_fluid::dde::Integrator;
use sojourn_fluid::law_driver::{LawDriver, World};
use sojourn_fluid::plant::{Class, Link, Plant, Sender, Window};
use sojourn_units::{Amount, Rate, Span, Time, math};

fn plant(window: Window, ecn: bool) -> Plant {
    let sender = Sender::Tcp(window, f64::INFINITY);
    Plant::new(vec![Class { sender, ecn, ..class(60.0, &[0]) }], vec![Link::new(3750.0, 5000.0, PACKET)])
}

/// log2 of the ratio of errors of steps that halve.
pub(crate) fn slopes(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| math::ln(pair[0] / pair[1]) / math::ln(2.0)).collect()
}

/// p is constant. Steps are fine at first: each round trip smooths the bends of the start and of the first queue, so
/// that later on there are all the derivatives that the method's order requires, and delays that depend on the state.
#[test]
fn under_a_constant_p_the_error_is_of_fourth_order() {
    for (window, ecn) in
        [(Window::Mgt, true), (Window::Mgt, false), (Window::Full, true), (Window::Full, false)]
    {
        let mut begun = Integrator::new(plant(window, ecn), 0.0, plant(window, ecn).start());
        begun.change(|plant, _| plant.set_p(0, 0.0, 0.005));
        begun.advance(8.0, 1e-3);
        let ends = |step: f64| {
            let mut run = begun.clone();
            run.advance(20.0, step);
            run.values()[1]
        };
        let exact = ends(0.1 / 128.0);
        let errors = [0.1, 0.05, 0.025].map(|step| (ends(step) - exact).abs());
        let slopes = slopes(&errors);
        println!("{window:?} ecn {ecn}: errors {errors:?} of {exact}, slopes {slopes:.2?}");
        assert!(slopes.iter().all(|slope| (3.5..4.6).contains(slope)), "{slopes:?}");
    }
}

/// Every change of p bends its effects one round trip later, and no step ends there. Changes are small, and so is the
/// error.
#[test]
fn under_a_sampled_law_the_error_falls_too() {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(3750.0 * 8.0 * PACKET),
        packet: PACKET,
        limit: 5000.0,
        flows: Some(60.0),
        base_rtt: Some(Span::from_millis(200)),
    };
    let params = pi::Params { target: Some(Amount::Packets(200.0)), ..pi::Params::default() };
    let ends = |step: f64| {
        let law: Box<dyn Law> = Box::new(pi::Pi::law(&params, &context).unwrap());
        let mut world = World::new(plant(Window::Mgt, true), vec![LawDriver::new(0, law, context)], step);
        world.run_until(Time::ZERO + Span::from_secs(12));
        world.backlog(0)
    };
    let period = 1.0 / 160.0;
    let exact = ends(period / 64.0);
    let errors = [1.0, 2.0, 4.0, 8.0].map(|steps| (ends(period / steps) - exact).abs());
    let slope = math::ln(errors[0] / errors[3]) / math::ln(8.0);
    println!("PI: errors {errors:?} of {exact}, slope {slope:.2}");
    assert!(errors[0] < 1e-4 * exact && slope > 1.8, "{errors:?} {slope}");
}
