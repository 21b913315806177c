/** Details of requests that are easily lost in conversion: each test names what the model must still get. */

import { describe, expect, test } from 'vitest'
import type { Dialect, WireName } from '../../src/generated/types.ts'
import { byteText, decodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { editJson } from '../../src/lib/json-text.ts'
import { convertRequest } from '../../src/translate/convert.ts'
import { planSameFormat } from '../../src/translate/same-format.ts'
import { contextOf, dialectOf } from './support.ts'

interface Pair {
  readonly from: WireName
  readonly to: WireName
}

function converted({ from: clientFormat, to: wire }: Pair, body: object, dialect: Dialect = dialectOf()): JsonObject {
  const upstream = wire === 'messages' ? 'messages' : 'chat_completions'
  return convertRequest({ clientFormat, wire }, body as JsonObject, contextOf({ upstream, dialect })).body
}

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })

describe('a conversation that begins with the model', () => {
  const greeting = assistant('Welcome!')
  const begun = [user('Begin.'), greeting, user('hi')]

  test('gets the user message that the messages format requires first', () => {
    const messages = [{ role: 'system', content: 'Be kind.' }, greeting, user('hi')]
    const body = converted({ from: 'chat_completions', to: 'messages' }, { messages })
    expect(body).toMatchObject({ system: 'Be kind.', messages: begun })
    expect(converted({ from: 'responses', to: 'messages' }, { input: [greeting, user('hi')] })).toMatchObject({
      messages: begun,
    })
  })

  test('may begin with a tool call whose question the client has cut off', () => {
    const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const messages = [
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      user('and?'),
    ]
    expect(converted({ from: 'chat_completions', to: 'messages' }, { messages }).messages).toEqual([
      user('Begin.'),
      assistant([{ type: 'tool_use', id: 'c1', name: 'f', input: {} }]),
      user([
        { type: 'tool_result', tool_use_id: 'c1', content: 'ok' },
        { type: 'text', text: 'and?' },
      ]),
    ])
  })

  test('stays as it is in the other formats', () => {
    const body = { messages: [greeting, user('hi')] }
    expect(converted({ from: 'chat_completions', to: 'responses' }, body).input).toHaveLength(2)
    expect(converted({ from: 'messages', to: 'chat_completions' }, { ...body, max_tokens: 9 }).messages).toHaveLength(2)
  })
})

describe('a request of instructions only', () => {
  const items = { instructions: 'Be kind.', input: [{ role: 'developer', content: 'Greet me.' }] }

  test.each(['messages', 'chat_completions'] as const)('has its last one as a user message over %s', to => {
    const { system, messages } = converted({ from: 'responses', to }, items)
    const first = to === 'messages' ? [] : [{ role: 'system', content: 'Be kind.' }]
    expect(messages).toEqual([...first, user('Greet me.')])
    expect(system).toBe(to === 'messages' ? 'Be kind.' : undefined)
  })
})

describe('a failed tool call', () => {
  const patch = { type: 'apply_patch_call', call_id: 'c1', operation: { type: 'delete_file', path: 'a' } }
  const failed = (output: unknown) => [
    user('hi'),
    patch,
    { type: 'apply_patch_call_output', call_id: 'c1', status: 'failed', output },
  ]
  const resultOf = (input: object[]) => {
    const { messages } = converted({ from: 'responses', to: 'messages' }, { input })
    return ((messages as JsonObject[])[2]!.content as JsonObject[])[0]
  }
  const result = { type: 'tool_result', tool_use_id: 'c1', is_error: true }

  test('is marked as an error in the messages format', () => {
    expect(resultOf(failed('no such file'))).toEqual({ ...result, content: 'no such file' })
    expect(resultOf([user('hi'), patch])).toEqual({ ...result, content: 'The output of this call is not known.' })
  })

  test('always has content, without which the messages format refuses an error', () => {
    for (const output of ['', null, undefined])
      expect(resultOf(failed(output))).toEqual({ ...result, content: 'Error' })
  })
})

