/*
 * Clients, each making one call at a time on its own connection, which is kept for the next command. A call is prepared bytes;
 * its reply must have status 200, be complete and, if it is a stream, end well.
 *
 *   drive PORT CONNECTIONS MILLISECONDS SPREAD_US MARK FILE   calls one after another, the first ones SPREAD_US apart
 *                                                             -> done CALLS MICROSECONDS
 *   pace PORT PER_SECOND MILLISECONDS MARK FILE               calls at a fixed rate, whether or not earlier ones have ended
 *                                                             -> times MICROSECONDS… of each, from when it was due
 *   close PORT                                                -> ok
 *
 * drive and pace may answer `failed WHY`. MARK is text in a stream's last event, or `-` if replies are no streams; FILE has the
 * call.
 */

#include "reply.h"

#define CONNECTIONS_MAX 1024
#define TARGETS_MAX 64
#define CALLS_TIMED_MAX 1000000
/* Interval at which streams are read: waking up for every event would cost more than reading it. */
#define STREAM_REST_NS NS_PER_MS
#define SILENCE_NS (30000 * NS_PER_MS)

struct connection {
  int fd;
  bool open, busy;
  struct reply_reader reader;
  /* Bytes of the call written so far. */
  size_t written;
  int64_t due;
};

struct target {
  int port;
  int count;
  struct connection *connections[CONNECTIONS_MAX];
};

/* State of the command that is running. */
struct run {
  struct target *target;
  const char *call;
  size_t call_bytes;
  char mark[MARK_BYTES_MAX];
  int busy;
  long calls;
  int64_t until, received_at;
  /* How long each call of `pace` took; NULL in `drive`, which makes one call after another. */
  int *microseconds;
  struct connection *idle[CONNECTIONS_MAX];
  int idle_count;
  char failure[400];
};

static struct target targets[TARGETS_MAX];
static int epoll;
static char buffer[READ_BYTES];

static void fail(struct run *run, const char *why) {
  if (run->failure[0] != 0) return;
  snprintf(run->failure, sizeof run->failure, "%s", why);
  for (char *at = run->failure; *at != 0; at++) {
    if ((unsigned char)*at < ' ') *at = ' ';
  }
}

static void connect_to(struct connection *connection, int port) {
  struct sockaddr_in address = loopback(port);
  connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(connection->fd, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
  connection->open = true;
  watch(epoll, connection->fd, connection);
}

static void disconnect(struct connection *connection) {
  if (connection->open) close(connection->fd);
  connection->open = false;
}

static struct target *target_of(int port) {
  struct target *target = targets;
  while (target->port != port && target->port != 0) {
    if (++target == targets + TARGETS_MAX) die("too many targets");
  }
  target->port = port;
  return target;
}

/* Returns a connection that is open. Reconnects if the server closed it while it was idle during other slices. */
static struct connection *connection_at(struct target *target, int index) {
  if (index == target->count) {
    struct connection *added = calloc(1, sizeof *added);
    if (added == NULL || (added->reader.head = malloc(HEAD_BYTES_MAX)) == NULL) die("memory");
    target->connections[target->count++] = added;
  }
  struct connection *connection = target->connections[index];
  char byte;
  if (connection->open && recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) disconnect(connection);
  if (!connection->open) connect_to(connection, target->port);
  return connection;
}

static void write_on(struct run *run, struct connection *connection) {
  size_t count = run->call_bytes - connection->written;
  if (count == 0) return;
  ssize_t written = send(connection->fd, run->call + connection->written, count, MSG_NOSIGNAL);
  if (written > 0) connection->written += (size_t)written;
  else if (errno != EAGAIN) fail(run, "a call could not be written");
}

static void begin_call(struct run *run, struct connection *connection, int64_t due) {
  reply_start(&connection->reader);
  connection->written = 0;
  connection->due = due;
  connection->busy = true;
  run->busy++;
  write_on(run, connection);
}

static void end_call(struct run *run, struct connection *connection, int64_t now) {
  connection->busy = false;
  run->busy--;
  if (run->microseconds != NULL) {
    run->microseconds[run->calls++] = (int)((now - connection->due) / 1000);
    run->idle[run->idle_count++] = connection;
    return;
  }
  run->calls++;
  if (now < run->until) begin_call(run, connection, now);
}

/* Reads what has arrived. `ended`: epoll has reported, as it does only once, that the server closed its side. */
static void read_on(struct run *run, struct connection *connection, bool ended) {
  for (;;) {
    ssize_t count = read(connection->fd, buffer, sizeof buffer);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0 || !connection->busy) {
      disconnect(connection);
      if (connection->busy) fail(run, "a connection was closed before its reply was complete");
      return;
    }
    run->received_at = now_ns();
    enum progress progress = reply_take(&connection->reader, buffer, (size_t)count, run->mark);
    if (progress == BAD) {
      char why[360];
      int seen = (int)(count < 150 ? count : 150);
      snprintf(why, sizeof why, "not a good reply: %.150s … %.*s", connection->reader.head, seen, buffer + count - seen);
      fail(run, why);
      return;
    }
    if (progress == WHOLE) end_call(run, connection, run->received_at);
    if (!ended && (size_t)count < sizeof buffer) return;
  }
}

