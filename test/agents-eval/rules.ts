import { dirname, join, relative } from 'node:path'
import type { LineChange, Plan, SeenLine, Toolbox } from './toolbox.ts'

/** Handles one kind of task. Its names are the words that the intent has in backquotes. */
export interface RepairRule {
  readonly intent: RegExp
  play(toolbox: Toolbox, names: readonly string[]): Plan<string>
}

const FUNCTION_LINES = 12

const repairMedian: RepairRule = {
  intent: /wrong for an even number/,
  *play(toolbox, [name = '', file = '']) {
    const seen = yield* toolbox.search(new RegExp(`function ${name}\\b`), file, { after: FUNCTION_LINES })
    for (const { path, line, text } of takeBody(seen)) {
      const [, indent, list, middle] = /^(\s*)return (\w+)\[(\w+)\]$/.exec(text) ?? []
      if (indent === undefined) continue
      const even = `if (${list}.length % 2 === 0) return (${list}[${middle} - 1] + ${list}[${middle}]) / 2`
      yield* toolbox.edit([{ path, start: line, before: [text], after: [`${indent}${even}`, text] }])
      return `${name} takes the mean of the two middle values now.`
    }
    throw new Error(`no value of a list is returned by ${name}`)
  },
}

const rename: RepairRule = {
  intent: /^Rename/,
  *play(toolbox, [from = '', to = '', where = '']) {
    const name = new RegExp(`\\b${from}\\b`)
    const seen = yield* toolbox.search(name, where)
    yield* toolbox.edit(
      seen.map((line) => replaceLine(line, line.text.replaceAll(new RegExp(name, 'g'), to))),
    )
    return `Renamed in ${seen.length} lines.`
  },
}

const addEntry: RepairRule = {
  intent: /ordered by code and lacks/,
  *play(toolbox, [file = '', code = '', currency = '', calling = '']) {
    const near = new RegExp(`"code": "${code.charAt(0)}`)
    const seen = yield* toolbox.search(near, file, { before: 1, after: 3 })
    const last = seen.findLast(({ isMatch, text }) => isMatch && (/: "(\w+)"/.exec(text)?.[1] ?? '') < code)
    const end = seen.find(({ line, text }) => line > (last?.line ?? Infinity) && text.trim() === '},')
    if (end === undefined) throw new Error(`no entry before ${code} was found`)
    const fields = JSON.stringify([{ code, currency, calling }], null, 2).split('\n').slice(1, -1)
    const entry = [...fields.slice(0, -1), end.text]
    yield* toolbox.edit([{ ...end, start: end.line, before: [end.text], after: [end.text, ...entry] }])
    return `Added ${code}.`
  },
}

const reportError: RepairRule = {
  intent: /Find the error in/,
  *play(toolbox, [log = '', report = '']) {
    const errors = yield* toolbox.search(/\b(ERROR|FATAL)\b/, log)
    if (errors.length === 0) throw new Error(`${log} has no error`)
    const lines = errors.map(({ text }) => `- ${text.replace(/^\S+ /, '')}\n`)
    yield* toolbox.write(report, `# Errors of the import\n\n${lines.join('')}`)
    return `Found ${errors.length}.`
  },
}

const repairKey: RepairRule = {
  intent: /spells the key/,
  *play(toolbox, [where = '', key = '']) {
    const seen = yield* toolbox.search(new RegExp(`^\\s*${key.charAt(0)}\\w*:`), where)
    const wrong = seen.flatMap((line) => {
      const found = /(\w+):/.exec(line.text)?.[1] ?? key
      return found !== key && isMisspelled(found, key)
        ? [replaceLine(line, line.text.replace(found, key))]
        : []
    })
    if (wrong.length === 0) throw new Error(`no key resembles ${key}`)
    yield* toolbox.edit(wrong)
    return `Repaired ${wrong.map(({ path }) => path).join(', ')}.`
  },
}

/** Sentences of a README, and the code that they ask for. */
const SENTENCES: readonly (readonly [sentence: RegExp, toCode: (value: string) => string])[] = [
  [/in lower case/, () => '.toLowerCase()'],
  [
    /run of other characters than letters and digits becomes one `(.)`/,
    (by) => `.replaceAll(/[^a-z0-9]+/g, '${by}')`,
  ],
  [/no `(.)` at the beginning and at the end/, (mark) => `.replaceAll(/^${mark}|${mark}$/g, '')`],
  [/at most (\d+) characters/, (count) => `.slice(0, ${count})`],
]

