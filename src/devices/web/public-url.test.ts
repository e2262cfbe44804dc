import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../network/index.ts'
import { parsePublicUrl } from './public-url.ts'

describe('parsePublicUrl', () => {
  it.each([
    ['file:///etc/passwd', 'EACCES'],
    ['ftp://example.com/', 'EACCES'],
    ['data:text/html,hi', 'EACCES'],
    ['https://me:secret@example.com/', 'EACCES'],
    ['http://localhost/', 'EACCES'],
    ['http://localhost./', 'EACCES'],
    ['http://intranet/', 'EACCES'],
    ['http://router.lan/', 'EACCES'],
    ['http://metadata.google.internal/', 'EACCES'],
    ['http://printer.local:631/', 'EACCES'],
    ['no url', 'EINVAL'],
    ['https://', 'EINVAL'],
  ])('refuses %s with %s', (url, code) => {
    expect(() => parsePublicUrl(url)).toThrow(expect.objectContaining({ code }))
  })

  it('does not repeat a password', () => {
    expect(() => parsePublicUrl('https://me:secret@example.com/')).toThrow(/^(?!.*secret)/)
  })

  it.each(['0x7f.1', '2130706433', '127.1', '0177.0.0.1', '①②⑦.0.0.1'])('reads %s as an address', (host) => {
    expect(isPublicAddress(parsePublicUrl(`http://${host}/`).hostname)).toBe(false)
  })

  it('accepts a public URL, and drops its fragment', () => {
    expect(parsePublicUrl('HTTPS://Example.com:8443/a?b=c#d').href).toBe('https://example.com:8443/a?b=c')
  })
})
