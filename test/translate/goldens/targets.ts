/** Dialects to which the cases are converted: one of each kind that matters. The first of each list is the plain one. */

import type { Dialect, ModelEntry } from '../../../src/generated/types.ts'
import { dialectOf } from '../support.ts'

export interface Target {
  readonly name: string
  readonly dialect: Dialect
  readonly entry?: Partial<ModelEntry>
}

export const CHAT_TARGETS: readonly Target[] = [
  { name: 'plain', dialect: dialectOf() },
  {
    name: 'efforts',
    dialect: dialectOf({
      max_tokens_field: 'max_completion_tokens',
      system_role: 'developer',
      sampling: 'none',
      reasoning: {
        parameter: 'reasoning_effort',
        levels: ['none', 'low', 'medium', 'high', 'xhigh'],
        with_tools: 'absent',
      },
    }),
  },
  {
    name: 'thinking switch, text only',
    dialect: dialectOf({
      sampling: 'none_when_thinking',
      reasoning: { parameter: 'thinking_type', levels: ['low', 'high', 'max'], on_by_default: true },
      reasoning_echo: 'always',
      forced_tool_choice: 'not_with_thinking',
      structured_output: 'json_object',
      images_unsupported: 'placeholder',
      documents: 'placeholder',
      prefill: 'prefix',
      user_field: 'user_id',
      user_characters: 'word',
      tool_strict: 'drop',
    }),
    entry: { capabilities: ['reasoning', 'tools', 'streaming'] },
  },
  {
    name: 'always thinking, picky tools',
    dialect: dialectOf({
      mid_system: 'user_text',
      sampling: 'none',
      reasoning: { parameter: 'enable_thinking', budget_field: 'thinking_budget', on_by_default: true, off: 'no' },
      reasoning_echo: 'if_present',
      reasoning_field: 'reasoning',
      forced_tool_choice: 'not_with_thinking',
      parallel_tool_calls: false,
      tool_name_max: 32,
      tool_name_start: 'letter',
      tool_id: 'word',
      tool_schema: 'no_meta_schema',
      structured_output: 'prompt',
      prefill: 'partial',
      tool_result_images: 'placeholder',
      user_field: 'none',
    }),
  },
  {
    name: 'strict roles, strings, signed calls',
    dialect: dialectOf({
      mid_system: 'hoist',
      alternate_roles: true,
      text_content: 'string',
      tool_id: 'alphanumeric_9',
      reasoning_echo: 'if_present',
      reasoning_field: 'content_parts',
      thought_signature_path: '/extra/signature',
      thought_signature_placeholder: 'skip',
      structured_output: 'tool',
      cache_control: 'pass',
      server_tools: 'drop',
      top_k: true,
      temperature_max: 0.7,
      tool_result_images: 'native',
      stream_options: false,
    }),
  },
]

export const MESSAGES_TARGETS: readonly Target[] = [
  { name: 'plain', dialect: dialectOf({ temperature_max: 1, stop_max: 100 }) },
  {
    name: 'adaptive',
    dialect: dialectOf({
      sampling: 'none',
      temperature_max: 1,
      stop_max: 100,
      tool_name_max: 128,
      cache_control: 'pass',
      structured_output: 'native',
      prefill: 'user_turn',
      reasoning: {
        parameter: 'adaptive',
        levels: ['low', 'medium', 'high', 'xhigh', 'max'],
        display: true,
        budget_accepted: false,
      },
    }),
  },
  {
    name: 'adaptive, always on',
    dialect: dialectOf({
      sampling: 'none',
      stop_max: 100,
      mid_system: 'hoist',
      forced_tool_choice: 'no',
      prefill: 'user_turn',
      reasoning: { parameter: 'adaptive', levels: ['low', 'high'], on_by_default: true, off: 'no', display: true },
    }),
  },
  {
    name: 'budget',
    dialect: dialectOf({
      sampling: 'temperature_xor_top_p',
      temperature_max: 1,
      top_k: true,
      stop_max: 100,
      mid_system: 'user_text',
      forced_tool_choice: 'not_with_thinking',
      prefill: 'yes',
      reasoning: { parameter: 'budget' },
    }),
  },
  {
    name: 'host with restrictions, text only',
    dialect: dialectOf({
      image_url: 'reject',
      images_unsupported: 'placeholder',
      documents: 'placeholder',
      parallel_tool_calls: false,
      tool_strict: 'drop',
      structured_output: 'tool',
      user_field: 'none',
      stop_max: 100,
      effort_beta: 'effort-flag',
      prefill: 'user_turn',
      reasoning: { parameter: 'adaptive', levels: ['low', 'medium', 'high'] },
    }),
    entry: { capabilities: ['tools', 'streaming'] },
  },
]
