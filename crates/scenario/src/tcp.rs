//! Explicit keys about TCP.

use crate::scenario::{Flows, Scenario};
use sojourn_params::InputError;
use sojourn_tcp::cc::{Recovery, dctcp, scalable};
use sojourn_tcp::{Halving, LossDetection, Pipe, Prr, Tcp};

/// Keys of a group that the file gives and that may contradict each other: `cc`, `ecn` and those of the table `tcp`.
///
/// They always compare equal: a scenario equals one that leaves out defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExplicitKeys(pub(crate) Vec<&'static str>);

impl PartialEq for ExplicitKeys {
    fn eq(&self, _: &ExplicitKeys) -> bool {
        true
    }
}

impl ExplicitKeys {
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains(&key)
    }
}

/// Congestion control of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowControl {
    /// A segment a round trip (RFC 5681).
    Reno {
        /// Share of the window that a signal leaves.
        keeps: f64,
    },
    /// A share of the segments acknowledged (Kelly 2003).
    Scalable {
        /// a: growth for each segment acknowledged.
        increase: f64,
        /// b: share of the window that a signal takes away.
        decrease: f64,
        /// Largest window that follows Reno, segments.
        low: f64,
    },
    /// A signal takes away half of the average marked share (RFC 8257).
    Dctcp {
        /// g: weight of the last round trip in the average.
        weight: f64,
    },
    /// RFC 9438.
    Cubic {
        /// Share of the flight that a signal leaves.
        keeps: f64,
        /// True if `W_max` falls faster where windows fall.
        fast_convergence: bool,
    },
}

/// Rules by which a window grows and is reduced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRules {
    /// Congestion control.
    pub control: WindowControl,
    /// True if it grows with acknowledged bytes, false if with ACKs.
    pub counts_bytes: bool,
    /// Segments per ACK.
    pub per_ack: u32,
    /// Least window after an ECN echo, segments.
    pub least_at_echo: f64,
    /// True if a loss halves the flight, false if it halves the window.
    pub halves_flight: bool,
    /// Repair of losses.
    pub repair: Repair,
}

/// Repair of the losses of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The first; the next one waits for the timer (RFC 5681).
    First,
    /// One a round trip (RFC 6582).
    Partial {
        /// True if it ends with at most a segment more than is in flight, so that slow start may follow (RFC 6582, section
        /// 3.2, step 3, first option).
        exits_below: bool,
    },
    /// All at once, by SACK.
    Selective {
        /// True if the flight is reduced in proportion (RFC 9937).
        prr: bool,
        /// True if a later packet that has arrived shows a loss (RFC 8985).
        rack: bool,
    },
}

impl Scenario {
    /// Errors of congestion controls that only kernels have, for plants that simulate TCP.
    pub fn refuse_kernels(&self) -> Vec<InputError> {
        let refused = |(place, flows): (usize, &Flows)| {
            let error = flows.cc.refuse_kernel().err()?;
            Some(error.at("cc").at(&format!("flows[{place}]")))
        };
        self.flows.iter().enumerate().filter_map(refused).collect()
    }
}

impl Flows {
    /// Rules of its window; none of a congestion control that has no model.
    pub fn window_rules(&self) -> Option<WindowRules> {
        let profile = &self.profile;
        Some(WindowRules {
            control: self.window_control()?,
            counts_bytes: profile.byte_counting > 0,
            per_ack: profile.segments_per_ack(),
            least_at_echo: profile.ecn_at_one.least(),
            halves_flight: profile.halving != Halving::Window,
            repair: match self.cc.recovery(profile.sack) {
                Recovery::Sack => {
                    let rack =
                        profile.pipe == Pipe::Scoreboard && profile.loss_detection == LossDetection::Rack;
                    Repair::Selective { prr: profile.prr != Prr::Off, rack }
                }
                Recovery::NewReno => Repair::Partial { exits_below: profile.cautious_exit },
                Recovery::Reno => Repair::First,
            },
        })
    }

    fn window_control(&self) -> Option<WindowControl> {
        let has_abe = self.ecn && self.cc.has_abe();
        if let Some(params) = self.cc.params::<scalable::Params>() {
            let (increase, decrease, low) = (params.a, params.b, params.low_window);
            return Some(WindowControl::Scalable { increase, decrease, low });
        }
        match self.cc.name() {
            "reno" | "newreno" => Some(WindowControl::Reno { keeps: if has_abe { 0.8 } else { 0.5 } }),
            "cubic" => {
                let fast_convergence = self.profile.fast_convergence;
                Some(WindowControl::Cubic { keeps: if has_abe { 0.85 } else { 0.7 }, fast_convergence })
            }
            "dctcp" if self.ecn => {
                let weight = self.cc.params::<dctcp::Params>()?.g;
                Some(WindowControl::Dctcp { weight })
            }
            _ => None,
        }
    }

    /// Errors of explicit keys that contradict other settings.
    pub(crate) fn contradictions(&self) -> Vec<InputError> {
        let Flows { cc, profile, ecn, segment, given, .. } = self;
        Tcp { cc, profile, ecn: *ecn, segment: *segment, given: &given.0 }.contradictions()
    }
}
