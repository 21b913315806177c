/** Name patterns in the catalogue: a trailing `*` matches any suffix. */

export function fits(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
