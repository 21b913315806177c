/** Matches names against the catalogue's patterns, in which a trailing `*` stands for any suffix. */

export function fits(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
