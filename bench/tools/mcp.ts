import type { Recorder, Settings, Task } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'
import { type CorpusFile, createTextFiles, listDirectories } from '../vfs/corpus.ts'
import { McpServer, type McpSubject } from './mcp-server.ts'

const SEARCHED_FILES = 10_000
const CALLS = 200
const SEARCH_PATTERN = '**/file-0[0-4]?77.txt'
const decoder = new TextDecoder()

/** Creates the files that every server has before it starts. */
export function createServedFiles({ isQuick }: Settings): CorpusFile[] {
  return createTextFiles(isQuick ? SEARCHED_FILES / 20 : SEARCHED_FILES)
}

/** Every work over one connection, once to warm up, then for the record. */
export async function measureMcp(recorder: Recorder, settings: Settings, subject: McpSubject): Promise<void> {
  await using server = await McpServer.start(subject)
  const files = createServedFiles(settings)
  for (const round of [new WarmUpRecorder(), recorder]) {
    await round.record('mcp-read', readTask(server, subject, files))
    await round.record('mcp-list', listTask(server, subject, files))
    await round.record('mcp-search', searchTask(server, subject, files))
    await round.record('mcp-write', writeTask(server, subject, files))
    await round.record('mcp-edit', editTask(server, subject))
  }
}

/** Counts the files whose content came back whole. */
function readTask(server: McpServer, { root, read }: McpSubject, files: readonly CorpusFile[]): Task {
  const chosen = files
    .slice(0, CALLS)
    .map(({ path, bytes }) => ({ path, text: decoder.decode(bytes).trimEnd() }))
  return {
    operations: chosen.length,
    expected: chosen.length,
    async pass() {
      let right = 0
      for (const { path, text } of chosen) if ((await server.call(read(root + path))).includes(text)) right++
      return right
    },
  }
}

function listTask(server: McpServer, { root, list }: McpSubject, files: readonly CorpusFile[]): Task {
  const directories = listDirectories(files).slice(0, CALLS)
  return {
    operations: directories.length,
    expected: files.length,
    async pass() {
      let names = 0
      for (const path of directories) names += count(await server.call(list(root + path)), /file-\d+\.txt/g)
      return names
    },
  }
}

function searchTask(server: McpServer, { root, search }: McpSubject, files: readonly CorpusFile[]): Task {
  return {
    operations: 1,
    expected: files.filter(({ path }) => /file-0[0-4].77\.txt$/.test(path)).length,
    pass: async () => count(await server.call(search(root, SEARCH_PATTERN)), /file-\d+\.txt/g),
  }
}

function writeTask(server: McpServer, { root, write }: McpSubject, files: readonly CorpusFile[]): Task {
  const chosen = files
    .slice(0, CALLS)
    .map(({ bytes }, at) => ({ path: getWrittenPath(root, at), text: decoder.decode(bytes) }))
  return {
    operations: chosen.length,
    expected: chosen.length,
    async pass() {
      for (const { path, text } of chosen) await server.call(write(path, text))
      return chosen.length
    },
  }
}

/** Each pass replaces the text of the pass before, so it fails unless that one did its work. */
function editTask(server: McpServer, { root, read, write, edit }: McpSubject): Task {
  let turn = 0
  const markOf = (number: number) => `mark-${number}.`
  const text = (mark: string) =>
    `${'a line of a file that is edited\n'.repeat(16)}${mark}\n${'and what follows\n'.repeat(16)}`
  return {
    operations: CALLS,
    expected: CALLS,
    async prepare() {
      turn++
      for (let at = 0; at < CALLS; at++)
        await server.call(write(getWrittenPath(root, at), text(markOf(turn))))
    },
    async pass() {
      for (let at = 0; at < CALLS; at++) {
        await server.call(edit(getWrittenPath(root, at), markOf(turn), markOf(turn + 1)))
      }
      const last = await server.call(read(getWrittenPath(root, CALLS - 1)))
      return last.includes(markOf(turn + 1)) ? CALLS : 0
    },
  }
}

function getWrittenPath(root: string, number: number): string {
  return `${root}/written/w-${number}.md`
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
