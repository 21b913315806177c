/**
 * Sets up hosts as network namespaces, each connected to a common bridge by one virtual cable. Tests can unplug a host's cable,
 * or cut the link between two hosts.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { type Host, sendSignal, TIE } from '../fault/support/child.ts'

/** Says why such a network cannot be set up here; null if it can. */
export function whyNot(): string | null {
  if (process.platform !== 'linux') return 'network namespaces exist on Linux only'
  if (process.getuid?.() !== 0) return 'only root can create network namespaces'
  if (TIE.length === 0) return 'setpriv (util-linux) is missing'
  const trial = `gwh-${process.pid}-trial`
  const made = spawnSync('ip', ['netns', 'add', trial], { encoding: 'utf8' })
  if (made.error !== undefined) return 'ip (iproute2) is missing'
  if (made.status !== 0) return `the system forbids network namespaces: ${made.stderr.trim()}`
  spawnSync('ip', ['netns', 'del', trial])
  for (const [program, args, where] of [
    ['haproxy', ['-v'], 'haproxy'],
    ['arping', ['-V'], 'iputils-arping'],
    ['openssl', ['version'], 'openssl'],
  ] as const) {
    if (spawnSync(program, args).error !== undefined) return `${program} is missing: apt-get install ${where}`
  }
  return null
}

export class Network {
  readonly #id = process.pid
  readonly #subnet = `10.213.${process.pid % 256}`
  readonly #bridge = `gwh${process.pid}`
  readonly #names: readonly string[]
  /** Address of this machine, which every host can reach. */
  readonly gateway = `${this.#subnet}.1`
  /** An address that moves from host to host. */
  readonly floating = `${this.#subnet}.100`

  constructor(names: readonly string[]) {
    removeLeftovers()
    this.#names = names
    ip('link', 'add', this.#bridge, 'type', 'bridge')
    ip('address', 'add', `${this.gateway}/24`, 'dev', this.#bridge)
    ip('link', 'set', this.#bridge, 'up')
    for (const name of names) this.#connect(name)
    process.once('exit', () => this.remove())
  }

  host(name: string): Host {
    const number = 10 + this.#names.indexOf(name)
    return { address: `${this.#subnet}.${number}`, enter: ['ip', 'netns', 'exec', this.#space(name)] }
  }

  unplug(name: string): void {
    ip('link', 'set', this.#cable(name), 'down')
  }

  plug(name: string): void {
    ip('link', 'set', this.#cable(name), 'up')
  }

  /** Silently drops what the two hosts send each other. Both can still reach every other host. Cut only one pair at a time. */
  cut(...pair: readonly [string, string]): void {
    for (const name of pair) ip('link', 'set', this.#cable(name), 'type', 'bridge_slave', 'isolated', 'on')
  }

  mend(...pair: readonly [string, string]): void {
    for (const name of pair) ip('link', 'set', this.#cable(name), 'type', 'bridge_slave', 'isolated', 'off')
  }

  /** Gives the floating address to a host, and announces it to the others. */
  takeFloating(name: string): void {
    this.#run(name, 'ip', 'address', 'add', `${this.floating}/24`, 'dev', 'eth0')
    this.#run(name, 'arping', '-U', '-c', '2', '-I', 'eth0', this.floating)
  }

  /** Takes the floating address from a host, as if at its own console: this works even when its cable is unplugged. */
  dropFloating(name: string): void {
    this.#run(name, 'ip', 'address', 'del', `${this.floating}/24`, 'dev', 'eth0')
  }

  remove(): void {
    for (const name of this.#names) removeSpace(this.#space(name))
    spawnSync('ip', ['link', 'del', this.#bridge])
  }

  #connect(name: string): void {
    const space = this.#space(name)
    ip('netns', 'add', space)
    ip('link', 'add', this.#cable(name), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
    ip('link', 'set', this.#cable(name), 'master', this.#bridge, 'up')
    ip('-n', space, 'address', 'add', `${this.host(name).address}/24`, 'dev', 'eth0')
    for (const device of ['lo', 'eth0']) ip('-n', space, 'link', 'set', device, 'up')
  }

  #run(name: string, ...command: readonly string[]): void {
    const [program, ...args] = [...this.host(name).enter, ...command] as [string, ...string[]]
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  }

  #space(name: string): string {
    return `gwh-${this.#id}-${name}`
  }

  /** Name of the host's interface. Linux allows at most 15 characters. */
  #cable(name: string): string {
    return `g${this.#id}${name}`
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

/**
 * Removes a namespace and kills the processes in it. HAProxy may still be running: it does not end with this process, because it
 * changes its user.
 */
function removeSpace(space: string): void {
  const { stdout } = spawnSync('ip', ['netns', 'pids', space], { encoding: 'utf8' })
  for (const id of stdout.split('\n').filter(Boolean)) sendSignal(Number(id), 'SIGKILL')
  spawnSync('ip', ['netns', 'del', space])
}

/** Removes the namespaces and bridges of earlier runs that were killed. */
function removeLeftovers(): void {
  const spaces = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' }).matchAll(/^gwh-(\d+)-\S+/gm)
  for (const [space, id] of spaces) {
    if (!readdirSync('/proc').includes(id as string)) removeSpace(space)
  }
  for (const device of readdirSync('/sys/class/net')) {
    const id = /^gwh(\d+)$/.exec(device)?.[1]
    if (id !== undefined && !readdirSync('/proc').includes(id)) spawnSync('ip', ['link', 'del', device])
  }
}
