// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

/** An endpoint of the gateway that runs a model. */
export type Endpoint =
  | 'messages'
  | 'chat_completions'
  | 'responses'
  | 'images_generations'
  | 'images_edits'
  | 'audio_speech'

/** What happens to a request field that costs extra. */
export type FieldTreatment =
  | 'leave_out'
  | 'refuse'
  | 'allow'
  | { readonly free: readonly (string | number | boolean)[] }

/** What happens to a tool that the provider runs. */
export type ToolTreatment = 'leave_out' | 'refuse' | 'allow' | { readonly price: UsePrice; readonly uses_max?: number }

/** One change to the body that goes upstream, made after conversion. A path that is absent is left alone. Rules run in the order family, model, entry, upstream, target. */
export type Rule = SetRule | DefaultRule | DropRule | MoveRule | ClampRule | MapRule

/** The wire format that an upstream speaks. `messages` and `chat_completions` models are served on every chat endpoint; the gateway converts. */
export type ApiStandard = 'messages' | 'chat_completions' | 'images' | 'speech'

/** A wire format of conversations. */
export type WireName = 'messages' | 'chat_completions' | 'responses'

/** Something that a request may ask for and that not every wire can carry. stored_items: storage of this or an earlier reply, and references to it by id. document_urls: documents for the provider to fetch. */
export type WireLimit =
  | 'stop_sequences'
  | 'choices'
  | 'top_k'
  | 'penalties'
  | 'logit_bias'
  | 'logprobs'
  | 'seed'
  | 'effort_beside_tools'
  | 'sealed_reasoning'
  | 'stored_items'
  | 'document_urls'

/** reasoning: thinks before it answers. vision: accepts images. tools: calls tools. streaming: answers by server-sent events. */
export type Capability = 'reasoning' | 'vision' | 'tools' | 'streaming'

/** What the model produces. It follows from `api_standard`. */
export type ModelKind = 'chat' | 'image' | 'speech'

/** `aws` for ids under the service's own prefix, `standard` for all others. */
export type Channel = 'standard' | 'aws'

/** How extras are recognised in requests and counted in replies, whatever the upstream, and what happens to them by default. */
export interface ExtrasVocabulary {
  /** Request fields by name. */
  readonly fields: {
    readonly [k: string]: ExtraField
  }
  /** Tools that the provider runs. */
  readonly tools: {
    readonly [k: string]: ExtraTool
  }
}

/** A request field that costs extra. */
export interface ExtraField {
  /** What happens by default. */
  readonly otherwise: 'leave_out' | 'refuse'
  /**
   * Endpoints on which the field has this meaning.
   *
   * @minItems 1
   */
  readonly endpoints: readonly Endpoint[]
  /**
   * Beta flags that are not sent upstream if the extra may not pass; a trailing `*` matches any ending.
   *
   * @maxItems 16
   */
  readonly betas?: readonly string[]
}

/** A tool that the provider runs. */
export interface ExtraTool {
  /** What happens by default. */
  readonly otherwise: 'leave_out' | 'refuse'
  /**
   * How to recognise the tool in a request, among its tools or named in its tool choice: any of these matches.
   *
   * @minItems 1
   * @maxItems 16
   */
  readonly matches: readonly ExtraMatch[]
  /**
   * Request fields that switch the tool on without naming it among the tools; null, false and an empty list do not.
   *
   * @maxItems 16
   */
  readonly fields?: readonly string[]
  /**
   * Request fields that are removed if the tool may not pass.
   *
   * @maxItems 16
   */
  readonly companions?: readonly string[]
  /**
   * Beta flags that are not sent upstream if the extra may not pass; a trailing `*` matches any ending.
   *
   * @maxItems 16
   */
  readonly betas?: readonly string[]
  /**
   * Where a reply reports the uses: the first of these that is present counts. Required for a price.
   *
   * @maxItems 16
   */
  readonly uses?: readonly ExtraUse[]
}

/** What a tool or an output item looks like. */
export interface ExtraMatch {
  /** Its `type`, or the name of a tool without one; a trailing `*` matches any ending. */
  readonly type: string
  /** Pointer to a value inside it that must be one of `values`. */
  readonly at?: string
  /**
   * Values at that place.
   *
   * @minItems 1
   * @maxItems 16
   */
  readonly values?: readonly string[]
}

