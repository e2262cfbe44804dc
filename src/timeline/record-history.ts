import type { RecordedPath, TimelineRecord } from './timeline-record.ts'

/** A record with one of its paths. */
export interface PathStep {
  readonly record: TimelineRecord
  readonly change: RecordedPath
}

/** The id of a prompt, `12`, or of a call, `12.3`. */
export interface TimelineId {
  readonly prompt: number
  readonly call?: number | undefined
}

/** Parses an id of a prompt or a call; undefined if the text is neither. */
export function parseTimelineId(text: string): TimelineId | undefined {
  const [, prompt, call] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text) ?? []
  if (prompt === undefined) return undefined
  return { prompt: Number(prompt), ...(call !== undefined && { call: Number(call) }) }
}

/** The records of a directory in order, and which of the agents' changes are undone. */
export class RecordHistory {
  readonly records: readonly TimelineRecord[]
  readonly #steps = new Map<string, PathStep[]>()
  /** By path, the numbers of the agents' records that are not undone. */
  readonly #active = new Map<string, readonly number[]>()
  /** By number, the undos that are not taken back, with the records that each undid. */
  readonly #undone = new Map<number, Map<string, readonly number[]>>()

  constructor(records: readonly TimelineRecord[]) {
    this.records = records
    for (const record of records) this.#add(record)
  }

  /** Lists the records that changed a path, from one on. */
  listSteps(path: string, since: number): PathStep[] {
    return (this.#steps.get(path) ?? []).filter(({ record }) => record.number >= since)
  }

  /** True if an agent's record changed a path, and that is not undone. */
  isActive({ number }: TimelineRecord, path: string): boolean {
    return this.#active.get(path)?.includes(number) === true
  }

  /** True if an agent's record changed something, and all of it is undone. */
  isUndone(record: TimelineRecord): boolean {
    if (record.by !== 'agent' && record.by !== 'unclear') return false
    return record.changes.length > 0 && !record.changes.some(({ path }) => this.isActive(record, path))
  }

  /** Returns the last undo that was not taken back. */
  findLastUndo(): TimelineRecord | undefined {
    const number = [...this.#undone.keys()].at(-1)
    return this.records.find((record) => record.number === number)
  }

  /** Lists the records of a prompt or a call. */
  listCalls({ prompt, call }: TimelineId): TimelineRecord[] {
    return this.records.filter(
      (record) => record.call?.prompt === prompt && (call === undefined || record.call.number === call),
    )
  }

  /** Lists the last prompts of which something is not undone, the latest first. */
  listLastPrompts(count: number): number[] {
    const changed = this.records.filter((record) =>
      record.changes.some(({ path }) => this.isActive(record, path)),
    )
    const prompts = new Set(changed.map(({ call }) => call?.prompt ?? 0))
    return [...prompts].sort((one, other) => other - one).slice(0, count)
  }

  #add(record: TimelineRecord): void {
    for (const change of record.changes)
      this.#steps.set(change.path, [...(this.#steps.get(change.path) ?? []), { record, change }])
    if (record.by === 'agent' || record.by === 'unclear') {
      for (const { path } of record.changes)
        this.#active.set(path, [...(this.#active.get(path) ?? []), record.number])
    }
    if (record.by === 'undo') this.#undone.set(record.number, this.#deactivate(record))
    if (record.by === 'redo' && record.redoes !== undefined) {
      for (const [path, numbers] of this.#undone.get(record.redoes) ?? [])
        this.#active.set(path, [...(this.#active.get(path) ?? []), ...numbers])
      this.#undone.delete(record.redoes)
    }
  }

  /** Marks the records that an undo undid, and returns them by path. */
  #deactivate({ undoes = {} }: TimelineRecord): Map<string, readonly number[]> {
    const undone = new Map<string, readonly number[]>()
    for (const [path, since] of Object.entries(undoes)) {
      const active = this.#active.get(path) ?? []
      undone.set(
        path,
        active.filter((number) => number >= since),
      )
      this.#active.set(
        path,
        active.filter((number) => number < since),
      )
    }
    return undone
  }
}
