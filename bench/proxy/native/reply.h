/* Reads the reply to a call to its end: status, length or chunks, and for streams a mark in their last event. */

#ifndef BENCH_REPLY_H
#define BENCH_REPLY_H

#include "common.h"

#define MARK_BYTES_MAX 64

enum part { HEAD, SIZED, CHUNK_SIZE, CHUNK_DATA, CHUNK_BREAK, TRAILER };

struct reply_reader {
  enum part part;
  char *head;
  size_t head_bytes;
  /* Bytes still to come: of the body, if it has a length, or of the current chunk. */
  long long left;
  /* Whether the mark has been seen. `carry` holds the last bytes, because the mark may begin in them. */
  bool marked;
  char carry[2 * MARK_BYTES_MAX];
  size_t carried;
  /* Bytes read so far of the current line, which has a chunk's size or a trailer. */
  size_t line;
};

enum progress { UNDER_WAY, WHOLE, BAD };

void reply_start(struct reply_reader *reader);

/* Processes bytes that were read. `mark` is text in a stream's last event, or "" if the reply is not a stream. */
enum progress reply_take(struct reply_reader *reader, const char *bytes, size_t count, const char *mark);

#endif
