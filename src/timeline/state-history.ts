import { findPackedRefsPath, isRefPath, parseGitPath, toLooseRefPath } from '../git-files/index.ts'
import { isSameState, type LinkEntry, UnpackedRefs } from '../workspace/link/index.ts'
import type { RecordHistory } from './record-history.ts'
import type { TimelineRecord, TimelineVault } from './timeline-record.ts'

/** A record with the states of one path before and after it. */
export interface StateStep {
  readonly record: TimelineRecord
  readonly before: LinkEntry | undefined
  readonly after: LinkEntry | undefined
}

/**
 * The states of paths at each record. A ref has those that git reads: its loose file, otherwise its line in
 * `packed-refs`. A record in which git only moved it between the two is no step of it.
 */
export class StateHistory {
  readonly #vault: TimelineVault
  readonly #history: RecordHistory
  /** By the number of the record that follows: the refs at that moment. */
  readonly #moments = new Map<number, UnpackedRefs>()

  constructor(vault: TimelineVault, history: RecordHistory) {
    this.#vault = vault
    this.#history = history
  }

  /** Lists the records that changed a path, from one on. */
  listSteps(path: string, since: number): StateStep[] {
    const file = findPackedRefsPath(path)
    if (file === undefined) return this.#history.listSteps(path, since).map((step) => this.#toStep(step))
    const both = [path, file].flatMap((each) => this.#history.listSteps(each, since))
    const records = new Map(both.map(({ record }) => [record.number, record]))
    return [...records]
      .sort(([one], [other]) => one - other)
      .map(([number, record]) => ({
        record,
        before: this.#findBefore(path, number),
        after: this.#findBefore(path, number + 1),
      }))
      .filter(({ before, after }) => !isSameState(path, before, after))
  }

  /** Returns the latest recorded state of a path. */
  findLatest(path: string): LinkEntry | undefined {
    return this.#findBefore(path, this.#getEnd())
  }

  /** Replaces packed refs by the refs of which a record since then changed the line, with the first such record. */
  unpackSince(since: ReadonlyMap<string, number>): Map<string, number> {
    const unpacked = new Map<string, number>()
    const add = (path: string, number: number) =>
      unpacked.set(path, Math.min(number, unpacked.get(path) ?? number))
    for (const [path, first] of since) {
      if (findPackedRefsPath(path) !== undefined || !isRefPath(path)) add(path, first)
      else
        for (const { record } of this.#history.listSteps(path, first))
          for (const loose of this.#listChangedLines(path, record.number)) add(loose, record.number)
    }
    return unpacked
  }

  #listChangedLines(file: string, number: number): string[] {
    const [before, after] = [number, number + 1].map((at) => this.#getMoment(at).list(file) ?? new Map())
    const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])
    return [...names]
      .filter((name) => before?.get(name) !== after?.get(name))
      .map((name) => toLooseRefPath(file, name))
      .filter((path) => parseGitPath(path) !== undefined)
  }

  #toStep({ record, change }: ReturnType<RecordHistory['listSteps']>[number]): StateStep {
    const before = this.#vault.findBefore(record, change)
    return { record, before, after: this.#vault.findAfter(record, change) }
  }

  #findBefore(path: string, number: number): LinkEntry | undefined {
    const entry = this.#findFile(path, number)
    return entry ?? this.#getMoment(number).findPacked(path)
  }

  /** Returns the state of a file before a record: that which the next change of it found. */
  #findFile(path: string, number: number): LinkEntry | undefined {
    const [next] = this.#history.listSteps(path, number)
    return next === undefined
      ? this.#vault.findLatest(path)
      : this.#vault.findBefore(next.record, next.change)
  }

  #getMoment(number: number): UnpackedRefs {
    const moment = this.#moments.get(number) ?? new UnpackedRefs((path) => this.#findFile(path, number))
    this.#moments.set(number, moment)
    return moment
  }

  #getEnd(): number {
    return (this.#history.records.at(-1)?.number ?? 0) + 1
  }
}