/** One place where a reply reports uses of a tool: exactly one of the keys. */
export interface ExtraUse {
  /** Pointer to a count, into `usage` or else into the reply itself. */
  readonly usage?: string
  readonly item?: ExtraMatch
  /** Name of a function: each call of it in a chat reply is one use. */
  readonly call?: string
  /** Type of an annotation: a chat reply that contains any is one use. */
  readonly annotation?: string
}

/** How to recognise the error that an upstream returns if it cannot decrypt reasoning. */
export interface RefusedSeal {
  /** HTTP status. */
  readonly status: number
  /** Error code; null or absent: any. */
  readonly code?: string | null
  /** Text that the error message contains, ignoring case; null or absent: any. */
  readonly message?: string | null
}

/** Facts about one beta flag. */
export interface BetaFlag {
  /** The upstream's name for the flag, if different. null: the upstream has no such flag, so it is not sent. */
  readonly name?: string | null
  /**
   * Body fields that need the flag, as pointers in which `*` stands for every member. They are removed unless a flag that lists them is sent upstream.
   *
   * @minItems 1
   * @maxItems 32
   */
  readonly fields?: readonly string[]
}

/** Sets a value, replacing any that was there. Missing parents are created; `*` reaches existing members only. */
export interface SetRule {
  readonly op: 'set'
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
  readonly endpoints?: readonly Endpoint[]
}

/** The rule runs only if this is true of the whole body. Exactly one test. */
export interface When {
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly path: string
  /** true: the path exists. false: it is absent. */
  readonly exists?: boolean
  /** The value is exactly this; with `*`, one of the members is. */
  readonly equals?: string | number | boolean | null
  /**
   * The value is one of these.
   *
   * @minItems 1
   * @maxItems 64
   */
  readonly one_of?: readonly (string | number | boolean | null)[]
}

/** Sets a value if the path is absent. */
export interface DefaultRule {
  readonly op: 'default'
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
  readonly endpoints?: readonly Endpoint[]
}

/** Removes what the path names. */
export interface DropRule {
  readonly op: 'drop'
  /** JSON pointer (RFC 6901) into the upstream body; a step of `*` means every member of an array or object. */
  readonly path: string
  readonly when?: When
  /**
   * Upstream endpoints whose body the rule changes. Default: all.
   *
   * @minItems 1
   */
  readonly endpoints?: readonly Endpoint[]
}

/** Moves a value from one path to another, replacing what was there. Each `*` in `to` stands for the member that the same `*` in `from` matched. */
export interface MoveRule {
  readonly op: 'move'
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
  readonly endpoints?: readonly Endpoint[]
}

/** Keeps a number within bounds. Anything but a number is left alone. */
export interface ClampRule {
  readonly op: 'clamp'
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
  readonly endpoints?: readonly Endpoint[]
}

/** Replaces a string, number or boolean with its value in the table. Values that are not in the table stay. */
export interface MapRule {
  readonly op: 'map'
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
  readonly endpoints?: readonly Endpoint[]
}

/** Adjusts the token factor to the kind of text, for estimates only: each key adds its value, times the share that the key describes, to `token_factor`. */
export interface TokenShares {
  /** The share of punctuation among visible characters; a share above 0.2 counts as 0.2. */
  readonly symbols?: number
  /** The share of capitals among Latin letters; a share above 0.2 counts as 0.2. */
  readonly capitals?: number
  /** The share of accented letters among Latin letters, which is high in Vietnamese; a share above 0.3 counts as 0.3. */
  readonly accents?: number
}

/** What a client pays. Never inherited: every entry states its own. */
export interface Price {
  /** Whole dong, digits only. */
  readonly vnd: number
  /** mtok: per 1,000,000 tokens, input and output alike. request: per call (ids under `req/`). image: per image returned (ids under `req/`). */
  readonly per: 'mtok' | 'request' | 'image'
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
  /** Display name. */
  readonly name: string
  /** Display name of the model; the same in all its entries. */
  readonly modelName: string
  /** A sentence for the model list. */
  readonly description: string
  /** The same in Vietnamese; null: none. */
  readonly descriptionVi: string | null
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
  /** Input and output together; null where not applicable. */
  readonly contextTokens: number | null
  /** Maximum output tokens per reply; null where not applicable. */
  readonly outputTokensMax: number | null
  readonly price: Price
  /** ISO date, or null where unknown. */
  readonly releasedOn: string | null
  /** Maximum output tokens that a hold assumes, even if the call's own limit is higher. */
  readonly holdOutputTokens: number
  /** Maximum images per call. */
  readonly imagesMax: number
  /** Maximum reference images per edit. */
  readonly referencesMax: number
  /** Multiplier that turns the gateway's token count into an estimate of the vendor's. */
  readonly tokenFactor: number
  readonly tokenShares?: TokenShares
  readonly counting: Counting
  /** Further names of this entry, sorted. */
  readonly aliases: readonly string[]
  readonly deprecated: Deprecation | null
  /** Where calls go, in order. At least one. */
  readonly upstreams: readonly UpstreamTarget[]
}

