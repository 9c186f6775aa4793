//! A qdisc with its parameters, as read, and in front of a link.

use crate::catalogue::{LAWS, QDISC_CATALOGUE, QDISCS};
use crate::entry::{Designed, Entry};
use crate::law_spec::LawSpec;
use crate::link_context::LinkContext;
use crate::qdisc::{Limit, Packet, Qdisc};
use crate::qdiscs::Queues;
use sojourn_params::{
    Collected, ErrorKind, Errors, Field, Given, InputError, Kind, Page, Params, Path, Quantity, Spec, Step,
    Value, nested,
};
use sojourn_random::Stream;
use std::fmt;
use std::ops::Deref;

/// A qdisc of several queues, in the catalogue.
#[derive(Clone, Copy)]
pub struct QdiscEntry {
    /// Description and parameters.
    pub page: Page,
    /// Reads its given parameters.
    pub read: crate::entry::Read,
    /// Designs its queues for a link.
    pub(crate) design: fn(&dyn Params, &Place<'_>) -> Result<Queues, InputError>,
}

/// A place for a qdisc: in front of a link, which the flows of these classes cross.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Link and traffic.
    pub context: LinkContext,
    /// All classes of flows, by their numbers.
    pub classes: &'a [FlowClass<'a>],
}

/// A class of flows, as a place for a qdisc knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowClass<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its data cross the link.
    pub crosses: bool,
    /// Long flows of it whose data cross the link.
    pub flows: f64,
}

impl<'a> FlowClass<'a> {
    /// A class of one long flow across the link.
    pub const fn of_one_flow(name: &'a str) -> FlowClass<'a> {
        FlowClass { name, crosses: true, flows: 1.0 }
    }
}

/// In front of a link without classes.
impl From<LinkContext> for Place<'_> {
    fn from(context: LinkContext) -> Self {
        Place { context, classes: &[] }
    }
}

/// A qdisc and its parameters: `"drr:quantum=300 B,law=pie"`; the name of a law means one queue under it, first in, first
/// out: `"red:min=50 packets,max=150 packets"`.
///
/// [`Display`](fmt::Display) prints its label, which reads back as the same qdisc, with the parameters in the
/// catalogue's order. Two are equal if all their parameters are, given or not.
#[derive(Clone)]
pub struct QdiscSpec {
    of: Of,
    given: Given,
}

