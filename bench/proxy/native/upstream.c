/*
 * A provider that answers at once with prepared bytes: a list of segments for each path, written one by one at a fixed pace, or
 * as fast as the socket accepts them. Reads only the path and the end of a request.
 *
 *   replies FILE   loads replies from a file                                      -> ok
 *   last-path      the path of the last request                                   -> ok PATH
 *
 * Format of the file: `reply PATH SEGMENTS PAUSE_MS\n`, then for each segment `BYTES\n` and the bytes.
 */

#include "common.h"

#define REPLIES_MAX 8
#define CONNECTIONS_BACKLOG 1024

struct reply {
  char path[64];
  int segments;
  int64_t pause_ns;
  const char **bytes;
  size_t *sizes;
};

struct connection {
  int fd;
  char *head;
  size_t head_bytes;
  /* Bytes of the request's body still to come. */
  long long left;
  /* The reply being written; NULL if there is none. */
  const struct reply *reply;
  int segment;
  size_t offset;
  /* When the pause ends, and the connections next to this one in the list of paused ones. */
  int64_t due;
  struct connection *before, *after;
};

static struct reply replies[REPLIES_MAX];
static int reply_count;
static char last_path[64];
static int epoll;
static char buffer[READ_BYTES];
/* All pauses have the same length at any one time, so they end in the order in which they began. */
static struct connection *first_due, *last_due;

static void pause_until(struct connection *connection, int64_t due) {
  connection->due = due;
  connection->before = last_due;
  connection->after = NULL;
  if (last_due != NULL) last_due->after = connection;
  else first_due = connection;
  last_due = connection;
}

static void unpause(struct connection *connection) {
  if (connection->due == 0) return;
  connection->due = 0;
  if (connection->before != NULL) connection->before->after = connection->after;
  else first_due = connection->after;
  if (connection->after != NULL) connection->after->before = connection->before;
  else last_due = connection->before;
}

static void drop(struct connection *connection) {
  unpause(connection);
  close(connection->fd);
  free(connection->head);
  free(connection);
}

/* Writes what the socket accepts. Returns false if the connection is gone. */
static bool write_on(struct connection *connection) {
  const struct reply *reply = connection->reply;
  while (reply != NULL && connection->due == 0) {
    const char *from = reply->bytes[connection->segment] + connection->offset;
    size_t count = reply->sizes[connection->segment] - connection->offset;
    ssize_t written = send(connection->fd, from, count, MSG_NOSIGNAL);
    if (written < 0 && errno == EAGAIN) return true;
    if (written < 0) {
      drop(connection);
      return false;
    }
    connection->offset += (size_t)written;
    if ((size_t)written < count) return true;
    connection->offset = 0;
    if (++connection->segment == reply->segments) connection->reply = reply = NULL;
    else if (reply->pause_ns > 0) pause_until(connection, now_ns() + reply->pause_ns);
  }
  return true;
}

static void begin_request(struct connection *connection) {
  const char *path = strchr(connection->head, ' ');
  const char *length = header_of(connection->head, "content-length");
  connection->left = length == NULL ? 0 : atoll(length);
  snprintf(last_path, sizeof last_path, "%.*s", path == NULL ? 0 : (int)strcspn(path + 1, " ?"), path == NULL ? "" : path + 1);
}

/* Begins the reply to a complete request. Returns false if the connection is gone. */
static bool answer(struct connection *connection) {
  for (int index = 0; index < reply_count; index++) {
    if (strcmp(replies[index].path, last_path) != 0) continue;
    connection->reply = &replies[index];
    connection->segment = 0;
    connection->offset = 0;
    return write_on(connection);
  }
  static const char none[] = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
  if (send(connection->fd, none, sizeof none - 1, MSG_NOSIGNAL) > 0) return true;
  drop(connection);
  return false;
}

/* Reads what has arrived. `ended`: epoll has reported, as it does only once, that the client closed its side. */
static void read_on(struct connection *connection, bool ended) {
  for (;;) {
    ssize_t count = read(connection->fd, buffer, sizeof buffer);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      drop(connection);
      return;
    }
    ssize_t body = count;
    if (connection->left == 0) {
      ssize_t head = gather_head(connection->head, &connection->head_bytes, buffer, (size_t)count);
      if (head < 0) continue;
      begin_request(connection);
      body = count - head;
    }
    connection->left -= body;
    if (connection->left == 0 && !answer(connection)) return;
    /* A short read means that nothing more has arrived. */
    if (!ended && (size_t)count < sizeof buffer) return;
  }
}

static void accept_all(int server) {
  for (;;) {
    int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL || (connection->head = malloc(HEAD_BYTES_MAX)) == NULL) die("memory");
    connection->fd = fd;
    watch(epoll, fd, connection);
  }
}

/* Keeps the bytes of earlier files in memory, because some of their replies may still be on their way. */
static void take_replies(const char *name) {
  size_t bytes;
  char *at = read_file(name, &bytes);
  char *end = at + bytes;
  for (reply_count = 0; at < end && reply_count < REPLIES_MAX; reply_count++) {
    struct reply *reply = &replies[reply_count];
    int taken = 0;
    long long pause_ms;
    if (sscanf(at, "reply %63s %d %lld\n%n", reply->path, &reply->segments, &pause_ms, &taken) != 3) die(name);
    at += taken;
    reply->pause_ns = pause_ms * NS_PER_MS;
    reply->bytes = calloc((size_t)reply->segments, sizeof *reply->bytes);
    reply->sizes = calloc((size_t)reply->segments, sizeof *reply->sizes);
    if (reply->bytes == NULL || reply->sizes == NULL) die("memory");
    for (int index = 0; index < reply->segments; index++) {
      reply->sizes[index] = (size_t)strtoll(at, &at, 10);
      reply->bytes[index] = at + 1;
      at += 1 + reply->sizes[index];
    }
  }
}

/* Runs the next command. Returns false at the end of the input. */
static bool take_command(void) {
  char line[4096];
  if (fgets(line, sizeof line, stdin) == NULL) return false;
  line[strcspn(line, "\n")] = 0;
  if (strncmp(line, "replies ", 8) == 0) {
    take_replies(line + 8);
    printf("ok\n");
  } else if (strcmp(line, "last-path") == 0) printf("ok %s\n", last_path);
  else printf("failed unknown command\n");
  return true;
}

int run_upstream(void) {
  epoll = epoll_create1(EPOLL_CLOEXEC);
  int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(server, (struct sockaddr *)&address, size) < 0 || listen(server, CONNECTIONS_BACKLOG) < 0) die("listen");
  getsockname(server, (struct sockaddr *)&address, &size);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &server};
  epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event);
  event.data.ptr = stdin;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event) < 0) die("standard input");
  printf("ok %d\n", ntohs(address.sin_port));
  struct epoll_event events[EVENTS_MAX];
  for (;;) {
    int count = wait_events(epoll, events, first_due == NULL ? -1 : first_due->due);
    for (int index = 0; index < count; index++) {
      void *of = events[index].data.ptr;
      if (of == &server) accept_all(server);
      else if (of == stdin) {
        if (!take_command()) return 0;
      } else if (!(events[index].events & EPOLLOUT) || write_on(of)) {
        bool ended = events[index].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
        if (ended || events[index].events & EPOLLIN) read_on(of, ended);
      }
    }
    for (int64_t now = now_ns(); first_due != NULL && first_due->due <= now;) {
      struct connection *connection = first_due;
      unpause(connection);
      write_on(connection);
    }
  }
}
