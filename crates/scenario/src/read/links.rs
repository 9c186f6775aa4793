//! The bottleneck and the disc in front of it.

use super::{DISC, FASTEST, Reader, Section, mean_segment, somewhere};
use crate::disc::DiscSpec;
use crate::scenario::{Bottleneck, Scenario};
use crate::tree::{Node, Tree};
use sojourn_aqm::Limit;
use sojourn_units::param::Quantity;
use sojourn_units::{Amount, Bytes, Fault, Rate};

impl Reader {
    /// The bottleneck, still with the default disc: a law is checked when its place is known.
    pub(super) fn bottleneck(&mut self, section: &Section<'_>, groups: &[Section<'_>]) -> Option<Bottleneck> {
        let rate = self.rate(section, "rate", mean_segment(groups)?, FASTEST);
        let largest = groups.iter().filter_map(|group| group.get::<Bytes>("segment")).max()?;
        let buffer = match section.get::<Amount>("buffer") {
            Some(amount) => Some(self.buffer(section, amount, rate?, largest)?),
            None => None,
        };
        Some(Bottleneck { rate: rate?, delay: section.get("delay")?, buffer, disc: DiscSpec::default() })
    }

    fn buffer(&mut self, section: &Section<'_>, amount: Amount, rate: Rate, largest: Bytes) -> Option<Limit> {
        let limit = Limit::from_amount(amount, rate);
        let what = match (amount, limit) {
            (Amount::Packets(count), _)
                if count != count.trunc() || !(1.0..=MOST_PACKETS).contains(&count) =>
            {
                format!("{count} packets cannot be held; legal: whole packets, 1 to {MOST_PACKETS}")
            }
            (_, Limit::Bytes(bytes)) if bytes < largest.get() => {
                format!("{amount} holds {bytes} B, less than one segment; legal: {largest} or more")
            }
            _ => return Some(limit),
        };
        self.refuse(section, "buffer", &what);
        None
    }

    /// The disc, checked at its place as far as that is known.
    pub(super) fn disc(&mut self, section: &Section<'_>, scenario: Option<&Scenario>) -> Option<DiscSpec> {
        if !section.given("disc") {
            return Some(DiscSpec::default());
        }
        let node = section.node("disc")?;
        let read = match &node.tree {
            Tree::Table(entries) => self.disc_of_table(node, entries),
            _ => String::read(&node.value().ok()?)
                .map_err(|what| Fault::new("", what))
                .and_then(|spec| DiscSpec::parse(&spec)),
        };
        let disc = read.map_err(|fault| self.inner_fault(node, DISC, &fault)).ok()?;
        let site = scenario.map_or_else(somewhere, Scenario::site);
        let faults = disc.faults(&site);
        for fault in &faults {
            self.inner_fault(node, DISC, fault);
        }
        faults.is_empty().then_some(disc)
    }

    fn disc_of_table(&mut self, node: &Node, entries: &[(String, Node)]) -> Result<DiscSpec, Fault> {
        let (law, params) = self.named_table(node, DISC, ("law", "law", "red"), entries)?;
        DiscSpec::new(&law, params)
    }
}

/// Packets of a buffer.
const MOST_PACKETS: f64 = 1e9;
