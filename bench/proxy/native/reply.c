#include "reply.h"

void reply_start(struct reply_reader *reader) {
  reader->part = HEAD;
  reader->head_bytes = 0;
  reader->marked = false;
  reader->carried = 0;
}

/* Looks for a mark, which may begin in one piece and end in the next. */
static void look_for_mark(struct reply_reader *reader, const char *bytes, size_t count, const char *mark) {
  size_t length = strlen(mark);
  if (reader->marked || length == 0 || count == 0) return;
  if (reader->carried > 0) {
    size_t begin = count < length - 1 ? count : length - 1;
    memcpy(reader->carry + reader->carried, bytes, begin);
    reader->carried += begin;
    reader->marked = memmem(reader->carry, reader->carried, mark, length) != NULL;
  }
  if (!reader->marked) reader->marked = memmem(bytes, count, mark, length) != NULL;
  if (count >= length - 1) {
    memcpy(reader->carry, bytes + count - (length - 1), length - 1);
    reader->carried = length - 1;
    return;
  }
  if (reader->carried == 0) {
    memcpy(reader->carry, bytes, count);
    reader->carried = count;
    return;
  }
  size_t kept = reader->carried < length - 1 ? reader->carried : length - 1;
  memmove(reader->carry, reader->carry + reader->carried - kept, kept);
  reader->carried = kept;
}

static enum progress read_head(struct reply_reader *reader) {
  if (strncmp(reader->head, "HTTP/1.1 200 ", 13) != 0) return BAD;
  const char *length = header_of(reader->head, "content-length");
  const char *coding = header_of(reader->head, "transfer-encoding");
  reader->line = 0;
  reader->left = length == NULL ? 0 : atoll(length);
  reader->part = coding == NULL ? SIZED : CHUNK_SIZE;
  if (coding == NULL && reader->left == 0) return BAD;
  return UNDER_WAY;
}

static int hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 0x20;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads one byte of the line that holds a chunk's size. */
static enum progress read_size(struct reply_reader *reader, char byte) {
  if (byte == '\n') {
    if (reader->line == 0) return BAD;
    reader->line = 0;
    reader->part = reader->left == 0 ? TRAILER : CHUNK_DATA;
  } else if (byte != '\r') {
    int digit = hex(byte);
    if (digit < 0 || ++reader->line > 8) return BAD;
    reader->left = reader->left * 16 + digit;
  }
  return UNDER_WAY;
}

enum progress reply_take(struct reply_reader *reader, const char *bytes, size_t count, const char *mark) {
  size_t at = 0;
  if (reader->part == HEAD) {
    ssize_t head = gather_head(reader->head, &reader->head_bytes, bytes, count);
    if (head < 0) return UNDER_WAY;
    if (read_head(reader) == BAD) return BAD;
    at = (size_t)head;
  }
  while (at < count) {
    switch (reader->part) {
      case SIZED:
      case CHUNK_DATA: {
        size_t here = count - at < (size_t)reader->left ? count - at : (size_t)reader->left;
        look_for_mark(reader, bytes + at, here, mark);
        at += here;
        reader->left -= (long long)here;
        if (reader->left > 0) break;
        if (reader->part == SIZED) return at == count && (reader->marked || *mark == 0) ? WHOLE : BAD;
        reader->part = CHUNK_BREAK;
        break;
      }
      case CHUNK_BREAK:
        if (bytes[at] == '\n') reader->part = CHUNK_SIZE;
        else if (bytes[at] != '\r') return BAD;
        at++;
        break;
      case CHUNK_SIZE:
        if (read_size(reader, bytes[at++]) == BAD) return BAD;
        break;
      case TRAILER:
        if (bytes[at] == '\n' && reader->line == 0)
          return at + 1 == count && (reader->marked || *mark == 0) ? WHOLE : BAD;
        if (bytes[at] == '\n') reader->line = 0;
        else if (bytes[at] != '\r') reader->line++;
        at++;
        break;
      case HEAD:
        return BAD;
    }
  }
  return UNDER_WAY;
}
