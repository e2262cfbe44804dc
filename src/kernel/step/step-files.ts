import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import type { Redactor } from '../../secrets/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { ContextMessage } from '../context/index.ts'
import type { StepRecord, StepSink } from './step-record.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Steps as lines of JSON, a file for each process: `<directory>/<uuid>/steps.jsonl`. Secrets do not reach it. */
export class StepFiles implements StepSink {
  readonly #directory: string
  readonly #redactor: Redactor
  readonly #messages = new WeakMap<ContextMessage, string>()

  constructor(directory: string, redactor: Redactor) {
    this.#directory = directory
    this.#redactor = redactor
  }

  async write(uuid: string, record: StepRecord): Promise<void> {
    const file = this.#fileOf(uuid)
    const line = `${this.#lineOf(record)}\n`
    if (record.step_number === 1) {
      makePrivateDirectory(join(this.#directory, uuid))
      makePrivateFile(file)
    }
    await appendFile(file, line, { mode: 0o600 })
  }

  /** Every whole step that was kept; what a crash left of the last is passed over. */
  async read(uuid: string): Promise<StepRecord[]> {
    const text = await readFile(this.#fileOf(uuid), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    return text.split('\n').flatMap((line) => recordOf(line))
  }

  #lineOf({ messages, ...rest }: StepRecord): string {
    const told = JSON.stringify(this.#redactor.value(rest))
    return `${told.slice(0, -1)},"messages":[${messages.map((message) => this.#messageOf(message)).join(',')}]}`
  }

  /** Most messages of a step were in the one before. */
  #messageOf(message: ContextMessage): string {
    const known = this.#messages.get(message) ?? JSON.stringify(this.#redactor.value(message))
    this.#messages.set(message, known)
    return known
  }

  #fileOf(uuid: string): string {
    if (!UUID.test(uuid)) throw new VfsError('EINVAL', uuid, { op: 'steps', detail: 'that is no process' })
    return join(this.#directory, uuid, 'steps.jsonl')
  }
}

function recordOf(line: string): StepRecord[] {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    return []
  }
}
