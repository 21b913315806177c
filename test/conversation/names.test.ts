/** Names of tools and ids of calls that an upstream does not accept. */

import { expect, test, vi } from 'vitest'
import { idInForm, ToolNames } from '../../src/conversation/names.ts'

const RULES = { nameMax: 64, nameStart: 'letter' } as const

test.each(['/'.repeat(200_000), `1${'😀'.repeat(200_000)}`, 'a.'.repeat(200_000)])(
  'are replaced by their beginning and a hash; nothing else of a long one is rewritten (%#)',
  name => {
    const replace = vi.spyOn(String.prototype, 'replace')
    const given = new ToolNames([name], RULES).upstream(name)
    const id = idInForm(name, 'word')
    const rewritten = replace.mock.contexts.map(context => String(context).length)
    replace.mockRestore()
    expect(given).toMatch(/^[a-zA-Z][\w-]{54}_[0-9a-f]{8}$/)
    expect(id).toMatch(/^[\w-]{47}_[0-9a-f]{16}$/)
    expect(Math.max(...rewritten)).toBeLessThanOrEqual(64)
  },
)