/** Tokens that the vendor counts for a request beyond those of its text, for estimates. */
export interface Counting {
  /** Per request. */
  readonly requestTokens: number
  /** Per turn. */
  readonly turnTokens: number
  /** Per request with tools, for what the vendor adds. */
  readonly toolInstructionsTokens: number
  /** Per page of a document. */
  readonly pageTokens: number
  readonly picture: CountingPicture
}

/** Per picture. */
export interface CountingPicture {
  /** Larger pictures are scaled down to this edge. */
  readonly edgePixelsMax: number
  /** Area in pixels that counts as one token. */
  readonly pixelsPerToken: number
  /** Maximum tokens per picture. */
  readonly tokensMax: number
  /** For a picture of unknown size. */
  readonly unknownTokens: number
}

/** An entry that retires. */
export interface Deprecation {
  /** ISO date from which clients are warned. */
  readonly sinceOn: string
  /** ISO date (00:00 UTC) from which the id maps to the successor, or null. */
  readonly retiresOn: string | null
  /** Entry that takes over, or null. */
  readonly successor: string | null
}

/** One place where an entry's calls can go. */
export interface UpstreamTarget {
  /** Id of an upstream in the upstreams table. */
  readonly via: string
  /** The upstream's own name for the model. */
  readonly model: string
  /** Relative share of the entry's calls. 0: a fallback, tried after the targets with a weight. If no target has a weight, they are tried in order. */
  readonly weight: number
  /** What the operator pays, oldest price first; empty: unknown. Customers never see it. */
  readonly cost: readonly UpstreamCost[]
  readonly standard: ApiStandard
  readonly dialect: Dialect
  /** Wire formats in which the upstream serves the model, best first; absent: only the format of `standard`. */
  readonly wires?: readonly Wire[]
  readonly extras: Extras
  /** Changes to the upstream body, in order. */
  readonly rules: readonly Rule[]
}

/** What an upstream charges from a day on, before its discount. Amounts are decimals in USD, as text. */
export interface UpstreamCost {
  /** ISO date, 00:00 UTC. */
  readonly from: string
  /** Uncached input, in USD per 1M tokens. */
  readonly input?: string
  /** Cache reads. */
  readonly cached?: string
  /** Cache writes. */
  readonly cacheWrite?: string
  /** Output, reasoning included. */
  readonly output?: string
  /** Per image, in USD. */
  readonly image?: string
  /** Per call, in USD. */
  readonly call?: string
  /** Prices for calls with long inputs, ascending. */
  readonly tiers?: readonly UpstreamCostTier[]
}

/** Prices for calls whose input exceeds a threshold. */
export interface UpstreamCostTier {
  /** Input tokens, cached ones included. */
  readonly aboveTokens: number
  /** Uncached input, in USD per 1M tokens. */
  readonly input: string
  /** Cache reads. */
  readonly cached: string
  /** Cache writes. */
  readonly cacheWrite: string
  /** Output, reasoning included. */
  readonly output: string
}

/** Facts about what an upstream model accepts, for the translators. Every key has a default, so write only what differs from it. null means that there is no such thing, or no limit. */
export interface Dialect {
  readonly output: DialectOutput
  readonly turns: DialectTurns
  readonly content: DialectContent
  readonly sampling: DialectSampling
  readonly reasoning: DialectReasoning
  readonly tools: DialectTools
  readonly structuredOutput: DialectStructuredOutput
  readonly usage: DialectUsage
  readonly endUser: DialectEndUser
  readonly betas: DialectBetas
}

/** How much the model returns. */
export interface DialectOutput {
  /** Field of a chat request that caps the output. */
  readonly capField: 'max_tokens' | 'max_completion_tokens'
  /** Smallest output cap that the upstream accepts; lower ones are raised to it. null: any. */
  readonly capMin: number | null
  /** Maximum choices (`n`) per call; null: no known limit (at most 1,024). Holds cover every choice. For entries priced per request, the limit is 1 unless the entry itself sets another, because the price covers one reply. */
  readonly choicesMax: number | null
}

