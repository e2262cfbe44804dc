import { VfsError } from './error.ts'
import type { FileSystem } from './file-system.ts'

const METHODS: readonly (keyof FileSystem)[] = [
  'exists',
  'stat',
  'readdir',
  'read',
  'walk',
  'materialize',
  'write',
  'mkdir',
  'remove',
]

/** Throws EINVAL for `path` unless the value has every member of a file system, whatever its declared type. */
export function assertFileSystem(value: unknown, path: string, op: string): asserts value is FileSystem {
  const missing = listMissingMembers(value)
  if (missing.length === 0) return
  const lacks = missing.length > METHODS.length ? '' : `: it has no ${missing.join(', ')}`
  const detail = `the value is not a file system${lacks}; pass one, such as new MemoryFs()`
  throw new VfsError('EINVAL', path, { op, detail })
}

function listMissingMembers(value: unknown): string[] {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!isObject) return ['capabilities', ...METHODS]
  const capabilities: unknown = Reflect.get(value, 'capabilities')
  const hasCapabilities = typeof capabilities === 'object' && capabilities !== null && 'has' in capabilities
  return [
    ...(hasCapabilities ? [] : ['capabilities']),
    ...METHODS.filter((name) => typeof Reflect.get(value, name) !== 'function'),
  ]
}
