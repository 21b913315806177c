/** The commands of the command line, in the order in which the help lists them. */

export interface CommandSpec {
  readonly name: string
  readonly usage: string
  readonly purpose: string
  /** Number of words after the command. */
  readonly words: number
  readonly options: readonly (
    | 'credit'
    | 'label'
    | 'reason'
    | 'ref'
    | 'retry-after'
    | 'memo'
    | 'account'
    | 'older-than'
    | 'concurrency'
    | 'days'
    | 'from'
    | 'to'
    | 'limit'
    | 'per'
    | 'expires'
    | 'models'
    | 'overlap'
    | 'mode'
  )[]
}

export const COMMANDS: readonly CommandSpec[] = [
  { name: 'serve', usage: 'serve', purpose: 'Start the gateway; Ctrl-C stops it', words: 0, options: [] },
  {
    name: 'account create',
    usage: 'account create EMAIL [--credit VND]',
    purpose: 'Open an account with a first API key',
    words: 1,
    options: ['credit'],
  },
  {
    name: 'account operator',
    usage: 'account operator EMAIL owner|finance|support|read-only|off',
    purpose: 'Give or take a role that opens the operator pages (on: owner)',
    words: 2,
    options: [],
  },
  {
    name: 'account reset-second-factor',
    usage: 'account reset-second-factor EMAIL --reason TEXT',
    purpose: 'Remove the second factor of somebody who has lost both authenticator and recovery codes',
    words: 1,
    options: ['reason'],
  },
  {
    name: 'key create',
    usage: 'key create EMAIL [--label TEXT]',
    purpose: 'Create another API key',
    words: 1,
    options: ['label'],
  },
  { name: 'key list', usage: 'key list EMAIL', purpose: 'List the keys of an account', words: 1, options: [] },
  {
    name: 'key set',
    usage:
      'key set EMAIL KEY_ID [--label TEXT] [--limit VND] [--per day|week|month|ever] [--expires DAY] [--models IDS]',
    purpose:
      'Change only the options given: a limit (or none), the last day of the key (or never), models as ids and family/*, separated by commas (or all)',
    words: 2,
    options: ['label', 'limit', 'per', 'expires', 'models'],
  },
  {
    name: 'key limit',
    usage: 'key limit EMAIL KEY_ID CALLS [--concurrency N]',
    purpose:
      'Limit a key to CALLS per minute, whatever its owner sets (0: no limit; default: the owner decides; same: unchanged), and to N in flight (or default)',
    words: 3,
    options: ['concurrency'],
  },
  { name: 'key disable', usage: 'key disable EMAIL KEY_ID', purpose: 'Pause a key, at once', words: 2, options: [] },
  {
    name: 'key enable',
    usage: 'key enable EMAIL KEY_ID',
    purpose: 'Switch a paused key on again',
    words: 2,
    options: [],
  },
  {
    name: 'key rotate',
    usage: 'key rotate EMAIL KEY_ID [--overlap HOURS]',
    purpose: 'Give a key a new secret; the old one keeps working for HOURS (0 to 24; default 0)',
    words: 2,
    options: ['overlap'],
  },
  { name: 'key revoke', usage: 'key revoke EMAIL KEY_ID', purpose: 'Revoke a key immediately', words: 2, options: [] },
  {
    name: 'credit',
    usage: 'credit EMAIL VND --reason TEXT [--ref TEXT]',
    purpose:
      'Add money to a wallet (take some: credit --reason TEXT -- EMAIL -5000); each --ref is booked once per account. Not for bank transfers, which payment assign and payment enter book once',
    words: 2,
    options: ['reason', 'ref'],
  },
  {
    name: 'payment unmatched',
    usage: 'payment unmatched',
    purpose: 'List the transfers that could not be matched automatically, oldest first',
    words: 0,
    options: [],
  },
  {
    name: 'payment pull',
    usage: 'payment pull',
    purpose: 'Ask the services that list transactions for transfers that they did not report',
    words: 0,
    options: [],
  },
  {
    name: 'payment assign',
    usage: 'payment assign NUMBER EMAIL|ORDER --reason TEXT',
    purpose: 'Credit an unmatched transfer to an account or an order',
    words: 2,
    options: ['reason'],
  },
  {
    name: 'payment enter',
    usage: 'payment enter BANK_REFERENCE VND --memo TEXT --reason TEXT [--account NUMBER]',
    purpose: 'Enter a transfer that no service reported; each reference is entered once',
    words: 2,
    options: ['memo', 'reason', 'account'],
  },
  {
    name: 'audit',
    usage: 'audit [--mode full|incremental]',
    purpose: 'Recompute wallets and payments, all (full) or only what is new (incremental); every difference must be 0',
    words: 0,
    options: ['mode'],
  },
  {
    name: 'maintenance on',
    usage: 'maintenance on [--retry-after SECONDS]',
    purpose:
      'Refuse new calls on every gateway; calls in flight finish. Clients are told to wait for SECONDS, or as long as last time',
    words: 0,
    options: ['retry-after'],
  },
  { name: 'maintenance off', usage: 'maintenance off', purpose: 'Take calls again', words: 0, options: [] },
  {
    name: 'upstream status',
    usage: 'upstream status',
    purpose: 'Show the state of upstreams and credentials as each running gateway sees it',
    words: 0,
    options: [],
  },
  {
    name: 'model unknown',
    usage: 'model unknown [--days DAYS]',
    purpose: 'List names that clients asked for in the last DAYS (default 7) and that no model has',
    words: 0,
    options: ['days'],
  },
  {
    name: 'usage export',
    usage: 'usage export FILE [--from DAY] [--to DAY]',
    purpose: 'Write the calls of all accounts, and what they cost, to a new CSV file; without days: the last 30',
    words: 1,
    options: ['from', 'to'],
  },
  {
    name: 'usage recount',
    usage: 'usage recount --from DAY [--to DAY]',
    purpose: 'Compute the sums that reports read again, from DAY to DAY; money is not touched',
    words: 0,
    options: ['from', 'to'],
  },
  {
    name: 'usage retire',
    usage: 'usage retire --older-than DAYS',
    purpose: 'Delete old usage rows; their sums per day, key and model stay',
    words: 0,
    options: ['older-than'],
  },
  {
    name: 'secrets status',
    usage: 'secrets status',
    purpose: 'Show which numbers of KEY_PEPPERS and KEY_ENCRYPTION_KEYS active keys need',
    words: 0,
    options: [],
  },
  {
    name: 'secrets rotate',
    usage: 'secrets rotate',
    purpose: 'Move stored keys to the current secrets, which every gateway must know first',
    words: 0,
    options: [],
  },
  {
    name: 'secrets trust',
    usage: 'secrets trust',
    purpose: 'Accept the configured secrets when those of the database are lost for good',
    words: 0,
    options: [],
  },
  {
    name: 'backup',
    usage: 'backup FILE',
    purpose: 'Write the whole database to a new file, while gateways run',
    words: 1,
    options: [],
  },
  {
    name: 'restore',
    usage: 'restore FILE',
    purpose: 'Put a backup into an empty database, all or nothing, and audit it; gateways must be stopped',
    words: 1,
    options: [],
  },
  { name: 'migrate', usage: 'migrate', purpose: 'Bring the database schema up to date', words: 0, options: [] },
]

