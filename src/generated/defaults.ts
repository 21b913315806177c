// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import type { Dialect, Extras, ModelEntry, Upstream } from './types.ts'

/** What a model accepts by default. */
export const DIALECT: Dialect = {
  output: {
    capField: 'max_tokens',
    capMin: null,
    choicesMax: null,
  },
  turns: {
    systemRole: 'system',
    midSystem: 'keep',
    alternate: false,
    prefill: 'unsupported',
    threads: false,
    phase: false,
    itemIds: 'keep',
  },
  content: {
    text: 'parts',
    imageUrl: 'pass',
    imagesUnsupported: 'reject',
    documents: 'file',
    cacheControl: 'drop',
  },
  sampling: {
    parameters: 'all',
    temperatureMax: 2,
    topK: false,
    stopMax: 4,
  },
  reasoning: {
    parameter: null,
    levels: null,
    byDefault: false,
    disable: 'allowed',
    display: 'always',
    budgetAccepted: true,
    budgetField: null,
    streamOnly: false,
    besideTools: 'accepted',
    budgets: {
      low: 2048,
      medium: 8192,
      high: 16384,
    },
    budgetFloors: {
      medium: 4096,
      high: 16384,
    },
    field: 'reasoning_content',
    tag: null,
    echo: 'never',
    echoPlaceholder: null,
    sealed: false,
    refusedSeal: null,
  },
  tools: {
    forced: 'accepted',
    parallelFlag: true,
    nameMax: 64,
    nameStart: 'any',
    callId: 'any',
    arguments: 'any',
    schema: 'pass',
    strict: 'pass',
    resultImages: 'following_user',
    leftOut: null,
    custom: 'function',
    signature: {
      path: null,
      placeholder: null,
    },
  },
  structuredOutput: {
    method: 'json_schema',
  },
  usage: {
    input: null,
    output: null,
    cached: null,
    reasoning: null,
    outputCounts: 'all',
    streamOptions: true,
  },
  endUser: {
    field: 'user',
    lengthMax: 64,
    characters: 'any',
  },
  betas: {
    unlisted: 'pass',
    flags: {},
    effort: null,
  },
}

/** What happens to extras by default. */
export const EXTRAS: Extras = {
  fields: {
    service_tier: 'leave_out',
    speed: 'leave_out',
    inference_geo: 'leave_out',
    fallbacks: 'refuse',
    best_of: 'leave_out',
    deferred: 'leave_out',
    quality: 'leave_out',
    size: 'leave_out',
    input_fidelity: 'leave_out',
    complexity: 'leave_out',
    output_format: 'refuse',
    svg: 'refuse',
    frame_count: 'refuse',
    frame_duration_ms: 'refuse',
  },
  tools: {
    web_search: 'leave_out',
    web_fetch: 'leave_out',
    x_search: 'leave_out',
    code_execution: 'leave_out',
    code_interpreter: 'leave_out',
    image_generation: 'leave_out',
    file_search: 'leave_out',
    mcp: 'leave_out',
    computer: 'leave_out',
    shell: 'leave_out',
    advisor: 'refuse',
  },
}

/** Default facts of entries. */
export const ENTRY = {
  contextTokens: null,
  outputTokensMax: null,
  descriptionVi: null,
  releasedOn: null,
  holdOutputTokens: 1024,
  imagesMax: 10,
  referencesMax: 16,
  tokenFactor: 1,
  counting: {
    requestTokens: 3,
    turnTokens: 3,
    toolInstructionsTokens: 12,
    pageTokens: 2200,
    picture: { edgePixelsMax: 1568, pixelsPerToken: 750, tokensMax: 1600, unknownTokens: 1600 },
  },
  aliases: [],
  deprecated: null,
} as const satisfies Partial<ModelEntry>

/** Default settings of upstreams. */
export const UPSTREAM = {
  wire: 'plain',
  headers: {},
  forwardHeaders: [],
  betas: null,
  fields: {},
  errors: null,
  attemptsMax: 2,
  concurrencyMax: 4096,
  discount: [],
  fx: [],
  cooldown: { failures: 5, baseMs: 10000, maxMs: 300000 },
  connectTimeoutMs: 10000,
  firstByteTimeoutMs: 120000,
  idleTimeoutMs: 900000,
  totalTimeoutMs: 900000,
} as const satisfies Partial<Upstream>

/** Changes the dialect of entries priced per call, which get a single reply. */
export const perCall = (dialect: Dialect): Dialect => ({
  ...dialect,
  output: {
    ...dialect.output,
    choicesMax: 1,
  },
})
