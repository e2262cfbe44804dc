import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { Process } from '../process/process.ts'
import type { ProcessTable } from '../process/process-table.ts'
import type { Signal, SignalManager } from '../signal/index.ts'

export interface ProcGroupManager {
  /** Twice is as good as once. ENOENT. */
  joinGroup(pid: number, group: string): void
  /** ENOENT if it is not in it. */
  leaveGroup(pid: number, group: string): void
  /** Its members in order. ENOENT for a group nobody is in. */
  getProcGroup(group: string): number[]
  /** To every member that still runs. ENOENT. */
  signalGroup(group: string, signal: Signal): void
}

export class ProcessGroups implements ProcGroupManager {
  readonly #table: ProcessTable
  readonly #signals: SignalManager
  readonly #members = new Map<string, Set<number>>()

  constructor(table: ProcessTable, signals: SignalManager) {
    this.#table = table
    this.#signals = signals
  }

  joinGroup(pid: number, group: string): void {
    const process = this.#table.getAlive(pid)
    const members = this.#members.get(group) ?? new Set()
    members.add(pid)
    this.#members.set(group, members)
    process.groups.add(group)
  }

  leaveGroup(pid: number, group: string): void {
    if (this.#members.get(group)?.delete(pid) !== true)
      throw createGroupError(group, `process ${pid} is not in it`)
    if (this.#members.get(group)?.size === 0) this.#members.delete(group)
    this.#table.find(pid)?.groups.delete(group)
  }

  getProcGroup(group: string): number[] {
    const members = this.#members.get(group)
    if (members === undefined) throw createGroupError(group, 'nobody is in it')
    return [...members].sort((a, b) => a - b)
  }

  signalGroup(group: string, signal: Signal): void {
    for (const pid of this.getProcGroup(group)) {
      try {
        this.#signals.signal(pid, signal)
      } catch (error) {
        // One that has just ended needs no signal.
        if (!isVfsError(error, 'ENOENT')) throw error
      }
    }
  }

  leaveAll(process: Process): void {
    for (const group of [...process.groups]) this.leaveGroup(process.pid, group)
  }
}

function createGroupError(group: string, why: string): VfsError {
  return new VfsError('ENOENT', group, { op: 'group', detail: `there is no such group: ${why}` })
}
