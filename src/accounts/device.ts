/** Describes a device in two words for the list of sessions. The User-Agent header that the words come from is not stored. */

/** The first match wins, because most browsers also name the browsers they derive from. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/coc_coc_browser/i, 'Cốc Cốc'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad|iPod/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]
const CHARACTERS_MAX = 1_000

/** Returns e.g. `Chrome, Windows`, or '' for an unknown device. */
export function describeDevice(userAgent: string): string {
  const text = userAgent.slice(0, CHARACTERS_MAX)
  const find = (table: typeof BROWSERS) => table.find(([pattern]) => pattern.test(text))?.[1]
  return [find(BROWSERS), find(SYSTEMS)].filter(Boolean).join(', ')
}
