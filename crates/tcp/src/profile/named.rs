//! The profiles by their names: the default, and implementations as differences from it.

use super::{EcnAtOne, Halving, LimitedTransmit, LossDetection, Pipe, Profile, Prr, RtoFloor, UnusedWindow};
use crate::cc::EarlyExit;
use sojourn_params::{Described, Field, Page, Value};
use sojourn_units::Span;

/// Names of the profiles.
pub const PROFILES: &[&str] = &["default", "linux", "ns2", "ns3"];

/// Pages of all profiles; the defaults of their fields are the values of the profile.
pub const PROFILE_PAGES: &[Page] = &[
    Page {
        stem: "default",
        summary: "the RFCs, with the values of deployed systems where they leave a choice",
        idea: "A present-day host with default settings: an initial window of ten segments, delayed ACKs, SACK if \
               the congestion control's RFC has it, RACK with tail loss probes, proportional rate reduction, \
               detection and undo of spurious timeouts.",
        equation: "",
        source: "the RFC of each setting",
        fields: Profile::fields,
    },
    Page {
        stem: "linux",
        summary: "behaviour of the TCP of Linux 6.18, from its segments",
        idea: "For comparisons with the kernel's TCP, as `sojourn lab` runs it: timestamps, proportional rate reduction \
               after an ECN echo as well, windows of CUBIC in whole segments, Hybrid Slow Start, a timeout of at least \
               200 ms beyond the round trip, and ACKs of single segments at the start. docs/deviations/linux.md lists \
               the exchanges that show each difference, and those not copied.",
        equation: "",
        source: "Linux 6.18",
        fields: || fields_of(&Profile::linux(), "Linux 6.18, from its segments (docs/deviations/linux.md)"),
    },
    Page {
        stem: "ns2",
        summary: "behaviour of the one-way TCP agents of ns-2 2.35, from their traces",
        idea: "For comparisons with ns-2 and with results published with it: no delayed ACKs, two segments at the \
               start, a clock of 10 ms, windows halved from the window, recovery as in its Reno, Newreno and \
               Sack1 agents. docs/deviations/ns2.md lists the packets that show each difference.",
        equation: "",
        source: "ns-2 2.35",
        fields: || fields_of(&Profile::ns2(), "ns-2 2.35, from its traces (docs/deviations/ns2.md)"),
    },
    Page {
        stem: "ns3",
        summary: "behaviour of the TCP sockets of ns-3 3.44, from their traces",
        idea: "For comparisons with ns-3: timestamps, SACK and reductions in proportion without RACK, probes or \
               undoing; windows that grow with ACKs, CUBIC's with segments; half of the pipe after a loss, and a \
               recovery that sends more than PRR. docs/deviations/ns3.md lists the packets that show each \
               difference, and those not copied.",
        equation: "",
        source: "ns-3 3.44",
        fields: || fields_of(&Profile::ns3(), "ns-3 3.44, from its traces (docs/deviations/ns3.md)"),
    },
];

impl Profile {
    /// Returns the profile called `name`.
    pub fn named(name: &str) -> Option<Profile> {
        match name {
            "default" => Some(Profile::default()),
            "linux" => Some(Profile::linux()),
            "ns2" => Some(Profile::ns2()),
            "ns3" => Some(Profile::ns3()),
            _ => None,
        }
    }

    /// Behaviour of the TCP of Linux 6.18 with its default settings, from its segments (`docs/deviations/linux.md`
    /// lists the exchanges).
    fn linux() -> Profile {
        Profile {
            byte_counting: 1000,
            counts_all_after_timeout: true,
            halving: Halving::Cwnd,
            rto_floor: RtoFloor::Variation,
            max_rto: Span::from_secs(120),
            rtt_weight_shared: false,
            timestamps: true,
            quick_acks: 16,
            sack: Some(true),
            prr: Prr::Linux,
            cautious_exit: false,
            cubic_hystart: EarlyExit::Hybrid,
            cubic_counts_segments: true,
            ecn_at_one: EcnAtOne::Two,
            ecn_prr: true,
            ..Profile::default()
        }
    }

