// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import type { CatalogueSettings, ModelEntry, Upstream, UpstreamTarget } from './types.ts'

export type EntryId =
  | 'claude-fable-5'
  | 'claude-haiku-4-5'
  | 'claude-opus-4-5'
  | 'claude-opus-4-6'
  | 'claude-opus-4-7'
  | 'claude-opus-4-8'
  | 'claude-opus-5'
  | 'claude-sonnet-4-5'
  | 'claude-sonnet-4-6'
  | 'claude-sonnet-5'
  | 'deepseek-v4-flash'
  | 'gemini-2.5-pro'
  | 'gemini-3.1-flash-lite'
  | 'gemini-3.1-pro-preview'
  | 'gemini-3.5-flash'
  | 'glm-5.1'
  | 'glm-5.2'
  | 'glm-5v-turbo'
  | 'gpt-5'
  | 'gpt-5-mini'
  | 'gpt-5.1'
  | 'gpt-5.2'
  | 'gpt-5.3-codex'
  | 'gpt-5.4'
  | 'gpt-5.4-mini'
  | 'gpt-5.4-nano'
  | 'gpt-5.5'
  | 'gpt-5.5-instant'
  | 'gpt-6-luna'
  | 'gpt-6-sol'
  | 'gpt-6.1-terra'
  | 'grok-4.3'
  | 'kimi-k2.6'
  | 'kimi-k2.7-code'
  | 'minimax-m3'
  | 'qwen3-coder-plus'
  | 'qwen3.7-max'
  | 'qwen3.7-plus'
  | 'req/claude-fable-5'
  | 'req/claude-haiku-4-5'
  | 'req/claude-opus-4-8'
  | 'req/claude-opus-5'
  | 'req/claude-sonnet-4-6'
  | 'req/claude-sonnet-5'
  | 'req/deepseek-v4-flash'
  | 'req/deepseek-v4-pro'
  | 'req/gemini-3.1-flash-lite'
  | 'req/gemini-3.1-pro-preview'
  | 'req/gemini-3.5-flash'
  | 'req/glm-5.1'
  | 'req/glm-5.2'
  | 'req/glm-5v-turbo'
  | 'req/gpt-4o-mini-tts'
  | 'req/gpt-5-mini'
  | 'req/gpt-5.1'
  | 'req/gpt-5.2'
  | 'req/gpt-5.3-codex'
  | 'req/gpt-5.4'
  | 'req/gpt-5.4-mini'
  | 'req/gpt-5.5'
  | 'req/gpt-5.5-instant'
  | 'req/gpt-image-2'
  | 'req/grok-4.3'
  | 'req/grok-build-0.1'
  | 'req/kimi-k2.6'
  | 'req/kimi-k2.7-code'
  | 'req/minimax-m3'
  | 'req/qwen3-coder-plus'
  | 'req/qwen3.7-max'
  | 'req/qwen3.7-plus'
  | 'svc/claude-fable-5'
  | 'svc/claude-haiku-4-5'
  | 'svc/claude-opus-4-5'
  | 'svc/claude-opus-4-6'
  | 'svc/claude-opus-4-7'
  | 'svc/claude-opus-4-8'
  | 'svc/claude-opus-5'
  | 'svc/claude-sonnet-4-5'
  | 'svc/claude-sonnet-4-6'
  | 'svc/claude-sonnet-5'
  | 'svc/deepseek-v3.2'
  | 'svc/glm-5'
  | 'svc/gpt-oss-120b'
  | 'svc/gpt-oss-20b'
  | 'svc/grok-4.3'
  | 'svc/kimi-k2.5'
  | 'svc/minimax-m2.5'
  | 'svc/mistral-large-3'
  | 'svc/qwen3-coder-480b'
  | 'svc/qwen3-vl-235b'

export type UpstreamId =
  | 'alibaba'
  | 'anthropic'
  | 'aws-bedrock'
  | 'aws-bedrock-openai'
  | 'deepseek'
  | 'google'
  | 'minimax'
  | 'moonshotai'
  | 'openai'
  | 'xai'
  | 'zhipuai'

/** The tables may only name what exists: anything else does not compile. */
export interface TableEntry extends ModelEntry {
  readonly id: EntryId
  readonly upstreams: readonly TableTarget[]
}

export interface TableTarget extends UpstreamTarget {
  readonly via: UpstreamId
}

export interface TableUpstream extends Upstream {
  readonly id: UpstreamId
}

export interface TableSettings extends CatalogueSettings {
  readonly fallback: EntryId
  readonly aliases: Readonly<Record<string, EntryId>>
}
