import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bundle-options.js'

// Lets programs compile without optional packages that they do not use: declarations name the types of each, and
// TypeScript checks all declarations that an import leads to, unless a project sets skipLibCheck.
const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const peers = Object.keys(peerDependencies).join('|')
const importLine = new RegExp(`^(?! \\*)(\\s*)(?=.*(?:\\bfrom |\\bimport\\()['"](?:${peers})['"/])`, 'gm')

for (const file of globSync('dist/**/*.d.ts', { cwd: root })) {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  const guarded = text.replaceAll(importLine, '$1// @ts-ignore: an optional package\n$1')
  if (guarded !== text) writeFileSync(path, guarded)
}
