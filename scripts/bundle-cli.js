import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { bundleOptions, root } from './bundle-options.js'
import { BUNDLED, bundleProgram, CHANGED_DIRECTORY, SHORT } from './bundle-program.js'
import { createChunkNames } from './chunk-names.js'
import { writeLicenses } from './licenses.js'
import { plainText } from './plain-text.js'
import { listLoadOrder } from './traced-bundle.js'

const target = join(root, 'dist/cli')
const loadOrder = await listLoadOrder()
rmSync(target, { recursive: true, force: true })
await bundleProgram(target, (imports) => createChunkNames(imports, loadOrder))
await writeHookBundle()
writeLicenses(target, BUNDLED)

/** Writes what a hook of an agent needs when nothing changed, as one file. */
async function writeHookBundle() {
  const options = bundleOptions({ hook: join(root, 'src/cli/commands/undo/hook-main.ts') }, BUNDLED)
  const later = {
    name: 'later',
    resolveId: (id) =>
      id.includes(CHANGED_DIRECTORY) ? { id: `./${CHANGED_DIRECTORY}.js`, external: 'relative' } : undefined,
  }
  const hook = await rolldown({ ...options, plugins: [later, plainText] })
  const { output } = await hook.write({
    dir: target,
    entryFileNames: '[name]-[hash].js',
    dynamicImportInCjs: false,
    format: 'cjs',
    minify: SHORT,
  })
  // The hash names the compiled code.
  writeFileSync(join(target, 'hook.js'), `module.exports=require("./${output[0].fileName}")\n`)
}
