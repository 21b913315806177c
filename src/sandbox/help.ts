/** The sandbox's help page. It lists the words, such as `sandbox:error=500`, with which prompts control the sandbox. */

import { wordsTable } from './words.ts'

export function helpText(): string {
  return `This is the sandbox: a double of the model providers. Its replies are simulated and cost nothing.

Base URL of a provider: <this address>/<upstream id>. It answers POST …/messages, …/chat/completions, …/responses,
…/images/generations, …/images/edits, …/audio/speech, …/model/<model>/invoke (and invoke-with-response-stream), and
GET …/models. Any credentials do. Each reply carries the header "x-sandbox: simulated".

Words in the last user message that change the answer:

${wordsTable()}
`
}