/** Roles and order of messages. */
export interface DialectTurns {
  /** Where instructions go. system, developer: into messages with this role; system if the upstream rejects the developer role. instructions (responses format only): into the request field of that name. */
  readonly systemRole: 'system' | 'developer' | 'instructions'
  /** A system message after the first turn: kept in place, hoisted to the front, or turned into user text. Unless they are kept, a chat upstream gets a single system message. */
  readonly midSystem: 'keep' | 'hoist' | 'user_text'
  /** User and assistant turns must alternate: consecutive turns of one role are merged. In chat requests, a short assistant message goes between a tool result and a user turn. */
  readonly alternate: boolean
  /** What happens to a final assistant message (prefill). continue: the model continues it. unsupported: refused in the messages format, plain history in a chat request. prefix, partial: the model continues it if the message sets the flag of the same name. user_turn: a short user turn that asks to go on is added. */
  readonly prefill: 'continue' | 'unsupported' | 'prefix' | 'partial' | 'user_turn'
  /** Whether the upstream accepts message threads. */
  readonly threads: boolean
  /** Responses: assistant messages say whether they are commentary or the final answer. */
  readonly phase: boolean
  /** Responses: whether encrypted reasoning of earlier turns keeps its original id when it is sent back. */
  readonly itemIds: 'keep' | 'drop'
}

/** How text, images and documents are sent. */
export interface DialectContent {
  /** `string`: the upstream expects plain strings for text-only content. */
  readonly text: 'parts' | 'string'
  /** Image URLs: passed on, fetched and sent inline, or refused. */
  readonly imageUrl: 'pass' | 'inline' | 'reject'
  /** An image sent to a model without vision: refused, or replaced by a note. */
  readonly imagesUnsupported: 'reject' | 'placeholder'
  /** PDF documents: passed on as files, or in chat requests as `image_url`, replaced by a note, or refused. Text documents become text unless files are passed on. */
  readonly documents: 'file' | 'image_url' | 'placeholder' | 'reject'
  /** What happens to `cache_control` in converted requests. */
  readonly cacheControl: 'pass' | 'drop'
}

/** How the next token is chosen, and when to stop. */
export interface DialectSampling {
  /** Which sampling parameters (temperature, top_p, top_k, penalties, logit_bias, logprobs) are accepted; others are removed. temperature_xor_top_p: top_p only without temperature. all_unless_thinking: none while the model reasons. null: none. */
  readonly parameters: 'all' | 'temperature_xor_top_p' | 'all_unless_thinking' | null
  /** Maximum temperature; higher values are clamped. */
  readonly temperatureMax: number
  /** Whether the upstream accepts `top_k`. */
  readonly topK: boolean
  /** Maximum number of stop sequences; requests with more are refused. 0: the upstream does not accept the parameter. */
  readonly stopMax: number
}

