// The dumbbell of Sojourn's scenarios in ns-3 (3.37 and 3.44), for comparison.
//
//   dumbbell flows 10 rate 10e6 law codel cc cubic seed 3
//
// Prints one "name value" a line. All counts begin after the warm-up. The backlog is that of the queue qdisc, sampled
// every 10 ms, without the packet on the wire and the one in the device. "trace 1" prints the segments that flow 0 sends
// and receives, and its windows, instead. "lose 25,27" loses the 26th and the 28th packet out of the bottleneck.
// Built with EMITTED, a file of lines of `sojourn design --emit ns3`, it has their laws besides.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

std::map<std::string, std::string> given = {
    {"flows", "10"},        {"rate", "10e6"},         {"delay", "0.025"},       {"buffer", "1000"},
    {"packet", "1500"},     {"access_rate", "1e9"},   {"access_from", "0.0125"}, {"access_to", "0.0125"},
    {"cc", "newreno"},      {"sack", "1"},            {"timestamps", "0"},      {"ecn", "0"},
    {"ack_every", "2"},     {"ack_delay", "0.2"},     {"min_rto", "0.2"},       {"initial_window", "10"},
    {"start", "1"},         {"seed", "1"},            {"duration", "100"},      {"warmup", "10"},
    {"law", "tail_drop"},   {"min", "50"},            {"max", "150"},           {"weight", "0.002"},
    {"max_p", "0.1"},       {"gentle", "1"},          {"target", "0"},          {"interval", "0.1"},
    {"derandomize", "0"},   {"trace", "0"},           {"lose", ""},
};

double
Number(const std::string& key)
{
    return std::stod(given.at(key));
}

uint32_t
Whole(const std::string& key)
{
    return static_cast<uint32_t>(Number(key));
}

bool
Set(const std::string& key)
{
    return Number(key) != 0;
}

DataRate
Rate(const std::string& key)
{
    return DataRate(static_cast<uint64_t>(Number(key)));
}

void
ReadArguments(int argc, char* argv[])
{
    for (int i = 1; i < argc; i += 2)
    {
        if (i + 1 == argc || given.count(argv[i]) == 0)
        {
            std::fprintf(stderr, "dumbbell: unknown key %s\n", argv[i]);
            std::exit(2);
        }
        given[argv[i]] = argv[i + 1];
    }
}

/// Payload of a packet of full size: the timestamps option takes 12 bytes of it.
uint32_t
SegmentSize()
{
    return Whole("packet") - (Set("timestamps") ? 52 : 40);
}

TypeId
CongestionControl(const std::string& name)
{
    static const std::map<std::string, std::string> types = {
        {"newreno", "ns3::TcpNewReno"}, {"reno", "ns3::TcpLinuxReno"},    {"cubic", "ns3::TcpCubic"},
        {"dctcp", "ns3::TcpDctcp"},     {"scalable", "ns3::TcpScalable"}, {"bbr", "ns3::TcpBbr"},
    };
    const auto found = types.find(name);
    if (found == types.end())
    {
        std::fprintf(stderr, "dumbbell: no congestion control %s\n", name.c_str());
        std::exit(2);
    }
    return TypeId::LookupByName(found->second);
}

void
ConfigureTcp()
{
    // Buffers that never limit a flow: a window of 4 MiB, and a sender with unlimited data.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SegmentSize()));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(Whole("initial_window")));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(Whole("ack_every")));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(Seconds(Number("ack_delay"))));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(Number("min_rto"))));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(Set("timestamps")));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(Set("sack")));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(Set("ecn") ? "On" : "Off"));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(CongestionControl(given["cc"])));
}

