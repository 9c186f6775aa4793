/* Replays an arrival trace through the qdisc of a device, and records what comes out at the other end.
 *
 *   replay TRACE SENDER RECEIVER >RECORD
 *
 * SENDER and RECEIVER are the ends of a veth pair. A line of TRACE is one packet: time (ns), size at the qdisc with the
 * Ethernet header (bytes), flow (added to the UDP source port) and ECN field (0 to 3). A line of RECORD is the same packet:
 * arrival and departure (ns) since the start of the replay, and the ECN field that it left with; "-" if it was dropped.
 * Nothing is printed before the last packet has left.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  LARGEST = ETH_DATA_LEN,
  HEADERS = sizeof(struct iphdr) + sizeof(struct udphdr),
  SMALLEST = HEADERS + sizeof(uint32_t),
  FIRST_PORT = 10000,
  ECN = 3,
};
static const int64_t SECOND = 1000000000;
/* Before the first packet, and behind the last one until the record is closed. */
static const int64_t SETTLE = 1000000000, SILENCE = 2000000000;

struct packet {
  int64_t due, sent, departed;
  uint32_t size, flow;
  uint8_t ecn, ecn_out;
};

struct trace {
  struct packet *packets;
  uint32_t count;
};

static void die(const char *what) {
  fprintf(stderr, "replay: %s: %s\n", what, strerror(errno));
  exit(1);
}

static struct trace read_trace(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) die(path);
  struct trace trace = {NULL, 0};
  uint32_t room = 0, ecn;
  struct packet packet = {.departed = -1};
  while (fscanf(file, "%" SCNd64 " %u %u %u", &packet.due, &packet.size, &packet.flow, &ecn) == 4) {
    packet.ecn = ecn & ECN;
    if (packet.size < SMALLEST + ETH_HLEN || packet.size > LARGEST + ETH_HLEN) {
      errno = EMSGSIZE;
      die(path);
    }
    if (trace.count == room) {
      room = room ? 2 * room : 1024;
      trace.packets = realloc(trace.packets, room * sizeof packet);
      if (!trace.packets) die("memory");
    }
    trace.packets[trace.count++] = packet;
  }
  fclose(file);
  return trace;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

static void sleep_until(int64_t due) {
  struct timespec time = {due / SECOND, due % SECOND};
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL) == EINTR) {
  }
}

/* A packet socket of IPv4 packets on a device; one that only sends has protocol 0. */
static int packet_socket(const char *device, uint16_t protocol) {
  int fd = socket(AF_PACKET, SOCK_DGRAM, htons(protocol));
  struct sockaddr_ll address = {
      .sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = if_nametoindex(device)};
  if (fd < 0 || !address.sll_ifindex || bind(fd, (void *)&address, sizeof address)) die(device);
  /* The qdisc limits the queue, not the socket. */
  int most = 256 << 20, on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &most, sizeof most) ||
      setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &most, sizeof most) ||
      setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on))
    die("setsockopt");
  return fd;
}

/* Link-layer address of a device, where frames go. */
static struct sockaddr_ll address_of(int fd, const char *device, const char *sender) {
  struct ifreq request = {0};
  strncpy(request.ifr_name, device, IFNAMSIZ - 1);
  if (ioctl(fd, SIOCGIFHWADDR, &request)) die(device);
  struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_halen = ETH_ALEN};
  to.sll_ifindex = if_nametoindex(sender);
  memcpy(to.sll_addr, request.ifr_hwaddr.sa_data, ETH_ALEN);
  return to;
}

static uint16_t checksum(const void *header, size_t size) {
  uint32_t sum = 0;
  const uint16_t *words = header;
  for (size_t i = 0; i < size / 2; i++) sum += words[i];
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum;
}

/* Builds packet `number`, an IPv4 UDP datagram whose data begin with that number; returns its size. */
static size_t build(const struct packet *packet, uint32_t number, uint8_t *buffer) {
  size_t size = packet->size - ETH_HLEN;
  struct iphdr ip = {
      .version = 4,
      .ihl = 5,
      .tos = packet->ecn,
      .tot_len = htons(size),
      .ttl = 64,
      .protocol = IPPROTO_UDP,
      .saddr = inet_addr("10.0.0.1"),
      .daddr = inet_addr("10.0.0.2")};
  ip.check = checksum(&ip, sizeof ip);
  struct udphdr udp = {
      .source = htons(FIRST_PORT + packet->flow), .dest = htons(9), .len = htons(size - sizeof ip)};
  memset(buffer, 0, size);
  memcpy(buffer, &ip, sizeof ip);
  memcpy(buffer + sizeof ip, &udp, sizeof udp);
  memcpy(buffer + HEADERS, &number, sizeof number);
  return size;
}

/* Takes all packets that have arrived; returns their number. */
static uint32_t receive(int fd, struct trace trace) {
  uint8_t data[SMALLEST], control[256];
  uint32_t count = 0;
  for (;; count++) {
    struct iovec part = {data, sizeof data};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(fd, &message, MSG_DONTWAIT) < (ssize_t)sizeof data) return count;
    struct cmsghdr *stamp = CMSG_FIRSTHDR(&message);
    uint32_t number;
    memcpy(&number, data + HEADERS, sizeof number);
    if (!stamp || stamp->cmsg_type != SCM_TIMESTAMPNS || number >= trace.count) die("an unexpected packet");
    struct timespec time;
    memcpy(&time, CMSG_DATA(stamp), sizeof time);
    trace.packets[number].departed = time.tv_sec * SECOND + time.tv_nsec;
    trace.packets[number].ecn_out = data[1] & ECN;
  }
}

static int64_t replay(struct trace trace, const char *sender, const char *receiver) {
  int tx = packet_socket(sender, 0), rx = packet_socket(receiver, ETH_P_IP);
  struct sockaddr_ll to = address_of(tx, receiver, sender);
  uint8_t buffer[LARGEST];
  int64_t start = now() + SETTLE;
  for (uint32_t i = 0; i < trace.count; i++) {
    struct packet *packet = &trace.packets[i];
    size_t size = build(packet, i, buffer);
    sleep_until(start + packet->due);
    packet->sent = now();
    /* ENOBUFS: the qdisc dropped it. */
    if (sendto(tx, buffer, size, 0, (void *)&to, sizeof to) < 0 && errno != ENOBUFS) die("sendto");
    receive(rx, trace);
  }
  for (int64_t last = now(); now() < last + SILENCE;) {
    if (receive(rx, trace)) last = now();
    sleep_until(now() + SECOND / 100);
  }
  return start;
}

int main(int count, char **words) {
  if (count != 4) {
    fprintf(stderr, "replay TRACE SENDER RECEIVER >RECORD\n");
    return 2;
  }
  struct sched_param first = {.sched_priority = 1};
  if (prctl(PR_SET_TIMERSLACK, 1) || sched_setscheduler(0, SCHED_FIFO, &first)) die("scheduling");
  struct trace trace = read_trace(words[1]);
  if (mlockall(MCL_CURRENT | MCL_FUTURE)) die("mlockall");
  int64_t start = replay(trace, words[2], words[3]);
  for (uint32_t i = 0; i < trace.count; i++) {
    const struct packet *packet = &trace.packets[i];
    if (packet->departed < 0)
      printf("%" PRId64 " -\n", packet->sent - start);
    else
      printf("%" PRId64 " %" PRId64 " %d\n", packet->sent - start, packet->departed - start, packet->ecn_out);
  }
  return 0;
}
