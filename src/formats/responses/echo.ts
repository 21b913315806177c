/** What the writer of replies needs of a request of this format: how the client knows its tools, and what a reply repeats. */

import type { JsonObject } from '../../lib/json.ts'

export interface ClientTool {
  /** What the client runs when the model calls it, and so the type of the item that it gets. */
  readonly kind: 'function' | 'custom' | 'tool_search'
  /** Without its namespace. */
  readonly name: string
  readonly namespace: string | null
}

export interface ResponsesEcho {
  /** By the name of the definition, as `ToolDefinition.name` has it. Names that are not in here are functions. */
  readonly tools: ReadonlyMap<string, ClientTool>
  /**
   * Members of the reply object that repeat the request, with the format's defaults for what it leaves out: `instructions`,
   * `max_output_tokens`, `metadata`, `parallel_tool_calls`, `prompt_cache_key`, `reasoning`, `safety_identifier`,
   * `temperature`, `text`, `tool_choice`, `tools`, `top_p`, `truncation`, `user`. Values of the client, not copied.
   */
  readonly fields: JsonObject
  /** The client counts on responses being stored (`store` is not false), so it may refer to their items by id. */
  readonly refersToItems: boolean
  /** Ids of the calls in the input: no two calls of a conversation share one. */
  readonly callIds: ReadonlySet<string>
}
