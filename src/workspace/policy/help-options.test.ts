import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decide, type ExecutionDecision, executionRequest, policyActions } from './index.ts'

/** Redirections behind a call, with their targets. */
const REDIRECTIONS = String.raw`(?:\s*\d*(?:<<<|<|>&)\s*(?:'[^']*'|"[^"]*"|<\([^)]*\)|\S+))*`

/** Lines that end in a call without arguments of a program that only prints its help, or fails, with these options. */
const PRINTS_ONLY_HELP = new RegExp(
  `(?:^|[\\s|;=])(?:${[
    ...['sh', 'bash', 'python', 'ruby', 'm4', 'dc', 'R'],
    ...['make', 'yarn', 'fzf', 'parallel', 'reboot', 'passwd'],
    // They print a message about the option, and fail.
    ...['batch', 'openssl', 'exec', 'script f'],
    // The variable holds `curl`.
    String.raw`x=curl y=z; \$x`,
  ].join('|')})${REDIRECTIONS}$`,
  's',
)

const hostile = readFileSync(new URL('hostile-lines.test.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.replaceAll('⏎', '\n').replaceAll('␍', '\r'))

describe.each([' --help', ' --version'])('the option%s behind a hostile line', (option) => {
  it('never weakens its findings, unless the program then only prints its help', () => {
    const weaker = hostile
      .filter((line) => !PRINTS_ONLY_HELP.test(line))
      .flatMap((line) => {
        const missing = listMissing(judged(line), judged(line + option))
        return missing.length === 0 ? [] : [{ line: line + option, missing }]
      })
    expect(weaker).toEqual([])
  })
})

/** Lists categories, and the action, by which the second decision is weaker than the first. */
function listMissing(before: ExecutionDecision, after: ExecutionDecision): string[] {
  const missing = before.categories.filter((one) => one !== 'read_only' && !after.categories.includes(one))
  return rank(after) < rank(before) ? [...missing, after.action] : missing
}

function judged(shell: string): ExecutionDecision {
  return decide(executionRequest({ vault: 'v', command: { shell } }))
}

function rank({ action }: ExecutionDecision): number {
  return policyActions.indexOf(action)
}
