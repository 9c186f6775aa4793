//! System calls of the kernel backend, with all of its unsafe code.
#![allow(unsafe_code)]

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{SockaddrIn, connect as begin_connect};
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use std::io::Result;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

sockopt_impl!(
    /// Acknowledge at once instead of delaying ACKs.
    QuickAck,
    SetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_QUICKACK,
    bool
);
sockopt_impl!(
    /// State of a TCP connection.
    TcpInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    libc::tcp_info
);
nix::ioctl_write_ptr_bad!(tun_set_iff, libc::TUNSETIFF, InterfaceRequest);

/// `struct ifreq` with flags.
#[repr(C)]
pub(super) struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    /// The rest of the union.
    padding: [u8; 22],
}

/// Gives this thread, and those it starts, real-time priority if permitted. They sleep nearly all of the time.
pub(super) fn prioritize() {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: one structure, which outlives the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
}

/// Turns `device`, an open /dev/net/tun, into the interface `name`, which carries bare IP packets.
pub(super) fn attach_tun(device: BorrowedFd<'_>, name: &str) -> Result<()> {
    let mut request = InterfaceRequest {
        name: [0; libc::IFNAMSIZ],
        flags: (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short,
        padding: [0; 22],
    };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    const { assert!(size_of::<InterfaceRequest>() == size_of::<libc::ifreq>()) };
    // SAFETY: the call reads and writes one `ifreq`, which the request is.
    unsafe { tun_set_iff(device.as_raw_fd(), &raw const request) }?;
    Ok(())
}

/// Begins to connect, without waiting for the handshake.
pub(super) fn connect(socket: impl AsFd, to: SocketAddrV4) -> Result<()> {
    match begin_connect(socket.as_fd().as_raw_fd(), &SockaddrIn::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits at most `timeout` for data to read, returning whether there is any.
pub(super) fn readable(file: BorrowedFd<'_>, timeout: Duration) -> Result<bool> {
    match ppoll(&mut [PollFd::new(file, PollFlags::POLLIN)], Some(timeout.into()), None) {
        Err(Errno::EINTR) => Ok(false),
        ready => Ok(ready? > 0),
    }
}
