import type { Part, SubjectEntry, Work } from './benchmark.ts'

/**
 * Returns a function that declares a subject. Its parts are modules beside the file whose `import.meta.url` is `base`.
 */
export function createSubjectFactory(
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
