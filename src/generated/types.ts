// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

/** One change to the body that goes upstream, made after conversion. A path that is absent is left alone. Rules run in the order family, model, entry, upstream, target. */
export type Rule = (SetRule | DefaultRule | DropRule | MoveRule | ClampRule | MapRule)

/** An endpoint of the gateway that runs a model. */
export type Endpoint = ("messages" | "chat_completions" | "responses" | "images_generations" | "images_edits" | "audio_speech")

/** The wire format that an upstream speaks. `messages` and `chat_completions` models are served on both chat endpoints; the gateway converts. */
export type ApiStandard = ("messages" | "chat_completions" | "images" | "speech")

/** reasoning: thinks before it answers. vision: accepts images. tools: calls tools. streaming: answers by server-sent events. */
export type Capability = ("reasoning" | "vision" | "tools" | "streaming")

/**
 * Where calls go: one target, or a list that is tried in order (or shared out by weight where weights are given).
 *
 * @minItems 1
 * @maxItems 8
 */
export type UpstreamFacts = TargetFacts | readonly TargetFacts[]

/** What comes out of the model. It follows from `api_standard`. */
export type ModelKind = ("chat" | "image" | "speech")

/** `aws` for ids under the service's own prefix, `standard` for all others. */
export type Channel = ("standard" | "aws")

/** The one root: the files that operators write and the tables that are made from them. Types are generated from here. */
export interface Catalogue {
  readonly catalogue: CatalogueFile
  readonly upstreams: UpstreamsFile
  readonly families: readonly FamilyFile[]
  readonly tables: Tables
}

/** What holds for the whole catalogue: catalogue/catalogue.yaml. */
export interface CatalogueFile {
  /** The service's own name. The headers `x-<service>-…`, the channel prefix `<service>/` and the key prefix `sk-<service>-` follow from it. */
  readonly service: string
  /** The id that clients send: lower case letters, digits, `.`, `_` and `-`; under `req/` when billed per call, under the service's own prefix on the AWS channel. */
  readonly fallback: string
  /** Further names that clients send, each with the entry it means. */
  readonly aliases: {
    /** The id that clients send: lower case letters, digits, `.`, `_` and `-`; under `req/` when billed per call, under the service's own prefix on the AWS channel. */
    readonly [k: string]: string
  }
  readonly defaults: DefaultFacts
  readonly floors: FloorFacts
  readonly counts: CountFacts
}

/** Values for what a model does not say itself. */
export interface DefaultFacts {
  /** Output tokens that a hold assumes when the call allows more. */
  readonly hold_output_tokens: number
  /** Most images that one call may ask for. */
  readonly images_max: number
  /** Calls per minute and key; 0 means no limit. A key may have its own. */
  readonly rate_limit_per_minute: number
  /** Factor from the gateway's own token count to the vendor's, used for estimates only (count_tokens, holds, cut streams). */
  readonly token_factor: number
}

/** Lowest price allowed per unit, in VND: a typing error below it does not ship. */
export interface FloorFacts {
  /** Whole dong. */
  readonly mtok: number
  /** Whole dong. */
  readonly request: number
  /** Whole dong. */
  readonly image: number
}

/** How many entries there must be: a line lost in a merge does not ship. */
export interface CountFacts {
  /** Entries in all, on the AWS channel, and under `req/`. */
  readonly entries: number
  /** Entries in all, on the AWS channel, and under `req/`. */
  readonly aws: number
  /** Entries in all, on the AWS channel, and under `req/`. */
  readonly per_call: number
}

/** The provider APIs that calls can go to: catalogue/upstreams.yaml. Credentials never stand here; they come from the environment (UPSTREAM_<ID>_API_KEY). */
export interface UpstreamsFile {
  /** Each upstream under its id. */
  readonly upstreams: {
    readonly [k: string]: HostFacts
  }
}

