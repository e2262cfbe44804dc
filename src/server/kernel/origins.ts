import { type OriginalText, originWithin } from '../../devices/scanner/index.ts'
import { type RecordedCall, recordedCalls, type StepRecord, type StepSink } from '../../kernel/index.ts'
import { isWithin } from '../../vfs/index.ts'

/** What is behind these says what it likes. */
const FOREIGN = ['/dev/web', '/mnt/mcp']
const SHELL = '/dev/shell'
/** Of a family, the last. */
const KEPT_TEXTS = 50
const KEPT_FAMILIES = 1000
const KEPT_CHILDREN = 10_000

/**
 * Keeps steps elsewhere, and in mind what of them came from outside. A process and its children tell one another what
 * they read, so that what came to one of a family is known of all.
 */
export class Origins implements StepSink {
  readonly #steps: StepSink
  /** By the first of each family. */
  readonly #texts = new Map<string, readonly OriginalText[]>()
  /** Of each child, the first of its family. */
  readonly #families = new Map<string, string>()

  constructor(steps: StepSink) {
    this.#steps = steps
  }

  /** What came from outside to a process and its family lately. */
  of(uuid: string): readonly OriginalText[] {
    return this.#texts.get(this.#familyOf(uuid)) ?? []
  }

  /** A process has a child. */
  join(child: string, parent: string): void {
    keepLast(this.#families, child, this.#familyOf(parent), KEPT_CHILDREN)
  }

  async write(uuid: string, record: StepRecord): Promise<void> {
    for (const call of recordedCalls(record)) {
      // What a server refuses with is as much its own as what it answers.
      const text = call.tool_result || call.tool_error
      const origin = text === '' ? undefined : this.#originOf(uuid, call)
      if (origin !== undefined) this.#keep(uuid, { origin, text })
    }
    await this.#steps.write(uuid, record)
  }

  /** A command tells what it was given, maybe in a form nobody would know again, and what the network sent it. */
  #originOf(uuid: string, { tool_path, tool_input, tool_result }: RecordedCall): string | undefined {
    if (FOREIGN.some((root) => isWithin(tool_path, root))) return tool_path
    if (tool_path !== SHELL) return undefined
    return originWithin(tool_input, this.of(uuid)) ?? (isFromNetwork(tool_result) ? SHELL : undefined)
  }

  #keep(uuid: string, text: OriginalText): void {
    const texts = [...this.of(uuid), text].slice(-KEPT_TEXTS)
    keepLast(this.#texts, this.#familyOf(uuid), texts, KEPT_FAMILIES)
  }

  #familyOf(uuid: string): string {
    return this.#families.get(uuid) ?? uuid
  }
}

/** The device says so in its answer. */
function isFromNetwork(answer: string): boolean {
  try {
    return JSON.parse(answer).origin === 'network'
  } catch {
    return false
  }
}

function keepLast<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (oldest !== undefined && map.size > limit) map.delete(oldest)
}
