import { describe, expect, it } from 'vitest'
import { isCredential } from './index.ts'

describe('isCredential', () => {
  it.each([
    ['AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY'],
    ['AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE'],
    ['GITHUB_TOKEN', 'anything'],
    ['npm_config__authToken', 'abcdefgh'],
    ['OPENAI_API_KEY', 'x1'],
    ['STRIPE_KEY', 'abcdefghij0123456789'],
    ['MYSQL_PWD', 'letmein'],
    ['PGPASSWORD', 'letmein'],
    ['DB_PASS', 'letmein'],
    ['SENTRY_DSN', 'https://abc@o1.example.org/1'],
    ['GOOGLE_CREDENTIALS', '{"type":"service_account"}'],
    ['DATABASE_URL', 'postgres://me:hunter22@db/app'],
    ['HARMLESS', 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'],
    ['DEPLOY', '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n'],
  ])('withholds %s', (name, value) => expect(isCredential(name, value)).toBe(true))

  it.each([
    ['PATH', '/usr/bin:/bin'],
    ['SSH_AUTH_SOCK', '/run/user/0/agent'],
    ['GPG_TTY', '/dev/pts/0'],
    ['XDG_SESSION_ID', 'c1'],
    ['XAUTHORITY', '/home/a/.Xauthority'],
    ['PWD', '/work'],
    ['OLDPWD', '/work'],
    ['MAX_TOKENS', '4096'],
    ['TOKENIZERS_PARALLELISM', 'false'],
    ['AWS_WEB_IDENTITY_TOKEN_FILE', '/var/run/token'],
    ['GOOGLE_APPLICATION_CREDENTIALS', '/etc/key.json'],
    ['DATABASE_URL', 'postgres://localhost/app'],
    ['npm_config_user_agent', 'npm/10.0.0 node/v24'],
    ['npm_config_registry', 'https://registry.npmjs.org/'],
    ['CI', 'true'],
    ['GITHUB_SHA', '0123456789abcdef0123456789abcdef01234567'],
    ['GIT_AUTHOR_NAME', 'A. Author'],
    ['DBUS_SESSION_BUS_ADDRESS', 'unix:path=/run/user/0/bus'],
    ['KEYBOARD', 'us'],
    ['LESSKEY', 'abc'],
    ['COMPASS', 'north'],
  ])('passes %s on', (name, value) => expect(isCredential(name, value)).toBe(false))
})
