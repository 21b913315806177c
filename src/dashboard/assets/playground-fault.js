/** Says in the page's language what went wrong with a call. */

export class Fault extends Error {}

/** Maps codes that say more than their status to the status that has the words; some statuses share words, too. */
const STATUSES = {
  insufficient_balance: 402,
  rate_limited: 429,
  spend_cap_held: 429,
  upstream_failed: 503,
  upstream_overloaded: 503,
  502: 503,
}

/** @param {{ status?: number, code?: string, error?: string }} fault from a reply's status or a stream's event */
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

/**
 * A notice with these words, in which `[words](/path)` becomes a link to one of our pages. The link opens a tab of its own,
 * because the conversation is gone when this page is left.
 */
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
      link.target = '_blank'
      link.textContent = label
    }
  }
  return element
}
