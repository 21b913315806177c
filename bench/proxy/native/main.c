/*
 * Load or upstream of a bench, for a fraction of what the same costs in Node. Commands come by standard input, a line each, and
 * every one is answered by a line on standard output; the end of the input is the end of the process.
 */

#include "common.h"

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 1 << 16);
  if (count == 2 && strcmp(arguments[1], "load") == 0) return run_load();
  if (count == 2 && strcmp(arguments[1], "upstream") == 0) return run_upstream();
  fprintf(stderr, "usage: %s load|upstream\n", arguments[0]);
  return 2;
}
