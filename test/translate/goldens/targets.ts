/**
 * The dialects that the golden cases are converted for: one for each dialect feature that affects conversion. The first in each
 * format's list is plain, without special features.
 */

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
      output: { cap_field: 'max_completion_tokens' },
      turns: { system_role: 'developer' },
      sampling: { parameters: null },
      reasoning: {
        parameter: 'reasoning_effort',
        levels: ['none', 'low', 'medium', 'high', 'xhigh'],
        beside_tools: 'refused',
      },
    }),
  },
  {
    name: 'thinking switch, text only',
    dialect: dialectOf({
      sampling: { parameters: 'all_unless_thinking' },
      reasoning: { parameter: 'thinking_type', levels: ['low', 'high', 'max'], by_default: true, echo: 'always' },
      tools: { forced: 'not_with_thinking', strict: 'drop' },
      structured_output: { method: 'json_object' },
      content: { images_unsupported: 'placeholder', documents: 'placeholder' },
      turns: { prefill: 'prefix' },
      end_user: { field: 'user_id', characters: 'word' },
    }),
    entry: { capabilities: ['reasoning', 'tools', 'streaming'] },
  },
  {
    name: 'always thinking, picky tools',
    dialect: dialectOf({
      turns: { mid_system: 'user_text', prefill: 'partial' },
      sampling: { parameters: null },
      reasoning: {
        parameter: 'enable_thinking',
        budget_field: 'thinking_budget',
        by_default: true,
        disable: 'refused',
        echo: 'if_present',
        field: 'reasoning',
      },
      tools: {
        forced: 'not_with_thinking',
        parallel_flag: false,
        name_max: 32,
        name_start: 'letter',
        call_id: 'word',
        schema: 'no_meta_schema',
        result_images: 'placeholder',
      },
      structured_output: { method: 'prompt' },
      end_user: { field: null },
    }),
  },
  {
    name: 'strict roles, strings, signed calls',
    dialect: dialectOf({
      turns: { mid_system: 'hoist', alternate: true },
      content: { text: 'string', cache_control: 'pass' },
      tools: {
        call_id: 'alphanumeric_9',
        signature: { path: '/extra/signature', placeholder: 'skip' },
        left_out: ['*'],
        result_images: 'native',
      },
      reasoning: { echo: 'if_present', field: 'content_parts' },
      structured_output: { method: 'tool' },
      sampling: { top_k: true, temperature_max: 0.7 },
      usage: { stream_options: false },
    }),
  },
]

export const MESSAGES_TARGETS: readonly Target[] = [
  { name: 'plain', dialect: dialectOf({ sampling: { temperature_max: 1, stop_max: 100 } }) },
  {
    name: 'adaptive',
    dialect: dialectOf({
      sampling: { parameters: null, temperature_max: 1, stop_max: 100 },
      tools: { name_max: 128 },
      content: { cache_control: 'pass' },
      structured_output: { method: 'native' },
      turns: { prefill: 'user_turn' },
      reasoning: {
        parameter: 'adaptive',
        levels: ['low', 'medium', 'high', 'xhigh', 'max'],
        display: 'on_request',
        budget_accepted: false,
      },
    }),
  },
  {
    name: 'adaptive, always on',
    dialect: dialectOf({
      sampling: { parameters: null, stop_max: 100 },
      turns: { mid_system: 'hoist', prefill: 'user_turn' },
      tools: { forced: 'refused' },
      reasoning: {
        parameter: 'adaptive',
        levels: ['low', 'high'],
        by_default: true,
        disable: 'refused',
        display: 'on_request',
      },
    }),
  },
  {
    name: 'budget',
    dialect: dialectOf({
      sampling: { parameters: 'temperature_xor_top_p', temperature_max: 1, top_k: true, stop_max: 100 },
      turns: { mid_system: 'user_text', prefill: 'continue' },
      tools: { forced: 'not_with_thinking' },
      reasoning: { parameter: 'budget' },
    }),
  },
  {
    name: 'host with restrictions, text only',
    dialect: dialectOf({
      content: { image_url: 'reject', images_unsupported: 'placeholder', documents: 'placeholder' },
      tools: { parallel_flag: false, strict: 'drop' },
      structured_output: { method: 'tool' },
      end_user: { field: null },
      sampling: { stop_max: 100 },
      betas: { effort: 'effort-flag' },
      turns: { prefill: 'user_turn' },
      reasoning: { parameter: 'adaptive', levels: ['low', 'medium', 'high'] },
    }),
    entry: { capabilities: ['tools', 'streaming'] },
  },
]
