/** A trace collector on a real socket: accepts OTLP batches over HTTP as JSON, refuses them, or never replies. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedSpan {
  readonly name: string
  /** Kind in OTLP: 2 is a server span, 3 a client span. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Readonly<Record<string, unknown>>
  /** Status in OTLP: 2 means that the span ended in an error. */
  readonly statusCode: number
  /** Attributes of the service that sent the span. */
  readonly resource: Readonly<Record<string, unknown>>
}

export interface Collector {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** The body of every request, as received. */
  readonly bodies: readonly string[]
  readonly headers: readonly IncomingHttpHeaders[]
  /** What the collector does with further batches. */
  behaviour: 'take' | 'refuse' | 'hang'
  /** Resolves once the spans received so far satisfy `isMet`; rejects after a minute. */
  until(isMet: (spans: readonly ReceivedSpan[]) => boolean): Promise<void>
  close(): Promise<void>
}

const PATIENCE_MS = 60_000

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const waiters = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    bodies.push(body)
    headers.push(request.headers)
    if (collector.behaviour === 'take') {
      spans.push(...spansOf(JSON.parse(body)))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}')
    } else if (collector.behaviour === 'refuse') response.writeHead(400).end()
    for (const wake of waiters) wake()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    behaviour: 'take',
    until(isMet) {
      if (isMet(spans)) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const end = (act: () => void) => {
          clearTimeout(timer)
          waiters.delete(wake)
          act()
        }
        const wake = () => isMet(spans) && end(resolve)
        const timer = setTimeout(
          () => end(() => reject(new Error(`the collector has ${JSON.stringify(spans.map(({ name }) => name))}`))),
          PATIENCE_MS,
        )
        waiters.add(wake)
      })
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return collector
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  return body
}

interface KeyValue {
  readonly key: string
  readonly value: {
    readonly stringValue?: string
    readonly boolValue?: boolean
    readonly intValue?: number | string
    readonly doubleValue?: number
  }
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes' | 'statusCode' | 'resource'> & {
        readonly attributes: readonly KeyValue[]
        readonly status: { readonly code?: number }
      })[]
    }[]
  }[]
}

function spansOf({ resourceSpans }: Request): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(scope =>
      scope.spans.map(({ attributes, status, ...span }) => ({
        ...span,
        attributes: valuesOf(attributes),
        statusCode: status.code ?? 0,
        resource: valuesOf(resource.attributes),
      })),
    ),
  )
}

function valuesOf(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  )
}