/// The queue under test.
Ptr<QueueDisc>
InstallLaw(Ptr<NetDevice> device)
{
    const std::string law = given["law"];
    const StringValue buffer(std::to_string(Whole("buffer")) + "p");
    const BooleanValue marks(Set("ecn"));
    const UintegerValue packet(Whole("packet"));
    TrafficControlHelper helper;
#ifdef EMITTED
    // if (law == "...") { ... } else
#include EMITTED
#endif
    if (law == "tail_drop")
    {
        helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", buffer);
    }
    else if (law == "codel")
    {
        const double target = Set("target") ? Number("target") : 0.005;
        helper.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", buffer, "UseEcn", marks, "Target",
                                TimeValue(Seconds(target)), "Interval", TimeValue(Seconds(Number("interval"))));
    }
    else if (law == "fq_codel")
    {
        // Its CoDel reads times as text. A turn is the device's MTU.
        const std::string target = Set("target") ? given["target"] : "0.005";
        helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", buffer, "UseEcn", marks, "Target",
                                StringValue(target + "s"), "Interval", StringValue(given["interval"] + "s"));
    }
    else if (law == "pie")
    {
        const double target = Set("target") ? Number("target") : 0.015;
        helper.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", buffer, "UseEcn", marks, "MeanPktSize", packet,
                                "QueueDelayReference", TimeValue(Seconds(target)), "UseDerandomization",
                                BooleanValue(Set("derandomize")));
    }
    else if (law == "red")
    {
        helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", buffer, "UseEcn", marks, "UseHardDrop",
                                BooleanValue(!Set("ecn")), "MinTh", DoubleValue(Number("min")), "MaxTh",
                                DoubleValue(Number("max")), "QW", DoubleValue(Number("weight")), "LInterm",
                                DoubleValue(1.0 / Number("max_p")), "Gentle", BooleanValue(Set("gentle")),
                                "MeanPktSize", packet, "LinkBandwidth", DataRateValue(Rate("rate")), "LinkDelay",
                                TimeValue(Seconds(Number("delay"))));
    }
    else
    {
        std::fprintf(stderr, "dumbbell: no law %s\n", law.c_str());
        std::exit(2);
    }
    return helper.Install(device).Get(0);
}

/// No qdisc above the device: one long drop-tail queue in it.
void
RemoveQdisc(Ptr<NetDevice> device)
{
    const auto control = device->GetNode()->GetObject<TrafficControlLayer>();
    if (control->GetRootQueueDiscOnDevice(device))
    {
        control->DeleteRootQueueDiscOnDevice(device);
    }
}

NetDeviceContainer
Connect(Ptr<Node> one, Ptr<Node> other, DataRate rate, double delay, uint32_t room)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(room) + "p"));
    return link.Install(one, other);
}

/// Packets lost on their way to `device`, by their index in the order there.
void
Lose(Ptr<NetDevice> device)
{
    std::list<uint32_t> places;
    std::stringstream text(given["lose"]);
    for (std::string place; std::getline(text, place, ',');)
    {
        places.push_back(static_cast<uint32_t>(std::stoul(place)));
    }
    const auto model = CreateObject<ReceiveListErrorModel>();
    model->SetList(places);
    device->SetAttribute("ReceiveErrorModel", PointerValue(model));
}

constexpr uint32_t PLENTY = 100'000;

struct Dumbbell
{
    NodeContainer routers, sources, sinks;
    std::vector<Ipv4Address> addresses;
    Ptr<QueueDisc> qdisc;
    Ptr<NetDevice> transmitter;
};

Dumbbell
Build()
{
    Dumbbell bell;
    const uint32_t flows = Whole("flows");
    bell.routers.Create(2);
    bell.sources.Create(flows);
    bell.sinks.Create(flows);
    InternetStackHelper stack;
    Ipv4StaticRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();

    // The transmitter dequeues a packet from the qdisc when it has sent one: a device queue of one.
    NetDeviceContainer middle =
        Connect(bell.routers.Get(0), bell.routers.Get(1), Rate("rate"), Number("delay"), 1);
    DynamicCast<PointToPointNetDevice>(middle.Get(1))->GetQueue()->SetMaxSize(
        QueueSize(std::to_string(PLENTY) + "p"));
    bell.transmitter = middle.Get(0);
    Lose(middle.Get(1));
    bell.qdisc = InstallLaw(middle.Get(0));

    Ipv4AddressHelper numbers("10.0.0.0", "255.255.255.252");
    const Ipv4InterfaceContainer between = numbers.Assign(middle);
    RemoveQdisc(middle.Get(1));
    for (uint32_t side = 0; side < 2; ++side)
    {
        for (uint32_t i = 0; i < flows; ++i)
        {
            const double share = flows > 1 ? static_cast<double>(i) / (flows - 1) : 0.0;
            const double delay =
                Number("access_from") + (Number("access_to") - Number("access_from")) * share;
            const auto host = (side == 0 ? bell.sources : bell.sinks).Get(i);
            NetDeviceContainer access =
                Connect(host, bell.routers.Get(side), Rate("access_rate"), delay, PLENTY);
            numbers.NewNetwork();
            const Ipv4InterfaceContainer ends = numbers.Assign(access);
            RemoveQdisc(access.Get(0));
            RemoveQdisc(access.Get(1));
            routing.GetStaticRouting(host->GetObject<Ipv4>())->SetDefaultRoute(ends.GetAddress(1), 1);
            if (side == 1)
            {
                bell.addresses.push_back(ends.GetAddress(0));
            }
        }
        const auto router = bell.routers.Get(side)->GetObject<Ipv4>();
        routing.GetStaticRouting(router)->SetDefaultRoute(between.GetAddress(1 - side), 1);
    }
    return bell;
}

