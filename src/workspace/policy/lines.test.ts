import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decide, type ExecutionDecision, executionRequest, policyActions } from './index.ts'

const everyday = linesIn('everyday-lines.test.txt').get('allow') ?? []
const hostile = linesIn('hostile-lines.test.txt')

describe('everyday commands', () => {
  it('are a long list', () => {
    expect(new Set(everyday).size).toBeGreaterThan(800)
  })

  it('run without approval', () => {
    const gated = everyday.flatMap((shell) => {
      const { action, reason } = judged(shell)
      return /^allow/.test(action) ? [] : [{ shell, action, reason }]
    })
    expect(gated).toEqual([])
  })

  it('run at once if they only read', () => {
    const looking = linesIn('looking-lines.test.txt').get('allow') ?? []
    expect(looking.length).toBeGreaterThan(200)
    expect(looking.filter((shell) => judged(shell).action !== 'allow')).toEqual([])
  })

  it('need approval if they download', () => {
    const fetching = ['npm install', 'npm ci', 'pip install x', 'python -m pip install x', 'cargo add x']
    expect(fetching.filter((shell) => judged(shell).action !== 'require_approval')).toEqual([])
  })
})

describe('hostile lines', () => {
  it('are a long list, with a weakest decision for each', () => {
    expect([...hostile.keys()]).toEqual(policyActions.slice(1))
    expect([...hostile.values()].flat().length).toBeGreaterThan(1000)
  })

  it.each([...hostile])('are decided no weaker than %s', (weakest, lines) => {
    const weaker = lines.flatMap((shell) => {
      const { action, categories } = judged(shell)
      return rank(action) < rank(weakest) ? [{ shell, action, categories }] : []
    })
    expect(weaker).toEqual([])
  })

  it.each([...hostile])('are decided no weaker than %s as an argument of a shell', (weakest, lines) => {
    const weaker = lines.filter((shell) => {
      const request = executionRequest({ vault: 'v', command: { argv: ['bash', '-c', shell] } })
      return rank(decide(request).action) < rank(weakest)
    })
    expect(weaker).toEqual([])
  })
})

describe('hostile lines of an isolated command of a person', () => {
  it('wait for an approval if they are denied otherwise', () => {
    const privatePaths = { directories: ['/var/tmp', '/dev/shm'], except: [] }
    const allowed = (hostile.get('deny') ?? []).filter((shell) => {
      const request = executionRequest({ vault: 'v', command: { shell } })
      return /^allow/.test(decide(request, { rules: [], asksToReadOutside: true }, privatePaths).action)
    })
    expect(allowed).toEqual([])
  })
})

function judged(shell: string): ExecutionDecision {
  return decide(executionRequest({ vault: 'v', command: { shell } }))
}

function rank(name: string): number {
  return Array.from<string>(policyActions).indexOf(name)
}

/** Returns the lines of a list by the decision above them. */
function linesIn(file: string): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  return new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => {
        const [title = '', ...lines] = section.trimEnd().split('\n')
        return [title, lines.filter((line) => line !== '').map(written)]
      }),
  )
}

function written(line: string): string {
  return line.replaceAll('⏎', '\n').replaceAll('␍', '\r')
}