/** Commands that are passed to the code generator unchanged. */
export const CATALOGUE_COMMANDS: readonly Pick<CommandSpec, 'usage' | 'purpose'>[] = [
  { usage: 'catalogue check', purpose: 'Find every mistake in the catalogue' },
  { usage: 'catalogue list [--channel WORD] …', purpose: 'Show the entries as a table' },
  { usage: 'catalogue add ID --like ENTRY --price VND …', purpose: 'Write a new entry next to a similar one' },
  { usage: 'catalogue migrate-words [--check]', purpose: 'Rewrite words of earlier versions in place' },
  { usage: 'catalogue digest', purpose: 'Compare the YAML with the tables in use' },
  { usage: 'catalogue upstream-check [--upstream ID]', purpose: 'Check that providers still have the models in use' },
  { usage: 'catalogue diff BASE [--usage FILE.csv]', purpose: 'Show how the catalogue differs from a commit' },
  { usage: 'catalogue margin [--usage FILE.csv]', purpose: 'Show what entries cost and earn, the largest loss first' },
]

/** The command with which the words begin. */
export function commandOf(words: readonly string[]): CommandSpec | undefined {
  const line = words.join(' ')
  return COMMANDS.find(({ name }) => line === name || line.startsWith(`${name} `))
}

/** The commands of several words whose first one is `word`. */
export function groupOf(word: string): readonly CommandSpec[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${word} `))
}
