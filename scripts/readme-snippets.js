import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Returns the TypeScript snippets of the README as JavaScript. */
export function readSnippets() {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  return [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => stripTypeScriptTypes(code))
}

// Run as a program, it tries them on the build: the oldest Node we support cannot parse the sources.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [index, code] of readSnippets().entries()) {
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: root, stdio: 'inherit' })
    console.log(`ok README snippet ${index + 1}, Node ${process.versions.node}`)
  }
}
