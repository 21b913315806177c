/**
 * Which sites may submit forms, and what differs in production. For who may call which route, see test/security/routes.test.ts.
 */

import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAGES } from '../../src/dashboard/pages.ts'
import { PRODUCTION, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { Visitor } from './visitor.ts'

let running: TestGateway
let customer: Visitor
beforeAll(async () => {
  running = await startTestGateway()
  customer = new Visitor(running.url)
  await customer.signUp('customer@example.com')
})
afterAll(() => running.close())

/** The path with placeholder values that match nothing. */
function filled(path: string): string {
  return path.replace(':id', '999999').replace(':code', 'ST0000000000')
}

test('no form is accepted from another site, whatever headers it sends', async () => {
  const forms = PAGES.filter(page => page.method === 'POST')
  // Mail clients post to this route with a signed token.
  expect(forms.filter(page => page.fromAnywhere === true).map(page => page.path)).toEqual(['/unsubscribe'])
  const pages = forms.filter(page => page.fromAnywhere !== true)
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${running.url}.evil.example` },
    { origin: '', 'sec-fetch-site': 'cross-site' },
    { origin: '', 'sec-fetch-site': 'same-site' },
    { origin: '', 'sec-fetch-site': 'none' },
    { origin: '' },
  ]
  for (const { path } of pages) {
    for (const headers of foreign) {
      expect([path, headers, (await customer.post(filled(path), {}, headers)).status]).toEqual([path, headers, 403])
    }
  }
  // Forms are accepted from the pages' own origin, and from browsers that send no origin but mark the request as same-origin.
  expect((await customer.post('/topup', { amount: '1' }, { origin: 'http://gateway.test' })).status).toBe(422)
  expect((await customer.post('/topup', { amount: '1' }, { origin: '', 'sec-fetch-site': 'same-origin' })).status).toBe(
    422,
  )
})

test('no path of a request can make a redirect lead to another host', async () => {
  const ask = (path: string) =>
    new Promise<{ status: number; location: string }>((resolve, reject) => {
      // Unlike fetch, this sends the path unchanged.
      request(running.url, { path, headers: { accept: 'text/html' } }, answer => {
        answer.resume()
        resolve({ status: answer.statusCode ?? 0, location: answer.headers.location ?? '' })
      })
        .on('error', reject)
        .end()
    })
  for (const path of ['/models/..//evil.example', '/models/%2e%2e//evil.example', '//', '///', '//evil.example:x']) {
    expect((await ask(`${path}?language=en`)).location).not.toMatch(/^\/[/\\]/)
    expect([path, (await ask(path)).status]).not.toEqual([path, 500])
  }
})

test('the replies to forms link only to pages that can be opened', async () => {
  await customer.topUp('50.000')
  const { path } = await customer.createKey('laptop')
  const answers = [
    await customer.post(`${path}/show`, { password: 'not mine at all' }),
    await customer.post(`${path}/settings`, { cap: 'much' }),
    await customer.post('/topup/ST0000000000/cancel'),
  ]
  for (const { html } of answers) {
    const link = /href="([^"]*)language(?:=|&#x3D;)vi"/.exec(html)?.[1]?.replaceAll('&#x3D;', '=')
    expect(link).toMatch(/^\/(keys|topup)\/\w+\?$/)
  }
  expect((await customer.get(path)).status).toBe(200)
})

test('in production the session cookie is bound to the host, search engines are let in, and there is no outbox', async () => {
  const production = await startTestGateway({ environment: PRODUCTION })
  try {
    const visitor = new Visitor(production.url)
    expect((await visitor.get('/development/outbox')).status).toBe(404)
    expect((await visitor.get('/robots.txt')).html).toBe(
      'User-agent: *\nDisallow: /v1/\nAllow: /\n\nSitemap: https://gateway.test/sitemap.xml\n',
    )
    const { headers } = await visitor.get('/?language=vi')
    expect(headers.getSetCookie()[0]).toContain('Secure')
    expect(headers.get('strict-transport-security')).toContain('max-age=')
    // Forms are accepted only if they come from the public address.
    const form = { email: 'a@example.com', password: 'x' }
    expect((await visitor.post('/signin', form)).status).toBe(403)
    expect((await visitor.post('/signin', form, { origin: 'https://gateway.test' })).status).toBe(422)
    const old = 'session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    expect((await visitor.get('/overview', { cookie: old })).status).toBe(303)
  } finally {
    await production.close()
  }
})