#[derive(Clone, Copy)]
enum Of {
    Law(&'static Entry),
    Several(&'static QdiscEntry),
}

impl Of {
    /// Reads given parameters; those of a table or an entry within may stand beside it, as in a SPEC.
    fn read(self, params: &[(String, Value)]) -> Result<Given, Errors> {
        match self {
            Of::Law(entry) => (entry.read)(params),
            Of::Several(entry) => {
                let params = named(&entry.page, params);
                if let Some(error) = repeated(&params) {
                    return Err(error.into());
                }
                let explained = |error| explained(beside(error, &params), &entry.page, &params);
                (entry.read)(&nested(&params)).map_err(|errors| errors.map(explained))
            }
        }
    }
}

/// Error of a key of a table that is given twice: nested, the tables would have the last value.
fn repeated(params: &[(String, Value)]) -> Option<InputError> {
    let mut before = params.iter().enumerate().map(|(place, (key, _))| (&params[..place], key));
    let (_, key) =
        before.find(|(before, key)| key.contains('.') && before.iter().any(|(name, _)| name == *key))?;
    Some(key.rsplit('.').fold(InputError::repeated(), |error, part| error.at(Path::key(part))))
}

/// An error of a parameter that stands beside the name of its entry, `law.target`, and not in a table of it.
fn beside(error: InputError, params: &[(String, Value)]) -> InputError {
    let found = params.iter().find_map(|(key, value)| {
        let Value::Text(name) = value else { return None };
        let inner = error.key.strip_prefix(&Path::key(key))?.strip_prefix(&Path::key(name))?;
        Some((key, inner))
    });
    match found {
        Some((key, inner)) => InputError { key: inner, ..error }.at(Path::key(key)),
        None => error,
    }
}

/// An error of one of the keys with the notation that is expected in its place.
fn explained(error: InputError, page: &Page, params: &[(String, Value)]) -> InputError {
    let [Step::Key(key)] = error.key.steps() else { return error };
    match error.kind {
        ErrorKind::UnknownKey => {
            match own_key(page, key).map(String::from).or_else(|| key_within(page, params, key)) {
                Some(own) => error.meaning(&own),
                None => error,
            }
        }
        ErrorKind::Type
            if params.iter().any(|(name, value)| name == key && matches!(value, Value::Text(_))) =>
        {
            match keys_of_table(page, key) {
                Some(keys) => InputError { expected: keys.into(), ..error },
                None => error,
            }
        }
        _ => error,
    }
}

/// Key of a parameter by the key, its symbol in the source, or its name in tc(8).
fn own_key(page: &Page, name: &str) -> Option<&'static str> {
    let in_tc = NAMES_IN_TC.iter().find(|(other, _)| *other == name).map(|(_, own)| *own);
    let is_meant = |field: &Field| {
        field.key == name || field.symbol.eq_ignore_ascii_case(name) || in_tc == Some(field.key)
    };
    (page.fields)().iter().find(|field| is_meant(field)).map(|field| field.key)
}

/// The key with that of the entry within which has the parameter: `law.target` for `target`.
fn key_within(page: &Page, params: &[(String, Value)], name: &str) -> Option<String> {
    (page.fields)().iter().find_map(|field| {
        let Kind::Entry(catalogue) = field.kind else { return None };
        let given = params.iter().find(|(key, _)| key == field.key).map(|(_, value)| value);
        let chosen = catalogue.choose(given.unwrap_or(&field.default)).ok()?;
        let inner = (catalogue.pages)()[chosen.place];
        let own = own_key(&inner, name).map(String::from);
        own.or_else(|| key_within(&inner, &chosen.params, name)).map(|own| format!("{}.{own}", field.key))
    })
}

/// The keys of a SPEC for what is a table in a file; None: the key has no table.
fn keys_of_table(page: &Page, key: &str) -> Option<String> {
    let keys = match (page.fields)().into_iter().find(|field| field.key == key)?.kind {
        Kind::Keys(fields) => {
            let keys: Vec<String> = fields().iter().map(|field| format!("{key}.{}=...", field.key)).collect();
            keys.join(",")
        }
        Kind::Form(example) => {
            let entries = example.strip_prefix("{ ")?.strip_suffix(" }")?;
            let keys: Vec<String> =
                entries.split(", ").map(|entry| format!("{key}.{}", entry.replace(" = ", "="))).collect();
            keys.join(",")
        }
        _ => return None,
    };
    Some(format!("a key for each value, such as {keys}"))
}

/// Names of parameters in tc-fq_codel(8), tc-sfq(8), tc-dualpi2(8) and tc-cake(8), each with its key here.
const NAMES_IN_TC: &[(&str, &str)] = &[
    ("flows", "buckets"),
    ("memory_limit", "memory"),
    ("drop_batch", "batch"),
    ("divisor", "buckets"),
    ("max_rtt", "rtt_max"),
    ("coupling_factor", "coupling"),
    ("step_thresh", "min_th"),
    ("min_qlen_step", "th_len"),
    ("classic_protection", "classic_share"),
    ("overhead", "framing"),
    ("mpu", "framing"),
];

/// The parameters, with the name of an entry within whose parameters stand without it: that of the default.
fn named(page: &Page, params: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for field in (page.fields)() {
        let is_within = |(key, _): &(String, Value)| {
            key.strip_prefix(field.key).is_some_and(|rest| rest.starts_with('.'))
        };
        let is_named = params.iter().any(|(key, _)| key == field.key);
        if let (Kind::Entry(_), Value::Text(default), false) = (&field.kind, &field.default, is_named)
            && params.iter().any(is_within)
        {
            all.push((field.key.to_string(), Value::Text(default.clone())));
        }
    }
    all.extend(params.iter().cloned());
    all
}

impl QdiscSpec {
    /// Reads `"drr:quantum=300 B,law=pie"`.
    pub fn parse(spec: &str) -> Result<QdiscSpec, Errors> {
        QdiscSpec::read(&Value::Text(spec.into()))
    }

    /// Description and parameters: of its law, if that has one queue alone.
    pub fn page(&self) -> Page {
        match self.of {
            Of::Law(entry) => entry.page,
            Of::Several(entry) => entry.page,
        }
    }

    /// Its name: that of the law, if that has one queue alone.
    pub fn name(&self) -> &'static str {
        self.page().stem
    }

    /// The law of its one queue; None: it has several.
    pub fn single_law(&self) -> Option<LawSpec> {
        match self.of {
            Of::Law(entry) => Some(LawSpec::of_given(entry, self.given.clone())),
            Of::Several(_) => None,
        }
    }

