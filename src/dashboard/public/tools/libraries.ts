/** Client libraries: vendors' SDKs and frameworks. The tests run the curl, JavaScript and TypeScript snippets. */

import { SHELL, type Tool } from './types.ts'

export const LIBRARIES: readonly Tool[] = [
  {
    id: 'curl',
    name: 'curl',
    blocks: ({ base, key, models }) => [
      {
        label: 'Messages',
        code: `curl ${base}/v1/messages \\
  -H "x-api-key: ${key}" -H "content-type: application/json" \\
  -d '{"model":"${models.messages}","max_tokens":500,
       "messages":[{"role":"user","content":"Xin chào"}]}'`,
      },
      {
        label: 'Chat Completions',
        code: `curl ${base}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" -H "content-type: application/json" \\
  -d '{"model":"${models.chat}",
       "messages":[{"role":"user","content":"Xin chào"}]}'`,
      },
      {
        label: 'Responses',
        code: `curl ${base}/v1/responses \\
  -H "Authorization: Bearer ${key}" -H "content-type: application/json" \\
  -d '{"model":"${models.responses}","input":"Xin chào"}'`,
      },
      ...(models.image === null
        ? []
        : [
            {
              label: 'quickstart.sdk.image',
              code: `curl ${base}/v1/images/generations \\
  -H "Authorization: Bearer ${key}" -H "content-type: application/json" \\
  -d '{"model":"${models.image}","prompt":"Hoa sen lúc bình minh","size":"1024x1024"}'`,
            },
          ]),
    ],
  },
  {
    id: 'python',
    name: 'Python',
    blocks: ({ base, key, models }) => [
      {
        label: 'pip install openai',
        code: `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
reply = client.chat.completions.create(
    model="${models.chat}",
    messages=[{"role": "user", "content": "Xin chào"}],
)
print(reply.choices[0].message.content)`,
      },
      {
        label: 'pip install anthropic',
        code: `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
with client.messages.stream(
    model="${models.messages}",
    max_tokens=1000,
    messages=[{"role": "user", "content": "Xin chào"}],
) as stream:
    for text in stream.text_stream:
        print(text, end="")`,
      },
    ],
  },
  {
    id: 'typescript',
    name: 'TypeScript',
    blocks: ({ base, key, models }) => [
      {
        label: 'npm install openai',
        code: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${base}/v1', apiKey: '${key}' })
const reply = await client.chat.completions.create({
  model: '${models.chat}',
  messages: [{ role: 'user', content: 'Xin chào' }],
})
console.log(reply.choices[0].message.content)`,
      },
      {
        label: 'npm install @anthropic-ai/sdk',
        code: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${base}', apiKey: '${key}' })
const reply = await client.messages.create({
  model: '${models.messages}',
  max_tokens: 500,
  messages: [{ role: 'user', content: 'Xin chào' }],
})
console.log(reply.content)`,
      },
    ],
  },
  {
    id: 'ai-sdk',
    name: 'Vercel AI SDK',
    note: 'quickstart.ai_sdk',
    blocks: ({ base, key, models }) => [
      {
        label: 'npm install ai @ai-sdk/openai-compatible',
        code: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const gateway = createOpenAICompatible({
  name: 'gateway',
  baseURL: '${base}/v1',
  apiKey: '${key}',
  supportsStructuredOutputs: true,
})
const { text } = await generateText({
  model: gateway('${models.chat}'),
  prompt: 'Xin chào',
})
console.log(text)`,
      },
      {
        label: 'npm install ai @ai-sdk/anthropic',
        code: `import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText } from 'ai'

const gateway = createAnthropic({
  baseURL: '${base}/v1',
  apiKey: '${key}',
})
const { text } = await generateText({
  model: gateway('${models.messages}'),
  prompt: 'Xin chào',
})
console.log(text)`,
      },
    ],
  },
  {
    id: 'langchain',
    name: 'LangChain',
    blocks: ({ base, key, models }) => [
      {
        label: 'pip install langchain-openai',
        code: `from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="${models.chat}",
    base_url="${base}/v1",
    api_key="${key}",
)
print(model.invoke("Xin chào").content)`,
      },
      {
        label: 'npm install @langchain/openai @langchain/core',
        code: `import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: '${models.chat}',
  apiKey: '${key}',
  configuration: { baseURL: '${base}/v1' },
})
const reply = await model.invoke('Xin chào')
console.log(reply.content)`,
      },
    ],
  },
  {
    // Without these settings, OpenAILike calls the legacy completions API and assumes a context of 3,900 tokens, according to
    // developers.llamaindex.ai (as of 2026-11-22).
    id: 'llamaindex',
    name: 'LlamaIndex',
    blocks: ({ base, key, models }) => [
      {
        label: 'pip install llama-index-llms-openai-like',
        code: `from llama_index.llms.openai_like import OpenAILike

llm = OpenAILike(
    model="${models.chat}",
    api_base="${base}/v1",
    api_key="${key}",
    is_chat_model=True,
    is_function_calling_model=True,
    context_window=${models.chatContextTokens},
)
print(llm.complete("Xin chào"))`,
      },
    ],
  },
  {
    // These snippets were tested with llm 0.36 on 2026-11-22.
    id: 'llm',
    name: 'llm',
    note: 'quickstart.llm',
    blocks: ({ base, key, models }) => [
      {
        label: 'extra-openai-models.yaml',
        code: [models.chat, models.cheap]
          .map(
            id => `- model_id: ${id}
  model_name: ${id}
  api_base: ${base}/v1
  api_key_name: gateway
  supports_tools: true`,
          )
          .join('\n'),
      },
      { label: SHELL, code: `llm keys set gateway --value ${key}\nllm -m ${models.chat} 'Xin chào'` },
    ],
  },
]
