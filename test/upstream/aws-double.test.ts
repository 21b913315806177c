/** The AWS test double is faithful: AWS's own client can talk to it, and computes the same signatures as ours. */

import {
  BedrockRuntimeClient,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { createSigner } from '../../src/upstream/aws/sign.ts'
import { SANDBOX_AWS_SECRET } from '../../src/upstream/credentials.ts'
import { startTestSandbox } from '../sandbox/support.ts'

const REGION = 'ap-southeast-1'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.close())

function client(credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }) {
  return new BedrockRuntimeClient({
    region: REGION,
    endpoint: `${sandbox.url}/up`,
    credentials,
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  })
}

const GOOD = { accessKeyId: 'SANDBOX', secretAccessKey: 'key-of-simulated-providers' }

function body(text = 'hi'): Uint8Array {
  return Buffer.from(
    JSON.stringify({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 100,
      messages: [{ role: 'user', content: text }],
    }),
  )
}

test("AWS's client gets a non-streamed reply from the double, with and without a session token", async () => {
  for (const credentials of [GOOD, { ...GOOD, sessionToken: 'a/session+token==' }]) {
    const reply = await client(credentials).send(new InvokeModelCommand({ modelId: 'thinker', body: body() }))
    expect(JSON.parse(Buffer.from(reply.body).toString())).toMatchObject({ type: 'message', stop_reason: 'end_turn' })
  }
})

test("AWS's client decodes its stream, and gets its exceptions as AWS's own", async () => {
  const stream = async (text: string) => {
    const command = new InvokeModelWithResponseStreamCommand({ modelId: 'thinker', body: body(text) })
    const types: string[] = []
    for await (const part of (await client(GOOD).send(command)).body ?? []) {
      if (part.chunk?.bytes) types.push(JSON.parse(Buffer.from(part.chunk.bytes).toString()).type)
    }
    return types
  }
  const types = await stream('hi')
  expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop'])
  await expect(stream('sandbox:error-event')).rejects.toMatchObject({ name: 'ModelStreamErrorException' })
})

test('it refuses signatures made with another key or secret', async () => {
  const call = (credentials: typeof GOOD) =>
    client(credentials).send(new InvokeModelCommand({ modelId: 'thinker', body: body() }))
  await expect(call({ ...GOOD, accessKeyId: 'AKIANOBODY' })).rejects.toMatchObject({
    name: 'UnrecognizedClientException',
  })
  await expect(call({ ...GOOD, secretAccessKey: 'wrong' })).rejects.toMatchObject({ name: 'InvalidSignatureException' })
})

test('it accepts our signatures, and refuses a body, path, header or date that was changed afterwards', async () => {
  const url = new URL(`${sandbox.url}/up/model/thinker/invoke`)
  const signer = createSigner(SANDBOX_AWS_SECRET, REGION)
  const signed = await signer({
    host: url.host,
    path: url.pathname,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(body()),
  })
  const send = async (changes: { path?: string; body?: Uint8Array; headers?: Record<string, string> }) => {
    const response = await fetch(`${sandbox.url}${changes.path ?? url.pathname}`, {
      method: 'POST',
      headers: { ...signed, ...changes.headers },
      body: Buffer.from(changes.body ?? body()),
    })
    return [response.status, response.headers.get('x-amzn-errortype')]
  }
  expect(await send({})).toEqual([200, null])
  const refused = [403, 'InvalidSignatureException:']
  expect(await send({ body: body('other') })).toEqual(refused)
  expect(await send({ path: '/up/model/plain/invoke' })).toEqual(refused)
  expect(await send({ headers: { 'content-type': 'application/json; charset=utf-8' } })).toEqual(refused)
  expect(await send({ headers: { 'x-amz-date': '20200101T000000Z' } })).toEqual(refused)
})

test('signs the same request the same way as AWS documents for its service', async () => {
  const secret = { kind: 'aws', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' } as const
  const headers = await createSigner(
    secret,
    'us-east-1',
  )({
    host: 'bedrock-runtime.us-east-1.amazonaws.com',
    path: `/model/${encodeURIComponent('anthropic.claude-v2:0')}/invoke`,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{}'),
    date: new Date('2026-01-02T03:04:05Z'),
  })
  expect(headers).toMatchObject({
    host: 'bedrock-runtime.us-east-1.amazonaws.com',
    'x-amz-date': '20260102T030405Z',
    'x-amz-security-token': 'token',
    'x-amz-content-sha256': '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  })
  expect(headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260102\/us-east-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
  )
  expect(JSON.stringify(headers)).not.toContain('"secret"')
})
