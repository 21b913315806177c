/** Answers text-to-speech calls with tones, in the requested container. */

import { chatErrors } from '../chat/errors.ts'
import { missing, unsupported, wrongType, wrongValue } from '../chat/refusals.ts'
import { chatErrorEvent } from '../chat/write.ts'
import { countText } from '../count.ts'
import { lookUpModel, type ModelLookup, parseBody, wordsOf } from '../endpoint.ts'
import type { Exchange } from '../exchange.ts'
import { answeredByWords, sendGarbage } from '../faults.ts'
import { isObject, type Json, type JsonObject, textOf } from '../json.ts'
import { invalid, type ModelFacts, type StreamStep } from '../model.ts'
import { EVENT_STREAM, sendStream } from '../stream.ts'
import { withoutWords } from '../words.ts'
import { CONTAINERS } from './containers.ts'
import { tonesOf } from './tones.ts'

/** The voices that a model offers unless its facts list others. */
const VOICES: readonly string[] = [
  ...['alloy', 'ash', 'ballad', 'coral', 'echo', 'fable', 'marin', 'cedar'],
  ...['nova', 'onyx', 'sage', 'shimmer', 'verse'],
]
const FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']
const DEFAULT_FORMAT = 'mp3'
const INPUT_CHARACTERS_MAX = 4_096
/** How many output tokens a chunk of audio counts as, which sets the stream's pace. */
const TOKENS_PER_CHUNK = 7

/** Answers one call. Rejects with ProviderError for every refusal. */
export async function answerSpeech(exchange: Exchange, lookUp: ModelLookup): Promise<void> {
  const body = parseBody(await exchange.body(), chatErrors)
  const facts = lookUpModel(body, 'speech', lookUp, chatErrors)
  const input = checkSpeech(body, facts)
  const words = wordsOf(input)
  if (await answeredByWords(words, exchange, chatErrors)) return
  const asEvents = body.stream_format === 'sse'
  if (words.has('garbage')) return sendGarbage(exchange, asEvents)
  exchange.response.setHeader(chatErrors.requestIdHeader, exchange.requestId)
  const container = CONTAINERS[typeof body.response_format === 'string' ? body.response_format : DEFAULT_FORMAT]!
  const write = await container.open()
  const speed = typeof body.speed === 'number' ? body.speed : 1
  const audio = write(tonesOf(withoutWords(input), { pitch: pitchOf(body.voice, facts), speed }))
  const steps = asEvents ? eventSteps(audio, input, words.has('no-usage')) : audioSteps(audio)
  const contentType = asEvents ? EVENT_STREAM : container.contentType
  await sendStream(exchange, steps, { words, errorEvent: asEvents ? chatErrorEvent() : '', contentType })
}

/** Pitch of a voice. Each listed voice has a different pitch; a voice that a customer created gets the pitch of a listed one. */
function pitchOf(voice: Json | undefined, facts: ModelFacts): number {
  const voices = facts.voices ?? VOICES
  if (typeof voice === 'string') return voices.indexOf(voice)
  const id = isObject(voice) ? textOf(voice.id) : ''
  return [...id].reduce((sum, character) => sum + character.codePointAt(0)!, 0) % VOICES.length
}

function checkSpeech(body: JsonObject, facts: ModelFacts): string {
  for (const field of facts.refuses ?? []) if (Object.hasOwn(body, field)) throw unsupported(field)
  const { input, voice, response_format: format, speed, stream_format: streamFormat } = body
  if (input === undefined || input === null) throw missing('input')
  if (typeof input !== 'string') throw wrongType('input', 'a string', input)
  if (input.trim() === '')
    throw invalid("Invalid 'input': string too short.", { param: 'input', code: 'string_below_min_length' })
  if (input.length > INPUT_CHARACTERS_MAX) {
    throw invalid(
      `Invalid 'input': string too long. Expected a string with maximum length ${INPUT_CHARACTERS_MAX}, but got a string with length ${input.length} instead.`,
      { param: 'input', code: 'string_above_max_length' },
    )
  }
  if (voice === undefined || voice === null || voice === '') throw missing('voice')
  if (typeof voice !== 'string' && !isObject(voice)) throw wrongType('voice', 'a string', voice)
  const voices = facts.voices ?? VOICES
  if (typeof voice === 'string' && !voices.includes(voice)) throw wrongValue('voice', voice, voices)
  if (format !== undefined && format !== null && !FORMATS.includes(String(format))) {
    throw wrongValue('response_format', format, FORMATS)
  }
  if (typeof format === 'string' && !Object.hasOwn(CONTAINERS, format)) {
    throw invalid(`The sandbox cannot write '${format}'. It writes ${Object.keys(CONTAINERS).join(', ')}.`, {
      param: 'response_format',
      code: 'unsupported_value',
    })
  }
  if (speed !== undefined && speed !== null) {
    if (typeof speed !== 'number') throw wrongType('speed', 'a decimal', speed)
    if (speed < 0.25 || speed > 4) {
      throw invalid(`Invalid 'speed': expected a value between 0.25 and 4, but got ${speed} instead.`, {
        param: 'speed',
      })
    }
  }
  if (streamFormat !== undefined && streamFormat !== null && streamFormat !== 'sse' && streamFormat !== 'audio') {
    throw wrongValue('stream_format', streamFormat, ['sse', 'audio'])
  }
  return input
}

function* audioSteps(audio: Iterable<Buffer>): Generator<StreamStep> {
  for (const chunk of audio) yield { wire: chunk, tokens: TOKENS_PER_CHUNK }
}

function* eventSteps(audio: Iterable<Buffer>, input: string, usageHidden: boolean): Generator<StreamStep> {
  const event = (data: JsonObject) => `data: ${JSON.stringify(data)}\n\n`
  let outputTokens = 0
  for (const chunk of audio) {
    outputTokens += TOKENS_PER_CHUNK
    yield { wire: event({ type: 'speech.audio.delta', audio: chunk.toString('base64') }), tokens: TOKENS_PER_CHUNK }
  }
  const inputTokens = countText(input)
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
  yield { wire: event({ type: 'speech.audio.done', ...(usageHidden ? {} : { usage }) }), tokens: 0 }
}
