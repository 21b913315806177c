// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import type {
  ApiStandard,
  BetaFlag,
  Capability,
  Endpoint,
  ExtrasVocabulary,
  FieldTreatment,
  Price,
  RefusedSeal,
  Rule,
  Tables,
  TokenShares,
  ToolTreatment,
  WireLimit,
  WireName,
} from '../../src/generated/types.ts'

/**
 * VND per US dollar, for computing the operator's costs: one rate, or a list of dated rates. Set it under `defaults` for all upstreams, or on an upstream for that one. Without a rate, costs are unknown.
 *
 * @minItems 1
 * @maxItems 400
 */
export type FxHistory = FxFacts | readonly FxFacts[]

/**
 * Share of the list price `cost` that the operator pays this upstream: one share, or a list of dated shares. Default: all of it.
 *
 * @minItems 1
 * @maxItems 100
 */
export type DiscountHistory = DiscountFacts | readonly DiscountFacts[]

/**
 * List price that the provider charges the operator, in USD with at most 6 decimals, before the upstream's `discount`: one price, or a list of dated prices, which may include future ones. The most specific cost applies as a whole: the target's, else the entry's, else the model's. Used only for the operator's margin: customers neither pay nor see it. Without a cost, it is unknown.
 *
 * @minItems 1
 * @maxItems 24
 */
export type CostHistory = CostFacts | readonly CostFacts[]

/**
 * Where calls go: one target, or a list that is tried in order (or shared by weight if weights are given).
 *
 * @minItems 1
 * @maxItems 8
 */
export type UpstreamFacts = TargetFacts | readonly TargetFacts[]

/** The root schema: the files that operators write and the tables generated from them. Types are generated from here. */
export interface Catalogue {
  readonly catalogue: CatalogueFile
  readonly upstreams: UpstreamsFile
  readonly families: readonly FamilyFile[]
  readonly tables: Tables
}

/** Settings of the whole catalogue: catalogue/catalogue.yaml. */
export interface CatalogueFile {
  /** The service's own name. The headers `x-<service>-…`, the channel prefix `<service>/` and the key prefix `sk-<service>-` follow from it. */
  readonly service: string
  /** The entry that serves chat calls whose model name is neither an entry nor an alias. */
  readonly fallback: string
  /** Alternative model names that clients send, mapped to entry ids. A different letter case or a vendor prefix (`openai/gpt-5.5`) needs no alias. */
  readonly aliases: {
    /** Id of an entry, which clients send as the model: lower-case letters, digits, `.`, `_` and `-`. It begins with `req/` if the entry is billed per call, and with `<service>/` on the AWS channel. */
    readonly [k: string]: string
  }
  /** Alternative vendor prefixes of model names (`x-ai/grok-4.3`), in lower case, mapped to the `vendor` of a family. */
  readonly vendors?: {
    readonly [k: string]: string
  }
  /** Display name of each `vendor`, for the pages. Default: the `vendor` itself. */
  readonly vendor_names?: {
    readonly [k: string]: string
  }
  readonly defaults: DefaultFacts
  readonly floors: FloorFacts
  readonly extras?: ExtrasVocabulary
  readonly counts: CountFacts
  /**
   * Intended price jumps above the threshold of `price-diff`: price changes, also of tools that are sold per use, and successors that cost so much more than the entry they replace. Remove a price change once it is released (one for a tool counts only in the change that adds it); keep a successor's price as long as the entry exists.
   *
   * @maxItems 200
   */
  readonly acknowledged?: readonly AcknowledgementFacts[]
}

/** Defaults for settings that a model does not specify. */
export interface DefaultFacts {
  /** Maximum output tokens that a hold assumes, even if the call's own limit is higher. */
  readonly hold_output_tokens: number
  /** Maximum images per call. */
  readonly images_max: number
  /** Calls in flight per key, across all processes; 0 means no limit. A key can have its own. */
  readonly concurrency_max?: number
  readonly fx?: FxHistory
  /** Calls per minute and key; 0 means no limit. A key can have its own. */
  readonly rate_limit_per_minute: number
  /** Multiplier that turns the gateway's token count into an estimate of the vendor's; used for estimates only (count_tokens, holds, interrupted streams). */
  readonly token_factor: number
  readonly counting?: CountingFacts
}

