//! The plant alone: its order, another solver, behaviour at limits, and conservation.

#[path = "plant/equilibrium.rs"]
mod equilibrium;
#[path = "plant/limits.rs"]
mod limits;
#[path = "plant/networks.rs"]
mod networks;
#[path = "plant/order.rs"]
mod order;
#[path = "plant/reach.rs"]
mod reach;
#[path = "plant/shared.rs"]
mod shared;
#[path = "plant/shares.rs"]
mod shares;
#[path = "plant/small_signals.rs"]
mod small_signals;
#[path = "plant/solver.rs"]
mod solver;

use sojourn_fluid::plant::{Class, Ramp, Sender, Window};
use sojourn_fluid::response::{Control, Response, Rules};

/// Marked flows over `route` with a base RTT of 0.2 s.
fn class(flows: f64, route: &[usize]) -> Class {
    Class {
        sender: Sender::Tcp(Window::Mgt, f64::INFINITY),
        flows: Ramp::constant(flows),
        base_rtt: 0.2,
        route: route.to_vec(),
        back: Vec::new(),
        acks: 0.0,
        packet: PACKET,
        ecn: true,
        loss: 0.0,
    }
}

/// Bytes.
const PACKET: f64 = 1000.0;

/// The window model of NewReno's rules with ECN and delayed ACKs.
fn calibrated() -> Window {
    Window::Calibrated(Response::of(Rules { per_ack: 2, ..Rules::default() }))
}

/// Those of the other congestion controls: CUBIC, Scalable TCP and DCTCP.
fn others() -> [Window; 3] {
    let cubic = Control::Cubic { keeps: 0.7, fast_convergence: true };
    let scalable = Control::Scalable { increase: 0.01, decrease: 0.125, low: 16.0 };
    [cubic, scalable, Control::Dctcp { weight: 0.0625 }]
        .map(|control| Window::Calibrated(Response::of(Rules { control, ..Rules::default() })))
}
