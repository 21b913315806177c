/** Checks of targets and upstreams: what is named must exist, and must speak the format. */

import { ENDPOINT_ORDER } from '../../src/catalogue/endpoints.ts'
import { didYouMean, nearestWord } from '../spelling.ts'
import { isStandard, servedEndpoints, UPSTREAM_ENDPOINTS } from '../standards.ts'
import {
  asList,
  asNumber,
  asRecord,
  asText,
  type CatalogueView,
  type EntryView,
  type HostView,
  type Report,
  type TargetView,
} from '../view.ts'
import { isOfSpareFile } from './entries.ts'

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost)(:|\/|$)/

export function checkHosts(view: CatalogueView, report: Report): void {
  for (const host of view.hosts.values()) {
    const url = asText(host.value.base_url)
    if (url.startsWith('http://') && !LOOPBACK.test(url)) {
      report(host, ['base_url'], 'insecure-url', `${url} is not encrypted`, `write https://${url.slice(7)}`)
    }
    const auth = asRecord(host.value.auth)
    if (auth.scheme === 'header' && auth.header === undefined) {
      report(
        host,
        ['auth'],
        'auth-incomplete',
        'the scheme "header" needs to know the header',
        'write `header: api-key` beside it',
      )
    }
    if (auth.scheme === 'sigv4' && auth.region === undefined) {
      report(
        host,
        ['auth'],
        'auth-incomplete',
        'the scheme "sigv4" needs a region',
        'write `region: us-east-1` beside it',
      )
    }
    if (url.includes('{region}') && auth.region === undefined && auth.scheme !== 'sigv4') {
      report(
        host,
        ['auth'],
        'auth-incomplete',
        'the address needs a region',
        'write `region: us-east-1` beside the scheme',
      )
    }
    if (!host.isUsed && Object.keys(host.value).length > 0) {
      report(
        host,
        [],
        'unused-upstream',
        `no entry uses the upstream "${host.id}"`,
        'leave it out if it is not needed',
        'key',
      )
    }
  }
}

export function checkTargets(view: CatalogueView, report: Report): void {
  checkShared(view, report)
  for (const entry of view.entries) {
    const seen = new Set<string>()
    for (const target of entry.targets) {
      if (target.via === '') continue
      const host = view.hosts.get(target.via)
      if (host === undefined) {
        if (view.hosts.size > 0 && !isMisspeltHost(view, target.via)) {
          report(
            target,
            ['via'],
            'unknown-upstream',
            `"${target.via}" is not in upstreams.yaml`,
            didYouMean(
              target.via,
              [...view.hosts.keys()].filter(id => HOST_ID.test(id)),
            ),
          )
        }
      } else checkFormat(entry, target, host, report)
      const key = JSON.stringify([target.via, target.value.model])
      if (seen.has(key)) {
        report(
          target,
          ['via'],
          'upstream-repeated',
          `"${target.via}" with this model stands in the list already`,
          'leave one out',
        )
      }
      seen.add(key)
    }
    checkWeights(entry, report)
    checkEndpoints(view, entry, report)
  }
}

/** Keys of `paths`; see the schema. */
const PATH_KEYS: ReadonlySet<string> = new Set([...ENDPOINT_ORDER, 'chat_completions_prefilled', 'models'])

const HOST_ID = /^[a-z][a-z0-9-]*$/

/** An id that upstreams.yaml has in a form that ids cannot have is a finding there. */
function isMisspeltHost({ hosts }: CatalogueView, via: string): boolean {
  const misspelt = [...hosts.keys()].filter(id => !HOST_ID.test(id))
  return nearestWord(via, misspelt) !== undefined
}

function checkFormat(entry: EntryView, target: TargetView, host: HostView, report: Report): void {
  const standard = asText(target.value.standard) || entry.standard
  if (!isStandard(standard)) return
  const paths = asRecord(host.value.paths)
  // Paths that are not there, or not of an endpoint, are findings of their own.
  if (Object.keys(paths).length === 0 || !Object.keys(paths).every(key => PATH_KEYS.has(key))) return
  const missing = UPSTREAM_ENDPOINTS[standard].needed.filter(endpoint => !Object.hasOwn(paths, endpoint))
  if (missing.length === 0) return
  const message = `"${host.id}" has no path for ${missing.join(', ')}, which ${standard} needs`
  const speaks = ['messages', 'chat_completions'].filter(word => Object.hasOwn(paths, word) && word !== standard)
  const fix =
    speaks.length > 0
      ? `write \`standard: ${speaks[0]}\` in the target, or add the path`
      : 'add the path in upstreams.yaml'
  report(target, ['via'], 'format-unreachable', message, fix)
}

/** One model of an upstream is one model here: what was copied from a neighbour still names that. */
function checkShared(view: CatalogueView, report: Report): void {
  const users = new Map<string, EntryView>()
  for (const entry of view.entries) {
    // What goes out of use may be served by what comes after it.
    if (entry.deprecated.retires !== undefined) continue
    for (const target of entry.targets) {
      const key = JSON.stringify([target.via, target.value.model])
      const first = users.get(key)
      if (first === undefined) users.set(key, entry)
      else if (first.model !== entry.model && !isOfSpareFile(entry, first)) {
        const message = `"${first.id}" of another model goes to "${asText(target.value.model)}" too`
        report(target, ['model'], 'target-shared', message, 'make sure that this is no leftover of a copy')
      }
    }
  }
}

function checkWeights(entry: EntryView, report: Report): void {
  const weights = entry.targets.map(target => target.value.weight)
  if (entry.targets.length === 0 || weights.some(weight => asNumber(weight) !== 0)) return
  report(
    entry,
    ['upstream'],
    'upstream-weightless',
    `every target of "${entry.id}" has the weight 0`,
    'leave the weights out (then they are tried in order), or give one more than 0',
  )
}

function checkEndpoints(view: CatalogueView, entry: EntryView, report: Report): void {
  const wanted = asList(entry.model.value.endpoints)
  if (wanted.length === 0 || entry.model.entries[0] !== entry) return
  const served = new Set<unknown>()
  for (const each of entry.model.entries) {
    for (const target of each.targets) {
      const standard = asText(target.value.standard) || entry.standard
      const host = view.hosts.get(target.via)
      if (host === undefined || !isStandard(standard)) return
      for (const endpoint of servedEndpoints(standard, asRecord(host.value.paths))) served.add(endpoint)
    }
  }
  for (const [index, endpoint] of wanted.entries()) {
    if (served.has(endpoint)) continue
    report(
      entry.model,
      ['endpoints', index],
      'endpoint-unserved',
      `no target of the model serves ${String(endpoint)}`,
      'leave it out, or add the path in upstreams.yaml',
    )
  }
}