describe("a document's context", () => {
  const textPart = (text: string) => ({ type: 'text', text })
  const asked = (...documents: object[]) => ({
    max_tokens: 9,
    messages: [user([...documents.map(document => ({ type: 'document', ...document })), textPart('?')])],
  })
  const contentOf = (to: WireName, ...documents: object[]) => {
    const { messages, input } = converted({ from: 'messages', to }, asked(...documents))
    return ((messages ?? input) as JsonObject[])[0]!.content
  }
  const pdf = { source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'a.pdf' }

  test('comes before a PDF', () => {
    expect(contentOf('chat_completions', { ...pdf, context: 'From 2019.' })).toEqual([
      textPart('From 2019.'),
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
      textPart('?'),
    ])
    expect(contentOf('responses', { ...pdf, context: 'From 2019.' })).toEqual([
      { type: 'input_text', text: 'From 2019.' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
      { type: 'input_text', text: '?' },
    ])
  })

  test('comes between title and text', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'Once.' }
    const list = { type: 'content', content: [textPart('one'), textPart('two')] }
    const named = { title: 'Tale', context: 'From 2019.' }
    expect(contentOf('chat_completions', { source, ...named }, { source: list, ...named })).toEqual([
      textPart('Tale\n\nFrom 2019.\n\nOnce.'),
      ...['Tale', 'From 2019.', 'one', 'two', '?'].map(textPart),
    ])
    expect(contentOf('chat_completions', { source, title: null, context: null })).toEqual([
      textPart('Once.'),
      textPart('?'),
    ])
  })
})

describe("a document's title", () => {
  const named = (to: WireName, title?: string) => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }
    const messages = [user([{ type: 'document', source, ...(title !== undefined && { title }) }])]
    const body = converted({ from: 'messages', to }, { max_tokens: 9, messages })
    const [part] = ((to === 'responses' ? body.input : body.messages) as { content: JsonObject[] }[])[0]!.content
    return ((part!.file ?? part) as JsonObject).filename
  }

  test.each(['chat_completions', 'responses'] as const)('becomes the name of a PDF file (%s)', to => {
    expect(named(to, 'Quarterly report')).toBe('Quarterly report.pdf')
    expect(named(to, 'Report v1.2')).toBe('Report v1.2.pdf')
    expect(named(to, 'Report.PDF')).toBe('Report.PDF')
    expect(named(to, '')).toBe('document.pdf')
    expect(named(to)).toBe('document.pdf')
  })
})

describe('a stop sequence of white space', () => {
  const messages = [user('hi')]

  test('counts as one, so that it is not lost on a model without stop sequences', () => {
    const body = { messages, stop: '\n' }
    expect(() => converted({ from: 'chat_completions', to: 'responses' }, body)).toThrow(
      'stop: this model does not accept stop sequences; leave the field out',
    )
    const many = { messages, stop: ['a', 'b', 'c', 'd', '\n'] } as unknown as JsonObject
    const facts = {
      entry: { outputTokensMax: 1_000, contextTokens: null, capabilities: [] },
      target: { dialect: dialectOf() },
    }
    expect(() => planSameFormat({ format: 'chat_completions', body: many, ...facts })).toThrow(
      'stop: this model accepts at most 4 stop sequences',
    )
  })

  test('is left out for the messages format, which refuses it', () => {
    const stop = ['END', ' \n', '']
    expect(converted({ from: 'chat_completions', to: 'messages' }, { messages, stop }).stop_sequences).toEqual(['END'])
    expect(converted({ from: 'chat_completions', to: 'messages' }, { messages, stop: '\n' }).stop_sequences).toBe(
      undefined,
    )
  })
})

describe('a document of a chat client', () => {
  const file = (file_data: string, filename = 'a.pdf') => ({ type: 'file', file: { filename, file_data } })
  const ask = (...parts: object[]) => ({ messages: [user([...parts, { type: 'text', text: '?' }])] })
  const url = 'https://example.com/a.pdf'

  test('is fetched by the provider if it came by URL, as some clients send it', () => {
    const [message] = converted({ from: 'chat_completions', to: 'messages' }, ask(file(url))).messages as JsonObject[]
    expect(message?.content).toMatchObject([{ type: 'document', source: { type: 'url', url } }, {}])
    const [item] = converted({ from: 'chat_completions', to: 'responses' }, ask(file(url))).input as JsonObject[]
    expect(item?.content).toMatchObject([{ type: 'input_file', file_url: url }, {}])
  })
})

