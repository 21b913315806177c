/* Shared by the load and the upstream: time, sockets, files, and the few headers that they read. */

#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 256
#define HEAD_BYTES_MAX 16384
#define READ_BYTES 262144
#define NS_PER_MS 1000000LL

int run_load(void);
int run_upstream(void);

static inline _Noreturn void die(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static inline int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Waits for events until `due`, or forever if due < 0. */
static inline int wait_events(int epoll, struct epoll_event *events, int64_t due) {
  struct timespec left;
  int64_t ns = due < 0 ? 0 : due - now_ns();
  if (ns < 0) ns = 0;
  left.tv_sec = ns / 1000000000LL;
  left.tv_nsec = ns % 1000000000LL;
  int count = epoll_pwait2(epoll, events, EVENTS_MAX, due < 0 ? NULL : &left, NULL);
  if (count < 0 && errno != EINTR) die("epoll_pwait2");
  return count < 0 ? 0 : count;
}

static inline struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/* Registers a socket once for both directions, edge-triggered, so that writing needs no further epoll call. */
static inline void watch(int epoll, int fd, void *of) {
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = of};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) die("epoll_ctl");
}

static inline char *read_file(const char *name, size_t *bytes) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) die(name);
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char *content = malloc(*bytes + 1);
  if (content == NULL || fread(content, 1, *bytes, file) != *bytes) die(name);
  content[*bytes] = 0;
  fclose(file);
  return content;
}

/* The value of a header in a zero-terminated head; NULL if the header is absent. */
static inline const char *header_of(const char *head, const char *name) {
  size_t length = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, length) != 0 || line[length] != ':') continue;
    line += length + 1;
    while (*line == ' ') line++;
    return line;
  }
  return NULL;
}

/*
 * Appends bytes that were read to a head, up to its empty line. Returns how many of them belong to the head, or -1 while the head
 * is incomplete.
 */
static inline ssize_t gather_head(char *head, size_t *head_bytes, const char *bytes, size_t count) {
  size_t before = *head_bytes;
  size_t room = HEAD_BYTES_MAX - 1 - before;
  size_t taken = count < room ? count : room;
  memcpy(head + before, bytes, taken);
  head[before + taken] = 0;
  char *end = strstr(head + (before > 3 ? before - 3 : 0), "\r\n\r\n");
  if (end == NULL) {
    *head_bytes = before + taken;
    if (taken < count) {
      errno = EMSGSIZE;
      die("the head of a message");
    }
    return -1;
  }
  end[2] = 0;
  *head_bytes = 0;
  return (ssize_t)((size_t)(end + 4 - head) - before);
}

#endif
