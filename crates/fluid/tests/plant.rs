//! The plant by itself: its order, another solver, what happens at limits, and what is conserved.

#[path = "plant/limits.rs"]
mod limits;
#[path = "plant/networks.rs"]
mod networks;
#[path = "plant/order.rs"]
mod order;
#[path = "plant/rest.rs"]
mod rest;
#[path = "plant/shares.rs"]
mod shares;
#[path = "plant/small_signals.rs"]
mod small_signals;
#[path = "plant/solver.rs"]
mod solver;

use sojourn_fluid::plant::{Class, Ramp, Sender, Window};

/// So many flows over `route` with 0.2 s without queueing, marked.
fn class(flows: f64, route: &[usize]) -> Class {
    Class {
        sender: Sender::Tcp(Window::Mgt, f64::INFINITY),
        flows: Ramp::constant(flows),
        base_rtt: 0.2,
        route: route.to_vec(),
        back: Vec::new(),
        packet: PACKET,
        ecn: true,
        loss: 0.0,
    }
}

/// Bytes.
const PACKET: f64 = 1000.0;