/** Tokens that the vendor counts for a request beyond those of its text; used for estimates only (count_tokens, holds, interrupted streams). Layers merge in the order defaults, family, model. */
export interface CountingFacts {
  /** Per request. */
  readonly request_tokens?: number
  /** Per turn: its role and separators. */
  readonly turn_tokens?: number
  /** Per request with tools: the instructions that the vendor adds. */
  readonly tool_instructions_tokens?: number
  /** Per page of a document, for its text and its picture together. */
  readonly page_tokens?: number
  /** Per picture: its pixels divided by `pixels_per_token`, after scaling down to `edge_pixels_max`. */
  readonly picture?: {
    /** Maximum length of the longer edge; larger pictures are scaled down to it. */
    readonly edge_pixels_max?: number
    /** Area in pixels that counts as one token. */
    readonly pixels_per_token?: number
    /** Maximum tokens per picture. */
    readonly tokens_max?: number
    /** Tokens of a picture of unknown size. */
    readonly unknown_tokens?: number
  }
}

/** Lowest price allowed per unit, in VND; catches typos such as a missing digit. */
export interface FloorFacts {
  /** Per 1,000,000 tokens. */
  readonly mtok: number
  /** Per call. */
  readonly request: number
  /** Per image. */
  readonly image: number
  /** Per use of a tool that the provider runs. */
  readonly use?: number
}

/** Expected numbers of entries; a check compares them, to catch lines lost in a merge. */
export interface CountFacts {
  /** Entries in all. */
  readonly entries: number
  /** Entries on the AWS channel. */
  readonly aws: number
  /** Entries under `req/`, including images and speech. */
  readonly per_call: number
}

/** A price change that is intended. */
export interface AcknowledgementFacts {
  /** The entry, alias or `fallback` whose price changes, or the tool whose price per use does. */
  readonly name: string
  readonly price: AcknowledgedPrice
  /** Reason for the change, for reviewers. */
  readonly reason: string
}

/** The new price. */
export interface AcknowledgedPrice {
  /** Whole dong, digits only. */
  readonly vnd: number
  /** What the price is for, as in the entry; `use`: each use of a tool that the provider runs. */
  readonly per: 'mtok' | 'request' | 'image' | 'use'
}

/** The provider APIs that calls can go to: catalogue/upstreams.yaml. Credentials never go here; they come from the environment (UPSTREAM_<ID>_API_KEY). */
export interface UpstreamsFile {
  /** The upstreams, by id. */
  readonly upstreams: {
    readonly [k: string]: HostFacts
  }
}

