/* Reads the reply to a call to its end: status, length or chunks, and for streams a mark of their last event. */

#ifndef BENCH_REPLY_H
#define BENCH_REPLY_H

#include "common.h"

#define MARK_BYTES_MAX 64

enum part { HEAD, SIZED, CHUNK_SIZE, CHUNK_DATA, CHUNK_BREAK, TRAILER };

struct reply_reader {
  enum part part;
  char *head;
  size_t head_bytes;
  /* Of a body with a length, or of a chunk. */
  long long left;
  /* The mark has been seen, and the last bytes before, in which it may have begun. */
  bool marked;
  char carry[2 * MARK_BYTES_MAX];
  size_t carried;
  /* Bytes of the line that a chunk's size or a trailer stands in. */
  size_t line;
};

enum progress { UNDER_WAY, WHOLE, BAD };

void reply_start(struct reply_reader *reader);

/* Takes what was read. `mark`: what the last event of a stream says, "" where the reply is no stream. */
enum progress reply_take(struct reply_reader *reader, const char *bytes, size_t count, const char *mark);

#endif
