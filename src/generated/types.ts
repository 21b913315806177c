// placeholder for the generated types: the shape that the engine reads
export type Channel = 'standard' | 'aws'
export type ModelKind = 'chat' | 'image' | 'speech'
/** The wire format that a model's upstream speaks. */
export type ApiStandard = 'messages' | 'chat_completions' | 'images' | 'speech'
export type Endpoint =
  | 'messages'
  | 'chat_completions'
  | 'responses'
  | 'images_generations'
  | 'images_edits'
  | 'audio_speech'
export type Capability = 'reasoning' | 'vision' | 'tools' | 'streaming'
export interface Price {
  readonly vnd: number
  readonly per: 'mtok' | 'request' | 'image'
}
export type Rule = Readonly<Record<string, unknown>>
export type Dialect = Readonly<Record<string, unknown>>
export interface UpstreamTarget {
  /** Id of an upstream in the upstreams table. */
  readonly via: string
  /** The upstream's own name of the model. */
  readonly model: string
  /** 0 means: only in order; else the share among targets of one entry. */
  readonly weight: number
  readonly standard: ApiStandard
  readonly dialect: Dialect
  readonly rules: readonly Rule[]
}
export interface ModelEntry {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly kind: ModelKind
  readonly vendor: string
  readonly family: string
  readonly channel: Channel
  readonly apiStandard: ApiStandard
  readonly endpoints: readonly Endpoint[]
  readonly capabilities: readonly Capability[]
  readonly contextTokens: number | null
  readonly outputTokensMax: number | null
  readonly price: Price
  /** ISO date or null where unknown. */
  readonly releasedOn: string | null
  /** Output tokens that a hold assumes when the call allows more. */
  readonly holdOutputTokens: number
  readonly imagesMax: number
  readonly upstreams: readonly UpstreamTarget[]
}
export interface Upstream {
  readonly id: string
  readonly baseUrl: string
  readonly wire: 'plain' | 'bedrock'
  readonly paths: Readonly<Partial<Record<Endpoint, string>>>
  readonly auth: { readonly scheme: 'bearer' | 'x-api-key' | 'sigv4' | 'header'; readonly header: string }
  /** Sent on every call. */
  readonly headers: Readonly<Record<string, string>>
  /** Client headers that may be forwarded, lower case (the betas header of the messages format). */
  readonly forwardHeaders: readonly string[]
  readonly connectTimeoutMs: number
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly totalTimeoutMs: number
}
export interface CatalogueSettings {
  /** The service's own name: headers `x-<service>-…`, channel prefix `<service>/`, key prefix `sk-<service>-`. */
  readonly service: string
  /** Entry that unknown names on the chat endpoints map to. */
  readonly fallback: string
  readonly aliases: Readonly<Record<string, string>>
  /** SHA-256 of the sources, hex: names the catalogue in force. */
  readonly digest: string
}
