import type { ChildProcess } from 'node:child_process'
import { spawnWithoutInheritedFds } from '../../machine/index.ts'
import { isolationEnvironment } from './isolation-tools.ts'
import { createNetworkEnterArgs, findNamespacedProcess, sharesNetworkWith } from './namespaces.ts'

/** The network of a running command, seen from outside. */
export class ForkNetwork {
  readonly #pid: number
  #member: number | undefined

  /** @param pid the process that was started for the command. */
  constructor(pid: number) {
    this.#pid = pid
  }

  /** Finds a process in the network; undefined if the command has no network of its own, or has ended. */
  findProcess(): number | undefined {
    if (this.#member === undefined || sharesNetworkWith(this.#member))
      this.#member = findNamespacedProcess(this.#pid)
    return this.#member === undefined || sharesNetworkWith(this.#member) ? undefined : this.#member
  }

  /** Starts a program in the network, with an IPC channel. It sees the files of this machine, not of the command. */
  start(argv: readonly string[]): ChildProcess {
    const [program = '', ...args] = [...createNetworkEnterArgs(this.findProcess() ?? 0), ...argv]
    return spawnWithoutInheritedFds(program, args, {
      env: { ...isolationEnvironment },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
  }
}