    /// All parameters, and which were given.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// The given parameters, in the catalogue's order.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.given.values()
    }

    /// A change of it: these parameters alone. `KEY.INNER` is one of a table or an entry within, whose others stay.
    pub fn change(&self, params: &[(String, Value)]) -> Result<Given, Errors> {
        if let Of::Law(entry) = self.of {
            return (entry.read)(params);
        }
        let fields = (self.page().fields)();
        let own = within(&fields, &|key| self.given.params.value_of(key), params)?;
        // What a qdisc cannot be without, its change can: it stays.
        let needed =
            fields.iter().filter(|field| field.is_required && own.iter().all(|(key, _)| key != field.key));
        let needed: Vec<(String, Value)> =
            needed.map(|field| (field.key.to_string(), self.given.params.value_of(field.key))).collect();
        let all: Vec<(String, Value)> = own.into_iter().chain(needed.iter().cloned()).collect();
        let mut read = self.of.read(&all)?;
        read.keys.retain(|key| needed.iter().all(|(needed, _)| needed != key));
        Ok(read)
    }

    /// The change of this qdisc that gives the parameters of a change of another one.
    pub fn taking(&self, change: &Given) -> Result<Given, Errors> {
        let values: Vec<(String, Value)> = change.values().map(|(key, value)| (key.into(), value)).collect();
        self.change(&values)
    }

    /// The same qdisc in its shortest form: only parameters that differ from their defaults are given.
    pub fn shortest(&self) -> QdiscSpec {
        QdiscSpec { of: self.of, given: self.given.shortest_of(&self.page()) }
    }

    /// The same with other values of those parameters that a change gives.
    pub(crate) fn after_change(&self, change: &Given) -> Result<QdiscSpec, InputError> {
        Ok(QdiscSpec { of: self.of, given: self.given.with(change)? })
    }

    /// The qdisc at its place at the start: its law designed, once for all runs.
    pub fn at(self, place: &Place<'_>) -> Result<DesignedQdisc, InputError> {
        let designed = self.design(place)?;
        designed.queues.fit_link()?;
        Ok(designed)
    }

    /// The same where the link has had a higher rate, which a reserved queue may be above now.
    pub(crate) fn design(self, place: &Place<'_>) -> Result<DesignedQdisc, InputError> {
        let queues = match self.of {
            Of::Law(entry) => {
                Queues::Fifo(LawSpec::of_given(entry, self.given.clone()).design(&place.context)?)
            }
            Of::Several(entry) => (entry.design)(self.given.params.as_ref(), place)?,
        };
        Ok(DesignedQdisc { spec: self, queues, context: place.context })
    }
}

/// A change of parameters of these fields, whose present values `value_of` has, with what is within an entry or a table as a
/// change of that.
fn within(
    fields: &[Field],
    value_of: &dyn Fn(&str) -> Value,
    params: &[(String, Value)],
) -> Result<Vec<(String, Value)>, Errors> {
    let mut own = Vec::new();
    let mut errors = Collected::default();
    let mut others = params.to_vec();
    for Field { key, kind, .. } in fields {
        let inner = |(name, value): &(String, Value)| {
            Some((name.strip_prefix(key)?.strip_prefix('.')?.to_string(), value.clone()))
        };
        let inner_of = |params: &[(String, Value)]| params.iter().filter_map(inner).collect::<Vec<_>>();
        let (here, present) = (inner_of(&others), value_of(key));
        let new = match (kind, &present) {
            _ if here.is_empty() => continue,
            (Kind::Entry(_), _) => changed(&present, &here),
            (Kind::Keys(fields), Value::Table(values)) => {
                let fields = fields();
                let known =
                    |key: &str| values.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
                let default = |key: &str| {
                    fields.iter().find(|field| field.key == key).map(|field| field.default.clone())
                };
                let value_of = |key: &str| known(key).or_else(|| default(key)).unwrap_or(Value::Absent);
                within(&fields, &value_of, &here).map(Value::Table)
            }
            _ => continue,
        };
        others.retain(|other| inner(other).is_none());
        let new = errors.take(new.map_err(|errors| errors.at(*key)));
        own.extend(new.map(|value| (key.to_string(), value)));
    }
    own.extend(nested(&others));
    errors.end(Some(own))
}