describe('a document for a chat model that takes it as image_url', () => {
  const dialect = dialectOf({ content: { documents: 'image_url' } })
  const pdf = 'data:application/pdf;base64,JVBE'
  const image = { type: 'image_url', image_url: { url: pdf } }
  const block = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } }

  function sameFormat(file: object): unknown {
    return (adapted([{ type: 'file', file }])[0]!.content as JsonObject[])[0]
  }
  function adapted(content: object[]): JsonObject[] {
    const body = { messages: [user(content)] } as unknown as JsonObject
    const entry = { outputTokensMax: 9, contextTokens: 99, capabilities: ['vision' as const] }
    const { edits } = planSameFormat({ format: 'chat_completions', body, entry, target: { dialect } })
    const edited = editJson(byteText(Buffer.from(JSON.stringify(body))), edits)
    return (JSON.parse(decodeText(edited)) as { messages: JsonObject[] }).messages
  }

  test('arrives there, from clients of every format', () => {
    const input = [user([{ type: 'input_file', filename: 'a.pdf', file_data: pdf }])]
    const expected = [user([image])]
    expect(converted({ from: 'responses', to: 'chat_completions' }, { input }, dialect).messages).toEqual(expected)
    const messages = { max_tokens: 9, messages: [user([block])] }
    expect(converted({ from: 'messages', to: 'chat_completions' }, messages, dialect).messages).toEqual(expected)
    expect(sameFormat({ filename: 'a.pdf', file_data: pdf })).toEqual(image)
    expect(sameFormat({ filename: 'a.pdf', file_data: 'JVBE' })).toEqual(image)
    const note = { filename: 'a.md', file_data: 'data:text/markdown;base64,aGk=' }
    expect(adapted([{ type: 'file', file: note }])).toEqual([user('a.md\n\nhi')])
  })

  test('arrives there from a tool result', () => {
    const call = { type: 'tool_use', id: 't', name: 'Read', input: {} }
    const result = { type: 'tool_result', tool_use_id: 't', content: [block] }
    const body = { max_tokens: 9, messages: [user('Read it.'), assistant([call]), user([result])] }
    expect(converted({ from: 'messages', to: 'chat_completions' }, body, dialect).messages).toMatchObject([
      {},
      {},
      { role: 'tool', content: '[image: see the next user message]' },
      user([{ type: 'text', text: 'Attached to the result of tool call t:' }, image]),
    ])
  })

  test('is refused by URL and by id, with what to do', () => {
    const byUrl = 'messages[0]: documents by URL are not supported by this model; send the document as base64'
    expect(() => sameFormat({ file_data: 'https://example.com/a.pdf' })).toThrow(byUrl)
    const source = { type: 'url', url: 'https://example.com/a.pdf' }
    const messages = { max_tokens: 9, messages: [user([{ type: 'document', source }])] }
    expect(() => converted({ from: 'messages', to: 'chat_completions' }, messages, dialect)).toThrow(
      'documents by URL are not supported by this model',
    )
    expect(() => sameFormat({ file_id: 'file-1' })).toThrow('messages[0]: file ids belong to one provider')
  })
})

describe("an image's detail", () => {
  const url = 'https://example.com/a.png'
  const chat = (image: object) => ({ messages: [user([{ type: 'image_url', image_url: { url, ...image } }])] })
  const items = (image: object) => ({ input: [user([{ type: 'input_image', image_url: url, ...image }])] })
  const imageOf = ({ messages, input }: JsonObject) =>
    (((messages ?? input) as JsonObject[])[0]!.content as JsonObject[])[0]

  test.each(['low', 'high'])('%s is carried between the chat and the responses format', detail => {
    expect(imageOf(converted({ from: 'chat_completions', to: 'responses' }, chat({ detail })))).toMatchObject({
      detail,
    })
    expect(imageOf(converted({ from: 'responses', to: 'chat_completions' }, items({ detail })))).toEqual({
      type: 'image_url',
      image_url: { url, detail },
    })
  })

  test.each(['auto', 'original', 'blurred', null])('%s is left out where the chat format does not know it', detail => {
    expect(imageOf(converted({ from: 'responses', to: 'chat_completions' }, items({ detail })))).toEqual({
      type: 'image_url',
      image_url: { url },
    })
  })
})

