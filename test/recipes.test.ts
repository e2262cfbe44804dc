import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support/run-node.ts'

const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
const recipes = [...page.matchAll(/^### (.*?)\n(.*?)(?=^##)/gms)].flatMap(([, title = '', text = '']) =>
  [...text.matchAll(/^```diff\n(.*?)^```/gms)].map(([, diff = '']) => [title, diff] as const),
)

it('CONTRIBUTING.md has a recipe for each kind of extension', () => {
  expect(recipes.map(([title]) => title)).toEqual([
    'Add a backend',
    'Add an engine',
    'Add a tool',
    'Add a command',
    'Add a device',
    'Add an adapter',
    'Add a provider',
  ])
})

it.each(recipes)('the diff of "%s" applies to the code', (_title, diff) => {
  execFileSync('git', ['apply', '--check', '-C1', '-'], { cwd: root, input: diff, stdio: 'pipe' })
})
