import {
  type Device,
  type DeviceContext,
  type DeviceEntry,
  type DeviceFile,
  type Kernel,
  type Process,
  SnapshotFile,
  type StepRecord,
} from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { type ProcessSources, type ProcRedactor, processFiles } from './process-files.ts'

const PATH = '/proc'
const PID = /^[1-9]\d{0,14}$/

export interface ProcOptions {
  /** Returns the steps of a process by its uuid; none when absent. */
  readonly steps?: (uuid: string) => Promise<readonly StepRecord[]>
  /** Returns the mounts of a process, one line each. */
  readonly mounts?: (pid: number) => Iterable<string>
  /** Redacts secrets from all output; no redaction when absent. */
  readonly redactor?: ProcRedactor
}

const UNCHANGED: ProcRedactor = { redactText: (text) => text, redactValue: (value) => value }

/** Creates the read-only device of processes: `/proc/{pid}/status` and others, `/proc/self`, `/proc/mounts`. */
export function procDevice(
  { table, contexts }: Pick<Kernel, 'table' | 'contexts'>,
  { steps = async () => [], mounts = () => [], redactor = UNCHANGED }: ProcOptions = {},
): Device {
  const sources: ProcessSources = { contexts, steps, redactor }
  const findProcess = (name: string, { pid }: DeviceContext): Process | undefined =>
    name === 'self' ? table.find(pid) : PID.test(name) ? table.find(Number(name)) : undefined
  return {
    match: 'prefix',
    async open(subpath, _mode, ctx): Promise<DeviceFile> {
      const path = `${PATH}${subpath}`
      const [, name = '', file, ...rest] = subpath.split('/')
      if (subpath === '/mounts') return new SnapshotFile(path, joinLines(mounts(ctx.pid)))
      const process = findProcess(name, ctx)
      if (file === undefined && (name === '' || process !== undefined))
        throw new VfsError('EISDIR', path, { op: 'open' })
      const content = file === undefined || rest.length > 0 ? undefined : findProcessFile(file)
      if (process === undefined || content === undefined) throw createNotFoundError(path, 'open')
      return new SnapshotFile(path, await content(process, sources))
    },
    async list(subpath, ctx): Promise<DeviceEntry[]> {
      if (subpath === '')
        return [
          ...listPidEntries(table.list()),
          ...listSelfEntry(ctx, table),
          { name: 'mounts', type: 'device' },
        ]
      const [, name = '', ...rest] = subpath.split('/')
      if (rest.length > 0 || findProcess(name, ctx) === undefined)
        throw createNotFoundError(`${PATH}${subpath}`, 'readdir')
      return Object.keys(processFiles).map((file) => ({ name: file, type: 'device' }))
    },
  }
}

function findProcessFile(file: string): (typeof processFiles)[string] | undefined {
  return Object.hasOwn(processFiles, file) ? processFiles[file] : undefined
}

function listPidEntries(processes: readonly Process[]): DeviceEntry[] {
  return processes.map(({ pid }) => ({ name: String(pid), type: 'directory' }))
}

/** Lists `self` for a process; a person at a terminal has none. */
function listSelfEntry({ pid }: DeviceContext, table: Kernel['table']): DeviceEntry[] {
  return table.find(pid) === undefined ? [] : [{ name: 'self', type: 'directory' }]
}

function joinLines(lines: Iterable<string>): string {
  return [...lines].map((line) => `${line}\n`).join('')
}

function createNotFoundError(path: string, op: string): VfsError {
  const detail = `there is no such process or file; a process has ${Object.keys(processFiles).join(', ')}`
  return new VfsError('ENOENT', path, { op, detail })
}
