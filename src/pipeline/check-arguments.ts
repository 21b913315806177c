/**
 * Limits the values in the arguments of a conversation's tool calls before a conversion parses them. They are JSON within strings,
 * so the scan of the body has not counted them.
 */

import { GatewayError } from '../errors.ts'
import type { WireName } from '../generated/types.ts'
import { ofCharacters } from '../lib/byte-text.ts'
import { arrayOrEmpty, type JsonObject, type JsonValue, memberOf } from '../lib/json.ts'
import { scanJson } from '../lib/json-parse.ts'
import { JsonSizeError } from '../lib/json-scan.ts'
import { NestingError } from '../lib/json-text.ts'
import type { BodyLimits } from './receive.ts'

/** Rejects with GatewayError `invalid_request` if all arguments together have too many values. */
export async function checkArguments(body: JsonObject, format: WireName, { bodyValuesMax }: BodyLimits): Promise<void> {
  let values = 0
  for (const text of argumentsIn(body, format)) {
    if (typeof text !== 'string') continue
    try {
      const scan = await scanJson(ofCharacters(text), { valuesMax: bodyValuesMax - values })
      values += scan.values
    } catch (error) {
      if (error instanceof JsonSizeError) throw tooMany(bodyValuesMax)
      // Arguments that are nested so deeply are not parsed at all.
      if (!(error instanceof NestingError)) throw error
    }
  }
}

function argumentsIn(body: JsonObject, format: WireName): (JsonValue | undefined)[] {
  if (format === 'messages') return []
  if (format === 'responses') return arrayOrEmpty(body.input).map(item => memberOf(item, 'arguments'))
  return arrayOrEmpty(body.messages).flatMap(message => [
    memberOf(memberOf(message, 'function_call'), 'arguments'),
    ...arrayOrEmpty(memberOf(message, 'tool_calls')).map(call => memberOf(memberOf(call, 'function'), 'arguments')),
  ])
}

function tooMany(valuesMax: number): GatewayError {
  return new GatewayError('invalid_request', {
    message: `The arguments of the tool calls have more than ${valuesMax} values, which exceeds this service's limit. Send less.`,
  })
}
