//! ARM-PFC against numbers from outside: its design.

#[path = "../common/reference.rs"]
mod reference;

use sojourn_aqm::laws::arm_pfc::{Adaptation, ArmPfc, Form, Params};
use sojourn_aqm::parts::prediction::{Predictor, SampledPlant, TcpQueue};
use sojourn_aqm::{Controller, LinkContext};
use sojourn_units::{Rate, Span, math};

/// The paper's nominal network: 100 flows, 1250 packets/s, a base RTT of 0.2 s; a buffer of 300 packets.
fn nominal() -> LinkContext {
    let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
    LinkContext {
        rate,
        packet: 1000.0,
        limit: 300.0,
        flows: Some(100.0),
        base_rtt: Some(Span::from_millis(200)),
    }
}

fn controller(params: &Params) -> ArmPfc {
    ArmPfc::new(params, &nominal()).unwrap()
}

fn hold(key: &str, ours: &[f64]) {
    reference::hold(&format!("armpfc.{key}"), ours);
}

/// The paper's design: fixed, its coincidence point seven periods ahead.
fn papers(form: Form) -> Params {
    Params { form, adapt: Some(Adaptation::Nothing), coincidence: Some(vec![7]), ..Params::default() }
}

#[test]
fn the_design_is_the_papers() {
    let controller = controller(&papers(Form::Indep));
    let (plant, model, period) = (controller.plant(), controller.model(), controller.period().seconds());
    hold("Tp", &[plant.tau1 - 100.0 / 1250.0]);
    hold("W0", &[(2.0 / plant.p).sqrt()]);
    hold("p0", &[plant.p]);
    hold("kt", &[plant.gain]);
    hold("tau1", &[plant.tau1]);
    hold("tau2", &[plant.tau2]);
    hold("Ts", &[period]);
    hold("gamma", &[period / plant.time()]);
    hold("alpha1", &model.alpha[..1]);
    hold("alpha2", &model.alpha[1..]);
    hold("n1", &model.n[..1]);
    hold("n2", &model.n[1..]);
    hold("m1", &model.m[..1]);
    hold("m2", &model.m[1..]);
    hold("T_R", &[-period / math::ln(Params::default().psi)]);
    let [point] = controller.predictors() else { panic!("one point") };
    assert_eq!((point.past.len(), point.horizon), (5, 7));
    hold("beta1", &point.beta[..1]);
    hold("beta2", &point.beta[1..]);
    hold("eta", &[point.eta]);
    hold("g", &[point.gain]);
    hold("c(u(k-1)..u(k-5))", &point.past);
}

#[test]
fn the_predictor_is_the_difference_equation() {
    // Time constants apart, near and equal; predictions by iteration over the horizon.
    for p in [0.1632653, 0.4999, 0.5, 0.02] {
        let model = SampledPlant::of(&TcpQueue::at(p, 1250.0, 0.28), 0.056);
        for (delay, horizon) in [(5, 7), (1, 2), (3, 12)] {
            let inputs: Vec<f64> = (0..40).map(|k: i32| f64::from(k * 37 % 11) / 11.0 - 0.5).collect();
            let now = 20_usize;
            let input = |k: usize| inputs[k.min(now)];
            let mut y = vec![0.0, 0.0];
            for k in 2..=now + horizon {
                let past = |k: usize| if k < delay { 0.0 } else { input(k - delay) };
                let own = -model.n[0] * y[k - 1] - model.n[1] * y[k - 2];
                y.push(own + model.m[0] * past(k - 1) + model.m[1] * past(k - 2));
            }
            let point = Predictor::new(&model, delay as u64, horizon as u64);
            let past: f64 = point.past.iter().enumerate().map(|(j, c)| c * input(now - 1 - j)).sum();
            let oldest = point.eta * input(now - 1 - delay);
            let ahead = point.beta[0] * y[now] + point.beta[1] * y[now - 1] + point.gain * input(now);
            let off = ahead + past + oldest - y[now + horizon];
            assert!(off.abs() < 1e-11 * 1250.0, "p {p}, d {delay}, h {horizon}: {off}");
        }
    }
}
