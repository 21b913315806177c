/** A tool, and the blocks that set it up. */

import type { TextKey } from '../../texts/index.ts'

export interface Setup {
  /** Without a slash at the end. */
  readonly base: string
  /** The key itself where it was just created, otherwise a placeholder. */
  readonly key: string
  readonly brand: string
  readonly models: ExampleModels
}

/** Entry ids. */
export interface ExampleModels {
  /** For tools such as Claude Code: its upstream speaks the Messages format. */
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
  /** A file, a command that installs, or a text key for "command line". */
  readonly label: string
  readonly code: string
}

export interface Tool {
  /** Anchor on the page. */
  readonly id: string
  readonly name: string
  /** The model id that the tool itself asks for in minor work. */
  readonly smallModel?: string
  /** What the reader should know first; `{provider}` and the like are filled in by `values`. */
  readonly note?: TextKey
  readonly values?: (setup: Setup) => Readonly<Record<string, string>>
  readonly blocks?: (setup: Setup) => readonly Block[]
  /** For tools that are set up in a window: what goes into which field. */
  readonly fields?: (setup: Setup) => readonly (readonly [field: string, value: string])[]
}

/** Shown in the reader's language. */
export const SHELL = 'quickstart.shell'
