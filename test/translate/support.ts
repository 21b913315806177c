/** Helpers for tests of translators: dialects with the schema's defaults, and contexts with predictable ids. */

import { readFileSync } from 'node:fs'
import { resolveFacts } from '../../codegen/dialect.ts'
import type { DialectFacts } from '../../codegen/generated/types.ts'
import { makeEnvelopeSigner } from '../../src/conversation/envelope.ts'
import { dataOf } from '../../src/conversation/stream-event.ts'
import { FORMATS } from '../../src/formats/index.ts'
import type { Dialect, ModelEntry, UpstreamTarget } from '../../src/generated/types.ts'
import { decodeText } from '../../src/lib/byte-text.ts'
import type { SecretSet } from '../../src/lib/secrets.ts'
import { translatorFor } from '../../src/translate/convert.ts'
import { envelopesOf } from '../../src/translate/envelopes.ts'
import type {
  ChatFormat,
  JsonObject,
  StreamTranslation,
  TranslationContext,
  UpstreamEvent,
} from '../../src/translate/translator.ts'

/** Translators by client format and wire. */
export const messagesViaChat = translatorFor('messages', 'chat_completions')
export const chatViaMessages = translatorFor('chat_completions', 'messages')

export const KEYS: SecretSet = { currentId: 1, secrets: new Map([[1, Buffer.alloc(32, 7)]]) }

/** Makes and opens the envelopes that carry encrypted reasoning, as the contexts of `contextOf` do. */
export const ENVELOPES = makeEnvelopeSigner(KEYS, '1')

/** Replays a non-streamed reply as the events of a stream, with their data as text. */
export function replayAsEvents(format: ChatFormat, reply: JsonObject): UpstreamEvent[] {
  return FORMATS[format].replay(reply).map(event => ({ name: event.name, data: dataOf(event) }))
}

const SCHEMA = JSON.parse(readFileSync(new URL('../../schemas/dialect.schema.json', import.meta.url), 'utf8'))

/** A complete dialect: the given settings, written as in the catalogue, and the schema's defaults for all others. */
export function dialectOf(facts: DialectFacts = {}): Dialect {
  return resolveFacts(SCHEMA, [{ ...facts }]) as unknown as Dialect
}

export interface ContextFacts {
  readonly upstream: ChatFormat
  readonly dialect?: Dialect
  readonly entry?: Partial<ModelEntry>
  readonly betas?: readonly string[]
}

/** A context with ids 1, 2, 3… and a fixed clock. */
export function contextOf({
  upstream,
  dialect = dialectOf(),
  entry = {},
  betas = [],
}: ContextFacts): TranslationContext {
  let ids = 0
  const target: UpstreamTarget = {
    via: 'somewhere',
    model: 'upstream-model',
    weight: 0,
    cost: [],
    standard: upstream,
    dialect,
    extras: { fields: {}, tools: {} },
    rules: [],
  }
  return {
    entry: { ...ENTRY, apiStandard: upstream, upstreams: [target], ...entry },
    target,
    clientModel: 'client-model',
    betas,
    newId: () => {
      ids += 1
      return String(ids)
    },
    nowSeconds: 1_790_000_000,
    clock: () => 1_790_000_009,
    inputTokensEstimate: 42,
    countInputTokens: () => 42,
    envelopes: envelopesOf(ENVELOPES, target.via),
  }
}

const ENTRY: ModelEntry = {
  id: 'client-model',
  name: 'Client Model',
  description: 'A model.',
  kind: 'chat',
  vendor: 'vendor',
  family: 'family',
  channel: 'standard',
  apiStandard: 'messages',
  endpoints: ['messages', 'chat_completions'],
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  contextTokens: 200_000,
  outputTokensMax: 32_000,
  price: { vnd: 1_500, per: 'mtok' },
  modelName: 'Model',
  descriptionVi: null,
  releasedOn: null,
  holdOutputTokens: 4_096,
  imagesMax: 1,
  referencesMax: 1,
  tokenFactor: 1,
  counting: {
    requestTokens: 3,
    turnTokens: 3,
    toolInstructionsTokens: 12,
    pageTokens: 2_200,
    picture: { edgePixelsMax: 1_568, pixelsPerToken: 750, tokensMax: 1_600, unknownTokens: 1_600 },
  },
  aliases: [],
  deprecated: null,
  upstreams: [],
}

/** Everything that a client gets for these events, including the end. */
export function drain(stream: StreamTranslation, events: readonly UpstreamEvent[]): string {
  return events.map(event => decodeText(stream.push(event))).join('') + decodeText(stream.end())
}

/** Writes events of a messages stream, each named after its type. */
export function messagesEvents(...events: { type: string }[]): UpstreamEvent[] {
  return events.map(event => ({ name: event.type, data: JSON.stringify(event) }))
}

/** Writes events of a chat stream; strings are sent unchanged. */
export function chatEvents(...chunks: (object | string)[]): UpstreamEvent[] {
  return chunks.map(chunk => ({ name: '', data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) }))
}
