//! Assumptions of a certificate, as sentences.

use super::words;
use super::{Certificate, OfQueue, PlantModel};
use crate::linear::equilibrium::{Link, Signal};
use crate::plant::Window;
use crate::response::Control;

/// All assumptions.
pub(super) fn of(certificate: &Certificate) -> Vec<String> {
    let setting = &certificate.setting;
    let mut sentences = vec![
        format!(
            "One link is congested, {} with {} packets/s of {} B; its queue is never empty and never full.",
            setting.name,
            words::short(setting.link.capacity),
            words::short(setting.context.packet)
        ),
        format!(
            "The traffic is {}, all of them present whatever their starts and stops, and always with data to send; the \
             flows of a class are identical, with its mean base RTT.",
            setting.traffic()
        ),
    ];
    sentences.extend(windows(&setting.link));
    sentences.push(signal(&setting.link).into());
    let unresponsive: f64 = setting.link.unresponsive.iter().sum();
    if unresponsive > 0.0 {
        let rate = words::short(unresponsive);
        sentences.push(format!("In addition, {rate} packets/s are unresponsive, at a constant rate."));
    }
    if let Some(lost) = setting.lost() {
        sentences.push(format!("Links lose {lost}, independently; senders respond as to any other signal."));
    }
    sentences.extend(of_others(certificate));
    if !certificate.loops.is_empty() {
        sentences.extend(of_loops(certificate));
    }
    sentences
}

/// All assumptions of queues that share a link, the certificate being that of the worst; `unjudged` are flows without a
/// loop, with their rates.
pub(super) fn of_queues(
    certificate: &Certificate,
    scheduler: &str,
    unjudged: &[(String, f64)],
) -> Vec<String> {
    let setting = &certificate.setting;
    let shares: Vec<String> = certificate.queues.iter().map(share).collect();
    let mut sentences = vec![
        format!(
            "One link is congested, {}; {scheduler} serves its queues at their shares of it, as a fluid: {}.",
            setting.name,
            words::listed(&shares)
        ),
        "Each queue is backlogged, so that its rate is its share, and the buffer of all is never full: the loops of the \
         queues are separate, and the link is stable if each of them is."
            .into(),
    ];
    if !unjudged.is_empty() {
        let each =
            unjudged.iter().map(|(class, rate)| format!("{class} ({} packets/s)", words::short(*rate)));
        sentences.push(format!(
            "Without a loop, at a constant rate: {}.",
            words::listed(&each.collect::<Vec<_>>())
        ));
    }
    sentences.push(
        "All flows are present whatever their starts and stops, and always have data to send; the flows of a class \
         are identical, with its mean base RTT, and no two of them have a queue in common."
            .into(),
    );
    sentences.extend(windows(&setting.link));
    sentences.push(signal(&setting.link).into());
    sentences.extend(
        setting
            .lost()
            .map(|lost| format!("Links lose {lost}, independently; senders respond as to any other signal.")),
    );
    sentences.extend(of_others(certificate));
    if certificate.queues.len() > 1 {
        sentences.push(
            "The margins, poles and pictures are those of the queue whose loop comes nearest to -1.".into(),
        );
    }
    if !certificate.loops.is_empty() {
        sentences.extend(of_loops(certificate));
    }
    sentences
}

/// All assumptions of a link whose flows are signalled as a prediction of its backlog demands.
pub(super) fn of_prediction(certificate: &Certificate) -> Vec<String> {
    let setting = &certificate.setting;
    let mut sentences = vec![
        format!(
            "One link is congested, {} with {} packets/s of {} B; its backlog is never 0.",
            setting.name,
            words::short(setting.link.capacity),
            words::short(setting.context.packet)
        ),
        "The prediction is true: a signalled flow halves its rate a round trip later, flows are so many that one of them is \
         a small part of the link, and the backlog is what was predicted a mean round trip before."
            .into(),
        "Each flow has its share, and the round trips are their mean.".into(),
        "Windows open by a packet a round trip and are halved by each signal: W^2 p = 2 at equilibrium.".into(),
        "Every delay is exact, not a rational approximation.".into(),
    ];
    sentences.extend(of_others(certificate));
    sentences
}

/// Queues of a class in words.
fn share(of: &OfQueue) -> String {
    let rate = words::short(of.capacity);
    match of.queues {
        1.0 => format!("{rate} packets/s for {}", of.class),
        queues => {
            format!("{rate} packets/s for each of the {} of {}", words::count(queues, "flow"), of.class)
        }
    }
}

/// All assumptions of links that are congested together.
pub(super) fn of_network(certificate: &Certificate) -> Vec<String> {
    let Some(joint) = &certificate.joint else { return of_rates() };
    let each = joint.links.iter().map(|of| {
        let (capacity, packet) = (of.setting.link.capacity, of.setting.context.packet);
        format!("{} with {} packets/s of {} B", of.setting.name, words::short(capacity), words::short(packet))
    });
    let mut sentences = vec![
        format!(
            "{} links are congested, {}; their queues are never empty and never full, first in, first out, and all other \
             queues stay empty.",
            joint.links.len(),
            words::listed(&each.collect::<Vec<_>>())
        ),
        "All flows are present whatever their starts and stops, and always have data to send; the flows of a class are \
         identical, with its mean base RTT."
            .into(),
        "Acknowledgments take their share of the links on their way back."
            .into(),
    ];
    let mut of_links: Vec<String> = Vec::new();
    for of in &joint.links {
        of_links.extend(windows(&of.setting.link));
        of_links.push(format!("{}: {}", of.setting.name, signal(&of.setting.link)));
    }
    of_links.sort();
    of_links.dedup();
    sentences.extend(of_links);
    sentences.extend(of_others(certificate));
    sentences.extend(of_loops(certificate));
    sentences.push(
        "Laws hold p between samples; their aliases, of frequencies above half of that of their samples, are neglected."
            .into(),
    );
    sentences
}

