/** The OpenAPI 3.1 document, and a page that shows it. */

import type { Catalogue } from '../../catalogue/catalogue.ts'
import type { Operation } from '../../endpoints/endpoint.ts'
import { ERRORS } from '../../errors.ts'
import { TAG } from '../../ledger/check.ts'
import { API_ROUTES } from '../endpoints.ts'
import { SCHEMAS, type Schema } from './schemas.ts'

export interface OpenApiOptions {
  readonly catalogue: Catalogue
  readonly publicUrl: string
}

export interface DescribedOperation {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly fields: readonly { name: string; type: string; required: boolean; description: string }[]
  readonly answers: readonly { status: string; description: string }[]
  readonly example: string | null
}

export interface OpenApi {
  readonly document: Readonly<Record<string, unknown>>
  readonly operations: readonly DescribedOperation[]
}

/** For each error status, a description that fits all errors with that status. */
const ERROR_MEANINGS: readonly (readonly [status: number, meaning: string])[] = [
  [400, 'The request is not valid; the message says what to correct.'],
  [401, 'The API key is missing, wrong, revoked, paused or expired.'],
  [402, 'The balance, or the limit of the key, is used up. Top up or raise the limit; the key stays the same.'],
  [403, 'This API key may not call this model.'],
  [404, 'There is no such model or path.'],
  [413, 'The request is too large.'],
  [429, 'Too many calls; try again after the time in `retry-after`.'],
  [502, 'The provider failed; nothing was charged.'],
  [503, 'Not available at the moment; try again later.'],
]

export function describeApi(options: OpenApiOptions): OpenApi {
  const routes = API_ROUTES.flatMap(({ method, path, operationId, operation }) =>
    operationId === undefined || operation === undefined ? [] : [{ method, path, operationId, operation }],
  )
  const { service } = options.catalogue.settings
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { method, path, operationId, operation } of routes) {
    const key = path.replace('*', '{id}')
    const item = paths[key] ?? {}
    paths[key] = item
    item[method.toLowerCase()] = describe(options, operationId, operation, path.endsWith('*'))
  }
  return {
    document: {
      openapi: '3.1.0',
      info: {
        title: `${service} gateway`,
        version: '1',
        description:
          'A prepaid gateway to many AI models, billed in VND. Keep the SDK you have; change its base URL and API key.',
      },
      servers: [{ url: options.publicUrl }],
      security: [{ apiKey: [] }, { bearer: [] }],
      paths,
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
        headers: billingHeaders(service),
        schemas: SCHEMAS,
      },
    },
    operations: routes.map(({ method, path, operationId, operation }) => ({
      method,
      path: path.replace('*', exampleModel(options, operation)),
      operationId,
      summary: operation.summary,
      description: operation.description,
      fields: fieldsOf(operation),
      answers: answersOf(operation).map(([status, description]) => ({ status, description })),
      example: exampleOf(options, operation, 2),
    })),
  }
}

function describe(options: OpenApiOptions, operationId: string, operation: Operation, takesId: boolean) {
  const example = exampleOf(options, operation, 0)
  return {
    operationId,
    summary: operation.summary,
    description: operation.description,
    ...(takesId && {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, description: 'Id or alias.' }],
    }),
    ...(operation.billed && { parameters: [tagParameter(options.catalogue.settings.service)] }),
    ...(operation.request !== null && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: reference(operation.request),
            ...(example !== null && { example: JSON.parse(example) }),
          },
          ...(operation.requestType !== undefined && {
            [operation.requestType]: { schema: reference(operation.request) },
          }),
        },
      },
    }),
    responses: Object.fromEntries(
      answersOf(operation).map(([status, description]) => [
        status,
        { description, ...(status === '200' ? success(options, operation) : { content: json(reference('Error')) }) },
      ]),
    ),
  }
}

