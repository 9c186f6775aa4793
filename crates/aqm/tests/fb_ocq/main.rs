//! FB-OCQ against numbers from outside: its problem.

#[path = "../common/reference.rs"]
mod reference;

use reference::hold;
use sojourn_aqm::LinkContext;
use sojourn_aqm::laws::fb_ocq::{FbOcq, Params};
use sojourn_units::{Rate, Span};

/// 1250 packets/s, a base RTT of 0.1 s, a buffer of 100 packets, an unknown number of flows.
fn context() -> LinkContext {
    let rate = Rate::from_bits_per_second(CAPACITY * 8000.0);
    LinkContext { rate, packet: 1000.0, limit: 100.0, flows: None, base_rtt: Some(Span::from_millis(100)) }
}

fn controller(params: &Params) -> FbOcq {
    FbOcq::new(params, &context()).unwrap()
}

fn within(t_c: u64) -> Params {
    Params { t_c: Some(Span::from_millis(t_c)), ..Params::default() }
}

#[test]
fn its_problem_is_the_references() {
    let controller = controller(&within(200));
    let problem = controller.problem();
    let ours = [problem.price(), problem.u_s(), controller.penalty()];
    hold("ocq.aqm.params_R_us_eps(xs=40,a=1,mu=1250,tc=.2)", &ours);
}

/// C, packets/s.
const CAPACITY: f64 = 1250.0;
