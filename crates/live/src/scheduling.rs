//! The scheduling class of the plant's thread, and the load of the machine.

use nix::libc;
use std::fs;

/// Scheduling class of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `SCHED_FIFO`: before all others.
    Fifo,
    /// As any other thread.
    Other,
}

/// Priority among the threads of `SCHED_FIFO`; the lowest is 1.
const PRIORITY: libc::c_int = 10;

impl Class {
    /// Its name, as sched(7) has it.
    pub fn name(self) -> &'static str {
        match self {
            Class::Fifo => "SCHED_FIFO",
            Class::Other => "SCHED_OTHER",
        }
    }
}

/// Puts this thread before others where the machine allows it, and makes its timers exact; the class that it has.
pub fn prefer() -> Class {
    let _kept = nix::sys::prctl::set_timerslack(1).is_ok();
    if set(libc::SCHED_FIFO, PRIORITY) { Class::Fifo } else { Class::Other }
}

/// Ends the preference.
pub fn restore(class: Class) {
    if class == Class::Fifo {
        let _set = set(libc::SCHED_OTHER, 0);
    }
}

#[allow(unsafe_code, reason = "a call that no crate in use wraps")]
fn set(policy: libc::c_int, priority: libc::c_int) -> bool {
    // SAFETY: zeros are a valid value; the call reads it.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    param.sched_priority = priority;
    // SAFETY: 0 is this thread, and the parameters outlive the call.
    unsafe { libc::sched_setscheduler(0, policy, &raw const param) == 0 }
}

/// Load average of the last minute.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}
