import {
  callAll,
  callOne,
  groupByPath,
  type LineChange,
  type LineContext,
  type Plan,
  type SeenLine,
  type Toolbox,
  type ToolCall,
} from './toolbox.ts'

/** Works with the tools of Coppice: finds lines by content, and edits them by number. */
export class SearchToolbox implements Toolbox {
  readonly #isOffered: (name: string) => boolean
  readonly #isCareful: boolean
  readonly #read = new Set<string>()

  constructor(isOffered: (name: string) => boolean, isCareful: boolean) {
    this.#isOffered = isOffered
    this.#isCareful = isCareful
  }

  *search(pattern: RegExp, where: string, { before = 0, after = 0 }: LineContext = {}): Plan<SeenLine[]> {
    const found = yield* callOne('file_grep', {
      path: where,
      pattern: pattern.source,
      context_before: before,
      context_after: after,
    })
    // A long output is stored, and the answer names the file that has it.
    const stored = /is stored as (\S+)/.exec(found)?.[1]
    const output =
      stored === undefined ? found : yield* callOne('file_read', { path: stored, numbered: false })
    return parseMatches(output, where)
  }

  *read(paths: readonly string[]): Plan<string[][]> {
    for (const path of paths) this.#read.add(path)
    const texts = yield* callAll(paths.map((path) => ({ name: 'file_read', input: { path } })))
    return texts.map((text) => text.split('\n').map((line) => line.replace(/^ *\d+\t/, '')))
  }

  *edit(changes: readonly LineChange[]): Plan<void> {
    const unread = [...new Set(changes.map(({ path }) => path))].filter((path) => !this.#read.has(path))
    if (this.#isCareful && unread.length > 0) yield* this.read(unread)
    // The last change of a file comes first, so that the numbers of the others stay right.
    const ordered = [...groupByPath(changes).values()].flatMap((own) => own.toReversed())
    yield* callAll(ordered.map(toEdit))
  }

  *write(path: string, content: string): Plan<void> {
    yield* callOne('write_file', { path, content })
  }

  *move(from: string, to: string): Plan<void> {
    if (!this.#isOffered('vfs_move')) yield* callOne('tool_search', { query: 'move a file' })
    yield* callOne('vfs_move', { src: from, dst: to })
  }
}

function toEdit({ path, start, before, after }: LineChange): ToolCall {
  const end = start + before.length - 1
  const content = after.join('\n')
  const edit = (fields: ToolCall['input']) => ({ name: 'file_edit', input: { path, ...fields } })
  if (before.length === 0) return edit({ operation: 'insert_before', start, content })
  if (after.length === 0) return edit({ operation: 'delete_lines', start, end })
  const isInsertion = before.every((line, index) => after[index] === line)
  if (!isInsertion) return edit({ operation: 'replace_lines', start, end, content })
  return edit({ operation: 'insert_after', start: end, content: after.slice(before.length).join('\n') })
}

function parseMatches(output: string, where: string): SeenLine[] {
  const seen: SeenLine[] = []
  let path = where
  for (const shown of output.split('\n')) {
    path = /^vfs:\/\/\/workspace\/(.+)$/.exec(shown)?.[1] ?? path
    const [, mark, line, text] = /^([> ]) (\d+): (.*)$/.exec(shown) ?? []
    if (text !== undefined) seen.push({ path, line: Number(line), text, isMatch: mark === '>' })
  }
  return seen
}
