// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import type { CatalogueSettings, Dialect, Extras, ModelEntry, Rule, Upstream, UpstreamTarget } from './types.ts'

export type EntryId =
  | 'claude-fable-5'
  | 'svc/claude-fable-5'
  | 'req/claude-fable-5'
  | 'claude-opus-5'
  | 'svc/claude-opus-5'
  | 'req/claude-opus-5'
  | 'claude-sonnet-5'
  | 'svc/claude-sonnet-5'
  | 'req/claude-sonnet-5'
  | 'claude-opus-4-8'
  | 'svc/claude-opus-4-8'
  | 'req/claude-opus-4-8'
  | 'claude-opus-4-7'
  | 'svc/claude-opus-4-7'
  | 'claude-opus-4-6'
  | 'svc/claude-opus-4-6'
  | 'claude-opus-4-5'
  | 'svc/claude-opus-4-5'
  | 'claude-sonnet-4-6'
  | 'svc/claude-sonnet-4-6'
  | 'req/claude-sonnet-4-6'
  | 'claude-sonnet-4-5'
  | 'svc/claude-sonnet-4-5'
  | 'claude-haiku-4-5'
  | 'svc/claude-haiku-4-5'
  | 'req/claude-haiku-4-5'
  | 'deepseek-v4-flash'
  | 'req/deepseek-v4-flash'
  | 'svc/deepseek-v3.2'
  | 'req/deepseek-v4-pro'
  | 'gemini-3.5-flash'
  | 'req/gemini-3.5-flash'
  | 'gemini-3.1-pro-preview'
  | 'req/gemini-3.1-pro-preview'
  | 'gemini-3.1-flash-lite'
  | 'req/gemini-3.1-flash-lite'
  | 'gemini-2.5-pro'
  | 'glm-5.2'
  | 'req/glm-5.2'
  | 'glm-5.1'
  | 'req/glm-5.1'
  | 'glm-5v-turbo'
  | 'req/glm-5v-turbo'
  | 'svc/glm-5'
  | 'gpt-6.1-terra'
  | 'gpt-6-sol'
  | 'gpt-6-luna'
  | 'gpt-5.5'
  | 'req/gpt-5.5'
  | 'gpt-5.5-instant'
  | 'req/gpt-5.5-instant'
  | 'gpt-5.4'
  | 'req/gpt-5.4'
  | 'gpt-5.4-mini'
  | 'req/gpt-5.4-mini'
  | 'gpt-5.4-nano'
  | 'gpt-5.3-codex'
  | 'req/gpt-5.3-codex'
  | 'gpt-5.2'
  | 'req/gpt-5.2'
  | 'gpt-5.1'
  | 'req/gpt-5.1'
  | 'gpt-5'
  | 'gpt-5-mini'
  | 'req/gpt-5-mini'
  | 'req/gpt-image-2'
  | 'svc/gpt-oss-120b'
  | 'svc/gpt-oss-20b'
  | 'req/gpt-4o-mini-tts'
  | 'grok-4.3'
  | 'svc/grok-4.3'
  | 'req/grok-4.3'
  | 'req/grok-build-0.1'
  | 'kimi-k2.7-code'
  | 'req/kimi-k2.7-code'
  | 'kimi-k2.6'
  | 'req/kimi-k2.6'
  | 'svc/kimi-k2.5'
  | 'minimax-m3'
  | 'req/minimax-m3'
  | 'svc/minimax-m2.5'
  | 'svc/mistral-large-3'
  | 'qwen3.7-max'
  | 'req/qwen3.7-max'
  | 'qwen3.7-plus'
  | 'req/qwen3.7-plus'
  | 'qwen3-coder-plus'
  | 'req/qwen3-coder-plus'
  | 'svc/qwen3-coder-480b'
  | 'svc/qwen3-vl-235b'

export type UpstreamId =
  | 'anthropic'
  | 'openai'
  | 'deepseek'
  | 'google'
  | 'alibaba'
  | 'zhipuai'
  | 'moonshotai'
  | 'minimax'
  | 'xai'
  | 'aws-bedrock'
  | 'aws-bedrock-openai'

/** Narrowed types, so that tables naming something that does not exist do not compile. */
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

/** What an upstream's API adds to its models' facts. */
export interface HostLayer {
  readonly dialect: (model: Dialect) => Dialect
  readonly extras: Extras
  readonly rules: readonly Rule[]
}