describe('what a JSON reply is for', () => {
  const schema = { type: 'object', properties: {}, required: [], additionalProperties: false }
  const format = { name: 'n', description: 'A recipe.', schema, strict: true }
  const chat = { messages: [user('hi')], response_format: { type: 'json_schema', json_schema: format } }
  const items = { input: 'hi', text: { format: { type: 'json_schema', ...format } } }

  test('is carried between the chat and the responses format', () => {
    expect(converted({ from: 'chat_completions', to: 'responses' }, chat).text).toEqual(items.text)
    expect(converted({ from: 'responses', to: 'chat_completions' }, items).response_format).toEqual(
      chat.response_format,
    )
  })

  test("stands in the schema's description where the format has no field for it", () => {
    const native = dialectOf({ structured_output: { method: 'native' } })
    const asked = (body: object) =>
      converted({ from: 'chat_completions', to: 'messages' }, body, native).output_config as JsonObject
    expect(asked(chat)).toEqual({ format: { type: 'json_schema', schema: { ...schema, description: 'A recipe.' } } })
    const titled = { ...format, schema: { ...schema, description: 'With steps.' } }
    expect(asked({ ...chat, response_format: { type: 'json_schema', json_schema: titled } })).toEqual({
      format: { type: 'json_schema', schema: { ...schema, description: 'A recipe.\n\nWith steps.' } },
    })
  })

  test('stands in the instruction of a model without JSON schemas', () => {
    const prompt = dialectOf({ structured_output: { method: 'prompt' } })
    const { system } = converted({ from: 'responses', to: 'messages' }, items, prompt)
    expect(system).toContain('"description":"A recipe."')
  })
})

describe('instructions in the middle of a chat conversation', () => {
  const system = (content: string) => ({ role: 'system', content })
  const placed = (...messages: object[]) =>
    converted({ from: 'chat_completions', to: 'messages' }, { messages: [user('hi'), ...messages] }).messages

  test('stay instructions where the messages format allows them', () => {
    const turns = [user('hi'), system('a'), assistant('b'), user('c'), system('d')]
    expect(placed(...turns.slice(1))).toEqual(turns)
  })

  test.each<[string, object[], object[]]>([
    ['after a reply', [assistant('a'), system('b')], [assistant('a'), user('b')]],
    [
      'between two replies',
      [assistant('a'), system('b'), assistant('c'), user('d')],
      [assistant('a'), user('b'), assistant('c'), user('d')],
    ],
    ['before a question', [system('a'), user('b')], [user('a'), user('b')]],
    [
      'after another, after a reply',
      [assistant('a'), system('b'), system('c')],
      [assistant('a'), user('b'), system('c')],
    ],
  ])('become user text %s', (_, messages, expected) => {
    expect(placed(...messages)).toEqual([user('hi'), ...expected])
  })
})

