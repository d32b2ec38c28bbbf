/** Text of the OpenAPI document as HTML. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => entities[sign]!)

/** A name with line break opportunities between its words. */
export const nameHtml = (name: string) => escaped(name).replaceAll('_', '_<wbr>')

/** Inline Markdown, limited to `code`. */
export const phrase = (text: string) => escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

/** Markdown, limited to paragraphs, `## headings` and `- lists`. */
export function markdown(text: string, id: (heading: string) => string = () => ''): string {
  const blocks = text.trim().split(/\n\s*\n/)
  return blocks.map((block) => blockHtml(block.trim(), id)).join('\n')
}

function blockHtml(block: string, id: (heading: string) => string): string {
  const heading = /^##+ (.+)$/.exec(block)?.[1]
  if (heading) return `<h2 id="${escaped(id(heading))}">${phrase(heading)}</h2>`
  if (!block.startsWith('- ')) return `<p>${phrase(block)}</p>`
  const items = block.slice(2).split(/\n- /)
  return `<ul>${items.map((item) => `<li>${phrase(item)}</li>`).join('')}</ul>`
}

// Strings (with the colon of a name), words, numbers.
const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** A JSON value with syntax classes, indented when it does not fit on a line. */
export function jsonHtml(value: unknown): string {
  if (value === undefined) return ''
  const text = pretty(value, '')
  let html = ''
  let end = 0
  for (const match of text.matchAll(token)) {
    const [whole, string, colon] = match
    html += escaped(text.slice(end, match.index))
    const kind = colon ? 'name' : string ? 'text' : 'value'
    html += `<span class="${kind}">${escaped(string ?? whole)}</span>${colon ?? ''}`
    end = match.index + whole.length
  }
  return html + escaped(text.slice(end))
}

const columns_max = 64

/** JSON with short objects and arrays on one line. */
function pretty(value: unknown, indent: string): string {
  const flat = JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return flat
  const deeper = `${indent}  `
  const is_list = Array.isArray(value)
  const is_flat = is_list ? value.every((one) => typeof one !== 'object' || one === null) : false
  const [open, close] = is_list ? '[]' : '{}'
  const parts = is_list
    ? value.map((one) => pretty(one, deeper))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${pretty(one, deeper)}`)
  const line = `${open}${is_list ? '' : ' '}${parts.join(', ')}${is_list ? '' : ' '}${close}`
  const fits = indent.length + line.length <= columns_max && !line.includes('\n')
  if (parts.length === 0) return `${open}${close}`
  if (is_flat ? fits : fits && parts.length <= 3) return line
  return `${open}\n${parts.map((part) => `${deeper}${part}`).join(',\n')}\n${indent}${close}`
}
