/**
 * JSON Schemas for the API's request and response bodies. Request schemas list the fields that the gateway reads. Fields that a
 * schema does not list are allowed.
 */

import { PERIODS } from '../../lib/period.ts'

export type Schema = Readonly<Record<string, unknown>>

interface Field {
  readonly schema: Schema
  readonly description: string
}

/** Schema of an object that may have other fields too. An asterisk after a name makes the field required. */
export function object(fields: Readonly<Record<string, Field>>): Schema {
  const entries = Object.entries(fields).map(([name, field]) => [name.replace('*', ''), field] as const)
  const required = Object.keys(fields)
    .filter(name => name.endsWith('*'))
    .map(name => name.slice(0, -1))
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, { schema, description }]) => [name, { ...schema, description }]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: true,
  }
}

export function field(schema: Schema, description: string): Field {
  return { schema, description }
}

export const TEXT: Schema = { type: 'string' }
export const FLAG: Schema = { type: 'boolean' }
export const WHOLE: Schema = { type: 'integer', minimum: 0 }
export const POSITIVE: Schema = { type: 'integer', minimum: 1 }
const AMOUNT: Schema = { type: 'number', minimum: 0 }
const AMOUNT_OR_NULL: Schema = { type: ['number', 'null'], minimum: 0 }
const OPEN: Schema = { type: 'object', additionalProperties: true }
const LIST: Schema = { type: 'array', items: OPEN }
const MODEL_NAMES =
  'An id from the price list or one of its aliases; upper and lower case are the same. `vendor/id` names the same model.'
const MODEL = field(
  TEXT,
  `${MODEL_NAMES} Any other name is served by a default model, at its price; \`model\` in the reply says which.`,
)
const COUNTED_MODEL = field(TEXT, MODEL_NAMES)
const STREAM = field(FLAG, '`true`: reply with server-sent events. Recommended for long replies.')

const TURNS: Schema = {
  type: 'array',
  items: object({
    'role*': field(TEXT, 'Such as `user` or `assistant`.'),
    content: field({ type: ['string', 'array', 'null'] }, 'Text, or a list of text, image and tool blocks.'),
  }),
}