/// The entry that `value` names with these parameters of it; an entry is a qdisc or a law.
fn changed(value: &Value, params: &[(String, Value)]) -> Result<Value, Errors> {
    let qdisc = QdiscSpec::read(value)?;
    let given = qdisc.change(params)?;
    Ok(QdiscSpec { given, ..qdisc }.write())
}

impl PartialEq for QdiscSpec {
    fn eq(&self, other: &QdiscSpec) -> bool {
        self.name() == other.name() && self.given.params.equals(other.given.params.as_ref())
    }
}

impl Default for QdiscSpec {
    fn default() -> QdiscSpec {
        QdiscSpec::parse(DEFAULT_LAW).expect("a law of the catalogue")
    }
}

impl fmt::Display for QdiscSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = (self.page().fields)();
        let params = self.values().map(|(key, value)| flat(&fields, key, value));
        let params = params.collect::<Result<Vec<_>, fmt::Error>>()?.concat();
        Spec { name: self.name().into(), params }.fmt(f)
    }
}

/// A parameter of these fields in a SPEC, where what is within an entry or a table stands beside its name.
fn flat(fields: &[Field], key: &str, value: Value) -> Result<Vec<(String, Value)>, fmt::Error> {
    let kind = fields.iter().find(|field| field.key == key).map(|field| &field.kind);
    let beside = |(inner, value): (String, Value)| (format!("{key}.{inner}"), value);
    Ok(match (kind, value) {
        (Some(Kind::Entry(_)), Value::Text(entry)) => {
            let Spec { name, params } = Spec::parse(&entry).map_err(|_| fmt::Error)?;
            std::iter::once((key.into(), Value::Text(name))).chain(params.into_iter().map(beside)).collect()
        }
        (Some(Kind::Keys(fields)), Value::Table(entries)) => {
            let fields = fields();
            let entries = entries.into_iter().map(|(inner, value)| flat(&fields, &inner, value));
            let entries = entries.collect::<Result<Vec<_>, fmt::Error>>()?;
            entries.concat().into_iter().map(beside).collect()
        }
        (_, Value::Table(entries)) => entries.into_iter().map(beside).collect(),
        (_, value) => vec![(key.into(), value)],
    })
}

impl fmt::Debug for QdiscSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QdiscSpec({self})")
    }
}

impl Quantity for QdiscSpec {
    fn kind() -> Kind {
        Kind::Entry(&QDISC_CATALOGUE)
    }
    fn read(value: &Value) -> Result<QdiscSpec, Errors> {
        let chosen = QDISC_CATALOGUE.choose(value)?;
        let of = match LAWS.get(chosen.place) {
            Some(entry) => Of::Law(entry),
            None => Of::Several(&QDISCS[chosen.place - LAWS.len()]),
        };
        chosen.read(|params| Ok(QdiscSpec { of, given: of.read(params)? }))
    }
    fn write(&self) -> Value {
        Value::Text(self.to_string())
    }
    fn after(&self, change: &QdiscSpec) -> QdiscSpec {
        let is_same = self.name() == change.name();
        let merged = self.given.with(&change.given).ok().filter(|_| is_same);
        merged.map_or_else(|| change.clone(), |given| QdiscSpec { given, ..self.clone() })
    }
}

/// A qdisc in front of a link, whose laws are designed for it. Its parameters alone make it equal to another.
#[derive(Clone)]
pub struct DesignedQdisc {
    spec: QdiscSpec,
    queues: Queues,
    context: LinkContext,
}

impl DesignedQdisc {
    /// The same in its shortest form.
    pub fn shortest(&self) -> DesignedQdisc {
        DesignedQdisc { spec: self.spec.shortest(), ..self.clone() }
    }

    /// The law of its one queue; None: it has several.
    pub fn single(&self) -> Option<&Designed> {
        match &self.queues {
            Queues::Fifo(law) => Some(law),
            _ => None,
        }
    }

    pub(crate) fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The law of each of its queues, at its share of the link; None: it has one queue, or they have no law in common.
    pub fn of_a_queue(&self) -> Option<(&Designed, &LinkContext)> {
        self.queues.parts().map(|parts| (parts.law(), parts.context()))
    }

    /// The same with a law of the caller in each of its queues; None: they have no law in common.
    pub fn under(&self, law: Designed) -> Option<DesignedQdisc> {
        Some(DesignedQdisc { queues: self.queues.under(law)?, ..self.clone() })
    }

    /// The link and the traffic of each queue, as its law has them.
    pub fn queue_context(&self) -> LinkContext {
        self.queues.queue_context().unwrap_or(self.context)
    }

