/** What the writer of replies needs to know of the request: the client's tools, and fields that a reply repeats. */

import type { JsonObject } from '../../lib/json.ts'

export interface ClientTool {
  /** The kind of tool, which determines the type of the call item. */
  readonly kind: 'function' | 'custom' | 'tool_search'
  /** Name without its namespace. */
  readonly name: string
  readonly namespace: string | null
}

export interface ResponsesEcho {
  /** Keyed by `ToolDefinition.name`. Names that are missing here are functions. */
  readonly tools: ReadonlyMap<string, ClientTool>
  /**
   * Members of the reply that repeat the request, with the format's defaults for missing ones: `instructions`,
   * `max_output_tokens`, `metadata`, `parallel_tool_calls`, `prompt_cache_key`, `reasoning`, `safety_identifier`,
   * `temperature`, `text`, `tool_choice`, `tools`, `top_p`, `truncation`, `user`. They refer to the client's values
   * without copying them.
   */
  readonly fields: JsonObject
  /** The client expects responses to be stored (`store` is not false), so it may refer to items by id. */
  readonly refersToItems: boolean
  /** Ids of the calls in the input, because call ids must be unique within a conversation. */
  readonly callIds: ReadonlySet<string>
}
