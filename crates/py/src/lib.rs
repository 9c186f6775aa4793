//! `sojourn._core`: the binding between Python and the Rust crates.
//!
//! Data crosses into Rust once and out once. A run proceeds without Python's
//! lock, so that runs share the processors and Python can handle Ctrl-C.

mod callbacks;
mod catalogue;
mod conform;
mod errors;
mod ocq;
mod prove;
mod quantities;
mod run;
mod scenario;
mod theorems;

use pyo3::prelude::*;

/// The module.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::callbacks::{
        Acknowledged, Arrival, Departure, LinkContext, Observation, OperatingPoint, Packet, Signal, Verdict,
        check_cc, check_law, check_qdisc,
    };
    #[pymodule_export]
    use crate::catalogue::{catalogue_json, explain_json, schema_json};
    #[pymodule_export]
    use crate::conform::{TracedLaw, TracedQdisc, passage_of_trace, replay_trace};
    #[pymodule_export]
    use crate::errors::{Cancelled, LawError, LiveRefused, ScenarioError};
    #[pymodule_export]
    use crate::ocq::{
        ocq_fast, ocq_feedback, ocq_follow, ocq_least_cells, ocq_sweep, ocq_switching, ocq_x_s,
    };
    #[pymodule_export]
    use crate::prove::{Proof, RegionMap, margins_at, margins_over, prove};
    #[pymodule_export]
    use crate::quantities::quantity;
    #[pymodule_export]
    use crate::run::{
        LinkRun, Run, Shell, Ticket, check_fluid, check_live, check_packet, check_records, end_with_parent,
        leave_machine, run,
    };
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::theorems::{ocq_json, sqm_json};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    /// Hash of the sources.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __build__: &str = env!("SOJOURN_BUILD");
}
