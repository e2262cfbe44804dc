import type { StepRecord, StepSink } from '../../kernel/index.ts'
import { isWithin } from '../../vfs/index.ts'

/** What a tool or a page returned. */
export interface ReturnedText {
  readonly origin: string
  readonly text: string
}

/** What is behind these says what it likes. */
const FOREIGN = ['/dev/web', '/mnt/mcp']
const KEPT_TEXTS = 20
const KEPT_PROCESSES = 1000

/** Keeps steps elsewhere, and in mind what of them came from outside. */
export class Origins implements StepSink {
  readonly #steps: StepSink
  readonly #texts = new Map<string, ReturnedText[]>()

  constructor(steps: StepSink) {
    this.#steps = steps
  }

  /** What came from outside to a process lately. */
  of(uuid: string): readonly ReturnedText[] {
    return this.#texts.get(uuid) ?? []
  }

  async write(uuid: string, record: StepRecord): Promise<void> {
    const { tool_path: origin, tool_result: text } = record
    if (text !== '' && FOREIGN.some((root) => isWithin(origin, root))) this.#keep(uuid, { origin, text })
    await this.#steps.write(uuid, record)
  }

  #keep(uuid: string, text: ReturnedText): void {
    const texts = [...this.of(uuid), text].slice(-KEPT_TEXTS)
    this.#texts.delete(uuid)
    this.#texts.set(uuid, texts)
    const [oldest] = this.#texts.keys()
    if (oldest !== undefined && this.#texts.size > KEPT_PROCESSES) this.#texts.delete(oldest)
  }
}
