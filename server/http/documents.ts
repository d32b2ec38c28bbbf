import { docsPage, docsPolicy, docsScript, docsStyle } from './docs-page.ts'
import type { Endpoint } from './endpoint.ts'
import { openApi, openApiText } from './openapi.ts'
import type { DocumentedEvent } from './openapi-webhooks.ts'

const utf8 = (type: string) => `${type}; charset=utf-8`

/** Documents served without a key: the OpenAPI document and the reference page. */
export function documents(
  endpoints: readonly Endpoint<never>[],
  events: readonly DocumentedEvent[],
) {
  const document = openApi(endpoints, events)
  const page = docsPage(document)
  return [
    {
      path: '/openapi.json',
      content_type: utf8('application/json'),
      text: openApiText(document),
    },
    {
      path: '/docs',
      content_type: utf8('text/html'),
      text: page,
      headers: {
        'content-security-policy': docsPolicy,
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      },
    },
    { path: '/docs/page.css', content_type: utf8('text/css'), text: docsStyle },
    { path: '/docs/page.js', content_type: utf8('text/javascript'), text: docsScript },
  ]
}
