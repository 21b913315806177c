/** A tool, and the snippets that set it up. */

import type { TextKey } from '../../texts/index.ts'

export interface Setup {
  /** Base URL, without a trailing slash. */
  readonly base: string
  /** The key itself if it has just been created, otherwise a placeholder. */
  readonly key: string
  readonly brand: string
  readonly models: ExampleModels
}

/** Ids of the models that snippets name. */
export interface ExampleModels {
  /** For tools such as Claude Code: a model whose upstream speaks the Messages format. */
  readonly messages: string
  readonly chat: string
  readonly responses: string
  /** The model with the lowest price per token among those that can use tools. */
  readonly cheap: string
  readonly chatContextTokens: number
  readonly image: string | null
  readonly speech: string | null
}

export interface Block {
  /** A file name, an install command, or the text key SHELL. */
  readonly label: string
  readonly code: string
}

export interface Tool {
  /** The tool's anchor on the page. */
  readonly id: string
  readonly name: string
  /** Id of the model that the tool uses for background tasks by default. */
  readonly smallModel?: string
  /** Text key of a note to the reader, shown first. `values` fills in its placeholders, such as `{provider}`. */
  readonly note?: TextKey
  readonly values?: (setup: Setup) => Readonly<Record<string, string>>
  readonly blocks?: (setup: Setup) => readonly Block[]
  /** For tools that are configured in a settings window: the value for each field. */
  readonly fields?: (setup: Setup) => readonly (readonly [field: string, value: string])[]
}

/** Text key of the label above blocks of shell commands. */
export const SHELL = 'quickstart.shell'
