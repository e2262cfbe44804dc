import { findPartialOrigin, type OriginalText } from '../devices/scanner/index.ts'
import { listRecordedCalls, type RecordedCall, type StepRecord, type StepSink } from '../kernel/index.ts'
import { isWithin } from '../vfs/index.ts'

/** What is behind these says what it likes. */
const FOREIGN_PATHS = ['/dev/web', '/mnt/mcp']
const SHELL = '/dev/shell'
/** Of a family, the last. */
const MAX_TEXTS = 50
const MAX_FAMILIES = 1000
const MAX_CHILDREN = 10_000

/**
 * Keeps steps elsewhere, and in mind what of them came from outside. A process and its children tell one another what
 * they read, so that what came to one of a family is known of all.
 */
export class OriginTracker implements StepSink {
  readonly #steps: StepSink
  /** By the first of each family. */
  readonly #texts = new Map<string, readonly OriginalText[]>()
  /** Of each child, the first of its family. */
  readonly #families = new Map<string, string>()

  constructor(steps: StepSink) {
    this.#steps = steps
  }

  /** What came from outside to a process and its family lately. */
  listOrigins(uuid: string): readonly OriginalText[] {
    return this.#texts.get(this.#getFamily(uuid)) ?? []
  }

  /** A process has a child. */
  join(child: string, parent: string): void {
    setBounded(this.#families, child, this.#getFamily(parent), MAX_CHILDREN)
  }

  async write(uuid: string, record: StepRecord): Promise<void> {
    for (const call of listRecordedCalls(record)) {
      // What a server refuses with is as much its own as what it answers.
      const text = call.tool_result || call.tool_error
      const origin = text === '' ? undefined : this.#findOrigin(uuid, call)
      if (origin !== undefined) this.#recordText(uuid, { origin, text })
    }
    await this.#steps.write(uuid, record)
  }

  /** A command tells what it was given, maybe in a form nobody would know again, and what the network sent it. */
  #findOrigin(uuid: string, { tool_path, tool_input, tool_result }: RecordedCall): string | undefined {
    if (FOREIGN_PATHS.some((root) => isWithin(tool_path, root))) return tool_path
    if (tool_path !== SHELL) return undefined
    return (
      findPartialOrigin(tool_input, this.listOrigins(uuid)) ??
      (isFromNetwork(tool_result) ? SHELL : undefined)
    )
  }

  #recordText(uuid: string, text: OriginalText): void {
    const texts = [...this.listOrigins(uuid), text].slice(-MAX_TEXTS)
    setBounded(this.#texts, this.#getFamily(uuid), texts, MAX_FAMILIES)
  }

  #getFamily(uuid: string): string {
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

function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (oldest !== undefined && map.size > limit) map.delete(oldest)
}
