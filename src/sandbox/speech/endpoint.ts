/** Answers text to speech with tones. Whatever container is asked for, the audio is WAV (or raw samples for `pcm`). */

import { chatErrors } from '../chat/errors.ts'
import { missing, unsupported, wrongType, wrongValue } from '../chat/refusals.ts'
import { chatErrorEvent } from '../chat/write.ts'
import { countText } from '../count.ts'
import { lookUpModel, type ModelLookup, parseBody, wordsOf } from '../endpoint.ts'
import type { Exchange } from '../exchange.ts'
import { answeredByWords, sendGarbage } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { invalid, type ModelFacts, type StreamStep } from '../model.ts'
import { EVENT_STREAM, sendStream } from '../stream.ts'
import { withoutWords } from '../words.ts'
import { tonesOf, wavHeader } from './wav.ts'

/** Voices where the model's facts name none. */
const VOICES: readonly string[] = [
  ...['alloy', 'ash', 'ballad', 'coral', 'echo', 'fable', 'marin', 'cedar'],
  ...['nova', 'onyx', 'sage', 'shimmer', 'verse'],
]
const FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']
const INPUT_CHARACTERS_MAX = 4_096
const CHUNK_BYTES = 16_384
/** A model speaks this many tokens for each one it reads; paces the stream. */
const TOKENS_PER_CHUNK = 7

/** Throws ProviderError for every refusal. */
export async function answerSpeech(exchange: Exchange, lookUp: ModelLookup): Promise<void> {
  const body = parseBody(await exchange.body(), chatErrors)
  const facts = lookUpModel(body, 'speech', lookUp, chatErrors)
  const input = checkSpeech(body, facts)
  const words = wordsOf(input)
  if (await answeredByWords(words, exchange, chatErrors)) return
  const asEvents = body.stream_format === 'sse'
  if (words.has('garbage')) return sendGarbage(exchange, asEvents)
  exchange.response.setHeader(chatErrors.requestIdHeader, exchange.requestId)
  const isRaw = body.response_format === 'pcm'
  const samples = tonesOf(withoutWords(input), typeof body.speed === 'number' ? body.speed : 1)
  const audio = isRaw ? samples : Buffer.concat([wavHeader(samples.length), samples])
  const contentType = asEvents ? EVENT_STREAM : isRaw ? 'audio/pcm' : 'audio/wav'
  const steps = asEvents ? eventSteps(audio, input, words.has('no-usage')) : audioSteps(audio)
  await sendStream(exchange, steps, { words, errorEvent: asEvents ? chatErrorEvent() : '', contentType })
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

function* chunksOf(audio: Buffer): Generator<Buffer> {
  for (let start = 0; start < audio.length; start += CHUNK_BYTES) yield audio.subarray(start, start + CHUNK_BYTES)
}

function* audioSteps(audio: Buffer): Generator<StreamStep> {
  for (const chunk of chunksOf(audio)) yield { wire: chunk, tokens: TOKENS_PER_CHUNK }
}

function* eventSteps(audio: Buffer, input: string, usageHidden: boolean): Generator<StreamStep> {
  const event = (data: JsonObject) => `data: ${JSON.stringify(data)}\n\n`
  let outputTokens = 0
  for (const chunk of chunksOf(audio)) {
    outputTokens += TOKENS_PER_CHUNK
    yield { wire: event({ type: 'speech.audio.delta', audio: chunk.toString('base64') }), tokens: TOKENS_PER_CHUNK }
  }
  const inputTokens = countText(input)
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
  yield { wire: event({ type: 'speech.audio.done', ...(usageHidden ? {} : { usage }) }), tokens: 0 }
}
