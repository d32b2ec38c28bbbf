const characters_max = 254
const local_characters_max = 64

const local = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
const label = /^[A-Za-z\d]([A-Za-z\d-]{0,61}[A-Za-z\d])?$/

/**
 * Whether a text is a single mail address `name@host` of at most 254 characters, with the
 * dot-string and labels of RFC 5321. Display names, comments, quotes, address literals, lists and
 * control characters are not allowed, so that the address is safe in a header.
 *
 * ASCII only: other mailboxes need SMTPUTF8 on all servers on the way, and bounces would go
 * unnoticed. Internationalised domains use their `xn--` form.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > characters_max) return false
  const [name = '', domain = '', ...more] = text.split('@')
  return (
    more.length === 0 &&
    name.length <= local_characters_max &&
    local.test(name) &&
    domain.split('.').every((part) => label.test(part))
  )
}
