import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a commit of a test changes: content by path, null takes away. A prefix says the mode of other than plain files. */
export interface TestCommit {
  readonly message?: string
  readonly author?: string
  readonly seconds?: number
  readonly branch?: string
  /** Parents by the position of their commit; the one before when absent. */
  readonly parents?: readonly number[]
  readonly files: Readonly<Record<string, string | Uint8Array | null>>
  readonly executables?: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
  readonly submodules?: Readonly<Record<string, string>>
}

const SECONDS = 1_700_000_000

/** A repository made of a stream, bare unless said otherwise. */
export class TestRepository implements Disposable {
  readonly path: string

  constructor(commits: readonly TestCommit[], { format = 'sha1' }: { readonly format?: string } = {}) {
    this.path = mkdtempSync(join(tmpdir(), 'coppice-git-'))
    git([
      'init',
      '-q',
      '--bare',
      '--template=',
      `--object-format=${format}`,
      '--initial-branch=main',
      this.path,
    ])
    this.add(commits)
  }

  /** More commits. Parents count from the first of these. */
  add(commits: readonly TestCommit[], from?: string): void {
    const parts = commits.flatMap((commit, at) => streamOf(commit, at, from))
    git(['--git-dir', this.path, 'fast-import', '--quiet', '--date-format=raw'], Buffer.concat(parts))
  }

  git(...args: string[]): string {
    return git(['--git-dir', this.path, ...args])
      .toString()
      .trimEnd()
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Runs Git as nobody in particular. */
export function git(args: readonly string[], input?: Uint8Array): Buffer {
  const env = {
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    LC_ALL: 'C',
  }
  return execFileSync('git', args, { env, input, stdio: ['pipe', 'pipe', 'pipe'], maxBuffer: 2 ** 30 })
}

function streamOf(commit: TestCommit, at: number, from: string | undefined): Buffer[] {
  const {
    message = `commit ${at + 1}\n`,
    author = 'Ada <ada@example.org>',
    seconds = SECONDS + at,
    branch = 'main',
  } = commit
  const parents =
    commit.parents?.map((parent) => `:${parent + 1}`) ??
    (at > 0 ? [`:${at}`] : from === undefined ? [] : [from])
  const lines = [
    `commit refs/heads/${branch}`,
    `mark :${at + 1}`,
    `author ${author} ${seconds} +0100`,
    `committer ${author} ${seconds} +0100`,
    `data ${Buffer.byteLength(message)}\n${message}`,
    ...parents.map((parent, index) => `${index === 0 ? 'from' : 'merge'} ${parent}`),
  ]
  return [Buffer.from(`${lines.join('\n')}\n`), ...entriesOf(commit), Buffer.from('\n')]
}

function entriesOf({ files, executables = {}, links = {}, submodules = {} }: TestCommit): Buffer[] {
  const change = (mode: string, path: string, content: string | Uint8Array | null) => {
    if (content === null) return Buffer.from(`D ${quoted(path)}\n`)
    const bytes = Buffer.from(content)
    return Buffer.concat([
      Buffer.from(`M ${mode} inline ${quoted(path)}\ndata ${bytes.length}\n`),
      bytes,
      Buffer.from('\n'),
    ])
  }
  return [
    ...Object.entries(files).map(([path, content]) => change('100644', path, content)),
    ...Object.entries(executables).map(([path, content]) => change('100755', path, content)),
    ...Object.entries(links).map(([path, target]) => change('120000', path, target)),
    ...Object.entries(submodules).map(([path, id]) => Buffer.from(`M 160000 ${id} ${quoted(path)}\n`)),
  ]
}

/** Git's C style, for names with newlines and quotes. */
function quoted(path: string): string {
  const name = path.replace(/^\//, '')
  return `"${name.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}
