import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../harness/benchmark.ts'
import { listDirectories } from '../vfs/corpus.ts'
import { createServedFiles } from './mcp.ts'

/** Returns a directory with the files to serve, which the first call creates. */
export function prepareServedDirectory(settings: Settings, name: string): string {
  const root = join(settings.directory, name)
  if (existsSync(root)) return root
  const files = createServedFiles(settings)
  for (const directory of [...listDirectories(files), '/written'])
    mkdirSync(root + directory, { recursive: true })
  for (const { path, bytes } of files) writeFileSync(root + path, bytes)
  return root
}
