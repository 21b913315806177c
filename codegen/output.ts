/** Where a verb writes: the terminal, or a test's memory. */

export interface Output {
  out(text: string): void
  err(text: string): void
}
