/*
 * Runs the load or the upstream of a bench, at a fraction of what it costs in Node. Reads commands from standard input, one per
 * line, and answers each with a line on standard output; exits at the end of the input.
 */

#include "common.h"

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 1 << 16);
  if (count == 2 && strcmp(arguments[1], "load") == 0) return run_load();
  if (count == 2 && strcmp(arguments[1], "upstream") == 0) return run_upstream();
  fprintf(stderr, "usage: %s load|upstream\n", arguments[0]);
  return 2;
}
