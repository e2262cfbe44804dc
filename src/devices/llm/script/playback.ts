import { setTimeout as delay } from 'node:timers/promises'
import type { ModelRequest, ModelResponse } from '../../../kernel/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { type MatchResult, matchRequest } from './expectations.ts'
import type { LocatedScriptEntry, ModelScript } from './parse-script.ts'

const MAX_SHOWN_CHARACTERS = 300

/** Position in a script, for one conversation or, if the script is shared, for all of them. */
export class Playback {
  readonly #script: ModelScript
  readonly #remaining: LocatedScriptEntry[]
  readonly #groups: Record<string, string> = {}

  constructor(script: ModelScript) {
    this.#script = script
    this.#remaining = [...script.entries]
  }

  /**
   * Plays the next entry; of a shared script, the next that matches, since the order of conversations is not known.
   * EIO if the request does not match, or if no entry is left.
   */
  async answer(path: string, request: ModelRequest, signal: AbortSignal): Promise<ModelResponse> {
    const entry = this.#takeEntry(path, request)
    const response = this.#createResponse(entry)
    if (entry.delay_ms > 0) await delay(entry.delay_ms, undefined, { signal })
    return response
  }

  #takeEntry(path: string, request: ModelRequest): LocatedScriptEntry {
    const candidates = this.#script.shared ? this.#remaining : this.#remaining.slice(0, 1)
    const results = candidates.map((entry) => ({ entry, match: matchRequest(entry.expect, request) }))
    for (const { entry, match } of results) {
      if (!('groups' in match)) continue
      Object.assign(this.#groups, match.groups)
      this.#remaining.splice(this.#remaining.indexOf(entry), 1)
      return entry
    }
    throw this.#createMismatchError(path, request, results[0])
  }

  #createResponse({ say, tokens: tokens_used, line }: LocatedScriptEntry): ModelResponse {
    if (typeof say === 'string') return { content: this.#fillPlaceholders(say), tokens_used }
    const calls = 'tool_call' in say ? [say.tool_call] : 'tool_calls' in say ? say.tool_calls : undefined
    if (calls === undefined) return { content: JSON.stringify(this.#fillValue(say)), tokens_used }
    const tool_calls = calls.map(({ id, name, input }, index) => ({
      id: id ?? (index === 0 ? `call_${line}` : `call_${line}_${index + 1}`),
      name,
      input: this.#fillValue(input),
    }))
    const text = 'text' in say && typeof say.text === 'string' ? say.text : ''
    return { content: this.#fillPlaceholders(text), tokens_used, tool_calls }
  }

  /** Replaces `{{name}}` by the group of that name; unknown names stay, since texts may contain braces. */
  #fillPlaceholders(text: string): string {
    return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => this.#groups[name] ?? whole)
  }

  #fillValue(value: unknown): unknown {
    if (value === undefined) return undefined
    return JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
      typeof part === 'string' ? this.#fillPlaceholders(part) : part,
    )
  }

  #createMismatchError(
    path: string,
    { messages }: ModelRequest,
    next: { readonly entry: LocatedScriptEntry; readonly match: MatchResult } | undefined,
  ): VfsError {
    const { file, entries } = this.#script
    if (next === undefined || 'groups' in next.match) {
      const lastMessage = formatText(messages.at(-1)?.content ?? '')
      return createPlaybackError(
        path,
        `the script ${file} has ended after ${entries.length} entries; the request: ${lastMessage}`,
      )
    }
    const { entry, match } = next
    const which = `entry ${entries.indexOf(entry) + 1} of ${file} (line ${entry.line})`
    return createPlaybackError(
      path,
      `${which} expected ${match.expected}; it was: ${formatText(match.actual)}`,
    )
  }
}

function createPlaybackError(path: string, detail: string): VfsError {
  return new VfsError('EIO', path, { op: 'write', detail })
}

function formatText(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text)
}
