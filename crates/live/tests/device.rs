//! Devices of private namespaces, without a network between them.

#![cfg(target_os = "linux")]

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use sojourn_live::device::{Device, Kind};
use sojourn_live::namespace::{ADDRESSES, ADDRESSES_V6, Namespaces, Settings, counter, device_drops};
use std::net::{IpAddr, UdpSocket};
use std::thread;
use std::time::Duration;

/// Namespaces with devices of a kind; None: the machine does not allow it.
fn made(kind: Kind, mtu: u32) -> Option<(Namespaces, [Device; 2])> {
    match Namespaces::make(Settings { ecn: false, mtu, v6: true, device: Some(kind) }) {
        Ok(made) => Some(made),
        Err(refused) => {
            // Where live runs are known to work, a refusal is a fault.
            assert!(std::env::var_os("LIVE_REQUIRED").is_none(), "{refused}");
            println!("skipped: {refused}");
            None
        }
    }
}

/// The next packet of a device, after a second at most.
fn next(device: &mut Device, buffer: &mut [u8]) -> Option<usize> {
    (0..1000).find_map(|_| {
        let read = device.read(buffer).expect("a device is read");
        if read.is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        read
    })
}

/// The payload of a packet of UDP with a right checksum.
fn payload(packet: &[u8]) -> &[u8] {
    let sliced = SlicedPacket::from_ip(packet).expect("a packet of IP");
    let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!("{packet:?}") };
    let (header, payload) = (udp.to_header(), udp.payload());
    let expected = match sliced.net {
        Some(NetSlice::Ipv4(ip)) => header.calc_checksum_ipv4(&ip.header().to_header(), payload),
        Some(NetSlice::Ipv6(ip)) => header.calc_checksum_ipv6(&ip.header().to_header(), payload),
        _ => panic!("{packet:?}"),
    };
    assert_eq!(header.checksum, expected.expect("a packet of usual size"));
    payload
}

#[test]
fn packets_pass_whole_and_with_checksums() {
    for (kind, mtu) in [(Kind::Tun, 1500), (Kind::Packet, 1500), (Kind::Packet, 9000)] {
        let Some((mut namespaces, [mut first, mut second])) = made(kind, mtu) else { continue };
        assert_eq!((first.kind(), second.kind(), namespaces.device()), (kind, kind, kind));
        let mut addresses = vec![ADDRESSES.map(IpAddr::from)];
        if namespaces.has_v6() {
            addresses.push(ADDRESSES_V6.map(IpAddr::from));
        }
        for [from, to] in addresses {
            let receiver = UdpSocket::bind((to, 7000)).expect("the second namespace is entered");
            receiver.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            namespaces.enter(0).expect("the first namespace");
            let sender = UdpSocket::bind((from, 0)).expect("a socket");
            let mut buffer = vec![0; 65_536];
            // Nothing else is sent: no search for neighbours, routers and owners of addresses.
            for length in [0, 1, 17, 1000, mtu as usize - 48] {
                let sent: Vec<u8> = (0..length).map(|place| place as u8).collect();
                sender.send_to(&sent, (to, 7000)).expect("a datagram is sent");
                let length = next(&mut first, &mut buffer).expect("it comes to the device");
                assert_eq!(payload(&buffer[..length]), sent);
                second.write(&buffer[..length]).expect("a device is written");
                let mut received = vec![0; 65_536];
                let (length, whence) = receiver.recv_from(&mut received).expect("it comes to its socket");
                assert_eq!((&received[..length], whence.ip()), (&sent[..], from));
            }
            assert_eq!(first.read(&mut buffer).unwrap(), None);
            assert_eq!(second.read(&mut buffer).unwrap(), None, "a packet written is not read");
            namespaces.enter(1).expect("the second namespace");
            assert_eq!(counter("Udp", "InCsumErrors"), Some(0));
            assert_eq!(device_drops(kind.interface()), Some(0));
        }
        assert_eq!((first.drops().unwrap(), second.drops().unwrap()), (0, 0));
    }
}

#[test]
fn a_stack_of_large_segments_is_cut_before_the_device() {
    for kind in [Kind::Tun, Kind::Packet] {
        let Some((mut namespaces, [mut first, _second])) = made(kind, 1500) else { continue };
        namespaces.enter(0).expect("the first namespace");
        let sender = UdpSocket::bind((ADDRESSES[0], 0)).expect("a socket");
        // UDP_SEGMENT: one call, ten datagrams.
        let of_segment = nix::sys::socket::sockopt::UdpGsoSegment;
        if nix::sys::socket::setsockopt(&sender, of_segment, &1000).is_err() {
            continue;
        }
        sender.send_to(&[7; 10_000], (ADDRESSES[1], 7000)).expect("they are sent");
        let mut buffer = vec![0; 65_536];
        for _ in 0..10 {
            let length = next(&mut first, &mut buffer).expect("a datagram");
            assert_eq!(payload(&buffer[..length]), [7; 1000]);
        }
    }
}

#[test]
fn packets_that_find_no_room_are_counted() {
    const SENT: u64 = 8000;
    let Some((mut namespaces, [mut first, _second])) = made(Kind::Packet, 1500) else { return };
    namespaces.enter(0).expect("the first namespace");
    let sender = UdpSocket::bind((ADDRESSES[0], 0)).expect("a socket");
    for _ in 0..SENT {
        sender.send_to(&[0; 100], (ADDRESSES[1], 7000)).expect("a datagram is sent");
    }
    let (mut read, mut buffer) = (0, vec![0; 65_536]);
    while next(&mut first, &mut buffer).is_some() {
        read += 1;
    }
    let dropped = first.drops().unwrap();
    assert!(read >= 5000, "{read}");
    assert!(dropped > 0);
    assert_eq!(read + dropped + device_drops(Kind::Packet.interface()).unwrap(), SENT);
    assert_eq!(first.drops().unwrap(), dropped, "they are counted once");
}
