/** A sandbox without delays, with a few upstream models to try. */

import { type ModelFacts, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts'

const chat: ModelFacts = {
  kind: 'chat',
  reasoning: true,
  vision: true,
  tools: true,
  contextTokens: 200_000,
  outputTokensMax: 64_000,
}

export const MODELS: Readonly<Record<string, ModelFacts>> = {
  thinker: chat,
  plain: { ...chat, reasoning: false, vision: false, tools: false, contextTokens: 1_000, outputTokensMax: 500 },
  sober: { ...chat, refuses: ['temperature', 'prefill', 'role:system'] },
  picky: { ...chat, refuses: ['temperature', 'max_tokens', 'role:developer'] },
  sealer: { ...chat, reasoningItems: 'sealed', effortBesideTools: 'refused' },
  writer: { ...chat, reasoningItems: 'text', reasonsByDefault: true, effortBesideTools: 'explicit_none' },
  painter: { ...chat, kind: 'image' },
  speaker: { ...chat, kind: 'speech', voices: ['nova', 'echo'] },
}

export function startTestSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return startSandbox({
    modelFacts: (upstreamId, model) => (upstreamId === 'up' ? (MODELS[model] ?? null) : null),
    modelNames: () => Object.keys(MODELS),
    pace: { firstTokenMs: 0, tokensPerSecond: 0 },
    ...options,
  })
}

export const PATHS = {
  messages: '/up/v1/messages',
  chat: '/up/v1/chat/completions',
  responses: '/up/v1/responses',
  images: '/up/v1/images/generations',
  edits: '/up/v1/images/edits',
  speech: '/up/v1/audio/speech',
} as const

/** Sends a request with credentials, for bodies that SDKs would not send. */
export function post(sandbox: Sandbox, path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return fetch(sandbox.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer any',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** The smallest valid body of each format. */
export function smallBody(format: 'messages' | 'chat' | 'responses', text: string, more: object = {}): object {
  if (format === 'responses') return { model: 'thinker', input: text, ...more }
  const messages = [{ role: 'user', content: text }]
  return { model: 'thinker', ...(format === 'messages' ? { max_tokens: 1_000 } : {}), messages, ...more }
}

/** A minimal image file in each of four formats: 16 × 9 pixels for WebP, 3 × 2 for the others. */
export const PICTURES: Readonly<Record<string, Buffer>> = {
  'image/png': Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==',
    'base64',
  ),
  'image/gif': Buffer.from('R0lGODlhAwACAIAAAAAAAP///ywAAAAAAwACAAACAoRRADs=', 'base64'),
  'image/jpeg': Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080002000301011100ffd9', 'hex'),
  'image/webp': Buffer.from(`52494646${'24000000'}574542505650385818000000${'10000000'}0f00000800000000`, 'hex'),
}
