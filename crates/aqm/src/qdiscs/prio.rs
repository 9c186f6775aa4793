//! Strict priority over queues under laws of their own.

use super::Built;
use super::Queues;
use super::classifiers::Bands;
use super::classifiers::By;
use super::common::{Parts, Reservation, Weights, is_fixed};
use super::groups::Groups;
use super::limits::Limits;
use super::scheduled::{Bounds, Change};
use super::schedulers::Strict;
use crate::law_spec::LawSpec;
use crate::qdisc::{Limit, Packet};
use crate::qdisc_spec::{Place, QdiscEntry};
use sojourn_params::{Described, Given, InputError, Page, Params, params};
use sojourn_random::Stream;
use sojourn_units::{Bytes, Packets, Span};

params! {
    /// Parameters of strict priority.
    pub struct Prio {
        /// law of each band; `law.KEY` is a parameter of it
        law: LawSpec = LawSpec::parse("tail_drop").expect("a law of the catalogue"), "as in Linux", "tc-prio(8)";
        /// classes, each a band, in the order of service; the flows of the others are in the last band
        order: Option<Vec<String>> = None,
            "three bands by DSCP: EF, VOICE-ADMIT and CS5 to CS7; the others; LE and CS1", "RFC 4594; RFC 8622";
        /// packets of all bands together
        limit: Packets = Packets::new(10_240), in 1 to 1_000_000_000, "as drr; the link's buffer, where that is less";
        /// bytes of all bands together
        memory: Bytes = Bytes::new(32 << 20), in "1 B" to "1000 GB", "as drr; the link's buffer, where that is less";
        /// sojourn time above which packets that can be marked are, whatever the law says
        ce_threshold: Option<Span> = None, above "0 s", "off", "RFC 8290, section 5.2.7";
    }
}

/// Description and constructor.
pub(crate) const ENTRY: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "prio",
        summary: "strict priority: a band waits while those before it have packets",
        idea: "Packets are in bands, by class or by DSCP, each a queue under its law. The link takes from the first band \
               that has a packet. Nothing protects the last bands: the first ones need a limit elsewhere.",
        equation: "",
        source: "RFC 2474, section 4.2.2; tc-prio(8)",
        fields: <Prio as Described>::fields,
    },
    read: Given::read::<Prio>,
    design,
};

fn design(params: &dyn Params, place: &Place<'_>) -> Result<Queues, InputError> {
    let prio: &Prio = params.of()?;
    prio.limits().fit(&place.context)?;
    let bands = match &prio.order {
        Some(order) => Bands::of_classes(order, place.classes).map_err(|error| error.at("order"))?,
        None => Bands::of_dscp(),
    };
    // A band may have the whole link.
    let parts = Parts::design((&prio.law, By::Dscp), &Weights::default(), &Reservation::default(), place)?;
    Ok(Queues::Prio(Design { prio: prio.clone(), parts, bands }))
}

/// Strict priority in front of a link.
#[derive(Clone)]
pub(crate) struct Design {
    prio: Prio,
    pub(super) parts: Parts,
    bands: Bands,
}

impl Design {
    /// The qdisc at its start, behind a buffer.
    pub(super) fn build<P: Packet + Send + 'static>(
        &self,
        buffer: Limit,
        given: Given,
        draws: Stream,
    ) -> Built<P> {
        let bounds = self.prio.limits().bounds(buffer);
        let bands = self.bands.clone();
        let groups = Groups::new(self.band_names(), move |tag, _| bands.band(tag) as usize);
        let parts = (self.bands.clone(), Strict::new(), groups);
        self.parts.build_with(bounds, parts, (given, set_params), draws)
    }

    /// Names of the bands: of their classes, or as tc-prio(8) numbers them.
    fn band_names(&self) -> Vec<String> {
        match &self.prio.order {
            Some(order) => order.iter().cloned().chain(["others".into()]).collect(),
            None => (0..3).map(|band| format!("band_{band}")).collect(),
        }
    }
}

impl Prio {
    fn limits(&self) -> Limits {
        let Prio { limit, memory, ce_threshold, .. } = *self;
        Limits { limit, memory, batch: Packets::new(1), ce_threshold }
    }
}

fn set_params(
    [before, after]: [&Given; 2],
    (bounds, parts): (&Bounds, &Parts),
    _: &mut Strict,
) -> Result<Change, InputError> {
    let (prio, earlier): (&Prio, &Prio) = (after.params.of()?, before.params.of()?);
    prio.limits().fit(parts.context())?;
    is_fixed("order", prio.order == earlier.order)?;
    parts.change(prio.limits().bounds(bounds.buffer), [&earlier.law, &prio.law], [&Reservation::default(); 2])
}