/// One greedy flow from each source, begun at a random time within `start`.
std::vector<Ptr<PacketSink>>
StartFlows(const Dumbbell& bell)
{
    constexpr uint16_t PORT = 5000;
    std::vector<Ptr<PacketSink>> sinks;
    const auto begin = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < bell.sources.GetN(); ++i)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        ApplicationContainer listening = sink.Install(bell.sinks.Get(i));
        listening.Start(Seconds(0));
        sinks.push_back(DynamicCast<PacketSink>(listening.Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(bell.addresses[i], PORT));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(SegmentSize()));
        bulk.Install(bell.sources.Get(i)).Start(Seconds(begin->GetValue(0, Number("start"))));
    }
    return sinks;
}

// ---- Counts -------------------------------------------------------------------------------------

struct Counts
{
    uint64_t sent = 0;
    uint64_t arrivals = 0;
    uint64_t drops = 0;
    uint64_t marks = 0;
    std::vector<uint64_t> received;
};

Dumbbell bell;
std::vector<Ptr<PacketSink>> sinks;
Counts before;
/// Bytes that left the bottleneck, its link's own two of header included.
uint64_t sent = 0;
double samples = 0, sum = 0, squares = 0;

void
CountSent(Ptr<const Packet> packet)
{
    sent += packet->GetSize();
}

Counts
Count()
{
    const QueueDisc::Stats& stats = bell.qdisc->GetStats();
    Counts counts{sent, stats.nTotalReceivedPackets, stats.nTotalDroppedPackets, stats.nTotalMarkedPackets, {}};
    for (const auto& sink : sinks)
    {
        counts.received.push_back(sink->GetTotalRx());
    }
    return counts;
}

void
Sample()
{
    const double backlog = bell.qdisc->GetNPackets();
    samples += 1;
    sum += backlog;
    squares += backlog * backlog;
    Simulator::Schedule(Seconds(0.01), &Sample);
}

void
StartMeasuring()
{
    before = Count();
    Sample();
}

void
Print(const char* name, double value)
{
    std::printf("%s %.9g\n", name, value);
}

void
Report()
{
    const Counts now = Count();
    const double seconds = Number("duration") - Number("warmup");
    const double arrivals = static_cast<double>(now.arrivals - before.arrivals);
    const double drops = static_cast<double>(now.drops - before.drops);
    const double marks = static_cast<double>(now.marks - before.marks);
    double goodput = 0, of_squares = 0;
    for (size_t i = 0; i < now.received.size(); ++i)
    {
        const double bytes = static_cast<double>(now.received[i] - before.received[i]);
        goodput += bytes;
        of_squares += bytes * bytes;
    }
    const double mean = sum / samples;
    Print("queue_mean_packets", mean);
    Print("queue_std_packets", std::sqrt(std::max(0.0, squares / samples - mean * mean)));
    Print("utilization", 8.0 * static_cast<double>(now.sent - before.sent) / (Number("rate") * seconds));
    Print("drop_ratio", drops / arrivals);
    Print("mark_ratio", marks / arrivals);
    Print("goodput_bps", 8.0 * goodput / seconds);
    Print("jain_index", goodput * goodput / (static_cast<double>(now.received.size()) * of_squares));
    Print("events", drops + marks);
}