    /// Behaviour of the one-way TCP agents of ns-2 2.35, from their traces (`docs/deviations/ns2.md` lists the
    /// packets).
    fn ns2() -> Profile {
        Profile {
            initial_window: 2,
            byte_counting: 0,
            unused_window: UnusedWindow::Keep,
            halving: Halving::Window,
            most_doublings: 6,
            initial_rto: Span::from_secs(3),
            syn_counts: true,
            tick: Span::from_millis(10),
            whole_ticks: true,
            time_all: false,
            delayed_ack: false,
            ack_delay: Span::from_millis(100),
            receive_window: 1000,
            dsack: false,
            teardown: false,
            loss_detection: LossDetection::Dupacks,
            tail_loss_probe: false,
            pipe: Pipe::Counted,
            prr: Prr::Off,
            limited_transmit: LimitedTransmit::Next,
            frto: false,
            undo: false,
            cautious_exit: false,
            grow_on_exit: true,
            sack_takes_room: false,
            ect_on_retransmit: true,
            ecn_at_one: EcnAtOne::BackOff,
            ecn_after_timeout: true,
            ..Profile::default()
        }
    }

    /// Behaviour of the TCP sockets of ns-3 3.44 as packaged, from their traces (`docs/deviations/ns3.md` lists the
    /// packets).
    fn ns3() -> Profile {
        Profile {
            byte_counting: 0,
            unused_window: UnusedWindow::Keep,
            halving: Halving::Pipe,
            tick: Span::from_millis(1),
            rtt_weight_shared: false,
            timestamps: true,
            receive_window: 2896,
            dsack: false,
            loss_detection: LossDetection::Dupacks,
            tail_loss_probe: false,
            prr: Prr::Rfc6937,
            prr_counts_twice: true,
            hole_hides_ack: true,
            timeout_forgets_sack: false,
            frto: false,
            undo: false,
            cautious_exit: false,
            grow_on_exit: true,
            cubic_counts_segments: true,
            ecn_at_one: EcnAtOne::Two,
            ..Profile::default()
        }
    }

    /// Value of a setting in words.
    pub fn text(&self, setting: &Field) -> String {
        match self.value(setting.key) {
            Value::Absent => setting.why.into(),
            Value::Text(text) => text,
            value => value.to_string(),
        }
    }

    /// Value of a setting in each profile: `default 10, ns2 2, ns3 10`; a single value where all agree.
    pub fn by_profile(setting: &Field) -> String {
        let value = |name: &&str| Profile::named(name).unwrap_or_default().text(setting);
        let values: Vec<String> = PROFILES.iter().map(value).collect();
        if values.iter().all(|value| *value == values[0]) {
            return values[0].clone();
        }
        let named = PROFILES.iter().zip(&values).map(|(name, value)| format!("{name} {value}"));
        named.collect::<Vec<_>>().join(", ")
    }

    /// Settings that differ from the profile called `name`, in order.
    pub fn changes_from(&self, name: &str) -> Vec<Field> {
        let base = Profile::named(name).unwrap_or_default();
        let mut settings = Profile::fields();
        settings.retain(|setting| self.value(setting.key) != base.value(setting.key));
        settings
    }
}

