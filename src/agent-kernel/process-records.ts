import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Redactor } from '../kernel/index.ts'
import { appendTextSync, isErrno, makePrivateDirectory, makePrivateFile } from '../machine/index.ts'
import type { ProcessSettings } from './process-settings.ts'

/** Record of a process, which outlives it. */
export interface ProcessRecord {
  readonly pid: number
  readonly uuid: string
  readonly ppid: number
  readonly intent: string
  readonly agent: string | null
  readonly provider: string
  readonly model: string
  /** Vault with its work; null if it had none. */
  readonly fork: string | null
  /** Vault or directory that was forked. */
  readonly vault: string | null
  readonly started_at: string
  /** `lost`: the daemon it ran in was killed. */
  readonly state: 'running' | 'ended' | 'lost'
  readonly ended_at: string | null
  readonly exit_code: number | null
  readonly reason: string
  readonly result: string
  readonly tokens_used: number
  /** Absent in records of older versions. */
  readonly settings?: ProcessSettings | undefined
}

/** Steps that a process has taken, and may take. */
export interface ProcessProgress {
  readonly step: number
  readonly total: number
}

const NO_PROGRESS: ProcessProgress = { step: 0, total: 0 }
/** Limit of records; the oldest are removed. */
const MAX_RECORDS = 1000
/** Limit of lines in the file, after which it is rewritten. */
const MAX_LINES = 4 * MAX_RECORDS
const MAX_RESULT_CHARACTERS = 64 * 1024
const OWNER_ONLY = { mode: 0o600 }

interface ProcessRecordsOptions {
  readonly redactor: Redactor
  /** Called with each record that is removed. */
  readonly onForget?: (record: ProcessRecord) => void
}

/**
 * Every process of a home, in a file with a line for each start and each end. Written at once, so that a killed
 * program leaves the start of its processes.
 */
export class ProcessRecords {
  readonly #file: string
  readonly #redactor: Redactor
  readonly #records: Map<number, ProcessRecord>
  /** Progress of recorded processes; it is not in the file. */
  readonly #progress = new Map<number, ProcessProgress>()
  readonly #onForget: (record: ProcessRecord) => void
  #lines: number

  private constructor(file: string, records: Map<number, ProcessRecord>, options: ProcessRecordsOptions) {
    this.#file = file
    this.#redactor = options.redactor
    this.#onForget = options.onForget ?? (() => {})
    this.#records = records
    this.#lines = records.size
  }

  /** Reads the records; processes that ran when the last program was killed are lost. For one program at a time. */
  static open(file: string, options: ProcessRecordsOptions): ProcessRecords {
    const now = new Date()
    makePrivateDirectory(dirname(file))
    const known = readRecords(file).slice(-MAX_RECORDS * 2)
    const records = new Map<number, ProcessRecord>()
    for (const record of known) records.set(record.pid, record)
    for (const record of records.values()) {
      if (record.state === 'running') records.set(record.pid, markLost(record, now))
    }
    const kept = new Map([...records].slice(-MAX_RECORDS))
    replaceLines(file, kept.values())
    return new ProcessRecords(file, kept, options)
  }

  /** Highest pid so far. */
  get lastPid(): number {
    return Math.max(0, ...this.#records.keys())
  }

  /** Lists records in start order. */
  all(): ProcessRecord[] {
    return [...this.#records.values()]
  }

  find(pid: number): ProcessRecord | undefined {
    return this.#records.get(pid)
  }

  getProgress(pid: number): ProcessProgress {
    return this.#progress.get(pid) ?? NO_PROGRESS
  }

  setProgress(pid: number, progress: ProcessProgress): void {
    if (this.#records.has(pid)) this.#progress.set(pid, progress)
  }

  add(record: ProcessRecord): void {
    this.#store(this.#redactor.redactValue(record))
  }

  /** Records the end of a process. */
  end(pid: number, end: Pick<ProcessRecord, 'exit_code' | 'reason' | 'result' | 'tokens_used'>): void {
    const begun = this.#records.get(pid)
    if (begun === undefined) return
    // Cut after redaction: a part of a secret would not be recognised.
    const redacted = this.#redactor.redactValue(end)
    const result = redacted.result.slice(0, MAX_RESULT_CHARACTERS).toWellFormed()
    this.#store({ ...begun, ...redacted, result, state: 'ended', ended_at: new Date().toISOString() })
  }

  #store(record: ProcessRecord): void {
    this.#records.set(record.pid, record)
    const [oldest] = this.#records.values()
    if (this.#records.size > MAX_RECORDS && oldest !== undefined && oldest.state !== 'running') {
      this.#records.delete(oldest.pid)
      this.#progress.delete(oldest.pid)
      this.#onForget(oldest)
    }
    if (this.#lines >= MAX_LINES) {
      replaceLines(this.#file, this.#records.values())
      this.#lines = this.#records.size
    } else {
      appendTextSync(this.#file, `${JSON.stringify(record)}\n`)
      this.#lines++
    }
  }
}

function replaceLines(file: string, records: Iterable<ProcessRecord>): void {
  const text = [...records].map((record) => `${JSON.stringify(record)}\n`).join('')
  makePrivateFile(`${file}.new`)
  writeFileSync(`${file}.new`, text, OWNER_ONLY)
  renameSync(`${file}.new`, file)
}

function markLost(record: ProcessRecord, now: Date): ProcessRecord {
  const reason = 'lost: the daemon it ran in was killed'
  return { ...record, state: 'lost', ended_at: now.toISOString(), exit_code: 1, reason }
}

function readRecords(file: string): ProcessRecord[] {
  try {
    return readFileSync(file, 'utf8').split('\n').flatMap(parseRecord)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

/** Parses a line; skips one that a killed program left incomplete. */
function parseRecord(line: string): ProcessRecord[] {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    return []
  }
}
