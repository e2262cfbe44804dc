import { readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { rolldown } from 'rolldown'
import { minifySync } from 'rolldown/utils'
import { bundleOptions, ONE_PROGRAM, programs, root } from './bundle-options.js'
import { writeLicenses } from './licenses.js'

/**
 * Programs, which do something when they are loaded, what brings packages into one of them, and the public entries,
 * which load their layers on use.
 */
const STANDALONE = /-(?:worker|process)\.ts$|\/devices\/web\/markdown\.ts$|\/src\/public\//
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

// The library in one file for each layer: Node takes half a millisecond and more to load a file, and there are hundreds.
// Entries share these files, so that a class is the same whichever subpath it is imported from.
const bundle = await openBundle({ ...listEntries(), ...listPrograms() })
const front = await listFrontModules()
await bundle.write({
  dir: join(root, 'dist'),
  format: 'esm',
  chunkFileNames: 'lib/[name].js',
  // Comments are in the declarations; here they only take time to read at every start.
  comments: { jsdoc: false },
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [
      {
        debugName: 'layer',
        name: getLayer,
        test: (id) => id.startsWith(join(root, 'src/')) && !STANDALONE.test(id),
      },
    ],
  },
})
writeLicenses(join(root, 'dist/lib'), ONE_PROGRAM)

/**
 * Takes modules of Node by a call and not by an import. For an import Node evaluates every getter that a module has:
 * `node:fs` then loads streams and readline, which takes ten milliseconds.
 */
function replaceBuiltinImports(code) {
  return {
    code: code.replace(/^import (?!type\b)([^'"]*?) from '(node:[^']+)'$/gm, (_, names, module) => {
      const pattern = names
        .replaceAll(/\btype \w+,?/g, '')
        .replaceAll(' as ', ': ')
        .replace('*: ', '')
      return `const ${pattern} = /* @__PURE__ */ process.getBuiltinModule('${module}')`
    }),
    map: null,
  }
}

/** Shortens programs that consist of packages: nobody reads them here, and they are a tenth of the library. */
function shortenForeignCode(code, { fileName, moduleIds }) {
  const isForeign = moduleIds.some((id) => ONE_PROGRAM.some((name) => id.includes(`/node_modules/${name}/`)))
  return isForeign
    ? {
        code: minifySync(fileName, code, { module: true }).code,
        map: null,
      }
    : null
}

function openBundle(input) {
  return rolldown({
    ...bundleOptions(input, ONE_PROGRAM),
    // It would put shared code into entries: a program would then run whenever another file is loaded.
    // The paths of the sources, a comment for each module, are 47 KB.
    experimental: { chunkOptimization: false, attachDebugInfo: 'none' },
    plugins: [
      { name: 'builtins', transform: { filter: { id: /\/src\/.*\.ts$/ }, handler: replaceBuiltinImports } },
      { name: 'foreign code', renderChunk: shortenForeignCode },
    ],
    preserveEntrySignatures: 'allow-extension',
  })
}

/** Modules that `import 'coppice'` loads at once. They get a file of their own, so that it loads no others. */
async function listFrontModules() {
  const { output } = await (await openBundle({ index: join(root, 'src/public/index.ts') })).generate({
    format: 'esm',
    codeSplitting: { groups: [{ name: 'vfs', test: /\/src\/vfs\// }] },
  })
  const entry = output.find((chunk) => chunk.type === 'chunk' && chunk.isEntry)
  const chunks = output.filter(
    ({ fileName }) => fileName === entry.fileName || entry.imports.includes(fileName),
  )
  return new Set(chunks.flatMap(({ moduleIds }) => moduleIds))
}

/** Entries of `exports`: `dist/vfs/index.js` comes from `src/vfs/index.ts`. */
function listEntries() {
  const targets = Object.values(exports).filter((target) => typeof target === 'object')
  return Object.fromEntries(
    targets.map((target) => [
      target.default.replace(/^\.\/dist\/|\.js$/g, ''),
      join(root, target['coppice-source']),
    ]),
  )
}

/** Programs that threads and processes run: they lie beside the files that start them. */
function listPrograms() {
  return Object.fromEntries(programs.map((path) => [`lib/${basename(path, '.ts')}`, join(root, path)]))
}

/** Folder of a source file, as the layers of the architecture have it: `vfs`, `backends-host`. */
function getLayer(id) {
  if (front.has(id) && !id.includes('/src/vfs/')) return 'front'
  const [layer = '', part = ''] = relative(join(root, 'src'), dirname(id)).split('/')
  return ['backends', 'adapters', 'devices'].includes(layer) ? `${layer}-${part}` : layer
}
