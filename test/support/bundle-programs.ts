import { hash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { TestProject } from 'vitest/node'
import { PROGRAMS } from './program-file.ts'
import { root } from './run-node.ts'

/** Programs of threads and processes: those of the package, and those of tests. */
const ENTRIES = [
  'src/**/*-{worker,process}.ts',
  'test/support/{*-process,*-worker,*-writer,killed-*,held-steps,read-damaged,register-client}.ts',
  'test/fuse/{append-records,serve-*}.ts',
]

/** Below the packages, which programs find from there. */
const DIRECTORY = join(root, 'node_modules/.cache/coppice-test/programs')
const DAY_MS = 24 * 60 * 60 * 1000

/** Bundles the programs that tests start, once for all test files, and again before tests that run again. */
export async function setup(project: TestProject): Promise<void> {
  const bundle = async () => {
    process.env[PROGRAMS] = `${pathToFileURL(await bundlePrograms())}/`
  }
  await bundle()
  project.onTestsRerun(bundle)
}

/** Writes the bundles of the current source to a directory named by their content, and returns it. */
async function bundlePrograms(): Promise<string> {
  const files = globSync(ENTRIES, { cwd: root })
  const bundle = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), join(root, file)])),
    platform: 'node',
    external: /^[^./]/,
    checks: { ineffectiveDynamicImport: false },
  })
  const { output } = await bundle.generate({ format: 'esm', chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
  const chunks = output.filter((chunk) => chunk.type === 'chunk')
  const target = join(DIRECTORY, hash('sha256', chunks.map(({ code }) => code).join('\0')).slice(0, 16))
  if (existsSync(target)) return target
  const temporary = `${target}.${process.pid}`
  mkdirSync(temporary, { recursive: true })
  writeFileSync(join(temporary, 'package.json'), '{ "type": "module" }')
  for (const { fileName, code } of chunks) writeFileSync(join(temporary, fileName), code)
  removeOld()
  // Two runs may write the same. The second finds a directory that is not empty, and uses it.
  try {
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { recursive: true })
    if (!existsSync(target)) throw error
  }
  return target
}

function removeOld(): void {
  for (const name of readdirSync(DIRECTORY)) {
    const path = join(DIRECTORY, name)
    if (statSync(path).mtimeMs < Date.now() - DAY_MS) rmSync(path, { recursive: true, force: true })
  }
}