// ---- Trace of flow 0 ----------------------------------------------------------------------------

double
Now()
{
    return Simulator::Now().GetSeconds();
}

/// Options of a segment that matter here: the SACK blocks, and the echoed time stamp.
std::string
OptionsOf(const TcpHeader& header)
{
    std::string text;
    if (const auto option = header.GetOption(TcpOption::SACK))
    {
        for (const auto& [from, to] : DynamicCast<const TcpOptionSack>(option)->GetSackList())
        {
            text += " " + std::to_string(from.GetValue()) + "-" + std::to_string(to.GetValue());
        }
    }
    if (const auto stamp = header.GetOption(TcpOption::TS))
    {
        text += " ecr " + std::to_string(DynamicCast<const TcpOptionTS>(stamp)->GetEcho());
    }
    return text;
}

void
TraceSent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    std::printf("%.6f > %u len %u %s\n", Now(), header.GetSequenceNumber().GetValue(), packet->GetSize(),
                TcpHeader::FlagsToString(header.GetFlags()).c_str());
}

void
TraceHeard(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    std::printf("%.6f < ack %u window %u %s sack%s\n", Now(), header.GetAckNumber().GetValue(),
                header.GetWindowSize(), TcpHeader::FlagsToString(header.GetFlags()).c_str(),
                OptionsOf(header).c_str());
}

void
TraceNumber(std::string name, uint32_t, uint32_t now)
{
    std::printf("%.6f   %s %.3f\n", Now(), name.c_str(), static_cast<double>(now) / SegmentSize());
}

void
TraceTime(std::string name, Time, Time now)
{
    std::printf("%.6f   %s %.3f ms\n", Now(), name.c_str(), now.GetSeconds() * 1e3);
}

void
TraceState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    std::printf("%.6f   state %s\n", Now(), TcpSocketState::TcpCongStateName[now]);
}

void
TraceDrop(Ptr<const QueueDiscItem> item)
{
    const auto ip = DynamicCast<const Ipv4QueueDiscItem>(item);
    TcpHeader header;
    item->GetPacket()->PeekHeader(header);
    if (ip->GetHeader().GetDestination() == bell.addresses[0])
    {
        std::printf("%.6f   dropped %u\n", Now(), header.GetSequenceNumber().GetValue());
    }
}

/// Its socket exists from the start of the application on.
void
TraceFlow()
{
    const auto application = DynamicCast<BulkSendApplication>(bell.sources.Get(0)->GetApplication(0));
    const auto socket = application->GetSocket();
    if (!socket)
    {
        Simulator::Schedule(Seconds(0.001), &TraceFlow);
        return;
    }
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&TraceSent));
    socket->TraceConnectWithoutContext("Rx", MakeCallback(&TraceHeard));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&TraceState));
    for (const char* name : {"CongestionWindow", "SlowStartThreshold", "BytesInFlight"})
    {
        socket->TraceConnect(name, name, MakeCallback(&TraceNumber));
    }
    for (const char* name : {"RTO", "RTT"})
    {
        socket->TraceConnect(name, name, MakeCallback(&TraceTime));
    }
    bell.qdisc->TraceConnectWithoutContext("Drop", MakeCallback(&TraceDrop));
}

} // namespace

int
main(int argc, char* argv[])
{
    ReadArguments(argc, argv);
    RngSeedManager::SetSeed(12345);
    RngSeedManager::SetRun(Whole("seed"));
    ConfigureTcp();
    bell = Build();
    sinks = StartFlows(bell);
    bell.transmitter->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&CountSent));
    if (Set("trace"))
    {
        Simulator::Schedule(Seconds(0), &TraceFlow);
    }
    else
    {
        Simulator::Schedule(Seconds(Number("warmup")), &StartMeasuring);
    }
    Simulator::Stop(Seconds(Number("duration")));
    Simulator::Run();
    if (!Set("trace"))
    {
        Report();
    }
    bell = Dumbbell();
    sinks.clear();
    Simulator::Destroy();
    return 0;
}
