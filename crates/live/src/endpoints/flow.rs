//! A flow: its sockets in both namespaces.

use super::{Connection, Pair, Role, Transport, token};
use crate::namespace::{ADDRESSES, Namespaces};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::socket::sockopt::{Ipv4Tos, TcpCongestion, TcpMaxSeg};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket};
use sojourn_sim::network::SourcePlan;
use sojourn_units::Time;
use sojourn_workload::{Datagrams, DatagramsPlan, Requests};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

/// The port of flow 0; the others follow. Ports that the kernel chooses are below.
pub const FIRST_PORT: u16 = 20_000;
/// The most flows, each with a port.
pub const MOST_FLOWS: usize = 40_000;
/// Headers of IP and TCP, bytes.
pub(super) const HEADERS: u64 = 40;

/// The number of the flow of a packet with these ports; None: it is none of ours.
pub fn flow_of((from, to): (u16, u16), flows: usize) -> Option<u32> {
    let number = |port: u16| port.checked_sub(FIRST_PORT).filter(|number| usize::from(*number) < flows);
    number(to).or_else(|| number(from)).map(u32::from)
}

/// A flow.
pub(super) struct Flow {
    /// The user of the workload; None: it starts and stops as planned, or its user has not joined.
    pub(super) user: Option<u32>,
    /// End of its sending.
    pub(super) until: Time,
    pub(super) requests: Requests,
    transport: Transport,
    /// Payload of a full segment of TCP, bytes.
    mss: u32,
    dscp: u8,
    listener: Option<TcpListener>,
    pub(super) sender: Option<Connection>,
    pub(super) receiver: Option<Connection>,
    /// Requests on their way: bytes and serial numbers.
    pub(super) requested: VecDeque<(u64, u64)>,
    pub(super) datagrams: Option<DatagramsPlan>,
    pub(super) pair: Option<Pair>,
    /// Datagrams that it sends now.
    pub(super) stream: Option<Box<Datagrams>>,
}

impl Flow {
    pub(super) fn new(source: &SourcePlan, transport: Transport, dscp: u8) -> Flow {
        let datagrams = match source {
            SourcePlan::Datagrams(plan) => Some(plan.clone()),
            _ => None,
        };
        Flow {
            user: None,
            until: Time::NEVER,
            requests: source.app().requests(),
            transport,
            mss: source.config().map_or(0, |config| config.mss),
            dscp,
            listener: None,
            sender: None,
            receiver: None,
            requested: VecDeque::new(),
            datagrams,
            pair: None,
            stream: None,
        }
    }

    /// Opens the sockets that wait for the other end.
    pub(super) fn listen(
        &mut self,
        number: u32,
        namespaces: &mut Namespaces,
        epoll: &Epoll,
    ) -> io::Result<()> {
        let port = FIRST_PORT + number as u16;
        if self.datagrams.is_some() {
            let pair = if self.transport == Transport::Icmp {
                Pair::of_echoes(port, self.dscp, namespaces)?
            } else {
                Pair::new(port, self.dscp, namespaces)?
            };
            let awaited = |role| EpollEvent::new(EpollFlags::EPOLLIN, token(role, number));
            epoll.add(&pair.sender, awaited(Role::DatagramSender))?;
            if let Some(receiver) = &pair.receiver {
                epoll.add(receiver, awaited(Role::DatagramReceiver))?;
            }
            self.pair = Some(pair);
            return Ok(());
        }
        // Where the receiver requests, it opens the connection.
        let place = usize::from(self.requests == Requests::None);
        namespaces.enter(place)?;
        let listener = TcpListener::bind(SocketAddrV4::new(ADDRESSES[place], port))?;
        listener.set_nonblocking(true)?;
        self.set_options(&listener)?;
        epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, token(Role::Listener, number)))?;
        self.listener = Some(listener);
        Ok(())
    }

    /// Begins a connection from the sender or the receiver; it is established later.
    pub(super) fn connect(
        &self,
        number: u32,
        from: Role,
        namespaces: &mut Namespaces,
    ) -> io::Result<Connection> {
        let place = usize::from(from == Role::Receiver);
        namespaces.enter(place)?;
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let made: OwnedFd = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
        self.set_options(&made)?;
        let to = SocketAddrV4::new(ADDRESSES[1 - place], FIRST_PORT + number as u16);
        match connect(made.as_raw_fd(), &SockaddrIn::from(to)) {
            Ok(()) | Err(nix::Error::EINPROGRESS) => Ok(Connection::new(TcpStream::from(made))),
            Err(error) => Err(error.into()),
        }
    }

    /// A connection that has come in.
    pub(super) fn accept(&self) -> io::Result<Option<Connection>> {
        let Some(listener) = &self.listener else { return Ok(None) };
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(Some(Connection { is_established: true, ..Connection::new(stream) }))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Its sender has nothing on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.sender.is_none()
    }

    /// Closes what is left of its last connection.
    pub(super) fn close(&mut self, epoll: &Epoll) {
        for over in [self.sender.take(), self.receiver.take()].into_iter().flatten() {
            let _known = epoll.delete(&over.stream).is_ok();
        }
        self.requested.clear();
    }

    fn set_options(&self, socket: &impl std::os::fd::AsFd) -> io::Result<()> {
        let Transport::Tcp(name) = self.transport else { return Ok(()) };
        setsockopt(socket, TcpCongestion, &OsString::from(name))
            .map_err(|error| io::Error::other(format!("{name}: the kernel does not allow it ({error})")))?;
        setsockopt(socket, TcpMaxSeg, &self.mss)?;
        setsockopt(socket, Ipv4Tos, &(i32::from(self.dscp) << 2))?;
        // What the kernel holds back beyond the window stays short, so that a flow that stops does so soon.
        set_unsent(socket)?;
        nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::TcpNoDelay, &true)?;
        Ok(())
    }
}

/// Bytes that the kernel holds and has not sent, at most.
const UNSENT: nix::libc::c_int = 128 * 1024;

#[allow(unsafe_code, reason = "an option that no crate in use wraps")]
fn set_unsent(socket: &impl std::os::fd::AsFd) -> io::Result<()> {
    use nix::libc::{IPPROTO_TCP, TCP_NOTSENT_LOWAT, setsockopt, socklen_t};
    let value = UNSENT;
    let (fd, size) = (socket.as_fd().as_raw_fd(), size_of_val(&value) as socklen_t);
    // SAFETY: the value has the size that is given, and outlives the call.
    let answer = unsafe { setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (&raw const value).cast(), size) };
    nix::Error::result(answer)?;
    Ok(())
}
