/**
 * Reading a written response gives back what was written. Reading a damaged stream succeeds or fails as an upstream error,
 * never otherwise.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Seal } from '../../src/conversation/envelope.ts'
import { GatewayError } from '../../src/errors.ts'
import { replayResponse } from '../../src/formats/responses/replay.ts'
import { ResponsesWriter, writeReply } from '../../src/formats/responses/write-reply.ts'
import { responseEvents, strictResponse } from './responses-grammar.ts'
import { eventsOf, read } from './responses-read-support.ts'
import { delta, echoOf, factsOf, folded, open, type Step, USAGE, written } from './responses-support.ts'

const piece = fc.oneof(
  fc.constantFrom('a', ' ', '\n', '"', '\\', 'đồng 🙂', '</x>'),
  fc.string({ minLength: 1, maxLength: 9 }),
)
const pieces = fc.array(piece, { minLength: 1, maxLength: 4 })
const spoken = fc.record({ kind: fc.constantFrom('text', 'refusal'), texts: pieces })
const encrypted = fc.option(fc.stringMatching(/^[\w-]{1,30}$/), { nil: null })
const reasoned = fc.record({
  kind: fc.constant('reasoning'),
  summaries: fc.array(pieces, { minLength: 1, maxLength: 3 }),
  encrypted,
})
const json = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
const invoked = fc.record({
  kind: fc.constant('call'),
  name: fc.constantFrom('look_up', 'apply_patch'),
  text: piece,
  json,
  cut: fc.nat(30),
})
const script = fc.array(fc.oneof(spoken, reasoned, invoked), { maxLength: 6 }).map(parts => parts.map(stepsOf))
type ScriptPart =
  | { kind: string; texts: string[] }
  | { kind: string; summaries: string[][]; encrypted: string | null }
  | { kind: string; name: string; text: string; json: object; cut: number }

function stepsOf(part: ScriptPart, index: number): Step[] {
  if ('texts' in part) {
    return [open({ kind: part.kind as 'text' }), ...part.texts.map(delta), { do: 'close', seal: null }]
  }
  if ('summaries' in part) {
    const told = part.summaries.flatMap((texts, at) => [
      ...(at > 0 ? [{ do: 'startSection' } as const] : []),
      ...texts.map(delta),
    ])
    const seal: Seal | null =
      part.encrypted === null ? null : { wire: 'responses', id: `rs_${index}`, encrypted: part.encrypted }
    return [open({ kind: 'reasoning' }), ...told, { do: 'close', seal }]
  }
  const text = part.name === 'apply_patch' ? JSON.stringify({ input: part.text }) : JSON.stringify(part.json)
  const texts = [text.slice(0, part.cut), text.slice(part.cut)].filter(each => each !== '')
  return [
    open({ kind: 'call', id: `call_${index}`, name: part.name, signature: null }),
    ...texts.map(delta),
    { do: 'close', seal: null },
  ]
}

describe('whatever is written can be read back', () => {
  // Writes sealed reasoning as providers send it, without the envelope that the gateway adds for clients.
  const facts = () => factsOf({ wrapSeal: seal => ('encrypted' in seal ? seal.encrypted : '') })
  const unnamed = (steps: readonly Step[]) =>
    folded(steps).parts.map(part =>
      part.kind === 'reasoning' && part.seal !== null ? { ...part, seal: { ...part.seal, id: null } } : part,
    )

  test('streamed', () => {
    fc.assert(
      fc.property(script, fc.boolean(), (parts, refersToItems) => {
        const steps = parts.flat()
        const sse = written(new ResponsesWriter(echoOf({ refersToItems }), facts()), steps)
        strictResponse(sse)
        const again = read(responseEvents(sse).map(data => ({ name: '', data: JSON.stringify(data) })))
        expect(unnamed(again.steps)).toEqual(unnamed(steps))
        expect(again.usage).toMatchObject({ state: 'final', usage: USAGE })
      }),
    )
  })

  test('whole', () => {
    fc.assert(
      fc.property(script, fc.boolean(), (parts, refersToItems) => {
        const steps = parts.flat()
        const again = read(replayResponse(writeReply(folded(steps), echoOf({ refersToItems }), facts())))
        expect(unnamed(again.steps)).toEqual(unnamed(steps))
        expect(again.usage).toMatchObject({ state: 'final', usage: USAGE })
      }),
    )
  })
})

test('a stream with lost, repeated and reordered events is read by the rules, or fails as an upstream error', () => {
  const change = fc.record({ at: fc.nat(200), to: fc.nat(200), what: fc.constantFrom('drop', 'double', 'move') })
  fc.assert(
    fc.property(script, fc.array(change, { minLength: 1, maxLength: 5 }), (parts, changes) => {
      const events = responseEvents(written(new ResponsesWriter(echoOf(), factsOf()), parts.flat()))
      for (const { at, to, what } of changes) {
        const event = events[at % events.length]
        if (event === undefined) break
        if (what !== 'double') events.splice(at % events.length, 1)
        if (what !== 'drop') events.splice(to % (events.length + 1), 0, event)
      }
      try {
        read(eventsOf(...events))
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.code).toBe('upstream_failed')
      }
    }),
    { numRuns: 300 },
  )
})
