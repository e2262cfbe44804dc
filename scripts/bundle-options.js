import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The program that the hooks of agents start. It is bundled as they are. */
export const WATCHER = 'src/timeline/watch/watcher-process.ts'

/** All other programs that run in a thread or process of their own, which is started with their path. */
export const programs = globSync('src/**/*-{worker,process}.ts', { cwd: root, exclude: [WATCHER] })

/** Packages that only one program needs. One of them ships tests that would be a fifth of an installation. */
export const ONE_PROGRAM = ['turndown', '@mixmark-io/domino']

/** The program that brings these packages. The command line starts that of the library, so that there is one copy. */
export const SHARED_PROGRAM = 'src/devices/web/markdown-worker.ts'

/** Package of the bundler with the functions that replace newer syntax. */
const HELPERS = '@oxc-project/runtime/'

/** Returns the options of every bundle. Packages stay outside, except those named. */
export function bundleOptions(input, bundled) {
  return {
    input,
    platform: 'node',
    // The oldest Node we support has no `using`.
    transform: { target: 'es2024' },
    external: (id) => /^[^./]/.test(id) && !isIn(id, bundled) && !id.startsWith(HELPERS),
    // No module of ours does anything by being loaded, programs aside.
    treeshake: { moduleSideEffects: false },
    checks: { ineffectiveDynamicImport: false },
  }
}

/** True if a module belongs to one of some packages. */
function isIn(id, packages) {
  return packages.some((name) => id === name || id.startsWith(`${name}/`))
}