function success({ catalogue }: OpenApiOptions, operation: Operation) {
  const content = {
    ...(operation.reply !== null && json(reference(operation.reply))),
    ...(operation.replyType !== undefined && {
      [operation.replyType]: { schema: { type: 'string', format: 'binary' } },
    }),
    ...(operation.streams && { 'text/event-stream': { schema: { type: 'string' } } }),
  }
  if (!operation.billed) return { content }
  const names = Object.keys(billingHeaders(catalogue.settings.service))
  return { headers: Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }])), content }
}

function tagParameter(service: string) {
  return {
    name: `x-${service}-tag`,
    in: 'header',
    required: false,
    schema: { type: 'string', pattern: TAG.source },
    description: 'Your own label for the call. The usage page and its export can be filtered and summed by it.',
  }
}

function billingHeaders(service: string) {
  const header = (description: string) => ({ description, schema: { type: 'string' } })
  return {
    [`x-${service}-model`]: header('The entry that served the call.'),
    [`x-${service}-model-mapped-from`]: header(
      'The model name that was sent, percent-encoded, if it is an alias, unknown or retired and so another entry served the call.',
    ),
    [`x-${service}-price-vnd-per-mtok`]: header("The entry's price in VND per million tokens, input and output alike."),
    [`x-${service}-price-vnd-per-request`]: header("The entry's price in VND per call; for images, per image."),
    [`x-${service}-input-tokens`]: header('Billed input tokens; not on streams.'),
    [`x-${service}-output-tokens`]: header('Billed output tokens; not on streams.'),
    [`x-${service}-output-tokens-max`]: header(
      'Output cap that the balance allowed, if lower than the requested one; not on streams.',
    ),
    [`x-${service}-left-out`]: header(
      'Fields and tools of the request that cost extra and were not sent to the model, comma-separated; absent if there are none.',
    ),
    [`x-${service}-cost-vnd`]: header('Cost of the call in VND, exact; not on streams.'),
    [`x-${service}-balance-vnd`]: header(
      'Balance after the call in VND, exact; not on streams and speech, nor while billing lags behind.',
    ),
    deprecation: header('When the entry was deprecated, as `@` and seconds since 1970 (RFC 9745).'),
    sunset: header('When the entry retires and its successor takes its place, as an HTTP date (RFC 8594).'),
    [`x-${service}-model-successor`]: header('The entry that will replace this one.'),
  }
}

function json(schema: Schema) {
  return { 'application/json': { schema } }
}

function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** Returns the status and description of every possible reply. An operation that is not billed never replies 402 or 502. */
function answersOf({ billed }: Operation): readonly (readonly [string, string])[] {
  const rows = Object.values(ERRORS)
  const errors = ERROR_MEANINGS.filter(([status]) => billed || (status !== 402 && status !== 502)).map(
    ([status, meaning]) => {
      const types = [...new Set(rows.filter(row => row.status === status).map(row => row.type))]
      return [String(status), `${types.map(type => `\`${type}\``).join(', ')}. ${meaning}`] as const
    },
  )
  return [['200', billed ? 'The reply, which is charged.' : 'The reply, which is free.'], ...errors]
}

function fieldsOf({ request }: Operation): DescribedOperation['fields'] {
  if (request === null) return []
  const schema = SCHEMAS[request] as { properties: Record<string, Schema>; required?: string[] }
  return Object.entries(schema.properties).map(([name, field]) => ({
    name,
    type: Array.isArray(field.type) ? field.type.filter(type => type !== 'null').join(' | ') : String(field.type),
    required: schema.required?.includes(name) ?? false,
    description: String(field.description),
  }))
}

/**
 * The model in an operation's example: the fallback entry if its endpoint serves it, otherwise the first entry that it does
 * serve.
 */
function exampleModel({ catalogue }: OpenApiOptions, { endpoint }: Operation): string {
  const { fallback } = catalogue.settings
  const served = catalogue.servedOn(endpoint ?? 'messages').map(item => item.entry.id)
  return served.includes(fallback) ? fallback : (served[0] ?? fallback)
}

function exampleOf(options: OpenApiOptions, operation: Operation, indent: number): string | null {
  if (operation.example === undefined) return null
  return JSON.stringify({ model: exampleModel(options, operation), ...operation.example }, null, indent)
}