/** How reasoning is requested, what replies contain, and what is sent back with the history. */
export interface DialectReasoning {
  /** Request field that controls reasoning; null: there is none. In chat requests, reasoning_effort: the field of that name; thinking_type: `thinking: {type}`, and `reasoning_effort` if `levels` is set; enable_thinking: the boolean of that name. In the messages format, budget: `thinking: {type: enabled, budget_tokens}`; adaptive: `thinking: {type: adaptive}`; with either, also `output_config.effort` if `levels` is set. */
  readonly parameter: 'reasoning_effort' | 'thinking_type' | 'enable_thinking' | 'budget' | 'adaptive' | null
  /**
   * Effort levels that the model accepts, in any order. Any other level is replaced by the next higher one listed, else by the highest. null: the model has no effort setting.
   *
   * @minItems 1
   * @maxItems 7
   */
  readonly levels: readonly ('none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max')[] | null
  /** Whether the model reasons unless the request says otherwise. */
  readonly byDefault: boolean
  /** Whether reasoning can be switched off. refused: no, so the lowest effort is requested instead. up_to_high: only at effort high or below, so a higher effort is lowered to high. */
  readonly disable: 'allowed' | 'refused' | 'up_to_high'
  /** on_request: reasoning text is left out of replies unless `thinking.display` asks for it. */
  readonly display: 'always' | 'on_request'
  /** Whether a model whose `parameter` is adaptive also accepts `budget_tokens`. */
  readonly budgetAccepted: boolean
  /** Chat request field for a thinking budget in tokens, if `parameter` is enable_thinking. null: no budget is sent. */
  readonly budgetField: 'thinking_budget' | null
  /** Whether the model can reason in streamed calls only; in other calls, reasoning is switched off. */
  readonly streamOnly: boolean
  /** Whether an effort is accepted in requests with function tools. refused: it is left out. explicit_none: only `none` is accepted, and must be sent. */
  readonly besideTools: 'accepted' | 'refused' | 'explicit_none'
  readonly budgets: DialectReasoningBudgets
  readonly budgetFloors: DialectReasoningBudgetFloors
  /** Where assistant messages carry reasoning, in replies and in the history sent back; in replies, all of these places are checked. reasoning_content, reasoning: a field of a chat message. content_parts: parts of its content. item_content: in the responses format, the content of reasoning items, which come before the turn's calls. */
  readonly field: 'reasoning_content' | 'reasoning' | 'content_parts' | 'item_content'
  /** Tag around the reasoning at the start of a chat reply's text (`think` for `<think>…</think>`). */
  readonly tag: string | null
  /** Whether earlier reasoning is sent back in the history. always: with every assistant turn, empty if unknown. */
  readonly echo: 'always' | 'if_present' | 'never'
  /** Text sent in place of unknown reasoning if `echo` is always, for upstreams that treat an empty text as missing. null: an empty text. */
  readonly echoPlaceholder: string | null
  /** Responses: whether encrypted reasoning can be requested, and is sent back with the history. */
  readonly sealed: boolean
  /** Responses: the error that the upstream returns if it cannot decrypt earlier reasoning; the call is then retried once without reasoning. Common errors of this kind are recognised anyway. */
  readonly refusedSeal: RefusedSeal | null
}

/** Thinking budget in tokens for each effort level, for models that only understand budgets. */
export interface DialectReasoningBudgets {
  /** For low and below. */
  readonly low: number
  /** For medium. */
  readonly medium: number
  /** For high and above. */
  readonly high: number
}

/** Smallest thinking budget, in tokens, that becomes each effort level, for models that only understand levels. Any budget below `medium` becomes low. */
export interface DialectReasoningBudgetFloors {
  /** Budgets from here on become medium. */
  readonly medium: number
  /** Budgets from here on become high. */
  readonly high: number
}

/** Tools, their calls and their results. */
export interface DialectTools {
  /** Whether a tool choice may force a call (`any`, `required`, a named tool). refused: the choice becomes auto, and the instructions ask for the call. named_only: `any` and `required` become the tool's name if there is only one tool; otherwise as refused. not_with_thinking: reasoning is switched off for the call; if that is impossible, as refused. */
  readonly forced: 'accepted' | 'refused' | 'named_only' | 'not_with_thinking'
  /** Whether the upstream accepts the flag for parallel calls (`parallel_tool_calls`, `disable_parallel_tool_use`). */
  readonly parallelFlag: boolean
  /** Maximum length of tool names; longer names are shortened in requests and restored in replies. */
  readonly nameMax: number
  /** What a tool name must begin with. */
  readonly nameStart: 'any' | 'letter'
  /** Tool call ids that the upstream accepts. any: up to 64 characters. word: up to 64 of [a-zA-Z0-9_-]. alphanumeric_9: exactly nine letters or digits. */
  readonly callId: 'any' | 'word' | 'alphanumeric_9'
  /** Arguments of earlier tool calls that a chat upstream accepts. any: any text. object: only JSON objects; other texts, which a model may have written, are wrapped in one. */
  readonly arguments: 'any' | 'object'
  /** required: tools without parameters get an empty object schema. no_meta_schema: `$schema` is removed from tool parameters. explicit_types: both; values get the type that they lack, `type` moves into the branches of a choice, a choice at the root becomes one object, and references that are not plain are expanded. */
  readonly schema: 'pass' | 'required' | 'no_meta_schema' | 'explicit_types'
  /** What happens to `strict` on a tool. pass: it is forwarded, in converted calls only if the tool's schema meets the rules of strict mode. drop: it is removed. */
  readonly strict: 'pass' | 'drop'
  /** Images and documents inside tool results of a chat request: in place, in the user message that follows, or replaced by a note. */
  readonly resultImages: 'native' | 'following_user' | 'placeholder'
  /**
   * Types of tools, other than functions, that the upstream does not accept: they are removed from the request and named in the header `x-<service>-left-out`; a trailing `*` matches any ending. A call that forces one, or has no other, is refused. For tools that cost more than tokens, see `extras`.
   *
   * @minItems 1
   * @maxItems 32
   */
  readonly leftOut: readonly string[] | null
  /** Responses: free-form tools are sent unchanged, or as functions with one text parameter. */
  readonly custom: 'native' | 'function'
  readonly signature: DialectToolsSignature
}

