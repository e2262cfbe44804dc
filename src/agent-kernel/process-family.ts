import type { ChildProcesses, ReceivedMessage } from '../devices/children/index.ts'
import { formatChildResult, type Kernel, raceWithAbort } from '../kernel/index.ts'
import { type PathChange, VfsError } from '../vfs/index.ts'
import type { ProcessNamespaces } from './process-namespaces.ts'
import type { ProcessRecord, ProcessRecords } from './process-records.ts'

/** Sources of the family of a process. */
interface ProcessFamilyParts {
  readonly kernel: Pick<Kernel, 'table' | 'processes' | 'ipc'>
  readonly records: Pick<ProcessRecords, 'find'>
  readonly namespaces: Pick<ProcessNamespaces, 'find'>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Lets processes wait for their children, merge the files of these, and exchange messages. */
export class ProcessFamily implements ChildProcesses {
  readonly #parts: ProcessFamilyParts

  constructor(parts: ProcessFamilyParts) {
    this.#parts = parts
  }

  async wait(parent: number, child: number, signal: AbortSignal): Promise<string> {
    const record = this.#getChild(parent, child)
    const running = this.#parts.kernel.table.find(child)
    if (running === undefined) return formatRecord(record)
    const exit = await raceWithAbort(signal, running.done)
    await this.#parts.kernel.processes.wait(child).catch(() => {})
    return formatChildResult(running, exit)
  }

  async merge(
    parent: number,
    child: number,
    onConflict: 'fail' | 'ours' | 'theirs' | 'markers',
  ): Promise<readonly PathChange[]> {
    const { fork } = this.#getChild(parent, child)
    const workspace = this.#parts.namespaces.find(parent)?.namespace.workspace
    if (fork === null || workspace === undefined) {
      const detail = 'merge needs a workspace on both sides; start the process with --vault'
      throw new VfsError('ENOTSUP', `/proc/${child}`, { op: 'merge', detail })
    }
    const { caller } = this.#parts.kernel.table.get(parent).spec
    return workspace.merge(fork, onConflict, { caller })
  }

  /** Sends a text to a process. Throws ENOENT if it has ended or never existed. */
  send(from: number, to: number, text: string): void {
    const { ipc, table } = this.#parts.kernel
    if (table.find(to) === undefined && this.#parts.records.find(to) !== undefined)
      throw new VfsError('ENOENT', `/proc/${to}`, { op: 'send', detail: `process ${to} has ended` })
    ipc.send(from, to, encoder.encode(text))
    const receiver = table.get(to)
    // Most processes never get a message: the tool that reads them is offered to one that has.
    receiver.foundTools.add('messages')
    const sender = from === 0 ? 'a person' : `process ${from}`
    receiver.emit({ kind: 'log', text: `message of ${sender}: ${text}` })
  }

  async receive(pid: number, wait: boolean, signal: AbortSignal): Promise<readonly ReceivedMessage[]> {
    const { ipc, table } = this.#parts.kernel
    const waiting = table.get(pid).messages
    const received: ReceivedMessage[] = []
    while (waiting.length > 0 || (wait && received.length === 0)) {
      const { from, data } = await ipc.recv(pid, signal)
      received.push({ from, text: decoder.decode(data) })
    }
    return received
  }

  /** Returns the record of a child. Throws ENOENT if it never existed or has another parent. */
  #getChild(parent: number, child: number): ProcessRecord {
    const record = this.#parts.records.find(child)
    if (record !== undefined && record.ppid === parent) return record
    const detail = `process ${parent} has no child ${child}`
    throw new VfsError('ENOENT', `/proc/${child}`, { op: 'child', detail })
  }
}

function formatRecord({ pid, exit_code, reason, result }: ProcessRecord): string {
  return formatChildResult({ pid, result }, { code: exit_code ?? 1, reason })
}
