import { expect, it } from 'vitest'
import { permissionsOf } from './permissions.ts'

it('permissions are those of the file system, without bits of the type', () => {
  expect(permissionsOf({ type: 'file', mode: 0o100_600 })).toBe(0o600)
  expect(permissionsOf({ type: 'file', mode: 0 })).toBe(0)
  expect(permissionsOf({ type: 'directory', mode: 0o1777 })).toBe(0o1777)
})

it('permissions are the usual ones where a file system has none', () => {
  expect(permissionsOf({ type: 'file', mode: null })).toBe(0o644)
  expect(permissionsOf({ type: 'directory', mode: null })).toBe(0o755)
  expect(permissionsOf({ type: 'symlink', mode: null })).toBe(0o777)
})
