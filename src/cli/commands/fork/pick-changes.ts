import { createInterface, type Interface } from 'node:readline/promises'
import {
  formatPickedHunk,
  type Hunk,
  listQuestions,
  type PickedQuestion,
  toSelection,
} from '../../../diff/index.ts'
import { isChangeOfGit, summarizeGit } from '../../../git-files/index.ts'
import type { ChangeSelection, TreeChange } from '../../../workspace/index.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatGitLines } from '../../render/format-git.ts'
import { formatPatchLine } from '../../render/patch-line.ts'
import { withKind } from './merge-report.ts'

const HELP: Readonly<Record<string, string>> = {
  y: 'apply this hunk',
  n: 'do not apply this hunk',
  q: 'quit; do not apply this hunk or any of the remaining ones',
  a: 'apply this hunk and all later ones in the file',
  d: 'do not apply this hunk or any of the later ones in the file',
  s: 'split this hunk into smaller ones',
  '?': 'show this help',
}

/**
 * Asks about each hunk of some changes, as `git add -p` does, and once about what git keeps by itself: a part of it would
 * damage the repository. UsageError without a terminal.
 */
export async function pickChanges(
  terminal: Terminal,
  changes: readonly TreeChange[],
): Promise<Required<ChangeSelection>> {
  if (!terminal.canAsk)
    throw new UsageError('-p asks at a terminal, and there is none; name the paths after -- instead')
  const [own, others] = [changes.filter(isChangeOfGit), changes.filter((change) => !isChangeOfGit(change))]
  const answers = new Map<PickedQuestion, readonly Hunk[] | 'all'>()
  const dialogue = createInterface({ input: terminal.in, output: terminal.err })
  try {
    const picker = new HunkPicker(terminal, dialogue)
    for (const question of listQuestions(others)) {
      answers.set(question, await picker.ask(question))
      if (picker.isEnded) break
    }
    const selection = toSelection(others, answers)
    if (own.length === 0 || picker.isEnded) return selection
    if (!(await picker.askWhole(formatGitLines(summarizeGit(own.map(withKind)))))) return selection
    // A directory would bring everything in it, also hooks that were not picked. Its files create it.
    const files = own.filter(({ before, after }) => (after ?? before)?.type !== 'directory')
    return { ...selection, paths: [...selection.paths, ...files.map(({ path }) => path)] }
  } finally {
    dialogue.close()
  }
}

class HunkPicker {
  readonly #terminal: Terminal
  readonly #dialogue: Interface
  /** True after `q`. */
  isEnded = false

  constructor(terminal: Terminal, dialogue: Interface) {
    this.#terminal = terminal
    this.#dialogue = dialogue
  }

  /** Returns the picked hunks, or `all` for a picked change without hunks. */
  async ask(question: PickedQuestion): Promise<readonly Hunk[] | 'all'> {
    if (question.hunks.length === 0) return (await this.askWhole(question.header)) ? 'all' : []
    this.#writeHeader(question.header)
    return this.#askHunks(question)
  }

  /** Asks about changes that are picked together. */
  async askWhole(header: readonly string[]): Promise<boolean> {
    this.#writeHeader(header)
    return (await this.#choose('Apply this change', 'ynq')) === 'y'
  }

  async #askHunks(question: PickedQuestion): Promise<Hunk[]> {
    const picked: Hunk[] = []
    const remaining = [...question.hunks]
    for (let number = 1; remaining.length > 0; ) {
      const [hunk = []] = remaining
      this.#showHunk(question, hunk)
      const count = `(${number}/${number + remaining.length - 1}) `
      const answer = await this.#choose(`${count}Apply this hunk`, hunk.length > 1 ? 'ynqads' : 'ynqad')
      if (answer === 's') {
        remaining.splice(0, 1, ...hunk.map((change) => [change]))
        continue
      }
      if (answer === 'a') picked.push(...remaining)
      if (answer === 'a' || answer === 'd' || answer === 'q') break
      if (answer === 'y') picked.push(hunk)
      remaining.shift()
      number++
    }
    return picked
  }

  #showHunk(question: PickedQuestion, hunk: Hunk): void {
    for (const line of formatPickedHunk(question, hunk)) this.#write(formatPatchLine(this.#terminal, line))
  }

  /** Asks until the answer is one of some letters. */
  async #choose(question: string, letters: string): Promise<string> {
    const text = `${question} [${[...letters, '?'].join(',')}]? `
    for (;;) {
      const line = await this.#ask(text)
      const answer = line.trim().toLowerCase()
      this.isEnded ||= answer === 'q'
      if (answer.length === 1 && letters.includes(answer)) return answer
      for (const letter of [...letters, '?']) this.#write(`${letter} - ${HELP[letter]}`)
    }
  }

  /** Asks for a line. A Ctrl-C or Ctrl-D leaves the question; the next line then begins below it. */
  async #ask(text: string): Promise<string> {
    try {
      return await this.#dialogue.question(text, { signal: this.#terminal.signal })
    } catch (error) {
      this.#terminal.err.write('\n')
      throw error
    }
  }

  #writeHeader(lines: readonly string[]): void {
    for (const line of lines) this.#write(applyStyle(this.#terminal, 'bold', line))
  }

  #write(line: string): void {
    this.#terminal.err.write(`${line}\n`)
  }
}
