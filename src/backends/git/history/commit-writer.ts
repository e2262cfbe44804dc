import type { ExportedStep } from '../../vault/index.ts'
import { type CommitNotes, parseCommitNotes, type Submodules } from './commit-notes.ts'
import type { FastImport } from './fast-import.ts'

/** A signature in Git's format. Any other text in its place would be read as commands. */
const SIGNATURE = /^[^<>\n\0]*<[^<>\n\0]*> \d+ [+-]\d+$/
const UNKNOWN_SIGNATURE = 'unknown <unknown@localhost> 0 +0000'

/** A written commit. */
interface WrittenCommit {
  readonly mark: number
  /** Id of its step. */
  readonly step: string
  readonly submodules: Submodules
}

/**
 * Writes checkpoints as commits, oldest first. Imported commits keep their parents; any other checkpoint follows
 * the one before.
 */
export class CommitWriter {
  readonly #stream: FastImport
  readonly #author: string
  readonly #byCommit = new Map<string, WrittenCommit>()
  #last: WrittenCommit | undefined
  /** Paths of devices, sockets and pipes, which no commit can contain. */
  readonly skipped: Set<string> = new Set()
  commits = 0
  bytes = 0

  constructor(stream: FastImport, author = 'Coppice <coppice@localhost>') {
    this.#stream = stream
    this.#author = author
  }

  async write(step: ExportedStep): Promise<void> {
    const notes = parseCommitNotes(step)
    const parents = this.#findParents(notes)
    const [base] = parents
    const submodules = notes?.submodules ?? (await keepExisting(step, base?.submodules))
    const mark = this.commits + 1
    const marks = parents.map((parent) => parent.mark)
    await this.#stream.begin({ mark, ...this.#toCommitHead(step, notes), parents: marks })
    for (const path of base?.submodules.keys() ?? [])
      if (!submodules.has(path)) await this.#stream.apply({ kind: 'remove', path })
    await this.#writeChanges(step, base?.step)
    for (const [path, commit] of submodules) await this.#stream.putSubmodule(path, commit)
    this.#last = { mark, step: step.id, submodules }
    if (notes !== undefined) this.#byCommit.set(notes.commit, this.#last)
    this.commits = mark
  }

  #findParents(notes: CommitNotes | undefined): WrittenCommit[] {
    if (notes !== undefined) return notes.parents.flatMap((id) => this.#byCommit.get(id) ?? [])
    return this.#last === undefined ? [] : [this.#last]
  }

  async #writeChanges(step: ExportedStep, base: string | undefined): Promise<void> {
    for await (const change of step.changesSince(base)) {
      if (change.kind === 'file') this.bytes += change.size
      if (change.kind === 'other') this.skipped.add(change.path)
      else await this.#stream.apply(change)
    }
  }

  /**
   * Returns the original commit's header, or one from the checkpoint's own data. It never uses the current time, so
   * that ids stay the same.
   */
  #toCommitHead(
    { name, time, description }: ExportedStep,
    notes: CommitNotes | undefined,
  ): Pick<CommitNotes, 'author' | 'committer' | 'message'> {
    if (notes !== undefined) {
      const { author, committer, message } = notes
      return { author: toValidSignature(author), committer: toValidSignature(committer), message }
    }
    const signature = `${this.#author} ${Math.floor(time.getTime() / 1000)} +0000`
    return { author: signature, committer: signature, message: `${description ?? name}\n` }
  }
}

function toValidSignature(signature: string): string {
  return SIGNATURE.test(signature) ? signature : UNKNOWN_SIGNATURE
}

/** Filters the submodules of a commit to those whose directories still exist. */
async function keepExisting(step: ExportedStep, submodules: Submodules = new Map()): Promise<Submodules> {
  const kept = new Map<string, string>()
  for (const [path, commit] of submodules)
    if ((await step.findType(path)) === 'directory') kept.set(path, commit)
  return kept
}
