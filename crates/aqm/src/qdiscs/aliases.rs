//! Deficit round robin under the names that it is known by.

use super::drr::{Drr, design};
use crate::qdisc_spec::QdiscEntry;
use sojourn_params::{Described, Errors, Field, Given, Page, Quantity, Value};

/// FQ-CoDel: the defaults of [`Drr`].
pub(crate) const FQ_CODEL: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "fq_codel",
        summary: "drr over codel: a queue for each flow, short for those that send little",
        idea: "Deficit round robin with CoDel in each queue, and the queues of sparse flows first. A flow that fills its \
               queue delays itself; calls, games and the first packets of a page pass it.",
        equation: "",
        source: "RFC 8290",
        fields: <Drr as Described>::fields,
    },
    read: Given::read::<Drr>,
    design,
};

/// FQ-PIE.
pub(crate) const FQ_PIE: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "fq_pie",
        summary: "drr over pie",
        idea: "Deficit round robin as in fq_codel, with PIE in each queue: packets are dropped or marked as they arrive, \
               by a probability that follows the delay of their queue.",
        equation: "",
        source: "RFC 8290, section 7; RFC 8033; tc-fq_pie(8)",
        fields: || fields(FQ_PIE_DEFAULTS),
    },
    read: |params| read(params, FQ_PIE_DEFAULTS),
    design,
};
const FQ_PIE_DEFAULTS: Defaults = &[("law", "pie")];

/// SFQ-CoDel.
pub(crate) const SFQ_CODEL: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "sfq_codel",
        summary: "drr over codel without priority for sparse flows",
        idea: "CoDel with stochastic binning, as the SQM paper names it: flows are hashed into bins, each bin is a queue \
               under CoDel, and the bins are served in rounds. Assumed: 1024 bins, a turn of one Ethernet frame, \
               drops from the fattest bin when full.",
        equation: "",
        source: "K. Nichols, The Controlled-Delay Active Queue Management algorithm with stochastic binning (sfqcodel); \
                 P. McKenney, Stochastic Fairness Queueing, INFOCOM 1990",
        fields: || fields(SFQ_CODEL_DEFAULTS),
    },
    read: |params| read(params, SFQ_CODEL_DEFAULTS),
    design,
};
const SFQ_CODEL_DEFAULTS: Defaults = &[("new_first", "false")];

/// Stochastic fairness queueing.
pub(crate) const SFQ: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "sfq",
        summary: "drr over tail_drop: stochastic fairness queueing",
        idea: "Flows are hashed into queues, which are served in rounds. Nothing limits a queue but the limit of all: an \
               overflow drops a packet of the fattest queue, so that who fills the buffer loses.",
        equation: "",
        source: "P. McKenney, Stochastic Fairness Queueing, INFOCOM 1990; tc-sfq(8)",
        fields: || fields(SFQ_DEFAULTS),
    },
    read: |params| read(params, SFQ_DEFAULTS),
    design,
};
const SFQ_DEFAULTS: Defaults =
    &[("law", "tail_drop"), ("new_first", "false"), ("limit", "127"), ("batch", "1")];

/// Values that take the place of the defaults, as in a SPEC.
type Defaults = &'static [(&'static str, &'static str)];

/// The parameters with these defaults.
fn fields(defaults: Defaults) -> Vec<Field> {
    let mut fields = Drr::fields();
    for field in &mut fields {
        if let Some((_, value)) = defaults.iter().find(|(key, _)| *key == field.key) {
            (field.default, field.why) = (value_of(value), "what the name means");
        }
    }
    fields
}

/// Reads given parameters; the others have these defaults.
fn read(params: &[(String, Value)], defaults: Defaults) -> Result<Given, Errors> {
    let mut given = Given::read::<Drr>(params)?;
    for (key, value) in defaults.iter().filter(|(key, _)| !given.keys.contains(key)) {
        given.params.set(key, &value_of(value))?;
    }
    Ok(given)
}

/// A value of a SPEC, in the form in which the parameter writes it.
fn value_of(text: &str) -> Value {
    match text {
        "false" => false.write(),
        _ => text.parse().map_or_else(|_| Value::Text(text.into()), Value::Whole),
    }
}

#[cfg(test)]
mod tests {
    use crate::QdiscSpec;
    use sojourn_params::Value;

    #[test]
    fn an_alias_is_drr_with_other_defaults() {
        for (alias, drr) in [
            ("fq_codel", "drr"),
            ("fq_pie:quantum=300 B", "drr:law=pie,quantum=300 B"),
            ("sfq_codel", "drr:new_first=false"),
            ("sfq:limit=50", "drr:law=tail_drop,new_first=false,limit=50,batch=1"),
            ("fq_pie:law.target=20 ms", "drr:law=pie,law.target=20 ms"),
        ] {
            let [alias, drr] = [alias, drr].map(|spec| QdiscSpec::parse(spec).unwrap());
            assert!(alias.given().params.equals(drr.given().params.as_ref()), "{alias}: {drr}");
        }
        let given = QdiscSpec::parse("fq_pie:law=pie,batch=64").unwrap();
        assert_eq!(given.shortest().to_string(), "fq_pie");
        let spec = QdiscSpec::parse("fq_pie:law=codel").unwrap();
        assert_eq!(spec.shortest().to_string(), "fq_pie:law=codel");
        let changed = spec.change(&[("quantum".into(), Value::Text("300 B".into()))]).unwrap();
        assert_eq!(changed.keys, ["quantum"]);
    }
}
