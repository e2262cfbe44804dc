import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { createTemporaryName, isErrno, makePrivateFile, readFileIfPresent } from '../../machine/index.ts'
import { createCertificate } from './certificate.ts'

const AUTHORITY_FILE = 'session-authority.pem'
const NAME = 'Coppice sessions of this home'
const CERTIFICATE_BEGIN = '-----BEGIN CERTIFICATE-----'
const DAY_MS = 24 * 60 * 60 * 1000
/** An authority is replaced in time before it ends. Sessions get its certificate when they start. */
const [AUTHORITY_DAYS, RENEWAL_DAYS] = [3650, 30]
/** Some programs refuse a server's certificate that holds longer than this. */
const SERVER_DAYS = 90
/** For a machine whose clock is behind. */
const EARLIER_DAYS = 1

/**
 * A certificate authority of a home. Only sessions trust it. Its key never leaves this process and a private file of the
 * home, which no session can read.
 */
export class CertificateAuthority {
  /** The certificate as PEM. */
  readonly certificate: string
  readonly #privateKey: KeyObject
  readonly #publicKey: KeyObject
  readonly #contexts = new Map<string, SecureContext>()
  #serverKeys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject } | undefined

  private constructor(pem: string) {
    this.#privateKey = createPrivateKey(pem)
    this.#publicKey = createPublicKey(this.#privateKey)
    this.certificate = pem.slice(pem.indexOf(CERTIFICATE_BEGIN))
  }

  /** Opens the authority of a home. Creates it if there is none, and replaces one that is damaged or soon ends. */
  static open(home: string): CertificateAuthority {
    const file = join(home, AUTHORITY_FILE)
    const stored = readFileIfPresent(file)
    if (stored !== undefined && isCurrent(stored)) return new CertificateAuthority(stored)
    rmSync(file, { force: true })
    return new CertificateAuthority(storeAuthority(home, file))
  }

  /** Returns the context of a server for a host, with a certificate and its key. */
  getServerContext(host: string): SecureContext {
    const cached = this.#contexts.get(host)
    if (cached !== undefined) return cached
    this.#serverKeys ??= generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { publicKey, privateKey } = this.#serverKeys
    const cert = createCertificate({
      // A common name has a limit of 64 characters; programs read the other name.
      subject: host.slice(0, 64),
      publicKey,
      issuer: { name: NAME, publicKey: this.#publicKey, privateKey: this.#privateKey },
      ...createPeriod(SERVER_DAYS),
      host,
    })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
    const context = createSecureContext({ cert, key, minVersion: 'TLSv1.2' })
    this.#contexts.set(host, context)
    return context
  }
}

function createPeriod(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now()
  return { notBefore: new Date(now - EARLIER_DAYS * DAY_MS), notAfter: new Date(now + days * DAY_MS) }
}

/** Reports whether a stored authority is whole, and holds for some time. */
function isCurrent(pem: string): boolean {
  try {
    const certificate = new X509Certificate(pem.slice(pem.indexOf(CERTIFICATE_BEGIN)))
    const holdsUntil = new Date(certificate.validTo).getTime()
    return (
      certificate.checkPrivateKey(createPrivateKey(pem)) && holdsUntil > Date.now() + RENEWAL_DAYS * DAY_MS
    )
  } catch {
    return false
  }
}

/** Creates an authority and returns it as PEM; returns that of another process if that was faster. */
function storeAuthority(home: string, file: string): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = { name: NAME, publicKey, privateKey }
  const certificate = createCertificate({ subject: NAME, publicKey, issuer, ...createPeriod(AUTHORITY_DAYS) })
  const pem = `${privateKey.export({ type: 'pkcs8', format: 'pem' })}${certificate}`
  const temporary = join(home, createTemporaryName())
  makePrivateFile(temporary)
  writeFileSync(temporary, pem, { flush: true })
  try {
    // Unlike a rename, this keeps the one of another process.
    linkSync(temporary, file)
    return pem
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(temporary, { force: true })
  }
}
