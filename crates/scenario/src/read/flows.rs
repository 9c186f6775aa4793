//! Classes of traffic.

use super::files::Files;
use super::names::ClassName;
use super::network::Draft;
use super::packets::{packet_of, segment_of};
use super::routes::{access, routes};
use super::{MOST_FLOWS, rrul};
use crate::apps::{App, Rrul};
use crate::arrivals::Arrivals;
use crate::scenario::Flows;
use crate::tables::{DEFAULT_CONTROL, File, Group};
use crate::tcp::{ExplicitKeys, Key, Tcp, ecn_with};
use crate::times::{Spread, Start};
use sojourn_params::{Described, ErrorKind, Errors, InputError};
use sojourn_tcp::cc::Choice;
use sojourn_tcp::{PROFILES, Profile};
use sojourn_units::{Bytes, Span};

/// The classes of a file; without `names`, which have errors of their own, they are only checked.
pub(super) fn flows(
    file: &File,
    network: &Draft,
    names: Option<&[ClassName]>,
    files: &Files,
) -> Result<Vec<Flows>, Errors> {
    let (mut flows, mut errors, mut number) = (Vec::new(), Vec::new(), 0);
    for (place, group) in file.flows.0.iter().enumerate() {
        let name = names.map_or_else(ClassName::default, |names| names[place].clone());
        let path = format!("flows[{place}]");
        let read = class(group, name, network, file.duration, files).and_then(|class| {
            let classes = rrul::expanded(class);
            let total = number + classes.iter().map(|class| class.app.flows(class.count)).sum::<u64>();
            if total > MOST_FLOWS {
                return Err(too_many(total).at("count").into());
            }
            number = total;
            Ok(classes)
        });
        match read {
            Ok(classes) => flows.extend(classes),
            Err(refused) => errors.extend(refused.at(&path)),
        }
    }
    Errors::unless_any(flows, errors)
}

fn class(
    group: &Group,
    ClassName { name, stream }: ClassName,
    network: &Draft,
    duration: Span,
    files: &Files,
) -> Result<Flows, Errors> {
    let segments = segment(group)?;
    let segment = Bytes::new(packet_of(group).round() as u64);
    let (route, back) = routes(group, network)?;
    let access = access(group.access.as_ref(), network, &route, segment)?;
    let start = start(group, duration)?;
    let stop = stop(group, &start)?;
    let app = group.app.clone();
    app.check(segments).map_err(|error| error.at(app.name()).at("app"))?;
    if let (Some(datagrams), Some(access)) = (app.datagrams(segments), access)
        && datagrams.rate().bits_per_second() > access.rate.bits_per_second()
    {
        let expected = format!("at most {}", access.rate);
        let error = InputError::conflict(datagrams.rate(), "is more than its access link carries", expected);
        let key = if app.has("rate") { format!("app.{}.rate", app.name()) } else { "app".into() };
        return Err(error.at(&key).into());
    }
    let Tcp { cc, profile, ecn, given, .. } = tcp(group, segment)?;
    let arrivals = arrivals(group, stop.unwrap_or(duration).min(duration), files)?;
    let count = group.count.unwrap_or(match (&app, &arrivals) {
        (_, Some(_)) => MOST_AT_A_TIME,
        (App::Rrul(_), None) => Rrul::FLOWS,
        _ => 1,
    });
    let reads = app.reads(segment);
    let lifetime = group.lifetime.clone();
    Ok(Flows {
        name,
        stream,
        route,
        back,
        count,
        arrivals,
        lifetime,
        app,
        cc,
        profile_name: profile_name(group),
        profile,
        ecn,
        reads,
        segment,
        access,
        start,
        stop,
        given,
    })
}

/// Segments of the group; an application with packets of another size refuses them.
fn segment(group: &Group) -> Result<Bytes, InputError> {
    let name = group.app.name();
    let refused = |problem: String, expected: &str| {
        Err(InputError::new(ErrorKind::Conflict, problem, expected).at("segment"))
    };
    match group.segment {
        Some(_) if group.app.has_segments() => Ok(segment_of(group)),
        // Their packets have no size, or always one of their own.
        Some(_) if matches!(group.app, App::Voip(_) | App::Ping(_)) => {
            refused(format!("is not a key for app = \"{name}\""), "no segment")
        }
        Some(_) => refused(format!("is given beside size of {name}"), "one of the two"),
        None => Ok(segment_of(group)),
    }
}

