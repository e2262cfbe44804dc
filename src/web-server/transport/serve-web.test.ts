import { expect, it } from 'vitest'
import { formatWebHost } from './serve-web.ts'

it('names the host as a browser does', () => {
  expect(formatWebHost(4321)).toBe('127.0.0.1:4321')
  // Browsers send neither the Host nor the Origin with this port.
  expect(formatWebHost(80)).toBe('127.0.0.1')
})
