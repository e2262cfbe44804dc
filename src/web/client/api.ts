import {
  API_PREFIX,
  type WebErrorBody,
  type WebMethodName,
  type WebMethods,
  webMethods,
} from '../../web-api/index.ts'
import { endSession, session } from './session.ts'

/** A failure of a request, with the sentence of the server. */
export class ApiError extends Error {
  readonly code: string
  readonly path: string | undefined

  constructor({ code, message, path }: WebErrorBody['error']) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.path = path
  }
}

/** Calls a method of the server. Rejects with an `ApiError`, or the browser's error if nobody answers. */
export async function call<Name extends WebMethodName>(
  name: Name,
  params: WebMethods[Name]['params'],
  signal?: AbortSignal,
): Promise<WebMethods[Name]['result']> {
  const isGet = webMethods[name] === 'GET'
  const response = await fetch(`${API_PREFIX}${name}${isGet ? formatQuery(params) : ''}`, {
    method: webMethods[name],
    headers: {
      authorization: `Bearer ${session.value.token}`,
      ...(!isGet && { 'content-type': 'application/json' }),
    },
    ...(!isGet && { body: JSON.stringify(params) }),
    ...(signal && { signal }),
    cache: 'no-store',
  })
  if (!response.ok) throw await readError(response)
  return response.json()
}

/** Reads the error of a response. A response of another program gives its status. */
export async function readError(response: Response): Promise<ApiError> {
  if (response.status === 401) endSession()
  const body: unknown = await response.json().catch(() => undefined)
  if (isErrorBody(body)) return new ApiError(body.error)
  return new ApiError({ code: 'EIO', message: `the server answered with status ${response.status}` })
}

function formatQuery(params: object): string {
  const values = Object.entries(params).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(values.map(([name, value]): [string, string] => [name, String(value)]))
  return query.size === 0 ? '' : `?${query}`
}

function isErrorBody(body: unknown): body is WebErrorBody {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false
  const { error } = body
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error
}
