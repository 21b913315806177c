/** Where a verb writes: to the terminal, or to memory in tests. */

export interface Output {
  out(text: string): void
  err(text: string): void
}
