import { setTimeout as delay } from 'node:timers/promises'
import type { ModelRequest, ModelResponse } from '../../../kernel/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { type Judgement, judge } from './expectations.ts'
import type { PlacedEntry, Script } from './parse-script.ts'

const MAX_SHOWN = 300

/** A script as it is being played, by one process or, where it is shared, by all of them. */
export class Playback {
  readonly #script: Script
  readonly #left: PlacedEntry[]
  readonly #found: Record<string, string> = {}

  constructor(script: Script) {
    this.#script = script
    this.#left = [...script.entries]
  }

  /**
   * Plays the next entry; of a shared script, the next that fits what is asked, since nobody knows who asks first.
   * EIO when it is not what was expected, or when there is none left.
   */
  async answer(path: string, request: ModelRequest, signal: AbortSignal): Promise<ModelResponse> {
    const entry = this.#take(path, request)
    const response = this.#responseOf(entry)
    if (entry.delay_ms > 0) await delay(entry.delay_ms, undefined, { signal })
    return response
  }

  #take(path: string, request: ModelRequest): PlacedEntry {
    const candidates = this.#script.shared ? this.#left : this.#left.slice(0, 1)
    const judged = candidates.map((entry) => ({ entry, judgement: judge(entry.expect, request) }))
    for (const { entry, judgement } of judged) {
      if (!('found' in judgement)) continue
      Object.assign(this.#found, judgement.found)
      this.#left.splice(this.#left.indexOf(entry), 1)
      return entry
    }
    throw this.#unexpected(path, request, judged[0])
  }

  #responseOf({ say, tokens: tokens_used, line }: PlacedEntry): ModelResponse {
    if (typeof say === 'string') return { content: this.#filled(say), tokens_used }
    const calls = 'tool_call' in say ? [say.tool_call] : 'tool_calls' in say ? say.tool_calls : undefined
    if (calls === undefined) return { content: JSON.stringify(this.#filledIn(say)), tokens_used }
    const tool_calls = calls.map(({ id, name, input }, index) => ({
      id: id ?? (index === 0 ? `call_${line}` : `call_${line}_${index + 1}`),
      name,
      input: this.#filledIn(input),
    }))
    const text = 'text' in say && typeof say.text === 'string' ? say.text : ''
    return { content: this.#filled(text), tokens_used, tool_calls }
  }

  /** With what was found put in for `{{name}}`; what was not found stays, since texts may well have braces. */
  #filled(text: string): string {
    return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => this.#found[name] ?? whole)
  }

  #filledIn(value: unknown): unknown {
    if (value === undefined) return undefined
    return JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
      typeof part === 'string' ? this.#filled(part) : part,
    )
  }

  #unexpected(
    path: string,
    { messages }: ModelRequest,
    next: { readonly entry: PlacedEntry; readonly judgement: Judgement } | undefined,
  ): VfsError {
    const { file, entries } = this.#script
    if (next === undefined || 'found' in next.judgement) {
      const asked = shown(messages.at(-1)?.content ?? '')
      return failed(
        path,
        `the script ${file} is at its end, all ${entries.length} entries were played; asked: ${asked}`,
      )
    }
    const { entry, judgement } = next
    const which = `entry ${entries.indexOf(entry) + 1} of ${file} (line ${entry.line})`
    return failed(path, `${which} expected ${judgement.expected}; it was: ${shown(judgement.asked)}`)
  }
}

function failed(path: string, detail: string): VfsError {
  return new VfsError('EIO', path, { op: 'write', detail })
}

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
}
