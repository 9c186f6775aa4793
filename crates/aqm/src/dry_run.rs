//! A qdisc without packets, which takes the changes of a run in their order and refuses what the run would refuse.

use crate::law::FlowId;
use crate::qdisc::{Limit, Packet, Qdisc};
use crate::qdisc_spec::{DesignedQdisc, QdiscSpec};
use sojourn_params::{Given, InputError};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Time};

/// A qdisc of a run without packets.
pub struct DryRun {
    qdisc: Box<dyn Qdisc<Nothing>>,
    /// Its present parameters.
    spec: QdiscSpec,
}

impl DesignedQdisc {
    /// The qdisc at the start of a run without packets.
    pub fn dry_run(&self) -> DryRun {
        let qdisc = self.build(Limit::Unlimited, Stream::named(0, "nothing"));
        DryRun { qdisc, spec: QdiscSpec::clone(self) }
    }
}

impl DryRun {
    /// The rate of the link changes.
    pub fn link_changed(&mut self, rate: Rate) {
        self.qdisc.link_changed(Time::ZERO, rate);
    }

    /// Sets those parameters that a change gives; an error as in the run.
    pub fn set_params(&mut self, change: &Given) -> Result<(), InputError> {
        let spec = self.spec.after_change(change)?;
        self.qdisc.set_params(Time::ZERO, change).map_err(|error| match spec.single_law() {
            Some(law) => law.marked(error),
            None => error,
        })?;
        self.spec = spec;
        Ok(())
    }
}

/// A packet of a qdisc that holds none.
struct Nothing;

impl Packet for Nothing {
    fn len(&self) -> u32 {
        0
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> FlowId {
        FlowId(0)
    }
}
