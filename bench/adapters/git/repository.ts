import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as nodeFs from 'node:fs'
import { join } from 'node:path'
import { readBlob, resolveRef, TREE, walk } from 'isomorphic-git'
import { type GitFs, openGit } from '../../../src/backends/git/index.ts'
import { readFile } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'

const AT_ONCE = 16
const WORDS = ['export', 'function', 'return', 'const', 'value', 'if', 'await', 'import', 'string', 'number']

/** Walks and reads a bare repository with one pack, as a clone has it: by our backend, and by isomorphic-git itself. */
export async function measure(recorder: Recorder, { directory, isQuick }: Settings): Promise<void> {
  const [count, reads] = isQuick ? [2500, 250] : [50_000, 5000]
  const gitdir = join(directory, 'repository.git')
  recorder.progress('making the repository')
  await makeRepository(gitdir, count)
  const oid = await resolveRef({ fs: nodeFs, gitdir, ref: 'HEAD' })
  const paths = await listPaths(gitdir)
  const entries = paths.all.length
  const files = paths.files
    .filter((_, at) => at % Math.floor(paths.files.length / reads) === 0)
    .slice(0, reads)

  await recorder.record('git-walk', {
    operations: entries,
    expected: entries,
    pass: async () => (await listPaths(gitdir)).all.length,
  })
  await recorder.record('git-walk-theirs', {
    operations: entries,
    expected: entries,
    pass: () => walkWithPeer(gitdir, oid),
  })
  await measureReads(recorder, gitdir, oid, files)
}

async function measureReads(
  recorder: Recorder,
  gitdir: string,
  oid: string,
  files: readonly string[],
): Promise<void> {
  await using fs = await openGit(gitdir)
  await fs.materialize()
  const expected = await readObjectBytes(files, (path) => readFile(fs, path))
  await recorder.record('git-read', {
    operations: files.length,
    expected,
    pass: () => readObjectBytes(files, (path) => readFile(fs, path)),
  })
  // By the id of the blob, with a cache that has the index of the pack: by path it is ten times slower.
  const cache = {}
  const ids = await listIdsWithPeer(gitdir, oid, cache)
  await recorder.record('git-read-theirs', {
    operations: files.length,
    expected,
    pass: () =>
      readObjectBytes(files, async (path) => {
        return (await readBlob({ fs: nodeFs, gitdir, cache, oid: ids.get(path.slice(1)) ?? '' })).blob
      }),
  })
}

async function listPaths(gitdir: string): Promise<{ all: string[]; files: string[] }> {
  await using fs: GitFs = await openGit(gitdir)
  const [all, files]: [string[], string[]] = [[], []]
  for await (const { path, stat } of fs.walk('/', { includeDirs: true })) {
    all.push(path)
    if (stat.type === 'file') files.push(path)
  }
  return { all, files }
}

/** Counts the entries by isomorphic-git's walk, without the root. The type of each entry costs it nothing more. */
async function walkWithPeer(gitdir: string, oid: string): Promise<number> {
  let count = -1
  const map = async () => {
    count++
    // Undefined rather than null, which would end the walk here.
    return undefined
  }
  await walk({ fs: nodeFs, gitdir, cache: {}, trees: [TREE({ ref: oid })], map })
  return count
}

async function listIdsWithPeer(gitdir: string, oid: string, cache: object): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  await walk({
    fs: nodeFs,
    gitdir,
    cache,
    trees: [TREE({ ref: oid })],
    map: async (path, [entry]) => {
      ids.set(path, (await entry?.oid()) ?? '')
    },
  })
  return ids
}

async function readObjectBytes(
  files: readonly string[],
  read: (path: string) => Promise<Uint8Array>,
): Promise<number> {
  let [bytes, next] = [0, 0]
  const worker = async () => {
    for (let path = files[next++]; path !== undefined; path = files[next++]) {
      const { length } = await read(path)
      bytes += length
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return bytes
}

/** Made by one stream, then packed with deltas. */
async function makeRepository(gitdir: string, count: number): Promise<void> {
  if (nodeFs.existsSync(gitdir)) return
  await git(['init', '--quiet', '--bare', '--initial-branch=main', gitdir])
  await git(['--git-dir', gitdir, 'fast-import', '--quiet'], stream(count))
  await git(['--git-dir', gitdir, 'repack', '-adq'])
}

function* stream(count: number): Generator<string> {
  yield 'commit refs/heads/main\ncommitter Bench <bench@localhost> 1700000000 +0000\ndata 6\nbench\n'
  // Of every hundred entries, some are the directories.
  for (let at = 0; at < count * 0.964; at++) {
    const lines = Array.from(
      { length: 5 + (at % 30) },
      (_, line) => `${WORDS[(at * 7 + line) % 10]} ${WORDS[(at + line * 3) % 10]}_${at * line}`,
    )
    const text = `${lines.join('\n')}\n`
    yield `M 100644 inline src/part${at % 20}/area${Math.floor(at / 20) % 12}/unit${Math.floor(at / 240) % 8}/file${at}.ts\n`
    yield `data ${text.length}\n${text}\n`
  }
}

async function git(args: readonly string[], input: Iterable<string> = []): Promise<void> {
  const child = spawn('git', args, { stdio: ['pipe', 'inherit', 'inherit'] })
  const ended = once(child, 'close')
  for (const part of input) if (!child.stdin.write(part)) await once(child.stdin, 'drain')
  child.stdin.end()
  const [code] = await ended
  if (code !== 0) throw new Error(`git ${args[0]} failed`)
}