/* Handles events until `due`, or the next ones if `due` < 0. Fails if no reply has come for too long. */
static void step(struct run *run, int64_t due) {
  struct epoll_event events[EVENTS_MAX];
  int64_t silent = run->received_at + SILENCE_NS;
  int count = wait_events(epoll, events, due < 0 || due > silent ? silent : due);
  for (int index = 0; index < count && run->failure[0] == 0; index++) {
    struct connection *connection = events[index].data.ptr;
    if (connection->busy && (events[index].events & EPOLLOUT)) write_on(run, connection);
    bool ended = events[index].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    if (ended || events[index].events & EPOLLIN) read_on(run, connection, ended);
  }
  if (run->busy > 0 && now_ns() >= silent) fail(run, "no reply for 30 s");
}

/* After a failure, connections can be in any state, so none of them is reused. */
static void close_all(struct target *target) {
  for (int index = 0; index < target->count; index++) {
    disconnect(target->connections[index]);
    target->connections[index]->busy = false;
  }
}

static void drive(struct run *run, int connections, int64_t milliseconds, int64_t spread_ns) {
  for (int index = 0; index < connections; index++) connection_at(run->target, index);
  int64_t begun = run->received_at = now_ns();
  run->until = begun + milliseconds * NS_PER_MS;
  for (int index = 0; index < connections && run->failure[0] == 0; index++) {
    int64_t due = begun + index * spread_ns;
    while (spread_ns > 0 && now_ns() < due && run->failure[0] == 0) step(run, due);
    begin_call(run, run->target->connections[index], due);
  }
  struct timespec rest = {.tv_nsec = STREAM_REST_NS};
  while (run->busy > 0 && run->failure[0] == 0) {
    if (spread_ns > 0) nanosleep(&rest, NULL);
    step(run, -1);
  }
  if (run->failure[0] == 0) printf("done %ld %lld\n", run->calls, (long long)(now_ns() - begun) / 1000);
}

static void pace(struct run *run, int64_t per_second, int64_t milliseconds) {
  long total = (long)(per_second * milliseconds / 1000);
  if (total > CALLS_TIMED_MAX) total = CALLS_TIMED_MAX;
  run->microseconds = calloc((size_t)total + 1, sizeof *run->microseconds);
  if (run->microseconds == NULL) die("memory");
  int used = 0;
  int64_t begun = run->received_at = now_ns();
  for (long index = 0; index < total && run->failure[0] == 0; index++) {
    int64_t due = begun + index * 1000000000LL / per_second;
    while (now_ns() < due && run->failure[0] == 0) step(run, due);
    if (run->idle_count == 0 && used == CONNECTIONS_MAX) fail(run, "too many calls at once");
    else begin_call(run, run->idle_count > 0 ? run->idle[--run->idle_count] : connection_at(run->target, used++), due);
  }
  while (run->busy > 0 && run->failure[0] == 0) step(run, -1);
  if (run->failure[0] == 0) {
    printf("times");
    for (long index = 0; index < run->calls; index++) printf(" %d", run->microseconds[index]);
    printf("\n");
  }
  free(run->microseconds);
}

static void take_command(char *line) {
  static struct run run;
  char name[4096];
  int port, connections;
  long long milliseconds, number;
  memset(&run, 0, sizeof run);
  if (sscanf(line, "close %d", &port) == 1) {
    close_all(target_of(port));
    printf("ok\n");
    return;
  }
  bool drives = sscanf(line, "drive %d %d %lld %lld %63s %4095s", &port, &connections, &milliseconds, &number, run.mark,
                       name) == 6;
  if (!drives && sscanf(line, "pace %d %lld %lld %63s %4095s", &port, &number, &milliseconds, run.mark, name) != 5) {
    printf("failed unknown command\n");
    return;
  }
  if (drives && connections > CONNECTIONS_MAX) {
    printf("failed more than %d connections\n", CONNECTIONS_MAX);
    return;
  }
  if (strcmp(run.mark, "-") == 0) run.mark[0] = 0;
  char *call = read_file(name, &run.call_bytes);
  run.call = call;
  run.target = target_of(port);
  if (drives) drive(&run, connections, milliseconds, number * 1000);
  else pace(&run, number, milliseconds);
  free(call);
  if (run.failure[0] == 0) return;
  close_all(run.target);
  printf("failed %s\n", run.failure);
}

int run_load(void) {
  epoll = epoll_create1(EPOLL_CLOEXEC);
  printf("ok\n");
  char line[8192];
  while (fgets(line, sizeof line, stdin) != NULL) take_command(line);
  return 0;
}
