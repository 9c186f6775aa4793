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
use crate::tables::{DEFAULT_CONTROL, File, Group, TcpSettings};
use crate::tcp::ExplicitKeys;
use crate::times::{Spread, Start};
use sojourn_params::{At, Collected, Described, ErrorKind, Errors, InputError};
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
    let (mut flows, mut errors, mut number) = (Vec::new(), Collected::default(), 0);
    for (place, group) in file.flows.0.iter().enumerate() {
        let name = names.map_or_else(ClassName::default, |names| names[place].clone());
        let read = class(group, name, network, file.duration, files).and_then(|class| {
            let classes = rrul::expanded(class);
            let total = number + classes.iter().map(|class| class.app.flows(class.count)).sum::<u64>();
            if total > MOST_FLOWS {
                return Err(too_many(total).at("count").into());
            }
            number = total;
            Ok(classes)
        });
        flows.extend(errors.take(read.at(place).at("flows")).into_iter().flatten());
    }
    errors.end(Some(flows))
}

fn class(
    group: &Group,
    ClassName { name, stream }: ClassName,
    network: &Draft,
    duration: Span,
    files: &Files,
) -> Result<Flows, Errors> {
    let mut errors = Collected::default();
    errors.take(check_segment(group));
    let (segments, segment) = (segment_of(group), Bytes::new(packet_of(group).round() as u64));
    let ways = errors.take(routes(group, network));
    let access = ways.as_ref().map(|(there, _)| access(group.access.as_ref(), network, there, segment));
    let access = access.and_then(|access| errors.take(access)).flatten();
    let start = errors.take(start(group, duration));
    let stop = start.and_then(|start| errors.take(stop(group, &start))).flatten();
    let app = group.app.clone();
    errors.take(app.check(segments).at(app.name()).at("app"));
    if let (Some(datagrams), Some(access)) = (app.datagrams(segments), access)
        && datagrams.rate().bits_per_second() > access.rate.bits_per_second()
    {
        let expected = format!("at most {}", access.rate);
        let error = InputError::conflict(datagrams.rate(), "is more than its access link carries", expected);
        let key = if app.has("rate") { format!("app.{}.rate", app.name()) } else { "app".into() };
        errors.add(error.at(&key));
    }
    let tcp = errors.take(tcp(group));
    let arrivals = errors.take(arrivals(group, stop.unwrap_or(duration).min(duration), files)).flatten();
    let (Some((route, back)), Some(start), Some((cc, profile, given))) = (ways, start, tcp) else {
        return errors.end(None);
    };
    let count = group.count.unwrap_or(match (&app, &arrivals) {
        (_, Some(_)) => MOST_AT_A_TIME,
        (App::Rrul(_), None) => Rrul::FLOWS,
        _ => 1,
    });
    let class = Flows {
        name,
        stream,
        route,
        back,
        count,
        arrivals,
        lifetime: group.lifetime.clone(),
        reads: app.reads(segment),
        app,
        ecn: group.ecn.unwrap_or_else(|| cc.needs_marks()),
        cc,
        ect1: group.ect1,
        profile_name: profile_name(group),
        profile,
        segment,
        hosts: [group.from_host.clone(), group.to_host.clone()],
        dscp: group.dscp,
        access,
        start,
        stop,
        given,
    };
    if class.app.is_tcp() {
        errors.extend(class.contradictions());
    }
    errors.end(Some(class))
}

/// Refuses segments for an application with packets of another size.
fn check_segment(group: &Group) -> Result<(), InputError> {
    let name = group.app.name();
    let refused = |problem: String, expected: &str| Err(InputError::clash(problem, expected).at("segment"));
    match group.segment {
        Some(_) if group.app.has_segments() => Ok(()),
        // Their packets have no size, or always one of their own.
        Some(_) if matches!(group.app, App::Voip(_) | App::Ping(_)) => {
            let size = group.app.packet(segment_of(group));
            let problem = format!("is not a key for app = \"{name}\", whose packets have {size} B");
            refused(problem, "the key left out, or an app with packets of any size, such as cbr")
        }
        Some(_) => refused(format!("is given beside size of {name}"), "one of the two"),
        None => Ok(()),
    }
}

fn start(group: &Group, duration: Span) -> Result<Start, InputError> {
    let Some(start) = group.start else {
        // The default fits every run, however short.
        return Ok(Start::Random(Spread { from: Span::ZERO, to: Span::from_secs(1).min(duration) }));
    };
    if group.arrivals.is_some() {
        let error = InputError::clash("is given beside arrivals", "one of the two");
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
        return Err(InputError::clash(problem, "another app").at("arrivals"));
    }
    let arrivals = arrivals.clone().load(&**files).at("arrivals")?;
    let first = match &arrivals {
        // Random arrivals have no first time.
        Arrivals::Poisson(_) => Span::ZERO,
        Arrivals::Every(step, _) => *step,
        Arrivals::Listed(listed) => listed.times.first().map_or(Span::ZERO, |(time, _)| *time),
    };
    if first >= end {
        let problem = format!("the first is at {first}, after the end");
        let error = InputError::clash(problem, "a time before duration and stop");
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

/// The congestion control of a group, its profile with the settings of the file, and the keys that the file gives; rejects
/// them for an application without TCP.
fn tcp(group: &Group) -> Result<(Choice, Profile, ExplicitKeys), Errors> {
    let given =
        [("cc", group.cc.is_some()), ("profile", group.profile.is_some()), ("tcp", group.tcp.is_some())];
    let mut errors = Collected::default();
    errors.extend(given.into_iter().filter(|(_, given)| *given && !group.app.is_tcp()).map(|(key, _)| {
        let problem = format!("is not a key for app = \"{}\", which is not TCP", group.app.name());
        InputError::clash(problem, "the key left out, or an app over TCP, such as bulk").at(key)
    }));
    errors.end(Some(()))?;
    let mut profile = Profile::named(profile_name(group)).unwrap_or_default();
    let mut keys = Vec::new();
    if let Some(TcpSettings(given)) = &group.tcp {
        for key in &given.keys {
            profile.take(key, given.params.of()?);
        }
        keys.extend(&given.keys);
    }
    keys.extend(group.cc.is_some().then_some("cc"));
    keys.extend(group.ecn.is_some().then_some("ecn"));
    let cc = group.cc.clone().unwrap_or_else(|| Choice::from(DEFAULT_CONTROL));
    Ok((cc, profile, ExplicitKeys(keys)))
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
