/**
 * Shared by the doubles (fake servers) of Harbour and Orchard, the two providers in this folder: an HTTP server on a loopback
 * port, strict request checks, and the scripted replies.
 */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
}

export interface Double {
  readonly url: string
  /** Calls that the double has answered. `refused` lists those that it has refused, with the reasons. */
  readonly served: readonly Received[]
  readonly refused: readonly { readonly call: Received; readonly reason: string }[]
  /** Empties `served` and `refused`. */
  forget(): void
  close(): Promise<void>
}

/** Thrown by a double for anything that its API does not accept. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, reason: string) {
    super(reason)
    this.status = status
  }
}

export interface Answer {
  readonly headers?: Readonly<Record<string, string>>
  /** A JSON value, or the events of a stream, already serialized. */
  readonly body: JsonValue | readonly string[]
}

export interface DoubleScript {
  /** Answers a call, or throws Refusal. */
  answer(call: Received): Answer
  /** The body of an error in the provider's own shape. */
  errorBody(refusal: Refusal): JsonValue
}

export async function startDouble({ answer, errorBody }: DoubleScript): Promise<Double> {
  const served: Received[] = []
  const refused: { call: Received; reason: string }[] = []
  const server = createServer((request, response) => {
    void readCall(request).then(call => {
      try {
        const { headers = {}, body } = answer(call)
        served.push(call)
        write(response, headers, body)
      } catch (error) {
        const refusal = error instanceof Refusal ? error : new Refusal(500, String(error))
        refused.push({ call, reason: refusal.message })
        response.writeHead(refusal.status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(errorBody(refusal)))
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served,
    refused,
    forget() {
      served.length = 0
      refused.length = 0
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readCall(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const body = (text === '' ? {} : JSON.parse(text)) as JsonObject
  return { path: request.url ?? '', headers: request.headers, body }
}

function write(response: ServerResponse, headers: Readonly<Record<string, string>>, body: Answer['body']): void {
  const isStream = Array.isArray(body) && typeof body[0] === 'string'
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json', ...headers })
  if (!isStream) {
    response.end(JSON.stringify(body))
    return
  }
  for (const event of body) response.write(event)
  response.end()
}

/** Returns the value as an object; refuses members that are not listed, with `<place>: not supported`. */
export function onlyKeys(value: JsonValue | undefined, known: readonly string[], place: string): JsonObject {
  if (!isObject(value)) throw new Refusal(400, `${place}: an object was expected`)
  const foreign = Object.keys(value).find(key => !known.includes(key))
  if (foreign !== undefined) throw new Refusal(400, `${place}${place === '' ? '' : '.'}${foreign}: not supported`)
  return value
}

export function refuseUnless(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Refusal(400, reason)
}

/**
 * The script: a person asks about the weather, the model calls a tool once, gets its result and answers; or it returns an object
 * that matches a schema.
 */
export const ANSWER = 'Ở Hà Nội trời nắng, 31 °C.'
export const THOUGHT = 'Người dùng hỏi về thời tiết.'
export const OBJECT = { city: 'Hà Nội', degrees: 31 }
export const TOOL_INPUT = { city: 'Hà Nội' }
/** Tokens that each reply reports. Reasoning is part of the output, and cached tokens are part of the input. */
export const USED = { input: 1234, cached: 400, output: 77, thought: 33 }
