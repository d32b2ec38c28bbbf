/** Whether what is sent to the host stays on this machine. */
export const isLoopback = (host: string) => /^(localhost|127\..*|\[::1\])$/.test(host)
