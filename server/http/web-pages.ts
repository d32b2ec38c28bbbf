/**
 * The pages of the platform: the built files, and the HTML page for all browser paths. The content
 * security policy allows own scripts only, and inline styles by nonce. https://www.w3.org/TR/CSP3/
 */
import { randomBytes } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Document } from './serve-options.ts'

interface WebPages {
  documents: Document[]
  /** The HTML page with a new nonce. */
  page(): Document
}

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
}

const nonce_mark = '__NONCE__'

/** Null when the pages have not been built. */
export function readWebPages(folder: string): WebPages | null {
  const index = join(folder, 'index.html')
  if (!existsSync(index)) return null
  const html = readFileSync(index, 'utf8')
  const documents = globSync('**/*.*', { cwd: folder })
    .filter((name) => extname(name) in types)
    .map((name): Document => {
      const bytes = readFileSync(join(folder, name))
      // Names of built assets contain a digest of their content.
      const is_built = name.startsWith('assets/')
      return {
        path: `/${name}`,
        content_type: types[extname(name)]!,
        text: bytes,
        ...(is_built && { cache: 'immutable' }),
      }
    })
  return { documents, page: () => pageOf(html) }
}

function pageOf(html: string): Document {
  const nonce = randomBytes(18).toString('base64')
  return {
    path: '/',
    content_type: 'text/html; charset=utf-8',
    text: html.replaceAll(nonce_mark, nonce),
    cache: 'live',
    headers: {
      'content-security-policy': [
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    },
  }
}
