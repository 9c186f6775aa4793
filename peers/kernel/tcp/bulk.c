/* Bulk TCP flows through the VM's network, and what each has delivered.
 *
 *   bulk DURATION WARMUP HOST:FLOWS:CC[:ecn]...
 *
 * Times are in seconds. A flow of host h goes from 10.0.h.1 in the namespace `s<h>` to 10.9.0.h in `far`, and begins at a
 * random time in the first second. A line of the output is a flow, from the end of the warm-up on: host, bytes that its
 * reader has got, mean of the samples of tcpi_delivery_rate (bit/s) and of tcpi_rtt (us), and segments retransmitted.
 * Nothing is printed before the end.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 5000, MOST_FLOWS = 256, CHUNK = 1 << 16 };
static const int64_t SECOND = 1000000000, SAMPLING = 50000000;

struct flow {
  int sender, reader, host, ecn;
  char control[16];
  int64_t start;
  uint64_t bytes, bytes_before, rates, rtts, samples;
  uint32_t retransmitted, retransmitted_before;
};

static struct flow flows[MOST_FLOWS];
static int count, poller, listener;
static char zeros[CHUNK];

static void die(const char *what) {
  fprintf(stderr, "bulk: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

static void enter(const char *namespace) {
  char path[64];
  snprintf(path, sizeof path, "/run/netns/%s", namespace);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || setns(fd, CLONE_NEWNET)) die(path);
  close(fd);
}

static struct sockaddr_in address(const char *format, int host, int port) {
  char text[32];
  snprintf(text, sizeof text, format, host);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = inet_addr(text);
  return address;
}

static void watch(int fd, uint32_t events, uint32_t number) {
  struct epoll_event event = {.events = events, .data.u32 = number};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event)) die("epoll");
}

static void listen_far(void) {
  enter("far");
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  if (listener < 0 || bind(listener, (void *)&any, sizeof any) || listen(listener, MOST_FLOWS)) die("listener");
}

/* Whether connections of the current namespace ask for ECN; all accept it. */
static void set_ecn(int ecn) {
  int fd = open("/proc/sys/net/ipv4/tcp_ecn", O_WRONLY);
  if (fd < 0 || write(fd, ecn ? "1" : "2", 1) != 1) die("tcp_ecn");
  close(fd);
}

/* A socket of the flow at its host, bound to a port that says which flow it is. */
static void open_sender(struct flow *flow) {
  char namespace[8];
  snprintf(namespace, sizeof namespace, "s%d", flow->host);
  enter(namespace);
  set_ecn(flow->ecn);
  flow->sender = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in own = address("10.0.%d.1", flow->host, PORT + 1 + (flow - flows));
  if (flow->sender < 0 || bind(flow->sender, (void *)&own, sizeof own)) die("sender");
  if (setsockopt(flow->sender, IPPROTO_TCP, TCP_CONGESTION, flow->control, strlen(flow->control)))
    die(flow->control);
  /* Nothing is left of the connection when the program ends. */
  struct linger none = {1, 0};
  if (setsockopt(flow->sender, SOL_SOCKET, SO_LINGER, &none, sizeof none)) die("linger");
}

static void begin(struct flow *flow) {
  struct sockaddr_in to = address("10.9.0.%d", flow->host, PORT);
  if (connect(flow->sender, (void *)&to, sizeof to) && errno != EINPROGRESS) die("connect");
  watch(flow->sender, EPOLLOUT, flow - flows);
}

static void accept_all(void) {
  for (;;) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    int fd = accept4(listener, (void *)&peer, &size, SOCK_NONBLOCK);
    if (fd < 0) return;
    uint32_t number = ntohs(peer.sin_port) - PORT - 1;
    flows[number].reader = fd;
    watch(fd, EPOLLIN, MOST_FLOWS + number);
  }
}

static void write_all(struct flow *flow) {
  while (send(flow->sender, zeros, CHUNK, MSG_NOSIGNAL) > 0) {
  }
}

/* The data are thrown away in the kernel. */
static void read_all(struct flow *flow) {
  for (ssize_t got; (got = recv(flow->reader, zeros, CHUNK, MSG_TRUNC)) > 0;) flow->bytes += got;
}

static struct tcp_info info(const struct flow *flow) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (getsockopt(flow->sender, IPPROTO_TCP, TCP_INFO, &info, &size)) die("TCP_INFO");
  return info;
}

static void sample(void) {
  for (struct flow *flow = flows; flow < flows + count; flow++) {
    struct tcp_info seen = info(flow);
    flow->rates += 8 * seen.tcpi_delivery_rate;
    flow->rtts += seen.tcpi_rtt;
    flow->samples++;
  }
}

static void end_warmup(void) {
  for (struct flow *flow = flows; flow < flows + count; flow++) {
    flow->bytes_before = flow->bytes;
    flow->retransmitted_before = info(flow).tcpi_total_retrans;
  }
}

static void handle(uint32_t number) {
  if (number < MOST_FLOWS)
    write_all(&flows[number]);
  else if (number < 2 * MOST_FLOWS)
    read_all(&flows[number - MOST_FLOWS]);
  else
    accept_all();
}

static void run(int64_t start, int64_t warmup, int64_t duration) {
  int64_t next = start + warmup + SAMPLING;
  int is_warm = 0, begun = 0;
  for (int64_t time; (time = now()) < start + duration;) {
    for (; begun < count && time >= start + flows[begun].start; begun++) begin(&flows[begun]);
    if (!is_warm && time >= start + warmup) {
      end_warmup();
      is_warm = 1;
    }
    if (time >= next) {
      sample();
      next += SAMPLING;
    }
    struct epoll_event events[64];
    int ready = epoll_wait(poller, events, 64, 1);
    for (int i = 0; i < ready; i++) handle(events[i].data.u32);
  }
}

static int by_start(const void *a, const void *b) {
  const struct flow *one = a, *other = b;
  return (one->start > other->start) - (one->start < other->start);
}

static void read_flows(char **words) {
  for (int number; *words; words++) {
    struct flow flow = {.ecn = strstr(*words, ":ecn") != NULL};
    int fields = sscanf(*words, "%d:%d:%15[a-z]", &flow.host, &number, flow.control);
    if (fields != 3 || count + number > MOST_FLOWS) die(*words);
    while (number--) {
      uint32_t draw;
      if (getrandom(&draw, sizeof draw, 0) != sizeof draw) die("getrandom");
      flow.start = draw * SECOND >> 32;
      flows[count++] = flow;
    }
  }
  qsort(flows, count, sizeof *flows, by_start);
}

int main(int words, char **word) {
  if (words < 4) {
    fprintf(stderr, "bulk DURATION WARMUP HOST:FLOWS:CC[:ecn]...\n");
    return 2;
  }
  struct rlimit files = {4 * MOST_FLOWS, 4 * MOST_FLOWS};
  if (setrlimit(RLIMIT_NOFILE, &files)) die("setrlimit");
  poller = epoll_create1(0);
  read_flows(word + 3);
  listen_far();
  watch(listener, EPOLLIN, 2 * MOST_FLOWS);
  for (int i = 0; i < count; i++) open_sender(&flows[i]);
  run(now() + SECOND, atof(word[2]) * SECOND, atof(word[1]) * SECOND);
  for (struct flow *flow = flows; flow < flows + count; flow++)
    printf("flow %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n", flow->host, flow->bytes - flow->bytes_before,
           flow->rates / flow->samples, flow->rtts / flow->samples,
           info(flow).tcpi_total_retrans - flow->retransmitted_before);
  return 0;
}
