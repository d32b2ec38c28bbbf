/** The certificate that a server presents. */
import { connect } from 'node:tls'

/** The end of the certificate. Rejects when no connection with a valid certificate is made. */
export function certificateEnd(url: URL, timeout_ms: number): Promise<Date> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(url.port || 443), servername: host })
    socket.setTimeout(timeout_ms, () => socket.destroy(new Error('no answer')))
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      resolve(new Date(socket.getPeerCertificate().valid_to))
      socket.destroy()
    })
  })
}
