/** Counts input tokens locally: for `count_tokens`, and for the bill if the provider reports no usage. */

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { InputWeight } from '../conversation/input-weight.ts'
import { GatewayError } from '../errors.ts'
import { weighInput as weighChat } from '../formats/chat/input-weight.ts'
import { weighInput as weighMessages } from '../formats/messages/input-weight.ts'
import { weighInput as weighResponses } from '../formats/responses/input-weight.ts'
import type { CountingPicture, ModelEntry, WireName } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { inTurn } from '../lib/loop-turns.ts'
import type { PictureSize } from '../lib/picture.ts'
import { textShares } from '../lib/text-shares.ts'
import { countTokens, countTokensInTurns } from '../lib/tokens.ts'
import { modelHeaders } from './billing-headers.ts'
import type { HeaderMap } from './call.ts'
import { type BodyLimits, readChatBody } from './receive.ts'
import { refuseWrongEndpoint, resolve } from './resolve.ts'

export interface TokenCount {
  readonly inputTokens: number
  readonly headers: HeaderMap
}

export interface CountOptions {
  readonly limits: BodyLimits
  readonly format: WireName
}

/** Counts the input tokens of a request body. Rejects with GatewayError if the format's own endpoint would reject the body. */
export async function countInput(
  catalogue: Catalogue,
  raw: Buffer,
  { limits, format }: CountOptions,
): Promise<TokenCount> {
  // Null makes it parse every value, because all of them are counted.
  const body = await readChatBody(raw, limits, format, null)
  const resolution = resolve(catalogue, body.requestedName, format)
  refuseWrongEndpoint(resolution, format)
  if (format === 'responses') refuseMemory(body.json)
  return {
    inputTokens: await tokensInTurns(await inTurn(() => weigh(body.json, format)), resolution.entry),
    headers: modelHeaders(catalogue.settings.service, resolution, new Date()),
  }
}

/** Refuses to count when some content is stored at the provider: it is not in the body, so the count would be wrong. */
function refuseMemory(body: JsonObject): void {
  for (const field of ['previous_response_id', 'conversation']) {
    if (body[field] === undefined || body[field] === null) continue
    throw new GatewayError('previous_response_not_found', {
      param: field,
      message: `${field} cannot be counted: this service stores no responses. Send the whole conversation in input.`,
    })
  }
}

const WEIGH = { messages: weighMessages, chat_completions: weighChat, responses: weighResponses } as const

/** Gathers what counts as input in a body of this format. */
export function weigh(body: JsonObject, format: WireName): InputWeight {
  return WEIGH[format](body)
}

/** Number of input tokens as the entry's vendor would count them. */
export function tokensOf(weight: InputWeight, entry: ModelEntry): number {
  const text = joined(weight)
  return total(weight, entry, countTokens(text) * factorOf(text, entry))
}

async function tokensInTurns(weight: InputWeight, entry: ModelEntry): Promise<number> {
  const text = joined(weight)
  return total(weight, entry, (await countTokensInTurns(text)) * factorOf(text, entry))
}

/** All texts as one, which is counted once: only samples of a very long text are counted, which limits the work. */
function joined({ texts }: InputWeight): string {
  return texts.join('\n')
}

function total(
  { images, documentPages, turns, tools }: InputWeight,
  { counting }: ModelEntry,
  textTokens: number,
): number {
  const imageTokens = images.reduce((sum, size) => sum + imageTokensOf(size, counting.picture), 0)
  return Math.ceil(
    counting.requestTokens +
      turns * counting.turnTokens +
      textTokens +
      (tools === 0 ? 0 : counting.toolInstructionsTokens) +
      imageTokens +
      documentPages * counting.pageTokens,
  )
}

/** Shares of symbols, capitals and accented letters above which they no longer change a text's token factor. */
const SHARE_MAX = { symbols: 0.2, capitals: 0.2, accents: 0.3 } as const

/** Factor from our token count to the vendor's, given the kinds of characters in the text. */
function factorOf(text: string, { tokenFactor, tokenShares }: ModelEntry): number {
  if (tokenShares === undefined) return tokenFactor
  const shares = textShares(text)
  const { symbols = 0, capitals = 0, accents = 0 } = tokenShares
  return (
    tokenFactor +
    symbols * Math.min(shares.symbols, SHARE_MAX.symbols) +
    capitals * Math.min(shares.capitals, SHARE_MAX.capitals) +
    accents * Math.min(shares.accents, SHARE_MAX.accents)
  )
}

function imageTokensOf(size: PictureSize | null, picture: CountingPicture): number {
  if (size === null) return picture.unknownTokens
  const scale = Math.min(1, picture.edgePixelsMax / Math.max(size.width, size.height))
  const tokens = (size.width * scale * size.height * scale) / picture.pixelsPerToken
  return Math.min(picture.tokensMax, Math.ceil(tokens))
}
