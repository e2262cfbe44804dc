import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'
import { hashInputs } from './build-stamp.js'
import { bundleOptions, programs, root, SHARED_PROGRAM } from './bundle-options.js'
import { createLazyRequires } from './lazy-requires.js'
import { plainText } from './plain-text.js'

/** Packages of more than a hundred files, of which the MCP server needs a part. */
const MANY_FILES = ['zod', '@modelcontextprotocol/server', '@modelcontextprotocol/core']
/** Packages to bundle: small ones that many commands need. Commands load all others from `node_modules`. */
export const BUNDLED = ['ignore', 'smol-toml', 'unbash', ...MANY_FILES]

/** Module that the bundle for hooks loads only if something changed. */
export const CHANGED_DIRECTORY = 'record-changed-directory'

/**
 * Options that remove comments and indentation, which take time to read at every start. Stack traces show the names.
 */
export const SHORT = { compress: false, mangle: false, codegen: { removeWhitespace: true } }

/**
 * Writes the command line into a directory, in chunks that load one another when they need them. `createNames` gets the
 * imports of each module, by paths in this repository, and returns a function that names the chunk of a module.
 */
export async function bundleProgram(directory, createNames, { isTraced = false } = {}) {
  const own = programs.filter((path) => path !== SHARED_PROGRAM)
  const paths = ['src/cli/main.ts', `src/cli/commands/undo/${CHANGED_DIRECTORY}.ts`, ...own]
  const input = Object.fromEntries(paths.map((path) => [basename(path, '.ts'), join(root, path)]))
  const entries = new Set(Object.values(input))
  let nameChunk
  const namer = {
    name: 'namer',
    buildEnd() {
      nameChunk = createNames(listImports(this))
    },
  }
  const options = bundleOptions(input, BUNDLED)
  const bundle = await rolldown({
    ...options,
    transform: { ...options.transform, define: { COPPICE_BUILD: JSON.stringify(hashInputs().slice(0, 16)) } },
    plugins: [namer, createLazyRequires(isTraced), plainText],
    preserveEntrySignatures: 'allow-extension',
  })
  const group = {
    debugName: 'chunks',
    // A program in a chunk with others would run whenever one of them is loaded.
    name: (id) => (entries.has(id) ? null : nameChunk(toPath(id))),
  }
  await bundle.write({
    dir: directory,
    // Node takes longer to load ECMAScript modules, and loads all that they import at once.
    format: 'cjs',
    chunkFileNames: '[name]-[hash].js',
    minify: isTraced ? false : SHORT,
    codeSplitting: { includeDependenciesRecursively: false, groups: [group] },
  })
  writeFileSync(join(directory, 'package.json'), '{ "type": "commonjs" }\n')
  const shared = `${basename(SHARED_PROGRAM, '.ts')}.js`
  writeFileSync(join(directory, shared), `import('../lib/${shared}')\n`)
}

/** Lists each module with those that it imports at its beginning. */
function listImports(context) {
  return [...context.getModuleIds()].map((id) => [
    toPath(id),
    (context.getModuleInfo(id)?.importedIds ?? []).map(toPath),
  ])
}

function toPath(id) {
  return id.replace(root, '')
}
