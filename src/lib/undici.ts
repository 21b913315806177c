/**
 * The parts of undici that are used here, by their own files: its index loads a browser's fetch, WebSocket and cache and
 * a set of mocks as well, which is 35 ms of each start.
 */

import { createRequire } from 'node:module'
import type undici from 'undici'

const require = createRequire(import.meta.url)
const Client: typeof undici.Client = require('undici/lib/dispatcher/client.js')
const Agent: typeof undici.Agent = require('undici/lib/dispatcher/agent.js')
const Dispatcher: typeof undici.Dispatcher = require('undici/lib/dispatcher/dispatcher.js')

// As the index does it: `request` and its like become methods.
Object.assign(Dispatcher.prototype, require('undici/lib/api/index.js'))

/** One connection to an origin such as `https://example.com`. */
export function openClient(origin: string, options: undici.Client.Options): undici.Client {
  return new Client(origin, options)
}

/** Connections to any origin. */
export function openAgent(options: undici.Agent.Options = {}): undici.Agent {
  return new Agent(options)
}

/** `request` of the index, by a dispatcher that is named. */
export function requestUrl(
  dispatcher: undici.Dispatcher,
  url: URL,
  options: Omit<undici.Dispatcher.RequestOptions, 'origin' | 'path'>,
): Promise<undici.Dispatcher.ResponseData> {
  return dispatcher.request({ ...options, origin: url.origin, path: `${url.pathname}${url.search}` })
}
