//! Bulk flows: one thread sends all of them, another receives them.

use crate::clock::Clock;
use nix::libc::linger;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::sockopt::{Linger, TcpCongestion};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket};
use sojourn_units::Time;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

/// The port of flow 0 at the server; the others follow.
pub const FIRST_PORT: u16 = 10_000;
/// The most that is written or read at once, bytes.
const CHUNK: usize = 65_536;
/// The longest sleep, ms: the end of the run is noticed that late.
const NAP_MS: u16 = 20;

/// A bulk flow.
#[derive(Clone, Debug)]
pub struct Bulk {
    /// Its congestion control, as the kernel names it.
    pub congestion: String,
    /// Time of its start.
    pub start: Time,
}

/// The number of the flow with these ports on a way; None: it is none of ours.
pub fn flow_of(ports: (u16, u16), forward: bool, flows: usize) -> Option<u32> {
    let port = if forward { ports.1 } else { ports.0 };
    let number = port.checked_sub(FIRST_PORT)?;
    (usize::from(number) < flows).then_some(u32::from(number))
}

/// Listens for all flows in this thread's namespace.
pub fn listen(own: Ipv4Addr, flows: usize) -> io::Result<Vec<TcpListener>> {
    (0..flows)
        .map(|number| {
            let listener = TcpListener::bind(SocketAddrV4::new(own, FIRST_PORT + number as u16))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        })
        .collect()
}

/// Receives until `end`; the bytes of each flow that came before `warmup` and after it.
pub fn receive(
    listeners: &[TcpListener],
    clock: Clock,
    warmup: Time,
    end: Time,
) -> io::Result<Vec<[u64; 2]>> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let flows = listeners.len();
    for (number, listener) in listeners.iter().enumerate() {
        epoll.add(listener, EpollEvent::new(EpollFlags::EPOLLIN, number as u64))?;
    }
    let mut streams: Vec<Option<TcpStream>> = (0..flows).map(|_| None).collect();
    let mut received = vec![[0; 2]; flows];
    let mut buffer = vec![0; CHUNK];
    let mut events = vec![EpollEvent::empty(); 64];
    while clock.now() < end {
        let ready = waited(&epoll, &mut events)?;
        for event in &events[..ready] {
            let number = event.data() as usize % flows;
            if (event.data() as usize) < flows {
                let (stream, _) = listeners[number].accept()?;
                stream.set_nonblocking(true)?;
                epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, (flows + number) as u64))?;
                streams[number] = Some(stream);
            } else if let Some(stream) = &mut streams[number] {
                match tolerant(stream.read(&mut buffer))? {
                    // Its sender has ended.
                    Some(0) => streams[number] = None,
                    read => {
                        received[number][usize::from(clock.now() >= warmup)] += read.unwrap_or(0) as u64;
                    }
                }
            }
        }
    }
    Ok(received)
}

/// Sends all flows to the peer until `end`, as fast as the kernel takes data.
pub fn send(flows: &[Bulk], peer: Ipv4Addr, clock: Clock, end: Time) -> io::Result<()> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let mut streams: Vec<Option<TcpStream>> = flows.iter().map(|_| None).collect();
    let data = vec![0; CHUNK];
    let mut events = vec![EpollEvent::empty(); 64];
    loop {
        let now = clock.now();
        if now >= end {
            return Ok(());
        }
        for (number, flow) in flows.iter().enumerate() {
            if streams[number].is_none() && flow.start <= now {
                let stream = begin(&flow.congestion, SocketAddrV4::new(peer, FIRST_PORT + number as u16))?;
                epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLOUT, number as u64))?;
                streams[number] = Some(stream);
            }
        }
        let ready = waited(&epoll, &mut events)?;
        for event in &events[..ready] {
            if let Some(stream) = &mut streams[event.data() as usize] {
                tolerant(stream.write(&data))?;
            }
        }
    }
}

/// Begins a connection; it is made while others send.
fn begin(congestion: &str, to: SocketAddrV4) -> io::Result<TcpStream> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let made: OwnedFd = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&made, TcpCongestion, &OsString::from(congestion))
        .map_err(|error| io::Error::other(format!("{congestion}: the kernel does not have it ({error})")))?;
    // At its end a flow is reset: nothing that the kernel still holds is sent.
    setsockopt(&made, Linger, &linger { l_onoff: 1, l_linger: 0 })?;
    match connect(made.as_raw_fd(), &SockaddrIn::from(to)) {
        Ok(()) | Err(nix::Error::EINPROGRESS) => Ok(TcpStream::from(made)),
        Err(error) => Err(error.into()),
    }
}

fn waited(epoll: &Epoll, events: &mut [EpollEvent]) -> io::Result<usize> {
    match epoll.wait(events, EpollTimeout::from(NAP_MS)) {
        Err(nix::Error::EINTR) => Ok(0),
        found => Ok(found?),
    }
}

/// Bytes moved; 0 at the end of a connection, None where the kernel takes or gives none now.
fn tolerant(moved: io::Result<usize>) -> io::Result<Option<usize>> {
    match moved {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Some(0)),
        Err(error) => Err(error),
    }
}