/** One provider API. */
export interface HostFacts {
  /** Address without a slash at its end and without credentials. The environment variable UPSTREAM_<ID>_BASE_URL replaces it. */
  readonly base_url: string
  /** plain: JSON and server-sent events. bedrock: AWS invoke; the model stands in the path, streams are AWS event streams. */
  readonly wire?: ("plain" | "bedrock")
  readonly paths: UpstreamPaths
  readonly auth: AuthFacts
  /** Sent on every call, names in lower case. Never a credential. */
  readonly headers?: {
    readonly [k: string]: string
  }
  /**
   * Headers of the client that go upstream, lower case.
   *
   * @maxItems 32
   */
  readonly forward_headers?: readonly string[]
  readonly timeouts?: TimeoutFacts
  readonly dialect?: DialectFacts
  /**
   * Last touch on the body that goes upstream; see the rule vocabulary.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
}

/** Path of each endpoint, appended to the base URL. `{model}` stands for the upstream's name of the model. What is missing is not served. */
export interface UpstreamPaths {
  /** Path below the base URL. */
  readonly messages?: string
  /** Path below the base URL. */
  readonly chat_completions?: string
  /** Path below the base URL. */
  readonly responses?: string
  /** Path below the base URL. */
  readonly images_generations?: string
  /** Path below the base URL. */
  readonly images_edits?: string
  /** Path below the base URL. */
  readonly audio_speech?: string
}

/** How the credential is sent. */
export interface AuthFacts {
  /** bearer: `authorization: Bearer …`. x-api-key: a header of that name. sigv4: signed by AWS access keys. header: the bare credential in the header named. */
  readonly scheme: ("bearer" | "x-api-key" | "sigv4" | "header")
  /** Header of the credential, lower case. Needed with `header` only; the other schemes know theirs. */
  readonly header?: string
  /** AWS region to sign for. Needed with `sigv4` only. */
  readonly region?: string
}

/** Waits in milliseconds. */
export interface TimeoutFacts {
  /** Until the connection stands. */
  readonly connect_ms?: number
  /** From the request sent to the first byte of the reply. */
  readonly first_byte_ms?: number
  /** Longest silence within a reply. */
  readonly idle_ms?: number
  /** The whole call; never above the gateway's own 15 minutes. */
  readonly total_ms?: number
}

/** Facts about what an upstream model accepts. The translators consult them; every key has a default, so only what differs is written. */
export interface DialectFacts {
  /** Field of a chat request that caps the output. */
  readonly max_tokens_field?: ("max_tokens" | "max_completion_tokens")
  /** Role that carries instructions in a chat request. */
  readonly system_role?: ("system" | "developer")
  /** A system message after the first turn: kept in place, hoisted to the front, or turned into user text. */
  readonly mid_system?: ("keep" | "hoist" | "user_text")
  /** User and assistant turns must alternate: consecutive turns of one role are merged. */
  readonly alternate_roles?: boolean
  /** `string`: the upstream wants plain strings wherever a content holds text only. */
  readonly text_content?: ("parts" | "string")
  /** Which sampling parameters are accepted (temperature, top_p, penalties, logit_bias, logprobs). */
  readonly sampling?: ("full" | "none" | "temperature_xor_top_p" | "none_when_thinking")
  /** Highest temperature accepted; higher values are clamped. */
  readonly temperature_max?: number
  /** The upstream takes `top_k`. */
  readonly top_k?: boolean
  /** Most stop sequences accepted; 0: the parameter is refused. */
  readonly stop_max?: number
  /** How reasoning is asked for. */
  readonly reasoning?: {
    /** none: the model takes no reasoning parameter. thinking_type: `thinking: {type}` of a chat request, with `reasoning_effort` where `levels` are given. budget: `thinking: {type: enabled, budget_tokens}`. adaptive: `thinking: {type: adaptive}` with `output_config.effort`. */
    readonly parameter?: ("none" | "reasoning_effort" | "thinking_type" | "enable_thinking" | "budget" | "adaptive")
    /** Effort levels accepted, in any order; a level that is not accepted goes to the nearest one above, else the top. */
    readonly levels?: readonly ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[]
    /** Whether reasoning can be switched off. up_to_high: refused together with an effort above high. */
    readonly off?: ("yes" | "no" | "up_to_high")
    /** `budget_tokens` is accepted where the parameter is adaptive. */
    readonly budget_accepted?: boolean
    /** Reasoning must be off when the call is not streamed. */
    readonly stream_only?: boolean
    /** explicit_none: function tools need `reasoning_effort: none` to be sent. */
    readonly with_tools?: ("yes" | "explicit_none")
    /** Thinking budget in tokens that each effort level stands for, both ways. */
    readonly budgets?: {
      readonly low?: number
      readonly medium?: number
      readonly high?: number
    }
  }
  /** Whether earlier reasoning goes back as `reasoning_content` in the history. */
  readonly reasoning_echo?: ("always" | "if_present" | "never")
  /** Where a chat reply carries its reasoning. */
  readonly reasoning_field?: ("reasoning_content" | "reasoning" | "content_parts")
  /** Whether a tool can be forced (`any`, `required`, a named tool). */
  readonly forced_tool_choice?: ("yes" | "no" | "not_with_thinking")
  /** The flag that forbids parallel tool calls is accepted. */
  readonly parallel_tool_calls?: boolean
  /** Longest tool name accepted. */
  readonly tool_name_max?: number
  /** What a tool name must begin with. */
  readonly tool_name_start?: ("any" | "letter")
  /** Form of tool call ids accepted: word is [a-zA-Z0-9_-], at most 64. */
  readonly tool_id?: ("any" | "word" | "alphanumeric_9")
  /** no_meta_schema: `$schema` is removed from tool parameters. */
  readonly tool_schema?: ("pass" | "no_meta_schema")
  /** Whether `strict` on a tool is accepted where its schema qualifies. */
  readonly tool_strict?: ("pass" | "drop")
  /** Images inside tool results. */
  readonly tool_result_images?: ("native" | "following_user" | "placeholder")
  /** How a JSON schema for the reply is asked for. */
  readonly structured_output?: ("native" | "json_schema" | "json_object" | "tool" | "prompt")
  /** Image URLs: passed on, fetched and sent inline, or refused. */
  readonly image_url?: ("pass" | "inline" | "reject")
  /** An image sent to a model without vision: refused, or replaced by a note. */
  readonly images_unsupported?: ("reject" | "placeholder")
  /** PDF documents: native blocks, chat file parts, their text only, or refused. */
  readonly documents?: ("native" | "file" | "text" | "reject")
  /** Whether a last assistant message is continued, and the flag that asks for it. */
  readonly prefill?: ("yes" | "no" | "prefix" | "partial")
  /** `cache_control` marks. */
  readonly cache_control?: ("pass" | "drop")
  /** Beta flags that may go upstream; `*` means all. */
  readonly betas?: readonly string[]
  /** Further pointers into `usage` that hold cached input tokens. */
  readonly usage_cached_paths?: readonly string[]
  /** Field of a chat request that carries the end user's id. */
  readonly user_field?: ("user" | "safety_identifier" | "user_id" | "none")
  /** Longest end user id accepted; longer ones are hashed. */
  readonly user_max?: number
  /** `stream_options.include_usage` is accepted. */
  readonly stream_options?: boolean
  /** extra_content: tool calls carry a signature that must come back with the same call. */
  readonly thought_signature?: ("none" | "extra_content")
  /** Message threads are accepted. */
  readonly thread?: boolean
}

/** Writes a value, whatever was there. Missing parents are made; `*` reaches existing members only. */
export interface SetRule {
  readonly op: "set"
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly path: string
  /** Any JSON value. */
  readonly value: unknown
  readonly when?: When
  /**
   * Upstream endpoints whose body the rule changes. Default: all.
   *
   * @minItems 1
   */
  readonly on?: readonly Endpoint[]
}

/** The rule runs only when this holds for the whole body. Exactly one of the tests. */
export interface When {
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly path: string
  /** true: the path is there. false: it is absent. */
  readonly exists?: boolean
  /** The value is exactly this; with `*`, one of the members is. */
  readonly equals?: (string | number | boolean | null)
  /**
   * The value is one of these.
   *
   * @minItems 1
   * @maxItems 64
   */
  readonly one_of?: readonly (string | number | boolean | null)[]
}

/** Writes a value where the path is absent. */
export interface DefaultRule {
  readonly op: "default"
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly path: string
  /** Any JSON value. */
  readonly value: unknown
  readonly when?: When
  /**
   * Upstream endpoints whose body the rule changes. Default: all.
   *
   * @minItems 1
   */
  readonly on?: readonly Endpoint[]
}

/** Removes what the path names. */
export interface DropRule {
  readonly op: "drop"
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly path: string
  readonly when?: When
  /**
   * Upstream endpoints whose body the rule changes. Default: all.
   *
   * @minItems 1
   */
  readonly on?: readonly Endpoint[]
}

/** Takes the value from one path to another. What was at the goal is replaced. Each `*` of the goal stands for the member that the same `*` of the source found. */
export interface MoveRule {
  readonly op: "move"
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly from: string
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly to: string
  readonly when?: When
  /**
   * Upstream endpoints whose body the rule changes. Default: all.
   *
   * @minItems 1
   */
  readonly on?: readonly Endpoint[]
}

/** Keeps a number within bounds. Anything but a number is left alone. */
export interface ClampRule {
  readonly op: "clamp"
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly path: string
  /** Smallest value allowed. */
  readonly min?: number
  /** Largest value allowed. */
  readonly max?: number
  readonly when?: When
  /**
   * Upstream endpoints whose body the rule changes. Default: all.
   *
   * @minItems 1
   */
  readonly on?: readonly Endpoint[]
}

/** Replaces a string, number or boolean by the value that the table gives for it. Values that are not in the table stay. */
export interface MapRule {
  readonly op: "map"
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly path: string
  /** Old value (numbers and booleans as text) to new value. */
  readonly values: {
    /** Any JSON value. */
    readonly [k: string]: unknown
  }
  readonly when?: When
  /**
   * Upstream endpoints whose body the rule changes. Default: all.
   *
   * @minItems 1
   */
  readonly on?: readonly Endpoint[]
}

/** One family of models: its facts, its models, and the entries that clients can name. One file per family in catalogue/families/. */
export interface FamilyFile {
  /** Name of the family; the file is called after it. */
  readonly family: string
  /** Who makes the models; clients read it as `owned_by`. */
  readonly vendor: string
  readonly api_standard: ApiStandard
  /** Factor from the gateway's own token count to the vendor's, used for estimates only (count_tokens, holds, cut streams). */
  readonly token_factor?: number
  readonly token_shares?: TokenShares
  readonly dialect?: DialectFacts
  /**
   * Last touch on the body that goes upstream; see the rule vocabulary.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
  /**
   * The models of the family, newest first.
   *
   * @minItems 1
   */
  readonly models: readonly ModelFacts[]
}

/** What joins the token factor by the make of a text, for estimates only: the factor is `token_factor` plus each value times the share it stands for. */
export interface TokenShares {
  /** Times the share of punctuation among visible characters, at most 0.2. */
  readonly symbols?: number
  /** Times the share of capitals among Latin letters, at most 0.2. */
  readonly capitals?: number
  /** Times the share of accented letters among Latin letters, at most 0.3: what sets Vietnamese apart. */
  readonly accents?: number
}

/** One model as its vendor makes it. Its entries share these facts. */
export interface ModelFacts {
  /** Name that people read. AWS and per-call entries get a suffix. */
  readonly name: string
  /** A sentence for the model list. Default: made from the facts. */
  readonly description?: string
  /** Input and output together, in tokens. */
  readonly context_tokens?: number
  /** Most tokens of one reply, reasoning included. */
  readonly output_tokens_max?: number
  /** What the model can do. An empty list for image and speech models. */
  readonly capabilities: readonly Capability[]
  /** A day as YYYY-MM-DD. */
  readonly released?: string
  /**
   * Endpoints that serve the model. Default: all that its kind and its upstreams' paths allow.
   *
   * @minItems 1
   */
  readonly endpoints?: readonly Endpoint[]
  /** Output tokens that a hold assumes when the call allows more. */
  readonly hold_output_tokens?: number
  /** Most images that one call may ask for. */
  readonly images_max?: number
  /** Factor from the gateway's own token count to the vendor's, used for estimates only (count_tokens, holds, cut streams). */
  readonly token_factor?: number
  readonly token_shares?: TokenShares
  readonly deprecated?: DeprecatedFacts
  readonly dialect?: DialectFacts
  /**
   * Last touch on the body that goes upstream; see the rule vocabulary.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
  /**
   * What clients can name: one line per id, price and upstream.
   *
   * @minItems 1
   */
  readonly entries: readonly EntryFacts[]
}

/** Marks what is on its way out. Replies carry a warning; from the day of `retires` the id maps to the successor like an alias. */
export interface DeprecatedFacts {
  /** A day as YYYY-MM-DD. */
  readonly since: string
  /** A day as YYYY-MM-DD. */
  readonly retires?: string
  /** The id that clients send: lower case letters, digits, `.`, `_` and `-`; under `req/` when billed per call, under the service's own prefix on the AWS channel. */
  readonly successor?: string
}

/** One line of the price list: an id, its price, and where calls go. Limits given here may only be narrower than the model's. */
export interface EntryFacts {
  /** The id that clients send: lower case letters, digits, `.`, `_` and `-`; under `req/` when billed per call, under the service's own prefix on the AWS channel. */
  readonly id: string
  /** Replaces the name made from the model's. */
  readonly name?: string
  readonly price: Price
  /** Input and output together, in tokens. */
  readonly context_tokens?: number
  /** Most tokens of one reply, reasoning included. */
  readonly output_tokens_max?: number
  /** Output tokens that a hold assumes when the call allows more. */
  readonly hold_output_tokens?: number
  /** Most images that one call may ask for. */
  readonly images_max?: number
  readonly deprecated?: DeprecatedFacts
  readonly dialect?: DialectFacts
  /**
   * Last touch on the body that goes upstream; see the rule vocabulary.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
  readonly upstream: UpstreamFacts
}

/** What a client pays. Never inherited: every entry states its own. */
export interface Price {
  /** Whole dong, digits only. */
  readonly vnd: number
  /** mtok: per 1,000,000 tokens, input and output alike. request: per call (ids under `req/`). image: per image returned (ids under `req/`). */
  readonly per: ("mtok" | "request" | "image")
}

/** The generated tables that the engine reads. */
export interface Tables {
  readonly entries: readonly ModelEntry[]
  readonly upstreams: readonly Upstream[]
  readonly settings: CatalogueSettings
}

/** One entry that clients can name, with every fact resolved. */
export interface ModelEntry {
  /** The id that clients send. */
  readonly id: string
  /** Name that people read. */
  readonly name: string
  /** A sentence for the model list. */
  readonly description: string
  readonly kind: ModelKind
  /** Who makes the model. */
  readonly vendor: string
  /** Family file that the entry comes from. */
  readonly family: string
  readonly channel: Channel
  readonly apiStandard: ApiStandard
  /** Endpoints that serve the entry. */
  readonly endpoints: readonly Endpoint[]
  /** What the model can do. */
  readonly capabilities: readonly Capability[]
  /** Input and output together; null where it has no meaning. */
  readonly contextTokens: (number | null)
  /** Most tokens of one reply; null where it has no meaning. */
  readonly outputTokensMax: (number | null)
  readonly price: Price
  /** ISO date, or null where unknown. */
  readonly releasedOn: (string | null)
  /** Output tokens that a hold assumes when the call allows more. */
  readonly holdOutputTokens: number
  /** Most images that one call may ask for. */
  readonly imagesMax: number
  /** Factor from the gateway's own token count to the vendor's, for estimates. */
  readonly tokenFactor: number
  readonly tokenShares?: TokenShares
  /** Further names of this entry, sorted. */
  readonly aliases: readonly string[]
  readonly deprecated: (Deprecation | null)
  /** Where calls go, in order. At least one. */
  readonly upstreams: readonly UpstreamTarget[]
}

/** An entry on its way out. */
export interface Deprecation {
  /** ISO date from which clients are warned. */
  readonly sinceOn: string
  /** ISO date (00:00 UTC) from which the id maps to the successor, or null. */
  readonly retiresOn: (string | null)
  /** Entry that takes over, or null. */
  readonly successor: (string | null)
}

/** One place that calls of an entry can go to. */
export interface UpstreamTarget {
  /** Id of an upstream in the upstreams table. */
  readonly via: string
  /** The upstream's own name of the model. */
  readonly model: string
  /** 0 means: only in order; else the share among targets of one entry. */
  readonly weight: number
  readonly standard: ApiStandard
  readonly dialect: Dialect
  /** Changes to the upstream body, in order. */
  readonly rules: readonly Rule[]
}

/** Facts about what an upstream model accepts. The translators consult them; every key has a default, so only what differs is written. */
export interface Dialect {
  /** Field of a chat request that caps the output. */
  readonly maxTokensField: ("max_tokens" | "max_completion_tokens")
  /** Role that carries instructions in a chat request. */
  readonly systemRole: ("system" | "developer")
  /** A system message after the first turn: kept in place, hoisted to the front, or turned into user text. */
  readonly midSystem: ("keep" | "hoist" | "user_text")
  /** User and assistant turns must alternate: consecutive turns of one role are merged. */
  readonly alternateRoles: boolean
  /** `string`: the upstream wants plain strings wherever a content holds text only. */
  readonly textContent: ("parts" | "string")
  /** Which sampling parameters are accepted (temperature, top_p, penalties, logit_bias, logprobs). */
  readonly sampling: ("full" | "none" | "temperature_xor_top_p" | "none_when_thinking")
  /** Highest temperature accepted; higher values are clamped. */
  readonly temperatureMax: number
  /** The upstream takes `top_k`. */
  readonly topK: boolean
  /** Most stop sequences accepted; 0: the parameter is refused. */
  readonly stopMax: number
  readonly reasoning: DialectReasoning
  /** Whether earlier reasoning goes back as `reasoning_content` in the history. */
  readonly reasoningEcho: ("always" | "if_present" | "never")
  /** Where a chat reply carries its reasoning. */
  readonly reasoningField: ("reasoning_content" | "reasoning" | "content_parts")
  /** Whether a tool can be forced (`any`, `required`, a named tool). */
  readonly forcedToolChoice: ("yes" | "no" | "not_with_thinking")
  /** The flag that forbids parallel tool calls is accepted. */
  readonly parallelToolCalls: boolean
  /** Longest tool name accepted. */
  readonly toolNameMax: number
  /** What a tool name must begin with. */
  readonly toolNameStart: ("any" | "letter")
  /** Form of tool call ids accepted: word is [a-zA-Z0-9_-], at most 64. */
  readonly toolId: ("any" | "word" | "alphanumeric_9")
  /** no_meta_schema: `$schema` is removed from tool parameters. */
  readonly toolSchema: ("pass" | "no_meta_schema")
  /** Whether `strict` on a tool is accepted where its schema qualifies. */
  readonly toolStrict: ("pass" | "drop")
  /** Images inside tool results. */
  readonly toolResultImages: ("native" | "following_user" | "placeholder")
  /** How a JSON schema for the reply is asked for. */
  readonly structuredOutput: ("native" | "json_schema" | "json_object" | "tool" | "prompt")
  /** Image URLs: passed on, fetched and sent inline, or refused. */
  readonly imageUrl: ("pass" | "inline" | "reject")
  /** An image sent to a model without vision: refused, or replaced by a note. */
  readonly imagesUnsupported: ("reject" | "placeholder")
  /** PDF documents: native blocks, chat file parts, their text only, or refused. */
  readonly documents: ("native" | "file" | "text" | "reject")
  /** Whether a last assistant message is continued, and the flag that asks for it. */
  readonly prefill: ("yes" | "no" | "prefix" | "partial")
  /** `cache_control` marks. */
  readonly cacheControl: ("pass" | "drop")
  /** Beta flags that may go upstream; `*` means all. */
  readonly betas: readonly string[]
  /** Further pointers into `usage` that hold cached input tokens. */
  readonly usageCachedPaths: readonly string[]
  /** Field of a chat request that carries the end user's id. */
  readonly userField: ("user" | "safety_identifier" | "user_id" | "none")
  /** Longest end user id accepted; longer ones are hashed. */
  readonly userMax: number
  /** `stream_options.include_usage` is accepted. */
  readonly streamOptions: boolean
  /** extra_content: tool calls carry a signature that must come back with the same call. */
  readonly thoughtSignature: ("none" | "extra_content")
  /** Message threads are accepted. */
  readonly thread: boolean
}

/** How reasoning is asked for. */
export interface DialectReasoning {
  /** none: the model takes no reasoning parameter. thinking_type: `thinking: {type}` of a chat request, with `reasoning_effort` where `levels` are given. budget: `thinking: {type: enabled, budget_tokens}`. adaptive: `thinking: {type: adaptive}` with `output_config.effort`. */
  readonly parameter: ("none" | "reasoning_effort" | "thinking_type" | "enable_thinking" | "budget" | "adaptive")
  /** Effort levels accepted, in any order; a level that is not accepted goes to the nearest one above, else the top. */
  readonly levels: readonly ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[]
  /** Whether reasoning can be switched off. up_to_high: refused together with an effort above high. */
  readonly off: ("yes" | "no" | "up_to_high")
  /** `budget_tokens` is accepted where the parameter is adaptive. */
  readonly budgetAccepted: boolean
  /** Reasoning must be off when the call is not streamed. */
  readonly streamOnly: boolean
  /** explicit_none: function tools need `reasoning_effort: none` to be sent. */
  readonly withTools: ("yes" | "explicit_none")
  readonly budgets: DialectReasoningBudgets
}

/** Thinking budget in tokens that each effort level stands for, both ways. */
export interface DialectReasoningBudgets {
  readonly low: number
  readonly medium: number
  readonly high: number
}

/** A provider's API as configured, without credentials. */
export interface Upstream {
  /** Its name in catalogue and environment. */
  readonly id: string
  /** Address without a slash at its end. */
  readonly baseUrl: string
  /** How bodies and streams are framed. */
  readonly wire: ("plain" | "bedrock")
  /** Path of each endpoint below the base URL; `{model}` stands for the upstream's name of the model. */
  readonly paths: Partial<Record<Endpoint, string>>
  readonly auth: UpstreamAuth
  /** Sent on every call. */
  readonly headers: Readonly<Record<string, string>>
  /** Client headers that may be forwarded, lower case. */
  readonly forwardHeaders: readonly string[]
  /** Until the connection stands. */
  readonly connectTimeoutMs: number
  /** From the request sent to the first byte of the reply. */
  readonly firstByteTimeoutMs: number
  /** Longest silence within a reply. */
  readonly idleTimeoutMs: number
  /** The whole call. */
  readonly totalTimeoutMs: number
}

/** How the credential is sent. */
export interface UpstreamAuth {
  /** Form of the credential. */
  readonly scheme: ("bearer" | "x-api-key" | "sigv4" | "header")
  /** Header that carries it, lower case. */
  readonly header: string
  /** AWS region to sign for (sigv4 only). */
  readonly region?: string
}

/** What holds for the whole catalogue. */
export interface CatalogueSettings {
  /** The service's own name: headers `x-<service>-…`, channel prefix `<service>/`, key prefix `sk-<service>-`. */
  readonly service: string
  /** Entry that unknown names on the chat endpoints map to. */
  readonly fallback: string
  /** Further names, each with the entry it means. */
  readonly aliases: Readonly<Record<string, string>>
  /** Calls per minute and key; 0 means no limit. */
  readonly rateLimitPerMinute: number
  /** SHA-256 of the sources, hex: names the catalogue in force. */
  readonly digest: string
}

/** One place that calls can go to. */
export interface TargetFacts {
  /** Id of an upstream in upstreams.yaml. Its environment variables are `UPSTREAM_<ID>_…` in capitals with `_` for `-`. */
  readonly via: string
  /** The upstream's own name of the model. Clients never see it. */
  readonly model: string
  readonly standard?: ApiStandard
  /** Share of the calls among the targets of one entry. 0: only when the ones before it fail. */
  readonly weight?: number
  readonly dialect?: DialectFacts
  /**
   * Last touch on the body that goes upstream; see the rule vocabulary.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
}
