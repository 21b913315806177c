/** Names in the catalogue: a `*` at the end stands for any ending. */

export function fits(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
