import { appendFile, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import type { Redactor } from '../../secrets/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { type MessageLine, MessageReader, RecordedMessages } from './recorded-messages.ts'
import type { StepRecord, StepSink } from './step-record.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A step as the file has it. Lines of older versions have all their messages. */
interface StepLine extends Omit<StepRecord, 'messages'> {
  readonly first_message?: number
  readonly messages: MessageLine['parts']
}

/**
 * Steps as lines of JSON, a file for each process: `<directory>/<uuid>/steps.jsonl`. Secrets do not reach it. A message
 * is in the first step that has it; later steps name it by number, so that a file grows with what is said.
 */
export class StepFiles implements StepSink {
  readonly #directory: string
  readonly #redactor: Redactor
  readonly #messages = new RecordedMessages()

  constructor(directory: string, redactor: Redactor) {
    this.#directory = directory
    this.#redactor = redactor
  }

  async write(uuid: string, { messages, ...rest }: StepRecord): Promise<void> {
    const file = this.#getFile(uuid)
    const { line, keep } = this.#messages.createLine(uuid, rest.step_number, messages)
    const text = this.#redactor.redactValue({ ...rest, first_message: line.first, messages: line.parts })
    if (rest.step_number === 1) {
      makePrivateDirectory(join(this.#directory, uuid))
      makePrivateFile(file)
    }
    try {
      await appendFile(file, `${JSON.stringify(text)}\n`, { mode: 0o600 })
    } catch (error) {
      this.#messages.forget(uuid)
      // What is there of the line must not be the beginning of the next.
      await appendFile(file, '\n', { mode: 0o600 }).catch(() => {})
      throw error
    }
    keep()
  }

  /** Every whole step that was kept; what a crash left of the last is passed over. */
  async read(uuid: string): Promise<StepRecord[]> {
    const text = await readFile(this.#getFile(uuid), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    const reader = new MessageReader()
    return text.split('\n').flatMap((line) =>
      parseLine(line).map(({ first_message: first = 0, messages: parts, ...step }) => {
        return { ...step, messages: reader.read({ first, parts }) }
      }),
    )
  }

  /** Removes the files of all processes but these. Returns how many there were. */
  async sweep(kept: ReadonlySet<string>): Promise<number> {
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const left = names.filter((name) => UUID.test(name) && !kept.has(name))
    for (const name of left) await this.remove(name)
    return left.length
  }

  /** Removes the file of a process, if it has one. */
  async remove(uuid: string): Promise<void> {
    this.#messages.forget(uuid)
    await rm(dirname(this.#getFile(uuid)), { recursive: true, force: true })
  }

  #getFile(uuid: string): string {
    if (!UUID.test(uuid)) throw new VfsError('EINVAL', uuid, { op: 'steps', detail: 'that is no process' })
    return join(this.#directory, uuid, 'steps.jsonl')
  }
}

function parseLine(line: string): StepLine[] {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    return []
  }
}
