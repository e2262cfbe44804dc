import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { bundleOptions, root, WATCHER } from './bundle-options.js'
import { BUNDLED, bundleProgram, CHANGED_DIRECTORY, SHORT } from './bundle-program.js'
import { createChunkNames } from './chunk-names.js'
import { createLazyRequires } from './lazy-requires.js'
import { writeLicenses } from './licenses.js'
import { plainText } from './plain-text.js'
import { listLoadOrder } from './traced-bundle.js'

// Builds `dist/cli`: the command line in chunks that load one another on use, and two programs that are one file each:
// the one that hooks of agents run, and the watcher.

const target = join(root, 'dist/cli')
const loadOrder = await listLoadOrder()
rmSync(target, { recursive: true, force: true })
await bundleProgram(target, (imports) => createChunkNames(imports, loadOrder))
const hook = await writeProgram('hook-[hash].js', 'src/cli/commands/undo/hook-main.ts')
// The name has a hash of the content because `bin/compiled-code.cjs` keeps compiled code by the name of its file.
writeFileSync(join(target, 'hook.js'), `module.exports=require("./${hook}")\n`)
await writeProgram('[name].js', WATCHER)
writeLicenses(target, BUNDLED)

/**
 * Writes a program as one file, and returns its name. An agent waits for each of its hooks, and the watcher that they
 * start stays in memory, so both load little. The module that a hook needs after a change stays outside: it loads that
 * of the command line.
 */
async function writeProgram(name, path) {
  const leaveOutside = {
    name: 'leave-outside',
    resolveId: (id) =>
      id.includes(CHANGED_DIRECTORY) ? { id: `./${CHANGED_DIRECTORY}.js`, external: 'relative' } : undefined,
  }
  const bundle = await rolldown({
    ...bundleOptions(join(root, path), BUNDLED),
    plugins: [leaveOutside, createLazyRequires(false), plainText],
  })
  const { output } = await bundle.write({
    dir: target,
    entryFileNames: name,
    codeSplitting: false,
    dynamicImportInCjs: false,
    format: 'cjs',
    minify: SHORT,
  })
  return output[0].fileName
}
