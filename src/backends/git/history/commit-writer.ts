import type { PastStep } from '../../vault/index.ts'
import { type CommitNotes, notesOf, type Submodules } from './commit-notes.ts'
import type { FastImport } from './fast-import.ts'

/** Who did something and when, as Git writes it. Anything else in its place would be read as commands. */
const SIGNED = /^[^<>\n\0]*<[^<>\n\0]*> \d+ [+-]\d+$/
const NOBODY = 'unknown <unknown@localhost> 0 +0000'

/** A commit that was written. */
interface Written {
  readonly mark: number
  /** The id of its step. */
  readonly step: string
  readonly submodules: Submodules
}

/** Writes checkpoints as commits, the oldest first: those of a history with its parents, others after the one before. */
export class CommitWriter {
  readonly #stream: FastImport
  readonly #author: string
  readonly #byCommit = new Map<string, Written>()
  #last: Written | undefined
  /** Paths of devices, sockets and pipes, which no commit can hold. */
  readonly skipped: Set<string> = new Set()
  commits = 0
  bytes = 0

  constructor(stream: FastImport, author = 'Coppice <coppice@localhost>') {
    this.#stream = stream
    this.#author = author
  }

  async write(step: PastStep): Promise<void> {
    const notes = notesOf(step)
    const parents = this.#parentsOf(notes)
    const [base] = parents
    const submodules = notes?.submodules ?? (await stillThere(step, base?.submodules))
    const mark = this.commits + 1
    const marks = parents.map((parent) => parent.mark)
    await this.#stream.begin({ mark, ...this.#headOf(step, notes), parents: marks })
    for (const path of base?.submodules.keys() ?? [])
      if (!submodules.has(path)) await this.#stream.apply({ kind: 'remove', path })
    await this.#writeChanges(step, base?.step)
    for (const [path, commit] of submodules) await this.#stream.submodule(path, commit)
    this.#last = { mark, step: step.id, submodules }
    if (notes !== undefined) this.#byCommit.set(notes.commit, this.#last)
    this.commits = mark
  }

  #parentsOf(notes: CommitNotes | undefined): Written[] {
    if (notes !== undefined) return notes.parents.flatMap((id) => this.#byCommit.get(id) ?? [])
    return this.#last === undefined ? [] : [this.#last]
  }

  async #writeChanges(step: PastStep, base: string | undefined): Promise<void> {
    for await (const change of step.changesSince(base)) {
      if (change.kind === 'file') this.bytes += change.size
      if (change.kind === 'other') this.skipped.add(change.path)
      else await this.#stream.apply(change)
    }
  }

  /** As the commit had it, or as the checkpoint tells of itself: never of this moment, so that ids stay the same. */
  #headOf(
    { name, time, description }: PastStep,
    notes: CommitNotes | undefined,
  ): Pick<CommitNotes, 'author' | 'committer' | 'message'> {
    if (notes !== undefined) {
      const { author, committer, message } = notes
      return { author: signed(author), committer: signed(committer), message }
    }
    const by = `${this.#author} ${Math.floor(time.getTime() / 1000)} +0000`
    return { author: by, committer: by, message: `${description ?? name}\n` }
  }
}

function signed(by: string): string {
  return SIGNED.test(by) ? by : NOBODY
}

/** Of the submodules a commit had, those whose directories nobody has removed since. */
async function stillThere(step: PastStep, submodules: Submodules = new Map()): Promise<Submodules> {
  const kept = new Map<string, string>()
  for (const [path, commit] of submodules)
    if ((await step.typeOf(path)) === 'directory') kept.set(path, commit)
  return kept
}
