/** Draws a QR code as SVG: dark on white even on a dark page, without scripts or styles, so that any content policy allows it. */

import encodeQr from 'qr'

/** Width of the light border around the code, in modules, as ISO/IEC 18004 requires. */
export const QUIET_MODULES = 4

/** `label` is for screen readers. */
export function renderQrSvg(payload: string, label = 'VietQR'): string {
  const rows = encodeQr(payload, 'raw', { ecc: 'medium', border: QUIET_MODULES })
  const path = rows.flatMap((row, y) => runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`)).join('')
  const size = rows.length
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges" role="img" ` +
    `aria-label="${escapeAttribute(label)}"><path fill="#fff" d="M0 0h${size}v${size}h-${size}z"/>` +
    `<path fill="#000" d="${path}"/></svg>`
  )
}

/** Start and length of each run of dark modules. */
function runsOf(row: readonly boolean[]): (readonly [number, number])[] {
  const runs: (readonly [number, number])[] = []
  for (let start = 0; start < row.length; ) {
    let end = start
    while (end < row.length && row[end]) end++
    if (end > start) runs.push([start, end - start])
    start = end + 1
  }
  return runs
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
