import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { root } from './run-node.ts'

/** Below the packages, which it finds from there. */
const DIRECTORY = join(root, 'node_modules/.cache/coppice-test')

/**
 * A script of this folder as one file, as it is now: one that is started hundreds of times loads in a third of the
 * time that its modules take.
 */
export async function bundledScript(name: string): Promise<string> {
  mkdirSync(DIRECTORY, { recursive: true })
  const file = join(DIRECTORY, name.replace(/\.ts$/, '.mjs'))
  const ours = `${file}.${process.pid}.mjs`
  const bundle = await rolldown({
    input: join(root, 'test/support', name),
    platform: 'node',
    external: /^[^./]/,
    checks: { ineffectiveDynamicImport: false },
  })
  await bundle.write({ file: ours, format: 'esm', codeSplitting: false })
  await bundle.close()
  // Several test files may make it at once.
  renameSync(ours, file)
  return file
}
