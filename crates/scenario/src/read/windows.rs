//! Windows of time: within the run, and not too many.

use crate::scenario::Scenario;
use crate::tables::Windows;
use sojourn_params::{At as _, Collected, ErrorKind, Errors, InputError};
use sojourn_units::Span;

/// Refuses windows that are empty or not within the run, or twice the same.
pub(super) fn check_times(windows: &[Windows], duration: Span) -> Result<(), Errors> {
    let mut errors = Collected::default();
    for (place, window) in windows.iter().enumerate() {
        let problem = match *window {
            _ if windows[..place].contains(window) => Some("is given twice".to_string()),
            Windows::Between(from, until) if from >= until => Some("ends before it has begun".to_string()),
            Windows::Between(_, until) if until > duration => {
                Some(format!("ends after the run of {duration}"))
            }
            Windows::Every(Span::ZERO) => Some("is empty".to_string()),
            _ => None,
        };
        if let Some(problem) = problem {
            let expected = format!("each window once, with a length, within 0 s..{duration}");
            let error: Result<(), _> = Err(InputError::conflict(window, problem, expected));
            errors.take(error.at(place).at("windows"));
        }
    }
    for (place, window) in windows.iter().enumerate() {
        if let Windows::Every(length) = *window
            && length > Span::ZERO
            && duration.nanos().div_ceil(length.nanos()) > MOST_WINDOWS as u64
        {
            let shortest = Span::from_nanos(duration.nanos().div_ceil(MOST_WINDOWS as u64));
            let expected = format!("every {shortest} or more: at most {MOST_WINDOWS} windows");
            let error: Result<(), _> = Err(InputError::conflict(window, "is too short", expected));
            errors.take(error.at(place).at("windows"));
        }
    }
    errors.end(Some(()))
}

/// Bounds the number of windows and of their rows.
pub(super) fn check_number(scenario: &Scenario) -> Result<(), Errors> {
    if scenario.windows.is_empty() {
        return Ok(());
    }
    let windows = scenario.windows_of_time(MOST_WINDOWS).len();
    let rows =
        windows * (scenario.topology.managed().count() + scenario.crossings().max(scenario.flows.len()));
    if windows > MOST_WINDOWS || rows > MOST_ROWS {
        let problem = format!("are {windows} windows with {rows} rows of links and classes");
        let expected = format!("at most {MOST_WINDOWS} windows and {MOST_ROWS} rows");
        return Err(InputError::new(ErrorKind::Range, problem, expected).at("windows").into());
    }
    let flows: u64 = scenario.flows.iter().map(|group| u64::from(group.count)).sum();
    if flows.saturating_mul(windows as u64) > MOST_COUNTERS {
        let problem = format!("are {windows} windows of {flows} flows, each with a counter of bytes");
        let expected = format!("at most {MOST_COUNTERS} counters");
        return Err(InputError::new(ErrorKind::Range, problem, expected).at("windows").into());
    }
    Ok(())
}

/// Windows of a run.
const MOST_WINDOWS: usize = 1000;
/// Counters of bytes, one for each flow and window.
const MOST_COUNTERS: u64 = 20_000_000;
/// Rows of links and classes in all windows: each holds distributions until the run ends.
const MOST_ROWS: usize = 20_000;
