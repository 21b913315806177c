/**
 * A conversation between the formats: typed pieces that each room reads its client's format into and writes its
 * upstream's format from. What one format cannot say has no place here, so that no unknown key slips through.
 */

import type { JsonObject } from '../lib/json.ts'

export interface TextPiece {
  readonly kind: 'text'
  readonly text: string
  readonly cacheControl?: JsonObject
}

export type ImageSource =
  | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }

export interface ImagePiece {
  readonly kind: 'image'
  readonly source: ImageSource
  readonly cacheControl?: JsonObject
}

/** A PDF; text documents are read as text. */
export interface DocumentPiece {
  readonly kind: 'document'
  readonly mediaType: string
  readonly data: string
  /** File name or title; '' where none was given. */
  readonly title: string
  readonly cacheControl?: JsonObject
}

export interface ThinkingPiece {
  readonly kind: 'thinking'
  readonly text: string
}

/** Something stood here that no other provider can use: what is around it does not belong together. */
export interface GapPiece {
  readonly kind: 'gap'
}

export interface CallPiece {
  readonly kind: 'call'
  /** As the client wrote it; '' when missing. */
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  /** Signature that a provider wants back with the call; null without one. */
  readonly signature: string | null
}

export type ResultContent = TextPiece | ImagePiece | DocumentPiece

export interface ResultPiece {
  readonly kind: 'result'
  /** Id of the call that it answers; '' when the format names the function only. */
  readonly id: string
  /** Name of the function, where that is all there is; else ''. */
  readonly name: string
  readonly content: readonly ResultContent[]
  readonly isError: boolean
  /** Place in the request, for refusals. */
  readonly place: string
  readonly cacheControl?: JsonObject
}

export type Piece = TextPiece | ImagePiece | DocumentPiece | ThinkingPiece | GapPiece | CallPiece | ResultPiece

export interface Turn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly pieces: readonly Piece[]
  /** Place in the request, for refusals. */
  readonly place: string
}

/** A function that the model may call. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string | null
  readonly schema: JsonObject
  readonly strict: boolean
  readonly cacheControl?: JsonObject
}

export type ToolChoice = { readonly mode: 'auto' | 'none' | 'any' } | { readonly mode: 'tool'; readonly name: string }

export interface ToolWish {
  readonly definitions: readonly ToolDefinition[]
  /** null: the request does not say. */
  readonly choice: ToolChoice | null
  /** The client forbids several calls in one turn. */
  readonly oneCallOnly: boolean
}

/** A JSON reply that the client asks for. */
export type StructureWish =
  | { readonly kind: 'schema'; readonly name: string; readonly schema: JsonObject; readonly strict: boolean }
  | { readonly kind: 'object' }

export function textOf(pieces: readonly Piece[], separator: string): string {
  return pieces
    .filter(piece => piece.kind === 'text')
    .map(piece => piece.text)
    .join(separator)
}