/** One provider API. */
export interface HostFacts {
  /** Address without a trailing slash and without credentials; `{region}` stands for the AWS region. The environment variable UPSTREAM_<ID>_BASE_URL replaces it. */
  readonly base_url: string
  /** plain: JSON and server-sent events. bedrock: AWS invoke; the model is in the path, streams are AWS event streams. */
  readonly wire?: 'plain' | 'bedrock'
  readonly paths: UpstreamPaths
  readonly auth: AuthFacts
  /** Headers sent with every call. Names must be in lower case. Never put a credential here. */
  readonly headers?: {
    readonly [k: string]: string
  }
  /**
   * Client headers that are forwarded upstream, in lower case.
   *
   * @maxItems 32
   */
  readonly forward_headers?: readonly string[]
  readonly betas?: BetaFacts
  /** Members added to every JSON body, for settings that other providers take as headers. Never put a credential here. */
  readonly fields?: {
    readonly [k: string]: string
  }
  readonly errors?: ErrorPlaces
  /** Maximum attempts per call at this upstream, each with a different credential (after a broken connection, the same one may be used again). 1: never retry. */
  readonly attempts_max?: number
  /** Maximum calls in flight at this upstream per process. Further calls go to the next upstream; if there is none, they wait (LIMIT_PLACE_WAIT_MS), and a free place goes to the account with the fewest calls there. After that, the client gets an error that asks it to retry. */
  readonly concurrency_max?: number
  readonly discount?: DiscountHistory
  readonly fx?: FxHistory
  readonly cooldown?: CooldownFacts
  readonly timeouts?: TimeoutFacts
  readonly dialect?: DialectFacts
  readonly extras?: ExtrasFacts
  /**
   * Final changes to the upstream request body, made in order by operations such as `set`, `drop` and `map`.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
}

/** Path of each endpoint, appended to the base URL. `{model}` stands for the upstream's name for the model. A path may end with a query (`?api-version=…`). Endpoints without a path are not served. */
export interface UpstreamPaths {
  readonly messages?: string
  readonly chat_completions?: string
  /** Path of chat calls that end with an assistant message to be continued (see `prefill` in the dialect), for providers that serve these at a separate path. */
  readonly chat_completions_prefilled?: string
  readonly responses?: string
  readonly images_generations?: string
  readonly images_edits?: string
  readonly audio_speech?: string
  /** Path of the model list (GET), for `catalogue upstream-check`. Clients' calls never go there. */
  readonly models?: string
}

/** How the credential is sent. */
export interface AuthFacts {
  /** bearer: `authorization: Bearer …`. x-api-key: a header of that name. sigv4: signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN from the environment; if the upstream has an API key, that is sent as bearer instead. header: the bare credential in the named header. */
  readonly scheme: 'bearer' | 'x-api-key' | 'sigv4' | 'header'
  /** Header that carries the credential, in lower case. Only for `header`; the other schemes have their own. */
  readonly header?: string
  /** AWS region to sign for; AWS_REGION overrides it. Only for `sigv4`. */
  readonly region?: string
}

/** How the client's beta flags are sent upstream; without this, they are dropped. `betas` in the dialect says which flags may pass. */
export interface BetaFacts {
  /** Client header that lists the flags, separated by commas, in lower case. The flags are sent upstream in the same header unless `field` is set. */
  readonly header: string
  /** Member of the upstream body that takes the flags as a list, instead of the header. */
  readonly field?: string
}

/** Where an error body contains its message and type, for providers whose errors have an unusual shape. Common shapes are recognised anyway. */
export interface ErrorPlaces {
  /** JSON pointer to the message in an error body. */
  readonly message: string
  /** JSON pointer to the error's type or code, whose value is a string or a number. */
  readonly type?: string
}

/** When the circuit breaker of the upstream or of one of its credentials opens, and for how long. Meanwhile, calls go to others. */
export interface CooldownFacts {
  /** Consecutive faults of the upstream that open its circuit. The circuit of a refused or rate-limited credential opens at once. */
  readonly failures?: number
  /** How long the circuit stays open the first time, unless `retry-after` says otherwise; doubles with each failed probe. */
  readonly base_ms?: number
  /** Maximum time that the circuit stays open. */
  readonly max_ms?: number
}

/** Timeouts in milliseconds. */
export interface TimeoutFacts {
  /** Until the connection is established. */
  readonly connect_ms?: number
  /** From sending the request to the first byte of a stream. Non-streamed replies and streams of images get five times as long. */
  readonly first_byte_ms?: number
  /** Maximum silence within a reply that has begun. Clients of a stream get pings meanwhile. */
  readonly idle_ms?: number
  /** The whole call; never above the gateway's own 15 minutes. */
  readonly total_ms?: number
}

/** Facts about what an upstream model accepts, for the translators. Every key has a default, so write only what differs from it. null means that there is no such thing, or no limit. */
export interface DialectFacts {
  /** How much the model returns. */
  readonly output?: {
    /** Field of a chat request that caps the output. */
    readonly cap_field?: 'max_tokens' | 'max_completion_tokens'
    /** Smallest output cap that the upstream accepts; lower ones are raised to it. null: any. */
    readonly cap_min?: number | null
    /** Maximum choices (`n`) per call; null: no known limit (at most 1,024). Holds cover every choice. For entries priced per request, the limit is 1 unless the entry itself sets another, because the price covers one reply. */
    readonly choices_max?: number | null
  }
  /** Roles and order of messages. */
  readonly turns?: {
    /** Where instructions go. system, developer: into messages with this role; system if the upstream rejects the developer role. instructions (responses format only): into the request field of that name. */
    readonly system_role?: 'system' | 'developer' | 'instructions'
    /** A system message after the first turn: kept in place, hoisted to the front, or turned into user text. Unless they are kept, a chat upstream gets a single system message. */
    readonly mid_system?: 'keep' | 'hoist' | 'user_text'
    /** User and assistant turns must alternate: consecutive turns of one role are merged. In chat requests, a short assistant message goes between a tool result and a user turn. */
    readonly alternate?: boolean
    /** What happens to a final assistant message (prefill). continue: the model continues it. unsupported: refused in the messages format, plain history in a chat request. prefix, partial: the model continues it if the message sets the flag of the same name. user_turn: a short user turn that asks to go on is added. */
    readonly prefill?: 'continue' | 'unsupported' | 'prefix' | 'partial' | 'user_turn'
    /** Whether the upstream accepts message threads. */
    readonly threads?: boolean
    /** Responses: assistant messages say whether they are commentary or the final answer. */
    readonly phase?: boolean
    /** Responses: whether encrypted reasoning of earlier turns keeps its original id when it is sent back. */
    readonly item_ids?: 'keep' | 'drop'
  }
  /** How text, images and documents are sent. */
  readonly content?: {
    /** `string`: the upstream expects plain strings for text-only content. */
    readonly text?: 'parts' | 'string'
    /** Image URLs: passed on, fetched and sent inline, or refused. */
    readonly image_url?: 'pass' | 'inline' | 'reject'
    /** An image sent to a model without vision: refused, or replaced by a note. */
    readonly images_unsupported?: 'reject' | 'placeholder'
    /** PDF documents: passed on as files, or in chat requests as `image_url`, replaced by a note, or refused. Text documents become text unless files are passed on. */
    readonly documents?: 'file' | 'image_url' | 'placeholder' | 'reject'
    /** What happens to `cache_control` in converted requests. */
    readonly cache_control?: 'pass' | 'drop'
  }
  /** How the next token is chosen, and when to stop. */
  readonly sampling?: {
    /** Which sampling parameters (temperature, top_p, top_k, penalties, logit_bias, logprobs) are accepted; others are removed. temperature_xor_top_p: top_p only without temperature. all_unless_thinking: none while the model reasons. null: none. */
    readonly parameters?: 'all' | 'temperature_xor_top_p' | 'all_unless_thinking' | null
    /** Maximum temperature; higher values are clamped. */
    readonly temperature_max?: number
    /** Whether the upstream accepts `top_k`. */
    readonly top_k?: boolean
    /** Maximum number of stop sequences; requests with more are refused. 0: the upstream does not accept the parameter. */
    readonly stop_max?: number
  }
  /** How reasoning is requested, what replies contain, and what is sent back with the history. */
  readonly reasoning?: {
    /** Request field that controls reasoning; null: there is none. In chat requests, reasoning_effort: the field of that name; thinking_type: `thinking: {type}`, and `reasoning_effort` if `levels` is set; enable_thinking: the boolean of that name. In the messages format, budget: `thinking: {type: enabled, budget_tokens}`; adaptive: `thinking: {type: adaptive}`; with either, also `output_config.effort` if `levels` is set. */
    readonly parameter?: 'reasoning_effort' | 'thinking_type' | 'enable_thinking' | 'budget' | 'adaptive' | null
    /**
     * Effort levels that the model accepts, in any order. Any other level is replaced by the next higher one listed, else by the highest. null: the model has no effort setting.
     *
     * @minItems 1
     * @maxItems 7
     */
    readonly levels?: readonly ('none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max')[] | null
    /** Whether the model reasons unless the request says otherwise. */
    readonly by_default?: boolean
    /** Whether reasoning can be switched off. refused: no, so the lowest effort is requested instead. up_to_high: only at effort high or below, so a higher effort is lowered to high. */
    readonly disable?: 'allowed' | 'refused' | 'up_to_high'
    /** on_request: reasoning text is left out of replies unless `thinking.display` asks for it. */
    readonly display?: 'always' | 'on_request'
    /** Whether a model whose `parameter` is adaptive also accepts `budget_tokens`. */
    readonly budget_accepted?: boolean
    /** Chat request field for a thinking budget in tokens, if `parameter` is enable_thinking. null: no budget is sent. */
    readonly budget_field?: 'thinking_budget' | null
    /** Whether the model can reason in streamed calls only; in other calls, reasoning is switched off. */
    readonly stream_only?: boolean
    /** Whether an effort is accepted in requests with function tools. refused: it is left out. explicit_none: only `none` is accepted, and must be sent. */
    readonly beside_tools?: 'accepted' | 'refused' | 'explicit_none'
    /** Thinking budget in tokens for each effort level, for models that only understand budgets. */
    readonly budgets?: {
      /** For low and below. */
      readonly low?: number
      /** For medium. */
      readonly medium?: number
      /** For high and above. */
      readonly high?: number
    }
    /** Smallest thinking budget, in tokens, that becomes each effort level, for models that only understand levels. Any budget below `medium` becomes low. */
    readonly budget_floors?: {
      /** Budgets from here on become medium. */
      readonly medium?: number
      /** Budgets from here on become high. */
      readonly high?: number
    }
    /** Where assistant messages carry reasoning, in replies and in the history sent back; in replies, all of these places are checked. reasoning_content, reasoning: a field of a chat message. content_parts: parts of its content. item_content: in the responses format, the content of reasoning items, which come before the turn's calls. */
    readonly field?: 'reasoning_content' | 'reasoning' | 'content_parts' | 'item_content'
    /** Tag around the reasoning at the start of a chat reply's text (`think` for `<think>…</think>`). */
    readonly tag?: string | null
    /** Whether earlier reasoning is sent back in the history. always: with every assistant turn, empty if unknown. */
    readonly echo?: 'always' | 'if_present' | 'never'
    /** Text sent in place of unknown reasoning if `echo` is always, for upstreams that treat an empty text as missing. null: an empty text. */
    readonly echo_placeholder?: string | null
    /** Responses: whether encrypted reasoning can be requested, and is sent back with the history. */
    readonly sealed?: boolean
    /** Responses: the error that the upstream returns if it cannot decrypt earlier reasoning; the call is then retried once without reasoning. Common errors of this kind are recognised anyway. */
    readonly refused_seal?: RefusedSeal | null
  }
  /** Tools, their calls and their results. */
  readonly tools?: {
    /** Whether a tool choice may force a call (`any`, `required`, a named tool). refused: the choice becomes auto, and the instructions ask for the call. named_only: `any` and `required` become the tool's name if there is only one tool; otherwise as refused. not_with_thinking: reasoning is switched off for the call; if that is impossible, as refused. */
    readonly forced?: 'accepted' | 'refused' | 'named_only' | 'not_with_thinking'
    /** Whether the upstream accepts the flag for parallel calls (`parallel_tool_calls`, `disable_parallel_tool_use`). */
    readonly parallel_flag?: boolean
    /** Maximum length of tool names; longer names are shortened in requests and restored in replies. */
    readonly name_max?: number
    /** What a tool name must begin with. */
    readonly name_start?: 'any' | 'letter'
    /** Tool call ids that the upstream accepts. any: up to 64 characters. word: up to 64 of [a-zA-Z0-9_-]. alphanumeric_9: exactly nine letters or digits. */
    readonly call_id?: 'any' | 'word' | 'alphanumeric_9'
    /** Arguments of earlier tool calls that a chat upstream accepts. any: any text. object: only JSON objects; other texts, which a model may have written, are wrapped in one. */
    readonly arguments?: 'any' | 'object'
    /** required: tools without parameters get an empty object schema. no_meta_schema: `$schema` is removed from tool parameters. explicit_types: both; values get the type that they lack, `type` moves into the branches of a choice, a choice at the root becomes one object, and references that are not plain are expanded. */
    readonly schema?: 'pass' | 'required' | 'no_meta_schema' | 'explicit_types'
    /** What happens to `strict` on a tool. pass: it is forwarded, in converted calls only if the tool's schema meets the rules of strict mode. drop: it is removed. */
    readonly strict?: 'pass' | 'drop'
    /** Images and documents inside tool results of a chat request: in place, in the user message that follows, or replaced by a note. */
    readonly result_images?: 'native' | 'following_user' | 'placeholder'
    /**
     * Types of tools, other than functions, that the upstream does not accept: they are removed from the request and named in the header `x-<service>-left-out`; a trailing `*` matches any ending. A call that forces one, or has no other, is refused. For tools that cost more than tokens, see `extras`.
     *
     * @minItems 1
     * @maxItems 32
     */
    readonly left_out?: readonly string[] | null
    /** Responses: free-form tools are sent unchanged, or as functions with one text parameter. */
    readonly custom?: 'native' | 'function'
    /** Signature attached to a tool call in a chat reply, which must be sent back with the call. */
    readonly signature?: {
      /** JSON pointer to the signature within the call; null: calls have none. */
      readonly path?: string | null
      /** Value that the upstream accepts in place of a signature, for calls that another model made; null: nothing is sent. */
      readonly placeholder?: string | null
    }
  }
  /** Replies in JSON. */
  readonly structured_output?: {
    /** How a reply with a JSON schema is requested. native, json_schema: the format's own way. json_object: the JSON mode of a chat request with the schema in the prompt. tool: a forced tool whose input becomes the reply. prompt: instructions only. */
    readonly method?: 'native' | 'json_schema' | 'json_object' | 'tool' | 'prompt'
  }
  /** Where replies in the chat and responses formats report token counts: JSON pointers into the reply, or into a chunk of its stream. The first that finds a count applies; if none does, the usual places are read. */
  readonly usage?: {
    /**
     * JSON pointers to the number of input tokens, cached ones included.
     *
     * @minItems 1
     * @maxItems 16
     */
    readonly input?: readonly string[] | null
    /**
     * JSON pointers to the number of output tokens, counted as `output_counts` says.
     *
     * @minItems 1
     * @maxItems 16
     */
    readonly output?: readonly string[] | null
    /**
     * JSON pointers to the number of input tokens read from the provider's cache.
     *
     * @minItems 1
     * @maxItems 16
     */
    readonly cached?: readonly string[] | null
    /**
     * JSON pointers to the number of reasoning tokens.
     *
     * @minItems 1
     * @maxItems 16
     */
    readonly reasoning?: readonly string[] | null
    /** What `completion_tokens` of a chat reply counts. without_reasoning: reasoning is counted in the total only, so the output is the total minus the prompt. */
    readonly output_counts?: 'all' | 'without_reasoning'
    /** Whether the upstream accepts `stream_options.include_usage`. */
    readonly stream_options?: boolean
  }
  /** The id by which a client identifies its end user. */
  readonly end_user?: {
    /** Chat request field for the id. null: the id is removed, in the other formats too. */
    readonly field?: 'user' | 'safety_identifier' | 'user_id' | null
    /** Maximum length of the id; a longer one is hashed. */
    readonly length_max?: number
    /** Characters that the id may consist of. word: [a-zA-Z0-9_-]; an id with any other character is hashed. */
    readonly characters?: 'any' | 'word'
  }
  /** Which of the client's beta flags are forwarded, to upstreams that accept beta flags. */
  readonly betas?: {
    /** What happens to flags that are not listed under `flags`. */
    readonly unlisted?: 'pass' | 'drop'
    /** Flags to forward, each with the upstream's name for it and the body fields that need it. */
    readonly flags?: {
      readonly [k: string]: BetaFlag
    }
    /** Beta flag that the upstream requires with an effort in the messages format. */
    readonly effort?: string | null
  }
}

/** Request features that cost extra on top of tokens, and how the gateway treats them. catalogue.yaml has the defaults; layers merge in the order upstream, family, model, entry, target. */
export interface ExtrasFacts {
  /** Request fields. leave_out: removed from the request, and named in the reply header `x-<service>-left-out`. refuse: the call gets a 400. allow: forwarded without a surcharge. `{ free: […] }`: these values cost nothing extra and are forwarded; others are left out or refused, as `otherwise` in catalogue.yaml says. */
  readonly fields?: {
    readonly [k: string]: FieldTreatment
  }
  /** Tools that the provider runs. leave_out: removed from the request, and named in the reply header; if it is the only tool, or forced, the call gets a 400. refuse: the call gets a 400. allow: forwarded without a surcharge. `{ price: … }`: forwarded, and each use is charged. */
  readonly tools?: {
    readonly [k: string]: ToolTreatment
  }
}

/** One family of models: its facts, its models, and the entries that clients can name. One file per family in catalogue/families/. */
export interface FamilyFile {
  /** Name of the family; the file is named after it. Keys can be restricted to the models of a family, so renaming it takes its models from those keys. */
  readonly family: string
  /** Who makes the models; clients see it as `owned_by`. */
  readonly vendor: string
  readonly api_standard: ApiStandard
  /** Multiplier that turns the gateway's token count into an estimate of the vendor's; used for estimates only (count_tokens, holds, interrupted streams). */
  readonly token_factor?: number
  readonly token_shares?: TokenShares
  readonly counting?: CountingFacts
  readonly dialect?: DialectFacts
  /**
   * Wire formats in which the upstream serves the model, best first. A call uses the client's own format if that is listed and can express the whole call, else the first format that can. Default: only the format of `api_standard`. The most specific list applies, without formats for which the upstream has no path; dialects of the same format merge.
   *
   * @minItems 1
   * @maxItems 3
   */
  readonly wires?: readonly WireFacts[]
  readonly extras?: ExtrasFacts
  /**
   * Final changes to the upstream request body, made in order by operations such as `set`, `drop` and `map`.
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

/** One wire format that a model speaks. */
export interface WireFacts {
  readonly wire: WireName
  /** Request features that cannot be expressed in this format, besides those that the dialect rules out. */
  readonly cannot?: readonly WireLimit[]
  readonly dialect?: DialectFacts
}

/** Facts about one model, shared by all its entries. */
export interface ModelFacts {
  /** Display name. AWS and per-call entries get a suffix. */
  readonly name: string
  /** A sentence for the model list and the pages. Default: generated from the facts. */
  readonly description?: string
  /** The same in Vietnamese, for the pages. Default: generated from the facts. */
  readonly description_vi?: string
  /** Context window: input and output together, in tokens. */
  readonly context_tokens?: number
  /** Maximum output tokens per reply, reasoning included. */
  readonly output_tokens_max?: number
  /** What the model can do. An empty list for image and speech models. */
  readonly capabilities: readonly Capability[]
  /** Release date, as YYYY-MM-DD. */
  readonly released?: string
  /**
   * Endpoints that serve the model. Default: all endpoints for its kind for which every upstream has a path.
   *
   * @minItems 1
   */
  readonly endpoints?: readonly Endpoint[]
  /** Maximum output tokens that a hold assumes, even if the call's own limit is higher. */
  readonly hold_output_tokens?: number
  /** Maximum images per call. */
  readonly images_max?: number
  /** Maximum reference images per edit. Providers bill the tokens of each, on top of the image that they make. */
  readonly references_max?: number
  /** Multiplier that turns the gateway's token count into an estimate of the vendor's; used for estimates only (count_tokens, holds, interrupted streams). */
  readonly token_factor?: number
  readonly token_shares?: TokenShares
  readonly counting?: CountingFacts
  readonly deprecated?: DeprecatedFacts
  readonly cost?: CostHistory
  readonly dialect?: DialectFacts
  /**
   * Wire formats in which the upstream serves the model, best first. A call uses the client's own format if that is listed and can express the whole call, else the first format that can. Default: only the format of `api_standard`. The most specific list applies, without formats for which the upstream has no path; dialects of the same format merge.
   *
   * @minItems 1
   * @maxItems 3
   */
  readonly wires?: readonly WireFacts[]
  readonly extras?: ExtrasFacts
  /**
   * Final changes to the upstream request body, made in order by operations such as `set`, `drop` and `map`.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
  /**
   * What clients can call: one line per id, price and upstream.
   *
   * @minItems 1
   */
  readonly entries: readonly EntryFacts[]
}

/** Announces a retirement. Replies carry a warning from `since` on, or from 60 days before `retires` if that is earlier; from `retires` on, the id maps to the successor like an alias. */
export interface DeprecatedFacts {
  /** Date from which replies carry a warning, as YYYY-MM-DD. */
  readonly since: string
  /** Date from which the id resolves to its successor, as YYYY-MM-DD (from 00:00 UTC). */
  readonly retires?: string
  /** Id of the entry that replaces this one. */
  readonly successor?: string
}

/** One line of the price list: an id, its price, and where calls go. Limits given here may only be narrower than the model's. */
export interface EntryFacts {
  /** Id of an entry, which clients send as the model: lower-case letters, digits, `.`, `_` and `-`. It begins with `req/` if the entry is billed per call, and with `<service>/` on the AWS channel. */
  readonly id: string
  /** Display name. Default: derived from the model's. */
  readonly name?: string
  readonly price: Price
  /** Context window: input and output together, in tokens. */
  readonly context_tokens?: number
  /** Maximum output tokens per reply, reasoning included. */
  readonly output_tokens_max?: number
  /** Maximum output tokens that a hold assumes, even if the call's own limit is higher. */
  readonly hold_output_tokens?: number
  /** Maximum images per call. */
  readonly images_max?: number
  /** Maximum reference images per edit. Providers bill the tokens of each, on top of the image that they make. */
  readonly references_max?: number
  readonly deprecated?: DeprecatedFacts
  readonly cost?: CostHistory
  readonly dialect?: DialectFacts
  /**
   * Wire formats in which the upstream serves the model, best first. A call uses the client's own format if that is listed and can express the whole call, else the first format that can. Default: only the format of `api_standard`. The most specific list applies, without formats for which the upstream has no path; dialects of the same format merge.
   *
   * @minItems 1
   * @maxItems 3
   */
  readonly wires?: readonly WireFacts[]
  readonly extras?: ExtrasFacts
  /**
   * Final changes to the upstream request body, made in order by operations such as `set`, `drop` and `map`.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
  readonly upstream: UpstreamFacts
}

/** The exchange rate from a given day. */
export interface FxFacts {
  /** First day on which this applies, as YYYY-MM-DD (from 00:00 UTC). A call uses what applies at the moment it is settled. */
  readonly from: string
  /** Dong that the operator pays for one US dollar, with at most 2 decimals. */
  readonly vnd_per_usd: number
}

/** Share of an upstream's `cost` that the operator pays from a given day. */
export interface DiscountFacts {
  /** First day on which this applies, as YYYY-MM-DD (from 00:00 UTC). A call uses what applies at the moment it is settled. */
  readonly from: string
  /** Factor for every `cost` at this upstream, with at most 4 decimals. With 0.05, the operator pays a twentieth of it; with 1.1, a tenth more. */
  readonly share: number
}

/** Prices for calls whose input exceeds a threshold. */
export interface CostTierFacts {
  /** The tier applies to calls with more input tokens than this, including cached ones. */
  readonly above_tokens: number
  /** USD per million input tokens that are neither read from nor written to the provider's cache. Only together with `output`. */
  readonly input: number
  /** USD per million input tokens read from the provider's cache. Default: as `input`. */
  readonly cached?: number
  /** USD per million input tokens written to the provider's cache. Default: as `input`. */
  readonly cache_write?: number
  /** USD per million output tokens, reasoning included. Only together with `input`. */
  readonly output: number
}

/** The provider's prices from a given day, in USD with at most 6 decimals. */
export interface CostFacts {
  /** First day on which this applies, as YYYY-MM-DD (from 00:00 UTC). A call uses what applies at the moment it is settled. */
  readonly from: string
  /** USD per million input tokens that are neither read from nor written to the provider's cache. Only together with `output`. */
  readonly input?: number
  /** USD per million input tokens read from the provider's cache. Default: as `input`. */
  readonly cached?: number
  /** USD per million input tokens written to the provider's cache. Default: as `input`. */
  readonly cache_write?: number
  /** USD per million output tokens, reasoning included. Only together with `input`. */
  readonly output?: number
  /** USD per image returned, on top of the tokens. */
  readonly image?: number
  /** USD per call, on top of the tokens. */
  readonly call?: number
  /**
   * Prices for calls with long inputs, ascending. A tier's prices apply to all tokens of a call, not only to those above the threshold.
   *
   * @minItems 1
   * @maxItems 8
   */
  readonly tiers?: readonly CostTierFacts[]
}

/** One place where calls can go. */
export interface TargetFacts {
  /** Id of an upstream in upstreams.yaml. Its environment variables are `UPSTREAM_<ID>_…` in capitals with `_` for `-`. */
  readonly via: string
  /** The upstream's own name for the model. Clients never see it. */
  readonly model: string
  readonly standard?: ApiStandard
  /** Relative share of the entry's calls. 0: a fallback, tried after the targets with a weight. If no target has a weight, they are tried in order. */
  readonly weight?: number
  readonly cost?: CostHistory
  readonly dialect?: DialectFacts
  /**
   * Wire formats in which the upstream serves the model, best first. A call uses the client's own format if that is listed and can express the whole call, else the first format that can. Default: only the format of `api_standard`. The most specific list applies, without formats for which the upstream has no path; dialects of the same format merge.
   *
   * @minItems 1
   * @maxItems 3
   */
  readonly wires?: readonly WireFacts[]
  readonly extras?: ExtrasFacts
  /**
   * Final changes to the upstream request body, made in order by operations such as `set`, `drop` and `map`.
   *
   * @maxItems 32
   */
  readonly rules?: readonly Rule[]
}
