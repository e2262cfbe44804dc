import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../harness/benchmark.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The words that run the program as it is built, after options for Node. */
export function coppice(nodeOptions: readonly string[], ...words: readonly string[]): string[] {
  if (!existsSync(join(ROOT, 'dist/cli/main.js'))) throw new Error('build it first: npm run build')
  return [process.execPath, ...nodeOptions, join(ROOT, 'bin/coppice.js'), ...words]
}

/** The environment in which it uses a home of this run. */
export function withHome({ directory }: Settings, name: string): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: join(directory, name) }
}
