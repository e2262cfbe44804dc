import { findPartialOrigin, type OriginalText } from '../devices/scanner/index.ts'
import { listRecordedCalls, type RecordedCall, type StepRecord, type StepSink } from '../kernel/index.ts'
import { isWithin } from '../vfs/index.ts'

/** Devices whose content is untrusted. */
const FOREIGN_PATHS = ['/dev/web', '/mnt/mcp']
const SHELL = '/dev/shell'
/** Limit of texts per family; keeps the latest. */
const MAX_TEXTS = 50
const MAX_FAMILIES = 1000
const MAX_CHILDREN = 10_000

/**
 * Passes steps on, and remembers the foreign texts in them. A process and its children exchange what
 * they read, so a text that reached one counts for the whole family.
 */
export class OriginTracker implements StepSink {
  readonly #steps: StepSink
  /** Texts by the first process of each family. */
  readonly #texts = new Map<string, readonly OriginalText[]>()
  /** First process of the family of each child. */
  readonly #families = new Map<string, string>()

  constructor(steps: StepSink) {
    this.#steps = steps
  }

  /** Returns recent foreign texts of a process and its family. */
  listOrigins(uuid: string): readonly OriginalText[] {
    return this.#texts.get(this.#getFamily(uuid)) ?? []
  }

  /** Adds a child to its parent's family. */
  join(child: string, parent: string): void {
    setBounded(this.#families, child, this.#getFamily(parent), MAX_CHILDREN)
  }

  async write(uuid: string, record: StepRecord): Promise<void> {
    for (const call of listRecordedCalls(record)) {
      // A server's error text is as foreign as its result.
      const text = call.tool_result || call.tool_error
      const origin = text === '' ? undefined : this.#findOrigin(uuid, call)
      if (origin !== undefined) this.#recordText(uuid, { origin, text })
    }
    await this.#steps.write(uuid, record)
  }

  /** Returns the origin of a call. A command may output its input in another form, or text from the network. */
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

/** Reads the network flag from the device's response. */
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
