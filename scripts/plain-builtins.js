/** An import of a module of Node, as the bundler writes it. */
const IMPORT = /^import (.+?) from ["'](node:[\w/]+)["'];$/gm
const IDENTIFIER = /^[\w$]+$/

/**
 * A plugin of the bundler. Modules of Node are loaded as they are, and not by the ECMAScript module that Node makes of
 * each: that one reads all exports, also those that load more of Node. It saves a tenth of the start of a command.
 */
export const plainBuiltins = {
  name: 'plain-builtins',
  renderChunk(code) {
    return code.replaceAll(IMPORT, (_, names, module) => {
      // A package may name its import `process`.
      const loaded = `globalThis.process.getBuiltinModule("${module}")`
      const [, name = '', list = ''] = /^([\w$]+)?(?:, )?(\{.*\})?$/.exec(names) ?? []
      const whole = names.startsWith('* as ') ? names.slice('* as '.length) : name
      if (whole !== '' && !IDENTIFIER.test(whole))
        throw new Error(`cannot read the import of ${module}: ${names}`)
      if (whole === '' && list === '') throw new Error(`cannot read the import of ${module}: ${names}`)
      const parts = [whole, list.replaceAll(' as ', ': ')].filter((part) => part !== '')
      return parts.map((part) => `const ${part} = ${loaded};`).join(' ')
    })
  },
}
