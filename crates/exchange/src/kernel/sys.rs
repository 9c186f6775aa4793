//! The few calls to the system that Rust has no safe face for.
//!
//! All unsafe code of the kernel backend is here. Each function takes and gives
//! plain values, so that what the kernel wants to be pointed at lives here, too.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{Error, Result};
use std::mem::{size_of, size_of_val};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Moves this thread into new namespaces, `CLONE_NEW...`.
pub(super) fn unshare(namespaces: i32) -> Result<()> {
    // SAFETY: no pointers.
    done(unsafe { libc::unshare(namespaces) }).map(drop)
}

/// Has this thread, and those it starts, run as soon as there is something to do, where that is allowed. They sleep
/// nearly all of the time.
pub(super) fn hurry() {
    let urgent = libc::sched_param { sched_priority: 1 };
    // SAFETY: one structure, which outlives the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const urgent) };
}

/// From now on Ctrl-C ends the process with a word, and with 130.
pub(super) fn end_when_interrupted() {
    extern "C" fn end(_signal: libc::c_int) {
        let word = b"interrupted: what was played stands above\n";
        // SAFETY: both may be called while anything else is going on, and `word` is that long.
        unsafe {
            libc::write(libc::STDERR_FILENO, word.as_ptr().cast(), word.len());
            libc::_exit(INTERRUPTED);
        }
    }
    let end: extern "C" fn(libc::c_int) = end;
    // SAFETY: the handler does nothing that a handler may not do.
    unsafe { libc::signal(libc::SIGINT, end as libc::sighandler_t) };
}

/// A socket that does not wait.
pub(super) fn socket(family: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
    let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers; the descriptor is new and has no other owner.
    unsafe { Ok(OwnedFd::from_raw_fd(done(libc::socket(family, kind, protocol))?)) }
}

/// Makes `device`, an open /dev/net/tun, the interface `name` that carries bare IP packets.
pub(super) fn attach_tun(device: &File, name: &str) -> Result<()> {
    let mut request = interface(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
    ioctl(device.as_raw_fd(), libc::TUNSETIFF, &mut request)
}

/// Gives the interface its address, netmask and size of packets, and brings it up.
pub(super) fn bring_up(name: &str, address: Ipv4Addr, mask: Ipv4Addr, mtu: i32) -> Result<()> {
    let control = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let control = control.as_raw_fd();
    let mut request = interface(name);
    request.ifr_ifru.ifru_mtu = mtu;
    ioctl(control, libc::SIOCSIFMTU, &mut request)?;
    request.ifr_ifru.ifru_addr = generic(address_of(address, 0));
    ioctl(control, libc::SIOCSIFADDR, &mut request)?;
    request.ifr_ifru.ifru_addr = generic(address_of(mask, 0));
    ioctl(control, libc::SIOCSIFNETMASK, &mut request)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    ioctl(control, libc::SIOCSIFFLAGS, &mut request)
}

/// The number of an interface.
pub(super) fn index_of(name: &str) -> Result<u32> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: `name` ends with a zero byte and outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        index => Ok(index),
    }
}

/// Sets an option of a socket to a number.
pub(super) fn set_option(socket: BorrowedFd<'_>, level: i32, option: i32, value: i32) -> Result<()> {
    set_option_bytes(socket, level, option, &value.to_ne_bytes())
}

/// Sets an option of a socket.
pub(super) fn set_option_bytes(socket: BorrowedFd<'_>, level: i32, option: i32, value: &[u8]) -> Result<()> {
    let (pointer, len) = (value.as_ptr().cast(), value.len() as libc::socklen_t);
    // SAFETY: `value` is that long and outlives the call.
    done(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, pointer, len) }).map(drop)
}

/// What the kernel tells of a TCP connection.
pub(super) fn tcp_info(socket: BorrowedFd<'_>) -> Result<libc::tcp_info> {
    // SAFETY: the structure is plain numbers, for which zeros are values.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut len = size_of_val(&info) as libc::socklen_t;
    let pointer = (&raw mut info).cast();
    // SAFETY: the kernel writes at most `len` bytes to where `info` is.
    let answer = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, pointer, &raw mut len)
    };
    done(answer).map(|_| info)
}

/// Begins to connect; the handshake goes on by itself.
pub(super) fn connect(socket: BorrowedFd<'_>, address: Ipv4Addr, port: u16) -> Result<()> {
    let address = address_of(address, port);
    let len = size_of_val(&address) as libc::socklen_t;
    // SAFETY: `address` is that long and outlives the call.
    match done(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), len) }) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

/// Waits until there is something to read, so long at most; says whether there is.
pub(super) fn readable(file: BorrowedFd<'_>, patience: Duration) -> Result<bool> {
    let mut wait = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let patience = libc::timespec {
        tv_sec: patience.as_secs() as libc::time_t,
        tv_nsec: patience.subsec_nanos().into(),
    };
    // SAFETY: one structure, which outlives the call; signals stay as they are.
    let answer = unsafe { libc::ppoll(&raw mut wait, 1, &raw const patience, std::ptr::null()) };
    match done(answer) {
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(false),
        other => other.map(|ready| ready > 0),
    }
}

/// Exit code.
const INTERRUPTED: libc::c_int = 130;

fn done(answer: i32) -> Result<i32> {
    if answer < 0 { Err(Error::last_os_error()) } else { Ok(answer) }
}

fn ioctl(file: i32, request: libc::Ioctl, argument: &mut libc::ifreq) -> Result<()> {
    // SAFETY: all requests that are made here read and write one `ifreq`.
    done(unsafe { libc::ioctl(file, request, std::ptr::from_mut(argument)) }).map(drop)
}

fn interface(name: &str) -> libc::ifreq {
    // SAFETY: the structure is plain bytes, for which zeros are values.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

fn address_of(address: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    }
}

fn generic(address: libc::sockaddr_in) -> libc::sockaddr {
    const { assert!(size_of::<libc::sockaddr>() == size_of::<libc::sockaddr_in>()) }
    // SAFETY: both are the same number of plain bytes.
    unsafe { std::mem::transmute(address) }
}