describe('a call that the client has answered twice', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const other = { ...call, id: 'c2' }
  const tool = (tool_call_id: string, content: string) => ({ role: 'tool', tool_call_id, content })
  const asked = [user('hi'), { role: 'assistant', content: null, tool_calls: [call, other] }]
  const results = (messages: readonly object[]) => {
    const body = converted({ from: 'chat_completions', to: 'messages' }, { messages })
    return (body.messages as JsonObject[]).slice(2)
  }
  const result = (tool_use_id: string, content: unknown) => ({ type: 'tool_result', tool_use_id, content })

  test('has one result with all that was said', () => {
    const answers = [tool('c1', 'Started.'), tool('c2', 'b'), tool('c1', 'Done.')]
    const texts = ['Started.', 'Done.'].map(text => ({ type: 'text', text }))
    expect(results([...asked, ...answers])).toEqual([user([result('c1', texts), result('c2', 'b')])])
  })

  test('has its result once if both are the same', () => {
    const answers = [tool('c1', 'a'), tool('c2', 'b'), tool('c1', 'a'), user('go on')]
    const first = [result('c1', 'a'), result('c2', 'b')]
    expect(results([...asked, ...answers])).toEqual([user([...first, { type: 'text', text: 'go on' }])])
  })

  test('has failed if it failed in the end', () => {
    const failed = { ...result('c1', 'Gone.'), is_error: true }
    const answers = [tool('c1', 'Started.'), tool('c2', 'b'), user([failed])]
    expect(results([...asked, ...answers])).toMatchObject([
      user([{ ...failed, content: [{ text: 'Started.' }, { text: 'Gone.' }] }, result('c2', 'b')]),
    ])
  })

  test('and named twice, among the content and the calls, is one call', () => {
    const block = { type: 'tool_use', id: 'c1', name: 'f', input: {} }
    const content = [{ type: 'text', text: 'Let me see.' }, block]
    const messages = [user('hi'), { role: 'assistant', content, tool_calls: [call] }, tool('c1', 'a')]
    const body = converted({ from: 'chat_completions', to: 'messages' }, { messages })
    expect((body.messages as JsonObject[]).slice(1)).toEqual([assistant(content), user([result('c1', 'a')])])
  })
})

describe('strict tools of other formats', () => {
  const closed = { type: 'object', properties: { n: { type: 'string' } }, required: ['n'], additionalProperties: false }
  const ranged = { ...closed, properties: { n: { type: 'integer', minimum: 1 } } }
  const nullable = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`p${index}`, { type: ['string', 'null'] }]),
  )
  const large = { ...closed, properties: nullable, required: Object.keys(nullable) }
  const strictOf = (schemas: readonly object[], more: object = {}) => {
    const tools = schemas.map((parameters, index) => ({
      type: 'function',
      function: { name: `f${index}`, parameters, strict: true },
    }))
    const native = dialectOf({ structured_output: { method: 'native' } })
    const body = converted(
      { from: 'chat_completions', to: 'messages' },
      { messages: [user('hi')], tools, ...more },
      native,
    )
    return (body.tools as JsonObject[]).map(({ strict }) => strict === true)
  }

  test('stay strict only with schemas that a messages upstream accepts', () => {
    expect(strictOf([closed, ranged, closed])).toEqual([true, false, true])
  })

  test('all lose it if they are beyond what a messages upstream accepts together', () => {
    expect(strictOf(Array(20).fill(closed))).toEqual(Array(20).fill(true))
    expect(strictOf(Array(21).fill(closed))).toEqual(Array(21).fill(false))
    expect(strictOf([large])).toEqual([true])
    expect(strictOf([large, large])).toEqual([false, false])
    const response_format = { type: 'json_schema', json_schema: { name: 'n', schema: large, strict: true } }
    expect(strictOf([large], { response_format })).toEqual([false])
  })
})

describe('a summary of the reasoning, requested without an effort', () => {
  const thinkingOf = (reasoning: object, facts: object) => {
    const dialect = dialectOf({ reasoning: { parameter: 'adaptive', display: 'on_request', ...facts } })
    return converted({ from: 'responses', to: 'messages' }, { input: 'hi', reasoning }, dialect).thinking
  }

  test('is requested from a model that reasons by default', () => {
    const shown = { type: 'adaptive', display: 'summarized' }
    expect(thinkingOf({ summary: 'auto' }, { by_default: true })).toEqual(shown)
    expect(thinkingOf({ summary: null }, { by_default: true })).toBeUndefined()
    expect(thinkingOf({ summary: 'none' }, { by_default: true })).toBeUndefined()
  })

  test('turns no reasoning on', () => {
    expect(thinkingOf({ summary: 'auto' }, { by_default: false })).toBeUndefined()
  })
})