/** Signature attached to a tool call in a chat reply, which must be sent back with the call. */
export interface DialectToolsSignature {
  /** JSON pointer to the signature within the call; null: calls have none. */
  readonly path: string | null
  /** Value that the upstream accepts in place of a signature, for calls that another model made; null: nothing is sent. */
  readonly placeholder: string | null
}

/** Replies in JSON. */
export interface DialectStructuredOutput {
  /** How a reply with a JSON schema is requested. native, json_schema: the format's own way. json_object: the JSON mode of a chat request with the schema in the prompt. tool: a forced tool whose input becomes the reply. prompt: instructions only. */
  readonly method: 'native' | 'json_schema' | 'json_object' | 'tool' | 'prompt'
}

/** Where replies in the chat and responses formats report token counts: JSON pointers into the reply, or into a chunk of its stream. The first that finds a count applies; if none does, the usual places are read. */
export interface DialectUsage {
  /**
   * JSON pointers to the number of input tokens, cached ones included.
   *
   * @minItems 1
   * @maxItems 16
   */
  readonly input: readonly string[] | null
  /**
   * JSON pointers to the number of output tokens, counted as `output_counts` says.
   *
   * @minItems 1
   * @maxItems 16
   */
  readonly output: readonly string[] | null
  /**
   * JSON pointers to the number of input tokens read from the provider's cache.
   *
   * @minItems 1
   * @maxItems 16
   */
  readonly cached: readonly string[] | null
  /**
   * JSON pointers to the number of reasoning tokens.
   *
   * @minItems 1
   * @maxItems 16
   */
  readonly reasoning: readonly string[] | null
  /** What `completion_tokens` of a chat reply counts. without_reasoning: reasoning is counted in the total only, so the output is the total minus the prompt. */
  readonly outputCounts: 'all' | 'without_reasoning'
  /** Whether the upstream accepts `stream_options.include_usage`. */
  readonly streamOptions: boolean
}

/** The id by which a client identifies its end user. */
export interface DialectEndUser {
  /** Chat request field for the id. null: the id is removed, in the other formats too. */
  readonly field: 'user' | 'safety_identifier' | 'user_id' | null
  /** Maximum length of the id; a longer one is hashed. */
  readonly lengthMax: number
  /** Characters that the id may consist of. word: [a-zA-Z0-9_-]; an id with any other character is hashed. */
  readonly characters: 'any' | 'word'
}

/** Which of the client's beta flags are forwarded, to upstreams that accept beta flags. */
export interface DialectBetas {
  /** What happens to flags that are not listed under `flags`. */
  readonly unlisted: 'pass' | 'drop'
  /** Flags to forward, each with the upstream's name for it and the body fields that need it. */
  readonly flags: {
    readonly [k: string]: BetaFlag
  }
  /** Beta flag that the upstream requires with an effort in the messages format. */
  readonly effort: string | null
}

/** One wire format that a model speaks. */
export interface Wire {
  readonly wire: WireName
  /** Request features that cannot be expressed in this format, besides those that the dialect rules out. */
  readonly cannot: readonly WireLimit[]
  readonly dialect: Dialect
}

/** What happens to each extra, fully resolved. */
export interface Extras {
  /** By field name. */
  readonly fields: Readonly<Record<string, FieldTreatment>>
  /** By tool name. */
  readonly tools: Readonly<Record<string, ToolTreatment>>
}