fn start(group: &Group, duration: Span) -> Result<Start, InputError> {
    let Some(start) = group.start else {
        // The default fits every run, however short.
        return Ok(Start::Random(Spread { from: Span::ZERO, to: Span::from_secs(1).min(duration) }));
    };
    if group.arrivals.is_some() {
        let error = InputError::new(ErrorKind::Conflict, "is given beside arrivals", "one of the two");
        return Err(error.at("start"));
    }
    if start.latest() < duration {
        return Ok(start);
    }
    let problem = format!("is not before the end of the run at {duration}");
    Err(InputError::conflict(start.latest(), problem, "less than the duration").at("start"))
}

fn stop(group: &Group, start: &Start) -> Result<Option<Span>, InputError> {
    match group.stop {
        Some(stop) if stop <= start.latest() && group.arrivals.is_none() => {
            let problem = format!("is not after the latest start at {}", start.latest());
            Err(InputError::conflict(stop, problem, "a time after every start").at("stop"))
        }
        stop => Ok(stop),
    }
}

/// Arrivals of flows during the run, up to `end`.
fn arrivals(group: &Group, end: Span, files: &Files) -> Result<Option<Arrivals>, InputError> {
    let Some(arrivals) = &group.arrivals else { return Ok(None) };
    if matches!(group.app, App::Rrul(_)) {
        let problem = "is not for app = \"rrul\", whose flows belong together";
        return Err(InputError::new(ErrorKind::Conflict, problem, "another app").at("arrivals"));
    }
    let arrivals = arrivals.clone().load(&**files).map_err(|error| error.at("arrivals"))?;
    let first = match &arrivals {
        // Random arrivals have no first time.
        Arrivals::Poisson(_) => Span::ZERO,
        Arrivals::Every(step, _) => *step,
        Arrivals::Listed(listed) => listed.times.first().map_or(Span::ZERO, |(time, _)| *time),
    };
    if first >= end {
        let problem = format!("the first is at {first}, after the end");
        let error = InputError::new(ErrorKind::Conflict, problem, "a time before duration and stop");
        return Err(error.at("arrivals"));
    }
    let many = arrivals.by(end);
    if many > MOST_ARRIVALS {
        let problem = format!("makes {many:.2e} arrivals");
        let expected = format!("at most {MOST_ARRIVALS:e} in a run");
        return Err(InputError::new(ErrorKind::Range, problem, expected).at("arrivals"));
    }
    Ok(Some(arrivals))
}

/// TCP of a group; rejects contradictions, and settings of TCP for an application without it.
fn tcp(group: &Group, segment: Bytes) -> Result<Tcp, Errors> {
    let is_tcp = group.app.is_tcp();
    let given =
        [("cc", group.cc.is_some()), ("profile", group.profile.is_some()), ("tcp", group.tcp.is_some())];
    let strays = given.into_iter().filter(|(_, given)| *given && !is_tcp).map(|(key, _)| {
        let problem = format!("is not a key for app = \"{}\", which is not TCP", group.app.name());
        InputError::new(ErrorKind::Conflict, problem, format!("no {key}")).at(key)
    });
    Errors::unless_any((), strays.collect())?;
    let cc = group.cc.clone().unwrap_or_else(|| Choice::from(DEFAULT_CONTROL));
    let mut profile = Profile::named(profile_name(group)).unwrap_or_default();
    let mut keys = Vec::new();
    if let Some(settings) = &group.tcp {
        for key in &settings.0.keys {
            profile.take(key, settings.0.params.of()?);
        }
        keys.extend(settings.0.keys.iter().copied().map(Key::Setting));
    }
    keys.extend(group.cc.is_some().then_some(Key::Cc));
    keys.extend(group.ecn.is_some().then_some(Key::Ecn));
    let ecn = group.ecn.unwrap_or_else(|| ecn_with(&cc));
    let tcp = Tcp { cc, profile, ecn, segment, given: ExplicitKeys(keys) };
    let contradictions = if is_tcp { tcp.contradictions() } else { Vec::new() };
    Errors::unless_any(tcp, contradictions)
}

fn profile_name(group: &Group) -> &'static str {
    group.profile.map_or(PROFILES[0], |name| name.0)
}

/// Error of too many flows over all classes.
pub(super) fn too_many(flows: u64) -> InputError {
    let problem =
        format!("makes {flows} flows so far, each connection of web and each source of lrd for one");
    InputError::new(ErrorKind::Range, problem, format!("at most {MOST_FLOWS}"))
}

/// Default limit of concurrent flows of a class with arrivals.
const MOST_AT_A_TIME: u32 = 10_000;
/// Most arrivals in a run: if most of them are rejected, they take a minute.
const MOST_ARRIVALS: f64 = 1e8;
