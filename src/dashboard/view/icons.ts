/** Line icons drawn for this project on a 20×20 grid, in the current text colour. */

const PATHS = {
  copy: '<rect x="7" y="7" width="9" height="10" rx="2"/><path d="M13 7V5a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h1"/>',
  check: '<path d="m4 10.5 4 4 8-9"/>',
  sun: '<circle cx="10" cy="10" r="3.5"/><path d="M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4"/>',
  moon: '<path d="M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7Z"/>',
  menu: '<path d="M3 6h14M3 10h14M3 14h14"/>',
  person: '<circle cx="10" cy="6.5" r="3.2"/><path d="M3.5 17c.8-3.4 3.4-5 6.5-5s5.7 1.6 6.5 5"/>',
  key: '<circle cx="7" cy="13" r="3.5"/><path d="m9.6 10.4 6.4-6.4M13 7l2.5 2.5"/>',
  chart: '<path d="M3 17h14M5.5 14V9M10 14V4M14.5 14v-7"/>',
  wallet:
    '<path d="M3 6.5A2.5 2.5 0 0 1 5.5 4H14v3"/><rect x="3" y="7" width="14" height="9.5" rx="2"/><path d="M13.5 11.8h.01"/>',
  home: '<path d="m3 9.5 7-6 7 6V16a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 16Z"/><path d="M8 17.5V12h4v5.5"/>',
  search: '<circle cx="9" cy="9" r="5"/><path d="m13 13 4 4"/>',
  download: '<path d="M10 3v9m0 0 3.5-3.5M10 12 6.5 8.5M3.5 16.5h13"/>',
  arrow: '<path d="M4 10h12m0 0-4.5-4.5M16 10l-4.5 4.5"/>',
  alert: '<path d="M10 3 2.5 16.5h15Z"/><path d="M10 8.5v3.5M10 14.3h.01"/>',
  info: '<circle cx="10" cy="10" r="7"/><path d="M10 9.5V14M10 6.5h.01"/>',
  mail: '<rect x="2.5" y="4.5" width="15" height="11" rx="2"/><path d="m3 6 7 5 7-5"/>',
  globe:
    '<circle cx="10" cy="10" r="7"/><path d="M3 10h14M10 3c2.2 2 3.2 4.3 3.2 7s-1 5-3.2 7c-2.2-2-3.2-4.3-3.2-7S7.8 5 10 3Z"/>',
  bolt: '<path d="M11 2.5 4.5 11.5H10L9 17.5l6.5-9H10Z"/>',
  shield: '<path d="M10 2.5 4 5v4.5c0 3.6 2.4 6.4 6 8 3.6-1.6 6-4.4 6-8V5Z"/>',
  close: '<path d="m5 5 10 10M15 5 5 15"/>',
  plus: '<path d="M10 4v12M4 10h12"/>',
} as const

export type IconName = keyof typeof PATHS

/** An `<svg>` that screen readers skip. Throws RangeError for an unknown name. */
export function icon(name: string): string {
  if (!(name in PATHS)) throw new RangeError(`there is no icon ${name}`)
  return `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">${PATHS[name as IconName]}</svg>`
}
