/** What a response's writer must know about the request: the client's tools, and the fields that the response repeats. */

import type { JsonObject } from '../../lib/json.ts'

export interface ClientTool {
  /** The kind of tool determines the type of the call item. */
  readonly kind: 'function' | 'custom' | 'tool_search'
  /** The tool's name without its namespace. */
  readonly name: string
  readonly namespace: string | null
}

export interface ResponsesEcho {
  /** The client's tools, keyed by `ToolDefinition.name`. A name that is missing here belongs to a function. */
  readonly tools: ReadonlyMap<string, ClientTool>
  /**
   * Members of the response that repeat the request, with the format's defaults for missing ones: `instructions`,
   * `max_output_tokens`, `metadata`, `parallel_tool_calls`, `prompt_cache_key`, `reasoning`, `safety_identifier`, `temperature`,
   * `text`, `tool_choice`, `tools`, `top_p`, `truncation`, `user`. The values are the client's own objects, not copies.
   */
  readonly fields: JsonObject
  /**
   * Whether the client may later refer to the reply's items by id, because it expects them to be stored (`store` is not false).
   */
  readonly refersToItems: boolean
  /** Ids of the calls in the input. New calls must not reuse them. */
  readonly callIds: ReadonlySet<string>
}
