import { existsSync, readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, runNode } from './support/run-node.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')

describe('the README', () => {
  const snippets = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code ?? '')

  it('has a library example to run', () => expect(snippets.length).toBeGreaterThan(0))

  it.each(snippets.map((code, index) => [index + 1, code] as const))(
    'example %i runs',
    async (_index, code) => {
      const run = await runNode(['--input-type=module-typescript', '--eval', code])
      expect(run).toMatchObject({ code: 0, stderr: '' })
    },
  )

  it('names the commands that the repository really has', () => {
    const scripts: Record<string, string> = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    ).scripts
    const used = [...readme.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name ?? '')
    expect(used.filter((name) => !(name in scripts))).toEqual([])
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain('npm ci && npm test')
    expect(readme).toContain('npm ci && npm test')
  })
})

it('links in the documentation lead somewhere', async () => {
  const broken: string[] = []
  for await (const page of glob(['*.md', 'docs/**/*.md'], { cwd: root })) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      if (!existsSync(join(root, dirname(page), target))) broken.push(`${page}: ${target}`)
    }
  }
  expect(broken).toEqual([])
})