/** A provider's API as configured, without credentials. */
export interface Upstream {
  /** Its name in the catalogue and the environment. */
  readonly id: string
  /** Address without a trailing slash. */
  readonly baseUrl: string
  /** How bodies and streams are framed. */
  readonly wire: 'plain' | 'bedrock'
  /** Path of each endpoint, and of the list of models, below the base URL; `{model}` stands for the upstream's name for the model. */
  readonly paths: Partial<Record<Endpoint | 'chat_completions_prefilled' | 'models', string>>
  readonly auth: UpstreamAuth
  /** Headers sent with every call. */
  readonly headers: Readonly<Record<string, string>>
  /** Client headers that are forwarded upstream, in lower case. */
  readonly forwardHeaders: readonly string[]
  /** How the client's beta flags are sent upstream; null: they are dropped. */
  readonly betas: UpstreamBetas | null
  /** Members added to every JSON body. */
  readonly fields: Readonly<Record<string, string>>
  /** Where an error body contains its message and type; null: in one of the common places. */
  readonly errors: UpstreamErrors | null
  /** Maximum attempts per call at this upstream. */
  readonly attemptsMax: number
  /** Maximum calls in flight per process. */
  readonly concurrencyMax: number
  /** Share of the cost that the operator pays, oldest first; empty: all of it. */
  readonly discount: readonly UpstreamDiscount[]
  /** VND per USD, oldest first; empty: as in the settings. */
  readonly fx: readonly UpstreamFx[]
  readonly cooldown: UpstreamCooldown
  /** Until the connection is established. */
  readonly connectTimeoutMs: number
  /** From sending the request to the first byte of a stream. Non-streamed replies and streams of images get five times as long. */
  readonly firstByteTimeoutMs: number
  /** Maximum silence within a reply that has begun. */
  readonly idleTimeoutMs: number
  /** The whole call. */
  readonly totalTimeoutMs: number
}

/** How the credential is sent. */
export interface UpstreamAuth {
  /** How the credential is sent. */
  readonly scheme: 'bearer' | 'x-api-key' | 'sigv4' | 'header'
  /** Header that carries the credential, in lower case. */
  readonly header: string
  /** AWS region to sign for (sigv4 only). */
  readonly region?: string
}

/** Where beta flags are read and where they are sent. */
export interface UpstreamBetas {
  /** Client header that lists the flags. They are sent upstream in the same header unless `field` is set. */
  readonly header: string
  /** Member of the upstream body that takes the flags as a list. */
  readonly field: string | null
}

/** JSON pointers into an error body. */
export interface UpstreamErrors {
  /** JSON pointer to the message. */
  readonly message: string
  /** JSON pointer to the error's type or code. */
  readonly type: string | null
}

/** Share of an upstream's `cost` that the operator pays from a given day. */
export interface UpstreamDiscount {
  /** ISO date, 00:00 UTC. */
  readonly from: string
  /** A decimal. */
  readonly share: string
}

/** The exchange rate from a given day. */
export interface UpstreamFx {
  /** ISO date, 00:00 UTC. */
  readonly from: string
  /** A decimal. */
  readonly vndPerUsd: string
}

/** When the circuit breaker of the upstream or of a credential opens, and for how long. */
export interface UpstreamCooldown {
  /** Consecutive faults that open the upstream's circuit. */
  readonly failures: number
  /** How long the circuit stays open the first time. */
  readonly baseMs: number
  /** Maximum time that the circuit stays open. */
  readonly maxMs: number
}

/** Settings of the whole catalogue. */
export interface CatalogueSettings {
  /** The service's own name: headers `x-<service>-…`, channel prefix `<service>/`, key prefix `sk-<service>-`. */
  readonly service: string
  /** Entry that unknown names on the chat endpoints map to. */
  readonly fallback: string
  /** Alternative model names, mapped to entry ids. */
  readonly aliases: Readonly<Record<string, string>>
  /** Alternative vendor prefixes of model names, in lower case, mapped to vendors. */
  readonly vendors: Readonly<Record<string, string>>
  /** Display names by vendor; a vendor that is missing is shown by its id. */
  readonly vendorNames: Readonly<Record<string, string>>
  readonly extras: ExtrasVocabulary
  /** Calls per minute and key; 0 means no limit. */
  readonly rateLimitPerMinute: number
  /** Calls in flight per key; 0 means no limit. */
  readonly concurrencyMax: number
  /** VND per USD for upstreams without their own rate, oldest first; empty: costs are unknown. */
  readonly fx: readonly UpstreamFx[]
  /** SHA-256 of the source files, in hex; identifies the catalogue in force. */
  readonly digest: string
}

/** What a client pays for each use, on top of the tokens. */
export interface UsePrice {
  /** Whole dong, digits only. */
  readonly vnd: number
  /** use: each use that the provider reports. */
  readonly per: 'use'
}