const implementTodo: RepairRule = {
  intent: /Implement the TODO/,
  *play(toolbox, [file = '', readme = '']) {
    const [lines = [], description = []] = yield* toolbox.read([file, readme])
    const start = lines.findIndex((line) => line.includes('TODO'))
    const [todo = '', old = ''] = lines.slice(start)
    const code = description.flatMap((line) =>
      SENTENCES.flatMap(([sentence, toCode]) => {
        const match = sentence.exec(line)
        return match === null ? [] : [toCode(match[1] ?? '')]
      }),
    )
    const after = [`${old}${code.join('')}`]
    yield* toolbox.edit([{ path: file, start: start + 1, before: [todo, old], after }])
    return `Implemented with ${code.length} steps.`
  },
}

const removeDuplicate: RepairRule = {
  intent: /is defined twice/,
  *play(toolbox, [name = '', where = '', kept = '']) {
    const seen = yield* toolbox.search(new RegExp(`function ${name}\\b`), where, { after: FUNCTION_LINES })
    const body = takeBody(seen.filter(({ path }) => path !== kept))
    const [first] = body
    if (first === undefined) throw new Error(`${name} has no duplicate`)
    const { path, line } = first
    const text = `import { ${name} } from '${toImport(path, kept)}'`
    yield* toolbox.edit([
      { path, start: 1, before: [], after: [text, ''] },
      { path, start: line, before: body.map((own) => own.text), after: [] },
    ])
    return `Removed from ${path}.`
  },
}

const repairLoop: RepairRule = {
  intent: /leaves out the last entry/,
  *play(toolbox, [where = '']) {
    const seen = yield* toolbox.search(/< [\w.]+\.length - 1\b/, where, { after: 4 })
    const wrong = seen.filter(({ isMatch }) => isMatch).find((loop) => !comparesNeighbours(loop, seen))
    if (wrong === undefined) throw new Error('no loop stops too early')
    yield* toolbox.edit([replaceLine(wrong, wrong.text.replace('.length - 1', '.length'))])
    return `Repaired line ${wrong.line} of ${wrong.path}.`
  },
}

const moveFile: RepairRule = {
  intent: /^Move/,
  *play(toolbox, [from = '', to = '', where = '']) {
    const imports = yield* toolbox.search(/^import .*'\.{1,2}\//, where)
    const changes = imports.flatMap((line): LineChange[] => {
      const [, target = ''] = /'(\..*)'/.exec(line.text) ?? []
      const imported = join(dirname(line.path), target)
      if (imported === from) return [replaceLine(line, line.text.replace(target, toImport(line.path, to)))]
      if (line.path !== from) return []
      return [{ ...replaceLine(line, line.text.replace(target, toImport(to, imported))), path: to }]
    })
    yield* toolbox.move(from, to)
    yield* toolbox.edit(changes)
    return `Moved, with ${changes.length} imports.`
  },
}

const resolveConflict: RepairRule = {
  intent: /Keep the lines of both sides/,
  *play(toolbox, [where = '']) {
    const markers = yield* toolbox.search(/^(<{7}|={7}|>{7})/, where)
    yield* toolbox.edit(
      markers.map(({ path, line, text }) => ({ path, start: line, before: [text], after: [] })),
    )
    return `Removed ${markers.length} markers.`
  },
}

export const repairRules: readonly RepairRule[] = [
  repairMedian,
  rename,
  addEntry,
  reportError,
  repairKey,
  implementTodo,
  removeDuplicate,
  repairLoop,
  moveFile,
  resolveConflict,
]

/** Takes the lines of a function from its first line to its closing brace. */
function takeBody(seen: readonly SeenLine[]): readonly SeenLine[] {
  const start = seen.findIndex(({ isMatch }) => isMatch)
  const end = seen.findIndex(({ text }, index) => index > start && text === '}')
  if (start === -1 || end === -1) throw new Error('the function was not seen to its end')
  return seen.slice(start, end + 1)
}

function replaceLine({ path, line, text }: SeenLine, by: string): LineChange {
  return { path, start: line, before: [text], after: [by] }
}

function toImport(importer: string, target: string): string {
  const path = relative(dirname(importer), target)
  return path.startsWith('.') ? path : `./${path}`
}

/** True for a loop that uses the entry after the current one, which must stop earlier. */
function comparesNeighbours({ path, line }: SeenLine, seen: readonly SeenLine[]): boolean {
  const body = seen.filter((other) => other.path === path && other.line > line && other.line <= line + 2)
  return body.some(({ text }) => /\[\w+ \+ 1\]/.test(text))
}

/** True if one letter is missing in a word. */
function isMisspelled(word: string, right: string): boolean {
  return [...right].some((_, index) => right.slice(0, index) + right.slice(index + 1) === word)
}
