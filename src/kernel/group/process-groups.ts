import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { Process } from '../process/process.ts'
import type { ProcessTable } from '../process/process-table.ts'
import type { Signal, SignalManager } from '../signal/index.ts'

/** Groups of processes that are signalled together. */
export interface ProcGroupManager {
  /** Adds a process to a group; no effect on a member. ENOENT for a process that has ended. */
  joinGroup(pid: number, group: string): void
  /** Removes a process from a group. ENOENT if it is not a member. */
  leaveGroup(pid: number, group: string): void
  /** Returns the members in order. ENOENT for an empty group. */
  getProcGroup(group: string): number[]
  /** Signals every member that has not ended. ENOENT for an empty group. */
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
      throw createGroupError(group, `process ${pid} is not a member`)
    if (this.#members.get(group)?.size === 0) this.#members.delete(group)
    this.#table.find(pid)?.groups.delete(group)
  }

  getProcGroup(group: string): number[] {
    const members = this.#members.get(group)
    if (members === undefined) throw createGroupError(group, 'it has no members')
    return [...members].sort((a, b) => a - b)
  }

  signalGroup(group: string, signal: Signal): void {
    for (const pid of this.getProcGroup(group)) {
      try {
        this.#signals.signal(pid, signal)
      } catch (error) {
        // The member has just ended.
        if (!isVfsError(error, 'ENOENT')) throw error
      }
    }
  }

  leaveAll(process: Process): void {
    for (const group of [...process.groups]) this.leaveGroup(process.pid, group)
  }
}

function createGroupError(group: string, reason: string): VfsError {
  return new VfsError('ENOENT', group, { op: 'group', detail: `there is no group '${group}': ${reason}` })
}
