/** Where a catalogue command prints: on the terminal, or into memory in tests. */

export interface Output {
  out(text: string): void
  err(text: string): void
}
