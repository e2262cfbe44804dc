import { appendFile, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { appendTextSync, makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import type { Redactor } from '../../secrets/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { type MessageLine, MessageReader, RecordedMessages } from './recorded-messages.ts'
import type { StepRecord, StepSink } from './step-record.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A step, as stored. Lines of older versions contain all their messages. */
interface StepLine extends Omit<StepRecord, 'messages'> {
  readonly first_message?: number
  readonly messages: MessageLine['parts']
}

/**
 * Steps as JSON lines, one file per process: `<directory>/<uuid>/steps.jsonl`. Secrets are redacted.
 * The first step with a message stores it; later steps refer to it by number.
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
    const json = this.#redactor.toJson({ ...rest, first_message: line.first, messages: line.parts })
    if (rest.step_number === 1) {
      makePrivateDirectory(join(this.#directory, uuid))
      makePrivateFile(file)
    }
    try {
      // Synchronous: a write to the page cache takes less time than its way to another thread and back.
      appendTextSync(file, `${json}\n`)
    } catch (error) {
      this.#messages.forget(uuid)
      // Ends a partial line, so that it does not merge with the next one.
      await appendFile(file, '\n', { mode: 0o600 }).catch(() => {})
      throw error
    }
    keep()
  }

  /** Returns every complete step and skips a line that a crash truncated. */
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

  /** Removes the files of all other processes. Returns how many it removed. */
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
    if (!UUID.test(uuid))
      throw new VfsError('EINVAL', uuid, { op: 'steps', detail: 'not the UUID of a process' })
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
