//! The parts of a scenario that the live plant carries.

use crate::endpoints::{MOST_FLOWS, Transport};
use sojourn_params::InputError;
use sojourn_scenario::apps::{Echo, Ping};
use sojourn_scenario::{App, Flows, Scenario};
use sojourn_tcp::cc::{self, Choice};
use std::fs;

/// Names of our congestion controls, and of the kernel's; those that only kernels have go by their own.
const KERNEL: [(&str, &str); 5] =
    [("reno", "reno"), ("newreno", "reno"), ("cubic", "cubic"), ("scalable", "scalable"), ("dctcp", "dctcp")];
/// The largest packet of a device that has nothing to hide, bytes.
const MTU: u64 = 1500;
/// The smallest full segment that the kernel takes, bytes on the wire.
const LEAST_SEGMENT: u64 = 128;

/// Errors of what the live plant does not carry.
pub fn errors(scenario: &Scenario) -> Vec<InputError> {
    let mut errors = Vec::new();
    let topology = &scenario.topology;
    let network = sojourn_sim::topology::network(scenario, 0);
    for (link, plan) in topology.links.iter().zip(&network.links) {
        if link.medium.link_schedule.is_some() {
            let problem = "sends at given times, which the live plant does not carry";
            errors.push(InputError::conflict(&link.name, problem, "a link with a rate").at("links"));
        }
        if plan.qdisc.as_ref().is_some_and(|qdisc| qdisc.filters_acks()) {
            let problem = "filters ACKs, which the live plant does not carry yet";
            errors.push(InputError::conflict(&link.name, problem, "ack_filter = \"off\"").at("links"));
        }
    }
    let here = available();
    for (place, flows) in scenario.flows.iter().enumerate() {
        let of_flows = errors_of_flows(flows, &here);
        errors.extend(of_flows.into_iter().map(|error| error.at(&format!("flows[{place}]"))));
    }
    let mut tcp = scenario.flows.iter().filter(|flows| flows.app.is_tcp()).map(|flows| flows.ecn);
    if let Some(first) = tcp.next()
        && tcp.any(|ecn| ecn != first)
    {
        let problem = "some flows negotiate ECN and others do not, and a kernel has one setting";
        errors.push(InputError::clash(problem, "ecn alike for all flows of TCP").at("flows"));
    }
    let flows: u64 = scenario.flows.iter().map(|flows| flows.app.flows(most(scenario, flows))).sum();
    if flows > MOST_FLOWS as u64 {
        let problem = "flows are more than the live plant has ports for";
        errors.push(InputError::conflict(flows, problem, format!("at most {MOST_FLOWS}")).at("flows"));
    }
    errors
}

fn most(scenario: &Scenario, flows: &Flows) -> u32 {
    let place = scenario.flows.iter().position(|other| std::ptr::eq(other, flows)).unwrap_or_default();
    scenario.counts(place).into_iter().map(|(_, count)| count).fold(flows.count, u32::max)
}

fn errors_of_flows(flows: &Flows, here: &[String]) -> Vec<InputError> {
    let mut errors = Vec::new();
    if !flows.app.is_tcp() {
        return errors;
    }
    match kernel_name(flows) {
        None => {
            let known = KERNEL.iter().map(|(ours, _)| *ours).chain(cc::KERNEL.iter().map(|page| page.stem));
            let known = known.collect::<Vec<_>>().join(", ");
            let problem = "is no congestion control of the kernel";
            errors.push(InputError::conflict(&flows.cc, problem, known).at("cc"));
        }
        Some(name) if !here.iter().any(|known| known == name) => {
            let problem = "is not in net.ipv4.tcp_available_congestion_control of this machine";
            let expected = format!("{}, or `modprobe tcp_{name}`", here.join(", "));
            errors.push(InputError::conflict(name, problem, expected).at("cc"));
        }
        Some(_) => {}
    }
    if flows.ect1 {
        errors.push(InputError::clash("the kernel's TCP here sends no ECT(1)", "ect1 = false").at("ect1"));
    }
    if flows.reads.is_some() {
        let problem = "receivers read all data at once in the live plant";
        errors.push(InputError::clash(problem, "no read rate").at("app.reads"));
    }
    if flows.segment.get() < LEAST_SEGMENT {
        let expected = format!("at least {LEAST_SEGMENT} B");
        errors.push(
            InputError::conflict(flows.segment, "is less than the kernel's TCP takes", expected)
                .at("segment"),
        );
    }
    if let App::Http(http) = &flows.app
        && http.late_binding
    {
        let problem = "late binding is not carried by the live plant";
        errors.push(InputError::clash(problem, "late_binding = false").at("app.http.late_binding"));
    }
    errors
}

/// The kernel's name of the congestion control of some flows; None: the kernel has none of it.
fn kernel_name(flows: &Flows) -> Option<&'static str> {
    let name = flows.cc.name();
    match &flows.cc {
        Choice::Kernel(name) => Some(name),
        Choice::Listed(_) if flows.cc.values().is_empty() => {
            KERNEL.iter().find(|(ours, _)| *ours == name).map(|(_, kernel)| *kernel)
        }
        _ => None,
    }
}

/// Transport of some flows, which have no [`errors`].
pub(crate) fn transport(flows: &Flows) -> Transport {
    match &flows.app {
        App::Ping(Ping { protocol: Echo::Icmp, .. }) => Transport::Icmp,
        app if app.is_tcp() => Transport::Tcp(kernel_name(flows).unwrap_or_default()),
        _ => Transport::Udp,
    }
}

/// Connections negotiate ECN.
pub(crate) fn has_ecn(scenario: &Scenario) -> bool {
    scenario.flows.iter().any(|flows| flows.app.is_tcp() && flows.ecn)
}

/// The largest packet of the devices, bytes.
pub(crate) fn mtu(scenario: &Scenario) -> u32 {
    scenario.flows.iter().map(|flows| flows.segment.get()).fold(MTU, u64::max) as u32
}

/// The congestion controls of this machine's kernel.
fn available() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    text.split_whitespace().map(String::from).collect()
}
