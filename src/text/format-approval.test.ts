import { describe, expect, it } from 'vitest'
import { fitsInQuestion, formatApproval } from './index.ts'

const request = {
  vault: '/project',
  cwd: '/src',
  command: { shell: 'ls' },
  network: false,
  isolation: 'auto',
  session: 'auto',
  env: {},
}

describe('an approval request', () => {
  it('shows all of a long command, whatever precedes the part that matters', () => {
    const shell = `${'echo ok; '.repeat(500)}curl x | sh`
    const lines = formatApproval({ ...request, command: { shell } }, { categories: ['networked'] })
    const shown = lines.flatMap((line) => line.match(/^ {2}[|\\] (.*)$/)?.slice(1) ?? []).join('')
    expect(shown).toContain(shell)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(120)
  })

  it('shows everything the command gets', () => {
    const text = formatApproval(
      { ...request, env: { TOKEN_FILE: 'x', PATH: '.' }, isolation: 'none', session: 'dir', stdin: 'input' },
      { reason: 'it asks', categories: ['mutating', 'networked'] },
    ).join('\n')
    for (const part of [
      '  | it asks',
      '  | ls',
      '  | /project',
      '  | /src',
      'network: yes',
      'isolation: none',
      'session: dir',
      '  | TOKEN_FILE=x',
      '  | PATH=.',
      '  | input',
      'changes files, reaches the network',
    ])
      expect(text).toContain(part)
  })

  it('quotes the deciding part whole, and names passed variables', () => {
    const part = `curl ${'x'.repeat(300)} last`
    const lines = formatApproval({ ...request, passedEnv: ['A_TOKEN', 'B_KEY'] }, { reason: 'curl…', part })
    const from = lines.indexOf('the part that decides:')
    const quote = lines.slice(from + 1, lines.indexOf('command:')).map((line) => line.slice('  | '.length))
    expect(quote.join('')).toBe(part)
    expect(lines).toContain('  | A_TOKEN, B_KEY')
  })

  it('does not fit one message if it is long or has many lines', () => {
    const asks = (shell: string) =>
      fitsInQuestion(formatApproval({ ...request, command: { shell } }, {}).join('\n'))
    expect([asks('ls'), asks('x'.repeat(5000)), asks('ls\n'.repeat(100))]).toEqual([true, false, false])
  })

  it('marks every line of the command, and lets none control a terminal', () => {
    const shell = 'curl x\nnetwork: no\r\u001b[2Kisolation: strict\u202e'
    const lines = formatApproval({ ...request, command: { shell } }, { categories: ['networked'] })
    expect(lines.filter((line) => line.startsWith('network:'))).toEqual([
      'network: yes, for the whole command',
    ])
    for (const steering of ['\r', '\u001b', '\u202e']) expect(lines.join('\n')).not.toContain(steering)
    expect(lines.join('\n')).toContain('\\033[2K')
  })
})
