import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { VfsError } from '../../../vfs/index.ts'
import type { ExportedChange } from '../../vault/index.ts'
import { type GitChild, type GitContext, startGit, waitForExit } from '../native/git-command.ts'

/** Header of a commit, which precedes its files. */
export interface CommitHead {
  /** Number of the commit in the stream, from 1. */
  readonly mark: number
  readonly author: string
  readonly committer: string
  readonly message: string
  /** Marks of earlier commits of the stream, or ids of commits that the repository has. */
  readonly parents: readonly (number | string)[]
}

/** Streams commits into a repository through `git fast-import`. No ref points at them before `finish`. */
export class FastImport implements AsyncDisposable {
  readonly #child: GitChild
  readonly #ref: string
  readonly #exitCode: Promise<number | null>
  readonly #stderr: Promise<string>
  #isDone = false

  constructor(directory: string, ref: string, context: GitContext) {
    const args = ['--git-dir', directory, 'fast-import', '--quiet', '--done', '--date-format=raw-permissive']
    this.#child = startGit(args, context)
    this.#ref = ref
    this.#exitCode = waitForExit(this.#child)
    this.#stderr = text(this.#child.stderr)
    this.#child.stdout.resume()
    // The exit of the process reports the cause.
    this.#child.stdin.on('error', () => {})
    this.#exitCode.catch(() => {})
    this.#stderr.catch(() => {})
  }

  async begin({ mark, author, committer, message, parents }: CommitHead): Promise<void> {
    const [first, ...others] = parents
    const lines = [
      // Without a parent the branch starts anew.
      ...(first === undefined ? [`reset ${this.#ref}`] : []),
      `commit ${this.#ref}`,
      `mark :${mark}`,
      `author ${author}`,
      `committer ${committer}`,
      `data ${Buffer.byteLength(message)}\n${message}`,
      ...(first === undefined ? [] : [`from ${formatParent(first)}`]),
      ...others.map((parent) => `merge ${formatParent(parent)}`),
    ]
    await this.#write(`${lines.join('\n')}\n`)
  }

  async apply(change: Exclude<ExportedChange, { readonly kind: 'other' }>): Promise<void> {
    const name = quotePath(change.path)
    if (change.kind === 'remove') await this.#write(`D ${name}\n`)
    else if (change.kind === 'symlink')
      await this.#write(
        `M 120000 inline ${name}\ndata ${Buffer.byteLength(change.target)}\n${change.target}\n`,
      )
    else {
      const mode = (change.mode & 0o100) === 0 ? '100644' : '100755'
      await this.#write(`M ${mode} inline ${name}\ndata ${change.size}\n`)
      for await (const chunk of change.content()) await this.#write(chunk)
      await this.#write('\n')
    }
  }

  /** Replaces all files by those of a tree that the repository has. */
  async putTree(tree: string): Promise<void> {
    await this.#write(`M 040000 ${tree} ""\n`)
  }

  async putSubmodule(path: string, commit: string): Promise<void> {
    await this.#write(`M 160000 ${commit} ${quotePath(path)}\n`)
  }

  /** Stores everything and moves the branch to it. */
  async finish(): Promise<void> {
    await this.#write('done\n')
    this.#child.stdin.end()
    const code = await this.#exitCode
    this.#isDone = true
    if (code !== 0) throw await this.#createError()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDone) return
    this.#child.kill()
    await this.#exitCode.catch(() => {})
  }

  async #write(data: string | Uint8Array): Promise<void> {
    if (this.#child.stdin.destroyed || this.#child.exitCode !== null) throw await this.#createError()
    if (this.#child.stdin.write(data)) return
    // The exit of the process explains a broken pipe.
    await Promise.race([once(this.#child.stdin, 'drain').catch(() => {}), this.#exitCode])
  }

  async #createError(): Promise<VfsError> {
    await this.#exitCode
    const reason =
      (await this.#stderr).split('\n').find((line) => line.startsWith('fatal:')) ?? 'it ended early'
    return new VfsError('EIO', '/', {
      op: 'export',
      detail: `git fast-import failed: ${reason.replace('fatal: ', '')}`,
    })
  }
}

function formatParent(parent: number | string): string {
  return typeof parent === 'number' ? `:${parent}` : parent
}

/** Quotes a name as Git does, since it may contain a newline. EINVAL for a name that no repository may contain. */
function quotePath(path: string): string {
  if (/(?:^|\/)\.git(?:\/|$)/i.test(path)) {
    const detail =
      "a repository cannot contain '.git'; remove it from the vault, save a checkpoint, and delete those that have it"
    throw new VfsError('EINVAL', path, { op: 'export', detail })
  }
  const name = path.slice(1).replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')
  return `"${name}"`
}