/// The settings with the values of a profile; `why` is the reason of those that differ from the default.
fn fields_of(profile: &Profile, why: &'static str) -> Vec<Field> {
    let in_profile = |field: Field| {
        let default = profile.value(field.key);
        let why = if default == field.default { field.why } else { why };
        Field { default, why, ..field }
    };
    Profile::fields().into_iter().map(in_profile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(key: &str) -> Field {
        Profile::fields().into_iter().find(|field| field.key == key).unwrap()
    }

    #[test]
    fn every_listed_profile_has_a_page_with_its_values() {
        let stems: Vec<&str> = PROFILE_PAGES.iter().map(|page| page.stem).collect();
        assert_eq!(stems, PROFILES);
        for page in PROFILE_PAGES {
            let fields = (page.fields)().into_iter().map(|field| (field.key, field.default));
            assert_eq!(fields.collect::<Vec<_>>(), Profile::named(page.stem).unwrap().values());
        }
        assert_eq!(Profile::named("ns5"), None);
    }

    /// A profile rebuilt from its values is the same, so all are in range.
    #[test]
    fn a_profile_reads_back_from_its_values() {
        for name in PROFILES {
            let profile = Profile::named(name).unwrap();
            let values = profile.values().into_iter().filter(|(_, value)| *value != Value::Absent);
            let values: Vec<(String, Value)> = values.map(|(key, value)| (key.into(), value)).collect();
            assert_eq!(Profile::from_values(&values), Ok(profile));
        }
    }

    /// Values that the simulators share with the default, as traced.
    #[test]
    fn a_new_default_leaves_the_simulators_unchanged() {
        for (name, shared) in [("ns2", NS2), ("ns3", NS3)] {
            let profile = Profile::named(name).unwrap();
            for (key, value) in shared.split(", ").filter_map(|pair| pair.split_once(' ')) {
                assert_eq!(profile.text(&setting(key)), value, "{name}: {key}");
            }
        }
    }

    const NS2: &str = "\
        initial_ssthresh 1000000, cached_ssthresh false, pacing false, min_rto 200 ms, max_rto 60 s, \
        rtt_weight_shared true, timestamps false, ack_every 2, window_scaling true, prr_counts_twice false, hole_hides_ack false, \
        recovery_restarts_timer true, timeout_forgets_sack true, fast_convergence true, \
        cubic_counts_segments false";
    const NS3: &str = "\
        initial_window 10, initial_ssthresh 1000000, cached_ssthresh false, pacing false, min_rto 200 ms, max_rto 60 s, \
        most_doublings 32, initial_rto 1 s, syn_counts false, whole_ticks false, time_all true, delayed_ack true, \
        ack_every 2, ack_delay 40 ms, window_scaling true, teardown true, pipe scoreboard, \
        limited_transmit new_data, recovery_restarts_timer true, sack_takes_room true, fast_convergence true, \
        ect_on_retransmit false, ecn_after_timeout false";

    #[test]
    fn changes_are_from_the_profile_of_a_name() {
        let changed = Profile { dsack: true, ack_every: 3, ..Profile::named("ns2").unwrap() };
        let keys: Vec<&str> = changed.changes_from("ns2").iter().map(|setting| setting.key).collect();
        assert_eq!(keys, ["ack_every", "dsack"]);
    }

    #[test]
    fn every_default_has_a_reason_and_a_source() {
        for field in Profile::fields() {
            assert!(!field.why.is_empty() && !field.source.is_empty(), "{}", field.key);
        }
    }

    #[test]
    fn values_are_listed_by_profile_if_they_differ() {
        let by_profile = |key: &str| Profile::by_profile(&setting(key));
        assert_eq!(by_profile("initial_window"), "default 10, linux 10, ns2 2, ns3 10");
        assert_eq!(by_profile("timestamps"), "default false, linux true, ns2 false, ns3 true");
        assert_eq!(by_profile("min_rto"), "200 ms");
        assert_eq!(by_profile("halving"), "default flight_size, linux cwnd, ns2 window, ns3 pipe");
    }

    #[test]
    fn prr_is_a_word_or_false_and_true_is_the_newer() {
        let read = |value: Value| {
            let mut profile = Profile { prr: Prr::Rfc6937, ..Profile::default() };
            profile.assign("prr", &value).map(|()| profile.prr).map_err(|errors| errors.to_string())
        };
        assert_eq!(read(Value::Flag(true)), Ok(Prr::Rfc9937));
        assert_eq!(read(Value::Flag(false)), Ok(Prr::Off));
        assert_eq!(read(Value::Text("rfc6937".into())), Ok(Prr::Rfc6937));
        let error = "prr: \"rfc9397\" is no form of PRR; did you mean \"rfc9937\"? (expected rfc9937 or true, rfc6937, linux, false)";
        assert_eq!(read(Value::Text("rfc9397".into())), Err(error.into()));
    }
}
