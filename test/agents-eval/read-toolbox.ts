import { dirname, relative } from 'node:path'
import {
  callAll,
  callOne,
  groupByPath,
  type LineChange,
  type LineContext,
  type Plan,
  type SeenLine,
  type Toolbox,
} from './toolbox.ts'

/**
 * Works with the tools of server-filesystem, which find files by name only: to find lines, the model reads the files.
 * It reads each file once, and several files by one call.
 */
export class ReadToolbox implements Toolbox {
  readonly #root: string
  readonly #files = new Map<string, readonly string[]>()

  constructor(root: string) {
    this.#root = root
  }

  *search(pattern: RegExp, where: string, context: LineContext = {}): Plan<SeenLine[]> {
    const paths = hasExtension(where) ? [where] : yield* this.#findFiles(where)
    const files = yield* this.read(paths)
    return files.flatMap((lines, index) => findLines(paths[index] ?? '', lines, pattern, context))
  }

  *read(paths: readonly string[]): Plan<string[][]> {
    const unread = paths.filter((path) => !this.#files.has(path))
    const [first = ''] = unread
    if (unread.length === 1) {
      this.#files.set(first, (yield* callOne('read_text_file', { path: first })).split('\n'))
    } else if (unread.length > 1) {
      const output = yield* callOne('read_multiple_files', { paths: unread })
      for (const [path, text] of splitFiles(output, unread)) this.#files.set(path, text.split('\n'))
    }
    return paths.map((path) => [...(this.#files.get(path) ?? [])])
  }

  *edit(changes: readonly LineChange[]): Plan<void> {
    const calls = [...groupByPath(changes)].map(([path, own]) => ({
      name: 'edit_file',
      input: { path, edits: own.map((change) => this.#toEdit(change)) },
    }))
    yield* callAll(calls)
  }

  *write(path: string, content: string): Plan<void> {
    yield* callOne('write_file', { path, content })
  }

  *move(from: string, to: string): Plan<void> {
    yield* callAll([
      { name: 'create_directory', input: { path: dirname(to) } },
      { name: 'move_file', input: { source: from, destination: to } },
    ])
    const lines = this.#files.get(from)
    if (lines !== undefined) this.#files.set(to, lines)
  }

  *#findFiles(directory: string): Plan<string[]> {
    const output = yield* callOne('search_files', { path: directory, pattern: '**/*.*' })
    return output.split('\n').map((path) => relative(this.#root, path))
  }

  /** An edit names the old text, not its place: lines above it make it unique. */
  #toEdit({ path, start, before, after }: LineChange): {
    readonly oldText: string
    readonly newText: string
  } {
    const lines = this.#files.get(path) ?? []
    const end = start - 1 + before.length
    for (let above = start - 1; above >= 0; above--) {
      const oldText = joinLines(lines.slice(above, end))
      if (oldText !== '' && lines.join('\n').split(oldText).length === 2)
        return { oldText, newText: joinLines([...lines.slice(above, start - 1), ...after]) }
    }
    const [next = ''] = lines.slice(end)
    return { oldText: joinLines([...before, next]), newText: joinLines([...after, next]) }
  }
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

function hasExtension(path: string): boolean {
  return /\.\w+$/.test(path)
}

function findLines(
  path: string,
  lines: readonly string[],
  pattern: RegExp,
  { before = 0, after = 0 }: LineContext,
): SeenLine[] {
  const matches = lines.flatMap((text, index) => (pattern.test(text) ? [index] : []))
  return lines.flatMap((text, index) => {
    const isNear = matches.some((match) => index >= match - before && index <= match + after)
    return isNear ? [{ path, line: index + 1, text, isMatch: matches.includes(index) }] : []
  })
}

/** Splits the output of read_multiple_files, in which each file follows its path. */
function splitFiles(output: string, paths: readonly string[]): [path: string, text: string][] {
  let start = 0
  return paths.map((path, index) => {
    const next = paths[index + 1]
    start = output.indexOf(`${path}:\n`, start) + path.length + 2
    const end = next === undefined ? output.length - 1 : output.indexOf(`\n\n---\n${next}:\n`, start)
    return [path, output.slice(start, end)]
  })
}