    /// The qdisc at the start of a run, behind a buffer of `limit`; `draws` is its own random stream.
    pub fn build<P: Packet + Send + 'static>(&self, limit: Limit, draws: Stream) -> Box<dyn Qdisc<P>> {
        self.queues.build((limit, self.context), self.spec.given.clone(), draws)
    }

    /// A qdisc of the caller behind its shapers, at the start of a run.
    pub fn behind_shapers<P: Packet + Send + 'static>(&self, inner: Box<dyn Qdisc<P>>) -> Box<dyn Qdisc<P>> {
        self.queues.behind_shapers(inner, self.spec.given.clone())
    }
}

impl Deref for DesignedQdisc {
    type Target = QdiscSpec;

    fn deref(&self) -> &QdiscSpec {
        &self.spec
    }
}

impl PartialEq for DesignedQdisc {
    fn eq(&self, other: &DesignedQdisc) -> bool {
        self.spec == other.spec
    }
}

impl fmt::Display for DesignedQdisc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.spec, f)
    }
}

impl fmt::Debug for DesignedQdisc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.spec, f)
    }
}

/// Law of an unmanaged queue.
pub const DEFAULT_LAW: &str = "tail_drop";

#[cfg(test)]
mod tests {
    use super::*;

    fn label(spec: &str) -> String {
        QdiscSpec::parse(spec).unwrap_or_else(|errors| panic!("{spec}: {errors}")).to_string()
    }

    #[test]
    fn a_label_reads_back() {
        for spec in [
            "codel",
            "red:min=50 packets,max=150 packets",
            "drr",
            "drr:quantum=300 B",
            "drr:law=pie",
            "drr:law=codel,law.target=7 ms,quantum=300 B,buckets=16",
            "wfq:law=pie,clock=start_time,by=class,weights.call=4,weights.bulk=1",
            "drr:reserved.classes=[mice, web],reserved.rate=1 Mbit/s",
            "prio:order=[call]",
            "drr:reserved.classes=[web],reserved.rate=1 Mbit/s,reserved.law=codel,reserved.law.target=7 ms,\
             reserved.law.interval=90 ms",
            "shaper:rate=5 Mbit/s,qdisc=drr,qdisc.reserved.classes=[web],qdisc.reserved.rate=1 Mbit/s,\
             qdisc.reserved.law=red,qdisc.reserved.law.min=5 packets,qdisc.reserved.law.max=9 packets",
        ] {
            assert_eq!(label(spec), spec);
        }
        assert_eq!(label("drr:law.target=7ms"), "drr:law=codel,law.target=7 ms");
        assert_eq!(label("prio:order=[\"call\", web]"), "prio:order=[call, web]");
        assert_eq!(label("drr:quantum=\"300 B\",limit=50 packets"), "drr:quantum=300 B,limit=50");
    }

