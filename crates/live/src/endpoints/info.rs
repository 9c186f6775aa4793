//! The kernel's state of a connection: `TCP_INFO` of tcp(7).

use nix::libc::{IPPROTO_TCP, TCP_INFO, getsockopt, socklen_t, tcp_info};
use sojourn_measure::Cwnd;
use sojourn_units::Span;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// A sample.
pub(super) struct Sampled {
    pub(super) window: Cwnd,
    /// Its smoothed round trip, once it has one.
    pub(super) smoothed: Option<Span>,
}

/// The state of a connection; None: it has no window yet.
#[allow(unsafe_code, reason = "an option that no crate in use wraps")]
pub(super) fn of(stream: &TcpStream) -> Option<Sampled> {
    // SAFETY: zeros are a valid value of it.
    let mut info: tcp_info = unsafe { std::mem::zeroed() };
    let mut size = size_of::<tcp_info>() as socklen_t;
    // SAFETY: the memory has the size that is given; the kernel writes no more.
    let answer = unsafe {
        getsockopt(stream.as_raw_fd(), IPPROTO_TCP, TCP_INFO, (&raw mut info).cast(), &raw mut size)
    };
    if answer != 0 || info.tcpi_snd_mss == 0 || info.tcpi_snd_cwnd == 0 {
        return None;
    }
    let segment = info.tcpi_snd_mss;
    let window = Cwnd { bytes: u64::from(info.tcpi_snd_cwnd) * u64::from(segment), segment };
    let smoothed = (info.tcpi_rtt > 0).then(|| Span::from_micros(info.tcpi_rtt.into()));
    Some(Sampled { window, smoothed })
}
