/** Modules that Node has loaded before any program runs. */
const LOADED = new Set(
  ['buffer', 'events', 'fs', 'path', 'process', 'url', 'util'].map((name) => `node:${name}`),
)

/**
 * Creates a plugin of the bundler, for CommonJS. A chunk loads another one, a module of Node or a package when it first
 * uses it: a command pays for what it does, not for all that the code it shares with others could do.
 *
 * @param isTraced if it asks for a chunk whenever it uses it.
 */
export function createLazyRequires(isTraced) {
  return {
    name: 'lazy-requires',
    renderChunk(code) {
      const program = this.parse(code)
      const loads = findLoads(program)
      const uses = findUses(program, loads)
      const edits = [...loads.values()].flatMap((load) => {
        const found = uses.get(load.name) ?? []
        // Passed as a whole to a function that makes a module of it.
        if (!found.every(({ isMember }) => isMember)) return []
        return [{ ...load, text: formatLoad(load, isTraced) }, ...found.flatMap(createCall)]
      })
      return replaceRanges(code, edits)
    },
  }
}

function formatLoad({ name, id }, isTraced) {
  // Unlike `require`, it prints no warning about modules that are still experimental.
  const load = id.startsWith('node:') ? 'globalThis.process.getBuiltinModule' : 'require'
  const call = `${load}(${JSON.stringify(id)})`
  if (isTraced) return `const ${name}=()=>${call};`
  return `let ${name}$loaded;const ${name}=()=>${name}$loaded??=${call};`
}

/** Finds the declarations that load a module: `const name = require("id")`. */
function findLoads(program) {
  const loads = new Map()
  for (const { type, declarations = [], start, end } of program.body) {
    if (type !== 'VariableDeclaration' || declarations.length !== 1) continue
    const [{ id, init }] = declarations
    if (id.type !== 'Identifier' || init?.type !== 'CallExpression' || init.callee.name !== 'require')
      continue
    const [argument] = init.arguments
    if (argument?.type !== 'Literal' || LOADED.has(argument.value)) continue
    loads.set(id.name, { name: id.name, id: argument.value, start, end })
  }
  return loads
}

/** Finds where the names of such modules are used, and whether as the object of a property. */
function findUses(program, loads) {
  const uses = new Map()
  visit(program, undefined, undefined)
  return uses

  /** @param callee the expression after `new` that begins here. */
  function visit(node, parent, callee) {
    if (node.type === 'Identifier' && loads.has(node.name) && isReference(node, parent)) {
      const isMember = parent.type === 'MemberExpression' && parent.object === node
      const list = uses.get(node.name) ?? []
      uses.set(node.name, [...list, { end: node.end, isMember, callee }])
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child?.type !== 'string') continue
        if (node.type === 'NewExpression' && child === node.callee) visit(child, node, child)
        else visit(child, node, child === node.object ? callee : undefined)
      }
    }
  }
}

/** Returns the edits that turn a use into a call: `new name.Class()` becomes `new (name().Class)()`. */
function createCall({ end, callee }) {
  const call = { start: end, end, text: '()' }
  if (callee === undefined) return [call]
  const { start, end: last } = callee
  return [{ start, end: start, text: '(' }, call, { start: last, end: last, text: ')' }]
}

/** False for the name of a property and for the declaration itself. */
function isReference(node, parent) {
  if (parent.type === 'VariableDeclarator') return parent.id !== node
  const isName =
    (parent.type === 'MemberExpression' && parent.property === node) ||
    ((parent.type === 'Property' || parent.type.endsWith('Definition')) && parent.key === node)
  return !isName || parent.computed || (parent.shorthand ?? false)
}

function replaceRanges(code, edits) {
  let rest = code
  for (const { start, end, text } of edits.toSorted((left, right) => right.start - left.start))
    rest = rest.slice(0, start) + text + rest.slice(end)
  return rest
}