    #[test]
    fn a_law_stands_in_its_table_or_beside_its_name() {
        let table = |entries: &[(&str, Value)]| {
            Value::Table(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
        };
        let text = |text: &str| Value::Text(text.into());
        let codel = table(&[("codel", table(&[("target", text("7 ms"))]))]);
        let tagged = table(&[("law", text("codel")), ("target", text("7 ms"))]);
        for law in [codel, tagged, text("codel:target=7 ms")] {
            let drr = table(&[("drr", table(&[("law", law)]))]);
            assert_eq!(QdiscSpec::read(&drr).unwrap().to_string(), "drr:law=codel,law.target=7 ms");
        }
        assert_eq!(QdiscSpec::read(&table(&[("law", text("pi"))])).unwrap().to_string(), "pi");
        let short = table(&[("law", text("drr")), ("quantum", text("300 B"))]);
        let message = "law: drr has a parameter of this name; expected a table of its name, as in { drr = { law = ... } }";
        assert_eq!(QdiscSpec::read(&short).unwrap_err().to_string(), message);
    }

    #[test]
    fn a_change_of_the_law_keeps_its_other_parameters() {
        let drr = QdiscSpec::parse("drr:law=codel,law.target=7 ms").unwrap();
        let change = |key: &str, value: &str| drr.change(&[(key.into(), Value::Text(value.into()))]).unwrap();
        let changed = |change: Given| QdiscSpec { given: drr.given.with(&change).unwrap(), ..drr.clone() };
        let both = change("law.interval", "200 ms").with(&change("law.target", "9 ms")).unwrap();
        assert_eq!(changed(both).to_string(), "drr:law=codel,law.target=9 ms,law.interval=200 ms");
        let longer = changed(change("law.interval", "200 ms"));
        assert_eq!(longer.to_string(), "drr:law=codel,law.target=7 ms,law.interval=200 ms");
        assert_eq!(
            changed(change("quantum", "300 B")).to_string(),
            "drr:law=codel,law.target=7 ms,quantum=300 B"
        );
        let wfq = QdiscSpec::parse("wfq:weights.call=4,weights.bulk=1").unwrap();
        let change = wfq.change(&[("weights.call".into(), Value::Number(2.0))]).unwrap();
        let changed = QdiscSpec { given: wfq.given.with(&change).unwrap(), ..wfq };
        assert_eq!(changed.to_string(), "wfq:weights.bulk=1,weights.call=2");
    }

    /// The law of a queue is designed for those flows that share the queues: not for reserved ones, nor for classes elsewhere.
    #[test]
    fn a_queue_has_the_share_of_those_beside_it() {
        let class = |name, crosses, flows| FlowClass { name, crosses, flows };
        let classes = [class("bulk", true, 6.0), class("call", true, 2.0), class("far", false, 9.0)];
        let place =
            Place { context: LinkContext { flows: Some(8.0), ..LinkContext::example() }, classes: &classes };
        for (spec, rate, flows) in [
            ("drr:law=pi", 1e6, 1.0),
            ("drr:law=pi,reserved.classes=[call],reserved.rate=2 Mbit/s", 1e6, 1.0),
            ("drr:law=pi,by=class", 4e6, 4.0),
            ("drr:law=pi,by=class,reserved.classes=[call],reserved.rate=2 Mbit/s", 6e6, 6.0),
        ] {
            let context = QdiscSpec::parse(spec).unwrap().at(&place).unwrap().queue_context();
            assert!((context.rate.bits_per_second() - rate).abs() < 1.0, "{spec}: {}", context.rate);
            assert_eq!(context.flows, Some(flows), "{spec}");
        }
    }

    #[test]
    fn an_error_is_at_its_key() {
        for (spec, message) in [
            ("drr:buckets=0", "buckets: 0 is out of range; expected 1 to 65536"),
            ("drr:law=codl", "law: \"codl\" is not a law; did you mean \"codel\"?"),
            ("drr:law=codel,law.target=5", "law.target: \"5\" needs a unit; expected a time"),
            ("drr:quantm=3 B", "quantm: unknown key; did you mean \"quantum\"?"),
            ("wfq:weights.call=-1", "weights.call: -1 is out of range; expected 0.001 to 1000"),
            ("wfq:weights=3", "weights: 3 is not a table"),
            ("wfq:weights.call=4,weights.call=5", "weights.call: is given twice; expected once"),
            ("drr:law=pie,law.target=4ms,law.target=5ms", "law.target: is given twice; expected once"),
            ("fifo", "\"fifo\" is one queue under a law; name the law"),
            ("dr", "\"dr\" is not a qdisc; did you mean \"drr\"?"),
        ] {
            let error = QdiscSpec::parse(spec).unwrap_err().to_string();
            assert!(error.starts_with(message), "{spec}: {error}");
        }
    }

    #[test]
    fn a_law_of_the_caller_takes_the_place_of_the_one_in_each_queue() {
        use crate::laws::tail_drop::TailDrop;
        let context = LinkContext { flows: Some(4.0), ..LinkContext::example() };
        let at = |spec: &str| QdiscSpec::parse(spec).unwrap().at(&Place::from(context)).unwrap();
        let custom = || Designed::custom(Box::new(TailDrop));
        for spec in ["codel", "drr:law=pie", "wfq", "prio:law=codel", "shaper:rate=4 Mbit/s,qdisc=fq_codel"] {
            let qdisc = at(spec);
            let under = qdisc.under(custom()).unwrap();
            assert_eq!(under.queue_context(), qdisc.queue_context(), "{spec}");
            let law = under.of_a_queue().map(|(law, _)| law.as_law().next_update());
            assert!(law.is_none_or(|update| update.is_none()), "{spec}: the law has no updates now");
        }
        assert!(at("dual").under(custom()).is_none() && at("cake").under(custom()).is_none());
        let share = at("shaper:rate=4 Mbit/s,qdisc=drr").queue_context();
        assert_eq!(share.rate.bits_per_second(), 1e6);
    }
}
