import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8')

/** Indentation aside: a guide may show a method without the class around it. */
function unindented(code: string): string {
  return code.trim().replaceAll(/^ +/gm, '')
}

describe('the guides', () => {
  const examples = globSync('examples/*.ts', { cwd: root }).map((file) => unindented(read(file)))

  for (const guide of globSync('docs/guide/*.md', { cwd: root })) {
    for (const [, code = ''] of read(guide).matchAll(/^```ts\n(.*?)^```/gms)) {
      it(`${guide} takes from an example: ${code.split('\n')[0]}`, () => {
        expect(examples.some((example) => example.includes(unindented(code)))).toBe(true)
      })
    }
  }
})
