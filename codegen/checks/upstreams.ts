/** Checks targets and upstreams: each upstream that a target names must exist and speak the target's format. */

import { ENDPOINT_ORDER } from '../../src/catalogue/endpoints.ts'
import { didYouMean, nearestWord } from '../spelling.ts'
import { isStandard, KINDS, prefixOf, servedEndpoints, UPSTREAM_ENDPOINTS } from '../standards.ts'
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
import { isFromDuplicateFamilyFile } from './entries.ts'

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost)(:|\/|$)/

export function checkHosts(view: CatalogueView, report: Report): void {
  for (const host of view.hosts.values()) {
    const url = asText(host.value.base_url)
    if (url.startsWith('http://') && !LOOPBACK.test(url)) {
      const variable = `UPSTREAM_${host.id.toUpperCase().replaceAll('-', '_')}_BASE_URL`
      const fix = `write https://${url.slice(7)}; in a network of your own, set ${variable} to the plain address instead`
      report(host, ['base_url'], 'insecure-url', `${url} is not encrypted`, fix)
    }
    const auth = asRecord(host.value.auth)
    if (auth.scheme === 'header' && auth.header === undefined) {
      report(
        host,
        ['auth'],
        'auth-incomplete',
        'the scheme "header" needs the name of the header',
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
        'remove it if it is not needed',
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
          `"${target.via}" with this model is already in the list`,
          'remove one',
        )
      }
      seen.add(key)
    }
    checkChannel(view, entry, report)
    checkWeights(entry, report)
    checkEndpoints(view, entry, report)
  }
}

/** Keys that the schema allows in `paths`. */
const PATH_KEYS: ReadonlySet<string> = new Set([...ENDPOINT_ORDER, 'chat_completions_prefilled', 'models'])

const HOST_ID = /^[a-z][a-z0-9-]*$/

/** Whether `via` resembles a malformed id in upstreams.yaml. Another check reports the malformed id. */
function isMisspeltHost({ hosts }: CatalogueView, via: string): boolean {
  const misspelt = [...hosts.keys()].filter(id => !HOST_ID.test(id))
  return nearestWord(via, misspelt) !== undefined
}

function checkFormat(entry: EntryView, target: TargetView, host: HostView, report: Report): void {
  const standard = asText(target.value.standard) || entry.standard
  if (!isStandard(standard)) return
  if (isStandard(entry.standard) && KINDS[standard] !== KINDS[entry.standard]) {
    const message = `${standard} is a format for ${KINDS[standard]} models, but "${entry.id}" is a ${KINDS[entry.standard]} model`
    report(target, ['standard'], 'format-kind', message, 'leave it out, or move the entry to a family of that kind')
    return
  }
  const paths = asRecord(host.value.paths)
  // Other checks report missing paths and paths for unknown endpoints.
  if (Object.keys(paths).length === 0 || !Object.keys(paths).every(key => PATH_KEYS.has(key))) return
  const missing = UPSTREAM_ENDPOINTS[standard].needed.filter(endpoint => !Object.hasOwn(paths, endpoint))
  if (missing.length === 0) return
  const message = `"${host.id}" has no path for ${missing.join(', ')}, which ${standard} needs`
  const others = KINDS[standard] === 'chat' ? ['messages', 'chat_completions'] : []
  const speaks = others.filter(word => Object.hasOwn(paths, word) && word !== standard)
  const fix =
    speaks.length > 0
      ? `write \`standard: ${speaks[0]}\` in the target, or add the path`
      : 'add the path in upstreams.yaml'
  report(target, ['via'], 'format-unreachable', message, fix)
}

/** Warns about two entries that share one upstream model: probably a copied line that was not edited. */
function checkShared(view: CatalogueView, report: Report): void {
  const users = new Map<string, EntryView>()
  for (const entry of view.entries) {
    // A retiring entry may be served by its successor's model.
    if (entry.deprecated.retires !== undefined) continue
    for (const target of entry.targets) {
      const key = JSON.stringify([target.via, target.value.model])
      const first = users.get(key)
      if (first === undefined) users.set(key, entry)
      else if (first.model !== entry.model && !isFromDuplicateFamilyFile(entry, first)) {
        const message = `"${first.id}" of another model also goes to "${asText(target.value.model)}"`
        report(target, ['model'], 'target-shared', message, 'make sure that this is not left over from a copied line')
      }
    }
  }
}

/** Warns about an AWS entry that is a copy of the standard one: its callers pay for AWS. Requests to AWS itself are signed. */
function checkChannel(view: CatalogueView, entry: EntryView, report: Report): void {
  if (view.service === '' || prefixOf(entry.id) !== view.service) return
  for (const target of entry.targets) {
    if (asRecord(view.hosts.get(target.via)?.value.auth).scheme === 'sigv4') continue
    const standard = entry.model.entries.find(({ id, targets: [first] }) => {
      const isSame = first?.via === target.via && first.value.model === target.value.model
      return prefixOf(id) !== view.service && isSame
    })
    if (standard === undefined) continue
    const message = `"${entry.id}" on the AWS channel goes to "${target.via}", like "${standard.id}"`
    report(target, ['via'], 'channel-shared', message, 'name the upstream on AWS, with its name for the model')
  }
}

function checkWeights(entry: EntryView, report: Report): void {
  const weights = entry.targets.map(target => target.value.weight)
  if (entry.targets.length === 0 || weights.some(weight => asNumber(weight) !== 0)) return
  report(
    entry,
    ['upstream'],
    'upstream-weightless',
    `every target of "${entry.id}" has weight 0`,
    'leave the weights out (then targets are tried in order), or give at least one a weight above 0',
  )
}

function checkEndpoints(view: CatalogueView, entry: EntryView, report: Report): void {
  const wanted = asList(entry.model.value.endpoints)
  if (wanted.length === 0 || entry.model.entries[0] !== entry) return
  const served = new Set<unknown>()
  const unserved: EntryView[] = []
  for (const each of entry.model.entries) {
    let common = wanted
    for (const target of each.targets) {
      const standard = asText(target.value.standard) || entry.standard
      const host = view.hosts.get(target.via)
      if (host === undefined || !isStandard(standard)) return
      const endpoints: readonly unknown[] = servedEndpoints(standard, asRecord(host.value.paths))
      for (const endpoint of endpoints) served.add(endpoint)
      common = common.filter(endpoint => endpoints.includes(endpoint))
    }
    if (common.length === 0) unserved.push(each)
  }
  if (wanted.some(endpoint => served.has(endpoint))) {
    for (const each of unserved) {
      const message = `no endpoint of the model is served by every target of "${each.id}", so it cannot be called`
      report(each, ['upstream'], 'endpoint-unserved', message, 'name upstreams with a path for one of its `endpoints`')
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
