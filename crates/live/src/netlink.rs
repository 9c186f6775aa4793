//! Devices and addresses over netlink.

use crate::namespace::{Refused, refused};
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A netlink socket of the namespace in which it was opened.
pub(crate) struct Netlink(Socket);

/// One end of a veth pair.
pub(crate) struct VethEnd<'a> {
    /// Name of the device.
    pub(crate) name: &'a str,
    /// Its number.
    pub(crate) index: u32,
    /// Its address.
    pub(crate) mac: [u8; 6],
}

impl Netlink {
    pub(crate) fn open() -> Result<Netlink, Refused> {
        let mut socket = Socket::new(NETLINK_ROUTE).map_err(refused("netlink"))?;
        socket.bind_auto().map_err(refused("netlink"))?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(refused("netlink"))?;
        Ok(Netlink(socket))
    }

    /// Brings a device up, with a queue of so many packets and a largest packet of so many bytes.
    pub(crate) fn up(&self, device: u32, queue: Option<u32>, mtu: Option<u32>) -> Result<(), Refused> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes.extend(queue.map(LinkAttribute::TxQueueLen));
        message.attributes.extend(mtu.map(LinkAttribute::Mtu));
        self.request(RouteNetlinkMessage::SetLink(message), 0).map_err(refused("a device up"))
    }

    /// Makes a veth pair without address resolution: one end in this namespace, the other in that of `far`.
    pub(crate) fn veth(
        &self,
        [near, far]: [&VethEnd<'_>; 2],
        far_namespace: BorrowedFd<'_>,
        mtu: u32,
    ) -> Result<(), Refused> {
        let mut peer = link_of(far, mtu);
        peer.attributes.push(LinkAttribute::NetNsFd(far_namespace.as_raw_fd()));
        let mut message = link_of(near, mtu);
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.request(RouteNetlinkMessage::NewLink(message), flags).map_err(refused("a veth pair"))
    }

    /// Gives a device its address, and a route to the peer's.
    pub(crate) fn address(&self, device: u32, own: IpAddr, peer: IpAddr) -> Result<(), Refused> {
        let mut message = AddressMessage::default();
        message.header.index = device;
        (message.header.family, message.header.prefix_len) = match own {
            IpAddr::V4(_) => (AddressFamily::Inet, 32),
            IpAddr::V6(_) => (AddressFamily::Inet6, 128),
        };
        // No search for a second owner: the other end has another address.
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![AddressAttribute::Local(own), AddressAttribute::Address(peer)];
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.request(RouteNetlinkMessage::NewAddress(message), flags).map_err(refused("an address"))
    }

    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut request = NetlinkMessage::from(message);
        request.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        request.finalize();
        let mut buffer = vec![0; request.buffer_len()];
        request.serialize(&mut buffer);
        self.0.send(&buffer, 0)?;
        let (answer, _) = self.0.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }
}

fn link_of(end: &VethEnd<'_>, mtu: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = end.index;
    message.header.flags = LinkFlags::Noarp;
    message.header.change_mask = LinkFlags::Noarp;
    message.attributes = vec![
        LinkAttribute::IfName(end.name.to_string()),
        LinkAttribute::Address(end.mac.to_vec()),
        LinkAttribute::Mtu(mtu),
    ];
    message
}
