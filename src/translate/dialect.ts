/** The resolved dialect: every default of schemas/dialect.schema.json filled in, keys in camelCase. */

export type EffortLevel = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export interface DialectReasoning {
  readonly parameter: 'none' | 'reasoning_effort' | 'thinking_type' | 'enable_thinking' | 'budget' | 'adaptive'
  readonly levels: readonly EffortLevel[]
  readonly onByDefault: boolean
  readonly off: 'yes' | 'no' | 'up_to_high'
  readonly display: boolean
  readonly budgetAccepted: boolean
  readonly budgetField: 'none' | 'thinking_budget'
  readonly streamOnly: boolean
  readonly withTools: 'yes' | 'explicit_none'
  readonly budgets: { readonly low: number; readonly medium: number; readonly high: number }
  readonly budgetFloors: { readonly medium: number; readonly high: number }
}

export interface Dialect {
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  readonly maxTokensDefault: number
  readonly systemRole: 'system' | 'developer'
  readonly midSystem: 'keep' | 'hoist' | 'user_text'
  readonly alternateRoles: boolean
  readonly textContent: 'parts' | 'string'
  readonly sampling: 'full' | 'none' | 'temperature_xor_top_p' | 'none_when_thinking'
  readonly temperatureMax: number
  readonly topK: boolean
  readonly stopMax: number
  readonly reasoning: DialectReasoning
  readonly reasoningEcho: 'always' | 'if_present' | 'never'
  readonly reasoningField: 'reasoning_content' | 'reasoning' | 'content_parts'
  readonly forcedToolChoice: 'yes' | 'no' | 'not_with_thinking'
  readonly parallelToolCalls: boolean
  readonly toolNameMax: number
  readonly toolNameStart: 'any' | 'letter'
  readonly toolId: 'any' | 'word' | 'alphanumeric_9'
  readonly toolSchema: 'pass' | 'no_meta_schema'
  readonly toolStrict: 'pass' | 'drop'
  readonly toolResultImages: 'native' | 'following_user' | 'placeholder'
  readonly serverTools: 'reject' | 'drop'
  readonly structuredOutput: 'native' | 'json_schema' | 'json_object' | 'tool' | 'prompt'
  readonly imageUrl: 'pass' | 'inline' | 'reject'
  readonly imagesUnsupported: 'reject' | 'placeholder'
  readonly documents: 'file' | 'placeholder' | 'reject'
  readonly prefill: 'yes' | 'no' | 'prefix' | 'partial' | 'user_turn'
  readonly cacheControl: 'pass' | 'drop'
  readonly betas: readonly string[]
  readonly usageCachedPaths: readonly string[]
  readonly usageOutput: 'completion' | 'total_less_prompt'
  readonly userField: 'user' | 'safety_identifier' | 'user_id' | 'none'
  readonly userMax: number
  readonly userCharacters: 'any' | 'word'
  readonly streamOptions: boolean
  readonly thoughtSignature: 'none' | 'extra_content'
  readonly thoughtSignaturePlaceholder: string
  readonly thread: boolean
  readonly onUnsupported: 'strip' | 'refuse'
}
