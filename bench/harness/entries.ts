import type { Part, SubjectEntry, Work } from './benchmark.ts'

/** A subject whose parts are modules beside the file that names them: `base` is that file's `import.meta.url`. */
export function subjectsOf(
  base: string,
): (name: string, modules: Readonly<Record<string, string>>) => SubjectEntry {
  return (name, modules) => {
    const parts = Object.entries(modules).map(
      ([part, module]): Part => ({ name: part, module: new URL(module, base) }),
    )
    return { name, parts }
  }
}

export function rate(id: string, label: string): Work {
  return { id, label, unit: 'rate' }
}

export function time(id: string, label: string): Work {
  return { id, label, unit: 'time' }
}

export function bytes(id: string, label: string): Work {
  return { id, label, unit: 'bytes' }
}
