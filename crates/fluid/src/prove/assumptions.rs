//! What a certificate takes for granted, in sentences.

use super::words;
use super::{Certificate, Model};
use crate::linear::equilibrium::{Link, Signal};
use crate::plant::Window;

/// All of them.
pub(super) fn of(certificate: &Certificate) -> Vec<String> {
    let setting = &certificate.setting;
    let mut told = vec![
        format!(
            "One link is congested, {} with {} packets/s of {} B; its queue is never empty and never full.",
            setting.name,
            words::short(setting.link.capacity),
            words::short(setting.site.packet)
        ),
        format!(
            "The traffic is {}, all of them there whenever they start or stop, and always with data to send; the \
             flows of a class are alike and stand at its mean round trip without queueing.",
            setting.traffic()
        ),
        window(setting.link.classes.first().map_or(Window::Mgt, |class| class.law)).into(),
        signal(&setting.link).into(),
    ];
    let unresponsive: f64 = setting.link.unresponsive.iter().sum();
    if unresponsive > 0.0 {
        let rate = words::short(unresponsive);
        told.push(format!("Besides, {rate} packets/s come that answer nothing, evenly and all the time."));
    }
    if let Some(lost) = setting.lost() {
        told.push(format!("Wires lose {lost}, each packet by itself: a signal as any other."));
    }
    let (full, empty): (Vec<_>, Vec<_>) = certificate.others.iter().partition(|(_, load)| *load > FULL);
    if !empty.is_empty() {
        let loaded = |(name, load): &(String, f64)| format!("{name} (loaded to {})", words::percent(*load));
        let empty: Vec<String> = empty.into_iter().map(loaded).collect();
        told.push(format!("Other queues stay empty: {}.", words::listed(&empty)));
    }
    if !full.is_empty() {
        let full: Vec<String> = full.into_iter().map(|(name, _)| name.clone()).collect();
        told.push(format!(
            "Full as well, but without a flow in common with this link: {}.",
            words::listed(&full)
        ));
    }
    if setting.changes {
        told.push(
            "What the schedule changes is left out: links, flows and laws are as they are before the first change."
                .into(),
        );
    }
    if !certificate.loops.is_empty() {
        told.extend(of_loops(certificate));
    }
    told
}

/// Those of the rates alone, where they say that one link is not enough.
pub(super) fn of_rates() -> Vec<String> {
    vec![
        "The rates are those of windows at rest: every full link has one p for all that cross it, and its queue is at its \
         law's target, or where the law's curve has that p."
            .into(),
        "What the schedule changes is left out.".into(),
    ]
}

fn of_loops(certificate: &Certificate) -> Vec<String> {
    let mut told: Vec<String> = vec![
        "Deviations from rest are small, so that the law is what its transfer function says.".into(),
        "Every delay is exact: no transfer function is put in its place.".into(),
    ];
    told.extend(certificate.assumed.iter().map(|sentence| (*sentence).into()));
    let has = |model| certificate.loops.iter().any(|one| one.model == model);
    if has(Model::Textbook) {
        told.push(
            "The textbook's plant leaves out what the changing round trip does to the windows, and the windows of a \
             round trip ago; the linearised one is the fluid plant itself to first order."
                .into(),
        );
    }
    let judged = certificate.judged().map(|judged| {
        if judged.sampled {
            "What is judged is the linearised plant under the law as it runs, in samples with p held between them."
        } else {
            "What is judged is the linearised plant under the law in s."
        }
    });
    told.extend(judged.map(String::from));
    told
}

fn window(law: Window) -> &'static str {
    match law {
        Window::Mgt => {
            "Windows open by a packet a round trip and are halved by each mark or drop, as Misra, Gong and Towsley \
             (2000) have it: W^2 p = 2 at rest. Slow start, timeouts and limits of windows are left out."
        }
        Window::Full => {
            "Windows open by a packet a round trip where acknowledgments come and are halved by each mark or drop: \
             W^2 p = 2 (1 - p) at rest. Slow start, timeouts and limits of windows are left out."
        }
    }
}

fn signal(link: &Link) -> &'static str {
    if link.does_both() {
        return "The law marks what can be marked, and that goes on; it drops what cannot, and that never enters the queue.";
    }
    match link.signal {
        Signal::Mark => "The law marks: what it chooses goes on.",
        Signal::Drop | Signal::Both { .. } => "The law drops: what it chooses never enters the queue.",
    }
}

/// Load from which on a link counts as full; what is printed of it is 100 %.
const FULL: f64 = 0.9995;