/// Assumptions of the rates alone, where they show that one link is not enough.
pub(super) fn of_rates() -> Vec<String> {
    vec![
        "The rates are those of windows at equilibrium: every full link has one p for all flows that cross it, and its \
         backlog is its law's target, or the one at which the law's curve has that p."
            .into(),
        "Scheduled changes are ignored.".into(),
    ]
}

/// Other links, and changes.
fn of_others(certificate: &Certificate) -> Vec<String> {
    let mut sentences = Vec::new();
    let (full, empty): (Vec<_>, Vec<_>) = certificate.others.iter().partition(|(_, load)| *load > FULL);
    if !empty.is_empty() {
        let loaded = |(name, load): &(String, f64)| format!("{name} (load {})", words::percent(*load));
        let empty: Vec<String> = empty.into_iter().map(loaded).collect();
        sentences.push(format!("Other queues stay empty: {}.", words::listed(&empty)));
    }
    if !full.is_empty() {
        let full: Vec<String> = full.into_iter().map(|(name, _)| name.clone()).collect();
        sentences.push(format!(
            "Also full, but without a flow in common with this link: {}.",
            words::listed(&full)
        ));
    }
    if certificate.setting.changes {
        sentences.push(
            "Scheduled changes are ignored: links, flows and laws are those before the first change.".into(),
        );
    }
    sentences
}

fn of_loops(certificate: &Certificate) -> Vec<String> {
    let mut sentences: Vec<String> = vec![
        "Deviations from equilibrium are small, so that the law is its transfer function.".into(),
        "Every delay is exact, not a rational approximation.".into(),
    ];
    sentences.extend(certificate.assumed.iter().map(|sentence| (*sentence).into()));
    let has = |model| certificate.loops.iter().any(|one| one.model == model);
    if has(PlantModel::Textbook) {
        sentences.push(
            "The textbook's plant neglects the effect of the changing round trip on the windows, and the windows of a \
             round trip ago; the linearised one is the fluid plant itself to first order."
                .into(),
        );
    }
    let judged = certificate.judged().map(|judged| {
        // A loop of a law of which nothing is proven gives no verdict.
        let of =
            if certificate.verdict == judged.verdict() { "verdict is that" } else { "margins are those" };
        let law =
            if judged.sampled { "as it runs: sampled-data, with p held between samples" } else { "in s" };
        format!("The {of} of the linearised plant under the law {law}.")
    });
    sentences.extend(judged);
    sentences
}

/// Window models of its classes.
fn windows(link: &Link) -> Vec<String> {
    let of_class = |law: Window| [Some(window(law)), effect(law)].into_iter().flatten();
    let mut sentences: Vec<String> = Vec::new();
    for sentence in link.classes.iter().flat_map(|class| of_class(class.law)) {
        if !sentences.iter().any(|known| known == sentence) {
            sentences.push(sentence.into());
        }
    }
    sentences
}

fn window(law: Window) -> &'static str {
    match law {
        Window::Mgt => {
            "Windows open by a packet a round trip and are halved by each mark or drop, as in Misra, Gong and Towsley \
             (2000): W^2 p = 2 at equilibrium. Slow start, timeouts and window limits are neglected."
        }
        Window::Calibrated(response) => calibrated(response.rules().control),
        Window::Full => {
            "Windows open by a packet a round trip of acknowledgments and are halved by each mark or drop: \
             W^2 p = 2 (1 - p) at equilibrium. Slow start, timeouts and window limits are neglected."
        }
    }
}

fn calibrated(control: Control) -> &'static str {
    match control {
        Control::Reno { .. } => {
            "Windows open by a packet a round trip and are halved once a round trip with marks or drops, with the mean and \
             the growth of the round chain. Slow start and window limits are neglected."
        }
        Control::Scalable { .. } => {
            "Windows of Scalable TCP open and are reduced by a share of themselves, with the mean and the growth of the \
             round chain. Slow start and window limits are neglected."
        }
        Control::Dctcp { .. } => {
            "Windows of DCTCP are reduced by half of an average of the marked share, once a round trip with marks, with the \
             mean and the growth of the round chain. Slow start and window limits are neglected."
        }
        Control::Cubic { .. } => {
            "Windows of CUBIC have the mean and the growth of RFC 9438's rules, in the Reno-friendly and in the CUBIC region, \
             by a chain of cycles, and more signals slow their growth, with a lag of the time between reductions. HyStart++ and window limits are neglected."
        }
    }
}

/// Time over which signals take effect; none: at once, a round trip later.
fn effect(law: Window) -> Option<&'static str> {
    let Window::Calibrated(response) = law else { return None };
    (response.longest_signal_span() > 0.0).then_some(
        "A signal takes effect from a round trip later on, evenly over the time in which its sender lets fewer packets leave.",
    )
}

fn signal(link: &Link) -> &'static str {
    if link.does_both() {
        return "The law marks packets that can be marked, which stay in the queue, and drops others, which never enter it.";
    }
    match link.signal {
        Signal::Mark => "The law marks: signalled packets stay in the queue.",
        Signal::Drop | Signal::Both { .. } => "The law drops: signalled packets never enter the queue.",
    }
}

/// Load from which on a link counts as full: it is printed as 100 %.
const FULL: f64 = 0.9995;
