/** A call that the model makes. */
export interface ToolCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** A part of the model's work: yields the calls of one answer, and receives their results. */
export type Plan<T> = Generator<readonly ToolCall[], T, readonly string[]>

/** A line of a file that the model saw. */
export interface SeenLine {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  readonly text: string
  readonly isMatch: boolean
}

/** Replacement of consecutive lines by others. Without lines before, it inserts. */
export interface LineChange {
  readonly path: string
  readonly start: number
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Lines to see around a match. */
export interface LineContext {
  readonly before?: number
  readonly after?: number
}

/** The ways of a model to work on files. Each way uses the tools that the model is offered. */
export interface Toolbox {
  /** Finds lines of a file, or of all files below a directory. */
  search(pattern: RegExp, where: string, context?: LineContext): Plan<SeenLine[]>
  /** Returns the lines of each file. */
  read(paths: readonly string[]): Plan<string[][]>
  edit(changes: readonly LineChange[]): Plan<void>
  write(path: string, content: string): Plan<void>
  move(from: string, to: string): Plan<void>
}

/** Makes the calls of one answer. Throws if one fails. */
export function* callAll(calls: readonly ToolCall[]): Plan<readonly string[]> {
  const results = yield calls
  const failure = results.find((result) => result.startsWith('Error: '))
  if (failure !== undefined) throw new Error(failure)
  return results
}

/** Makes one call. Throws if it fails. */
export function* callOne(name: string, input: ToolCall['input']): Plan<string> {
  const [result = ''] = yield* callAll([{ name, input }])
  return result
}

/** Returns the changes by path, each path with its first change first. */
export function groupByPath(changes: readonly LineChange[]): Map<string, LineChange[]> {
  return Map.groupBy(
    changes.toSorted((a, b) => a.start - b.start),
    ({ path }) => path,
  )
}
