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

const target = join(root, 'dist/cli')
const loadOrder = await listLoadOrder()
rmSync(target, { recursive: true, force: true })
await bundleProgram(target, (imports) => createChunkNames(imports, loadOrder))
const hook = await writeProgram('hook-[hash].js', 'src/cli/commands/undo/hook-main.ts')
// The hash names the compiled code.
writeFileSync(join(target, 'hook.js'), `module.exports=require("./${hook}")\n`)
await writeProgram('[name].js', WATCHER)
writeLicenses(target, BUNDLED)

/**
 * Writes a program as one file, and returns its name. An agent waits for each of its hooks, and the watcher that they
 * start stays in memory, so both load little. What a hook needs after a change it takes from the command line.
 */
async function writeProgram(name, path) {
  const later = {
    name: 'later',
    resolveId: (id) =>
      id.includes(CHANGED_DIRECTORY) ? { id: `./${CHANGED_DIRECTORY}.js`, external: 'relative' } : undefined,
  }
  const bundle = await rolldown({
    ...bundleOptions(join(root, path), BUNDLED),
    plugins: [later, createLazyRequires(false), plainText],
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
