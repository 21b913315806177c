/** What went wrong with a call, in the page's language. */

export class Fault extends Error {}

/** Codes that say more than their status, and statuses explained in another status's words. */
const STATUSES = {
  insufficient_balance: 402,
  rate_limited: 429,
  spend_cap_held: 429,
  upstream_failed: 503,
  upstream_overloaded: 503,
  502: 503,
}

/** @param {{ status?: number, code?: string, error?: string }} told by the status of a reply or by an event of a stream */
export function faultWords({ status, code, error = '' }, texts) {
  if (code === 'spend_cap_reached') return texts.errorCap
  const known = STATUSES[code] ?? STATUSES[status] ?? status
  return texts[`error${known}`] ?? `${texts.errorOther} ${error}`
}

export async function faultOf(response, texts) {
  const body = await response.json().catch(() => null)
  const { code, message } = body?.error ?? {}
  return new Fault(faultWords({ status: response.status, code, error: message }, texts))
}

/** Words with `[words](/path)` as a link to a page of ours. */
export function faultNotice(words) {
  const element = document.createElement('p')
  element.className = 'notice bad'
  element.setAttribute('role', 'alert')
  const line = element.appendChild(document.createElement('span'))
  for (const part of words.split(/(\[[^\][]+\]\(\/[a-z/?=]+\))/)) {
    const [, label, path] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? []
    if (path === undefined) line.append(part)
    else {
      const link = line.appendChild(document.createElement('a'))
      link.href = path
      link.textContent = label
    }
  }
  return element
}
