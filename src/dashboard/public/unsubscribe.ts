/**
 * Unsubscribes from one kind of email through the signed link in the email's footer. Opening the link changes nothing, because
 * mail scanners open links; the page asks first. Mail programs post to the link without asking (RFC 8058).
 */

import { switchMailOff } from '../../alerts/settings.ts'
import { readUnsubscribeToken } from '../../alerts/unsubscribe.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { kindKey } from '../people/alerts.ts'
import { text } from '../texts/index.ts'

const PATH = '/unsubscribe'

export const UNSUBSCRIBE_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: PATH,
    authentication: 'none',
    purpose: 'Asks whether to end mails of a kind',
    handle: request => page(request, false),
  },
  {
    method: 'POST',
    path: PATH,
    authentication: 'none',
    fromAnywhere: true,
    purpose: 'Ends them',
    handle: request => page(request, true),
  },
]

const TOKEN_CHARACTERS_MAX = 200

async function page(request: PageRequest, isDecided: boolean): Promise<Answer> {
  const { options, language, query } = request
  const token = query.text('token', TOKEN_CHARACTERS_MAX)
  const wanted = readUnsubscribeToken(options.alerts.secrets.peppers, token)
  if (wanted !== null && isDecided) await switchMailOff(options.sql, wanted.accountId, wanted.kind)
  const kind = wanted === null ? '' : text(language, kindKey(wanted.kind))
  return {
    kind: 'page',
    template: 'unsubscribe',
    title: text(language, 'unsubscribe.title'),
    status: wanted === null ? 422 : 200,
    data: {
      action: `${PATH}${query.with({})}`,
      message: text(
        language,
        wanted === null ? 'unsubscribe.invalid' : isDecided ? 'unsubscribe.done' : 'unsubscribe.lead',
        { kind },
      ),
      isValid: wanted !== null,
      isAsked: wanted !== null && !isDecided,
    },
  }
}