export const SCHEMAS: Readonly<Record<string, Schema>> = {
  MessagesRequest: object({
    'model*': MODEL,
    'max_tokens*': field(POSITIVE, 'Maximum number of output tokens.'),
    'messages*': field(TURNS, 'The conversation, oldest turn first.'),
    system: field({ type: ['string', 'array'] }, 'Instructions that come before the conversation.'),
    stream: STREAM,
    tools: field(LIST, 'Tools that the model may call.'),
    tool_choice: field(OPEN, 'Whether the model must call a tool.'),
    thinking: field(OPEN, 'How much the model may think first.'),
    stop_sequences: field({ type: 'array', items: TEXT }, 'Texts that end the reply.'),
  }),
  MessagesReply: object({
    'id*': field(TEXT, 'Id of this reply.'),
    'type*': field({ const: 'message' }, 'Always `message`.'),
    'role*': field({ const: 'assistant' }, 'Always `assistant`.'),
    'model*': field(TEXT, 'The entry that served the call, in the spelling of the request.'),
    'content*': field(LIST, 'Text, thinking and tool calls.'),
    'stop_reason*': field({ type: ['string', 'null'] }, 'Why the reply ended: `end_turn`, `max_tokens`, `tool_use`, …'),
    'usage*': field(
      object({ 'input_tokens*': field(WHOLE, 'Input.'), 'output_tokens*': field(WHOLE, 'Output.') }),
      'Tokens.',
    ),
  }),
  ChatRequest: object({
    'model*': MODEL,
    'messages*': field(TURNS, 'The conversation, oldest turn first.'),
    max_completion_tokens: field(POSITIVE, 'Maximum number of output tokens; `max_tokens` works too.'),
    stream: STREAM,
    stream_options: field(OPEN, '`include_usage` adds token counts to a stream.'),
    tools: field(LIST, 'Tools that the model may call.'),
    tool_choice: field({ type: ['string', 'object'] }, 'Whether the model must call a tool.'),
    reasoning_effort: field(TEXT, 'How much the model may think first.'),
    response_format: field(OPEN, 'Asks for a reply in JSON, or one that follows a JSON Schema.'),
  }),
  ChatReply: object({
    'id*': field(TEXT, 'Id of this reply.'),
    'object*': field({ const: 'chat.completion' }, 'Always `chat.completion`.'),
    'model*': field(TEXT, 'The entry that served the call, in the spelling of the request.'),
    'choices*': field(LIST, 'The choices, each with `message` and `finish_reason`.'),
    usage: field(OPEN, 'Token counts.'),
  }),
  ResponsesRequest: object({
    'model*': MODEL,
    'input*': field({ type: ['string', 'array'] }, 'Text, or a list of items.'),
    instructions: field({ type: ['string', 'null'] }, 'Instructions that come before the input.'),
    stream: STREAM,
    tools: field(LIST, 'Tools that the model may call.'),
    reasoning: field({ type: ['object', 'null'] }, 'How much the model may think first.'),
  }),
  ResponsesReply: object({
    'id*': field(TEXT, 'Id of this reply.'),
    'object*': field({ const: 'response' }, 'Always `response`.'),
    'output*': field(LIST, 'Messages and tool calls.'),
    usage: field(OPEN, 'Token counts.'),
  }),
  ImageRequest: object({
    'model*': field(TEXT, 'Id of an image model.'),
    'prompt*': field(TEXT, 'What to draw.'),
    n: field(POSITIVE, 'How many images; each is charged.'),
    size: field({ type: 'string' }, '`<width>x<height>`, such as `1024x1024`.'),
  }),
  ImageEditRequest: object({
    'model*': field(TEXT, 'Id of an image model.'),
    'prompt*': field(TEXT, 'What to change.'),
    image: field(
      TEXT,
      'Reference image: a data URL, base64, or a public address. Or call it `image_url`, `reference_image`, `ref_image`; give exactly one.',
    ),
    n: field(POSITIVE, 'How many images; each is charged.'),
    size: field(TEXT, '`<width>x<height>`.'),
  }),
  ImageReply: object({
    'created*': field(WHOLE, 'Seconds since 1970.'),
    'data*': field(LIST, 'The images, each with `b64_json` or `url`.'),
  }),
  SpeechRequest: object({
    'model*': field(TEXT, 'Id of a speech model.'),
    'input*': field(TEXT, 'Text to read aloud.'),
    'voice*': field(TEXT, 'Name of a voice, such as `alloy`.'),
    response_format: field(TEXT, 'Such as `mp3` or `wav`.'),
    speed: field({ type: 'number' }, 'From 0.25 to 4.'),
  }),
  CountRequest: object({
    'model*': COUNTED_MODEL,
    'messages*': field(TURNS, 'As in the Messages format.'),
    system: field({ type: ['string', 'array'] }, 'As in the Messages format.'),
    tools: field(LIST, 'As in the Messages format.'),
  }),
  CountReply: object({ 'input_tokens*': field(WHOLE, 'An estimate.') }),
  InputTokensRequest: object({
    'model*': COUNTED_MODEL,
    'input*': field({ type: ['string', 'array'] }, 'Text, or a list of items.'),
    instructions: field({ type: ['string', 'null'] }, 'Instructions that come before the input.'),
    tools: field(LIST, 'Tools that the model may call.'),
  }),
  InputTokensReply: object({
    'object*': field({ const: 'response.input_tokens' }, 'Always `response.input_tokens`.'),
    'input_tokens*': field(WHOLE, 'An estimate.'),
  }),
  Model: object({
    'id*': field(TEXT, 'The id to send as `model`.'),
    'display_name*': field(TEXT, 'For people.'),
    'context_length*': field({ type: ['integer', 'null'] }, 'Maximum number of tokens in a conversation.'),
    'max_tokens*': field({ type: ['integer', 'null'] }, 'Maximum number of output tokens of a call.'),
    'channel*': field({ enum: ['standard', 'aws'] }, 'Where the model runs.'),
    'endpoints*': field({ type: 'array', items: TEXT }, 'The endpoints where it can be called.'),
    'price*': field(
      object({
        'currency*': field({ const: 'VND' }, 'Vietnamese dong.'),
        'unit*': field({ enum: ['1M_tokens', 'request', 'image'] }, 'What the amount pays for.'),
        'amount*': field(TEXT, 'Whole dong, as text.'),
      }),
      'What it costs.',
    ),
  }),
  ModelList: object({
    'object*': field({ const: 'list' }, 'Always `list`.'),
    'data*': field({ type: 'array', items: { $ref: '#/components/schemas/Model' } }, 'Sorted by id.'),
    'has_more*': field(FLAG, 'Whether there is a next page.'),
  }),
  Key: object({
    'data*': field(
      object({
        'label*': field(TEXT, "The key's prefix and its last four characters."),
        'name*': field(TEXT, 'The name that its owner gave it.'),
        'limit*': field(AMOUNT_OR_NULL, "The key's own limit in VND; null: none."),
        'limit_remaining*': field(AMOUNT_OR_NULL, 'What is left of that limit.'),
        'limit_reset*': field(
          { enum: [...PERIODS, null] },
          'How often the limit starts anew; null: never, or no limit.',
        ),
        'limit_resets_at*': field({ type: ['string', 'null'] }, 'When the limit next starts anew; null: never.'),
        'usage*': field(AMOUNT, 'What the key has cost, in VND.'),
        'usage_daily*': field(AMOUNT, 'Today.'),
        'usage_weekly*': field(AMOUNT, 'Since Monday.'),
        'usage_monthly*': field(AMOUNT, 'This month.'),
        'expires_at*': field({ type: ['string', 'null'] }, 'When the key stops working; null: never.'),
        'allowed_models*': field(
          { type: ['array', 'null'], items: TEXT },
          'Ids of models that the key may call, and `family/*`; null: all.',
        ),
        'rpm*': field({ type: ['integer', 'null'] }, 'Calls per minute; null: no limit.'),
        'concurrency*': field({ type: ['integer', 'null'] }, 'Calls at the same time; null: no limit.'),
        'balance*': field(TEXT, "The wallet's balance in VND, exact."),
        'held*': field(TEXT, 'The part of the balance that is held for calls in flight.'),
        'currency*': field({ const: 'VND' }, 'Vietnamese dong.'),
        'time_zone*': field({ const: 'Asia/Ho_Chi_Minh' }, 'The time zone of days, weeks and months.'),
      }),
      'The key of the request.',
    ),
  }),
  Error: object({
    'type*': field({ const: 'error' }, 'Always `error`.'),
    'error*': field(
      object({
        'type*': field(TEXT, 'One of the error types.'),
        'message*': field(TEXT, 'What was wrong and what to do.'),
        'code*': field({ type: ['string', 'null'] }, 'More precise than the type.'),
        metadata: field(
          object({
            'limit_source*': field(
              { enum: ['wallet', 'key', 'calls_per_minute', 'calls_in_flight'] },
              'The limit that the call ran into.',
            ),
            limit: field({ type: ['string', 'integer'] }, 'The limit, in VND or in calls.'),
            used: field(TEXT, 'What was spent of that limit, in VND.'),
            resets_at: field({ type: ['string', 'null'] }, 'When the limit starts anew; null: never.'),
          }),
          'Present when a limit caused a 402 or 429.',
        ),
      }),
      'The error.',
    ),
    'request_id*': field(TEXT, 'Quote it when you ask for help.'),
  }),
}
